"""The project's own files: what the checks of this folder look at."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP = (".cc", ".h")


HIDDEN = {".ci", ".clang-format", ".clang-tidy", ".dockerignore", ".gitignore"}


def files(root=ROOT, suffixes=None):
    """Paths relative to `root`, sorted. Build folders, caches and other hidden files are not the project's text."""
    found = []
    for top in root.iterdir():
        if top.name != "build":
            found += [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file()]
    relative = (path.relative_to(root) for path in found)
    return sorted(
        path
        for path in relative
        if not any(part == "__pycache__" or (part.startswith(".") and part not in HIDDEN) for part in path.parts)
        and (suffixes is None or path.suffix in suffixes)
    )


def report(title, problems):
    """Prints the problems and returns the exit code."""
    for problem in problems:
        print(problem)
    print(f"{title}: {len(problems)} problems" if problems else f"{title}: clean")
    return 1 if problems else 0
