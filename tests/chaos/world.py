"""What chaos happens to: broker, distributed HBase, three workers behind proxies, a steady load; and who watches them meanwhile."""

import itertools
import shutil
import threading
import time

import fleet
import harness
from cluster import HBaseCluster
from fault_proxy import Proxy
from probes import HBaseProbe, KafkaProbe, ProbeError
from records import produce_line
from rig import Kafka
from service import RESULTS, Failed, expect, wait_until

WORKERS = ("a", "b", "c")
PARTITIONS, DEVICES = 8, 300
TABLE = "chaos"
HOUR = 3_600_000
START_S = 240  # eight servers at once on two cores that others use, too
# What the load's arrivals span, however short it runs: hours that close, expire and are met again.
SPAN_MS = 6 * HOUR


class Lab(harness.Lab):
    """The servers of one run; each worker has a way of its own to the broker and to HBase, with a proxy on it."""

    def __init__(self, hourfold, folder):
        super().__init__(hourfold, folder, long_outage=True)
        self.hbase = HBaseCluster(self.folder / "hbase")
        self.hbase_proxies = {worker: Proxy(self.hbase.thrift.port) for worker in WORKERS}
        self.kafka_proxies = {worker: Proxy() for worker in WORKERS}
        doors = {worker.upper(): proxy.port for worker, proxy in self.kafka_proxies.items()}
        self.kafka = Kafka(self.folder / "kafka", doors)
        for worker, proxy in self.kafka_proxies.items():
            proxy.target_port = self.kafka.listener_port(worker.upper())
        # Who loads and who watches must not wait for each other: a probe does one thing at a time.
        self.load_probe = self.watch_probe = None

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.kafka.start(START_S)
        self.hbase.start(START_S)
        for proxy in (*self.hbase_proxies.values(), *self.kafka_proxies.values()):
            proxy.start()
        for name in ("load", "watch"):
            (self.folder / name).mkdir()
        self.kafka_probe = KafkaProbe(self.kafka.address, self.folder)
        self.load_probe = KafkaProbe(self.kafka.address, self.folder / "load")
        self.connect_hbase_probe()
        self.watch_probe = HBaseProbe(self.hbase.configuration, self.folder / "watch")
        return self

    def stop(self):
        for probe in (self.load_probe, self.watch_probe):
            if probe:
                probe.close()
        super().stop()


class Worker:
    """One `hourfold run` on a host of its own. The lock is held by the fault that its process suffers."""

    def __init__(self, lab, case, name):
        self.name, self.lock = name, threading.Lock()
        self.holding = threading.Lock()  # of Puts, by one fault at a time
        self.hbase, self.kafka = lab.hbase_proxies[name], lab.kafka_proxies[name]
        self.state = case.folder / f"state-{name}"
        settings = [f"sink.address={self.hbase.address}", f"kafka.brokers={self.kafka.address}"]
        self.service = case.service(name, self.state.name, settings)
        self.stopped = False  # by SIGSTOP

    def start(self):
        self.service.start(ready=False)

    def lose_state(self):
        shutil.rmtree(self.state, ignore_errors=True)


