"""u, recomputed: the most that a neighbour can give to an event, for any number of pairs.

Each pair (r, δ) allows at most min{1, r·s + δ, 1 − (1 − s − δ)/r}. So u is the least of all these lines, and on an
interval it is one of them. Their lower envelope is found once, and a value is looked up (docs/theory.md#operator).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable

import flint

from ..privacy import Pair
from .arithmetic import Number, flint_rational

__all__ = ["Step"]


class Step:
    """The map s → u(s), remembered: many nodes share a value."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        lowest: dict[Number, Number] = {flint.fmpq(0): flint.fmpq(1)}  # the constant of the lowest line of each slope
        for pair in pairs:
            ratio, delta = flint_rational(pair.ratio), flint_rational(pair.delta)
            for slope, constant in ((ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)):
                lowest[slope] = min(constant, lowest.get(slope, constant))
        self._lines: list[tuple[Number, Number]] = []
        self._starts: list[Number] = []  # where each line becomes the lowest
        for slope in sorted(lowest, reverse=True):
            constant, start = lowest[slope], flint.fmpq(0)
            while self._lines:
                steeper, other = self._lines[-1]
                start = (constant - other) / (steeper - slope)
                if start > self._starts[-1]:
                    break
                self._lines.pop()
                self._starts.pop()
            self._lines.append((slope, constant))
            self._starts.append(start if len(self._lines) > 1 else flint.fmpq(0))
        self._known: dict[Hashable, Number] = {}

    def __call__(self, s: Number) -> Number:
        """Return u(s) for s from 0 to 1."""
        if s not in self._known:
            slope, constant = self._line(s)
            self._known[s] = slope * s + constant
        return self._known[s]

    def slope(self, s: Number) -> Number:
        """Return a slope of u at s, that of the right side at a kink."""
        return self._line(s)[0]

    def _line(self, s: Number) -> tuple[Number, Number]:
        return self._lines[bisect_right(self._starts, s) - 1]
