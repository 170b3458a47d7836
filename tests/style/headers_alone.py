#!/usr/bin/env python3
"""Every header compiles alone: it includes what it needs.

    python3 tests/style/headers_alone.py build/release

The build proves it for a header that some source includes before anything else, as every foo.cc does with its foo.h. The others are
compiled with the flags of a source file of their folder (or, where there is none, of the nearest relative), so that a header of an
adapter may show a library that only its adapter knows.
"""

import os
import pathlib
import sys

import compilation
import tree


def first_includes(commands):
    """The names by which sources include their first header."""
    first = (compilation.INCLUDE.search((tree.ROOT / source).read_bytes()) for source in commands)
    return {found[1].decode() for found in first if found}


def flags_for(header, commands):
    """The flags of the source that shares the longest beginning with the header: its twin, its folder, its tree."""
    return commands[max(commands, key=lambda source: (len(os.path.commonprefix([source, str(header)])), source))]


def jobs(build):
    commands, tool = compilation.commands(build), compilation.version("g++")
    proven = first_includes(commands)
    for header in tree.files(suffixes=(".h",)):
        if str(header) in proven or str(header).partition("/")[2] in proven:
            continue
        flags = flags_for(header, commands)
        key = compilation.Content(flags).key(tree.ROOT / header, tool, *(flag.replace(str(tree.ROOT), "") for flag in flags))
        flags = [flag for flag in flags if not flag.startswith(("-O", "-g"))]
        yield str(header), key, ["g++", *flags, "-fsyntax-only", "-x", "c++", "-include", str(tree.ROOT / header), os.devnull]


def main():
    failures = compilation.run_all(list(jobs(pathlib.Path(sys.argv[1]))))
    return tree.report("headers", [f"{name}: does not compile alone\n{output}" for name, output in failures])


if __name__ == "__main__":
    sys.exit(main())
