"""`hourfold table` and `hourfold query` against the real HBase."""

import json
import math

from harness import case
from service import expect, expect_none

FOREVER = 2_147_483_647
DAY = 86_400


def check_family(found, family, ttl):
    wanted = {"versions": "1", "compression": "GZ", "encoding": "FAST_DIFF", "bloom": "ROW"}
    if ttl is not None:
        wanted["ttl"] = str(ttl)
    return [
        f"{family}.{name} is {found.get(f'{family}.{name}')}, want {value}"
        for name, value in wanted.items()
        if found.get(f"{family}.{name}") != value
    ]


def created(own, **topic_settings):
    own.create_topics(**topic_settings)
    own.create_table()
    found = own.lab.hbase_probe.describe(own.table)
    done = own.command("table", "check")
    expect(
        done.returncode == 0,
        f"table check of a fresh table: exit {done.returncode}\n{done.stdout}{done.stderr}",
    )
    return found


def check_shape(own, found, rollup_ttl, layout, buckets):
    differences = check_family(found, "r", rollup_ttl) + check_family(found, "s", None)
    splits = [bytes([salt]) for salt in range(1, buckets)]
    if [split for split in found["splits"] if split[0] < 128] != splits:
        differences.append(f"splits are {found['splits']}, want one per salt")
    attributes = {name.lower(): value for name, value in found.items() if name.startswith("table.")}
    for what, value in (("buckets", str(buckets)), ("layout", layout)):
        if not any(what in name and value == own_value for name, own_value in attributes.items()):
            differences.append(f"no table attribute for {what} = {value}: {attributes}")
    expect_none(differences, f"table {own.table}")


@case("table-wide", partitions=2)
def test_create_and_check(own):
    """A topic that keeps everything: contributions live forever, rollups two years."""
    found = created(own)
    check_shape(own, found, 730 * DAY, "wide", 32)
    expect(found["s.ttl"] == str(FOREVER), f"s.ttl is {found['s.ttl']}, want forever")
    again = own.command("table", "create")
    expect(
        again.returncode in (1, 2, 3) and own.table in again.stderr,
        f"create of an existing table: {again.returncode} {again.stderr}",
    )


@case("table-packed", partitions=2, layout="packed", ttl="forever", buckets=4)
def test_create_packed_with_a_bounded_topic(own):
    """Contributions live at least the topic's retention + max age + 1 day."""
    found = created(own, **{"retention.ms": 7 * DAY * 1000})
    check_shape(own, found, FOREVER, "packed", 4)
    expect(
        37 * DAY <= int(found["s.ttl"]) <= 60 * DAY, f"s.ttl is {found['s.ttl']}, want 37 days or little more"
    )


@case("table-foreign", partitions=2)
def test_check_finds_what_is_wrong(own):
    """A table of the right families that Hourfold did not make has neither salts nor attributes."""
    own.create_topics()
    own.lab.hbase_probe.create(own.table, "r", "s", "m")
    done = own.command("table", "check")
    expect(
        done.returncode == 1 and own.table in done.stdout + done.stderr,
        f"exit {done.returncode}\n{done.stdout}{done.stderr}",
    )


@case("query", partitions=4)
def test_query_agrees_with_the_oracle(own):
    own.prepare()
    own.start("a")
    own.produce("small", "early", "recent")
    own.settle()
    expected = own.check()
    for device in (b"dev-00000003", b"700007", "zähler-00011".encode()):
        wanted = {}
        for (name, hour), window in expected.windows.items():
            if name == device:
                wanted |= {
                    (metric, hour): (a.low, a.high, math.fsum(a.values), len(a.values))
                    for metric, a in window.metrics.items()
                }
        expect(wanted, f"{device} has readings")
        hours = query(own, device, "--by", "hour")
        expect(
            {(row["metric"], row["hour"]): numbers(row) for row in hours} == wanted,
            f"hours of {device.decode()} differ from the oracle's",
        )
        metric = hours[0]["metric"]
        expect(
            {row["metric"] for row in query(own, device, "--metric", metric)} == {metric},
            "--metric selects one metric",
        )
        for step in ("day", "month"):
            rows = query(own, device, "--by", step)
            expect(
                sum(row["count"] for row in rows) == sum(count for *_, count in wanted.values()),
                f"--by {step} keeps the count",
            )
        for form in (("--format", "table"), ("--format", "csv"), ("--plot", "--metric", metric)):
            done = own.command("query", "--device", device.decode(), *form)
            expect(
                done.returncode == 0 and len(done.stdout.splitlines()) > 3,
                f"query {form}: {done.returncode} {done.stdout}{done.stderr}",
            )


def query(own, device, *words):
    """Rows of `query --format json`: an object a line, or one array."""
    done = own.command("query", "--device", device.decode(), "--format", "json", *words)
    expect(done.returncode == 0, f"query {words}: exit {done.returncode} {done.stderr}")
    return (
        json.loads(done.stdout)
        if done.stdout.lstrip().startswith("[")
        else [json.loads(line) for line in done.stdout.splitlines()]
    )


def numbers(row):
    return row["min"], row["max"], row["sum"], row["count"]
