#!/usr/bin/env python3
"""Proves that the simulation would notice: plants one bug after another in the product's code, each a repair of the recovery protocol
taken away or a rule forgotten, and plays histories until one fails. A bug that survives is a failure of the simulation.

    tests/sim/planted.py [--build build/release] [--seeds 2000] [--jobs N] [--only TEXT] [--list] [--some N]

The file with the bug is compiled alone and linked before the libraries, so a bug costs seconds. --some N plants every so-manieth bug only,
N in all: the short form.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = "hourfold_sim"


@dataclasses.dataclass
class Bug:
    name: str  # what is broken
    file: str
    right: str
    wrong: str


BUGS = [
    # --- what the state must hold
    Bug(
        "waiting readings are not in the state",
        "src/pipeline/waiting_room.cc",
        "      changes.waiting.push_back({reading.position, std::move(value)});\n",
        "",
    ),
    Bug(
        "side records are not in the state",
        "src/pipeline/side_tracker.cc",
        "    changes.side.push_back({position, std::move(value)});\n",
        "",
    ),
    Bug(
        "pending windows are not in the state's index",
        "src/pipeline/window_table.cc",
        "      changes.pending.push_back({entry->hour, entry->device->id, entry->pending_mark()});\n",
        "",
    ),
    Bug(
        "pending windows expire",
        "src/pipeline/window_table.cc",
        "      if (entry->must_stay()) {\n        spared.push_back({entry->hour, device.id});\n        return false;\n      }\n",
        "",
    ),
    Bug(
        "a window that expires is dropped from the checkpoint although it is pending",
        "src/pipeline/window_table.cc",
        "const bool expires = entry->hour < below && !entry->must_stay();",
        "const bool expires = entry->hour < below;",
    ),
    Bug(
        "the look-up mark does not rise with expiry",
        "src/pipeline/partition_state.cc",
        "    marks_.look_below = std::max(marks_.look_below, HourStart{bound.ms - kHourMs});\n",
        "",
    ),
    Bug(
        "marks are not written with the windows",
        "src/pipeline/partition_state.cc",
        "  marks_.rebuild = gate_.marks();\n  changes.marks = write_state_marks(marks_);\n",
        "  static bool before = false;\n"
        "  if (!before) changes.marks = write_state_marks(marks_);\n  before = true;\n",
    ),
    # --- what may be committed
    Bug(
        "the commit passes pending windows",
        "src/pipeline/partition_state.cc",
        "{outbox_.lowest(), unproven_.lowest(), waiting_.lowest(), side_tracker_.lowest(), gate_.lowest()}",
        "{unproven_.lowest(), waiting_.lowest(), side_tracker_.lowest(), gate_.lowest()}",
    ),
    Bug(
        "the commit passes waiting readings",
        "src/pipeline/partition_state.cc",
        "{outbox_.lowest(), unproven_.lowest(), waiting_.lowest(), side_tracker_.lowest(), gate_.lowest()}",
        "{outbox_.lowest(), unproven_.lowest(), side_tracker_.lowest(), gate_.lowest()}",
    ),
    Bug(
        "the commit passes side records",
        "src/pipeline/partition_state.cc",
        "{outbox_.lowest(), unproven_.lowest(), waiting_.lowest(), side_tracker_.lowest(), gate_.lowest()}",
        "{outbox_.lowest(), unproven_.lowest(), waiting_.lowest(), gate_.lowest()}",
    ),
    Bug(
        "the commit goes back",
        "src/pipeline/partition_state.cc",
        "  if (floor_ && offset <= *floor_) return std::nullopt;\n",
        "  if (floor_ && offset == *floor_) return std::nullopt;\n",
    ),
    Bug(
        "the commit knows of the hours of folded readings only",
        "src/pipeline/partition_worker.cc",
        "  marks_.hours.accept(position.offset, hour);\n",
        "",
    ),
    Bug(
        "unknown metadata is guessed to be nothing",
        "src/pipeline/start_plan.cc",
        "  plan.marks.look_below = metadata.highest_hour;\n",
        "  plan.marks.look_below =\n      metadata.highest_hour == HourStart::highest() ? HourStart::lowest() : metadata.highest_hour;\n",
    ),
    # --- what is looked up
    Bug(
        "the hour of the mark itself is not looked up",
        "src/pipeline/partition_worker.cc",
        "hour <= marks_.look_below",
        "hour < marks_.look_below",
    ),
    Bug(
        "offsets instead of positions: the rest of a batch counts as folded",
        "src/core/window.cc",
        "  if (position <= last_position_)\n",
        "  if (position.offset <= last_position_.offset)\n",
    ),
    Bug(
        "the rule that skips what was counted is forgotten",
        "src/core/window.cc",
        "  if (position <= last_position_)\n",
        "  if (position < Position{{-1}, 0})\n",
    ),
    # --- what is written
    Bug(
        "a change while a Put is on its way is acknowledged by it",
        "src/pipeline/outbox.cc",
        "  if (!entry.first_unsent) return;\n  by_offset_.emplace(*entry.first_unsent, &entry);\n  schedule(entry, now);\n}\n\nvoid Outbox::returned",
        "  entry.first_unsent.reset();\n}\n\nvoid Outbox::returned",
    ),
    Bug(
        "a batch that may have landed is taken as landed",
        "src/pipeline/emitter.cc",
        "  if (!answer.outcome) {\n",
        "  if (!answer.outcome && answer.outcome.error().kind != ErrorKind::kUnknown) {\n",
    ),
    Bug(
        "a failed batch is forgotten",
        "src/pipeline/emitter.cc",
        "  for (OpenWindow* entry : batch.entries) outbox_.returned(*entry);\n",
        "  for (OpenWindow* entry : batch.entries) outbox_.acknowledged(*entry, now);\n",
    ),
    Bug(
        "a failed batch keeps the younger of two offsets",
        "src/pipeline/outbox.cc",
        "  entry.first_unsent = entry.first_in_flight;\n  entry.first_in_flight.reset();\n  make_ready(entry);\n",
        "  by_offset_.erase({*entry.first_in_flight, &entry});\n"
        "  if (!entry.first_unsent) entry.first_unsent = entry.first_in_flight;\n"
        "  by_offset_.emplace(*entry.first_unsent, &entry);\n  entry.first_in_flight.reset();\n  make_ready(entry);\n",
    ),
    Bug(
        "cells of every state of an hour carry one timestamp",
        "src/core/rollup_row.cc",
        "std::int64_t cell_timestamp(HourStart hour, Generation generation, Revision revision) {\n",
        "std::int64_t cell_timestamp(HourStart hour, Generation generation, Revision revision) {\n  revision = Revision{1};\n",
    ),
    # --- what is folded
    Bug(
        "duplicates are found only when they come in order",
        "src/core/window.cc",
        "if (!seen[index]) seen[index] = times_[index].contains(time);",
        "if (!seen[index]) seen[index] = !times_[index].is_after_all(time) && times_[index].size() < 2;",
    ),
    Bug(
        "the compensation of a sum is lost in the state",
        "src/core/contribution_codec.cc",
        "  put_double(out, aggregate.compensation);\n",
        "  put_double(out, 0.0);\n",
    ),
    Bug(
        "a window that was unloaded is written without what is on the disk",
        "src/pipeline/window_table.cc",
        "  if (!*bytes) return static_cast<OpenWindow*>(nullptr);\n  auto window = read_contribution(**bytes, tools_.schemas);\n",
        "  return static_cast<OpenWindow*>(nullptr);\n  auto window = read_contribution(**bytes, tools_.schemas);\n",
    ),
    Bug(
        "a full worker folds on",
        "src/pipeline/partition_worker.cc",
        "  return waiting_.full() || side_tracker_.full() ||\n"
        "         outbox_.size() + waiting_.asked() + unproven_.size() >= settings_.max_outbox ||\n",
        "  return waiting_.full() || side_tracker_.full() ||\n",
    ),
    Bug(
        "readings that wait are counted twice",
        "src/pipeline/partition_worker.cc",
        "  waiting_.add(std::move(key), std::move(waiting), false);\n",
        "  counters_.consumed.add();\n  waiting_.add(std::move(key), std::move(waiting), false);\n",
    ),
    Bug(
        "the last folded record is not known to who takes over",
        "src/pipeline/partition_state.cc",
        "  metadata.last_folded = marks_.last_folded;\n",
        "  metadata.last_folded = FoldedRecord{Offset{offset.value}, 1};\n",
    ),
    # --- rows of several contributions
    Bug(
        "growth: an acknowledgement counts at once",
        "src/pipeline/partition_growth.cc",
        "  unproven_.add(entry, first);\n",
        "",
    ),
    Bug(
        "growth: a whole row in flight when it is heard of counts",
        "src/pipeline/emitter.cc",
        "    if (shared_ && !batch.shared) {\n      outbox_.returned(*entry);\n      continue;\n    }\n",
        "",
    ),
    Bug(
        "growth: what is not proven is not written again",
        "src/pipeline/partition_growth.cc",
        "    outbox_.reopen(*entry, first, now);\n",
        "",
    ),
    Bug(
        "shared rows: one that is behind is not pending",
        "src/pipeline/partition_growth.cc",
        "    outbox_.changed(entry, first, now);\n",
        "",
    ),
    Bug(
        "shared rows: the state lacks a window that it calls pending",
        "src/pipeline/partition_growth.cc",
        "  if (entry.first_unacknowledged()) windows_.mark_content_dirty(entry);\n",
        "  windows_.mark_emission_dirty(entry);\n",
    ),
    Bug(
        "shared rows: a merge has the timestamp of the sum alone",
        "src/pipeline/shared_row.cc",
        "std::min(kMaxRevision, {kMergedRevision.value + sum.value})",
        "sum",
    ),
]


def out_of_date():
    """Bugs whose text the code no longer has; those not planted this time are looked at as well."""
    for bug in BUGS:
        count = (ROOT / bug.file).read_text().count(bug.right)
        if count != 1:
            yield f"{bug.name}: is out of date, its text occurs {count} times in {bug.file}"


class Bench:
    def __init__(self, build):
        self.build = build
        self.compile = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            # Commands of several targets with the same source are alike but for the output.
            self.compile.setdefault(str(pathlib.Path(entry["file"]).resolve()), entry["command"])
        listed = subprocess.run(["ninja", "-C", build, "-t", "commands", TARGET], check=True, capture_output=True, text=True)
        link = next(line for line in reversed(listed.stdout.splitlines()) if f"-o tests/{TARGET}" in line)
        self.link = re.sub(r"^: && | && :$", "", link)

    def plant(self, bug, seeds):
        """(caught, what happened)"""
        path = ROOT / bug.file
        text = path.read_text()
        with tempfile.TemporaryDirectory() as folder:
            source, planted, program = (pathlib.Path(folder) / name for name in ("planted.cc", "planted.o", "sim"))
            source.write_text(text.replace(bug.right, bug.wrong))
            command = self.compile[str(path)].replace(str(path), str(source)).replace("-Werror", "-w")
            command = re.sub(r"-o \S+", f"-o {planted}", command, count=1)
            done = subprocess.run(command, shell=True, cwd=self.build, capture_output=True, text=True)
            if done.returncode:
                return False, f"does not compile:\n{done.stderr[-1500:]}"
            link = self.link.replace(f"-o tests/{TARGET}", f"{planted} -o {program}")
            done = subprocess.run(link, shell=True, cwd=self.build, capture_output=True, text=True)
            if done.returncode:
                return False, f"does not link:\n{done.stderr[-1500:]}"
            environment = dict(os.environ, HOURFOLD_SEEDS=str(seeds))
            began = time.monotonic()
            try:
                done = subprocess.run(
                    [program, "--abort-after=1"], env=environment, capture_output=True, text=True, timeout=900, cwd=ROOT
                )
            except subprocess.TimeoutExpired:
                return True, "hangs"
            took = time.monotonic() - began
            if done.returncode == 0:
                return False, f"SURVIVED {seeds} seeds ({took:.0f} s)"
            seed = re.search(r"seed (\d+)\s*\n\s*(\S[^\n]*)", done.stdout)
            return True, f"seed {seed[1]}: {seed[2][:110]}" if seed else f"exit code {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="bugs with this text in their name")
    parser.add_argument("--some", type=int, help="so many of them, evenly spread")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    bugs = [bug for bug in BUGS if options.only in bug.name]
    if options.some and options.some < len(bugs):
        bugs = bugs[:: -(-len(bugs) // options.some)]
    if options.list:
        print("\n".join(f"{bug.file}: {bug.name}" for bug in bugs))
        return 0
    for stale in (survivors := list(out_of_date())):
        print(f"NOT CAUGHT  {stale}")
    if survivors:
        print(f"0 passed, {len(survivors)} failed")
        return 1
    bench = Bench(options.build.resolve())
    survived = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for bug, (caught, how) in zip(bugs, pool.map(lambda one: bench.plant(one, options.seeds), bugs)):
            survived += not caught
            print(f"{'caught' if caught else 'NOT CAUGHT'}  {bug.name}: {how}", flush=True)
    print(f"{len(bugs) - survived} passed, {survived} failed")
    return 1 if survived or not bugs else 0


if __name__ == "__main__":
    sys.exit(main())
