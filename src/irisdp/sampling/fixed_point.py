"""Open cells of u^t(s) for millions of depths t: rigorous fixed-point arithmetic on the closed form.

For several pairs, which have none, `shape_orbits` goes step by step. For one:

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
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..exact import ball, enclosure_of, log_below
from ..privacy import Privacy
from .shape_orbits import RESULT_BITS as _RESULT_BITS
from .shape_orbits import orbit_of
from .thresholds import LAST_WORD, chunks

__all__ = ["LARGEST_DEPTH", "open_cells", "saturation_depth"]

LARGEST_DEPTH = (1 << 63) - 1
_LARGEST_NUMERATOR = (1 << _RESULT_BITS) - 2
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
        bits = _RESULT_BITS + 64
        starts, slope = [_floor(value, bits) for value in probabilities], _floor(privacy.delta, bits)
        return [starts[number] + slope * depth >> 64 for number, depth in zip(numbers, depths.tolist(), strict=True)]
    bits = _working_bits(privacy)
    orbits = [_orbit(value, privacy) for value in probabilities]
    distance = depths - np.array([orbit.turn for orbit in orbits], dtype=np.int64)[which]
    powers = _powers(np.abs(distance), privacy.ratio, bits)
    rho = privacy.delta / (privacy.ratio - 1)
    offsets = (-_floor(rho, bits), _floor(1 + rho, bits))
    factors = [(orbit.rising, -orbit.falling) for orbit in orbits]
    down = bits - _RESULT_BITS
    return [
        (factors[number][late] * power >> bits) + offsets[late] >> down
        for number, late, power in zip(numbers, (distance >= 0).tolist(), powers, strict=True)
    ]


def _working_bits(privacy: Privacy) -> int:
    return _RESULT_BITS + 32 + math.ceil(2 + privacy.delta / (privacy.ratio - 1)).bit_length()


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
    for place, table in enumerate(tables):
        digits = exponents >> place * _DIGIT_BITS
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
