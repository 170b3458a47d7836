"""How each source file is compiled, from compile_commands.json, and a cache of what passed a check, keyed by content.

A passed check is remembered under ~/.cache/hourfold-style (or $XDG_CACHE_HOME) by the hash of everything that decides it: the tool, its
rules, the flags, the file and all files of the project that it includes, directly or not. So a fresh clone repeats nothing that has
passed, and a changed header repeats all that include it.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

import tree

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hourfold-style"


def commands(build):
    """{source relative to the root: flags}, without launcher, compiler, output and precompiled header. Generated sources are left out."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if tree.ROOT not in source.parents or build.resolve() in source.parents:
            continue
        words, flags = shlex.split(entry["command"]), []
        words = iter(words[next(i for i, word in enumerate(words) if word.endswith("++")) + 1 :])
        for word in words:
            if word in ("-o", "-c", "-include", "-MF", "-MT"):
                next(words)
            elif word not in ("-MD", "-Winvalid-pch"):
                flags.append(word)
        found[str(source.relative_to(tree.ROOT))] = flags
    return found


class Content:
    """Hashes of files with all that they include from the tree and from the build folder."""

    def __init__(self, flags):
        self._folders = [pathlib.Path(flag[2:]) for flag in flags if flag.startswith("-I")]
        self._folders += [pathlib.Path(b) for a, b in zip(flags, flags[1:]) if a == "-isystem"]
        self._folders = [folder for folder in self._folders if tree.ROOT in (folder, *folder.parents)]

    def files(self, path, seen=None):
        seen = {} if seen is None else seen
        path = path.resolve()
        if path not in seen:
            seen[path] = path.read_bytes()
            for name in INCLUDE.findall(seen[path]):
                for folder in (path.parent, *self._folders):
                    if (folder / name.decode()).is_file():
                        self.files(folder / name.decode(), seen)
                        break
        return seen

    def key(self, path, *more):
        digest = hashlib.sha256("\0".join(more).encode())
        for file, text in sorted(self.files(path).items()):
            digest.update(f"{os.path.relpath(file, tree.ROOT)}\0{len(text)}\0".encode() + text)
        return digest.hexdigest()


def version(tool):
    return subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout


def run_all(jobs):
    """jobs: [(name, key, command)]. Runs those that have not passed before; returns [(name, output)] of those that fail."""
    CACHE.mkdir(parents=True, exist_ok=True)
    due = [job for job in jobs if not (CACHE / job[1]).exists()]
    print(f"{len(jobs)} to check, {len(jobs) - len(due)} of them have passed before", flush=True)

    def run(job):
        name, key, command = job
        done = subprocess.run(command, capture_output=True, text=True, cwd=tree.ROOT)
        if done.returncode == 0:
            (CACHE / key).touch()
            return None
        return name, done.stdout + done.stderr

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return [failure for failure in pool.map(run, due) if failure]
