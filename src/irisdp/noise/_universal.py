"""Noise for a shape of privacy: geometric, bounded, and universal for any pairs."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key, lru_cache, partial
from itertools import count, pairwise
from typing import Any, Literal

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, checked, integer
from .._sampling import (
    LAST_WORD,
    BitSource,
    Digit,
    ThresholdTable,
    add_drawn,
    bracket_enclosed,
    draw_digits,
    geometric_digits,
    open_cell,
)
from ..errors import BadInput
from ..graphs import Path
from ..mechanisms import Mechanism
from ..privacy import Privacy, Shape, enclose_steps
from ._distribution import DEFAULT_WIDTH, Loss, Simulated, check_atom, check_distance, check_length, check_width

# Cut universal noise into cells that lose nothing: the orbits of the kinks of u.
#
# The noise has a cumulative distribution F that climbs by u: F(−½) = θ with u(θ) = 1 − θ, and F(x + 1) = u(F(x)). Cut
# points are the places where F meets a kink of u, or the kink moved by u or its inverse; between them F is free. In one
# unit [−½, ½) they are q_1 = θ < q_2 < … < q_m, one for each orbit of a kink. Each is kept as a kink and a number of
# steps, so that every cumulative probability is u applied so often to a short number (proofs/shape-noise.md).

_MOST_STEPS = 1 << 13
"""Counts on each side to which noise with an end may reach."""
_NEAR = Fraction(1, 1 << 200)
"""How narrowly places are enclosed; those that are not told apart so are compared as fractions."""


@dataclass(frozen=True, slots=True)
class NoiseIntervals:
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
        """Return None: this law stands alone (`irisdp._sampling.geometric_noise.IntegerLaw`)."""
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
        walk = _RationalOperator(self.privacy.shape)
        return walk.far(kink, steps) if steps >= 0 else 1 - walk.far(1 - kink, -steps)

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around F · 2^bits at the cut point where a cell begins."""
        return bracket_enclosed(partial(self.cumulative, outcome), bits)


@lru_cache(maxsize=64)
def cells_of(privacy: Privacy) -> NoiseIntervals:
    """Return the cells for a guarantee: one orbit for each kink of u, none twice.

    Raises
    ------
    BadInput
        If nothing may be revealed (ε = 0 and δ = 0), or a kink lies more than 8,192 counts away from the middle.
    """
    shape, walk = privacy.shape, _RationalOperator(privacy.shape)
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
    intervals = sorted((_moved(kink, middle, privacy, walk) for kink in kinks), key=cmp_to_key(_in_order))
    phases: list[tuple[Fraction, int]] = []
    places: dict[Fraction, tuple[int, int]] = {}
    before: _Moved | None = None
    for interval in intervals:
        if before is None or before.compared(interval):
            phases.append((interval.kink, interval.steps))
        before = interval
        places[interval.kink] = (-interval.steps, len(phases) - 1)
    first = last = None
    if ended:
        (low, start), (high, end) = places[shape.starts[0]], places[shape.starts[-1]]
        first, last = low * len(phases) + start, (high + 1) * len(phases) + end - 1
    lowest = min(unit * len(phases) + phase for unit, phase in places.values())
    return NoiseIntervals(privacy, tuple(phases), first, last, lowest)


def _check_reach(kink: Fraction, middle: Fraction, privacy: Privacy) -> None:
    """Refuse a kink that is too far out, before exact numbers grow long."""
    if kink < middle and enclose_steps(kink, _MOST_STEPS, privacy, width=middle / 4).lower < middle:
        rule = f"has a kink more than {_MOST_STEPS:,} counts from the middle of its noise"
        raise BadInput("privacy", rule, "choose a larger epsilon or delta, or delta 0")


class _RationalOperator:
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
    walk: _RationalOperator

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


