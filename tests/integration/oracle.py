"""What a dump of the topic must lead to, recomputed without any code of Hourfold.

Follows docs/FORMATS.md and the rules of a reading literally and slowly: values are kept in lists and summed by math.fsum, seen
times are sets of (metric, time). Only what the test fleet uses is decided here; what it does not is refused by an assertion.
"""

import decimal
import json
import math
import struct
from collections import Counter, defaultdict

HOUR_MS = 3_600_000
MAX_FUTURE_MS = 5 * 60_000
MAX_AGE_MS = 29 * 24 * HOUR_MS
YEAR_10000_MS = 253_402_300_800_000
DEAD_LETTER, QUARANTINE, ARCHIVE = "dead_letter", "quarantine", "archive"


# --- a record's readings ---------------------------------------------------------------------------------------------------


class Number(str):
    """A JSON number as its text, so that nothing is rounded before its meaning is known."""


class Malformed(Exception):
    """Why a reading or a whole record can never be folded."""


class Rejected(str):
    """NaN, Infinity or -Infinity: no JSON, but common; costs its metric only."""


DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Rejected)


def documents(value):
    """The JSON documents of a record's value, arrays opened. Broken JSON spoils the record, or its line alone (a Malformed in
    the list) where the record has a document a line; Malformed is raised for what spoils the record."""
    if value.startswith(b"\xef\xbb\xbf"):
        value = value[3:]
    value = value.rstrip(b"\0 \t\r\n")
    if not value:
        raise Malformed("empty_value")
    try:
        return documents_of_text(value)
    except Malformed:
        lines = [line for line in value.split(b"\n") if line.strip()]
        found = [documents_or_reason(line) for line in lines]
        if not any(isinstance(of_line, list) for of_line in found):
            if value.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
                raise Malformed("compressed") from None
            if value.startswith(b"\0\0") and len(value) > 5:
                raise Malformed("framed") from None
            raise
        return [
            document
            for of_line in found
            for document in (of_line if isinstance(of_line, list) else [of_line])
        ]


def documents_or_reason(text):
    try:
        return documents_of_text(text)
    except Malformed as reason:
        return reason


def documents_of_text(value):
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("bad_utf8") from None
    at, found = 0, []
    while True:
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if at == len(text):
            return found
        try:
            document, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            raise Malformed("bad_json") from None
        assert document != [], "an empty array is not decided here"
        found += document if isinstance(document, list) else [document]


def device_of(document):
    device = document.get("device")
    if device is None:
        raise Malformed("no_device")
    if not isinstance(device, str) or isinstance(device, Rejected):
        raise Malformed("bad_device")
    device = device.encode()
    if not 1 <= len(device) <= 256 or b"\0" in device:
        raise Malformed("bad_device")
    return device


def event_time_of(document):
    time = document.get("ts")
    if time is None:
        raise Malformed("no_time")
    if not isinstance(time, Number):
        raise Malformed("bad_time")
    time = math.floor(decimal.Decimal(time))
    if not 0 <= time < YEAR_10000_MS:
        raise Malformed("bad_time")
    return time


def flat(metrics, prefix=""):
    for name, value in metrics.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def metrics_of(document):
    """({name: double} of the usable metrics, number of rejected ones); both empty for a heartbeat."""
    metrics = document.get("metrics")
    if not isinstance(metrics, dict):
        raise Malformed("no_metrics")
    usable, rejected = {}, 0
    for name, value in flat(metrics):
        if value is None:
            continue
        number = float(value) if isinstance(value, Number) else math.nan
        length = len(name.encode())
        if (
            math.isfinite(number)
            and 1 <= length <= 128
            and not any(ord(c) < 32 or ord(c) == 127 for c in name)
        ):
            usable[name] = number
        else:
            rejected += 1
    if rejected and not usable:
        raise Malformed("no_usable_metric")
    return usable, rejected


