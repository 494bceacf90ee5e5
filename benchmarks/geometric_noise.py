"""Exact geometric noise: rate beside OpenDP's discrete Laplace and beside the operating system's random words.

    python benchmarks/geometric_noise.py --draws 1000000 --repeats 7 --epsilons 1 0.01 1e-6

Each repeat runs the three one after another; what is printed are ratios of rates within a repeat, so that a machine
that slows down for a while slows all three.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import numpy as np

from irisdp import Privacy, noise


def main() -> None:
    arguments = read_arguments()
    print(f"{arguments.draws:,} draws a run, {arguments.repeats} repeats; OpenDP on {arguments.opendp_draws:,} draws")
    print(f"{'epsilon':>8}  {'rate over':<14}{'min':>9}{'median':>9}{'max':>9}   median M/s")
    slowest = fastest = None
    for epsilon in arguments.epsilons:
        ours, words, opendp = measure(epsilon, arguments)
        for name, other in (("os.urandom", words), ("OpenDP", opendp)):
            ratios = [mine / theirs for mine, theirs in zip(ours, other, strict=True)]
            low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
            print(
                f"{epsilon:>8}  {name:<14}{low:>9.2f}{middle:>9.2f}{high:>9.2f}"
                f"   {statistics.median(ours) / 1e6:.2f} / {statistics.median(other) / 1e6:.2f}"
            )
        rate = statistics.median(ours)
        slowest, fastest = min(slowest or rate, rate), max(fastest or rate, rate)
    print(f"fastest epsilon over slowest: {fastest / slowest:.2f}")


def measure(epsilon: str, arguments: argparse.Namespace) -> tuple[list[float], list[float], list[float]]:
    """Return rates per second, one of each kind a repeat: this library, random words, OpenDP."""
    privacy, values = Privacy(epsilon=epsilon), np.zeros(arguments.draws, dtype=np.int64)
    opendp, vector = opendp_laplace(1 / float(epsilon)), [0] * arguments.opendp_draws
    noise.geometric(values[:1], privacy)  # the tables of an epsilon are built once and kept
    runs: list[tuple[Callable[[], object], int]] = [
        (lambda: noise.geometric(values, privacy), arguments.draws),
        (lambda: os.urandom(8 * arguments.draws), arguments.draws),
        (lambda: opendp(vector), arguments.opendp_draws),
    ]
    repeats = [[rate(run, draws) for run, draws in runs] for _ in range(arguments.repeats)]
    ours, words, theirs = (list(column) for column in zip(*repeats, strict=True))
    return ours, words, theirs


def rate(run: Callable[[], object], draws: int) -> float:
    start = time.perf_counter()
    run()
    return draws / (time.perf_counter() - start)


def opendp_laplace(scale: float) -> Callable[[list[int]], object]:
    """OpenDP's discrete Laplace mechanism on a vector of integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1_000_000, help="integers a run (default: %(default)s)")
    parser.add_argument(
        "--opendp-draws", type=int, default=100_000, help="integers an OpenDP run (default: %(default)s)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="alternating runs (default: %(default)s)")
    parser.add_argument("--epsilons", nargs="+", default=["1", "0.01", "1e-6"], help="default: 1 0.01 1e-6")
    return parser.parse_args()


if __name__ == "__main__":
    main()
