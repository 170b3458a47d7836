"""Cases met in the field that need the real servers. docs/TESTING.md lists all cases and where each is tested."""

import signal
import threading
import time

import oracle
from harness import case
from proxy import TcpProxy
from records import read_dump
from rig import Thrift
from service import expect, wait_until

DAY_MS = 86_400_000


def reading(device, time_ms, metrics='"m":1'):
    return b'{"device":"%s","ts":%d,"metrics":{%s}}' % (device.encode(), time_ms, metrics.encode())


def record(device, time_ms, metrics='"m":1', partition=0, arrival=None):
    """As for Case.produce_records."""
    value = reading(device, time_ms, metrics)
    return partition, arrival or time_ms, device.encode(), value, []


def wait_ended(service, code, *mentions):
    wait_until(lambda: not service.running, 40, f"{service.name} stops")
    told = service.process.output()
    expect(service.process.exit_code == code, f"exit {service.process.exit_code}, want {code}\n{told}")
    for mention in mentions:
        expect(mention in told, f"{mention!r} is not named:\n{told}")


@case("case-11", partitions=4)
def test_case_11_a_partition_that_stays_empty_holds_up_no_other(own):
    own.settings["emit"]["refresh"] = "3s"
    own.write_configuration()
    own.prepare()
    own.start("a")
    now = own.lab.base
    own.produce_records([record(f"d{p}", now, partition=p) for p in (0, 1, 3)])
    own.settle(40)
    own.check()


@case("case-12", partitions=2)
def test_case_12_nothing_but_bad_records(own):
    """Committed to the end with lag 0, every one of them in its side topic."""
    own.prepare()
    (service,) = own.start("a")
    now = own.lab.base
    bad = [b"{", b"", None, b"\xff", reading("d1", now, '"m":NaN'), reading("d1", now + DAY_MS)]
    bad += [reading("d1", now - 30 * DAY_MS), b'[1,{"device":"d1"}]']
    own.produce_records([(1, now, b"d1", value, []) for value in bad for _ in range(20)])
    own.produce_records([record("d0", now)])
    own.settle(40)
    own.check_exact_counters(own.check())
    committed = own.lab.kafka_probe.offsets(own.group, own.topic)[1][2]
    expect(committed == 20 * len(bad), f"committed {committed} of {20 * len(bad)}")
    expect(service.total("hourfold_lag_records") == 0, "lag is 0")


class OffsetWatch:
    """Looks at the group's committed offsets all the time and remembers where one went down."""

    def __init__(self, own):
        self._own, self._stop, self.fell, self.looks = own, threading.Event(), [], 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        highest = {}
        while not self._stop.wait(0.05):
            self.looks += 1
            for partition, (*_, committed, _) in self._own.lab.kafka_probe.offsets(
                self._own.group, self._own.topic
            ).items():
                if committed < highest.get(partition, -1):
                    self.fell.append((partition, highest[partition], committed))
                highest[partition] = max(committed, highest.get(partition, -1))

    def end(self):
        self._stop.set()
        self._thread.join()
        expect(self.looks > 50, f"only {self.looks} looks at the offsets")
        expect(not self.fell, f"committed offsets went down: {self.fell[:10]}")


@case("case-15", partitions=4, long=True)
def test_case_15_joins_and_leaves_under_load(own):
    """50 of them with --long, else 8. One process stays; another comes and goes, by SIGTERM or by kill -9."""
    rounds = 50 if own.lab.long_outage else 8
    own.prepare()
    own.start("a", states=["state-a"])
    watch = OffsetWatch(own)
    producer = own.produce_slowly("small", 4 * rounds, 1.0)
    guest = own.service("guest", "state-guest")
    for number in range(rounds):
        guest.start(ready=False)
        wait_until(lambda: guest.total("hourfold_partitions_held") == 2, 60, "the guest holds its share")
        time.sleep(0.5)
        if number % 4 == 3:
            guest.kill()
        else:
            code = guest.terminate()
            expect(code == 0, f"exit {code} after SIGTERM\n{guest.process.tail()}")
    producer.join()
    own.settle(180)
    watch.end()
    own.check()


@case("case-16", partitions=1)
def test_case_16_a_stopped_worker_goes_on_after_another_took_over(own):
    """A's Put of 5 readings is on its way when A is stopped; B counts to 9 and writes; then A's lands and A goes on."""
    own.settings["emit"]["refresh"] = "2s"
    own.write_configuration()
    own.prepare()
    proxy = TcpProxy(own.lab.hbase.address)
    try:
        a = own.service("a", "state-a", [f"sink.address={proxy.address}"]).start()
        own.wait_balanced(1)
        now = own.lab.base
        proxy.hold()
        own.produce_records([record("d1", now + i) for i in range(5)])
        wait_until(lambda: a.consumed() == 5 and proxy.held_bytes > 0, 30, "A's Put is on its way")
        a.process.signal(signal.SIGSTOP)
        own.produce_records([record("d1", now + i) for i in range(5, 9)])
        b = own.service("b", "state-b").start(ready=False)
        wait_until(lambda: b.consumed() >= 9 and b.quiet() and own.committed_to_end(), 60, "B wrote 9")
        nine = own.expected()[0]
        own.compare_cells(nine)
        proxy.release()
        a.process.signal(signal.SIGCONT)
        wait_until(lambda: proxy.answered_late > 0, 30, "HBase answered A's old Put")
        wait_until(lambda: a.pending() is not None, 30, "A is alive")
        time.sleep(5)
        own.compare_cells(nine)
        own.produce_records([record("d1", now + 9)])
        own.settle(60)
        (window,) = own.check().windows.values()
        expect(window.revision == 10, f"{window.revision} readings in the hour")
    finally:
        proxy.close()


