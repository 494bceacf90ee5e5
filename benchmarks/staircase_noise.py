"""Exact staircase noise: rate beside exact geometric noise at the same ε.

    python benchmarks/staircase_noise.py --draws 1000000 --repeats 7

Each repeat runs all, one after another; what is printed are ratios of rates within a repeat, so that a machine that
slows down for a while slows both.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from irisdp import Privacy, noise

CASES = (("1", 2), ("1", 5), ("2", 5), ("3", 2), ("1", 1000), ("0.1", 20))
"""ε, and by how much one person moves a number."""


def main() -> None:
    arguments = read_arguments()
    values = np.zeros(arguments.draws, dtype=np.int64)
    print(f"{arguments.draws:,} draws a run, {arguments.repeats} repeats")
    print(f"{'epsilon':>8}{'moves':>7}  {'rate over geometric':<21}{'min':>6}{'median':>8}{'max':>6}   median M/s")
    for epsilon, sensitivity in CASES:
        privacy = Privacy(epsilon=epsilon)
        laws = noise.law("staircase", privacy, sensitivity), noise.law("geometric", privacy)
        runs: list[Callable[[], object]] = [lambda law=law: law.draw(values) for law in laws]
        for run in runs:
            run()  # tables are built once and kept
        repeats = [[rate(run, arguments.draws) for run in runs] for _ in range(arguments.repeats)]
        ratios = [ours / theirs for ours, theirs in repeats]
        ours, theirs = (statistics.median(column) / 1e6 for column in zip(*repeats, strict=True))
        low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
        print(
            f"{epsilon:>8}{sensitivity:>7}  {'':<21}{low:>6.2f}{middle:>8.2f}{high:>6.2f}   {ours:.2f} / {theirs:.2f}"
        )


def rate(run: Callable[[], object], draws: int) -> float:
    start = time.perf_counter()
    run()
    return draws / (time.perf_counter() - start)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1_000_000, help="integers a run (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="alternating runs (default: %(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
