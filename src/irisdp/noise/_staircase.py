"""Staircase noise: the best that can be added to an integer which one person moves by more than 1.

Its mass is level on |z| < ρ, and falls by α = 1/r at the end of every stretch of m beyond. So a shift by at most m
changes no mass by more than a factor r. ρ is the best of 1 … m for the loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, ball, checked, enclosure_of, log_below
from .._sampling import (
    BitSource,
    Digit,
    Drawn,
    add_drawn,
    bracket_enclosed,
    chunks,
    draw,
    draw_digits,
    draw_uniform,
    geometric_digits,
)
from ..errors import BadInput
from ..privacy import Privacy
from ._distribution import DEFAULT_WIDTH, Loss, Simulated, check_atom, check_distance, check_length, check_width

LARGEST_SENSITIVITY = 1 << 30
_SMALLEST_EXCESS = Fraction(1, 10**15)
_MOST_THRESHOLDS = 1 << 11
"""In one table: as many as the tables of geometric noise have."""
_MOST_STEPS = 1 << 17
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, repr=False)
class StaircaseLaw(Simulated):
    """Staircase noise on the integers.

    Attributes
    ----------
    privacy : Privacy
        (ε, 0): the guarantee of an integer that one person changes by at most `sensitivity`.
    sensitivity : int
        m.
    step : int
        ρ, from 1 to m: P(z) is highest on |z| < ρ.

    References
    ----------
    [Geng2016]; docs/theory.md#shapes. With m = 1 it is geometric noise.
    """

    privacy: Privacy
    sensitivity: int
    step: int
    atoms_per_unit: ClassVar[int] = 1

    @checked
    def probability(self, z: int) -> Fraction:
        """Return P(z), exactly; far out, where that is too long, use `enclose`."""
        level = self._level(check_atom(z))
        check_length(level * self.privacy.ratio.numerator.bit_length())
        return self._top() / self.privacy.ratio**level

    @checked
    def enclose(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose P(z), to a width."""
        level, ratio, top = self._level(check_atom(z)), self.privacy.ratio, self._top()
        return enclosure_of(lambda: ball(top) * ball(ratio) ** -level, width=check_width(width))

    @checked
    def below_exactly(self, z: int) -> Fraction:
        """Return P(Z < z), exactly; far out, where that is too long, use `below`."""
        place = check_atom(z)
        if place > 0:
            return 1 - self.below_exactly(1 - place)  # the noise is symmetric
        check_length(self._level(1 - place) * self.privacy.ratio.numerator.bit_length())
        weight, level = self._tail(1 - place)
        return weight / self.privacy.ratio**level

    @checked
    def below(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose P(Z < z), to a width."""
        place, most = check_atom(z), check_width(width)
        weight, level = self._tail(abs(place) + (place <= 0))
        ratio = self.privacy.ratio
        tail = enclosure_of(lambda: ball(weight) * ball(ratio) ** -level, width=most)
        return tail if place <= 0 else Enclosure(1 - tail.upper, 1 - tail.lower)

    @checked
    def within(self, distance: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability that the noise is at most so far from 0: what its two tails leave."""
        far, most = check_distance(distance, 1), check_width(width)
        weight, level = self._tail(far + 1)
        ratio = self.privacy.ratio
        enclosure = enclosure_of(lambda: 1 - 2 * ball(weight) * ball(ratio) ** -level, width=most)
        return enclosure.clamp(Fraction(0), Fraction(1))

    @checked
    def expected(self, loss: Loss = "absolute") -> Enclosure:
        """Return the mean of |z| or z², exactly.

        No noise that is added to every integer alike does better for the loss that ρ was chosen for (compared with
        linear programs in `tests/oracles/test_noise.py`; not proved here). For m > 1 it is not universal: a reading of
        it may lose more than a mechanism made for its reader.
        """
        return Enclosure.exactly(_mean(self.privacy.ratio, self.sensitivity, self.step, loss))

    @checked
    def draw(self, values: Any, source: BitSource | None = None) -> NDArray[np.int64]:
        """Add noise to integers, exactly, each draw by itself.

        Parameters
        ----------
        values : array of int
            Any shape, magnitudes up to 2^62.
        source : BitSource, optional
            Source of random bits. [default: the operating system]

        Returns
        -------
        array of int64, the shape of `values`
            Where one person changes one value by at most `sensitivity` and no other, it is (ε, 0)-differentially
            private. Several values that one person changes need noise for their total: `law("geometric", …)` with
            the total as sensitivity. Sums beyond 64 bits saturate.
        """
        return add_drawn(values, self._noise, source=source)

    def __repr__(self) -> str:
        """Say in one line what noise it is."""
        return f"StaircaseLaw({self.privacy}, sensitivity {self.sensitivity}, step {self.step})"

    def _level(self, z: int) -> int:
        return 0 if abs(z) < self.step else 1 + (abs(z) - self.step) // self.sensitivity

    def _tail(self, k: int) -> tuple[Fraction, int]:
        """Return w and l with P(Z ≥ k) = w/r^l, for k ≥ 1."""
        m, beyond = self.sensitivity, Fraction(self.sensitivity) / (self.privacy.ratio - 1)
        if k < self.step:
            return self._top() * (self.step - k + beyond), 0
        stretch, place = divmod(k - self.step, m)
        return self._top() * (m - place + beyond), stretch + 1

    def _top(self) -> Fraction:
        return 1 / _total(self.privacy.ratio, self.sensitivity, self.step)

    def _noise(self, count: int, source: BitSource) -> Drawn:
        """Draw from one table; or, where it would be long, the stretch to either side of the level, and the place."""
        # A word tells nothing apart that is 64 halvings out, on either side. It only chooses the way.
        told = 2 * 45 / log_below(self.privacy.ratio)
        if told * self.sensitivity <= _MOST_THRESHOLDS:
            yield from draw_digits(count, (_places(self),), source)
            return
        if told > _MOST_THRESHOLDS:
            yield from self._noise_of_many(count, source)
            return
        digit, reach, width = _stretches(self), 2 * self.step - 1, self.sensitivity
        for part in chunks(count):
            size = part.stop - part.start
            stretches, far = digit.draw(size, source)
            sides = np.sign(stretches)
            places = draw_uniform(size, np.where(sides == 0, reach, width), source)
            outside = self.step + (np.abs(stretches) - 1) * width + places
            noise = np.where(sides == 0, places - (self.step - 1), sides * outside)
            yield part, noise, {tie: self._at(stretch, int(places[tie])) for tie, stretch in far.items()}

    def _at(self, stretch: int, place: int) -> int:
        if not stretch:
            return place - (self.step - 1)
        outside = self.step + (abs(stretch) - 1) * self.sensitivity + place
        return outside if stretch > 0 else -outside

    def _noise_of_many(self, count: int, source: BitSource) -> Drawn:
        """Draw level or side, stretch, and the places on the level and in the stretch; all of them, every time."""
        top, reach, width = self._top(), 2 * self.step - 1, self.sensitivity
        side = (1 - reach * top) / 2
        digits = geometric_digits(self.privacy, signed=False)
        for part in chunks(count):
            size = part.stop - part.start
            sides = draw([[side, reach * top, side]], np.zeros(size, dtype=np.int64), source=source) - 1
            level = draw_uniform(size, reach, source) - (self.step - 1)
            place = draw_uniform(size, width, source)
            ((_, stretch, far),) = draw_digits(size, digits, source)
            noise = np.where(sides == 0, level, sides * (self.step + stretch * width + place))
            yield (
                part,
                noise,
                {
                    tie: int(sides[tie]) * (self.step + value * width + int(place[tie]))
                    if sides[tie]
                    else int(level[tie])
                    for tie, value in far.items()
                },
            )


@dataclass(frozen=True, slots=True)
class _Stretches:
    """The law of the stretch that noise falls in: 0 is the level, 1, 2, … those to the right, −1, −2, … to the left.

    Attributes
    ----------
    ratio : Fraction
        r: each stretch is as likely as the one before it, divided by r.
    side : Fraction
        What all stretches to one side have together.
    """

    ratio: Fraction
    side: Fraction
    first: ClassVar[None] = None
    last: ClassVar[None] = None
    base: ClassVar[None] = None

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around P(below the stretch) · 2^bits."""
        return bracket_enclosed(partial(enclosure_of, partial(self._below, outcome)), bits)

    def _below(self, outcome: int) -> Any:
        if outcome <= 0:
            return ball(self.side) * ball(self.ratio) ** outcome
        return 1 - ball(self.side) * ball(self.ratio) ** (1 - outcome)


@dataclass(frozen=True, slots=True)
class _Places:
    """The law of the noise itself, for a table."""

    law: StaircaseLaw
    first: ClassVar[None] = None
    last: ClassVar[None] = None
    base: ClassVar[None] = None

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around P(Z < outcome) · 2^bits."""
        return bracket_enclosed(partial(self.law.below, outcome), bits)


@lru_cache(maxsize=16)
def _places(law: StaircaseLaw) -> Digit:
    """Return the table that draws the noise; public, so it is kept."""
    return Digit.of(_Places(law))


@lru_cache(maxsize=16)
def _stretches(law: StaircaseLaw) -> Digit:
    """Return the table that draws stretches; public, so it is kept."""
    ratio, m = law.privacy.ratio, law.sensitivity
    beyond = m / (ratio - 1)
    return Digit.of(_Stretches(ratio, beyond / (2 * law.step - 1 + 2 * beyond)))


def best_step(privacy: Privacy, sensitivity: int, loss: Loss) -> int:
    """Return the ρ of 1 … m with the smallest mean loss; of two, the smaller.

    The mean is a strictly convex function of ρ over a positive linear one, so that it falls and then rises. With
    M(ρ) = L(ρ)/T(ρ) and T(ρ + 1) = T(ρ) + 2, M(ρ + 1) ≥ M(ρ) says for the absolute loss that m(m − 2ρ) ≤ ρ²(r − 1).
    """
    if privacy.ratio - 1 < _SMALLEST_EXCESS * sensitivity:
        raise BadInput("epsilon", "must be at least 1e-15 per unit of sensitivity for noise", "choose a larger epsilon")
    mean = partial(_mean, privacy.ratio, sensitivity, loss=loss)
    excess = privacy.ratio - 1

    def rises(step: int) -> bool:
        if loss == "absolute":
            return sensitivity * (sensitivity - 2 * step) * excess.denominator <= step**2 * excess.numerator
        return mean(step + 1) >= mean(step)

    low, high = 1, sensitivity
    while low < high:
        middle = (low + high) // 2
        if rises(middle):
            high = middle
        else:
            low = middle + 1
    return low


def stretches_within(sensitivity: int, distance: int, confidence: Fraction) -> list[tuple[float, float]]:
    """Return where a staircase for mean absolute error may stay within a distance often enough, for ever larger steps.

    More ε is not always better for this: the step ρ falls as ε grows, and with every fall noise may stray further. ρ is
    the best for mean absolute error from r = 1 + m(m − 2ρ)/ρ² on (`best_step`), up to the start of ρ − 1; the last
    step, 1, has no upper end. On each of these stretches noise comes nearer with every increase of ε.

    Parameters
    ----------
    sensitivity, distance, confidence
        m, and what P(|Z| ≤ distance) is to be at least.

    Returns
    -------
    list of (float, float)
        Stretches of log r at whose ends it is nearly, or more: ascending, and without the last, which has no end. Of a
        sensitivity beyond 2^18 those of the smaller steps; from one large step to the next hardly anything changes.
    """
    m, top = float(sensitivity), min((sensitivity + 1) // 2, _MOST_STEPS)
    step = np.arange(top, 1, -1, dtype=np.float64)
    excess = m * (m - 2 * (step - 1)) / (step - 1) ** 2  # r − 1 at the end
    first = np.maximum(0.0, m * (m - 2 * step) / step**2)
    ratio, total = 1 + excess, 2 * step - 1 + 2 * m / excess
    stretches, passed = np.divmod(np.maximum(distance + 1 - step, 0), m)
    tail = 2 * ratio ** -(stretches + 1) * (m - passed + m / excess) / total
    chance = np.where(distance < step, (2 * distance + 1) / total, 1 - tail)
    near = chance >= float(confidence) - _ROUNDING
    return list(zip(np.log1p(first[near]).tolist(), np.log1p(excess[near]).tolist(), strict=True))


def _total(ratio: Fraction, sensitivity: int, step: int) -> Fraction:
    return 2 * step - 1 + 2 * sensitivity / (ratio - 1)


def _mean(ratio: Fraction, sensitivity: int, step: int, loss: Loss) -> Fraction:
    """Return the mean loss: level part, and stretches k = 0, 1, … from step + k·m with weight α^(k+1)."""
    alpha, m = 1 / ratio, sensitivity
    none, one, two = (  # Σ k^i·α^(k+1)
        alpha / (1 - alpha),
        alpha**2 / (1 - alpha) ** 2,
        alpha**2 * (1 + alpha) / (1 - alpha) ** 3,
    )
    if loss == "absolute":
        level = Fraction(step * (step - 1))
        stretches = (m * step + Fraction(m * (m - 1), 2)) * none + m * m * one
    else:
        level = Fraction((step - 1) * step * (2 * step - 1), 3)
        inside = m * step**2 + step * m * (m - 1) + Fraction((m - 1) * m * (2 * m - 1), 6)
        stretches = inside * none + (2 * step * m * m + m * m * (m - 1)) * one + m**3 * two
    return (level + 2 * stretches) / _total(ratio, m, step)