@case("case-18", partitions=4)
def test_case_18_connections_cut_between_request_and_answer(own):
    own.prepare()
    proxy = TcpProxy(own.lab.hbase.address)
    try:
        (service,) = [own.service("a", settings=[f"sink.address={proxy.address}"]).start()]
        own.wait_balanced(1)
        for stage in ("early", "recent"):
            proxy.cut_answers(30)
            own.produce("small", stage)
            own.settle(120)
        expect(proxy.cuts >= 40, f"only {proxy.cuts} answers were cut")
        own.check_exact_counters(own.check())
        expect(service.total("hourfold_put_failures_total") > 0, "some were cut twice in a row")
    finally:
        proxy.close()


BUSY = {
    "MEMSTORE_FLUSHSIZE": 1,
    "COMPACTION_ENABLED": "false",
    "hbase.table.sanity.checks": "false",
    "hbase.hregion.memstore.block.multiplier": 1,
    "hbase.hstore.blockingStoreFiles": 1,
}
IDLE = {name: "" for name in BUSY}  # as before


@case("case-20-busy", partitions=4, buckets=2)
def test_case_20_regions_too_busy(own):
    """For a minute with --long, else 15 s: flushes wait for compactions that do not come, so the regions refuse Puts."""
    own.prepare()
    services = own.start("a", "b")
    own.produce("small", "early")
    own.settle()
    own.lab.hbase_probe.alter(own.table, **BUSY)
    thrift_log = own.lab.hbase.thrift.process
    try:
        own.produce("small", "recent")
        wait_until(
            lambda: sum(service.total("hourfold_put_failures_total") for service in services) > 0,
            120,
            "HBase refuses Puts",
        )
        before = [service.total("hourfold_put_batches_total") for service in services]
        seconds = 60 if own.lab.long_outage else 15
        time.sleep(seconds)
        tried = sum(service.total("hourfold_put_batches_total") for service in services) - sum(before)
        # Two salts, four partitions: each lane of its own, ever more rarely.
        expect(tried <= 8 * (4 + seconds / 10), f"{tried:.0f} batches within {seconds} s")
        expect("RegionTooBusy" in thrift_log.output(), "what HBase said is RegionTooBusyException")
        expect(all(service.running for service in services), "both processes wait for HBase")
        state, owned = own.lab.kafka_probe.members(own.group)
        expect(state == "Stable" and len(owned) == 2, f"both stay in the group: {state} {owned}")
    finally:
        own.lab.hbase_probe.alter(own.table, **IDLE)
    own.settle(180)
    own.check_exact_counters(own.check())


@case("case-20-idle", partitions=1, long=True)
def test_case_20_idle_connections(own):
    """Eleven minutes with --long. Else the server drops idle clients after 3 s and its own HBase connection after 4 s."""
    settings = {
        "hbase.thrift.server.socket.read.timeout": 3_000,
        "hbase.thrift.connection.max-idletime": 4_000,
        "hbase.thrift.connection.cleanup-interval": 1_000,
    }
    thrift = Thrift(own.lab.hbase, settings={} if own.lab.long_outage else settings).start()
    try:
        own.settings["sink"]["address"] = thrift.address
        own.write_configuration()
        own.prepare()
        (service,) = own.start("a")
        now = own.lab.base
        for number in range(2):
            own.produce_records([record("d1", now + number)])
            own.settle(60)
            if number == 0:
                time.sleep(660 if own.lab.long_outage else 10)
        own.check()
        expect(service.total("hourfold_put_failures_total") == 0, "the dead connection was replaced unseen")
    finally:
        thrift.kill()


