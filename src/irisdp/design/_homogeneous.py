"""The best mechanism when every ranking has one row on its boundary: T^depth of that row, in short numbers.

T applies u to the prefix sums along the ranking. Only a node's ranking and depth matter, so there are as many rows as
the chains of the boundary graph are long. A graph of any size looks them up ([Gu2024], Theorems 2 and 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, dyadic_below, is_short, numbers
from ..errors import BadInput
from ..graphs import UNREACHABLE, RankedGraph, boundary, depth
from ..mechanisms import Row, balanced_truth
from ..privacy import Privacy, are_close, step, tightened
from ._given_rows import Rows
from ._propagation import GridSteps

# Curves for figures: the homogeneous optimum at any real depth, in floats.
#
# The closed form of docs/theory.md#operator with a real exponent. Between whole depths the curve is a picture, not a
# mechanism.

Floats = NDArray[np.float64]

_SLIP = Fraction(1, 10**6)
"""Rows for a figure may miss 1 by this much."""

_DEEPEST = 10**15

_EXACT, _LATEST = 500, 1_000_000
"""Steps taken exactly, and steps after which a prefix sum counts as never turning."""


@checked
def turning_points(row: Sequence[Any], privacy: Privacy) -> list[int | None]:
    """Return τ for every prefix sum of a row, along its ranking: the first whole depth with u^τ(s) ≥ (1−δ)/(r+1).

    None where a prefix sum stays below for ever (s = 0 with δ = 0), or for more than a million steps.

    Parameters
    ----------
    row : sequence of q numbers
        The boundary row along the ranking, best first.
    privacy : Privacy

    Examples
    --------
    >>> turning_points(["0.0005", "0.0081", "0.1364", "0.2727", "0.5823"], Privacy.from_ratio("1.2"))
    [38, 22, 7, 1, 0]

    References
    ----------
    [Gu2024], §5.3; docs/theory.md#rainbows.
    """
    turn = (1 - privacy.delta) / (privacy.ratio + 1)
    result: list[int | None] = []
    for s in _prefix_sums(row):
        exact, depth = s, 0
        while exact < turn and depth < _EXACT:
            exact, depth = step(exact, privacy), depth + 1
        growing = float(exact)
        while 0 < growing < float(turn) and depth < _LATEST:
            growing, depth = float(privacy.ratio) * growing + float(privacy.delta), depth + 1
        result.append(depth if growing >= float(turn) else None)
    return result


@checked
def curves(row: Sequence[Any], depths: Any, privacy: Privacy) -> Floats:
    """Return the probabilities of the answers at real depths.

    Parameters
    ----------
    row : sequence of q numbers
        The boundary row along the ranking, best first.
    depths : array of m numbers
        From 0 up, whole or not.
    privacy : Privacy

    Returns
    -------
    float array, shape (m, q)
        At whole depths T^depth of the row, to about 1e-12. For figures.

    Raises
    ------
    BadInput
        For depths below 0, and for rows that are no distributions.

    References
    ----------
    [Gu2024], eq. (22) and Figures 3–5, with the corrected operator; docs/theory.md#corrections.
    """
    times = np.array([float(depth) for depth in numbers(depths, "depths")])
    if not ((times >= 0) & (times <= _DEEPEST)).all():
        raise BadInput("depths", "must be numbers from 0 to 1e15", "write for example [0, 1, 2]")
    sums = [
        _curve(s, tau, times, privacy) for s, tau in zip(_prefix_sums(row), turning_points(row, privacy), strict=True)
    ]
    return np.diff(np.stack([np.zeros_like(times), *sums], axis=1), axis=1)


def _curve(start: Fraction, tau: int | None, times: Floats, privacy: Privacy) -> Floats:
    ratio, delta, s = float(privacy.ratio), float(privacy.delta), float(start)
    if ratio == 1:
        return np.minimum(1.0, s + times * delta)
    rho = delta / (ratio - 1)
    if tau is None:
        return np.full_like(times, s)
    growing = ratio ** np.minimum(times, tau) * (s + rho) - rho
    turned = ratio**tau * (s + rho) - rho
    with np.errstate(over="ignore"):  # what is divided by infinity has fallen to 0
        falling = 1 + rho - (1 - turned + rho) / ratio ** np.maximum(times - tau, 0.0)
    result: Floats = np.where(times <= tau, growing, np.minimum(1.0, falling))
    return result


def _prefix_sums(row: Sequence[Any]) -> list[Fraction]:
    sums = list(accumulate(numbers(row, "row")))
    if not sums or min(numbers(row, "row")) < 0 or abs(sums[-1] - 1) > _SLIP:
        raise BadInput("row", "must be probabilities that sum to 1", "give one for every answer, best first")
    return sums


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