def parse(document):
    """(device, event time, usable metrics, rejected) of one document; Malformed carries the reason that dead letters name."""
    if isinstance(document, Malformed):
        raise document
    if not isinstance(document, dict):
        raise Malformed("not_an_object")
    return device_of(document), event_time_of(document), *metrics_of(document)


# --- windows ---------------------------------------------------------------------------------------------------------------


def above(a, b):
    """a > b with -0.0 below +0.0."""
    return a > b or (a == b and math.copysign(1, a) > math.copysign(1, b))


class Aggregate:
    __slots__ = ("low", "high", "values", "seen")

    def __init__(self):
        self.low = self.high = None
        self.values, self.seen = [], {}

    def add(self, time, value):
        self.low = value if self.low is None or above(self.low, value) else self.low
        self.high = value if self.high is None or above(value, self.high) else self.high
        self.values.append(value)
        self.seen[time] = value


class Window:
    """One device-hour: the revision is the number of readings folded."""

    __slots__ = ("revision", "metrics", "partition")

    def __init__(self, partition):
        self.revision, self.metrics, self.partition = 0, {}, partition


class Expected:
    """Everything that the records of a dump must lead to.

    windows    {(device bytes, hour start ms): Window}; with several=True {(device, hour, partition): Window}
    side       {DEAD_LETTER | QUARANTINE | ARCHIVE: {(partition, offset, index): hourfold.reason}}
    counters   consumed, folded, duplicate, quarantined, archived, malformed, tombstones, conflicts, rejected_metrics
    """

    def __init__(self, records, deduplicate=True, several=False):
        self.windows, self.side, self.counters = {}, {DEAD_LETTER: {}, QUARANTINE: {}, ARCHIVE: {}}, Counter()
        self._deduplicate, self._several = deduplicate, several
        last = defaultdict(lambda: -1)
        for record in records:
            assert record.offset > last[record.partition], "a dump is in offset order in each partition"
            last[record.partition] = record.offset
            self._record(record)

    def _record(self, record):
        if record.value is None:
            self.counters["tombstones"] += 1
            return
        try:
            found = documents(record.value)
        except Malformed as reason:
            self._refuse(DEAD_LETTER, "malformed", record, 0, str(reason))
            return
        for index, document in enumerate(found):
            try:
                self._reading(record, index, *parse(document))
            except Malformed as reason:
                self._refuse(DEAD_LETTER, "malformed", record, index, str(reason))

    def _refuse(self, side, counter, record, index, reason):
        self.counters["consumed"] += 1
        self.counters[counter] += 1
        self.side[side][record.partition, record.offset, index] = reason

    def _reading(self, record, index, device, time, metrics, rejected):
        assert record.timestamp >= 0, "records without a timestamp are not decided here"
        if time > record.timestamp + MAX_FUTURE_MS:
            self._refuse(QUARANTINE, "quarantined", record, index, "future")
            return
        if time < record.timestamp - MAX_AGE_MS:
            self._refuse(ARCHIVE, "archived", record, index, "too_old")
            return
        self.counters["consumed"] += 1
        self.counters["rejected_metrics"] += rejected
        self.counters["folded" if self._fold(record.partition, device, time, metrics) else "duplicate"] += 1

    def _fold(self, partition, device, time, metrics):
        """Whether the reading counts: it is a heartbeat, or has a value for a time that its metric has not seen."""
        if not metrics:
            return True
        key = (device, time // HOUR_MS * HOUR_MS) + ((partition,) if self._several else ())
        window = self.windows.get(key)
        counted = False
        for name, value in metrics.items():
            aggregate = window.metrics.get(name) if window else None
            if self._deduplicate and aggregate and time in aggregate.seen:
                self.counters["conflicts"] += struct.pack(">d", aggregate.seen[time]) != struct.pack(
                    ">d", value
                )
                continue
            if window is None:
                window = self.windows[key] = Window(partition)
            assert window.partition == partition, f"{device} is in two partitions"
            window.metrics.setdefault(name, Aggregate()).add(time, value)
            counted = True
        if counted:
            window.revision += 1
            assert window.revision < HOUR_MS and len(window.metrics) <= 4096
        return counted
