"""The smallest number from which on something holds."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["first_where"]


def first_where(holds: Callable[[int], bool]) -> int:
    """Return the smallest n ≥ 0 from which on something holds that holds somewhere, and ever after."""
    low, high = -1, 0
    while not holds(high):
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
