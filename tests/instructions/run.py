#!/usr/bin/env python3
"""Instructions that folding a reading takes, from the bytes of its record to its window, counted by valgrind: the same on a busy machine
as on an idle one.

    python3 tests/instructions/run.py build/release/tests/hourfold_fold_instructions

8 metrics in 270 bytes, duplicate detection on. Fails above the bound. Who makes it faster lowers the bound; who has a reason to make it slower
raises it and says so in docs/PERFORMANCE.md.
"""

import re
import subprocess
import sys
import tempfile

BOUND = 4900  # instructions a reading
READINGS = 20_000


def count(program):
    with tempfile.NamedTemporaryFile(suffix=".callgrind") as out:
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=measured", f"--callgrind-out-file={out.name}", program, str(READINGS)]
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"valgrind failed:\n{run.stderr}")
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if not collected:
        sys.exit(f"valgrind says nothing of what it collected:\n{run.stderr}")
    return int(collected[1]) / int(run.stdout)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    each = count(sys.argv[1])
    print(f"{each:,.0f} instructions a reading, at most {BOUND:,}")
    return 0 if each <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
