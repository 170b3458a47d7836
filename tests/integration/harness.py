"""What the integration tests share: the servers, the fleets, `hourfold` as a process, and the final comparison of everything."""

import functools
import hashlib
import json
import pathlib
import subprocess
import sys
import threading
import time

import fleet
import oracle
from compare import compare_cells, compare_side
from probes import HBaseProbe, KafkaProbe, ProbeError
from processes import ServerError, stop_all
from records import produce_line, read_dump
from rig import HBase, Kafka
from service import RESULTS, Failed, Service, expect, expect_none, wait_until

FLEETS = {
    "full": dict(readings=300_000, devices=2_000, partitions=8, seed=1),
    "small": dict(readings=24_000, devices=200, partitions=4, seed=2),
}


class Lab:
    """The servers and fleets of one run of the suite. Shared by all tests; each test makes its own Case."""

    def __init__(self, hourfold, folder, long_outage):
        self.hourfold, self.folder, self.long_outage = (
            pathlib.Path(hourfold).resolve(),
            pathlib.Path(folder).resolve(),
            long_outage,
        )
        self.base = int(time.time()) // 60 * 60_000
        self.kafka, self.hbase = Kafka(self.folder / "kafka"), HBase(self.folder / "hbase")
        self.kafka_probe = self.hbase_probe = None
        self._expected = {}
        self._fleets = {}

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        generators = {
            name: subprocess.Popen(
                [
                    sys.executable,
                    fleet.__file__,
                    "--out",
                    self.folder / "fleets" / name,
                    "--base",
                    str(self.base),
                    *(f"--{key}={value}" for key, value in shape.items()),
                ],
                stdout=subprocess.DEVNULL,
            )
            for name, shape in FLEETS.items()
        }
        self.kafka.start()
        self.hbase.start()
        self.kafka_probe = KafkaProbe(self.kafka.address, self.folder)
        self.connect_hbase_probe()
        for name, generator in generators.items():
            expect(generator.wait() == 0, f"fleet {name} was not generated")
            self._fleets[name] = {
                stage: self.folder / "fleets" / name / f"{stage}.records" for stage in fleet.STAGES
            }
        return self

    def connect_hbase_probe(self):
        """Anew after a restart of the master."""
        if self.hbase_probe:
            self.hbase_probe.close()
        self.hbase_probe = HBaseProbe(self.hbase.configuration, self.folder)

    def fleet(self, name):
        return self._fleets[name]

    def stop(self):
        for probe in (self.kafka_probe, self.hbase_probe):
            if probe:
                probe.close()
        stop_all()

    def expected(self, dump, **rules):
        """The oracle's answer for a dump: (Expected, {(partition, offset): Record}); equal dumps are computed once."""
        key = (hashlib.sha256(dump.read_bytes()).hexdigest(), *rules.items())
        if key not in self._expected:
            records = read_dump(dump)
            self._expected[key] = oracle.Expected(records, **rules), {
                (r.partition, r.offset): r for r in records
            }
        return self._expected[key]


