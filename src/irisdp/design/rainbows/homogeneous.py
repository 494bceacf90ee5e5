"""The best mechanism when every ranking has one row on its boundary: T^depth of that row, in short numbers.

T applies u to the prefix sums along the ranking. Only a node's ranking and depth matter, so there are as many rows as
the chains of the boundary graph are long. A graph of any size looks them up ([Gu2024], Theorems 2 and 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from ...exact import dyadic_below
from ...exact.short import is_short
from ...graphs import UNREACHABLE, RankedGraph, boundary, depth
from ...mechanisms import Row, balanced_truth
from ...privacy import Privacy, are_close, step, tightened
from .heterogeneous import Rows
from .propagation import GridSteps

__all__ = ["balanced_row", "chain", "classes_with_boundary", "homogeneous_rows"]

_MARGIN = Fraction(1, 1 << 80)
"""How much of (r − 1)/r and of δ is kept back to pay for rounding."""

_BITS = 128
"""Significant bits of a rounded probability."""

_CERTAIN = 100
"""Where the first choice misses certainty by less than 2^-100, deeper nodes use the same row: folding is private."""


def homogeneous_rows(ranked: RankedGraph, given: Mapping[int, Row], privacy: Privacy) -> tuple[Rows, Fraction]:
    """Return the optimal rows for a valid homogeneous boundary.

    Parameters
    ----------
    ranked : RankedGraph
    given : mapping
        Class → its boundary row, in the order of its ranking, for every class that has a boundary.
    privacy : Privacy

    Returns
    -------
    Rows
        Exactly private. Nodes in components without a boundary give their first choice.
    Fraction
        The largest distance of an entry from the exact T^depth; 0 where numbers are short.
    """
    depths = depth(ranked)
    distinct: dict[Row, int] = {}
    row_of = np.zeros(len(depths), np.int64)
    within = Fraction(0)
    for code, order in enumerate(ranked.orders):
        members = np.flatnonzero(ranked.codes == code)
        deep, unbounded = depths[members], depths[members] == UNREACHABLE
        if unbounded.any():
            sure = tuple(Fraction(position == order[0]) for position in range(len(order)))
            row_of[members[unbounded]] = distinct.setdefault(sure, len(distinct))
        if not unbounded.all():
            rows, error = chain(given[code], int(deep.max()) + 1, privacy)
            within = max(within, error)
            by_output = [ranked.along_outputs(code, row) for row in rows]
            numbers = np.array([distinct.setdefault(row, len(distinct)) for row in by_output])
            row_of[members[~unbounded]] = numbers[np.minimum(deep[~unbounded], len(numbers) - 1)]
    return Rows(tuple(distinct), row_of), within


def classes_with_boundary(ranked: RankedGraph) -> list[int]:
    """Return the classes that touch another one, ascending."""
    codes: list[int] = np.unique(ranked.codes[boundary(ranked)]).tolist()
    return codes


def chain(row: Row, length: int, privacy: Privacy) -> tuple[list[Row], Fraction]:
    """Return T^0, T^1, … of a row, along its ranking, and how far an entry may be from the exact one.

    Parameters
    ----------
    row : Row
        Along the ranking, best first; kept exactly.
    length : int
        How many rows are wanted, at least 1. Fewer come back where the last one serves all deeper nodes.
    privacy : Privacy

    Returns
    -------
    rows, within
        Exact while numerators and denominators have at most 100 digits. Longer ones are rounded to 128 significant
        bits, from ratios and δ smaller by 2^-80, which compensates for the rounding. An exact check confirms that
        consecutive rows are close.
    """
    exact = _exact_chain(row, length, privacy, short=True)
    if exact is not None:
        return exact, Fraction(0)
    rows, within = _rounded_chain(row, length, privacy)
    if all(are_close(one, other, privacy) for one, other in pairwise(rows)):
        return rows, within
    long = _exact_chain(row, length, privacy, short=False)
    assert long is not None
    return long, Fraction(0)


def balanced_row(answers: int, privacy: Privacy) -> Row:
    """Return the symmetric row, valid for all rankings of the answers at once: `balanced_truth`, the others equal.

    References
    ----------
    docs/theory.md#colourings; proofs/randomized-response.md.
    """
    truth = balanced_truth(answers, privacy)
    if answers == 1:
        return (Fraction(1),)
    row = (truth, *((1 - truth) / (answers - 1) for _ in range(answers - 1)))
    if is_short((row,)):
        return row
    truth = dyadic_below(truth, _BITS)  # less truth is more private
    return (truth, *((1 - truth) / (answers - 1) for _ in range(answers - 1)))


def _exact_chain(row: Row, length: int, privacy: Privacy, *, short: bool) -> list[Row] | None:
    rows, sums = [row], list(accumulate(row))[:-1]
    while len(rows) < length:
        further = [step(s, privacy) for s in sums]
        if further == sums:
            break
        sums = further
        rows.append(_differences(sums))
        if short and not is_short((rows[-1],)):
            return None
    return rows


def _rounded_chain(row: Row, length: int, privacy: Privacy) -> tuple[list[Row], Fraction]:
    less = tightened(privacy, _MARGIN)
    numbers = (number for pair in privacy.pairs for number in (pair.delta, pair.ratio - 1))
    smallest = min(p for p in (*row, *numbers) if p > 0)
    bits = 4 * _BITS + 2 * max(0, _magnitude(smallest))
    lowered = GridSteps(less, bits)
    low, high = GridSteps(privacy, bits), GridSteps(privacy, bits, up=True)
    start = list(accumulate(row))[:-1]
    sums, lows, highs = ([steps.label(s) for s in start] for steps in (lowered, low, high))
    rows, within, certain = [row], Fraction(0), 1 << bits - _CERTAIN
    while len(rows) < length:
        sums = [lowered.step(s) for s in sums]
        lows, highs = [low.step(s) for s in lows], [high.step(s) for s in highs]
        rows.append(_rounded(_differences([lowered.value(s) for s in sums])))
        errors = [
            max(high.value(above) - s, s - low.value(below))
            for s, above, below in zip(accumulate(rows[-1]), highs, lows, strict=False)
        ]
        within = max(within, *(one + other for one, other in pairwise((Fraction(0), *errors, Fraction(0)))))
        if sums[0] + certain >= lowered.one:
            # Deeper nodes miss at most as much as this row still does.
            return rows, within + 1 - rows[-1][0]
    return rows, within


def _differences(sums: Sequence[Fraction]) -> Row:
    return tuple(after - before for before, after in pairwise((Fraction(0), *sums, Fraction(1))))


def _rounded(row: Row) -> Row:
    """Round every entry down to its significant bits and give the rest to the largest."""
    entries = [dyadic_below(p, _BITS) if p else p for p in row]
    entries[max(range(len(row)), key=entries.__getitem__)] += 1 - sum(entries)
    return tuple(entries)


def _magnitude(value: Fraction) -> int:
    """Return about −log2 of a positive rational."""
    return value.denominator.bit_length() - value.numerator.bit_length()
