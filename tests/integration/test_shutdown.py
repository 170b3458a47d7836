"""SIGTERM drains, writes and commits within bounded time; a second one ends at once. Neither loses anything."""

import signal
import time

import oracle
from harness import case
from records import read_dump
from service import expect, wait_until


@case("drain")
def test_sigterm_drains_and_commits(own):
    """What is committed after the exit is exactly what HBase holds: the cells are those of the records below the committed offsets."""
    own.prepare()
    (service,) = own.start("a")
    producer = own.produce_slowly("full", 4, 0.2)
    wait_until(lambda: service.consumed() > 20_000, 60, "20,000 readings consumed")
    code = service.terminate(timeout=30)
    expect(code == 0, f"exit code {code} after SIGTERM\n{service.process.tail()}")
    producer.join()
    offsets = own.lab.kafka_probe.offsets(own.group, own.topic)
    dump = own.folder / "topic.dump"
    own.lab.kafka_probe.dump(own.topic, dump)
    below = [record for record in read_dump(dump) if record.offset < offsets[record.partition][2]]
    expect(below, f"nothing is committed: {offsets}")
    own.compare_cells(oracle.Expected(below))
    service.start()
    own.settle()
    own.check()


@case("second-signal", partitions=4)
def test_a_second_sigterm_ends_at_once(own):
    """With HBase away the drain cannot finish; the second signal does not wait for it, and the next start makes it good."""
    thrift = own.lab.hbase.thrift
    own.prepare()
    (service,) = own.start("a")
    own.produce("small", "early")
    own.settle()
    thrift.stop()
    try:
        own.produce("small", "recent")
        wait_until(lambda: service.consumed() == 24_000, 30, "everything is consumed")
        service.process.signal(signal.SIGTERM)
        time.sleep(1)
        expect(service.running, "the first SIGTERM lets the drain try for some seconds")
        began = time.monotonic()
        code = service.terminate(timeout=5)
        expect(time.monotonic() - began < 2, "the second SIGTERM ends it at once")
        expect(code != 0, f"exit code {code} although windows were left unwritten")
    finally:
        thrift.start()
    service.start()
    own.settle()
    own.check()


@case("drain-without-hbase", partitions=4)
def test_case_14_hbase_down_sigterm_hbase_up_start(own):
    """HBase down, SIGTERM, HBase up, start: nothing missing."""
    thrift = own.lab.hbase.thrift
    own.prepare()
    (service,) = own.start("a")
    own.produce("small", "early")
    own.settle()
    thrift.stop()
    try:
        own.produce("small", "recent")
        wait_until(lambda: service.consumed() == 24_000, 30, "everything is consumed")
        service.terminate(timeout=45)
    finally:
        thrift.start()
    service.start()
    own.settle()
    own.check()
