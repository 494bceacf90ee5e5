"""Geometric noise split into independent digits, each drawn from a small table.

With α = 1/r, two-sided geometric noise P(Z = z) = (1−α)/(1+α)·α^|z| is m with weight 1 or −(m+1) with weight α,
where P(m) = (1−α)·α^m. Written to a base K, m = h·K + l, its digits are independent: h is geometric with ratio α^K
and l is geometric with ratio α cut off at K. The sign goes with the high digit: g = h or −(h+1). So one table draws
everything when ε is at least 0.044, and a few small tables do when ε is 1e-9. A digit takes a word of U; in long runs
half a word, and about one in 2^22 of these leaves it open and is read on to a whole one.

Tables end where a 64-bit word cannot tell: what lies beyond is drawn through a tie, exactly and without end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Protocol

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import ball, enclosure_of, integer, log_below
from ..errors import BadInput
from ..privacy import Privacy
from .bits import BitSource, system_bits
from .tables import integers
from .thresholds import LAST_WORD, ThresholdTable, bracket_enclosed, chunks, open_cell, resolve


class IntegerLaw(Protocol):
    """Brackets of its cumulative probabilities, and where it ends."""

    @property
    def first(self) -> int | None:
        """Smallest outcome, None if unbounded."""

    @property
    def last(self) -> int | None:
        """Largest outcome, None if unbounded."""

    @property
    def base(self) -> int | None:
        """How many outcomes a digit has that others stand before; None for the highest digit and for whole laws."""

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around P(below outcome) · 2^bits, at most a few units apart."""


Outcomes = tuple[NDArray[np.int64], dict[int, int]]
"""Draws, and the exact values of those that a tie decided, by position."""

_TABLE_BITS = 11
"""A table has at most about 2^11 thresholds. Its 16 KiB stay in a first-level cache, so that a draw takes as long near
0 as far out; tables of 2^14 save words and show large noise by the clock."""

_HIGHEST_BITS = 7
"""Of several digits the highest has no more where the others have room: their thresholds are nearly even."""

_SHARING = 1 << 14
"""Draws from which on several digits share words: for fewer, bits cost less than telling halves apart."""

_READ_ON = 16
"""How many half words of a digit are read on at least: of 2^15 draws hardly one in a hundred needs any."""


