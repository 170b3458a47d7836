"""Rows with several contributions: a topic that gains partitions while it runs, while it rests and while processes die, and readings of a
device in any partition. Every cell against the oracle, never half of a total, and `verify` and `rebuild` of such a table."""

import random
import zlib

from compare import compare_shared_cells
from harness import case
from records import pack, unpack
from service import expect, expect_none, wait_until


def move(line, partition_of):
    """A record in another partition: partition_of(key)."""
    _, timestamp, key, rest = line.split("\t", 3)
    return f"{partition_of(unpack(key) or b'')}\t{timestamp}\t{key}\t{rest}"


def lines_of(own, stage, partition_of):
    """The records of a stage of the small fleet, in partitions of our own."""
    for line in open(own.lab.fleet("small")[stage], encoding="ascii"):
        yield move(line, partition_of)


def produce_lines(own, lines):
    file = own.folder / f"lines-{len(list(own.folder.glob('lines-*')))}"
    file.write_text("".join(lines), encoding="ascii")
    return own.lab.kafka_probe.produce(own.topic, file)


def by_key(partitions):
    """As a producer's partitioner: most keys move when their number changes."""
    return lambda key: zlib.crc32(key) % partitions


def check(own, at_least):
    """All cells, the side topics' counts by the counters, the offsets; at_least: rows that must have several contributions."""
    expected, _ = own.expected(several=True)
    scan = own.folder / "table.scan"
    own.lab.hbase_probe.scan(own.table, scan)
    differences, shared = compare_shared_cells(expected, scan, own.topic, own.layout, own.buckets)
    expect_none(differences, "cells")
    expect(shared >= at_least, f"only {shared} rows have several contributions: the test has no data")
    expect(own.committed_to_end(), "committed offsets do not reach the end")
    for service in own.services:
        if service.running:
            service.counters()
    done = own.command("verify", "--quiet", timeout=180)
    expect(done.returncode == 0, f"verify: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return expected


def grow(own, partitions):
    own.lab.kafka_probe.grow(own.topic, partitions)
    own.partitions = partitions


@case("grown", partitions=4)
def test_case_25_partitions_added_while_running(own):
    """Two processes; the topic grows twice, and devices move in the middle of their hours."""
    own.prepare()
    own.start("a", "b")
    early = list(lines_of(own, "early", by_key(4)))
    produce_lines(own, early)
    recent = list(lines_of(own, "recent", by_key(4)))
    third = len(recent) // 3
    produce_lines(own, recent[:third])
    grow(own, 7)
    produce_lines(own, [move(line, by_key(7)) for line in recent[third : 2 * third]])
    own.wait_balanced(2, timeout=120)
    grow(own, 9)
    produce_lines(own, [move(line, by_key(9)) for line in recent[2 * third :]])
    own.wait_balanced(2, timeout=120)
    own.settle()
    check(own, at_least=100)


@case("grown-down", partitions=3, long=True)
def test_partitions_added_while_nobody_runs(own):
    own.prepare()
    (service,) = own.start("a")
    recent = list(lines_of(own, "recent", by_key(3)))
    half = len(recent) // 2
    produce_lines(own, recent[:half])
    own.settle()
    expect(service.terminate() == 0, "SIGTERM ends it")
    grow(own, 5)
    produce_lines(own, [move(line, by_key(5)) for line in recent[half:]])
    own.start("b", states=["state-b"])  # without the disk
    own.settle()
    check(own, at_least=100)
    told = own.services[-1].process.tail(400)
    expect("grown from 3 to 5 partitions" in told, f"it says nothing of the growth:\n{told}")


@case("grown-kill", partitions=4, long=True)
def test_processes_killed_while_the_topic_grows(own):
    own.prepare()
    a, b = own.start("a", "b", states=["state-a", "state-b"])
    recent = list(lines_of(own, "recent", by_key(4)))
    half = len(recent) // 2
    produce_lines(own, recent[:half])
    grow(own, 6)
    a.kill()  # before it can have heard
    produce_lines(own, [move(line, by_key(6)) for line in recent[half:]])
    a.start()
    own.wait_balanced(2, timeout=120)
    before = b.consumed()
    wait_until(lambda: b.consumed() >= before, 5, "b runs")
    b.kill()
    own.wait_balanced(1, timeout=120)
    b.start()
    own.wait_balanced(2, timeout=120)
    own.settle()
    check(own, at_least=100)


@case("any", partitions=5, layout="packed")
def test_readings_of_a_device_in_any_partition(own):
    """Keys are of no use, or missing; one of the two processes is killed on the way."""
    own.settings["kafka"]["partitioning"] = "any"
    own.write_configuration()
    own.prepare()
    a, _ = own.start("a", "b")
    draw = random.Random(5)

    def anywhere(line):
        _, timestamp, key, rest = line.split("\t", 3)
        key = draw.choice((key, "-", pack(b"gateway-7")))
        return f"{draw.randrange(5)}\t{timestamp}\t{key}\t{rest}"

    early = [anywhere(line) for line in lines_of(own, "early", by_key(5))]
    recent = [anywhere(line) for line in lines_of(own, "recent", by_key(5))]
    produce_lines(own, early)
    own.settle()
    produce_lines(own, recent[: len(recent) // 2])
    a.kill()
    produce_lines(own, recent[len(recent) // 2 :])
    a.start()
    own.wait_balanced(2, timeout=120)
    own.settle()
    check(own, at_least=1_000)
    rebuilt_elsewhere(own)


def rebuilt_elsewhere(own):
    """Not in its place, where halves could be seen, but into another table."""
    done = own.command("rebuild", "--follow", "--yes")
    expect(done.returncode == 3, f"rebuild --follow: exit {done.returncode}\n{done.stdout}{done.stderr}")
    expect("--into" in done.stderr and "several contributions" in done.stderr, done.stderr)
    copy = f"{own.table}-copy"
    made = own.command("table", "create", "--set", f"sink.table={copy}", timeout=180)
    expect(made.returncode == 0, f"table create: {made.stderr}")
    done = own.command("rebuild", "--yes", "--into", copy, timeout=180)
    expect(done.returncode == 0, f"rebuild --into: exit {done.returncode}\n{done.stdout}{done.stderr}")
    expected, _ = own.expected(several=True)
    scan = own.folder / "copy.scan"
    own.lab.hbase_probe.scan(copy, scan)
    differences, shared = compare_shared_cells(expected, scan, own.topic, own.layout, own.buckets)
    expect_none(differences, "cells of the copy")
    expect(shared >= 1_000, f"only {shared} rows of the copy have several contributions")
