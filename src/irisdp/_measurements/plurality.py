"""Chances of many winners at once: intervals of floats, every operation rounded outwards.

Each interval holds the exact chance. It decides all draws but those whose word falls inside, which are decided from the
exact one (`winners`). Pulling from the top, a category that is behind refers to a state in which it is level, with
fewer behind. So there are at most as many rounds as categories; gaps are in ascending order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, ball, enclosure_of, shown_above
from .._sampling import LAST_WORD, BitSource, ThresholdTable, bracket_rational, chunks, resolve, system_bits
from ..graphs import NeighbouringRelation
from ..mechanisms import PermuteAndFlip, Pull, Winner
from ..privacy import Privacy
from .confidence import assured_names, least_distance
from .protocol import ENCLOSED, ChainLink, ConfidenceStatement, records
from .registry import MeasurementKind

Floats = NDArray[np.float64]
States = NDArray[np.int64]

_NEGLIGIBLE = 100
"""Powers below 2^-100 stand as [0, 2^-100]: words have 64 bits."""
_LISTED = 1 << 12
"""Where no more powers than this are above that, they are one table."""
_DIGIT = 10
"""Bits of a digit of the exponent, where there are more."""
_GAP = 63
"""Bits of the largest gap."""
_WIDTH = Fraction(1, 1 << 200)


@dataclass(frozen=True, slots=True)
class FloatBounds:
    """Floats on both sides of exact numbers."""

    low: Floats
    high: Floats

    def times(self, other: FloatBounds) -> FloatBounds:
        """Multiply numbers that are not negative."""
        return _outward(self.low * other.low, self.high * other.high)

    def plus(self, other: FloatBounds) -> FloatBounds:
        """Add."""
        return _outward(self.low + other.low, self.high + other.high)

    def at(self, places: NDArray[np.int64] | int) -> FloatBounds:
        """Return the numbers at some places."""
        return FloatBounds(self.low[places], self.high[places])


@dataclass(frozen=True, slots=True)
class _Powers:
    """The powers r^-t: of one table, or multiplied from a table for each digit of t, whatever t there are.

    Attributes
    ----------
    digits : tuple of FloatBounds
        Of the lowest digit first: r^-(k·step) for every digit k.
    bits : int
        Of a digit.
    """

    digits: tuple[FloatBounds, ...]
    bits: int

    def at(self, places: States) -> FloatBounds:
        """Return r^-t for exponents t ≥ 0; beyond the last that has digits, anything between 0 and that one."""
        last = min(len(self.digits[0].low) << self.bits * (len(self.digits) - 1), 1 << _GAP) - 1
        left = np.minimum(places, last)
        power = self.digits[0].at(left & ((1 << self.bits) - 1)) if self.digits[1:] else self.digits[0].at(left)
        for digit in self.digits[1:]:
            left = left >> self.bits
            power = power.times(digit.at(left & ((1 << self.bits) - 1)))
        return FloatBounds(np.where(places > last, 0.0, np.maximum(power.low, 0.0)), power.high)


def pull_chances(states: States, ratio: Fraction) -> FloatBounds:
    """Return the chance of every category.

    Parameters
    ----------
    states : int64 array, shape (n, q)
        Gaps to the largest, ascending: the first of each row is 0.
    ratio : Fraction
        r > 1.

    Returns
    -------
    FloatBounds of shape (n, q)
    """
    powers = _powers(ratio)
    top, behind = _tops(states, powers)
    near = top.at(np.repeat(np.arange(len(states)), states.shape[1])).times(powers.at(np.minimum(states.ravel(), 1)))
    low, high = near.low.reshape(states.shape), near.high.reshape(states.shape)
    far = states >= 2
    low[far], high[far] = behind.low, behind.high
    return FloatBounds(low, high)


def flip_chances(states: States, ratio: Fraction, relation: NeighbouringRelation) -> FloatBounds:
    """Return the chance of every category by permute and flip; gaps in any order, shape (n, q).

    Write the probability that no other is accepted before moment x, Π (1 − a·x), with y = 1 − x. It is then a sum of
    positive terms Π ((1 − a) + a·y), and loses no digits.
    """
    powers = _powers(ratio)
    categories = states.shape[1]
    exchange = relation != NeighbouringRelation.ADD_REMOVE
    halves = states // 2 if exchange else states
    accepted = powers.at(halves.ravel())
    if exchange:
        odd = enclosure_of(lambda: 2 / (1 + ball(ratio)), width=_WIDTH)
        factor = np.where(states.ravel() % 2 == 1, 1, 0).astype(np.int64)
        table = FloatBounds(
            np.array([1.0, np.nextafter(float(odd.lower), 0.0)]), np.array([1.0, np.nextafter(float(odd.upper), 2.0)])
        )
        accepted = accepted.times(table.at(factor))
    low, high = accepted.low.reshape(states.shape), np.minimum(accepted.high, 1.0).reshape(states.shape)
    # A row for each category: whole rows are multiplied.
    move = FloatBounds(np.ascontiguousarray(low.T), np.ascontiguousarray(high.T))
    refused = _outward(1 - move.high, 1 - move.low)
    stay = FloatBounds(np.maximum(refused.low, 0.0), refused.high)
    result = FloatBounds(np.empty(states.shape), np.empty(states.shape))
    for index in range(categories):
        chance = _first_of(stay, move, index).times(move.at(index))
        result.low[:, index], result.high[:, index] = chance.low, chance.high
    return result


def _first_of(stay: FloatBounds, move: FloatBounds, place: int) -> FloatBounds:
    """Return the chance that none of the other categories is accepted before one at a random place of the order."""
    one = np.ones((1, stay.low.shape[1]))
    terms = FloatBounds(one, one)  # of the powers of y
    for other in range(len(stay.low)):
        if other != place:
            kept, moved = terms.times(stay.at(other)), terms.times(move.at(other))
            inner = FloatBounds(kept.low[1:], kept.high[1:]).plus(FloatBounds(moved.low[:-1], moved.high[:-1]))
            terms = FloatBounds(
                np.concatenate([kept.low[:1], inner.low, moved.low[-1:]]),
                np.concatenate([kept.high[:1], inner.high, moved.high[-1:]]),
            )
    share = 1 / np.arange(1.0, len(terms.low) + 1)[:, None]
    weighed = terms.times(_outward(share, share))
    total = weighed.at(0)
    for power in range(1, len(terms.low)):
        total = total.plus(weighed.at(power))
    return total


def _tops(states: States, powers: _Powers) -> tuple[FloatBounds, FloatBounds]:
    """Return the chance of each winner in every state, and of each category that is two or more behind."""
    count, categories = states.shape
    rows, places = np.nonzero(states >= 2)
    ahead, beside = (states == 0).sum(axis=1), (states == 1).sum(axis=1)
    lost = FloatBounds(np.zeros(count), np.zeros(count))
    behind = FloatBounds(np.zeros(0), np.zeros(0))
    if len(rows):
        pulled, steps = _pulled(states, rows, places)
        distinct, which = _distinct(pulled)
        tops, _ = _tops(distinct, powers)
        behind = tops.at(which).times(powers.at(steps))
        for index in range(categories):
            here = np.flatnonzero(places == index)
            added = lost.at(rows[here]).plus(behind.at(here))
            lost.low[rows[here]], lost.high[rows[here]] = added.low, added.high
    shares = FloatBounds(ahead.astype(np.float64), ahead.astype(np.float64)).plus(
        powers.at(np.ones(count, dtype=np.int64)).times(
            FloatBounds(beside.astype(np.float64), beside.astype(np.float64))
        )
    )
    left = _outward(1 - lost.high, 1 - lost.low)
    return _outward(left.low / shares.high, left.high / shares.low), behind


def _pulled(states: States, rows: States, places: States) -> tuple[States, States]:
    """Let one category of each row gain records from the winners until it is level, or one behind; see `pull`.

    Returns
    -------
    states, steps
        The gaps then, ascending, and how many factors r the chance has lost.
    """
    count, categories = len(rows), states.shape[1]
    gap = states[rows, places]
    others = states[rows]
    others[np.arange(count), places] = np.iinfo(np.int64).max
    others.sort(axis=1)
    others = others[:, :-1]
    before = np.concatenate([np.zeros((count, 1), np.int64), np.cumsum(others, axis=1)], axis=1)
    number = np.arange(categories)
    arrives = ((gap[:, None] + number + before) // (number + 1)).min(axis=1)
    steps = gap - arrives
    left = steps - (number * (arrives - 1)[:, None] - before).max(axis=1)
    lowered = others < arrives[:, None]
    ahead = lowered.sum(axis=1)
    level = left >= ahead  # all winners came down to the category
    top = np.where(level, arrives, arrives - 1)
    pulled = np.empty((count, categories), dtype=np.int64)
    one_down = np.arange(categories - 1) >= (ahead - left)[:, None]
    pulled[:, :-1] = np.where(lowered, np.where(one_down & ~level[:, None], 1, 0), others - top[:, None])
    pulled[:, -1] = arrives - top
    pulled.sort(axis=1)
    return pulled, steps + arrives - top


def _distinct(states: States) -> tuple[States, States]:
    """Return the different rows and which of them each row is."""
    order = np.lexsort(states.T[::-1])
    ordered = states[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    which = np.empty(len(states), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[new], which


@lru_cache(maxsize=16)
def _powers(ratio: Fraction) -> _Powers:
    """Return all powers r^-t: the work goes with how many bits the last has that counts, whatever gaps there are."""
    # log2 r > (r − 1)/r, so that beyond this exponent powers are negligible; at ratio 1 none is.
    last = math.ceil(_NEGLIGIBLE * ratio / (ratio - 1)) if ratio > 1 else 1 << _GAP
    if last < _LISTED:
        return _Powers((_table(ratio, 1, last + 1),), 0)
    number = -(-min(last.bit_length(), _GAP) // _DIGIT)
    return _Powers(tuple(_table(ratio, 1 << _DIGIT * digit, 1 << _DIGIT) for digit in range(number)), _DIGIT)


def _table(ratio: Fraction, step: int, size: int) -> FloatBounds:
    """Return r^-(step·k) for so many k, and [0, 2^-100] from the first that is below 2^-100."""
    low, high = np.zeros(size), np.full(size, 2.0**-_NEGLIGIBLE)
    low[0] = high[0] = 1.0
    for index in range(1, size):
        if high[index - 1] <= 2.0**-_NEGLIGIBLE:
            break
        enclosure = enclosure_of(partial(_power, ratio, step * index), width=_WIDTH)
        low[index] = np.nextafter(float(enclosure.lower), 0.0)
        high[index] = max(np.nextafter(float(enclosure.upper), 1.0), 2.0**-_NEGLIGIBLE)
    return FloatBounds(low, high)


def _power(ratio: Fraction, power: int) -> flint.arb:
    """Enclose r^-power; where it is below the working precision, by 0 and that."""
    bits = flint.ctx.prec
    if power * (ratio - 1) > bits * ratio:
        return flint.arb(0, flint.arb(2) ** -bits)
    return ball(ratio) ** -power


def _outward(low: Floats, high: Floats) -> FloatBounds:
    return FloatBounds(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))


# Which category is the largest in each cell, drawn exactly for many cells at once.

_WORD = 2.0**64


@dataclass(frozen=True, slots=True, eq=False)
class GapNodes:
    """How far each category is behind the largest, per cell; private, and not shown by `repr`.

    Attributes
    ----------
    categories : tuple
        Their names, as declared; public.
    gaps : int64 array, shape (cells, categories)
        Records that each category has fewer than the largest.
    """

    categories: tuple[Any, ...]
    gaps: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.gaps)

    def padded(self, size: int) -> GapNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        nobody = np.zeros((size - len(self.gaps), len(self.categories)), dtype=np.int64)
        return GapNodes(self.categories, np.concatenate([self.gaps, nobody]))


@dataclass(frozen=True, slots=True)
class LargestCategory:
    """Names the largest category, from the gaps to it.

    Parameters
    ----------
    rule : Winner
        Pull from the top, or permute and flip.
    privacy : Privacy
        What one step on a cell's graph may reveal: at least that is kept by the rule.

    References
    ----------
    docs/theory.md#plurality; proofs/plurality.md.
    """

    rule: Winner
    privacy: Privacy

    @property
    def claim(self) -> str | None:
        """What is proven of it: of pull from the top, on tables of every size (proofs/plurality.md, T3)."""
        proven = isinstance(self.rule, Pull)
        return "on tables of every size, smallest worst probability of a wrong answer" if proven else None

    @property
    def chained(self) -> Privacy | None:
        """None: such answers form no chain."""
        return None

    def draw(
        self, nodes: GapNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw the place of one category per cell: a word each, and ⌈log2 q⌉ comparisons.

        A word that falls between the floats around a cumulative probability (about once in 2^48 draws) is compared with
        the exact one. More words are read only if 64 digits leave it open.
        """
        bits = system_bits(source)
        drawn = np.empty(len(nodes), dtype=np.int64)
        for part in chunks(len(nodes)):
            gaps = nodes.gaps[part]
            table = ThresholdTable.from_cells(_open_cells(self.chances(gaps))).at(bits.word_bits)
            words = bits.words(len(gaps))
            drawn[part], ties = table.count_reached(words, np.arange(len(gaps)))
            for tie in ties.tolist():
                bracket = partial(_bracket, self.rule, tuple(gaps[tie].tolist()))
                drawn[part.start + tie] = resolve(int(words[tie]), bracket, bits, first=0, last=gaps.shape[1] - 1)
        return drawn

    def show(self, drawn: list[Any], nodes: GapNodes) -> list[Any]:
        """Name the categories."""
        return [nodes.categories[place] for place in drawn]

    def ends(self, nodes: GapNodes) -> dict[str, Any]:
        """Return the names: the same question may spell them in another way."""
        return {"outputs": nodes.categories}

    def law(self, nodes: GapNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of a cell's answer."""
        return dict(zip(nodes.categories, self.rule.row(nodes.gaps[cell].tolist()), strict=True))

    def expected_error(self) -> dict[str, Any]:
        """Return the largest probability of a wrong answer, and the leads that bring it to 5 % and 1 %."""
        return {
            "wrong_at_worst": float(self.rule.worst_error),
            "lead_for_95_percent": least_distance(self, Fraction(19, 20)),
            "lead_for_99_percent": least_distance(self, Fraction(99, 100)),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Enclose the probability of naming the largest where it leads all others by so many records, at worst.

        Of pull from the top the lower end is a bound from a lead of 2 on (`Pull.right_from`).
        """
        return self.rule.right_from(distance, width=ENCLOSED)

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: GapNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the probability of the right answer, at worst."""
        return assured_names(self.chance_within(0).lower, shown)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        lead = error["lead_for_99_percent"]
        where = f"where the largest leads all others by {records(lead)}" if lead else "whatever the lead"
        return f"wrong with probability {shown_above(error['wrong_at_worst'])} at worst, below 1 % {where}"

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers."""
        pulls = isinstance(self.rule, Pull)
        kind = MeasurementKind.PULL_FROM_THE_TOP if pulls else MeasurementKind.PERMUTE_AND_FLIP
        return {"kind": kind.value, "categories": self.rule.categories}

    def chances(self, gaps: NDArray[np.int64]) -> FloatBounds:
        """Return the chance of each category in each cell, as intervals."""
        ratio = self.rule.privacy.ratio
        if isinstance(self.rule, PermuteAndFlip):
            return flip_chances(gaps, ratio, self.rule.relation)
        order = np.argsort(gaps, axis=1, kind="stable")
        probabilities = pull_chances(np.take_along_axis(gaps, order, axis=1), ratio)
        low, high = np.empty_like(probabilities.low), np.empty_like(probabilities.high)
        np.put_along_axis(low, order, probabilities.low, axis=1)
        np.put_along_axis(high, order, probabilities.high, axis=1)
        return FloatBounds(low, high)


def _open_cells(chances: FloatBounds) -> NDArray[np.uint64]:
    """Return the words that each cumulative probability leaves open, shape (cells, q − 1, 2); see `thresholds`."""
    low, high = chances.low[:, :1], chances.high[:, :1]
    sums = [FloatBounds(low[:, 0], high[:, 0])]
    for index in range(1, chances.low.shape[1] - 1):
        sums.append(sums[-1].plus(FloatBounds(chances.low[:, index], chances.high[:, index])))
    cells = np.empty((len(chances.low), len(sums), 2), dtype=np.uint64)
    for index, one in enumerate(sums):
        cells[:, index, 0] = _word(np.floor(np.maximum(one.low, 0.0) * _WORD))
        cells[:, index, 1] = _word(np.maximum(np.ceil(one.high * _WORD) - 1, 0.0))
    return cells


def _word(value: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Turn floats that are whole numbers into words; those from 2^64 on are the last."""
    beyond = value >= _WORD
    words = np.where(beyond, 0.0, value).astype(np.uint64)
    words[beyond] = LAST_WORD
    return words


def _bracket(rule: Winner, gaps: tuple[int, ...], category: int, bits: int) -> tuple[int, int]:
    """Bracket the chance of the categories before this one."""
    enclosure = rule.enclose(gaps, width=Fraction(1, len(gaps) << bits + 2))[:category]
    total = list(accumulate(enclosure, lambda one, other: Enclosure(one.lower + other.lower, one.upper + other.upper)))[
        -1
    ]
    return bracket_rational(total.lower, bits)[0], bracket_rational(total.upper, bits)[1]
