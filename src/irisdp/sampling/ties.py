"""The one place where a draw that its first word leaves open is decided, exactly.

U is uniform on [0, 1) with binary digits without end. A draw is the number v with c_v ≤ U < c_{v+1}, for cumulative
probabilities c that may be rationals or reals known through enclosures. More digits of U and of c are read together
until no c lies in the interval that U is known to be in; that happens with probability 1, also where an enclosed c
is a binary fraction that no enclosure ever leaves: the digits of U leave it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..exact import Enclosure
from .bits import BitSource

__all__ = ["Bracket", "bracket_enclosed", "bracket_rational", "resolve"]

Bracket = Callable[[int, int], tuple[int, int]]
"""(v, bits) ↦ integers around c_v: lower ≤ c_v · 2^bits ≤ upper, at most a few units apart."""


def bracket_rational(value: Fraction, bits: int) -> tuple[int, int]:
    """Return floor and ceiling of value · 2^bits."""
    scaled = value.numerator << bits
    return scaled // value.denominator, -(-scaled // value.denominator)


def bracket_enclosed(enclose: Callable[..., Enclosure], bits: int) -> tuple[int, int]:
    """Bracket a real that `enclose(width=…)` encloses to any width."""
    found = enclose(width=Fraction(1, 1 << bits + 2))
    return bracket_rational(found.lower, bits)[0], bracket_rational(found.upper, bits)[1]


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