def _moved(kink: Fraction, middle: Fraction, privacy: Privacy, walk: _RationalOperator) -> _Moved:
    """Move a kink into [θ, 1 − θ); enclosures decide, and exact numbers where they cannot."""
    mirrored = kink >= 1 - middle
    start = 1 - kink if mirrored else kink

    def arrived(count: int) -> bool:
        enclosure = enclose_steps(start, count, privacy, width=_NEAR)
        if enclosure.lower > middle or enclosure.upper < middle:
            return enclosure.lower > middle
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


# The table that draws cells: two tracks of integers, one rounded down and one up, stepped outward from the middle.
#
# Right of θ no line of u is steeper than 1. So a step adds at most one unit of rounding to the distance of the tracks.
# Left of θ the same holds for 1 − F.

_TABLE_BITS = 256
_DOWN = _TABLE_BITS - 64
_ONE = 1 << _TABLE_BITS

_MOST_CELLS = 1 << 18
"""Cells of one table, on a side."""


@lru_cache(maxsize=16)
def digits_of_cells(cells: NoiseIntervals) -> tuple[Digit, ...]:
    """Return what draws the cells: geometric noise digit by digit, any other from one table; public, so it is kept."""
    if cells.privacy.single and cells.privacy.delta == 0:
        return geometric_digits(cells.privacy, signed=True)
    middle, step = (
        [cells.cumulative(index, width=Fraction(1, _ONE)) for index in range(len(cells.phases))],
        _Step(cells),
    )
    right = _outward([(_floor(q.lower), _ceiling(q.upper)) for q in middle], step)[1:]
    # Going left from cut point 0, which stands alone in its unit, come −1 … −m, one step of u further.
    mirrored = [(_floor(1 - q.upper), _ceiling(1 - q.lower)) for q in (middle[0], *reversed(middle[1:]))]
    one_further = [mirrored[0], *(step.both(track) for track in mirrored[1:])]
    left = [(LAST_WORD - last, LAST_WORD - first) for first, last in reversed(_outward(one_further, step))]
    table = np.array([left + right], dtype=np.uint64)
    return (Digit(cells, ThresholdTable.from_cells(table), -len(left)),)


