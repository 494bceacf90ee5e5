"""Closeness at many promised pairs at once: outputs are sorted by likelihood ratio once for every two rows that meet.

Let C_k and S_k be the masses of the k outputs with the largest likelihood ratios. The hockey-stick divergence at r is
C_k − r·S_k for the k of them whose likelihood ratio is more than r. As the guarantee's ratios fall this k rises, and so
does the k at which a δ is spent as the guarantee's δ rise. So two walks along one list answer for all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from .arithmetic import Number, Numbers
from .hockey_stick import INFINITE, by_likelihood_ratio, directions, smallest_ratio, worst_delta
from .pairs import RowPairs

__all__ = ["needs"]


def needs(
    rows: Sequence[Numbers], pairs: RowPairs, promised: Sequence[tuple[Number, Number]], *, non_negative: bool
) -> tuple[list[Number], list[Number | None]]:
    """Return the largest hockey-stick divergence at every promised ratio, and the smallest ratio at every promised δ.

    Parameters
    ----------
    rows, pairs
        The table, and which of its rows meet.
    promised : sequence of pairs
        (r, δ) by falling r and rising δ; from one up.
    non_negative : bool
        Whether no entry of a row in use is negative. Otherwise no ratio means anything, and each is INFINITE.

    Returns
    -------
    tuple of two lists
        In the order of the pairs: divergences, at least 0; and ratios, at least 1 or INFINITE.
    """
    zero = promised[0][1] * 0
    if not non_negative or len(promised) == 1:
        worst = [worst_delta(rows, pairs, ratio) for ratio, _ in promised]
        needed = [zero if one is None else one.value for one in worst]
        if not non_negative:
            return needed, [INFINITE] * len(promised)
        tight = [smallest_ratio(rows, pairs, delta) for _, delta in promised]
        return needed, [zero + 1 if one is None else one.value for one in tight]
    deltas: list[Number] = [zero] * len(promised)
    ratios: list[Number | None] = [zero + 1] * len(promised)
    for _, _, i, j in directions(pairs):
        walk = _Walk(rows[i], rows[j])
        for k, (ratio, delta) in enumerate(promised):
            deltas[k] = max(deltas[k], walk.delta_at(ratio))
            if ratios[k] is not INFINITE:
                least = walk.ratio_at(delta)
                ratios[k] = INFINITE if least is INFINITE else max(ratios[k], least)
    return deltas, ratios


class _Walk:
    """One row against another: asked for ratios that fall, and for δ that rise."""

    def __init__(self, row: Numbers, other: Numbers) -> None:
        ordered = by_likelihood_ratio(row, other)
        zero = row[0] * 0
        self._ratios = [ratio for ratio, _ in ordered]
        self._above = list(accumulate((mass for _, (mass, _) in ordered), initial=zero))
        self._below = list(accumulate((facing for _, (_, facing) in ordered), initial=zero))
        self._losing = self._spent = 0

    def delta_at(self, ratio: Number) -> Number:
        """Return the divergence at a ratio, no larger than the one asked for before."""
        while self._losing < len(self._ratios):
            likelihood = self._ratios[self._losing]
            if likelihood is not INFINITE and likelihood <= ratio:
                break
            self._losing += 1
        return self._above[self._losing] - ratio * self._below[self._losing]

    def ratio_at(self, delta: Number) -> Number | None:
        """Return the smallest ratio, at least 1, at which a δ suffices, no smaller than the one asked for before."""
        while self._spent < len(self._ratios):
            likelihood = self._ratios[self._spent]
            if likelihood is INFINITE:
                if self._above[self._spent + 1] > delta:
                    return INFINITE
            elif self._above[self._spent] - likelihood * self._below[self._spent] > delta:
                break
            self._spent += 1
        below = self._below[self._spent]
        one = delta * 0 + 1
        return max(one, (self._above[self._spent] - delta) / below) if below > 0 else one
