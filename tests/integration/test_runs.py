"""The main path: two processes of one group fold the whole fleet, and every cell is right."""

from harness import case
from rig import Thrift
from service import expect, wait_until


def run_the_fleet(own, states):
    own.prepare()
    own.start("a", "b", states=states)
    produced = own.produce("full", "early", "recent")
    own.settle()
    expected = own.check()
    own.check_exact_counters(expected)
    # Tombstones are records without a reading, so the records are no measure of the readings: both are what the fleet says.
    expect(
        expected.counters["consumed"] == 300_000 and produced > 250_000,
        f"{produced} records, {expected.counters}",
    )


@case("shared-state")
def test_two_processes_with_one_state_dir(own):
    run_the_fleet(own, ["state", "state"])


@case("own-state")
def test_two_processes_with_a_state_dir_each(own):
    run_the_fleet(own, ["state-a", "state-b"])


@case("expired-hours")
def test_readings_later_than_the_retention(own):
    """The early burst has been written, committed and, once the recent one begins, expired before most late readings come."""
    own.prepare()
    own.start("a", "b")
    own.produce("full", "early")
    own.settle()
    own.compare_cells(own.expected()[0])
    lines = own.lab.fleet("full")["recent"].read_text(encoding="ascii").splitlines(keepends=True)
    head, tail = own.folder / "head", own.folder / "tail"
    head.write_text("".join(lines[:8000]), encoding="ascii")
    tail.write_text("".join(lines[8000:]), encoding="ascii")
    own.lab.kafka_probe.produce(own.topic, head)
    own.settle()
    own.lab.kafka_probe.produce(own.topic, tail)
    own.settle()
    own.check_exact_counters(own.check())


@case("framed-compact", partitions=4)
def test_framed_transport_and_compact_protocol(own):
    thrift = Thrift(own.lab.hbase, 2, "framed", "compact").start()
    try:
        own.settings["sink"].update(address=thrift.address, transport="framed", protocol="compact")
        own.write_configuration()
        own.prepare()
        own.start("a")
        own.produce("small", "early", "recent")
        own.settle()
        own.check_exact_counters(own.check())
    finally:
        thrift.kill()


@case("packed", partitions=4, layout="packed")
def test_packed_layout(own):
    own.prepare()
    own.start("a")
    own.produce("small", "early", "recent")
    own.settle()
    own.check_exact_counters(own.check())


@case("open-hour", partitions=1)
def test_case_7_one_reading_of_an_open_hour_then_silence(own):
    """Its cell appears without another record, also when the process is killed before it was written."""
    own.prepare()
    own.settings["emit"]["refresh"] = "3s"
    own.write_configuration()
    own.start("a")
    now = own.lab.base
    own.produce_records([(0, now, b"d1", b'{"device":"d1","ts":%d,"metrics":{"m":1}}' % now, [])])
    wait_until(lambda: own.services[0].consumed() == 1, 20, "the reading is consumed")
    own.services[0].kill()
    own.services[0].start()
    own.settle(60)
    own.check()


@case("transactions", partitions=1)
def test_case_23_log_that_ends_in_what_is_no_record(own):
    """Markers of transactions and aborted records at the end: the committed offset passes them, and nothing aborted is folded."""
    own.prepare()
    own.start("a")
    now = own.lab.base

    def reading(number):
        return (
            0,
            now,
            b"d1",
            b'{"device":"d1","ts":%d,"metrics":{"m":%d}}' % (now - number, number),
            [],
        )

    own.produce_records([reading(1)])
    own.produce_records([reading(2), reading(3)], transaction="commit")
    own.settle(60)
    own.produce_records([reading(5), reading(100)], transaction="abort")
    own.settle(60)
    begin, end, committed, _ = own.lab.kafka_probe.offsets(own.group, own.topic)[0]
    expect((begin, end, committed) == (0, 7, 7), f"offsets {begin} to {end}, committed {committed}, want 0 to 7, 7")
    expected = own.check()
    own.check_exact_counters(expected)
    expect(expected.counters["folded"] == 3, f"{expected.counters}")
    # Once more from the end that is no record, and from there on.
    own.services[0].kill()
    own.services[0].start()
    own.produce_records([reading(6)])
    own.settle(60)
    own.check()
