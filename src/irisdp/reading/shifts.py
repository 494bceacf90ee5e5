"""The best reading of a noisy count that may be anything, where the noise is that of a shape of privacy.

Far from the least count all places look alike. The optimal post-processing moves the unit's whole number by one and the
same s_k for all cells of the k-th kind in their unit, each kind by itself. What all shifts cost is one product of
polynomials in whole numbers, rounded down and up (proofs/unbounded-counts.md, "Cells").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import flint

from ..consumers.losses import Loss, Tail
from ..errors import BadInput
from ..exact import dyadic_above, dyadic_below, log_near
from ..noise import ShapeLaw

__all__ = ["Shifts", "best_shifts"]

_BITS = 160
_ONE = 1 << _BITS
_SPARE = Fraction(1, _ONE << 16)
_LEFT_OUT = 130
"""Bits below which the mass beyond is summed as a series."""
_SHORT = 128
_FARTHEST = 1 << 15
"""Units on each side beyond which no shift is looked for."""


@dataclass(frozen=True, slots=True)
class Shifts:
    """By how much each kind of cell is best moved, and bounds on what that costs a reader of a count without a largest.

    Attributes
    ----------
    shifts : tuple of int
        One for each cell of a unit, or a single one for whole numbers.
    value, lower_bound : Fraction
        What it costs at most, and what no reading costs less than.
    face_value : Fraction
        Largest expected loss if the whole number is used unchanged.
    span : int
        How many units the noise reaches over.
    """

    shifts: tuple[int, ...]
    value: Fraction
    lower_bound: Fraction
    face_value: Fraction
    span: int


def best_shifts(noise: ShapeLaw, loss: Loss, *, in_cells: bool) -> Shifts:
    """Return how a minimax reader of a count without a largest reads its cell, or the whole number that it is in.

    Raises
    ------
    BadInput
        For a table of losses, and where noise reaches so far that shifts cannot be compared.
    """
    if loss.low is None or loss.high is None:
        raise BadInput("loss", "is a table, which needs a largest count", "give at_most")
    first, last, low, high = _masses(noise)
    if not in_cells:
        low, high = ([[sum(line) for line in zip(*kind, strict=True)]] for kind in (low, high))
    reach = last - first
    unit = math.lcm(*(part.denominator for tail in (loss.low, loss.high) for part in _parts(tail)))
    costs = flint.fmpz_poly([int(_loss(loss, error) * unit) for error in range(-reach, reach + 1)])
    shifts, value, bound, face = [], Fraction(0), Fraction(0), Fraction(0)
    for least, most in zip(low, high, strict=True):
        # Coefficient last + reach + s of the product is Σ_q mass(q)·loss(q + s).
        at_least, at_most = (flint.fmpz_poly(part[::-1]) * costs for part in (least, most))
        tried = range(-last, -first + 1)
        best = min(tried, key=lambda s: (at_most[last + reach + s], abs(s)))
        shifts.append(best)
        bound += Fraction(min(int(at_least[last + reach + s]) for s in tried), _ONE * unit)
        value += Fraction(int(at_most[last + reach + best]), _ONE * unit) + _beyond(
            noise, loss, most, first, last, best
        )
        face += Fraction(int(at_most[last + reach]), _ONE * unit) + _beyond(noise, loss, most, first, last, 0)
    return Shifts(tuple(shifts), _short(value, up=True), _short(bound, up=False), _short(face, up=True), reach)


@lru_cache(maxsize=16)
def _masses(noise: ShapeLaw) -> tuple[int, int, list[list[int]], list[list[int]]]:
    """Return the first and the last unit, and for each kind of cell its masses there, rounded down and up."""
    size = noise.atoms_per_unit
    first, last = (place // size for place in noise.support or (-size * _reach(noise), size * _reach(noise)))
    if last - first > 2 * _FARTHEST:
        rule = "is needed: this noise reaches very far"
        raise BadInput("at_most", rule, "give at_most=")
    cuts = [noise.below(place, width=_SPARE) for place in range(first * size, (last + 1) * size + 1)]
    down, up = [math.floor(cut.lower * _ONE) for cut in cuts], [math.ceil(cut.upper * _ONE) for cut in cuts]
    number = range(len(cuts) - 1)
    low = [max(0, down[place + 1] - up[place]) for place in number]
    high = [max(0, up[place + 1] - down[place]) for place in number]
    return first, last, [low[kind::size] for kind in range(size)], [high[kind::size] for kind in range(size)]


def _reach(noise: ShapeLaw) -> int:
    """Return how many units of noise without an end are summed one by one: beyond all kinks and nearly all mass."""
    return noise.cells.reach + math.ceil(_LEFT_OUT * math.log(2) / log_near(noise.privacy.pairs[0].ratio))


def _beyond(noise: ShapeLaw, loss: Loss, masses: Sequence[int], first: int, last: int, shift: int) -> Fraction:
    """Bound what noise without an end costs beyond the units that were summed: masses fall by 1/r from unit to unit."""
    if noise.support is not None:
        return Fraction(0)
    assert loss.low is not None and loss.high is not None
    alpha = 1 / noise.privacy.pairs[0].ratio
    right = masses[-1] * _series(loss.high, last + shift, alpha)
    left = masses[0] * _series(loss.low, -first - shift, alpha)
    return (right + left) / _ONE


def _series(tail: Tail, start: int, alpha: Fraction) -> Fraction:
    """Bound Σ_{k ≥ 1} α^k·tail(start + k) from above by jump + slope·e + curvature·e², for a start ≥ 0."""
    none, one, two = alpha / (1 - alpha), alpha / (1 - alpha) ** 2, alpha * (1 + alpha) / (1 - alpha) ** 3
    return (
        (tail.jump + tail.slope * start + tail.curvature * start**2) * none
        + (tail.slope + 2 * tail.curvature * start) * one
        + tail.curvature * two
    )


def _short(value: Fraction, *, up: bool) -> Fraction:
    return (dyadic_above if up else dyadic_below)(value, _SHORT) if value > 0 else value


def _loss(loss: Loss, error: int) -> Fraction:
    return loss.at(0, error)


def _parts(tail: Tail) -> tuple[Fraction, ...]:
    return tail.jump, tail.slope, tail.curvature
