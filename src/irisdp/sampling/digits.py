"""Geometric noise split into independent digits, each drawn from a small table.

With α = 1/r, two-sided geometric noise P(Z = z) = (1−α)/(1+α)·α^|z| is m with weight 1 or −(m+1) with weight α,
where P(m) = (1−α)·α^m. Written to a base K, m = h·K + l, its digits are independent: h is geometric with ratio α^K
and l is geometric with ratio α cut off at K. The sign goes with the high digit: g = h or −(h+1). So one table draws
everything when ε is at least 0.044, and a few small tables do when ε is 1e-9, one word of U each.

Tables end where a 64-bit word cannot tell: what lies beyond is drawn through a tie, exactly and without end.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import flint
import numpy as np
from numpy.typing import NDArray

from ..exact import ball, enclosure_of, log_below
from .bits import BitSource
from .integer_law import IntegerLaw
from .thresholds import LAST_WORD, ThresholdTable, open_cell
from .ties import bracket_enclosed, resolve

__all__ = ["Digit", "DigitLaw", "digits_of"]

_TABLE_BITS = 11
"""A table has at most about 2^11 thresholds. Its 16 KiB stay in a first-level cache, so that a draw takes as long near
0 as far out; tables of 2^14 save words and show large noise by the clock."""


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
        """Smallest outcome, None if there is none."""
        return None if self.signed else 0

    @property
    def last(self) -> int | None:
        """Largest outcome, None if there is none."""
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

    def draw(self, count: int, source: BitSource) -> tuple[NDArray[np.int64], dict[int, int]]:
        """Draw `count` outcomes; those decided by a tie are also listed exactly, by position."""
        words = source.words(count)
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
    base = 1 << -(-size // count)
    highest = DigitLaw(ratio, base ** (count - 1), None, signed)
    lower = [DigitLaw(ratio, base**place, base, False) for place in reversed(range(count - 1))]
    return tuple(Digit.of(law) for law in (highest, *lower))
