#!/usr/bin/env python3
"""Who may include whom. Dependencies point inwards: core knows nobody, nothing knows app, adapters never know each other.

    python3 tests/style/include_table.py [ROOT]

A folder, a third-party library or an operating system header that is not in these tables is a violation: a new dependency is a decision,
and this is where it is written down.
"""

import pathlib
import re
import sys

import tree

# Folder -> own folders whose headers it may include (itself always).
FOLDERS = {
    "src/core": set(),
    "src/payload": {"src/core"},
    "src/ports": {"src/core"},
    "state": {"src/core"},
    "src/pipeline": {"src/core", "src/payload", "src/ports"},
    "src/kafka": {"src/core", "src/ports"},
    "src/hbase": {"src/core", "src/ports"},
    "src/embedded": {"src/core", "src/ports"},
    "src/http": {"src/core", "src/ports"},
    "src/app": {"src/core", "src/payload", "src/ports", "state", "src/pipeline", "src/kafka", "src/hbase", "src/embedded", "src/http"},
}
# Single headers beyond that: of the state, the pipeline knows the store's interface.
HEADERS = {"src/pipeline": {"state/window_store.h"}}

# First part of a third-party include -> folders that may use it.
LIBRARIES = {
    "CLI": {"src/app"},
    "httplib.h": {"src/http"},
    "librdkafka": {"src/kafka"},
    "nlohmann": {"src/core", "src/payload", "src/app", "src/embedded", "src/http"},
    "prometheus": {"src/http"},
    "rocksdb": {"state", "src/embedded"},
    "simdjson.h": {"src/payload"},
    "spdlog": {"src/app"},
    "thrift": {"src/hbase"},
    # Generated from src/hbase/idl.
    "THBaseService.h": {"src/hbase"},
    "hbase_types.h": {"src/hbase"},
}

# Core and the pipeline are pure: no input or output, no threads, no randomness. The clock comes as an argument (ports/clock.h).
IMPURE = set(
    "barrier condition_variable filesystem fstream future iostream latch mutex random semaphore shared_mutex stop_token thread".split()
)
PURE = {"src/core", "src/payload", "src/pipeline"}

# Headers of the C and C++ standard libraries have no slash and no .h; these are the operating system's.
SYSTEM = {
    "state": {"dirent.h", "fcntl.h", "sys/file.h", "sys/stat.h", "sys/statvfs.h", "unistd.h"},
    "src/kafka": set(),
    "src/hbase": {"poll.h", "sys/socket.h"},
    "src/embedded": {"fcntl.h", "sys/file.h", "sys/stat.h", "unistd.h"},
    "src/http": {"unistd.h"},
    "src/app": {"fcntl.h", "poll.h", "pthread.h", "signal.h", "sys/ioctl.h", "sys/resource.h", "sys/stat.h", "termios.h", "unistd.h"},
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>]+)>|"([^"]+)")', re.M)
# A clock read in pure code, whatever it includes.
CLOCK = re.compile(r"\b(?:system_clock|steady_clock|high_resolution_clock)::now\b|\bclock_gettime\b|\bgettimeofday\b|\bstd::time\(")


def folder_of(path):
    """The table's folder that holds `path` (relative), or None."""
    return next((folder for folder in FOLDERS if pathlib.PurePath(folder) in path.parents), None)


def own_header(root, name):
    """The header's path in the tree, as its includers may spell it: from src/ or from the root; None if it is none of ours."""
    for base in ("src", "."):
        if (root / base / name).is_file():
            return pathlib.PurePath(base) / name
    return None


def violation(root, folder, quoted, name):
    """Why `folder` may not include `name`, or None."""
    header = own_header(root, name)
    if header is not None:
        target = folder_of(header)
        if target in FOLDERS[folder] | {folder} or str(header) in HEADERS.get(folder, ()):
            return None
        return f"may not know {target or header.parent}"
    first = name.split("/")[0]
    if first in LIBRARIES:
        return None if folder in LIBRARIES[first] else f"may not know {first}; only {', '.join(sorted(LIBRARIES[first]))} may"
    if quoted:
        return "there is no such header under src/ or the root"
    if "/" not in name and not name.endswith(".h"):
        return "is pure: no I/O, no threads, no randomness" if folder in PURE and name in IMPURE else None
    return None if name in SYSTEM.get(folder, ()) else "is not in the table of system and third-party headers"


def check(root):
    problems = []
    for path in tree.files(root, tree.CPP):
        if path.parts[0] not in ("src", "state"):
            continue
        folder = folder_of(path)
        if folder is None:
            problems.append(f"{path}: its folder is not in the include table")
            continue
        text = (root / path).read_text(encoding="utf-8")
        for found in INCLUDE.finditer(text):
            name = found[1] or found[2]
            why = violation(root, folder, found[2] is not None, name)
            if why:
                problems.append(f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {name}: {folder} {why}")
        for found in CLOCK.finditer(text) if folder in PURE else ():
            problems.append(f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]}: {folder} reads no clock, time is an argument")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report("include table", check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tree.ROOT)))
