"""An old Put that lands after newer ones, from the former owner of a partition and from a server that went on retrying: the total that
a reader sees never goes back, because the cells of the old Put are older. On the real HBase, seen past its Thrift server."""

import signal
import struct
import time

from compare import row_key
from fault_proxy import Proxy
from harness import case
from service import expect, wait_until

DEVICE = b"d1"


def reading(own, number):
    """The number-th reading of one closed hour."""
    text = b'{"device":"d1","ts":%d,"metrics":{"m":1}}' % (hour(own) + number * 1000)
    return (0, own.lab.base, DEVICE, text, [])


def hour(own):
    return own.lab.base // 3_600_000 * 3_600_000 - 3 * 3_600_000


def counts(own, name="r:m:count"):
    """{revision: m's count} of the versions that the servers hold, also those that readers do not see."""
    versions = own.lab.hbase_probe.versions(own.table, row_key(DEVICE, hour(own)))
    return {
        timestamp - hour(own): struct.unpack(">q", value)[0]
        for qualifier, timestamp, value in versions
        if qualifier == name
    }


def seen_by_a_reader(own):
    """m's count, or 0."""
    scan = own.folder / "reader.scan"
    own.lab.hbase_probe.scan(own.table, scan)
    wanted = f"{row_key(DEVICE, hour(own)).hex()}\t{b'r'.hex()}\t{b'm:count'.hex()}\t"
    found = [line for line in scan.read_text(encoding="ascii").splitlines() if line.startswith(wanted)]
    expect(len(found) <= 1, f"a reader sees several versions: {found}")
    return int(found[0].rsplit("\t", 1)[1], 16) if found else 0


def produce_and_wait(own, numbers, count, timeout=60):
    own.produce_records([reading(own, number) for number in numbers])
    wait_until(
        lambda: seen_by_a_reader(own) == count,
        timeout,
        lambda: f"a reader sees {count} readings, now {seen_by_a_reader(own)}",
    )


def expect_hidden(own, rows, revision, count):
    """The old Put has landed as a version of its own, and nobody sees it."""
    key = row_key(DEVICE, hour(own))
    expect(rows == [(key, hour(own) + revision)], f"the old Put is revision {revision} of the row: {rows}")
    versions = counts(own)
    expect(versions.get(revision) == revision, f"the servers hold the old Put as a version: {versions}")
    expect(max(versions) == count and versions[count] == count, f"the newest version is {count}: {versions}")
    expect(seen_by_a_reader(own) == count, f"a reader sees {seen_by_a_reader(own)}, not {count}")


@case("late-put", partitions=1)
def test_a_put_that_the_server_still_retries(own):
    """Its connection breaks, so the service sends again and goes on; the first one lands at last."""
    proxy = Proxy(own.lab.hbase.thrift.port).start()
    own.settings["sink"]["address"] = proxy.address
    own.write_configuration()
    own.prepare()
    own.start("a")
    produce_and_wait(own, range(3), 3)
    proxy.arm(1)
    own.produce_records([reading(own, number) for number in range(3, 5)])  # revision 5
    wait_until(lambda: proxy.held() == 1, 30, "a Put is kept from the server")
    wait_until(lambda: seen_by_a_reader(own) == 5, 30, "the Put is sent again")
    produce_and_wait(own, range(5, 9), 9)
    expect_hidden(own, proxy.deliver(proxy.take_held()), 5, 9)
    own.settle()
    own.check()


@case("zombie", partitions=1)
def test_an_owner_that_was_stopped_and_goes_on(own):
    """A has a Put on its way and is stopped; B takes over, folds more and writes; A's Put lands, and A goes on and writes again."""
    proxy = Proxy(own.lab.hbase.thrift.port).start()
    own.prepare()
    a = own.service("a", "state-a", [f"sink.address={proxy.address}"]).start()
    own.wait_balanced(1)
    produce_and_wait(own, range(3), 3)
    proxy.arm(1)
    own.produce_records([reading(own, number) for number in range(3, 5)])
    deadline = time.monotonic() + 30
    while not proxy.caught() and time.monotonic() < deadline:
        time.sleep(0.01)
    a.process.signal(signal.SIGSTOP)
    try:
        wait_until(lambda: proxy.held() == 1, 30, "A's Put is kept from the server")
        expect(seen_by_a_reader(own) == 3, "A is stopped before it sends again")
        b = own.service("b", "state-b").start(ready=False)
        wait_until(lambda: b.consumed() > 0, 60, "B takes over")
        produce_and_wait(own, range(5, 9), 9)
        expect_hidden(own, proxy.deliver(proxy.take_held()), 5, 9)
    finally:
        a.process.signal(signal.SIGCONT)
    for _ in range(20):
        expect(seen_by_a_reader(own) == 9, f"a reader sees {seen_by_a_reader(own)} after A went on")
        time.sleep(0.3)
    produce_and_wait(own, range(9, 12), 12)
    own.settle()
    own.check()
