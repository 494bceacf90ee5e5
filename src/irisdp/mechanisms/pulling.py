"""Pull from the top, step by step: who is behind gains records from the winners until they are level.

Where that ends is found at once, however many records it takes; chances at many gaps share what they have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import flint

__all__ = ["Pulled", "pull"]

Sorted = tuple[int, ...]

_Number = Any
"""A fraction, a float or a ball: the formulas are the same."""


class Pulled:
    """Chances by pulling from the top, of as many gaps as are asked for; what several of them need is worked out once.

    Parameters
    ----------
    inverse : number
        1/r, a fraction or a ball.
    power : callable
        From k to r^(−k).
    """

    def __init__(self, inverse: _Number, power: Callable[[int], _Number]) -> None:
        self._inverse, self._power = inverse, power
        self._tops: dict[Sorted, _Number] = {}

    def chance(self, here: Sorted, gap: int) -> _Number:
        """Work out the chance of a category with this gap, among gaps in ascending order."""
        if gap < 2:
            return self.top(here) * (self._inverse if gap else 1)
        pulled, steps, behind = pull(here, gap)
        share = self._power(steps + behind)
        if isinstance(share, flint.arb) and share.contains(0):
            return share  # what it is a share of is at most 1
        return self.top(pulled) * share

    def top(self, here: Sorted) -> _Number:
        """Work out the chance of each winner: what is left, shared with those one record behind at their price."""
        if here not in self._tops:
            held = Counter(here)
            lost = sum((held[gap] * self.chance(here, gap) for gap in held if gap > 1), start=0 * self._inverse)
            self._tops[here] = (1 - lost) / (held[0] + held[1] * self._inverse)
        return self._tops[here]


def pull(node: Sorted, gap: int) -> tuple[Sorted, int, int]:
    """Let a category that is behind gain records from the winners, one by one, until it is level with them.

    Parameters
    ----------
    node : tuple of int
        Gaps, ascending.
    gap : int
        Of the category, at least 2; one with this gap among them.

    Returns
    -------
    tuple
        The gaps then, ascending; how many records moved; and the category's own gap, 0 or 1.
    """
    others = list(node)
    others.remove(gap)
    # How far below the old winner it arrives: as far down as the winners can be brought with the records that move.
    arrives, beyond = 0, gap + 1
    while beyond - arrives > 1:
        middle = (arrives + beyond) // 2
        enough = sum(max(0, middle - 1 - one) for one in others) <= gap - middle
        arrives, beyond = (middle, beyond) if enough else (arrives, middle)
    steps = gap - arrives
    # The winners come down to one above it, and with the records that are left some of them to its own level.
    left = steps - sum(max(0, arrives - 1 - one) for one in others)
    lowered = [max(one, arrives - 1) for one in others]
    ahead = lowered.count(arrives - 1)
    top = arrives - 1 if left < ahead else arrives
    after = sorted(
        [
            *(one - top for one in lowered if one >= arrives),
            *[arrives - 1 - top] * (ahead - left),
            *[arrives - top] * (left + 1),
        ]
    )
    return tuple(after), steps, arrives - top