class World:
    """Everything of one run. `say` writes a line of the timeline."""

    def __init__(self, lab, seconds, rate, seed, say):
        self.lab, self.seconds, self.rate, self.say = lab, seconds, rate, say
        self.seed = seed
        self.case = harness.Case(lab, TABLE, partitions=PARTITIONS)
        # A broker that is restarted while a worker starts is waited for: exits are then always a finding.
        self.case.settings["startup_timeout"] = "10m"
        self.case.settings["state"] = {"checkpoint": "2s", "retention": "2h", "memory": "256MiB"}
        self.case.write_configuration()
        self.workers = [Worker(lab, self.case, name) for name in WORKERS]
        self.broker_lock, self.thrift_lock, self.region_lock = (threading.Lock() for _ in range(3))
        self.findings = []  # what must never be, seen while it ran
        self.samples = self.samples_failed = self.produced = 0
        self.late_puts, self.late_rows, self.late_surpassed = 0, 0, 0
        self._over = threading.Event()
        self._threads = []
        self._committed = {}

    def start(self):
        """Topics, table and workers."""
        self.case.prepare()
        for worker in self.workers:
            worker.start()
        for worker in self.workers:
            worker.service.wait_ready(START_S)
        self.case.wait_balanced(len(self.workers), START_S)

    def begin(self):
        """The load and the watchers."""
        for task in (self._load, self._watch_table, self._watch_workers, self._watch_offsets):
            self._threads.append(threading.Thread(target=self._guarded, args=(task,), daemon=True))
            self._threads[-1].start()
        self._load_thread = self._threads[0]

    def _guarded(self, task):
        try:
            task()
        except Exception as error:  # a watcher that has gone is a finding, not silence
            self.find(f"{task.__name__}: {error!r}")

    def find(self, what):
        if len(self.findings) < 50:
            self.findings.append(what)
        self.say(f"FINDING {what}")

    # --- load

    def loading(self):
        return self._load_thread.is_alive()

    def _load(self):
        """`rate` readings a second for the whole time; what the broker does not take stays out of the topic, and so of the oracle."""
        now = int(time.time() * 1000)
        end = now + int(self.seconds * 1000)
        total = int(self.seconds * self.rate)
        devices = fleet.Fleet(total, DEVICES, PARTITIONS, self.seed, now)
        records = devices.records(end - SPAN_MS, end, total)
        began, slices = time.monotonic(), 0
        file = self.case.folder / "slice"
        while slice_ := list(itertools.islice(records, self.rate)):
            file.write_text("".join(produce_line(*record) for record in slice_), encoding="ascii")
            try:
                self.produced += self.lab.load_probe.produce(self.case.topic, file)
            except ProbeError as error:
                self.say(f"load: a slice was not taken whole: {error}")
            slices += 1
            time.sleep(max(0.0, began + slices - time.monotonic()))

    # --- what must hold at any time

    def _watch_table(self):
        """An independent client reads the table again and again: no cell may go back, change under its timestamp, or go."""
        while not self._over.wait(3):
            self.sample()

    def sample(self):
        try:
            _, back = self.lab.watch_probe.watch(TABLE)
        except ProbeError:
            self.samples_failed += 1  # the regions are on their way
            return False
        self.samples += 1
        for what in back:
            self.find(f"a reader saw a cell go back: {what}")
        return True

    def _watch_workers(self):
        """The counters of each worker add up in every scrape, and none ends by itself."""
        while not self._over.wait(2):
            for worker in self.workers:
                self._watch_worker(worker)

    def _watch_worker(self, worker):
        if not worker.lock.acquire(blocking=False):
            return  # a fault has it
        try:
            service = worker.service
            if not service.running:
                code = service.process.exit_code
                self.find(f"worker {worker.name} ended by itself with {code}\n{service.process.tail()}")
                worker.start()
            elif samples := service.samples():
                try:
                    service.counters(samples)
                except Failed as error:
                    self.find(str(error))
        finally:
            worker.lock.release()

    def _watch_offsets(self):
        """The committed offset of a partition never goes back."""
        while not self._over.wait(2):
            self.sample_offsets()

    def sample_offsets(self):
        try:
            offsets = self.lab.kafka_probe.offsets(self.case.group, self.case.topic)
        except ProbeError:
            return  # the broker is away
        for partition, (_, end, committed, _) in offsets.items():
            last = self._committed.get(partition, -1)
            if committed < last:
                self.find(f"committed offset of partition {partition} went back from {last} to {committed}")
            if committed > end:
                self.find(f"committed offset {committed} of partition {partition} is beyond its end {end}")
            self._committed[partition] = max(last, committed)

    # --- while faults happen

    def restart_dead_servers(self):
        """A server of HBase that was starved for longer than its session gives itself up; somebody must start it again."""
        if not self.region_lock.acquire(blocking=False):
            return  # a fault is at it
        try:
            for name in self.lab.hbase.restart_dead():
                self.say(f"{name} ended by itself and was started again")
        finally:
            self.region_lock.release()

    # --- the end

    def settle(self, timeout):
        """Waits until the load is over and everything of it is folded, written and committed."""
        self._load_thread.join(timeout)
        expect(not self._load_thread.is_alive(), f"the load is not through after {timeout} s more")
        self.restart_dead_servers()
        self.case.settle(timeout)
        wait_until(self.sample, 60, "a read of the whole table")
        self.sample_offsets()
        self._over.set()
        for thread in self._threads:
            thread.join(90)

    def results(self):
        """{result: readings} over the processes that run now."""
        total = dict.fromkeys(RESULTS, 0)
        for worker in self.workers:
            for result, count in worker.service.counters().items():
                total[result] += count
        return total
