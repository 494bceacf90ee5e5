"""What it takes to start Python with `import irisdp`, and `irisdp --help`, beside version 0.1, in one run.

    python benchmarks/startup.py [--rounds 40] [--before COMMIT]

Version 0.1 is taken from git into a temporary folder. Both are compiled beforehand, and read no compiled file of
anybody else; the two alternate, in an order drawn anew each round, so that a busy machine slows both. Ratios are of
seconds of processor time (of children alone) and of the clock, each round on its own: the median, and the quarter and
three quarters of the rounds. A bare `python -c pass` is shown for scale; what is divided includes it. Target: as fast
as before.
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


def describe(name: str, before: list[tuple[float, float]], now: list[tuple[float, float]]) -> str:
    """Return a line for each of the two clocks."""
    lines = [f"{name}, {len(now)} rounds:"]
    for place, clock in enumerate(("processor", "clock")):
        first, second = ([seconds[place] for seconds in rounds] for rounds in (before, now))
        ratios = [after / earlier for earlier, after in zip(first, second, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        lines.append(
            f"  {clock} seconds: 0.1 {statistics.median(first):.3f}, now {statistics.median(second):.3f}; "
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


if __name__ == "__main__":
    main()
