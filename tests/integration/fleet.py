#!/usr/bin/env python3
"""A simulated fleet as two files of Kafka records (probe/KafkaProbe.java reads them), everything decided by a seed and a base time.

    python3 tests/integration/fleet.py --out DIR [--readings 300000 --devices 2000 --partitions 8 --seed 1 --base EPOCH_MS]

Arrivals come in two bursts, `early` around 80 hours before the base and `recent` in the six hours before it. So, once `recent` is
folded, a `state.retention` of 48 h has expired what `early` left, and the late readings and late duplicates of `recent` meet hours
that are no longer held. Shares: 5 % out of order, 2 % late by hours to 29 days, 3 % duplicates, 1 % malformed, some from the future,
some too old, tombstones, heartbeats, records of several readings. Keys are device ids; a device stays in one partition.
"""

import argparse
import json
import pathlib
import random
import zlib
from collections import Counter

from records import produce_line

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
MAX_FUTURE, MAX_AGE = 5 * MINUTE, 29 * 24 * HOUR
METRICS = ("temp_c", "batt_v", "rssi", "energy_kwh", "acc.x", "acc.y", "humidité")
STAGES = {
    "early": (-84 * HOUR, -76 * HOUR, 0.4),
    "recent": (-6 * HOUR, -1 * MINUTE, 0.6),
}  # from, to, share of the readings


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Fleet:
    def __init__(self, readings, devices, partitions, seed, base):
        self.total, self.partitions, self.base = readings, partitions, base
        self.random = random.Random(seed)
        self.devices = [self._device(number) for number in range(devices)]
        self.profile = {
            device: self.random.sample(METRICS, self.random.choice((1, 2, 2, 3, 3, 4)))
            for device in self.devices
        }
        self.phase = {device: self.random.randrange(MINUTE) for device in self.devices}
        self.recent = {device: [] for device in self.devices}  # readings to repeat, (time, {metric: value})
        self.kinds = Counter()

    @staticmethod
    def _device(number):
        """Mostly text; some numeric ids, which travel as JSON numbers, and some beyond ASCII."""
        if number % 50 == 7:
            return 700_000 + number
        return f"zähler-{number:05d}" if number % 50 == 11 else f"dev-{number:08d}"

    def stage(self, name):
        begin, end, share = STAGES[name]
        return self.records(self.base + begin, self.base + end, int(self.total * share))

    def records(self, begin, end, wanted):
        """Yields (partition, arrival, key, value, headers) of `wanted` readings that arrive evenly from `begin` to `end`, in the order
        of production."""
        made = 0
        while made < wanted:
            arrival = begin + (end - begin) * made // wanted
            device = self.random.choice(self.devices)
            count, value = self._record(device, arrival, wanted - made)
            made += count
            key = str(device).encode()
            headers = (
                [("trace", b"%d" % made), ("empty", b""), ("none", None)]
                if self.random.random() < 0.05
                else []
            )
            yield zlib.crc32(key) % self.partitions, arrival, key, value, headers

    # --- records

    def _record(self, device, arrival, room):
        """(number of readings, value); 0 readings for a tombstone."""
        chance = self.random.random()
        if chance < 0.001:
            self.kinds["tombstone"] += 1
            return 0, None
        if chance < 0.010:
            return 1, self._malformed(device, arrival)
        if chance < 0.040 and room >= 6:
            return self._several(device, arrival)
        text = compact(self._reading(device, arrival)).encode()
        if chance < 0.043:
            self.kinds["byte order mark"] += 1
            text = b"\xef\xbb\xbf" + text
        elif chance < 0.046:
            self.kinds["NUL behind"] += 1
            text += b"\0\0 \n"
        elif chance < 0.048:
            self.kinds["spaces and another order of keys"] += 1
            text = json.dumps(dict(reversed(json.loads(text).items())), indent=1, ensure_ascii=False).encode()
        return 1, text

    def _several(self, device, arrival):
        """One record of 2 to 6 readings as an array or as NDJSON; at times one of them is bad, the others stand."""
        count = self.random.randint(2, 6)
        readings = [self._reading(device, arrival) for _ in range(count)]
        if self.random.random() < 0.1:
            self.kinds["malformed: one in a batch"] += 1
            bad = self.random.randrange(count)
            readings[bad] = self.random.choice(
                (
                    42,
                    "text",
                    {},
                    {k: v for k, v in readings[bad].items() if k != "ts"},
                    {**readings[bad], "metrics": {"t": "cold"}},
                )
            )
        if self.random.random() < 0.7:
            self.kinds["array"] += 1
            return count, compact(readings).encode()
        self.kinds["NDJSON"] += 1
        lines = [compact(reading) for reading in readings]
        if self.random.random() < 0.05:
            self.kinds["malformed: one line of NDJSON"] += 1
            broken = self.random.randrange(count)
            lines[broken] = self.random.choice(
                (lines[broken][:-1] if lines[broken].startswith("{") else "{", "{'a':1}", "oops")
            )
        return count, "\n".join(lines).encode() + b"\n" * self.random.randint(0, 1)

    # --- readings

    def _reading(self, device, arrival):
        past, chance = self.recent[device], self.random.random()
        if chance < 0.03 and past:
            return self._duplicate(device, past)
        metrics = {name: self._value(name) for name in self.profile[device]}
        if chance < 0.080:
            self.kinds["out of order"] += 1
            time = arrival - self.random.randint(MINUTE, 50 * MINUTE)
        elif chance < 0.100:
            time = self._late(arrival)
        elif chance < 0.103:
            self.kinds["future"] += 1
            time = arrival + MAX_FUTURE + self.random.choice((1, 1, MINUTE, 24 * HOUR, 3650 * 24 * HOUR))
        elif chance < 0.106:
            self.kinds["too old"] += 1
            time = arrival - MAX_AGE - self.random.choice((1, 1, HOUR, 400 * 24 * HOUR))
        elif chance < 0.107:
            self.kinds["just in time"] += 1
            time = arrival + MAX_FUTURE if self.random.random() < 0.5 else arrival - MAX_AGE
        elif chance < 0.112:
            self.kinds["heartbeat"] += 1
            return {
                "device": device,
                "ts": arrival,
                "metrics": {} if self.random.random() < 0.5 else {"temp_c": None, "rssi": None},
            }
        else:
            time = arrival - self.random.randint(0, 20 * SECOND)
            if chance < 0.122:
                self._spoil(metrics)
            elif chance < 0.127:
                self.kinds["hour's edge"] += 1
                time = arrival // HOUR * HOUR - self.random.randint(0, 1)
        past.append((time, metrics))
        if len(past) > 40:
            del past[self.random.randrange(len(past) // 2)]
        return {"device": device, "ts": time, "metrics": metrics}

    def _late(self, arrival):
        self.kinds["late"] += 1
        chance = self.random.random()
        if chance < 0.5:
            return arrival - self.random.randint(HOUR, 12 * HOUR)
        if chance < 0.8:
            return arrival - self.random.randint(70 * HOUR, 82 * HOUR)
        return arrival - self.random.randint(4 * 24 * HOUR, MAX_AGE - MINUTE)

    def _duplicate(self, device, past):
        """A reading sent before, once more: the same, with other values, with part of its metrics, or with a metric it did not have."""
        time, metrics = self.random.choice(past[-5:] if self.random.random() < 0.5 else past)
        metrics = {name: value for name, value in metrics.items() if isinstance(value, (int, float))} or {
            "temp_c": 20.5
        }
        kind = self.random.choice(("same", "same", "other values", "part", "with a new metric"))
        self.kinds[f"duplicate: {kind}"] += 1
        if kind == "other values":
            metrics = {name: self._value(name) for name in metrics}
        elif kind == "part":
            metrics = dict(self.random.sample(sorted(metrics.items()), self.random.randint(1, len(metrics))))
        elif kind == "with a new metric":
            metrics = {**metrics, f"extra_{self.random.randint(1, 3)}": self._value("temp_c")}
        return {"device": device, "ts": time, "metrics": metrics}

    def _spoil(self, metrics):
        """Adds values that are rejected or skipped beside the good ones, or nests them."""
        self.kinds["values rejected or nested"] += 1
        metrics.update(
            self.random.choice(
                (
                    {"state": "open"},
                    {"on": True},
                    {"burst": [1, 2]},
                    {"gone": None},
                    {"hot": float("nan")},
                    {"huge": float("inf")},
                    {"gps": {"lat": 45.25, "fix": {"age": 3}}},
                    {"zero": -0.0},
                    {"counter": 9007199254740993},
                )
            )
        )

    def _value(self, name):
        draw = self.random
        if name == "rssi":
            return -draw.randint(30, 120)
        if name == "energy_kwh":
            return round(draw.uniform(1e5, 9e5), 3)
        return round(draw.uniform(-20, 40), draw.choice((1, 2, 2, 4)))

    def _malformed(self, device, arrival):
        """A value of which nothing can be folded: one reading, index 0."""
        good = compact({"device": device, "ts": arrival, "metrics": {"temp_c": 21.5}})
        kinds = {
            "empty value": b"",
            "only spaces": b"  \n",
            "only NUL": b"\0\0",
            "cut off": good[:-3].encode(),
            "rubbish behind": good.encode() + b" xyz",
            "trailing comma": good.replace("}}", ",}}").encode(),
            "comment": good.encode() + b" // ok",
            "single quotes": good.replace('"', "'").encode(),
            "leading zero": good.replace("21.5", "007").encode(),
            "no digit before the point": good.replace("21.5", ".5").encode(),
            "hexadecimal": good.replace("21.5", "0x1F").encode(),
            "a number": b"42",
            "a text": b'"hello"',
            "JSON in JSON": json.dumps(good).encode(),
            "no ts": compact({"device": device, "metrics": {"temp_c": 1}}).encode(),
            "ts as text": compact({"device": device, "ts": "yesterday", "metrics": {"temp_c": 1}}).encode(),
            "ts null": compact({"device": device, "ts": None, "metrics": {"temp_c": 1}}).encode(),
            "ts negative": compact({"device": device, "ts": -1, "metrics": {"temp_c": 1}}).encode(),
            "year 10000": compact(
                {"device": device, "ts": 253402300800000, "metrics": {"temp_c": 1}}
            ).encode(),
            "no device": compact({"ts": arrival, "metrics": {"temp_c": 1}}).encode(),
            "device empty": compact({"device": "", "ts": arrival, "metrics": {"temp_c": 1}}).encode(),
            "device too long": compact(
                {"device": "x" * 257, "ts": arrival, "metrics": {"temp_c": 1}}
            ).encode(),
            "device with NUL": compact({"device": "d\0", "ts": arrival, "metrics": {"temp_c": 1}}).encode(),
            "no metrics": compact({"device": device, "ts": arrival}).encode(),
            "metrics as array": compact({"device": device, "ts": arrival, "metrics": [1]}).encode(),
            "only NaN": good.replace("21.5", "NaN").encode(),
            "only 1e400": good.replace("21.5", "1e400").encode(),
            "only text": good.replace("21.5", '"21.5"').encode(),
            "UTF-16": good.encode("utf-16-le"),
            "Latin-1": good.replace("temp_c", "tempér").encode("latin-1"),
            "gzip": b"\x1f\x8b\x08\0\0\0\0\0\2\3",
            "Avro": b"\0\0\0\0*\4d1\x80\xc0",
        }
        kind = self.random.choice(sorted(kinds))
        self.kinds[f"malformed: {kind}"] += 1
        return kinds[kind]


def write(folder, readings=300_000, devices=2_000, partitions=8, seed=1, base=0):
    """Writes DIR/early.records and DIR/recent.records; returns ({stage: path}, how often each kind occurs)."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    fleet, files = Fleet(readings, devices, partitions, seed, base), {}

    for stage in STAGES:
        files[stage] = folder / f"{stage}.records"
        with open(files[stage], "w", encoding="ascii") as out:
            out.writelines(produce_line(*record) for record in fleet.stage(stage))
    return files, fleet.kinds


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True)
    for name, default in (
        ("readings", 300_000),
        ("devices", 2_000),
        ("partitions", 8),
        ("seed", 1),
        ("base", 1_767_225_600_000),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    files, kinds = write(
        options.out, options.readings, options.devices, options.partitions, options.seed, options.base
    )
    print(
        "\n".join(
            [str(file) for file in files.values()]
            + [f"{count:8} {kind}" for kind, count in sorted(kinds.items())]
        )
    )


if __name__ == "__main__":
    main()
