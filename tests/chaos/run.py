#!/usr/bin/env python3
"""Chaos with real processes: Kafka, a distributed HBase and three workers under load, faults of all kinds, then every cell compared.

    python3 tests/chaos/run.py [--minutes 3] [--seed N] [--long] [--only KIND,...] [--hourfold build/release/hourfold] [--keep]

The seed decides the schedule of the faults and the readings; when exactly a fault meets which request is up to the machine, so a
replay runs the same faults, not the same interleaving. After the last fault everything must come to rest by itself. Prints a timeline,
what was compared, and "N passed, N failed"; what is missing is a failure. Needs a JDK 17, maven, Python 3.11 and 3 GB of memory.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/integration"), str(ROOT / "tests/servers")]

import faults  # noqa: E402
import oracle  # noqa: E402
import world as chaos  # noqa: E402
from compare import compare_cells, compare_side  # noqa: E402
from probes import ProbeError  # noqa: E402
from processes import ServerError, clean_up_on_exit  # noqa: E402
from schedule import schedule  # noqa: E402
from service import Failed  # noqa: E402

SHORT_MINUTES, LONG_MINUTES = 3, 30
REST_S = 300  # from the last fault until everything has come to rest
ALLOWED_FAULT_S = 420  # for the undoing of the last faults


class Timeline:
    def __init__(self):
        self._lock, self._began = threading.Lock(), time.monotonic()

    def say(self, text):
        with self._lock:
            print(f"{time.monotonic() - self._began:7.1f} s  {text}", flush=True)

    def now(self):
        return time.monotonic() - self._began


class Run:
    def __init__(self, world, plan, timeline):
        self.world, self.plan, self.timeline = world, plan, timeline
        self.times, self.broken = Counter(), []
        self.passed = self.failed = 0

    def faults(self):
        """Every fault at its time, each in a thread of its own, since many last for a while."""
        began, threads = self.timeline.now(), []
        for fault in self.plan:
            while (left := began + fault.at - self.timeline.now()) > 0:
                time.sleep(min(left, 1.0))
                self.world.restart_dead_servers()
            threads.append(threading.Thread(target=self._fault, args=(fault,), daemon=True))
            threads[-1].start()
        deadline = time.monotonic() + ALLOWED_FAULT_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            self.broken.append(f"a fault was not undone after {ALLOWED_FAULT_S} s")

    def _fault(self, fault):
        try:
            faults.BY_NAME[fault.kind](self.world, fault.random)
            self.times[fault.kind] += 1
        except (Failed, ServerError, ProbeError, OSError) as error:
            self.broken.append(f"{fault.kind}: {error}")
            self.timeline.say(f"BROKEN {self.broken[-1]}")
        except Exception:
            self.broken.append(f"{fault.kind}: {traceback.format_exc()}")

    # --- judgement

    def check(self, what, differences):
        """Prints one result; differences is a list, empty where all is right."""
        if differences:
            self.failed += 1
            shown = "\n    ".join(str(difference) for difference in differences[:12])
            print(f"FAIL  {what}: {len(differences)} differences\n    {shown}", flush=True)
        else:
            self.passed += 1
            print(f"ok    {what}", flush=True)

    def judge(self):
        world, case = self.world, self.world.case
        expected, originals = case.expected()
        scan = case.folder / "table.scan"
        cells = world.lab.hbase_probe.scan(case.table, scan)
        differences = compare_cells(expected, scan, case.topic)
        offsets = world.lab.kafka_probe.offsets(case.group, case.topic)
        self.print_tables(cells, len(differences), expected)
        self.check(
            "every kind of fault happened and was undone",
            self.broken + [f"no {kind}" for kind in {fault.kind for fault in self.plan} - self.times.keys()],
        )
        self.check(
            "every cell and timestamp", differences or ([] if expected.windows else ["no cell is expected"])
        )
        for side, topic in case.side.items():
            dump = case.folder / f"{side}.dump"
            world.lab.kafka_probe.dump(topic, dump)
            self.check(f"side topic {side}", compare_side(expected, side, dump, originals, case.topic))
        self.check("committed offsets are the end", [] if case.committed_to_end(offsets) else [offsets])
        self.check("nothing went back, no counter failed to add up, nobody left", world.findings)
        late = "late_put" in self.times and not world.late_surpassed
        self.check("old Puts landed on newer ones", ["none of them was surpassed"] if late else [])
        codes = {worker.name: worker.service.terminate(60) for worker in world.workers}
        self.check("every worker ends with 0", [codes] if any(codes.values()) else [])

    def print_tables(self, cells, different, expected):
        world = self.world
        print("\nfault                times")
        for kind, count in sorted(self.times.items()):
            print(f"{kind:20} {count:5}")
        counters = {name: count for name, count in expected.counters.items() if count}
        print(f"\nreadings in the topic   {counters}")
        print(f"counted by the last processes of the workers  {world.results()}")
        print(f"cells compared {cells}, differ {different}")
        print(f"reads of the whole table under faults {world.samples}, failed {world.samples_failed}")
        print(
            f"old Puts that landed {world.late_puts}, rows {world.late_rows}, surpassed before {world.late_surpassed}\n",
            flush=True,
        )


def replay(options):
    only = f" --only {options.only}" if options.only else ""
    return f"python3 tests/chaos/run.py --seed {options.seed} --minutes {options.minutes:g} --rate {options.rate}{only}"


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, help=f"of load and faults (default {SHORT_MINUTES})")
    parser.add_argument("--long", action="store_true", help=f"{LONG_MINUTES} minutes")
    parser.add_argument("--seed", type=int, help="of the faults and the readings (default: the time)")
    parser.add_argument("--rate", type=int, default=300, help="readings a second (default 300)")
    kinds = ", ".join(sorted(faults.BY_NAME))
    parser.add_argument("--only", default="", metavar="KIND,...", help=f"these kinds of faults: {kinds}")
    parser.add_argument("--hourfold", default=ROOT / "build/release/hourfold")
    parser.add_argument("--dir", default=ROOT / "build/chaos", help="work folder, emptied first")
    parser.add_argument("--keep", action="store_true", help="keep the work folder")
    options = parser.parse_args()
    options.minutes = options.minutes or (LONG_MINUTES if options.long else SHORT_MINUTES)
    options.seed = int(time.time()) if options.seed is None else options.seed
    options.kinds = options.only.split(",") if options.only else list(faults.WEIGHTS)
    if strange := [kind for kind in options.kinds if kind not in faults.BY_NAME]:
        parser.error(f"no fault is called {', '.join(strange)}")
    return options


def play(options, lab, timeline):
    """The whole run, from the servers' start to the judgement; (passed, failed)."""
    if subprocess.run([ROOT / "tests/servers/fetch"]).returncode:
        raise ServerError("the servers' jars could not be fetched")
    if not lab.hourfold.exists():
        raise ServerError(f"no binary at {lab.hourfold}: build it or give --hourfold PATH")
    shutil.rmtree(lab.folder, ignore_errors=True)
    lab.start()
    seconds = options.minutes * 60
    world = chaos.World(lab, seconds, options.rate, options.seed, timeline.say)
    world.start()
    timeline.say(f"{len(world.workers)} workers share {chaos.PARTITIONS} partitions; load and faults begin")
    plan = schedule(options.seed, seconds, {kind: faults.WEIGHTS[kind] for kind in options.kinds})
    run = Run(world, plan, timeline)
    world.begin()
    run.faults()
    timeline.say("the last fault is over; everything is to come to rest")
    world.settle(REST_S)
    timeline.say("at rest")
    run.judge()
    return run.passed, run.failed


def main():
    options, timeline = read_options(), Timeline()
    clean_up_on_exit()
    timeline.say(f"seed {options.seed}, {options.minutes:g} minutes, {options.rate} readings a second")
    lab = chaos.Lab(options.hourfold, options.dir)
    passed, failed = 0, 1
    try:
        passed, failed = play(options, lab, timeline)
    except (ServerError, Failed, ProbeError) as error:
        print(f"FAIL  {error}", flush=True)
    finally:
        lab.stop()
    if failed:
        print(f"replay: {replay(options)}")
    if options.keep or failed:
        print(f"logs, dumps and state: {lab.folder}")
    else:
        shutil.rmtree(lab.folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
