#!/usr/bin/env python3
"""clang-format agrees with every C++ file. `--fix` rewrites them.

    python3 tests/style/clang_format.py [--fix]
"""

import subprocess
import sys

import tree

TOOL = "clang-format-14"


def main():
    fix = ["-i"] if sys.argv[1:] == ["--fix"] else ["--dry-run", "-Werror", "--ferror-limit=1"]
    files = [str(path) for path in tree.files(suffixes=tree.CPP)]
    done = subprocess.run([TOOL, *fix, *files], cwd=tree.ROOT, capture_output=True, text=True)
    lines = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line})
    if done.returncode and not lines:
        lines = [done.stderr]
    print(f"{len(files)} files")
    return tree.report("clang-format", lines)


if __name__ == "__main__":
    sys.exit(main())
