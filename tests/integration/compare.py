"""Compares what HBase and the side topics hold, as the probes dumped it, with what the oracle expects, bit for bit."""

import functools
import math
import struct
from collections import defaultdict

from oracle import HOUR_MS, Aggregate
from records import read_dump

# --- cells -----------------------------------------------------------------------------------------------------------------


def murmur3_32(data, seed=0):
    """MurmurHash3_x86_32, unsigned."""

    def mixed(k):
        k = k * 0xCC9E2D51 & 0xFFFFFFFF
        k = (k << 15 | k >> 17) & 0xFFFFFFFF
        return k * 0x1B873593 & 0xFFFFFFFF

    h, whole = seed, len(data) // 4 * 4
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        h ^= mixed(k)
        h = (h << 13 | h >> 19) & 0xFFFFFFFF
        h = h * 5 + 0xE6546B64 & 0xFFFFFFFF
    h ^= mixed(int.from_bytes(data[whole:], "little")) if whole < len(data) else 0
    h ^= len(data)
    h ^= h >> 16
    h = h * 0x85EBCA6B & 0xFFFFFFFF
    h ^= h >> 13
    h = h * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def row_key(device, hour, buckets=32):
    return bytes([murmur3_32(device) % buckets]) + device + b"\0" + struct.pack(">q", hour)


def rollup_cells(metric, aggregate, layout):
    """(qualifier, value) of one metric in the family `r`."""
    low, high, total = aggregate.low, aggregate.high, math.fsum(aggregate.values)
    count = len(aggregate.values)
    name = metric.encode()
    if layout == "packed":
        return [(name, struct.pack(">dddq", low, high, total, count))]
    return [
        (name + b":min", struct.pack(">d", low)),
        (name + b":max", struct.pack(">d", high)),
        (name + b":sum", struct.pack(">d", total)),
        (name + b":count", struct.pack(">q", count)),
    ]


def cell_timestamp(hour, window, generation):
    return hour + generation * HOUR_MS + window.revision


def generation_of(generation, device, hour, window):
    return generation(device, hour, window) if callable(generation) else generation


@functools.lru_cache(maxsize=4)
def rollup_lines(expected, buckets=32, layout="wide", generation=0):
    """The lines of `r` as probe/HBaseProbe.java writes them. Kept, since many tests share a fleet."""
    lines = set()
    for (device, hour), window in expected.windows.items():
        row = row_key(device, hour, buckets).hex()
        timestamp = cell_timestamp(hour, window, generation_of(generation, device, hour, window))
        for metric, aggregate in window.metrics.items():
            lines.update(
                f"{row}\t72\t{qualifier.hex()}\t{timestamp}\t{value.hex()}"
                for qualifier, value in rollup_cells(metric, aggregate, layout)
            )
    return frozenset(lines)


def contribution_lines(expected, topic, buckets=32, generation=0):
    """The lines of `s` without their values, whose bytes the unit tests pin: one cell of the window's partition."""
    return {
        f"{row_key(device, hour, buckets).hex()}\t73\t{f'{topic}/{window.partition}'.encode().hex()}\t"
        f"{cell_timestamp(hour, window, generation_of(generation, device, hour, window))}"
        for (device, hour), window in expected.windows.items()
    }


# --- rows of several contributions

MERGED = 1_800_000  # `r` of such a row is this far above the revisions of one contribution


class Merged:
    """The contributions to a row as one window."""

    def __init__(self, windows):
        self.revision, self.metrics = sum(window.revision for window in windows), {}
        for window in windows:
            for name, aggregate in window.metrics.items():
                mine = self.metrics.setdefault(name, Aggregate())
                for value in aggregate.values:
                    mine.add(None, value)


def scanned_rows(scan_path):
    """{row key: {(family, qualifier): (timestamp, value)}} without the meta row; all in hex."""
    rows = defaultdict(dict)
    with open(scan_path, encoding="ascii") as lines:
        for line in lines:
            row, family, qualifier, timestamp, value = line.rstrip("\n").split("\t")
            if not row.startswith("ff"):
                rows[row][family, qualifier] = (int(timestamp), value)
    return rows


def wanted_row(hour, contributions, topic, layout, merged):
    """The cells of one row as scanned_rows() has them, contributions without their bytes."""
    whole = Merged(contributions.values())
    at = hour + whole.revision + (MERGED if merged else 0)
    cells = {
        ("72", qualifier.hex()): (at, value.hex())
        for metric, aggregate in whole.metrics.items()
        for qualifier, value in rollup_cells(metric, aggregate, layout)
    }
    for partition, window in contributions.items():
        cells["73", f"{topic}/{partition}".encode().hex()] = (hour + window.revision, "")
    return cells


