"""Open cells of u^t(s) for millions of depths t: rigorous fixed-point arithmetic on the closed form.

Several pairs have no closed form, so `orbit_of` goes step by step. For one pair:

With ρ = δ/(r−1), θ = (1−δ)/(r+1) and τ the first t with s_t ≥ θ (docs/theory.md#operator), one decreasing power
serves both branches:

    s_t = (s_τ + ρ)·r^−(τ−t) − ρ            t ≤ τ
    s_t = 1 + ρ − (1 + ρ − s_τ)·r^−(t−τ)    t ≥ τ, at most 1

and r^−n is a product of table entries, one for each digit of n to the base 2^12.

Error bound. Numbers are integers in units of 2^−F with F ≥ 128 + log2(2 + ρ). The base of a table is at most 2 units
low, so entry i is at most 3i units low and a product of k ≤ 6 entries at most k(3·2^12 + 1) < 2^17 units off. A
factor is at most 1 + ρ and itself at most 3 units off, so s_t is less than (2 + ρ)·2^17 units off, below 2^−110.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import ball, enclosure_of, log_below, rational
from ..errors import BadInput
from ..privacy import Privacy, enclose_steps
from .bits import BitSource, system_bits
from .tables import integers
from .thresholds import LAST_WORD, ThresholdTable, bracket_enclosed, chunks, resolve

# u^t(s) for many depths t if u has many pieces: two tracks of integers, one rounded down and one up.
#
# Several pairs have no closed form over all depths. But few depths matter, because u soon takes every probability so
# close to 1 that a 64-bit word cannot tell. So u is applied step by step in units of 2^-F, rounded both ways. F is
# doubled until the tracks stay together.

RESULT_BITS = 96
_SURE = 1 << RESULT_BITS - 66
"""Within 2^-66 of 1 the open cell no longer changes."""

_MOST_STEPS = 1 << 18


@dataclass(frozen=True, slots=True)
class Orbit:
    """u^t(s) · 2^96 for t = 0, 1, …, each rounded down, less than one unit below; and whether the last is for good."""

    probability: Fraction
    privacy: Privacy
    numerators: tuple[int, ...]
    settled: bool

    def at(self, depth: int) -> int:
        """Return the numerator at a depth, less than one unit off before rounding down."""
        if depth < len(self.numerators):
            return self.numerators[depth]
        if self.settled:
            return self.numerators[-1]
        width = Fraction(1, 1 << RESULT_BITS)
        lower = enclose_steps(self.probability, depth, self.privacy, width=width).lower
        return (lower.numerator << RESULT_BITS) // lower.denominator


@lru_cache(maxsize=256)
def orbit_of(probability: Fraction, privacy: Privacy) -> Orbit:
    """Follow a probability until it no longer changes, or for 2^18 steps."""
    bits = 2 * RESULT_BITS
    while True:
        tracked = _tracked(probability, privacy, bits)
        if tracked is not None:
            return Orbit(probability, privacy, *tracked)
        bits *= 2


def _tracked(probability: Fraction, privacy: Privacy, bits: int) -> tuple[tuple[int, ...], bool] | None:
    """Return the numerators; None where the tracks part by more than one unit of 2^-96."""
    shape, one, down = privacy.shape, 1 << bits, bits - RESULT_BITS
    starts = [-(-start.numerator * one // start.denominator) for start in shape.starts]
    pieces = []
    for line in shape.lines:
        (a, b), (c, d) = line.slope.as_integer_ratio(), line.constant.as_integer_ratio()
        pieces.append((a * d, c * b << bits, b * d))
    low = (probability.numerator << bits) // probability.denominator
    high = -(-(probability.numerator << bits) // probability.denominator)
    numerators = []
    for _ in range(_MOST_STEPS):
        if high - low >> down:
            return None
        numerators.append(low >> down)
        factor, constant, divisor = pieces[bisect_right(starts, low) - 1]
        lower = (factor * low + constant) // divisor
        factor, constant, divisor = pieces[bisect_right(starts, high) - 1]
        upper = min(one, -(-(factor * high + constant) // divisor))
        if (1 << RESULT_BITS) - numerators[-1] <= _SURE or (lower, upper) == (low, high):
            return tuple(numerators), True
        low, high = lower, upper
    return tuple(numerators), False


LARGEST_DEPTH = (1 << 63) - 1
_LARGEST_NUMERATOR = (1 << RESULT_BITS) - 2
_DIGIT_BITS = 12


def open_cells(
    probabilities: Sequence[Fraction], which: NDArray[np.int64], depths: NDArray[np.int64], privacy: Privacy
) -> NDArray[np.uint64]:
    """Return the open cell (see `thresholds`) of u^depth(s) for each pair of a probability s and a depth.

    Parameters
    ----------
    probabilities : sequence of Fraction
        Values of s in [0, 1].
    which : array of int64, shape (pairs,)
        Number of each pair's probability.
    depths : array of int64, shape (pairs,)
        At least 0, or −1 for no boundary: then the probability is 1.

    Returns
    -------
    array of uint64, shape (pairs, 2)
        First and last open word. A cell has one word, or two where u^depth(s) is within 2^−95 of a multiple of 2^−64.
    """
    cells = np.empty((len(depths), 2), dtype=np.uint64)
    for part in chunks(len(depths)):
        numerators = _numerators(probabilities, which[part], np.maximum(depths[part], 0), privacy)
        # With n = ⌊computed s · 2^96⌋, s · 2^96 lies in (n − 1, n + 2). Moving n inward from 0 and 2^96 keeps that.
        inward = [1 if n < 1 else min(n, _LARGEST_NUMERATOR) for n in numerators]
        limbs = np.frombuffer(b"".join([n.to_bytes(12, "little") for n in inward]), dtype="<u4").reshape(-1, 3)
        word = limbs[:, 1].astype(np.uint64) | limbs[:, 2].astype(np.uint64) << np.uint64(32)
        cells[part, 0] = word - (limbs[:, 0] == 0)
        cells[part, 1] = word + (limbs[:, 0] == 0xFFFFFFFF)
    cells[depths < 0] = LAST_WORD
    return cells


def saturation_depth(probability: Fraction, privacy: Privacy) -> int:
    """Return a depth from which on the open cell of u^depth(probability) no longer changes; public, often large."""
    if not privacy.single:
        followed = orbit_of(probability, privacy)
        return len(followed.numerators) - 1 if followed.settled else LARGEST_DEPTH
    ratio, delta = privacy.ratio, privacy.delta
    bounds = [LARGEST_DEPTH]
    if delta > 0:
        bounds.append(math.ceil(1 / delta))  # u(s) ≥ s + δ
    elif ratio == 1 or probability == 0:
        bounds.append(0)  # u(s) = s
    if ratio > 1:
        # From τ on, 1 − s_t ≤ r^−(t−τ), and log r ≥ (r−1)/r: 46 r/(r−1) steps shrink it by e^−46 < 2^−66.
        bounds.append(_orbit(probability, privacy).turn + math.ceil(46 * ratio / (ratio - 1)))
    return min(bounds)


@dataclass(frozen=True, slots=True)
class _Orbit:
    """One s_0: τ (or the largest depth, if less) and the factors s_τ + ρ and 1 + ρ − s_τ in units of 2^−F."""

    turn: int
    rising: int
    falling: int


def _numerators(
    probabilities: Sequence[Fraction], which: NDArray[np.int64], depths: NDArray[np.int64], privacy: Privacy
) -> list[int]:
    """Return about u^depth(s) · 2^96 for each pair, less than one unit off before rounding down; may exceed 2^96."""
    numbers = which.tolist()
    if not privacy.single:
        followed = [orbit_of(value, privacy) for value in probabilities]
        return [followed[number].at(depth) for number, depth in zip(numbers, depths.tolist(), strict=True)]
    if privacy.ratio == 1:  # s_t = s_0 + t·δ: 64 guard bits for t units of error
        bits = RESULT_BITS + 64
        starts, slope = [_floor(value, bits) for value in probabilities], _floor(privacy.delta, bits)
        return [starts[number] + slope * depth >> 64 for number, depth in zip(numbers, depths.tolist(), strict=True)]
    bits = _working_bits(privacy)
    orbits = [_orbit(value, privacy) for value in probabilities]
    distance = depths - np.array([orbit.turn for orbit in orbits], dtype=np.int64)[which]
    powers = _powers(np.abs(distance), privacy.ratio, bits)
    rho = privacy.delta / (privacy.ratio - 1)
    offsets = (-_floor(rho, bits), _floor(1 + rho, bits))
    factors = [(orbit.rising, -orbit.falling) for orbit in orbits]
    down = bits - RESULT_BITS
    return [
        (factors[number][late] * power >> bits) + offsets[late] >> down
        for number, late, power in zip(numbers, (distance >= 0).tolist(), powers, strict=True)
    ]


def _working_bits(privacy: Privacy) -> int:
    return RESULT_BITS + 32 + math.ceil(2 + privacy.delta / (privacy.ratio - 1)).bit_length()


@lru_cache(maxsize=4096)
def _orbit(probability: Fraction, privacy: Privacy) -> _Orbit:
    ratio, delta, bits = privacy.ratio, privacy.delta, _working_bits(privacy)
    rho = delta / (ratio - 1)
    growing, target = probability + rho, (1 - delta) / (ratio + 1) + rho
    turn = 0
    if growing == 0:
        turn = LARGEST_DEPTH
    elif growing < target:
        # τ = ⌈log(target/growing)/log r⌉. Next to an integer this may be one too many; then s_{τ−1} exceeds θ by at
        # most (1 + ρ)(r − 1)·width, and taking the other branch once costs less than r times that: one unit.
        exponent = enclosure_of(
            lambda: ball(target / growing).log() / ball(ratio).log(), width=1 / ((1 + rho) * ratio**2 * (1 << bits))
        )
        turn = min(math.ceil(exponent.upper), LARGEST_DEPTH)
    risen = enclosure_of(lambda: ball(growing) * ball(ratio) ** turn, width=Fraction(1, 1 << bits + 1)).lower
    return _Orbit(turn, _floor(risen, bits), _floor(1 + 2 * rho - risen, bits))


def _powers(exponents: NDArray[np.int64], ratio: Fraction, bits: int) -> list[int]:
    """Return r^−n · 2^bits for each n ≥ 0, at most 2^17 units off."""
    tables = _power_tables(ratio, bits)
    powers = [1 << bits] * len(exponents)
    for index, table in enumerate(tables):
        digits = exponents >> index * _DIGIT_BITS
        # The last digit is cut off at the table's final 0; the others are digits to the base 2^12.
        digits = np.minimum(digits, 1 << _DIGIT_BITS) if table is tables[-1] else digits & (1 << _DIGIT_BITS) - 1
        powers = [power * table[digit] >> bits for power, digit in zip(powers, digits.tolist(), strict=True)]
    return powers


@lru_cache(maxsize=8)
def _power_tables(ratio: Fraction, bits: int) -> list[list[int]]:
    """Return tables of r^−(i · 2^(12·place)) · 2^bits; the last one ends in 0, for every power below one unit."""
    tables: list[list[int]] = []
    step = 1
    while not tables or (step <= LARGEST_DEPTH and step * log_below(ratio) < Fraction(7, 10) * bits):  # 0.7 > log 2
        tables.append(_power_table(step, ratio, bits))
        step <<= _DIGIT_BITS
    tables[-1].append(0)
    return tables


def _power_table(step: int, ratio: Fraction, bits: int) -> list[int]:
    base = _floor(enclosure_of(lambda: ball(ratio) ** -step, width=Fraction(1, 1 << bits + 1)).lower, bits)
    table = [1 << bits]
    for _ in range((1 << _DIGIT_BITS) - 1):
        table.append(table[-1] * base >> bits)
    return table


def _floor(value: Fraction, bits: int) -> int:
    return (value.numerator << bits) // value.denominator


# Exact draws from T^depth of a boundary distribution (docs/theory.md#rainbows).

NODES_PER_ROW = 8
"""From so many nodes for each row that could occur, all rows are built: that is quick then, and says nothing."""


def draw_ranks(
    boundary: Sequence[Sequence[Fraction]],
    classes: Any,
    depths: Any,
    privacy: Privacy,
    *,
    source: BitSource | None = None,
) -> NDArray[np.int64]:
    """Draw for each node the rank of its answer from T^depth of its class's boundary distribution.

    Parameters
    ----------
    boundary : sequence of sequences of Fraction, shape (classes, q − 1)
        For each class the prefix sums s_1 ≤ … ≤ s_{q−1} of its boundary distribution in rank order; the last, 1, is
        left out.
    classes : array of int
        Class number of each node, in any shape.
    depths : array of int, the same shape
        Distance to the boundary, or −1 without a boundary: such a node always answers its first choice.
    privacy : Privacy
        The ratio r and δ of the operator u.
    source : BitSource, optional
        Source of random bits. [default: the operating system]

    Returns
    -------
    array of int64, the same shape
        Ranks in [0, q), 0 for the first choice. Independent; rank k has probability u^depth(s_{k+1}) − u^depth(s_k),
        exactly, for any depth.

    Raises
    ------
    BadInput
        If prefix sums decrease or leave [0, 1], lengths or shapes differ, or a number is out of range.

    Notes
    -----
    Each node takes one random word and ⌈log2 q⌉ comparisons. A tie, of probability below 2q/2^64, encloses u^depth more
    finely. The time to find the distinct pairs of class and depth depends on their number. If the nodes outnumber all
    pairs up to the depth that 64-bit words still resolve, every pair gets a row instead.

    Examples
    --------
    >>> draw_ranks([[Fraction(1, 2)]], [0, 0], [10**12, -1], Privacy(epsilon=1)).tolist()
    [0, 0]
    """
    bits = system_bits(source)
    sums = [_prefix_sums(row) for row in boundary]
    if len({len(row) for row in sums}) != 1:
        raise BadInput("boundary", "must be at least one row, all of the same length", "give q − 1 sums for each class")
    class_array = integers(classes, "classes", at_least=0, at_most=len(sums) - 1)
    depth_array = integers(depths, "depths", at_least=-1, at_most=LARGEST_DEPTH)
    if class_array.shape != depth_array.shape:
        raise BadInput("depths", "must have the shape of classes", "give one depth for each node")
    numbers, distances = class_array.ravel(), depth_array.ravel()
    table, rows = _table(sums, numbers, distances, privacy)
    table = table.at(bits.word_bits)
    drawn = np.empty(len(numbers), dtype=np.int64)
    for part in chunks(len(numbers)):
        words = bits.words(part.stop - part.start)
        drawn[part], ties = table.count_reached(words, rows[part])
        for tie in ties.tolist():
            place = part.start + tie
            bracket = partial(_bracket, sums[numbers[place]], int(distances[place]), privacy)
            drawn[place] = resolve(int(words[tie]), bracket, bits, first=0, last=len(sums[0]))
    return drawn.reshape(class_array.shape)


def _table(
    sums: Sequence[Sequence[Fraction]], classes: NDArray[np.int64], depths: NDArray[np.int64], privacy: Privacy
) -> tuple[ThresholdTable, NDArray[np.int64]]:
    """Build a row for each distinct pair of class and depth, and say which row each node has."""
    caps = np.array([max((saturation_depth(s, privacy) for s in row), default=0) for row in sums], dtype=np.int64)
    pair_class, pair_depth, rows = _distinct(classes, np.minimum(depths, caps[classes]), caps)
    cells = np.empty((len(pair_class), len(sums[0]), 2), dtype=np.uint64)
    for threshold in range(len(sums[0])):
        cells[:, threshold] = open_cells([row[threshold] for row in sums], pair_class, pair_depth, privacy)
    return ThresholdTable.from_cells(cells), rows


def _distinct(
    classes: NDArray[np.int64], depths: NDArray[np.int64], caps: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return classes and depths of the rows to build, and the row of each node."""
    stride = int(caps.max()) + 2
    if NODES_PER_ROW * stride * len(caps) <= len(classes):  # every row, which is public, rather than those that occur
        every = np.arange(stride * len(caps), dtype=np.int64)
        return every // stride, every % stride - 1, classes * stride + depths + 1
    levels, level = np.unique(depths, return_inverse=True)
    keys, rows = np.unique(classes * len(levels) + level, return_inverse=True)
    return keys // len(levels), levels[keys % len(levels)], rows


def _bracket(sums: Sequence[Fraction], depth: int, privacy: Privacy, rank: int, bits: int) -> tuple[int, int]:
    if depth < 0:
        return 1 << bits, 1 << bits
    return bracket_enclosed(partial(enclose_steps, sums[rank - 1], depth, privacy), bits)


def _prefix_sums(row: Sequence[Fraction]) -> tuple[Fraction, ...]:
    sums = tuple(rational(value, "boundary") for value in row)
    if any(low > high for low, high in pairwise((Fraction(0), *sums, Fraction(1)))):
        raise BadInput(
            "boundary", "must hold prefix sums that rise from 0 to 1", "give s_1 ≤ … ≤ s_{q−1} in rank order"
        )
    return sums
