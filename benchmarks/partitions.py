"""Whole databases at scale: times of exact draws, and the error of sorted lists beside noise on every count.

    python benchmarks/partitions.py --repeats 5 --epsilon 1

Targets: a total of 10^4 exactly under 30 s, 10^6 with a window under 120 s, 10^7 records of a column under 5 s. Errors
are Σ|released − true| over sorted lists of one Zipf-like list; both mechanisms have the same ε and the same relation,
and run in turn.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irisdp import Privacy
from irisdp.mechanisms import PartitionMechanism, release_column, release_largest

Counts = NDArray[np.int64]


def main() -> None:
    arguments = read_arguments()
    repeats, epsilon = arguments.repeats, arguments.epsilon
    print(f"ε = {epsilon}, exchange of one record; medians of {repeats} repeats [least, most]")
    print(f"{'draw':<48}{'seconds':>24}{'target':>8}{'peak GB so far':>16}")
    for name, target, work in timed_draws(epsilon):
        seconds = [timed(work) for _ in range(repeats)]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{name:<48}{spread(seconds, 3):>24}{target:>8}{peak:>16.2f}")
    print(f"\n{'records':>9}{'types':>8}{'parts':>7}{'partition':>26}{'discrete Laplace, sorted':>32}{'ratio':>26}")
    for total, parts in [(n, None) for n in arguments.totals] + [(arguments.totals[-1], r) for r in (10, 1000)]:
        row = errors(total, parts, Privacy(epsilon=epsilon), repeats)
        print(
            f"{total:>9}{len(zipf_like(total)):>8}{parts or 'all':>7}{spread(row[0]):>26}{spread(row[1]):>32}"
            f"{spread([b / a for a, b in zip(*row, strict=True)], 2):>26}"
        )


def timed_draws(epsilon: str) -> list[tuple[str, int, Callable[[], object]]]:
    """Return what is timed, each with its target in seconds."""
    exact = Privacy(epsilon=epsilon)
    window = Privacy(epsilon=epsilon, delta="1e-9")
    column = np.random.default_rng(1).integers(0, 8, 10**7)
    draws: list[tuple[str, int, Callable[[], object]]] = []
    for privacy, total, target in ((exact, 10**4, 30), (window, 10**6, 120), (exact, 10**6, 120)):
        made, counts = PartitionMechanism(total=total, privacy=privacy), zipf_like(total)
        kind = "exact" if made.window is None else f"window {made.window}, δ = 1e-9"
        draws.append((f"sorted list of {total:,}, {kind}", target, lambda m=made, c=counts: m.draw(c)))
    draws.append((f"column of {len(column):,} records, 8 kinds", 5, lambda: release_column(column, 8, exact)))
    return draws


def zipf_like(total: int) -> Counts:
    """Return ⌊c/1⌋, ⌊c/2⌋, ⌊c/3⌋, … down to 1 for the largest c at which they sum to at most `total`."""
    low, high = 0, total
    while low < high:
        c = (low + high + 1) // 2
        low, high = (c, high) if (c // np.arange(1, c + 1)).sum() <= total else (low, c - 1)
    return low // np.arange(1, low + 1)


def errors(total: int, parts: int | None, privacy: Privacy, repeats: int) -> tuple[list[float], list[float]]:
    """Return the L1 errors of the partition mechanism and of noise on every count, negatives clipped, then sorted.

    The noise is spared the types that nobody has: it is told which types are there, which the other need not know.
    """
    counts = zipf_like(total)
    made = PartitionMechanism(total=total, privacy=privacy, parts=parts)
    top = counts[:parts]
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(distance(made.draw(counts), top))
        theirs.append(distance(release_largest(counts, len(top), privacy), top))
    return ours, theirs


def distance(one: Counts, other: Counts) -> float:
    """Return Σ|one − other|, the shorter list filled with zeros."""
    length = max(len(one), len(other))
    return float(np.abs(np.pad(one, (0, length - len(one))) - np.pad(other, (0, length - len(other)))).sum())


def spread(values: Sequence[float], digits: int = 0) -> str:
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:,.{digits}f} [{low:,.{digits}f}, {high:,.{digits}f}]"


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (default: %(default)s)")
    parser.add_argument("--epsilon", default="1", help="default: %(default)s")
    parser.add_argument("--totals", type=int, nargs="+", default=[100, 10**4, 10**6], help="numbers of records")
    return parser.parse_args()


if __name__ == "__main__":
    main()
