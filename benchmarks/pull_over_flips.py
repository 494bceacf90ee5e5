"""Wrong winners: pull from the top over permute and flip, where one record may be exchanged for another.

    python benchmarks/pull_over_flips.py

A table of n records, each in any of q categories alike. Tables that differ by names only are one kind, and kinds whose
counts lie far from n/q are left out: among the others pull finds all it needs, since pulling brings counts closer
together. What was left out is counted as wrong for pull and right for permute and flip, so that each ratio is an upper
bound, but for rounding in floats. Fails where one is above the bound recorded here. At some of these ε pull is not
proved to be private (proofs/plurality.md), and this library answers by permute and flip; they are marked.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np

from irisdp.design._plurality import least_proved_ratio
from irisdp.mechanisms import Pulled

EXPECTED = {
    (3, 20): {0.5: 0.927, 1.0: 0.873, 2.0: 0.703},
    (5, 100): {0.5: 0.878, 1.0: 0.841, 2.0: 0.693},
    (8, 100): {0.5: 0.848, 1.0: 0.796, 2.0: 0.662},
    (10, 100): {1.0: 0.778, 2.0: 0.648},
}
"""Bounds by categories and records, by ε."""

SPREAD = 30.0
"""Kinds are kept while Σ (h − n/q)² is at most so many times n/q: a chi-square's far tail is left out."""


def main() -> None:
    arguments = read_arguments()
    failed = False
    print(f"{'q':>3} {'n':>4} {'ε':>4}  {'kinds':>8}  {'left out':>9}  {'ratio':>7}  {'bound':>8}")
    for (categories, records), expected in EXPECTED.items():
        kinds = list(all_kinds(records, categories, arguments.spread * records / categories))
        gaps = np.array([[counts[0] - count for count in counts] for counts, _ in kinds])
        weights = np.array([weight for _, weight in kinds])
        left_out = max(0.0, 1 - weights.sum())
        for epsilon, wanted in expected.items():
            pulled, flipped = wrong_by_pull(gaps, epsilon), wrong_by_flips(gaps, epsilon)
            ratio = (weights @ pulled + left_out) / (weights @ flipped)
            above = ratio > wanted
            failed |= above
            proved = "" if math.exp(epsilon) >= least_proved_ratio(categories) else "  not proved private here"
            print(
                f"{categories:>3} {records:>4} {epsilon:>4}  {len(kinds):>8,}  {left_out:>9.1e}  {ratio:>7.4f}"
                f"  {wanted:>8}{'  ABOVE' if above else ''}{proved}"
            )
    sys.exit(failed)


def all_kinds(records: int, categories: int, most: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield falling counts near the mean, and the probability of all tables of that kind."""
    mean = records / categories
    whole = math.lgamma(records + 1) + math.lgamma(categories + 1) - records * math.log(categories)

    def further(left: int, places: int, largest: int, room: float) -> Iterator[tuple[int, ...]]:
        if places == 0:
            if left == 0:
                yield ()
            return
        for count in range(min(largest, left), math.ceil(left / places) - 1, -1):
            away = room - (count - mean) ** 2
            if away >= 0:
                for rest in further(left - count, places - 1, count, away):
                    yield (count, *rest)

    for counts in further(records, categories, records, most):
        ways = whole - sum(math.lgamma(count + 1) for count in counts)
        alike = sum(math.lgamma(number + 1) for number in Counter(counts).values())
        yield counts, math.exp(ways - alike)


def wrong_by_pull(gaps: np.ndarray, epsilon: float) -> np.ndarray:
    """Return the probability of a wrong answer for gaps in ascending order."""
    pulled = Pulled(math.exp(-epsilon), lambda power: math.exp(-epsilon * power))
    tops = [pulled.top(tuple(row)) for row in gaps.tolist()]
    return 1 - (gaps == 0).sum(axis=1) * np.array(tops)


def wrong_by_flips(gaps: np.ndarray, epsilon: float) -> np.ndarray:
    """Return it for permute and flip with acceptance e^(−ε·gap/2): ∫ Π (1 − a·x) dx, exact by enough nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(gaps.shape[1])
    nodes, weights = (nodes + 1) / 2, weights / 2
    others = np.exp(-epsilon / 2 * gaps[:, 1:, np.newaxis])
    top = np.prod(1 - others * nodes, axis=1) @ weights
    return 1 - (gaps == 0).sum(axis=1) * top


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--spread", type=float, default=SPREAD, help="how far counts may lie apart (default: %(default)s)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
