#!/usr/bin/env python3
"""Runs the integration tests against a real Kafka and a real HBase that it starts itself.

    python3 tests/integration/run.py [--only TEXT] [--list] [--hourfold build/release/hourfold] [--long] [--keep]

Without --long and --only the tests that are marked as long are left out. One line per test, then "N passed, N failed". What is missing (jars, the binary, a server that does not start) is a failure, never a
skip. Needs a JDK 17, maven and Python 3.11. --keep leaves build/integration with all logs, dumps and state.
"""

import argparse
import importlib
import pathlib
import shutil
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "servers")]

import harness  # noqa: E402
from processes import ServerError, clean_up_on_exit  # noqa: E402
from probes import ProbeError  # noqa: E402
from service import Failed  # noqa: E402


def tests():
    """[(name, function of the lab)] of all test_*.py, in the order of files and definitions."""
    found = []
    for file in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(file.stem)
        found += [
            (f"{file.stem.removeprefix('test_')}.{name.removeprefix('test_')}", function)
            for name, function in vars(module).items()
            if name.startswith("test_") and callable(function)
        ]
    return found


def reason(error):
    return str(error) if isinstance(error, (Failed, ServerError, ProbeError)) else traceback.format_exc()


def run(chosen, lab):
    """(passed, failed)."""
    passed = failed = 0
    for name, test in chosen:
        began = time.monotonic()
        try:
            test(lab)
            passed += 1
            print(f"ok    {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception as error:  # a test's own mistake must not hide the tests behind it
            failed += 1
            print(
                f"FAIL  {name} ({time.monotonic() - began:.1f} s)\n  " + reason(error).replace("\n", "\n  "),
                flush=True,
            )
    return passed, failed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="tests whose name contains this text, or one of several, separated by commas")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--hourfold", default=ROOT / "build/release/hourfold")
    parser.add_argument("--dir", default=ROOT / "build/integration", help="work folder, emptied first")
    parser.add_argument("--long", action="store_true", help="all tests, and faults at full length: HBase is away for a minute")
    parser.add_argument("--keep", action="store_true", help="keep the work folder")
    options = parser.parse_args()

    chosen = [
        (name, test)
        for name, test in tests()
        if any(text in name for text in options.only.split(","))
        and (options.long or options.only or not getattr(test, "long", False))
    ]
    if options.list:
        print("\n".join(name for name, _ in chosen))
        return 0
    if not chosen:
        print(f"no test has {options.only} in its name; --list prints them")
        print("0 passed, 1 failed")
        return 1
    began = time.monotonic()
    clean_up_on_exit()
    lab = harness.Lab(options.hourfold, options.dir, options.long)
    passed, failed = 0, len(chosen)
    try:
        if subprocess.run([ROOT / "tests/servers/fetch"]).returncode:
            raise ServerError("the servers' jars could not be fetched")
        if not lab.hourfold.exists():
            raise ServerError(f"no binary at {lab.hourfold}: build it or give --hourfold PATH")
        shutil.rmtree(lab.folder, ignore_errors=True)
        lab.start()
        print(
            f"kafka {lab.kafka.address}, hbase {lab.hbase.address}, ready after {time.monotonic() - began:.1f} s",
            flush=True,
        )
        passed, failed = run(chosen, lab)
    except (ServerError, Failed, ProbeError) as error:
        print(f"FAIL  the servers: {error}")
    finally:
        lab.stop()
    if not options.keep and not failed:
        shutil.rmtree(lab.folder, ignore_errors=True)
    elif lab.folder.exists():
        print(f"logs, dumps and state: {lab.folder}")
    print(f"{time.monotonic() - began:.0f} s in all")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
