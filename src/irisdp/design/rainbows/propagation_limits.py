"""The smallest ε, or δ, at which a request becomes possible, rounded up so that it then is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ...privacy import Privacy, enclose_steps, steps

__all__ = ["reaches", "smallest_delta", "smallest_epsilon"]

_UNIT = 10**12
"""Answers are multiples of 10^-12: right to 1e-9 with room to spare, and short to read."""

_LARGEST_EPSILON = 1000

_FEW_STEPS = 32
"""Up to here u is applied exactly, so that a limit which is a short decimal is found as such."""


def smallest_epsilon(holds: Callable[[Privacy], bool], privacy: Privacy) -> Fraction | None:
    """Return the smallest ε, to 10^-12 and rounded up, at which something holds with this δ; None if no ε is enough.

    Of several pairs no single one is looked for: None.

    Parameters
    ----------
    holds : callable
        Monotone: what holds keeps holding as ε grows.
    privacy : Privacy
        Gives δ.
    """
    if not privacy.single:
        return None
    return _smallest(
        lambda n: holds(Privacy(epsilon=Fraction(n, _UNIT), delta=privacy.delta)), _LARGEST_EPSILON * _UNIT
    )


def smallest_delta(holds: Callable[[Privacy], bool], privacy: Privacy) -> Fraction | None:
    """Return the smallest δ below 1, to 10^-12 and rounded up, at which something holds with this ratio."""
    if not privacy.single:
        return None
    return _smallest(lambda n: holds(privacy.with_delta(Fraction(n, _UNIT))), _UNIT - 1)


def reaches(probability: Fraction, count: int, target: Fraction, privacy: Privacy) -> bool:
    """Tell whether u^count(probability) ≥ target; beyond some steps a tie within 2^-100 counts as no."""
    if count <= _FEW_STEPS:
        return steps(probability, count, privacy) >= target
    return enclose_steps(probability, count, privacy, width=Fraction(1, 1 << 100)).lower >= target


def _smallest(holds: Callable[[int], bool], most: int) -> Fraction | None:
    """Return the smallest n in 0..most, divided by the unit, for which a monotone statement holds."""
    if not holds(most):
        return None
    low, high = -1, most
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return Fraction(high, _UNIT)