def compare_shared_cells(expected, scan_path, topic, layout="wide", buckets=32):
    """As compare_cells(), of an oracle with several=True. A row of one contribution may have either form: it may have been complete
    before there could be others. Returns the differences and how many rows have several contributions."""
    rows, differences, shared = defaultdict(dict), [], 0
    for (device, hour, partition), window in expected.windows.items():
        rows[device, hour][partition] = window
    found = scanned_rows(scan_path)
    for (device, hour), contributions in sorted(rows.items()):
        got = {
            name: (at, value if name[0] == "72" else "")
            for name, (at, value) in found.pop(row_key(device, hour, buckets).hex(), {}).items()
        }
        shared += len(contributions) > 1
        forms = [wanted_row(hour, contributions, topic, layout, True)]
        if len(contributions) == 1:
            forms.append(wanted_row(hour, contributions, topic, layout, False))
        if got not in forms:
            names = [n for n in sorted(got.keys() | forms[0].keys()) if got.get(n) != forms[0].get(n)]
            differences += [
                f"{device} hour {hour} {bytes.fromhex(name).decode('utf-8', 'replace')}: want {forms[0].get((family, name))},"
                f" got {got.get((family, name))}, of {len(contributions)} contributions"
                for family, name in names[:3]
            ]
    return differences + [f"a row that nobody expects: {row}" for row in found], shared


def compare_cells(expected, scan_path, topic, layout="wide", generation=0, buckets=32):
    """Differences between a scan of the table and what is expected, as readable lines; empty when every cell is equal."""
    rollups = rollup_lines(expected, buckets=buckets, layout=layout, generation=generation)
    contributions = contribution_lines(expected, topic, buckets=buckets, generation=generation)
    got_rollups, got_contributions, strange = set(), set(), []
    with open(scan_path, encoding="ascii") as lines:
        for line in lines:
            line = line.rstrip("\n")
            row, family = line.split("\t", 2)[:2]
            if family == "72":
                got_rollups.add(line)
            elif family == "73":
                without_value, value = line.rsplit("\t", 1)
                got_contributions.add(without_value)
                if not value:
                    strange.append(f"empty contribution: {readable(line)}")
            elif row != "ff" + b"hourfold".hex():
                strange.append(f"neither r, s nor the meta row: {readable(line)}")
    differences = strange
    for wanted, got in ((rollups, got_rollups), (contributions, got_contributions)):
        pairs = defaultdict(lambda: [None, None])
        for side, lines in enumerate((wanted - got, got - wanted)):
            for line in lines:
                pairs[tuple(line.split("\t")[:3])][side] = line
        differences += [
            f"want {readable(want)}, got {readable(have)}" for _, (want, have) in sorted(pairs.items())
        ]
    return differences


def readable(line):
    """A cell line as device, hour, qualifier, revision and value."""
    if line is None:
        return "nothing"
    row, family, qualifier, timestamp, *value = line.split("\t")
    row = bytes.fromhex(row)
    if len(row) < 10 or row[0] == 0xFF:
        return line
    hour = int.from_bytes(row[-8:], "big", signed=True)
    name = bytes.fromhex(qualifier).decode("utf-8", "replace")
    text = f"{row[1:-9].decode('utf-8', 'replace')} hour {hour} {bytes.fromhex(family).decode()}:{name} at hour+{int(timestamp) - hour}"
    if value and family == "72" and len(value[0]) == 16:
        data = bytes.fromhex(value[0])
        text += f" = {struct.unpack('>q' if name.endswith(':count') else '>d', data)[0]!r}"
    return text


# --- side topics -----------------------------------------------------------------------------------------------------------

POSITION_HEADERS = ("hourfold.topic", "hourfold.partition", "hourfold.offset", "hourfold.index")


def compare_side(expected, side, dump_path, originals, topic):
    """Differences of one side topic: as a set of positions, each record with the original key, value, headers and timestamp.

    originals: {(partition, offset): Record} of the topic."""
    differences, found = [], set()
    for record in read_dump(dump_path):
        own = {
            name: value.decode("utf-8", "replace")
            for name, value in record.headers
            if name.startswith("hourfold.")
        }
        if missing := [name for name in (*POSITION_HEADERS, "hourfold.reason") if not own.get(name)]:
            differences.append(f"{side} record {record.offset}: no header {', '.join(missing)}")
            continue
        where = tuple(int(own[name]) for name in POSITION_HEADERS[1:])
        original = originals.get(where[:2])
        if own["hourfold.topic"] != topic or original is None:
            differences.append(f"{side} record {record.offset}: names {own}, which is not in the topic")
            continue
        found.add(where)
        if own["hourfold.reason"] != expected.side[side].get(where, own["hourfold.reason"]):
            differences.append(
                f"{side} record of {where}: reason {own['hourfold.reason']}, want {expected.side[side][where]}"
            )
        if (record.key, record.value, record.timestamp) != (original.key, original.value, original.timestamp):
            differences.append(f"{side} record of {where}: key, value or timestamp differ from the original")
        if [h for h in record.headers if not h[0].startswith("hourfold.")] != original.headers:
            differences.append(
                f"{side} record of {where}: headers {record.headers} do not keep {original.headers}"
            )
    wanted = expected.side[side]
    for where in sorted(wanted.keys() - found):
        differences.append(
            f"{side}: {where} is missing ({wanted[where]}): {originals[where[:2]].value[:200]!r}"
        )
    for where in sorted(found - wanted.keys()):
        differences.append(f"{side}: {where} should not be there: {originals[where[:2]].value[:200]!r}")
    return differences
