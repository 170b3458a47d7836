#!/usr/bin/env python3
"""How fast Hourfold is, beside the limit: one topic on a real Kafka, read in turn by bare librdkafka and by `hourfold run` in full
(duplicate detection, checkpoints, commits, embedded sink), several rounds interleaved, broker included in the machine's load.

    bench/end_to_end.py [--readings 5000000] [--devices 100000] [--rounds 3]

Machines are shared and noisy: only ratios of one run compare. Prints a table and writes build/bench/end_to_end.json.
Both rates are from the first record to the last: of the bare consumer as it sees them, of Hourfold from the last look at its metrics that
showed nothing consumed until the first that shows everything counted. Connecting and joining the group are in neither.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/servers"), str(ROOT / "tests/integration")]

from probes import KafkaProbe  # noqa: E402
from processes import clean_up_on_exit  # noqa: E402
from rig import Kafka  # noqa: E402
from service import Service  # noqa: E402

BUILD = ROOT / "build/release"
WORK = ROOT / "build/bench"
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def peak_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def build():
    subprocess.run([ROOT / "scripts/bootstrap"], check=True)
    subprocess.run([ROOT / "tests/servers/fetch"], check=True)
    subprocess.run(["cmake", "-B", BUILD, "-DHOURFOLD_BENCH=ON", ROOT], check=True, stdout=subprocess.DEVNULL)
    programs = ["hourfold", "hourfold_fill_topic", "hourfold_bare_consumer"]
    subprocess.run(["cmake", "--build", BUILD, "--target", *programs], check=True, stdout=subprocess.DEVNULL)


def fill(kafka, options):
    probe = KafkaProbe(kafka.address, WORK)
    probe.create({"bench": options.partitions, "bench.dlq": 1, "bench.quarantine": 1, "bench.archive": 1})
    probe.close()
    shape = [options.readings, options.devices, options.hours, options.late, options.resent]
    command = [BUILD / "bench/hourfold_fill_topic", kafka.address, "bench", *map(str, shape), "lz4"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["records"]


def bare(kafka, options):
    command = [BUILD / "bench/hourfold_bare_consumer", kafka.address, "bench", str(options.partitions)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


class Lab:
    hourfold = BUILD / "hourfold"


def configuration(kafka, folder, round_):
    settings = {
        "kafka": {"brokers": kafka.address, "topics": ["bench"], "group": f"bench-{round_}"},
        "state": {"checkpoint": "10s"},
        "sink": {"type": "embedded", "dir": str(folder / "rollups"), "ttl": "forever", "contribution_ttl": "forever"},
    }
    path = folder / "hourfold.json"
    path.write_text(json.dumps(settings, indent=2))
    return path


def hourfold(kafka, records, round_):
    folder = WORK / f"round-{round_}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    service = Service(Lab, "hourfold", configuration(kafka, folder, round_), folder / "state")
    service.start(ready=False)
    pid = service.process.pid
    begin = time.monotonic()
    while True:
        before, consumed = time.monotonic(), service.consumed()
        if not consumed:
            begin = before
        if consumed >= records:
            folded = time.monotonic()
            break
        if not service.running:
            sys.exit(f"hourfold ended early:\n{service.process.tail()}")
        time.sleep(0.05)  # each look costs the service a page of metrics
    cpu, peak = cpu_seconds(pid), peak_mib(pid)
    results = service.counters()
    service.terminate(120)
    done = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    return {
        "seconds": folded - begin,
        "seconds_until_committed": done - begin,
        "cpu_seconds": cpu,
        "peak_mib": peak,
        "results": results,
    }


def median(rounds, key):
    return statistics.median(one[key] for one in rounds)


def report(options, records, rounds):
    rate = {name: [records / one[name]["seconds"] for one in rounds] for name in ("bare", "hourfold")}
    ratios = [h / b for h, b in zip(rate["hourfold"], rate["bare"])]
    print(f"\n{records:,} records of {options.devices:,} devices, {options.partitions} partitions, {options.hours} hours of event time")
    print(f"{'':10} {'readings/s':>12} {'us CPU/reading':>15} {'peak MiB':>9}   ratio to bare (min, median, max)")
    for name in ("bare", "hourfold"):
        cpu = statistics.median(one[name]["cpu_seconds"] for one in rounds) / records * 1e6
        peak = f"{median([one[name] for one in rounds], 'peak_mib'):9.0f}" if name == "hourfold" else " " * 9
        spread = f"{min(ratios):.2f}  {statistics.median(ratios):.2f}  {max(ratios):.2f}" if name == "hourfold" else ""
        print(f"{name:10} {statistics.median(rate[name]):12,.0f} {cpu:15.2f} {peak}   {spread}")
    last = rounds[-1]["hourfold"]
    print(f"hourfold until everything was written, committed and left: {last['seconds_until_committed']:.1f} s; {last['results']}")
    WORK.mkdir(parents=True, exist_ok=True)
    summary = {"records": records, "shape": vars(options), "ratio_median": statistics.median(ratios), "rounds": rounds}
    (WORK / "end_to_end.json").write_text(json.dumps(summary, indent=2))
    return statistics.median(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=5_000_000)
    parser.add_argument("--devices", type=int, default=100_000)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--hours", type=int, default=6, help="of event time that the readings are spread over")
    parser.add_argument("--late", type=int, default=2, help="percent that come hours late")
    parser.add_argument("--resent", type=int, default=1, help="percent that come twice")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-least", type=float, help="exit 1 if the median ratio to the bare consumer is below")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    clean_up_on_exit()
    if not options.no_build:
        build()
    shutil.rmtree(WORK, ignore_errors=True)
    kafka = Kafka(WORK / "kafka").start()
    records = fill(kafka, options)
    rounds = []
    for round_ in range(options.rounds):
        rounds.append({"bare": bare(kafka, options), "hourfold": hourfold(kafka, records, round_)})
        one = rounds[-1]
        print(f"round {round_ + 1}: bare {one['bare']['seconds']:.2f} s, hourfold {one['hourfold']['seconds']:.2f} s", flush=True)
    ratio = report(options, records, rounds)
    return 1 if options.at_least and ratio < options.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