@dataclass(frozen=True, slots=True)
class DigitLaw:
    """The law of one digit.

    Attributes
    ----------
    ratio : Fraction
        r = 1/α > 1.
    span : int
        The product of the lower digits' bases: one unit of this digit multiplies the probability by α^span.
    base : int or None
        Outcomes are 0 … base − 1; None for the highest digit, which has no end.
    signed : bool
        Whether the highest digit carries the sign: outcomes … −2, −1, 0, 1, …
    """

    ratio: Fraction
    span: int
    base: int | None
    signed: bool

    @property
    def first(self) -> int | None:
        """Smallest outcome, None if unbounded."""
        return None if self.signed else 0

    @property
    def last(self) -> int | None:
        """Largest outcome, None if unbounded."""
        return None if self.base is None else self.base - 1

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around P(digit < outcome) · 2^bits, for any outcome between the ends."""
        return bracket_enclosed(partial(enclosure_of, partial(self._cumulative, outcome)), bits)

    def _cumulative(self, outcome: int) -> flint.arb:
        ratio = ball(self.ratio)
        if self.signed:
            if outcome <= 0:
                return ratio ** (self.span * outcome) / (ratio + 1)
            return 1 - ratio ** (1 - self.span * outcome) / (ratio + 1)
        below = 1 - ratio ** (-self.span * outcome)
        return below if self.base is None else below / (1 - ratio ** (-self.span * self.base))


@dataclass(frozen=True, slots=True)
class Digit:
    """The law of a digit, or any other on integers, with its table; a draw that reaches no threshold is `lowest`."""

    law: IntegerLaw
    table: ThresholdTable
    lowest: int

    @classmethod
    def of(cls, law: IntegerLaw) -> Digit:
        """Build the table outward from 0 until a 64-bit word cannot tell the rest."""
        above = _cells(law, itertools.count(1) if law.base is None else range(1, law.base), LAST_WORD)
        below = _cells(law, itertools.count(0, -1), 0) if law.first is None else []
        cells = np.array([[*reversed(below), *above]], dtype=np.uint64)
        return cls(law, ThresholdTable.from_cells(cells), -len(below))

    def draw(self, count: int, source: BitSource) -> Outcomes:
        """Draw `count` outcomes; those decided by a tie are also listed exactly, by position."""
        return self._of(source.words(count), source)

    def begun(self, begins: NDArray[np.uint64], bits: int, source: BitSource) -> Outcomes:
        """Draw from the first `bits` bits of every word, and read a word on where these do not tell.

        At least `_READ_ON` words are read on, needed or not: neither clock nor number of words tells if any was.
        """
        outcomes, open_ = _narrow(self.table, bits).count_reached(begins)
        outcomes += self.lowest
        words = source.words(max(len(open_), _READ_ON)) >> np.uint64(bits)
        words[: len(open_)] |= begins[open_] << np.uint64(source.word_bits - bits)
        read_on, ties = self._of(words, source)
        outcomes[open_] = read_on[: len(open_)]
        return outcomes, {int(open_[tie]): outcome for tie, outcome in ties.items() if tie < len(open_)}

    def _of(self, words: NDArray[np.uint64], source: BitSource) -> Outcomes:
        outcomes, ties = self.table.at(source.word_bits).count_reached(words)
        outcomes += self.lowest
        exact = {
            tie: resolve(int(words[tie]), self.law.bracket, source, first=self.law.first, last=self.law.last)
            for tie in ties.tolist()
        }
        if self.law.base is not None:
            for tie, outcome in exact.items():
                outcomes[tie] = outcome
        return outcomes, exact


def _cells(law: IntegerLaw, outcomes: Iterable[int], end: int) -> list[tuple[int, int]]:
    """Return open cells up to the first that is nothing but the word at the end; all further ones are the same."""
    cells = []
    for outcome in outcomes:
        cells.append(open_cell(*law.bracket(outcome, 64)))
        if cells[-1] == (end, end):
            break
    return cells


def draw_together(digits: tuple[Digit, ...], count: int, source: BitSource) -> list[Outcomes]:
    """Draw every digit `count` times: from a word each, or, where many draws have several digits, from half a word."""
    if len(digits) == 1 or count < _SHARING:
        return [digit.draw(count, source) for digit in digits]
    half = source.word_bits // 2
    words = source.words(-(-count * len(digits) // 2))
    begins = np.concatenate((words >> np.uint64(half), words)) & np.uint64((1 << half) - 1)
    return [
        digit.begun(begins[index * count : (index + 1) * count], half, source) for index, digit in enumerate(digits)
    ]


@lru_cache(maxsize=64)
def _narrow(table: ThresholdTable, bits: int) -> ThresholdTable:
    return table.at(bits)


@lru_cache(maxsize=16)
def digits_of(ratio: Fraction, *, signed: bool, table_bits: int = _TABLE_BITS) -> tuple[Digit, ...]:
    """Return the digits of geometric noise, highest first; public data, so the tables are kept.

    Parameters
    ----------
    ratio : Fraction
        r > 1.
    signed : bool
        Two-sided noise, or one-sided steps.
    table_bits : int
        Binary logarithm of the thresholds a table may have.
    """
    # Where the tail falls below 2^-64, up to rounding: α^reach ≤ 2^-64. It only chooses sizes.
    reach = -(-64 * 7 // (10 * log_below(ratio)))
    size = (2 * reach + 1 if signed else reach).bit_length()
    count = -(-size // table_bits)
    lower_bits = max(-(-size // count), -(-(size - _HIGHEST_BITS) // max(count - 1, 1)))
    base = 1 << min(lower_bits, table_bits)
    highest = DigitLaw(ratio, base ** (count - 1), None, signed)
    lower = [DigitLaw(ratio, base**place, base, False) for place in reversed(range(count - 1))]
    return tuple(Digit.of(law) for law in (highest, *lower))


Drawn = Iterator[tuple[slice, NDArray[np.int64], dict[int, int]]]
"""Noise in runs: which draws, their values, and the exact values of those that a tie decided."""

LARGEST_VALUE = 1 << 62
"""Largest magnitude of an integer that noise is added to."""

_SMALLEST_EXCESS = Fraction(1, 10**15)
"""Least r − 1: noise that is not drawn through a tie then stays below 2^62."""

_INT64 = np.iinfo(np.int64)


def add_geometric(values: Any, privacy: Privacy, *, source: BitSource | None = None) -> NDArray[np.int64]:
    """Add independent two-sided geometric noise; `irisdp.noise.geometric` is its public name and says more."""
    return add_drawn(
        values, lambda count, bits: draw_digits(count, geometric_digits(privacy, signed=True), bits), source=source
    )


def add_drawn(
    values: Any, draw: Callable[[int, BitSource], Drawn], *, factor: int = 1, source: BitSource | None = None
) -> NDArray[np.int64]:
    """Multiply integers by a positive factor and add noise, saturating at 64 bits.

    Parameters
    ----------
    values : array of int
        Any shape, magnitudes up to 2^62 / factor.
    draw : callable
        Yields the noise in runs, each with the exact values of those that a tie decided; the others are below 2^62.
    """
    largest = LARGEST_VALUE // factor
    numbers = integers(values, "values", at_least=-largest, at_most=largest)
    flat, noisy = numbers.ravel(), np.empty(numbers.size, dtype=np.int64)
    for part, noise, exact in draw(numbers.size, system_bits(source)):
        np.multiply(flat[part], factor, out=noisy[part])
        noisy[part] += noise
        for place, value in exact.items():
            noisy[part.start + place] = _saturate(int(flat[part.start + place]) * factor + value)
    return noisy.reshape(numbers.shape)


def clamped_geometric(
    values: Any, largest: int, privacy: Privacy, *, source: BitSource | None = None
) -> NDArray[np.int64]:
    """Draw from the range-restricted geometric mechanism on {0, …, largest}.

    Parameters
    ----------
    values : array of int
        True values in [0, largest], in any shape.
    largest : int
        n, at least 0 and at most 2^62.
    privacy : Privacy
        Its ratio r = 1/α > 1; δ is not used.

    Returns
    -------
    array of int64, the shape of `values`
        From k, an end of the range with probability α^(distance)/(1+α) and z inside with (1−α)/(1+α)·α^|z−k|, exactly.

    References
    ----------
    docs/theory.md#counts: unbounded noise clamped to the range is the mechanism G_{n,α}.
    """
    top = integer(largest, "largest", at_least=0, at_most=LARGEST_VALUE)
    numbers = integers(values, "values", at_least=0, at_most=top)
    return np.clip(add_geometric(numbers, privacy, source=source), 0, top)


def one_sided_geometric(count: int, privacy: Privacy, *, source: BitSource | None = None) -> NDArray[np.int64]:
    """Draw `count` independent steps g ≥ 0 with P(g) = (1−α)·α^g, α = 1/r.

    Returns
    -------
    array of int64, shape (count,)
        Exact, then cut off at 2^62 so that sums with values and noise fit 64 bits.
    """
    steps = np.empty(integer(count, "count", at_least=0), dtype=np.int64)
    for part, drawn, exact in draw_digits(len(steps), geometric_digits(privacy, signed=False), system_bits(source)):
        steps[part] = drawn
        for place, value in exact.items():
            steps[part.start + place] = min(value, LARGEST_VALUE)
    return steps


def geometric_digits(privacy: Privacy, *, signed: bool) -> tuple[Digit, ...]:
    """Return the digits of geometric noise; refuse an ε below 1e-15."""
    if privacy.ratio - 1 < _SMALLEST_EXCESS:
        raise BadInput("epsilon", "must be at least 1e-15 for geometric noise", "choose a larger epsilon")
    return digits_of(privacy.ratio, signed=signed)


def draw_digits(count: int, digits: tuple[Digit, ...], source: BitSource) -> Drawn:
    """Yield draws in runs: which ones, their values, and the exact values of those that a tie decided."""
    for part in chunks(count):
        (values, exact), *others = draw_together(digits, part.stop - part.start, source)
        for digit, (lower, _) in zip(digits[1:], others, strict=True):
            base = digit.law.base or 1
            exact = {place: _append(value, base, int(lower[place])) for place, value in exact.items()}
            # Below zero the digits of −(m+1) are those of m: take base − 1 − lower there, without a branch.
            sign = values >> 63
            values *= base
            values += lower ^ sign
            values += base & sign
        yield part, values, exact


def _append(value: int, base: int, lower: int) -> int:
    return value * base + (lower if value >= 0 else base - 1 - lower)


def _saturate(value: int) -> int:
    return min(max(value, int(_INT64.min)), int(_INT64.max))
