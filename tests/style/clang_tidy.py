#!/usr/bin/env python3
"""clang-tidy with the rules of .clang-tidy over every source of the product, as a build folder compiles it.

    python3 tests/style/clang_tidy.py build/release [FILE...]
"""

import pathlib
import re
import sys

import compilation
import tree

TOOL = "clang-tidy-14"
# clang as a parser of what g++ compiles: flags that it does not know, and g++'s own opinion about warnings, are not its business.
DROPPED = re.compile(r"-W(?!no-).*|-fsanitize.*|-fno-sanitize.*|-g\d?|-fpch-.*")


def jobs(build, chosen):
    rules, tool = (tree.ROOT / ".clang-tidy").read_text(), compilation.version(TOOL)
    for source, flags in compilation.commands(build).items():
        if source not in chosen if chosen else not source.startswith(("src/", "state/")):
            continue
        flags = [flag for flag in flags if not DROPPED.fullmatch(flag)] + ["-Wno-unknown-warning-option"]
        key = compilation.Content(flags).key(tree.ROOT / source, tool, rules, *(flag.replace(str(tree.ROOT), "") for flag in flags))
        yield source, key, [TOOL, "--quiet", "--warnings-as-errors=*", source, "--", *flags]


def main():
    build, chosen = pathlib.Path(sys.argv[1]), sys.argv[2:]
    problems = [
        re.sub(r"^\d+ warnings? (?:generated|treated as errors?).*\n|^Suppressed .*\n|^Use -header-filter.*\n", "", output, flags=re.M)
        for _, output in compilation.run_all(list(jobs(build, chosen)))
    ]
    return tree.report("clang-tidy", problems)


if __name__ == "__main__":
    sys.exit(main())
