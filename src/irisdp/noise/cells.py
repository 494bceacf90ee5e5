"""Where noise for a shape of privacy may be cut into cells that lose nothing: the orbits of the kinks of u.

The noise has a cumulative distribution F that climbs by u: F(−½) = θ with u(θ) = 1 − θ, and F(x + 1) = u(F(x)). Cut
points are the places where F meets a kink of u, or the kink moved by u or its inverse; between them F is free. In one
unit [−½, ½) they are q_1 = θ < q_2 < … < q_m, one for each orbit of a kink. Each is kept as a kink and a number of
steps, so that every cumulative probability is u applied so often to a short number (proofs/shape-noise.md).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key, lru_cache, partial

import flint

from ..errors import BadInput
from ..exact import Enclosure
from ..privacy import Privacy, Shape, enclose_steps
from ..sampling.ties import bracket_enclosed
from .protocol import check_length

__all__ = ["Cells", "cells_of"]

_MOST_STEPS = 1 << 13
"""Counts on each side to which noise with an end may reach."""
_NEAR = Fraction(1, 1 << 200)
"""How narrowly places are enclosed; those that are not told apart so are compared as fractions."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cut noise: cell k lies between cut points k and k + 1, and cut point 0 stands at −½.

    Attributes
    ----------
    privacy : Privacy
    phases : tuple of (Fraction, int)
        For each q in [θ, 1 − θ), ascending: a kink of u, and how many steps of u (below 0: of its inverse) lead to q.
    first, last : int or None
        The first and the last cell that have mass; None where there is no end.
    lowest : int
        The cut point of the lowest kink; that of the highest is its mirror image. Below, all of u is one line through
        0, so that a count moves all masses by one factor, and cells need not be distinguished.
    """

    privacy: Privacy
    phases: tuple[tuple[Fraction, int], ...]
    first: int | None
    last: int | None
    lowest: int

    def telling(self, largest: int) -> tuple[int, int]:
        """Return the first and the last cell that tell the counts 0 to `largest` apart; those beyond say no more."""
        size = len(self.phases)
        return self.lowest - 1, (largest + 1) * size - self.lowest

    @property
    def reach(self) -> int:
        """How many units from the middle, on either side, whole numbers tell neighbouring counts apart."""
        return 1 - self.lowest // len(self.phases)

    @property
    def base(self) -> None:
        """Return None: this law stands alone (`sampling.integer_law.IntegerLaw`)."""
        return

    def origin(self, place: int) -> tuple[Fraction, int]:
        """Return a kink and a number of steps for a cut point; below 0 the steps go down."""
        unit, phase = divmod(place, len(self.phases))
        kink, steps = self.phases[phase]
        return kink, steps + unit

    def cumulative(self, place: int, *, width: Fraction) -> Enclosure:
        """Enclose F at a cut point."""
        kink, steps = self.origin(place)
        if steps >= 0:
            return enclose_steps(kink, steps, self.privacy, width=width)
        mirrored = enclose_steps(1 - kink, -steps, self.privacy, width=width)
        return Enclosure(1 - mirrored.upper, 1 - mirrored.lower)

    def exactly(self, place: int) -> flint.fmpq:
        """Return F at a cut point."""
        kink, steps = self.origin(place)
        check_length(abs(steps) * max(line.slope.numerator.bit_length() for line in self.privacy.shape.lines))
        walk = _Walk(self.privacy.shape)
        return walk.far(kink, steps) if steps >= 0 else 1 - walk.far(1 - kink, -steps)

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around F · 2^bits at the cut point where a cell begins."""
        return bracket_enclosed(partial(self.cumulative, outcome), bits)


