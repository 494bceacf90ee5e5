"""Short rows: probabilities as whole multiples of 2^-128, made exactly private by the smallest step inward.

Rounding breaks tight constraints by a hair. So every component of the graph is contracted towards one safe row, the
same for all its inputs: x → (1 − w) x + w s. The weight w is the smallest that allows for rounding. A constant row
keeps every ratio at 1, so each constraint gains what the weight is worth, and w is of the order of the rounding itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ...exact import dyadic_above
from ...exact.grid import ONE, GridRow, completed
from ...privacy import Pair, Privacy

__all__ = ["contract", "is_private"]

Direction = tuple[int, int]

_WEIGHT_BITS = 20


def is_private(rows: Sequence[GridRow], edges: Iterable[Direction], privacy: Privacy) -> bool:
    """Tell whether rows on the grid keep every ratio and δ in every direction listed, exactly."""
    edges = list(edges)
    return all(_keeps(rows, edges, pair) for pair in privacy.pairs)


def _keeps(rows: Sequence[GridRow], edges: Iterable[Direction], pair: Pair) -> bool:
    a, b = pair.ratio.numerator, pair.ratio.denominator
    allowed = pair.delta * b * ONE
    return all(sum(max(0, b * x - a * y) for x, y in zip(rows[i], rows[j], strict=True)) <= allowed for i, j in edges)


def contract(rows: Sequence[GridRow], edges: Sequence[Direction], privacy: Privacy) -> list[GridRow]:
    """Contract the rows of one component until they are private.

    Parameters
    ----------
    rows : sequence of grid rows
    edges : sequence of pairs
        Every edge among them in both directions.
    privacy : Privacy

    Returns
    -------
    list of grid rows
        Private on `edges`. Towards the mean row or towards the uniform row on the answers in use, whichever moves the
        rows less. The weight is 1 if no smaller one allows for rounding: r = 1 and δ = 0 needs constant rows.
    """
    mean = completed([-(-sum(column) // len(rows)) for column in zip(*rows, strict=True)])
    used = sum(x > 0 for x in mean)
    uniform = completed([ONE // used if x > 0 else 0 for x in mean])
    choices = []
    for safe, otherwise in ((mean, Fraction(1)), (uniform, None)):
        # What is enough for each pair is enough for all: more of the safe row never hurts.
        needed = [_least_weight(rows, safe, edges, pair) for pair in privacy.pairs]
        weight = otherwise if None in needed else max(w for w in needed if w is not None)
        if weight is not None:
            farthest = max(sum(abs(x - s) for x, s in zip(row, safe, strict=True)) for row in rows)
            choices.append((weight * farthest, weight, safe))
    _, weight, safe = min(choices)
    weight = min(Fraction(1), dyadic_above(weight, _WEIGHT_BITS))
    p, q = weight.numerator, weight.denominator
    return [completed([((q - p) * x + p * s) // q for x, s in zip(row, safe, strict=True)]) for row in rows]


def _least_weight(rows: Sequence[GridRow], safe: GridRow, edges: Sequence[Direction], pair: Pair) -> Fraction | None:
    """Return the smallest weight of the safe row that makes all constraints hold after rounding, or None.

    Rounding down and completing the largest entry changes b·x_i − a·x_j, where r = a/b, by at most a + b·q.
    """
    a, b = pair.ratio.numerator, pair.ratio.denominator
    answers = len(safe)
    allowed = (pair.delta.numerator * b * ONE) // pair.delta.denominator - answers * (a + b)
    gains = [(a - b) * s for s in safe]
    weight = Fraction(0)
    if allowed >= 0:
        for i, j in edges:
            excesses = [b * x - a * y for x, y in zip(rows[i], rows[j], strict=True)]
            weight = max(weight, _root(excesses, gains, allowed, weight))
        return weight
    margin = a + b * answers
    if any(gain < margin for gain, s in zip(gains, safe, strict=True) if s > 0):
        return None
    # (1 − w)·excess − w·gain + margin ≤ 0 for every answer; one that is never given stays at exactly 0.
    over, under = 0, 1
    for i, j in edges:
        for x, y, gain, s in zip(rows[i], rows[j], gains, safe, strict=True):
            needed = b * x - a * y + margin
            if s > 0 and needed * under > over * (needed - margin + gain):
                over, under = needed, needed - margin + gain
    return Fraction(over, under)


def _root(excesses: list[int], gains: list[int], allowed: int, weight: Fraction) -> Fraction:
    """Return the smallest w ≥ weight with Σ max(0, (1 − w)·excess − w·gain) ≤ allowed, by Newton steps from the left.

    The sum is convex, piecewise linear and falling in w: no step goes too far, and finitely many arrive.
    """
    while True:
        active = [
            (excess, excess + gain)
            for excess, gain in zip(excesses, gains, strict=True)
            if excess > weight * (excess + gain)
        ]
        total, slope = sum(x for x, _ in active), sum(s for _, s in active)
        if total - weight * slope <= allowed:
            return weight
        weight = (total - allowed) / Fraction(slope)
