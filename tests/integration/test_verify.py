"""`hourfold verify`: a table that is right, one that somebody changed, a log that has lost its beginning."""

import json
import struct

from compare import cell_timestamp, rollup_cells, row_key
from harness import case
from oracle import HOUR_MS, MAX_FUTURE_MS
from service import expect


def verify(own, *words, code):
    """(differences, summary) of `verify --format json`."""
    done = own.command("verify", "--format", "json", "--max-differences", "1000000", *words, timeout=180)
    told = f"verify {words}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    expect(done.returncode == code, f"want exit {code}; {told}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    expect(lines and "summary" in lines[-1], told)
    return lines[:-1], lines[-1]["summary"]


def filled(own):
    own.prepare()
    own.start("a")
    own.produce("small", "early", "recent")
    own.settle()
    return own.expected(deduplicate=own.settings.get("reading", {}).get("deduplicate", True))[0]


def cells_of(expected, layout):
    """Cells of all rows: those of the rollups and a contribution each."""
    per_metric = 1 if layout == "packed" else 4
    return sum(len(window.metrics) * per_metric + 1 for window in expected.windows.values())


def check_right(own, expected):
    differences, summary = verify(own, code=0)
    expect(not differences and summary["differing_cells"] == 0, f"{differences[:3]} {summary}")
    wanted = (len(expected.windows), cells_of(expected, own.layout))
    expect((summary["rows"], summary["cells"]) == wanted, f"compared {summary}, want {wanted} rows and cells")
    expect(not any(summary["rows_left_out"].values()), f"left out: {summary}")


@case("verify", partitions=4)
def test_a_right_table_and_every_kind_of_difference(own):
    expected = filled(own)
    check_right(own, expected)
    changed = change_by_hand(own, expected)
    differences, summary = verify(own, code=1)
    found = {(d["difference"], d["row"], d.get("cell", "")) for d in differences}
    expect(found == changed, f"found {sorted(found)}\nwant {sorted(changed)}")
    expect(summary["differing_rows"] == len({row for _, row, _ in changed}), f"{summary}")
    for difference in differences:
        expect(
            difference["difference"] == "extra_row" or 0 <= difference["partition"] < own.partitions,
            f"no partition: {difference}",
        )
    value = next(d for d in differences if d["difference"] == "other_value")
    expect(value["found"] == "1234.5" and float(value["expected"]) != 1234.5, f"{value}")
    check_selection(own, changed)
    check_report_file(own, differences)


def change_by_hand(own, expected):
    """{(kind, row in hex, cell)} of what verify has to find."""
    probe, keys = own.lab.hbase_probe, sorted(expected.windows)
    value, timestamp, cell, extra_cell, gone = (keys[len(keys) * i // 6] for i in range(1, 6))
    changed = set()

    def at(key):
        window = expected.windows[key]
        metric = sorted(window.metrics)[0]
        return row_key(*key), metric, window, cell_timestamp(key[1], window, 0)

    row, metric, _, stamp = at(value)
    probe.put(own.table, row, "r", f"{metric}:max".encode(), stamp, struct.pack(">d", 1234.5))
    changed.add(("other_value", row.hex(), f"r:{metric}:max"))

    row, metric, window, stamp = at(timestamp)
    (_, low), *_ = rollup_cells(metric, window.metrics[metric], "wide")
    probe.put(own.table, row, "r", f"{metric}:min".encode(), stamp + 1, low)
    changed.add(("other_timestamp", row.hex(), f"r:{metric}:min"))

    row, metric, _, _ = at(cell)
    probe.delete(own.table, row, "r", f"{metric}:count".encode())
    changed.add(("missing_cell", row.hex(), f"r:{metric}:count"))

    row, _, _, stamp = at(extra_cell)
    probe.put(own.table, row, "r", b"never:sum", stamp, struct.pack(">d", 1.0))
    changed.add(("extra_cell", row.hex(), "r:never:sum"))

    row = row_key(*gone)
    probe.delete(own.table, row)
    changed.add(("missing_row", row.hex(), ""))

    row = row_key(b"nobody", own.lab.base // HOUR_MS * HOUR_MS - HOUR_MS)
    probe.put(own.table, row, "r", b"m:sum", own.lab.base, struct.pack(">d", 1.0))
    changed.add(("extra_row", row.hex(), ""))
    return changed


def check_selection(own, changed):
    """Devices and hours that are not asked for are not looked at."""
    rows = {row: bytes.fromhex(row) for _, row, _ in changed}
    for row, key in rows.items():
        device, hour = key[1:-9].decode(), int.from_bytes(key[-8:], "big")
        wanted = {(kind, row) for kind, of, _ in changed if of == row}
        window = ("--from", str(hour), "--to", str(hour + HOUR_MS))
        for words in (("--devices", device, *window), ("--devices", device[:-1] + "?", *window)):
            differences, _ = verify(own, *words, code=1)
            found = {(d["difference"], d["row"]) for d in differences if d["device"] == device}
            expect(found == wanted, f"{words}: {found}, want {wanted}")
    differences, summary = verify(own, "--from", "2020-01-01", "--to", "2020-01-02", code=0)
    expect(not differences and summary["rows"] == 0, f"{summary}")


def check_report_file(own, differences):
    report = own.folder / "differences.txt"
    done = own.command("verify", "--report", str(report), "--max-differences", "2", timeout=180)
    expect(done.returncode == 1, f"exit {done.returncode} {done.stderr}")
    expect(f"... and {len(differences) - 2} differences more" in done.stdout, done.stdout)
    written = report.read_text(encoding="utf-8")
    for difference in differences:
        expect(difference["row"] in written, f"the report lacks {difference}")


@case("verify-packed", partitions=4, layout="packed")
def test_packed_without_duplicates_removed(own):
    own.settings["reading"] = {"deduplicate": False}
    own.write_configuration()
    check_right(own, filled(own))


@case("verify-truncated", partitions=4)
def test_hours_that_are_not_wholly_in_the_log(own):
    """Half of each partition leaves the log: those hours are left out, the others compared."""
    expected = filled(own)
    records = sorted(
        ((r.partition, r.offset, r.timestamp) for r in own.expected()[1].values()), reverse=True
    )
    whole_from = {}
    for partition, (_, end, _, _) in own.lab.kafka_probe.offsets(own.group, own.topic).items():
        own.lab.kafka_probe.truncate(own.topic, partition, end // 2)
        first = min(t for p, offset, t in records if p == partition and offset >= end // 2)
        whole_from[partition] = (first + MAX_FUTURE_MS) // HOUR_MS * HOUR_MS + HOUR_MS
    whole = sum(hour >= whole_from[window.partition] for (_, hour), window in expected.windows.items())
    differences, summary = verify(own, code=0)
    expect(not differences, f"{differences[:3]}")
    expect(0 < whole == summary["rows"], f"{whole} hours are whole; {summary}")
    expect(
        summary["rows_left_out"]["partly_in_log"] == len(expected.windows) - whole, f"{whole}; {summary}"
    )


@case("verify-rules", partitions=2)
def test_another_configuration_than_the_services(own):
    own.prepare()
    own.start("a")
    own.produce_records(
        [(0, own.lab.base, b"d", b'{"device":"d","ts":%d,"metrics":{"m":1}}' % own.lab.base, [])]
    )
    own.settle()
    done = own.command("verify", "--set", "policy.max_age=1d", timeout=60)
    expect(done.returncode == 2 and "policy" in done.stderr, f"{done.returncode} {done.stderr}")
    verify(own, code=0)
