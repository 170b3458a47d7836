#!/usr/bin/env python3
"""Rules about the text of every file of the project.

    python3 tests/style/text_rules.py [ROOT]

Short files, no open ends, no tabs, nothing that is true on one machine only, and no relative writes in the HBase interface.
"""

import pathlib
import re
import sys

import tree

LINES_MAX = 450
CODE = (".cc", ".h", ".py", ".java", ".sh", ".js")

BINARY = {".gz", ".png", ".jpg", ".ico", ".bin", ".woff2"}
# Inputs of the fuzzers, which are any bytes.
ANY_BYTES = pathlib.PurePath("tests/fuzz/corpus")
# Written by others, word by word.
VERBATIM = {"LICENSE"}

OPEN_ENDS = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
# A folder of somebody's machine: a home folder, a mount, a checkout.
MACHINE = re.compile(r"(?<![\w./~$}-])(?:\.\./shared|/(?:%s)/[\w.-])" % "|".join(("home", "root", "mnt", "Users", "work", "media")))
# Where packages come from is the business of the reader's own apt and maven.
REGISTRY = re.compile(r"https?://(?:deb|ftp|repo\d*|registry|files|mirror|proxy)\.[\w-]+\.")
RELATIVE_WRITES = re.compile(r"\b\w*(?:increment|append)\w*\b", re.I)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_text(path, text):
    problems = []

    def problem(position, what):
        problems.append(f"{path}:{line_of(text, position)}: {what}")

    lines = text.count("\n")
    if path.suffix in CODE and lines > LINES_MAX:
        problems.append(f"{path}: {lines} lines, {LINES_MAX} are the bound: split it by subject")
    if text and not text.endswith("\n"):
        problems.append(f"{path}: no newline at the end")
    if "\r" in text:
        problem(text.index("\r"), "carriage return")
    if "\t" in text:
        problem(text.index("\t"), f"{text.count(chr(9))} tabs")
    for found in re.finditer(r"[ \t]+$", text, re.M):
        problem(found.start(), "white space at the end of the line")
    for found in OPEN_ENDS.finditer(text):
        problem(found.start(), f"{found[0]}: open ends are issues, not comments")
    for pattern, what in ((MACHINE, "path of one machine"), (REGISTRY, "address of a package registry")):
        for found in pattern.finditer(text):
            problem(found.start(), f"{what}: {found[0]}")
    # Absolute values only: a retried or replayed Increment or Append would count twice.
    if path.suffix == ".thrift":
        for found in RELATIVE_WRITES.finditer(text):
            problem(found.start(), f"{found[0]}: the program knows absolute Puts only")
    return problems


def check(root):
    problems = []
    for path in tree.files(root):
        if path.suffix in BINARY or str(path) in VERBATIM or ANY_BYTES in path.parents:
            continue
        try:
            problems += check_text(path, (root / path).read_bytes().decode())
        except UnicodeDecodeError:
            problems.append(f"{path}: not UTF-8")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report("text rules", check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tree.ROOT)))
