"""The oracle and the fleet themselves, on cases small enough to work out by hand. No server is touched."""

import json
import math
import struct
import tempfile
from collections import Counter

import fleet
import oracle
from compare import compare_cells, compare_side, contribution_lines, murmur3_32, rollup_lines
from records import Record, pack
from service import expect

HOUR = 1_767_225_600_000


def records(*values, arrival=HOUR + 60_000, partition=0):
    made = []
    for offset, value in enumerate(values):
        value = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
        text = pack(value)
        made.append(Record(f"{partition}\t{offset}\t{arrival}\tZDE=\t{text}\t"))
    return made


def reading(at, **metrics):
    return {"device": "d1", "ts": HOUR + at, "metrics": metrics}


def aggregate(expected, metric="m", device=b"d1", hour=HOUR):
    found = expected.windows[device, hour].metrics[metric]
    return found.low, found.high, math.fsum(found.values), len(found.values)


def test_murmur3(_lab):
    """Published values of MurmurHash3_x86_32 with seed 0."""
    for text, wanted in (
        (b"", 0),
        (b"hello", 0x248BFA47),
        (b"hello, world", 0x149BBB7F),
        (b"The quick brown fox jumps over the lazy dog", 0x2E4FF723),
    ):
        expect(murmur3_32(text) == wanted, f"murmur3({text!r}) = {murmur3_32(text):#x}")


def test_duplicates_and_revision(_lab):
    """The first value of a (device, metric, time) counts; the revision counts readings of which anything was new."""
    expected = oracle.Expected(
        records(
            reading(1, m=1),
            reading(1, m=1),
            reading(1, m=9),
            reading(1, m=9, k=5),
            reading(2, m=3),
            {"device": "d1", "ts": HOUR, "metrics": {}},
        )
    )
    expect(aggregate(expected) == (1, 3, 4, 2), "m has 1 and 3")
    expect(aggregate(expected, "k") == (5, 5, 5, 1), "k came with a repeated m and counts")
    expect(
        expected.windows[b"d1", HOUR].revision == 3, "three readings folded; the heartbeat makes no revision"
    )
    expect(
        expected.counters == Counter(consumed=6, folded=4, duplicate=2, conflicts=2, rejected_metrics=0),
        f"{expected.counters}",
    )


def test_bounds_of_arrival(_lab):
    """Equality is accepted on both sides."""
    arrival = HOUR + 60_000
    at = [arrival + 300_000, arrival + 300_001, arrival - 29 * 86_400_000, arrival - 29 * 86_400_000 - 1]
    expected = oracle.Expected(records(*({"device": "d1", "ts": t, "metrics": {"m": 1}} for t in at)))
    expect(
        set(expected.side[oracle.QUARANTINE]) == {(0, 1, 0)}
        and set(expected.side[oracle.ARCHIVE]) == {(0, 3, 0)},
        f"{expected.side}",
    )
    expect(expected.counters["folded"] == 2, "two are folded")


def test_values(_lab):
    """Cases 27 to 30 of the field: NaN, 1e400, signs, null, big integers, exact sums."""
    expected = oracle.Expected(
        records(
            b'{"device":"d1","ts":%d,"metrics":{"m":NaN,"k":0.4,"gone":null}}' % HOUR,
            b'{"device":"d1","ts":%d,"metrics":{"m":1e400}}' % HOUR,
            b'{"device":"d1","ts":%d,"metrics":{"m":3,"z":0.0,"big":9007199254740993}}' % HOUR,
            b'{"device":"d1","ts":%d,"metrics":{"z":-0.0}}' % (HOUR + 1),
            *(reading(i, k=0.4) for i in range(1, 70)),
        )
    )
    expect(aggregate(expected) == (3, 3, 3, 1), "NaN leaves no trace")
    expect(aggregate(expected, "k") == (0.4, 0.4, 28.0, 70), "70 times 0.4 is 28")
    expect(
        math.copysign(1, aggregate(expected, "z")[0]) == -1
        and math.copysign(1, aggregate(expected, "z")[1]) == 1,
        "-0.0 is below +0.0",
    )
    expect(
        aggregate(expected, "big")[0] == 9007199254740992.0
        and set(expected.side[oracle.DEAD_LETTER]) == {(0, 1, 0)},
        "big and 1e400",
    )


def test_several_readings_in_a_record(_lab):
    """A bad element is refused with its index, the others stand; tombstones are no readings."""
    batch = (
        json.dumps([reading(1, m=1), 42, reading(2, m=2)]).encode()
        + b"\n"
        + json.dumps(reading(3, m=3)).encode()
        + b"\0\n"
    )
    expected = oracle.Expected(records(b"\xef\xbb\xbf" + batch, None, b"", b'{"device":"d1"} x'))
    expect(aggregate(expected) == (1, 3, 6, 3), "three are folded")
    expect(set(expected.side[oracle.DEAD_LETTER]) == {(0, 0, 1), (0, 2, 0), (0, 3, 0)}, f"{expected.side}")
    expect(
        expected.counters["tombstones"] == 1 and expected.counters["consumed"] == 6, f"{expected.counters}"
    )


