"""Reading a count that may be anything: without an upper bound every value is best moved by one and the same amount.

Far from the least count all places look alike. So no post-processing does better there than the best constant shift c
of the published value, and a shift costs the same everywhere: E l(i, i + Z + c). Near the least count the answer is
raised to it, which costs less and not more (proofs/unbounded-counts.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import flint

from ..errors import BadInput
from ..exact import ball, dyadic_above, dyadic_below, enclosure_of
from ..privacy import Privacy
from .losses import Loss, Tail

__all__ = ["Shift", "best_shift", "loss_of_shift"]

_BITS = 128
_FARTHEST = 1 << 60


@dataclass(frozen=True, slots=True)
class Shift:
    """The best constant shift, and bounds on what it costs: no reading costs less than `lower_bound` at worst."""

    shift: int
    value: Fraction
    lower_bound: Fraction


def best_shift(loss: Loss, privacy: Privacy) -> Shift:
    """Return how a minimax consumer without an upper bound reads a count with two-sided geometric noise.

    Parameters
    ----------
    loss : Loss
        Of the error alone.
    privacy : Privacy
        Ratio above 1; δ is not used.

    Raises
    ------
    BadInput
        For a table, for tails that differ and are not convex, or at ε = 0, where the worst loss has no bound.

    Examples
    --------
    >>> from irisdp.consumers.losses import absolute, pinball
    >>> float(best_shift(absolute(), Privacy.from_ratio(2)).value), best_shift(absolute(), Privacy.from_ratio(2)).shift
    (1.3333333333333333, 0)
    >>> best_shift(pinball(too_low=9, too_high=1), Privacy.from_ratio(2)).shift
    2

    References
    ----------
    proofs/unbounded-counts.md.
    """
    low, high = _tails(loss, privacy)
    if low == high:
        return _priced(loss, privacy, 0)
    if not all(tail.convex for tail in (low, high)):
        raise BadInput("loss", "has tails that differ and are not convex, which needs a largest count", "give at_most")
    # What a shift costs is convex, as the loss is: search for where it stops falling.
    cost = lru_cache(lambda shift: _middle(loss, privacy, shift))
    step = 1 if cost(1) < cost(0) else -1

    def falls(steps: int) -> bool:
        return bool(cost(step * (steps + 1)) < cost(step * steps))

    reach = 1
    while falls(reach):
        reach *= 2
        if reach > _FARTHEST:
            raise BadInput("loss", "is too one-sided for this epsilon", "choose slopes that differ less")
    return _priced(loss, privacy, step * bisect_left(range(reach), True, key=lambda steps: not falls(steps)))


def loss_of_shift(loss: Loss, privacy: Privacy, shift: int = 0) -> Fraction:
    """Return, rounded up, the mean loss of answering the published value moved by `shift`; 0 uses it unchanged."""
    return _priced(loss, privacy, shift).value


def _priced(loss: Loss, privacy: Privacy, shift: int) -> Shift:
    found = enclosure_of(_cost(loss, privacy, shift), width=Fraction(1, 1 << _BITS))
    lower = max(found.lower, Fraction(0))
    value = found.upper
    return Shift(
        shift,
        dyadic_above(value, _BITS) if value > 0 else Fraction(0),
        dyadic_below(lower, _BITS) if lower > 0 else Fraction(0),
    )


def _middle(loss: Loss, privacy: Privacy, shift: int) -> Fraction:
    found = enclosure_of(_cost(loss, privacy, shift), width=Fraction(1, 1 << _BITS))
    return (found.lower + found.upper) / 2


def _tails(loss: Loss, privacy: Privacy) -> tuple[Tail, Tail]:
    if loss.low is None or loss.high is None:
        raise BadInput("loss", "is a table, which needs a largest count", "give at_most")
    if privacy.ratio == 1:
        raise BadInput("epsilon", "is 0, so that the answer says nothing about an unbounded count", "give at_most")
    return loss.low, loss.high


def _cost(loss: Loss, privacy: Privacy, shift: int) -> Callable[[], flint.arb]:
    low, high = _tails(loss, privacy)

    def compute() -> flint.arb:
        alpha = 1 / ball(privacy.ratio)
        # An answer is too high by Z + shift and too low by −Z − shift, and Z and −Z have one law.
        found = (1 - alpha) / (1 + alpha) * (_beyond(high, shift, alpha) + _beyond(low, -shift, alpha))
        # Less than 2^-1024 is as good as nothing, and would be a long number.
        least = flint.arb(2) ** -1025
        nothing = flint.arb(least, least)
        if found < 2 * least:
            return nothing
        return found if found > 2 * least else found.union(nothing)

    return compute


def _beyond(tail: Tail, shift: int, alpha: flint.arb) -> flint.arb:
    """Return Σ α^|z| · tail(z + shift) over the z with z + shift > 0."""
    first = tail.beyond + 1 - shift
    start = max(first, 1)
    total = alpha**start * _series(tail, start - first + 1, 1, alpha)
    if first <= 0:  # and the values 0, −1, …, first: a series without end, less what it holds beyond `first`
        total += _series(tail, 1 - first, -1, alpha) - alpha ** (1 - first) * _series(tail, 0, -1, alpha)
    return total


def _series(tail: Tail, m: int, step: int, alpha: flint.arb) -> flint.arb:
    """Return Σ_{j ≥ 0} α^j f(m + step·j) with f(m) = jump + slope·m + curvature·m(m−1)/2, also where m ≤ 0."""
    here, there = (tail.jump + tail.slope * k + tail.curvature * k * (k - 1) / 2 for k in (m, m + step))
    one = 1 - alpha
    return (ball(here) + ball(there - here) * alpha / one + ball(tail.curvature) * alpha**2 / one**2) / one
