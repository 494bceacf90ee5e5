"""Measure how the house is built and how far a value walks in it, and write docs/structure.md.

    python docs/structure.py [--before COMMIT]

The same program measures an earlier state beside today's: version 0.1 unless another commit is given. What is measured
stands in the page; `docs/journeys.py` follows the values, for each state in a process of its own, because only one
`irisdp` can be loaded at a time.
"""

from __future__ import annotations

import argparse
import ast
import graphlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = HERE / "structure.md"
VERSION_0_1 = "1d979bf"
Arrows = dict[str, set[str]]


# How it is built: read from the text of the files.


def room_of(root: Path, path: Path) -> str:
    """Return the room of a file: a folder or file directly under irisdp, or the benchmarks."""
    parts = path.relative_to(root).with_suffix("").parts
    return parts[2] if parts[0] == "src" else parts[0]


def named_modules(tree: ast.AST, package: list[str]) -> Iterator[list[str]]:
    """Yield the modules and names that a file imports, wherever it does so; `package` is the file's own, in parts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            yield from ([*base, alias.name] for alias in node.names)


def structure(root: Path) -> dict[str, Any]:
    """Measure the rooms of a checkout, and the arrows between them."""
    files = [*root.glob("src/irisdp/**/*.py"), *root.glob("benchmarks/*.py")]
    lines: Counter[str] = Counter()
    arrows: Arrows = {room_of(root, path): set() for path in files}
    for path in files:
        text, here = path.read_text(encoding="utf-8"), room_of(root, path)
        lines[here] += len(text.splitlines())
        package = list(path.relative_to(root).parts[1:-1])
        for name in named_modules(ast.parse(text), package):
            if name[0] == "irisdp":
                there = name[1] if len(name) > 1 and name[1] in arrows else "__init__"
                arrows[here] |= {there} - {here}
    largest, size = lines.most_common(1)[0]
    return {
        "rooms": len(arrows),
        "arrows": sum(map(len, arrows.values())),
        "floors": floors(arrows),
        "largest": largest,
        "share": size / lines.total(),
        "files": len(files),
        "lines": lines.total(),
    }


def floors(arrows: Arrows) -> int:
    """Count the rooms on the longest chain of arrows; a circle is refused."""
    height: dict[str, int] = {}
    for room in graphlib.TopologicalSorter(arrows).static_order():
        height[room] = 1 + max((height[below] for below in arrows[room]), default=0)
    return max(height.values())


# The page: one state beside the other.


def measured(root: Path) -> dict[str, Any]:
    """Measure a checkout."""
    command = [sys.executable, str(HERE / "journeys.py"), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    walked = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return {"built": structure(root), "journeys": json.loads(walked.stdout)}


def page(before: dict[str, Any], now: dict[str, Any], commit: str) -> str:
    """Write both measurements down."""
    built = [(states["built"]["largest"], f"{100 * states['built']['share']:.0f} %") for states in (before, now)]
    named = {"packages": "rooms", "arrows": "arrows", "layers": "floors"}
    rows = [(label, before["built"][name], now["built"][name]) for label, name in named.items()]
    rows += [("share of the largest package", *(f"{share} ({room})" for room, share in built))]
    rows += [(name, f"{before['built'][name]:,}", f"{now['built'][name]:,}") for name in ("files", "lines")]
    walks = [
        (name, *(f"{entries} / {files}" for kind in ("itself", "made") for entries, files in (was[kind], found[kind])))
        for name, found in now["journeys"].items()
        for was in [before["journeys"][name]]
    ]
    return PAGE_TEXT.format(
        commit="version 0.1" if commit == VERSION_0_1 else commit,
        built=lines_of(rows),
        walks=lines_of(walks),
    )


def lines_of(rows: Iterable[tuple[Any, ...]]) -> str:
    """Write rows of a table."""
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


PAGE_TEXT = """# How the house is built, and how far a value walks

Written by `docs/structure.py`, which measures today's code and {commit} alike; do not edit by hand.

## Packages
A package here is a folder or file directly under `src/irisdp/`, or the benchmarks. An arrow leads from a package to
another one that some file of it imports, wherever in the file. Layers are the packages on the longest chain of arrows.

| | {commit} | now |
|---|---|---|
{built}

More packages have more arrows between them; `tests/unit/test_architecture.py` holds that none of them leads up.

## Journeys
Six values are followed through a real run. An entry is a call from a function in one file to a function in another
that passes the value. Each is counted once, however often it is called. Calls between files of Iris count, from
wherever in between; `exact/` and `errors.py`, which check arguments and write numbers for everybody, are passed through
unseen.

- *The value itself*: an argument is the value, or an object in which it lies, at most three objects deep, as the
  condition lies in query and plan.
- *With what was made of it*: an argument is, or holds, what a call returned that had been given the value, and so on.
  Numbers, texts and the other arguments of such a call are not followed.

Each cell says entries / files.

| journey | itself, {commit} | itself, now | with what was made, {commit} | with what was made, now |
|---|---|---|---|---|
{walks}

All journeys ask the same in both states; `python docs/journeys.py --ways` lists every way of today's.
"""


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description="measure how the house is built")
    parser.add_argument("--before", metavar="COMMIT", default=VERSION_0_1, help="the state to compare with")
    before = parser.parse_args().before
    archive = subprocess.run(["git", "archive", before], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        print(f"{before} is not in this copy's history: the page stays as it is")
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        PAGE.write_text(page(measured(Path(folder)), measured(ROOT), before), encoding="utf-8")


if __name__ == "__main__":
    main()
