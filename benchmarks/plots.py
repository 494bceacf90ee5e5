"""How long pictures of large mechanisms take, and how large they are.

    python benchmarks/plots.py [--rounds 7] [--only WORDS]

The optimal mechanism of a count is drawn as a heat map with 201, 601 and 2,001 inputs and as many answers: at ε = 1,
where most cells are white, and at ε = 1/1,000, where none is; then 2,001 inputs and 100 answers whose names have 120
letters each. In each round every picture is made anew, from the mechanism to the bytes of its file, after a first round
that loads what is needed. Last come 9 and 2,001 inputs by the command `irisdp plot`, from its start to its end: what
the first takes is what it takes to start Python, the library of charts, and the program that draws them.

Seconds are of the processor and of the clock: median, least and most of the rounds. Ratios are the median of the clock
over the 2 seconds that are promised for 2,001 inputs, and the bytes over 5 MB. Exits with status 1 where a picture
takes more seconds of the processor (the clock is that of a machine on which others work), not counting those of a
start, or more bytes.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from irisdp import Mechanism, Privacy, design, plot
from irisdp.plots._picture import ENDINGS

SIZES = (201, 601, 2001)
SECONDS, BYTES = 2.0, 5_000_000
BY_COMMAND = ", by the command"
_LETTERS = 120


def named(size: int, answers: int = 100) -> Mechanism:
    """Return a mechanism with names of 120 letters, which answers alike whatever the input."""
    inputs, outputs = ([f"{number} ".ljust(_LETTERS, "x") for number in range(many)] for many in (size, answers))
    matrix = [[f"1/{answers}"] * answers] * size
    return Mechanism.from_matrix(matrix, privacy=Privacy(epsilon="0.1"), inputs=inputs, outputs=outputs)


def timed(make: Callable[[], bytes]) -> tuple[float, float, int]:
    """Return the seconds of processor time, of its own and of children, and of the clock; and how many bytes came."""
    spent, start = processor(), time.perf_counter()
    made = make()
    return processor() - spent, time.perf_counter() - start, len(made)


def processor() -> float:
    """Return the seconds of processor time of this process and its children that have ended."""
    told = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in told)


def command(file: Path, ending: str) -> bytes:
    """Return what `irisdp plot` writes of a mechanism's file."""
    out = file.with_suffix(ending)
    words = [sys.executable, "-m", "irisdp", "plot", str(file), "-o", str(out), "--force"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return out.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="inputs whose line holds these words")
    rounds, only = (options := parser.parse_args()).rounds, options.only
    mechanisms: dict[str, Any] = {
        f"{size:,}, ε = {epsilon}": design.geometric(size - 1, Privacy(epsilon=epsilon))
        for size in SIZES
        for epsilon in ("1", "0.001")
    }
    mechanisms["2,001, names of 120 letters"] = named(SIZES[-1])
    tasks: dict[tuple[str, str], Callable[[], bytes]] = {
        (name, ending): lambda mechanism=mechanism, ending=ending: plot(mechanism).to_bytes(ending)
        for name, mechanism in mechanisms.items()
        for ending in ENDINGS
    }
    with tempfile.TemporaryDirectory() as folder:
        for size in (9, SIZES[-1]):
            file = Path(folder) / f"{size}.json"
            design.geometric(size - 1, Privacy(epsilon=1)).save(file)
            for ending in ENDINGS:
                tasks[f"{size:,}, ε = 1{BY_COMMAND}", ending] = lambda file=file, ending=ending: command(file, ending)
        taken: dict[tuple[str, str], list[tuple[float, float, int]]] = {task: [] for task in tasks if only in task[0]}
        for _ in range(rounds + 1):
            for task, found in taken.items():
                found.append(timed(tasks[task]))
    print("| inputs | file | processor (s) | clock (s) | over 2 s | MB | over 5 MB |\n|---|---|---|---|---|---|---|")
    failed = 0
    for (name, ending), found in taken.items():
        spent, clock, sizes = zip(*found[1:], strict=True)
        assert len(set(sizes)) == 1, "a picture has other bytes the second time"
        print(
            f"| {name} | {ending} | {_spread(spent)} | {_spread(clock)} | {statistics.median(clock) / SECONDS:.2f} "
            f"| {sizes[0] / 1e6:.2f} | {sizes[0] / BYTES:.2f} |"
        )
        failed += (BY_COMMAND not in name and statistics.median(spent) > SECONDS) or sizes[0] > BYTES
    sys.exit(1 if failed else 0)


def _spread(seconds: tuple[float, ...]) -> str:
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


if __name__ == "__main__":
    main()
