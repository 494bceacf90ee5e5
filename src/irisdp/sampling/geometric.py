"""Geometric noise on integers, exact and in bulk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import integer
from ..privacy import Privacy
from .bits import BitSource, system_bits
from .digits import Digit, digits_of, draw_together
from .inputs import integers
from .thresholds import chunks

__all__ = [
    "LARGEST_VALUE",
    "Drawn",
    "add_drawn",
    "add_geometric",
    "clamped_geometric",
    "draw_digits",
    "geometric_digits",
    "one_sided_geometric",
]

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
