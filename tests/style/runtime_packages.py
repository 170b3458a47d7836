#!/usr/bin/env python3
"""scripts/packages/runtime.txt is what the binary needs: every shared library that it names itself comes from a package of the list, every
one that those need comes along by their dependencies, and the list has no library that nobody asks for.

    python3 tests/style/runtime_packages.py build/release/hourfold
"""

import pathlib
import re
import subprocess
import sys

import tree


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}).stdout


def package_of(library):
    """The package that owns a file; with merged /usr, dpkg may know it under /lib or under /usr/lib."""
    real = str(pathlib.Path(library).resolve())
    for path in {library, real, real.removeprefix("/usr"), "/usr" + real}:
        done = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    return None


def with_dependencies(packages):
    """The packages and all that they depend on, as dpkg knows it here."""
    depends = {}
    shown = output("dpkg-query", "--show", "--showformat=${Package}\t${Pre-Depends}, ${Depends}\n")
    for line in shown.splitlines():
        name, _, needs = line.partition("\t")
        depends[name] = re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", needs)
    known, due = set(), list(packages)
    while due:
        name = due.pop()
        if name not in known:
            known.add(name)
            due += depends.get(name, [])
    return known


def check(binary):
    lines = (tree.ROOT / "scripts/packages/runtime.txt").read_text().splitlines()
    listed = {line for line in (line.partition("#")[0].strip() for line in lines) if line}
    # "libfoo.so.1 => /path (address)"; a library that is not found has no path.
    libraries = dict(re.findall(r"^\s*(\S+) => (\S+|not found)", output("ldd", binary), re.M))
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", output("readelf", "--dynamic", binary))) & libraries.keys()
    problems, covered, wanted = [], with_dependencies(listed), set()
    for name, path in sorted(libraries.items()):
        package = package_of(path)
        if package is None:
            problems.append(f"{name} ({path}) belongs to no package")
        elif name in needed:
            wanted.add(package)
            if package not in listed:
                problems.append(f"{name}: runtime.txt lacks {package}")
        elif package not in covered:
            problems.append(f"{name}: nothing in runtime.txt brings {package}")
    for package in sorted(listed - wanted):
        if package.startswith("lib"):
            problems.append(f"runtime.txt has {package}, of which the binary needs nothing")
    if not needed:
        problems.append(f"{binary} names no shared library: not what was meant")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report("runtime packages", check(sys.argv[1])))