@lru_cache(maxsize=64)
def cells_of(privacy: Privacy) -> Cells:
    """Return the cells for a guarantee: one orbit for each kink of u, none twice.

    Raises
    ------
    BadInput
        If nothing may be revealed (ε = 0 and δ = 0), or a kink lies more than 8,192 counts away from the middle.
    """
    shape, walk = privacy.shape, _Walk(privacy.shape)
    middle = shape.starts[len(privacy.pairs)]
    if shape.step(middle) == middle:
        raise BadInput(
            "privacy", "with epsilon 0 and delta 0 allows no information at all", "choose a larger epsilon or delta"
        )
    # F never gets to a fixed point, 0 and 1 where δ = 0.
    kinks = [kink for kink in shape.starts if shape.step(kink) != kink]
    ended = len(kinks) == len(shape.starts)
    if ended:
        kinks.insert(0, shape.starts[-1])  # 1 − δ, which u takes to 1
    for kink in kinks:
        _check_reach(min(kink, 1 - kink), middle, privacy)
    found = sorted((_moved(kink, middle, privacy, walk) for kink in kinks), key=cmp_to_key(_in_order))
    phases: list[tuple[Fraction, int]] = []
    places: dict[Fraction, tuple[int, int]] = {}
    before: _Moved | None = None
    for one in found:
        if before is None or before.compared(one):
            phases.append((one.kink, one.steps))
        before = one
        places[one.kink] = (-one.steps, len(phases) - 1)
    first = last = None
    if ended:
        (low, start), (high, end) = places[shape.starts[0]], places[shape.starts[-1]]
        first, last = low * len(phases) + start, (high + 1) * len(phases) + end - 1
    lowest = min(unit * len(phases) + phase for unit, phase in places.values())
    return Cells(privacy, tuple(phases), first, last, lowest)


def _check_reach(kink: Fraction, middle: Fraction, privacy: Privacy) -> None:
    """Refuse a kink that is too far out, before exact numbers grow long."""
    if kink < middle and enclose_steps(kink, _MOST_STEPS, privacy, width=middle / 4).lower < middle:
        rule = f"has a kink more than {_MOST_STEPS:,} counts from the middle of its noise"
        raise BadInput("privacy", rule, "choose a larger epsilon or delta, or delta 0")


class _Walk:
    """u in FLINT's rationals: exact steps from numbers that grow long."""

    __slots__ = ("lines", "starts")

    def __init__(self, shape: Shape) -> None:
        self.starts = [_fmpq(start) for start in shape.starts]
        self.lines = [(_fmpq(line.slope), _fmpq(line.constant)) for line in shape.lines]

    def step(self, s: flint.fmpq) -> flint.fmpq:
        """Return u(s)."""
        slope, constant = self.lines[bisect_right(self.starts, s) - 1]
        return slope * s + constant

    def far(self, start: Fraction, count: int) -> flint.fmpq:
        """Return u^count(s)."""
        s = _fmpq(start)
        for _ in range(count):
            further = self.step(s)
            if further == s:
                break
            s = further
        return s


@dataclass(frozen=True, slots=True)
class _Moved:
    """A kink that steps of u, or of its inverse (counted below 0), move into [θ, 1 − θ): where to, enclosed."""

    kink: Fraction
    steps: int
    place: Enclosure
    walk: _Walk

    def exactly(self) -> flint.fmpq:
        """Return where to; slow, if many steps lead there."""
        if self.steps >= 0:
            return self.walk.far(self.kink, self.steps)
        return 1 - self.walk.far(1 - self.kink, -self.steps)

    def compared(self, other: _Moved) -> int:
        """Return 0 if the other comes to the same place, else which is further left: below 0 if this is."""
        if (self.kink, self.steps) == (other.kink, other.steps):
            return 0
        if self.place.upper < other.place.lower:
            return -1
        if other.place.upper < self.place.lower:
            return 1
        here, there = self.exactly(), other.exactly()
        return int(here > there) - int(here < there)


def _in_order(one: _Moved, other: _Moved) -> int:
    return one.compared(other) or abs(one.steps) - abs(other.steps)


def _moved(kink: Fraction, middle: Fraction, privacy: Privacy, walk: _Walk) -> _Moved:
    """Move a kink into [θ, 1 − θ); enclosures decide, and exact numbers where they cannot."""
    mirrored = kink >= 1 - middle
    start = 1 - kink if mirrored else kink

    def arrived(count: int) -> bool:
        found = enclose_steps(start, count, privacy, width=_NEAR)
        if found.lower > middle or found.upper < middle:
            return found.lower > middle
        there = _fmpq(start) if count == 0 else walk.far(start, count)
        return bool(there > _fmpq(middle)) or (there == _fmpq(middle) and not mirrored)

    low, high = -1, 0  # not arrived, arrived
    while not arrived(high):
        low, high = high, 2 * high + 1
    while high - low > 1:
        between = (low + high) // 2
        low, high = (low, between) if arrived(between) else (between, high)
    place = enclose_steps(start, high, privacy, width=_NEAR)
    if mirrored:
        return _Moved(kink, -high, Enclosure(1 - place.upper, 1 - place.lower), walk)
    return _Moved(kink, high, place, walk)


def _fmpq(value: Fraction) -> flint.fmpq:
    return flint.fmpq(value.numerator, value.denominator)