class Case:
    """A test's own topic, side topics, table, group and folder, and the services that run on them."""

    def __init__(self, lab, name, partitions=8, address=None, **sink):
        self.lab, self.name, self.partitions = lab, name, partitions
        self.folder = lab.folder / name
        self.folder.mkdir(parents=True)
        self.topic, self.table, self.group = name, name, f"{name}-group"
        self.side = {
            side: f"{name}.{side}" for side in (oracle.DEAD_LETTER, oracle.QUARANTINE, oracle.ARCHIVE)
        }
        self.layout, self.buckets = sink.get("layout", "wide"), sink.get("buckets", 32)
        self.services = []
        self.configuration = self.folder / "hourfold.json"
        self.settings = {
            # A killed member is missed after the session timeout; the default of 45 s would only make the tests slow.
            "kafka": {
                "brokers": lab.kafka.address,
                "topics": [self.topic],
                "group": self.group,
                "properties": {"session.timeout.ms": "6000", "heartbeat.interval.ms": "1000"},
            },
            "state": {"checkpoint": "2s", "retention": "48h", "memory": "256MiB"},
            "sink": {"type": "hbase", "address": address or lab.hbase.address, "table": self.table, **sink},
            "emit": {"refresh": "5s", "late_delay": "1s"},
            "side": self.side,
            "workers": 2,
        }
        self.write_configuration()

    def write_configuration(self):
        self.configuration.write_text(json.dumps(self.settings, indent=1))

    def create_topics(self, **settings):
        self.lab.kafka_probe.create(
            {self.topic: self.partitions} | dict.fromkeys(self.side.values(), 1), **settings
        )

    def command(self, *words, timeout=60):
        """Runs `hourfold WORDS -c CONFIGURATION` to its end."""
        try:
            return subprocess.run(
                [str(self.lab.hourfold), *words, "-c", str(self.configuration)],
                capture_output=True,
                text=True,
                timeout=timeout,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"hourfold {' '.join(words)} still runs after {timeout} s") from None

    def create_table(self):
        done = self.command("table", "create", timeout=180)  # 32 regions, on a machine that may be busy
        expect(
            done.returncode == 0, f"hourfold table create: exit {done.returncode}\n{done.stdout}{done.stderr}"
        )

    def prepare(self):
        """Topics and table."""
        self.create_topics()
        self.create_table()
        return self

    def service(self, name, state="state", settings=(), words=("run",)):
        """settings: KEY=VALUE, for this process alone."""
        service = Service(self.lab, name, self.configuration, self.folder / state, settings, words)
        self.services.append(service)
        return service

    def start(self, *names, states=None):
        """Starts services and waits until the group is stable and each of them owns partitions."""
        started = [
            self.service(name, state).start() for name, state in zip(names, states or ["state"] * len(names))
        ]
        self.wait_balanced(len(started))
        return started

    def wait_balanced(self, members, timeout=60):
        state = []

        def balanced():
            state[:] = self.lab.kafka_probe.members(self.group)
            return (
                state[0] == "Stable"
                and len(state[1]) == members
                and sum(state[1]) == self.partitions
                and all(state[1])
            )

        wait_until(
            balanced, timeout, lambda: f"{members} members share {self.partitions} partitions (now {state})"
        )

    def produce(self, fleet_name, *stages):
        """All records of these stages of a fleet; the number of records."""
        return sum(
            self.lab.kafka_probe.produce(self.topic, self.lab.fleet(fleet_name)[stage]) for stage in stages
        )

    def produce_records(self, records, transaction=None):
        """Records as (partition or None, timestamp, key, value, [(header, value)]); in a transaction that ends in "commit" or "abort"."""

        file = self.folder / f"records-{len(list(self.folder.glob('records-*')))}"
        with open(file, "w", encoding="ascii") as out:
            out.writelines(produce_line(*record) for record in records)
        if transaction:
            return self.lab.kafka_probe.transact(self.topic, file, transaction)
        return self.lab.kafka_probe.produce(self.topic, file)

    def produce_slowly(self, fleet_name, slices, pause):
        """Produces the whole fleet in slices from a thread of its own, so that faults meet it in the middle; returns the thread."""
        lines = [
            line
            for stage in fleet.STAGES
            for line in open(self.lab.fleet(fleet_name)[stage], encoding="ascii")
        ]
        files, size = [], -(-len(lines) // slices)
        for number in range(slices):
            files.append(self.folder / f"slice-{number}")
            files[-1].write_text("".join(lines[number * size : (number + 1) * size]), encoding="ascii")

        def produce():
            for file in files:
                self.lab.kafka_probe.produce(self.topic, file)
                time.sleep(pause)

        thread = threading.Thread(target=produce, daemon=True)
        thread.start()
        return thread

    def committed_to_end(self, offsets=None):
        offsets = offsets or self.lab.kafka_probe.offsets(self.group, self.topic)
        return all(
            committed == end or (end == 0 and committed <= 0) for _, end, committed, _ in offsets.values()
        )

    def settle(self, timeout=120):
        """Waits until the group has committed the end of every partition and every running service is quiet."""

        def settled():
            for service in self.services:
                service.expect_no_crash()
            running = [service for service in self.services if service.running]
            return running and all(service.quiet() for service in running) and self.committed_to_end()

        def state():
            offsets = self.lab.kafka_probe.offsets(self.group, self.topic)
            committed = {p: f"{committed} of {end}" for p, (_, end, committed, _) in offsets.items()}
            pending = {service.name: service.pending() for service in self.services if service.running}
            return f"committed to the end and quiet: {committed}, pending {pending}"

        wait_until(settled, timeout, state)

    # --- the final comparison

    def expected(self, **rules):
        dump = self.folder / "topic.dump"
        self.lab.kafka_probe.dump(self.topic, dump)
        return self.lab.expected(dump, **rules)

    def compare_cells(self, expected, table=None, generation=0):
        """generation: of all cells, or a function of device, hour and window."""
        scan = self.folder / "table.scan"
        self.lab.hbase_probe.scan(table or self.table, scan)
        differences = compare_cells(expected, scan, self.topic, self.layout, generation, self.buckets)
        expect_none(differences, "cells")

    def check(self):
        """Every cell bit for bit, the side topics, the committed offsets, each service's counters; the oracle's answer for more."""
        expected, originals = self.expected()
        expect(expected.windows, "the oracle expects no cell at all: the test has no data")
        self.compare_cells(expected)
        for side, topic in self.side.items():
            dump = self.folder / f"{side}.dump"
            self.lab.kafka_probe.dump(topic, dump)
            expect_none(compare_side(expected, side, dump, originals, self.topic), side)
        expect(self.committed_to_end(), "committed offsets do not reach the end")
        for service in self.services:
            if service.running:
                service.counters()
        return expected

    def check_exact_counters(self, expected):
        """For histories in which no reading was consumed twice: the services' counters are exactly the oracle's."""
        total = {result: 0 for result in RESULTS}
        for service in self.services:
            for result, count in service.counters().items():
                total[result] += count
        wanted = {result: expected.counters[result] for result in RESULTS}
        expect(total == wanted, f"counters {total}, want {wanted}")
        tombstones = sum(int(service.total("hourfold_tombstones_total")) for service in self.services)
        expect(
            tombstones == expected.counters["tombstones"],
            f"{tombstones} tombstones counted, want {expected.counters['tombstones']}",
        )

    def close(self):
        """Kills what still runs. The state goes with the folder at the end of the run."""
        for service in self.services:
            if service.running:
                service.kill()

    def logs(self, lines=25):
        return "\n".join(service.process.tail(lines) for service in self.services if service.process)


def case(name, long=False, **shape):
    """Makes a test of a function of (case): a Case of this name, closed afterwards; its logs are added to a failure. long: one that the
    short form of the suite leaves out, as others are nearest to what it shows."""

    def decorate(function):
        @functools.wraps(function)
        def test(lab):
            own = Case(lab, name, **shape)
            try:
                function(own)
            except (Failed, ServerError, ProbeError, OSError) as error:
                raise Failed(f"{error}\n{own.logs()}") from error
            finally:
                own.close()

        test.long = long
        return test

    return decorate
