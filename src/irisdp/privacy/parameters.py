"""The privacy a mechanism is asked for, as exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import exp_below, log_above, rational, rational_text

__all__ = ["LONGEST", "Privacy"]

LONGEST = 4096
"""Bits of a numerator or a denominator that ε, a ratio or δ may be given with: more than 1,200 digits.

Each is computed with many times, and written into files that must be read again. The stand-alone verifier has the same
limit. What the library itself computes from them may be longer.
"""


@dataclass(frozen=True, slots=True, init=False)
class Privacy:
    """An (ε,δ) guarantee held as rationals: a ratio r ≤ e^ε and δ.

    Theorems hold exactly in `ratio` and `delta`; `epsilon` is what a ledger charges and is never below log(ratio).

    Parameters
    ----------
    epsilon : number or text, optional
        ε ≥ 0; the ratio is e^ε rounded down (toward more privacy) to 128 bits.
    ratio : number or text, optional
        r ≥ 1, exact; give it instead of `epsilon`. The ε charged is log r rounded up.
    delta : number or text
        In [0, 1).

    Examples
    --------
    >>> Privacy(epsilon=0.1).epsilon
    Fraction(1, 10)
    >>> Privacy.from_ratio("6/5", delta="1/10").ratio
    Fraction(6, 5)
    """

    ratio: Fraction
    delta: Fraction
    epsilon: Fraction

    def __init__(self, *, epsilon: Any = None, ratio: Any = None, delta: Any = 0) -> None:
        if (epsilon is None) == (ratio is None):
            raise BadInput("privacy", "needs exactly one of epsilon and ratio", "give one of them")
        if epsilon is not None:
            charge = _given(epsilon, "epsilon")
            if charge < 0:
                raise BadInput("epsilon", "must not be negative", "give a number that is at least 0")
            factor = exp_below(charge)
        else:
            factor = _given(ratio, "ratio")
            if factor < 1:
                raise BadInput("ratio", "must be at least 1 (it is e^epsilon)", "give a number from 1 up")
            charge = log_above(factor)
        object.__setattr__(self, "ratio", factor)
        object.__setattr__(self, "delta", _delta(delta))
        object.__setattr__(self, "epsilon", charge)

    @classmethod
    def from_ratio(cls, ratio: Any, delta: Any = 0) -> Privacy:
        """Take r = e^ε exactly."""
        return cls(ratio=ratio, delta=delta)

    @property
    def pure(self) -> Privacy:
        """The same ratio with δ = 0."""
        return self.with_delta(Fraction(0))

    def with_delta(self, delta: Any) -> Privacy:
        """Keep the ratio and the charge, and change δ."""
        changed = object.__new__(Privacy)
        for name, value in (("ratio", self.ratio), ("delta", _delta(delta)), ("epsilon", self.epsilon)):
            object.__setattr__(changed, name, value)
        return changed

    def __str__(self) -> str:
        """Write (ε, δ) for people."""
        text = f"ε = {rational_text(self.epsilon)}"
        return text if self.delta == 0 else f"{text}, δ = {rational_text(self.delta)}"


def _given(value: Any, field: str) -> Fraction:
    """Read a number that people wrote; fractions are what the library computed, or a caller did."""
    number = rational(value, field)
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits > LONGEST and not isinstance(value, Fraction):
        raise BadInput(field, f"has more than {LONGEST} bits above or below the line", "write a shorter number")
    return number


def _delta(value: Any) -> Fraction:
    delta = _given(value, "delta")
    if not 0 <= delta < 1:
        raise BadInput("delta", "must be at least 0 and below 1", "give a small probability such as 1e-6")
    return delta
