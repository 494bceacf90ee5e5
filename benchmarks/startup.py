"""What it takes to start: `import irisdp`, `irisdp --help`, and a release of a tiny table, in one run.

    python benchmarks/startup.py [--rounds 40] [--before COMMIT]

The first two are set beside version 0.1, which is taken from git into a temporary folder; their target is to be as fast
as before. A release (a count, and a yes or no with a condition, of six records in three groups, with a ledger made
anew) is set beside loading DuckDB, PyArrow and NumPy alone, below which nothing that counts with them can go, and
beside version 0.1; its target is 0.6 s of the processor.

All are compiled beforehand, and read no compiled file of anybody else; they alternate, in an order drawn anew each
round, so that a busy machine slows all alike. Ratios are of seconds of processor time (of children alone) and of the
clock, each round on its own: the median, and the quarter and three quarters of the rounds. A bare `python -c pass` is
shown for scale; what is divided includes it.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
BEFORE = "a61c88e"
"""The commit from which version 0.2 was written: 0.1 as it was handed over."""

THINGS = {"import irisdp": ["-c", "import irisdp"], "irisdp --help": ["-m", "irisdp", "--help"]}
LIBRARIES = ["-c", "import duckdb, pyarrow, numpy, sqlite3"]
RELEASES = {
    "irisdp publish count": ["count"],
    "irisdp publish majority": ["majority", "vote = 1"],
}
PUBLIC = ["--by", "educ", "--groups", "1,2,3", "--epsilon", "1"]
TABLE = "educ,vote\n1,1\n1,0\n2,1\n2,1\n3,0\n3,1\n"
TARGET = 0.6
"""Seconds of the processor for a release."""
WHERE = "import pathlib, irisdp; print(pathlib.Path(irisdp.__file__).parents[1])"


def export(commit: str, folder: Path) -> Path:
    """Return the source of that commit, below the folder."""
    told = subprocess.run(["git", "-C", str(SOURCE), "archive", commit, "src"], capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(told.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def environment(source: Path, compiled: Path) -> dict[str, str]:
    """Return what a child is told, so that it finds that source and keeps its compiled modules to itself."""
    told = os.environ | {"PYTHONPATH": str(source), "PYTHONPYCACHEPREFIX": str(compiled)}
    told.pop("PYTHONDONTWRITEBYTECODE", None)
    return told


def timed(words: list[str], told: dict[str, str]) -> tuple[float, float]:
    """Return the seconds of processor time and of the clock that one child took."""
    spent, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *words], env=told, cwd="/", check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - spent.ru_utime - spent.ru_stime, wall


def publishing(query: list[str], folder: Path) -> list[str]:
    """Return a release of a table in the folder, with a ledger that is not there yet."""
    (folder / "table.csv").write_text(TABLE)
    ledger = tempfile.mkdtemp(dir=folder) + "/new.ledger"
    return ["-m", "irisdp", "publish", str(folder / "table.csv"), *query, *PUBLIC, "--ledger", ledger]


def describe(name: str, before: list[tuple[float, float]], now: list[tuple[float, float]], peer: str = "0.1") -> str:
    """Return a line for each of the two clocks."""
    lines = [f"{name}, {len(now)} rounds:"]
    for place, clock in enumerate(("processor", "clock")):
        first, second = ([seconds[place] for seconds in rounds] for rounds in (before, now))
        ratios = [after / earlier for earlier, after in zip(first, second, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        lines.append(
            f"  {clock} seconds: {peer} {statistics.median(first):.3f}, now {statistics.median(second):.3f}; "
            f"ratio {middle:.2f} ({low:.2f} to {high:.2f})"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--before", default=BEFORE)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sides = {
            "before": environment(export(options.before, folder), folder / "compiled-before"),
            "now": environment(SOURCE / "src", folder / "compiled-now"),
        }
        for told in sides.values():
            found = subprocess.run(
                [sys.executable, "-c", WHERE], env=told, cwd="/", check=True, capture_output=True, text=True
            )
            assert found.stdout.strip() == told["PYTHONPATH"], "an installed Iris stands before the one to be measured"
        for told in sides.values():  # what is installed besides is compiled too, into the same two folders
            for words in THINGS.values():
                timed(words, told)
        bare = statistics.median(timed(["-c", "pass"], sides["now"])[0] for _ in range(options.rounds))
        print(f"python -c pass: {bare:.3f} processor seconds")
        for thing, words in THINGS.items():
            seconds: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
            for _ in range(options.rounds):
                for side in random.sample(list(sides), len(sides)):
                    seconds[side].append(timed(words, sides[side]))
            print(describe(thing, seconds["before"], seconds["now"]))
        for thing, query in RELEASES.items():
            peers = {"the libraries alone": "now", "0.1": "before", "now": "now"}
            seconds = {peer: [] for peer in peers}
            for number in range(options.rounds + 1):
                for peer in random.sample(list(peers), len(peers)):
                    words = LIBRARIES if peer.startswith("the") else publishing(query, folder)
                    spent = timed(words, sides[peers[peer]])
                    if number:  # the first compiles
                        seconds[peer].append(spent)
            for peer in ("the libraries alone", "0.1"):
                print(describe(thing, seconds[peer], seconds["now"], peer))
            spent = statistics.median(processor for processor, _ in seconds["now"])
            print(f"  {spent:.2f} of the processor: {spent / TARGET:.2f} of the target, {TARGET} s")


if __name__ == "__main__":
    main()
