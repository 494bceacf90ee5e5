"""Deciding most draws with one 64-bit word each, in a number of steps that nothing depends on.

A cumulative probability c is stored as its *open cell*: the 64-bit words w for which U in [w, w + 1)/2^64 may lie on
either side of c. A word above the cell decides U ≥ c, one below decides U < c, and one inside (probability about
2^-64) is a tie for `ties.resolve`. Cells are widened where that keeps them inside 64 bits, which only makes more
ties: c = 0 owns word 0 and c = 1 owns the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure
from .bits import BitSource

LAST_WORD = (1 << 64) - 1
_CHUNK = 1 << 15
"""Draws decided together: their words and positions stay in a second-level cache."""


def open_cell(lower: int, upper: int) -> tuple[int, int]:
    """Return first and last word that leave open a c with lower ≤ c · 2^64 ≤ upper."""
    first = min(lower, LAST_WORD)
    return first, min(max(upper - 1, first), LAST_WORD)


def chunks(count: int) -> Iterator[slice]:
    """Split `count` draws into runs that bound the memory in use."""
    return (slice(start, min(start + _CHUNK, count)) for start in range(0, count, _CHUNK))


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdTable:
    """Open cells of rows of cumulative probabilities, padded with c = 1 to 2^steps a row.

    Attributes
    ----------
    first, last : array of uint64, shape (rows · 2^steps,)
        First and last word of each cell, neither decreasing along a row.
    steps : int
        Comparisons a draw makes; and where there is a guide, those it would make without.
    guide : array of int64, shape (2^bits,), or None
        Of a single row: thresholds that are reached by every word which begins with these bits.
    moves : int
        Comparisons that a draw makes from there on.
    word_bits : int
        Random bits of the words that it is for.
    """

    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    steps: int
    guide: NDArray[np.int64] | None = None
    moves: int = 0
    word_bits: int = 64

    @classmethod
    def from_cells(cls, cells: NDArray[np.uint64]) -> ThresholdTable:
        """Take first and last words, shape (rows, thresholds, 2); the thresholds of a row do not decrease.

        A single row whose thresholds lie so evenly that its guide saves half of the comparisons has one.
        """
        rows, thresholds, _ = cells.shape
        steps = thresholds.bit_length()
        padded = np.full((rows, 1 << steps, 2), LAST_WORD, dtype=np.uint64)
        padded[:, :thresholds] = cells
        # Enclosures of neighbouring thresholds need not be in order; what bounds one also bounds the next.
        first = np.maximum.accumulate(padded[:, :, 0], axis=1)
        last = np.minimum.accumulate(padded[:, ::-1, 1], axis=1)[:, ::-1]
        made = cls(first.ravel(), last.ravel(), steps)
        return made._guided() if rows == 1 and steps > 1 else made

    def _guided(self) -> ThresholdTable:
        bits = self.steps + 1
        begins = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        guide = np.searchsorted(self.last, begins, side="left").astype(np.int64)
        # Padding is reached by no word, so that it needs no comparison.
        most = np.append(guide[1:], np.searchsorted(self.last, np.uint64(LAST_WORD), side="left"))
        moves = int((most - guide).max()).bit_length()
        return replace(self, guide=guide, moves=moves) if 2 * moves <= self.steps else self

    def at(self, word_bits: int) -> ThresholdTable:
        """Return the table for narrower words: a cell is then the words that begin one of its words."""
        if word_bits == 64:
            return self
        shift = np.uint64(64 - word_bits)
        narrow = replace(self, first=self.first >> shift, last=self.last >> shift, word_bits=word_bits)
        return replace(narrow, guide=None) if word_bits <= self.steps else narrow

    def count_reached(
        self, words: NDArray[np.uint64], rows: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """Count the thresholds that each word reaches in its row, and list the draws that stay open.

        Parameters
        ----------
        words : array of uint64, shape (draws,)
            First digits of U, at the width the table is for.
        rows : array of int64, shape (draws,), optional
            Row of each draw; None for a table of one row.

        Returns
        -------
        array of int64, shape (draws,)
            Number of thresholds c with U ≥ c, right for every draw that is not open.
        array of int, shape (open draws,)
            Positions of the open draws.

        Notes
        -----
        A bisection with `steps` comparisons for every word and every row; with a guide, one of `moves` from where the
        first bits of the word lead: what is left out is the same for all words with these bits. `np.searchsorted` is
        not used: it reuses the previous word's bounds, so that its time depends on what was drawn. Which addresses are
        read does depend on row and word: a table that outgrows the first-level cache may show that in its time.
        """
        steps = self.steps
        if rows is not None:
            position = rows << steps
        elif self.guide is not None:
            steps, leading = self.moves, words >> np.uint64(self.word_bits - self.steps - 1)
            position = self.guide.take(leading.view(np.int64), mode="clip")
        else:
            position = np.zeros(len(words), dtype=np.int64)
        edge, beyond, advance = np.empty_like(words), np.empty(len(words), dtype=np.bool_), np.empty_like(position)
        for step in (1 << place for place in reversed(range(steps))):
            np.take(self.last[step - 1 :], position, out=edge, mode="clip")  # "clip" writes to `out` directly
            np.less(edge, words, out=beyond)
            np.multiply(beyond, step, out=advance)
            position += advance
        np.take(self.first, position, out=edge, mode="clip")
        position &= (1 << self.steps) - 1
        return position, np.flatnonzero(edge <= words)


# Decide, exactly, the draws that the first random word leaves open.
#
# U is uniform on [0, 1) with infinitely many binary digits. A draw is the number v with c_v ≤ U < c_{v+1}, for
# cumulative probabilities c that are rationals or reals known through enclosures. More digits of U and of c are read
# together until no c lies in the interval that contains U. That happens with probability 1, even if an enclosed c is a
# binary fraction that no enclosure ever leaves, because the digits of U leave it.

Bracket = Callable[[int, int], tuple[int, int]]
"""(v, bits) ↦ integers around c_v: lower ≤ c_v · 2^bits ≤ upper, at most a few units apart."""


def bracket_rational(value: Fraction, bits: int) -> tuple[int, int]:
    """Return floor and ceiling of value · 2^bits."""
    scaled = value.numerator << bits
    return scaled // value.denominator, -(-scaled // value.denominator)


def bracket_enclosed(enclose: Callable[..., Enclosure], bits: int) -> tuple[int, int]:
    """Bracket a real that `enclose(width=…)` encloses to any width."""
    enclosure = enclose(width=Fraction(1, 1 << bits + 2))
    return bracket_rational(enclosure.lower, bits)[0], bracket_rational(enclosure.upper, bits)[1]


def resolve(word: int, bracket: Bracket, source: BitSource, *, first: int | None, last: int | None) -> int:
    """Decide a draw from the first word of U and as many more as it takes.

    Parameters
    ----------
    word : int
        The first `source.word_bits` binary digits of U.
    bracket : Bracket
        Brackets of c_v for first < v ≤ last; c does not decrease.
    source : BitSource
        Where further digits of U come from.
    first, last : int or None
        The smallest and the largest outcome, or None where there is no end.

    Returns
    -------
    int
        v with c_v ≤ U < c_{v+1}, exactly.
    """
    digits, bits = word, source.word_bits
    while True:
        outcome = _decide(digits, bits, bracket, first, last)
        if outcome is not None:
            return outcome
        digits = digits << source.word_bits | int(source.words(1)[0])
        bits += source.word_bits


def _decide(digits: int, bits: int, bracket: Bracket, first: int | None, last: int | None) -> int | None:
    """Return the outcome if it is the same for every U in [digits, digits + 1)/2^bits."""
    if (first is None and digits == 0) or (last is None and digits + 1 == 1 << bits):
        return None  # Outcomes without end have infinitely many c in the outermost interval.

    def reached(outcome: int) -> bool:
        return bracket(outcome, bits)[1] <= digits

    if first is None:
        low = -1
        while not reached(low):
            low *= 2
    else:
        low = first
    if last is None:
        high = max(1, low + 1)
        while reached(high):
            high *= 2
    else:
        high = last + 1
    # U ≥ c_low is certain and U ≥ c_high is not; neither needs the computed brackets to be monotone.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return low if low == last or bracket(high, bits)[0] > digits else None


# Draw uniform integers in bulk, exactly: floor(U · size), from one word each except for ties.

LARGEST_SIZE = 1 << 32
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)
_LAST, _ONE = np.uint64((1 << 64) - 1), np.uint64(1)


def draw_uniform(count: int, size: int | NDArray[np.int64], source: BitSource) -> NDArray[np.int64]:
    """Draw `count` independent integers, uniform on 0 … size − 1, for a size up to 2^32, or one for each of them.

    A word w leaves U · size in [w·size, (w + 1)·size)/2^64. If no integer lies inside, the draw is decided; else, with
    probability at most size/2^64, it is a tie.
    """
    words = source.words(count)
    if source.word_bits == 64:
        factor = np.asarray(size, dtype=np.uint64)
        high, low = words >> _HALF, words & _LOW
        drawn = ((high * factor + (low * factor >> _HALF)) >> _HALF).astype(np.int64)
        ties = np.flatnonzero(words * factor > _LAST - factor + _ONE)
    else:  # a script: let `resolve` decide them all
        drawn, ties = np.zeros(count, dtype=np.int64), np.arange(count)
    for tie in ties.tolist():
        own = size if isinstance(size, int) else int(size[tie])
        drawn[tie] = resolve(int(words[tie]), partial(_bracket, own), source, first=0, last=own - 1)
    return drawn


def _bracket(size: int, outcome: int, bits: int) -> tuple[int, int]:
    return bracket_rational(Fraction(outcome, size), bits)