class _Step:
    """u for integers in units of 2^-256."""

    __slots__ = ("pieces", "starts")

    def __init__(self, cells: NoiseIntervals) -> None:
        shape: Shape = cells.privacy.shape
        self.starts = [_ceiling(start) for start in shape.starts]
        self.pieces = []
        for line in shape.lines:
            (a, b), (c, d) = line.slope.as_integer_ratio(), line.constant.as_integer_ratio()
            self.pieces.append((a * d, c * b << _TABLE_BITS, b * d))

    def both(self, track: tuple[int, int]) -> tuple[int, int]:
        """Move a number known from below and from above one step, and round outward."""
        low, high = track
        factor, constant, divisor = self.pieces[bisect_right(self.starts, low) - 1]
        lower = (factor * low + constant) // divisor
        factor, constant, divisor = self.pieces[bisect_right(self.starts, high) - 1]
        return lower, min(_ONE, -(-(factor * high + constant) // divisor))


def _outward(tracks: list[tuple[int, int]], step: _Step) -> list[tuple[int, int]]:
    """Return open cells unit after unit, up to the first that is nothing but the last word."""
    result: list[tuple[int, int]] = []
    while len(result) <= _MOST_CELLS:
        for low, high in tracks:
            result.append(open_cell(low >> _DOWN, -(-high >> _DOWN)))
            if result[-1] == (LAST_WORD, LAST_WORD):
                return result
        tracks = [step.both(track) for track in tracks]
    raise BadInput("privacy", f"needs more than {_MOST_CELLS:,} cells on a side", "choose a larger epsilon")


def _floor(value: Fraction) -> int:
    return (value.numerator << _TABLE_BITS) // value.denominator


def _ceiling(value: Fraction) -> int:
    return -((-value.numerator << _TABLE_BITS) // value.denominator)


_LARGEST_COUNT = 10_000
_MOST_ENTRIES = 1_000_000

_SHAPE_BITS = 512
"""Bits beyond which a cumulative probability is rounded, down and up, in the sum of a mean loss."""


@dataclass(frozen=True, slots=True, repr=False)
class UniversalDistribution(Simulated):
    """Noise whose cumulative distribution climbs by u from one count to the next, represented in cells of a unit.

    Atom k is cell k: the noise lies between cut points k and k + 1, and cell 0 begins at −½. A value that grows by 1
    moves the law by `atoms_per_unit` cells. With one atom per unit atoms are whole numbers.

    Attributes
    ----------
    kind : str
        "geometric", "bounded" or "universal".
    privacy : Privacy
        The guarantee of a value that one record changes by at most `sensitivity`: every pair of it, exactly.
    sensitivity : int
        More than 1 for geometric noise only.
    cells : Cells
        For a change by 1.

    References
    ----------
    proofs/shape-noise.md.
    """

    kind: Literal["geometric", "bounded", "universal"]
    privacy: Privacy
    sensitivity: int
    cells: NoiseIntervals

    @property
    def atoms_per_unit(self) -> int:
        """How many cells a unit has, m."""
        return len(self.cells.phases)

    @property
    def support(self) -> tuple[int, int] | None:
        """The first and the last cell with mass; None where there is no end."""
        if self.cells.first is None or self.cells.last is None:
            return None
        return self.cells.first, self.cells.last

    @checked
    def probability(self, z: int) -> Fraction:
        """Return the probability of cell z, exactly; far out, where that is too long, use `enclose`."""
        place = check_atom(z)
        if self._outside(place):
            return Fraction(0)
        mass = self.cells.exactly(place + 1) - self.cells.exactly(place)
        return Fraction(int(mass.p), int(mass.q))

    @checked
    def enclose(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability of cell z, to a width."""
        place, most = check_atom(z), check_width(width)
        if self._outside(place):
            return Enclosure.exactly(Fraction(0))
        low = self.cells.cumulative(place, width=most / 2)
        high = self.cells.cumulative(place + 1, width=most / 2)
        return Enclosure(high.lower - low.upper, high.upper - low.lower).clamp(Fraction(0), Fraction(1))

    @checked
    def below(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability of all cells below z, to a width."""
        return self.cells.cumulative(check_atom(z), width=check_width(width))

    @checked
    def below_exactly(self, z: int) -> Fraction:
        """Return the probability of all cells below z, exactly; far out, where that is too long, use `below`."""
        place = check_atom(z)
        if self.support is not None and not self.support[0] < place <= self.support[1]:
            return Fraction(place > self.support[1])
        below = self.cells.exactly(place)
        return Fraction(int(below.p), int(below.q))

    @checked
    def within(self, distance: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability that the noise in whole numbers, ⌊cell / m⌋, is at most so far from 0.

        The law is its own mirror image, so that twice what lies below is what lies outside.
        """
        reach, most = check_distance(distance, self.atoms_per_unit), check_width(width)
        if self.support is not None and -reach <= self.support[0]:
            return Enclosure.exactly(Fraction(1))
        below = self.cells.cumulative(-reach, width=most / 2)
        return Enclosure(1 - 2 * below.upper, 1 - 2 * below.lower).clamp(Fraction(0), Fraction(1))

    @checked
    def expected(self, loss: Loss = "absolute") -> Enclosure:
        """Enclose the mean loss of the noise in whole numbers, ⌊cell / m⌋; exact where the numbers are short.

        If the sensitivity is 1, no noise that is added to every whole number alike, with whole numbers as outcomes,
        does better under this guarantee, for either loss. This was compared with programs in
        `tests/oracles/test_noise.py`; it is not proved here. Readers who weigh what they know do better: see
        `interpret`.
        """
        return mean_loss(self.cells.privacy.shape, loss)

    @checked
    def whole(self, cells: Any) -> NDArray[np.int64]:
        """Return the whole number in which cells lie: ⌊cell / m⌋, which is the noisy count, rounded."""
        drawn: NDArray[np.int64] = np.floor_divide(np.asarray(cells, dtype=np.int64), self.atoms_per_unit)
        return drawn

    @checked
    def draw(self, values: Any, source: BitSource | None = None) -> NDArray[np.int64]:
        """Add noise to integers: m · value + cell, exactly, each draw by itself.

        Parameters
        ----------
        values : array of int
            Any shape, magnitudes up to 2^62/m.
        source : BitSource, optional
            Source of random bits. [default: the operating system]

        Returns
        -------
        array of int64, the shape of `values`
            Where one record changes one value by at most the sensitivity and no other, it keeps `privacy`. Sums beyond
            64 bits saturate, which is post-processing.
        """
        digits = digits_of_cells(self.cells)
        return add_drawn(
            values, lambda number, bits: draw_digits(number, digits, bits), factor=self.atoms_per_unit, source=source
        )

    @checked
    def mechanism(self, n: int) -> Mechanism:
        """Return the noisy count as a mechanism on 0..n, for checks and for `consumers.optimal_reading`.

        Parameters
        ----------
        n : int
            The largest count that is possible.

        Returns
        -------
        Mechanism
            A row for each count and a column for each cell that one of them reaches. If noise is unbounded, cells
            beyond all kinks represent all further ones. There the counts' likelihoods keep their ratios, and no reader
            learns more from a cell that lies further out.
        """
        largest, size = integer(n, "n", at_least=0, at_most=_LARGEST_COUNT), self.atoms_per_unit
        low, high = self.cells.telling(largest)
        if self.support is not None:
            low, high = self.support[0], self.support[1] + largest * size
        if (high - low) * (largest + 1) > _MOST_ENTRIES:
            rule = f"makes more than {_MOST_ENTRIES:,} entries with this noise"
            raise BadInput("n", rule, "give a smaller n, or a larger epsilon")
        outputs = range(low, high + 1)
        below = {z: self.below_exactly(z) for z in range(low - largest * size, outputs[-1] + 2)}
        rows = []
        for value in range(largest + 1):
            cuts = [Fraction(0), *(below[z - value * size] for z in outputs[1:]), Fraction(1)]
            rows.append([after - before for before, after in pairwise(cuts)])
        return Mechanism.from_matrix(rows, privacy=self.privacy, graph=Path(largest + 1), outputs=outputs)

    def __repr__(self) -> str:
        """Say in one line what noise it is."""
        unit = "" if self.atoms_per_unit == 1 else f", {self.atoms_per_unit} atoms per unit"
        return f"ShapeLaw({self.kind}, {self.privacy}, sensitivity {self.sensitivity}{unit})"

    def _outside(self, place: int) -> bool:
        return self.support is not None and not self.support[0] <= place <= self.support[1]


def mean_loss(shape: Shape, loss: Loss) -> Enclosure:
    """Enclose Σ_z F-mass(z)·|z| (or z²) of the noise that climbs by u.

    With p_j = P(Z ≥ j) = 1 − u^j(θ) it is 2Σ p_j (or 2Σ (2j − 1)p_j), j from 1 up. Right of θ u draws together, so
    that what rounding takes does not grow; at the last, p shrinks by one factor for good.
    """
    middle = shape.starts[len(shape.starts) // 2]
    ends = []
    for up in (False, True):
        s, total = shape.step(middle), Fraction(0)
        for place in count(1):
            line, tail = shape.lines[shape.place(s)], 1 - s
            weight, growth = (2 * place - 1, 2) if loss == "squared" else (1, 0)
            if line.at(Fraction(1)) == 1:
                shrink = line.slope
                total += tail * (weight / (1 - shrink) + growth * shrink / (1 - shrink) ** 2)
                break
            total += weight * tail
            s = _short(line.at(s), up=not up)
        ends.append(2 * total)
    return Enclosure(ends[0], ends[1])


def _short(s: Fraction, *, up: bool) -> Fraction:
    if s.denominator.bit_length() <= _SHAPE_BITS:
        return s
    scaled = s.numerator << _SHAPE_BITS
    return Fraction(-(-scaled // s.denominator) if up else scaled // s.denominator, 1 << _SHAPE_BITS)