@case("case-21", partitions=2)
def test_case_21_a_row_that_can_never_be_written(own):
    """A server that takes no cell above 20,000 bytes: the contribution of a wide device is larger."""
    own.prepare()
    thrift = Thrift(own.lab.hbase, settings={"hbase.client.keyvalue.maxsize": 20_000}).start()
    try:
        service = own.service("a", settings=[f"sink.address={thrift.address}"]).start()
        own.wait_balanced(1)
        now = own.lab.base
        wide = ",".join(f'"metric_{i}":{i}' for i in range(600))
        records = [record(f"d{i}", now) for i in range(200)]
        records.insert(100, record("wide", now, wide))
        own.produce_records(records)
        own.settle(120)
        own.produce_records([record(f"d{i}", now + 1) for i in range(200)])
        own.settle(60)
        dump = own.folder / "topic.dump"
        own.lab.kafka_probe.dump(own.topic, dump)
        others = oracle.Expected([r for r in read_dump(dump) if r.key != b"wide"])
        own.compare_cells(others)
        letters = own.folder / "letters"
        own.lab.kafka_probe.dump(own.side[oracle.DEAD_LETTER], letters)
        (letter,) = read_dump(letters)
        headers = dict(letter.headers)
        expect(
            letter.key == b"wide" and headers["hourfold.reason"] == b"row_refused" and len(letter.value) > 20_000,
            f"dead letter {letter.key} {headers} of {len(letter.value)} bytes",
        )
        expect(service.total("hourfold_rows_refused_total") == 1, "the refused row is counted once")
        # Once the server takes it, the row is written whole with its next reading.
        expect(service.terminate() == 0, "SIGTERM ends it")
        own.start("b")
        own.produce_records([record("wide", now + 1, wide)])
        own.settle(60)
        own.compare_cells(own.expected()[0])
    finally:
        thrift.kill()


@case("case-22", partitions=1)
def test_case_22_the_committed_offset_is_no_longer_in_the_log(own):
    own.prepare()
    (service,) = own.start("a")
    now = own.lab.base
    own.produce_records([record("d1", now + i) for i in range(10)])
    own.settle()
    expect(service.terminate() == 0, "SIGTERM ends it")
    own.produce_records([record("d1", now + i) for i in range(10, 20)])
    dump = own.folder / "before.dump"
    own.lab.kafka_probe.dump(own.topic, dump)
    own.lab.kafka_probe.trim(own.topic, 15)
    service.start(ready=False)
    wait_ended(service, 3, "offsets 10 to 14", "on_gap")
    committed = own.lab.kafka_probe.offsets(own.group, own.topic)[0][2]
    expect(committed == 10, f"the committed offset stays: {committed}")
    own.settings["kafka"]["on_gap"] = "continue"
    own.write_configuration()
    service.start()
    own.settle()
    expect("LOST: offsets 10 to 14" in service.process.output(), f"no record:\n{service.process.output()}")
    expect(service.total("hourfold_lost_offsets") == 5, "the state knows of 5 lost offsets")
    own.compare_cells(oracle.Expected([r for r in read_dump(dump) if not 10 <= r.offset < 15]))


@case("case-24", partitions=2)
def test_case_24_null_values_empty_values_and_null_keys(own):
    own.prepare()
    (service,) = own.start("a")
    now = own.lab.base
    odd = [("empty", b""), ("none", None)]
    values = [(reading("d1", now), []), (None, odd), (reading("d1", now + 1), odd), (b"", odd), (b"", [])]
    own.produce_records([(0, now, b"d1", value, headers) for value, headers in values])
    own.settle()
    expected = own.check()
    own.check_exact_counters(expected)
    (window,) = expected.windows.values()
    counters = {name: expected.counters[name] for name in ("tombstones", "malformed", "folded")}
    expect(
        window.revision == 2 and counters == {"tombstones": 1, "malformed": 2, "folded": 2}, f"{counters}"
    )
    own.produce_records([(1, now, None, reading("d2", now), [])])
    wait_ended(service, 3, "key null", "by_device", "trusted")
    own.settings["kafka"]["partitioning"] = "trusted"
    own.write_configuration()
    service.start()
    own.settle()
    own.check()


@case("case-34", partitions=2)
def test_case_34_lifetimes_shorter_than_what_is_written(own):
    """Found by `table check` and refused by `run`, whether the table or the configuration is what is too short."""
    week = {"retention.ms": 7 * DAY_MS}
    own.create_topics(**week)
    own.create_table()
    own.lab.kafka_probe.create({f"{own.topic}-long": 2}, **{"retention.ms": 100 * DAY_MS})
    own.lab.kafka_probe.create({f"{own.topic}-ever": 2})
    check = ("table", "check", "--set")

    def told(done, code, *mentions):
        text = done.stdout + done.stderr
        expect(done.returncode == code, f"exit {done.returncode}, want {code}:\n{text}")
        for mention in mentions:
            expect(mention in text, f"{mention!r} is not named:\n{text}")

    told(own.command("table", "check"), 0)
    longer = f'kafka.topics=["{own.topic}-long"]'
    told(own.command(*check, longer), 1, "family s", "37 d", "130 d")
    told(own.command("run", "--set", longer, "--set", "startup_timeout=3s"), 3, "family s", "130 d")
    short = "sink.contribution_ttl=37d"
    told(own.command(*check, short), 0)
    for words in (check, ("run", "--set", "startup_timeout=3s", "--set")):
        told(own.command(*words, longer, "--set", short), 2, "sink.contribution_ttl", "37d", "130d")
    # Rollups that live shorter than the topic are a choice, but one that is said.
    told(own.command(*check, f'kafka.topics=["{own.topic}-ever"]'), 1, "family s", "sink.ttl", "never seen")
    told(own.command(*check, "sink.ttl=20d"), 2, "sink.ttl", "max_age")