def test_a_broken_line_spoils_itself_alone(_lab):
    """Where a record has a document a line; otherwise broken JSON spoils the record."""
    good = json.dumps(reading(1, m=1)).encode()
    expected = oracle.Expected(
        records(good + b"\n{oops\n" + good.replace(b"1}", b"2}"), good + b"{oops", b"\xff" + good)
    )
    expect(
        expected.side[oracle.DEAD_LETTER]
        == {(0, 0, 1): "bad_json", (0, 1, 0): "bad_json", (0, 2, 0): "bad_utf8"},
        f"{expected.side}",
    )
    expect(expected.counters["folded"] == 1 and expected.counters["duplicate"] == 1, f"{expected.counters}")


def test_side_records(_lab):
    """Set of positions, reason, and the original key, value, timestamp and headers; a wrong one is found."""
    originals = {(record.partition, record.offset): record for record in records(b"{", b"42")}
    expected = oracle.Expected(originals.values())
    headers = [
        ["hourfold.reason", b"bad_json"],
        ["hourfold.topic", b"t"],
        ["hourfold.partition", b"0"],
        ["hourfold.offset", b"0"],
        ["hourfold.index", b"0"],
    ]

    def line(offset, reason, value=None):
        own = [
            (name, reason if name.endswith("reason") else b"%d" % offset if name.endswith("offset") else data)
            for name, data in headers
        ]
        pairs = ",".join(f"{name}={pack(data)}" for name, data in own)
        original = originals[0, offset]
        return f"0\t{offset}\t{original.timestamp}\tZDE=\t{pack(value or original.value)}\t{pairs}\n"

    good = [line(0, b"bad_json"), line(1, b"not_an_object")]
    for dump, differences in (
        (good, 0),
        (good + good, 0),
        (good[:1], 1),
        ([good[0], line(1, b"bad_json")], 1),
        ([good[0], line(1, b"not_an_object", b"43")], 1),
    ):
        with tempfile.NamedTemporaryFile("w", suffix=".dump") as file:
            file.write("".join(dump))
            file.flush()
            found = compare_side(expected, oracle.DEAD_LETTER, file.name, originals, "t")
            expect(len(found) == differences, f"{differences} wanted: {found}")


def test_cells(_lab):
    """Row key, qualifiers, values and timestamp, worked out by hand; and that a wrong one is found."""
    expected = oracle.Expected(records(reading(1, m=1.5), reading(2, m=-2)))
    row = bytes([murmur3_32(b"d1") % 32]) + b"d1\0" + struct.pack(">q", HOUR)
    rollups, contributions = rollup_lines(expected), contribution_lines(expected, "t")
    wanted = {
        f"{row.hex()}\t72\t{name.encode().hex()}\t{HOUR + 2}\t{value}"
        for name, value in (
            ("m:min", "c000000000000000"),
            ("m:max", "3ff8000000000000"),
            ("m:sum", "bfe0000000000000"),
            ("m:count", "0000000000000002"),
        )
    }
    expect(rollups == wanted, f"{rollups}")
    expect(contributions == {f"{row.hex()}\t73\t{b't/0'.hex()}\t{HOUR + 2}"}, f"{contributions}")
    good = sorted(rollups) + [line + "\t01" for line in contributions]
    with tempfile.NamedTemporaryFile("w", suffix=".scan") as scan:
        for damage, differences in (
            (lambda c: c, 0),
            (lambda c: c[1:], 1),
            (lambda c: [c[0].replace(str(HOUR + 2), str(HOUR + 1)), *c[1:]], 1),
            (lambda c: [c[0][:-1] + "f", *c[1:]], 1),
            (lambda c: c[:-1], 1),
            (lambda c: [*c, c[-1].replace("742f30", "742f31")], 1),
        ):
            scan.seek(0)
            scan.truncate()
            scan.write("".join(line + "\n" for line in damage(list(good))))
            scan.flush()
            found = compare_cells(expected, scan.name, "t")
            expect(len(found) == differences, f"{differences} wanted: {found}")


def test_fleet(lab):
    """Deterministic by seed and base; has every kind in about its share; compensated sums equal the exact ones."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        shape = dict(readings=20_000, devices=150, partitions=4, seed=3, base=lab.base)
        files, kinds = fleet.write(one, **shape)
        again, _ = fleet.write(two, **shape)
        expect(
            all(files[stage].read_bytes() == again[stage].read_bytes() for stage in files),
            "the same seed gives the same records",
        )
        offsets, made = Counter(), []
        for file in files.values():
            for line in open(file, encoding="ascii"):
                partition, rest = line.split("\t", 1)
                made.append(Record(f"{partition}\t{offsets[partition]}\t{rest}"))
                offsets[partition] += 1
    expected = oracle.Expected(made)
    counters = expected.counters
    expect(counters["consumed"] == shape["readings"], f"{counters}")
    for kind, low, high in (
        ("malformed", 0.008, 0.015),
        ("duplicate", 0.015, 0.03),
        ("quarantined", 0.001, 0.006),
        ("archived", 0.001, 0.006),
    ):
        expect(low <= counters[kind] / shape["readings"] <= high, f"{kind}: {counters[kind]}")
    expect(
        kinds["late"] > 300 and kinds["out of order"] > 800 and kinds["heartbeat"] and kinds["NDJSON"],
        f"{kinds}",
    )
    for window in expected.windows.values():
        for found in window.metrics.values():
            total = compensation = 0.0
            for value in found.values:
                raised = total + value
                compensation += (
                    (total - raised) + value if abs(total) >= abs(value) else (value - raised) + total
                )
                total = raised
            expect(total + compensation == math.fsum(found.values), f"{found.values}")
