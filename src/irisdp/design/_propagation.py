"""How far the probability of an event carries: labels spread from given nodes, one application of u per edge.

An event that has probability s at one node has at most u(s) at a neighbour, hence at most u^dist(b,d)(s_b) at d for
every node b where it is given. The smallest of these bounds is a shortest-path problem in which every edge applies the
same increasing u ≥ identity. So labels come out in ascending order by themselves: the given nodes, sorted, are merged
with a queue that only ever grows at its end, and no heap is needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import flint

from .._exact.linprog import as_fmpq, as_fraction
from ..graphs import DatasetGraph, listed
from ..privacy import Privacy, enclose_steps, steps


class TooLong(Exception):
    """An exact label has more digits than asked for."""


class Iterates(Protocol):
    """Arithmetic on labels: how a probability becomes one, what u makes of it, and back."""

    one: Any

    def label(self, probability: Fraction) -> Any:
        """Write a probability as a label."""

    def step(self, label: Any) -> Any:
        """Apply u."""

    def value(self, label: Any) -> Fraction:
        """Read a label as a probability."""


class ExactSteps:
    """Exact labels; with `longest` given, `TooLong` is raised at the first label with a larger denominator."""

    def __init__(self, privacy: Privacy, longest: int | None = None) -> None:
        self.one, self._longest = flint.fmpq(1), longest
        self._starts = [as_fmpq(start) for start in privacy.shape.starts]
        self._lines = [(as_fmpq(line.slope), as_fmpq(line.constant)) for line in privacy.shape.lines]

    def label(self, probability: Fraction) -> flint.fmpq:
        """Take the probability unchanged."""
        return as_fmpq(probability)

    def step(self, label: flint.fmpq) -> flint.fmpq:
        """Apply u."""
        slope, constant = self._lines[bisect_right(self._starts, label) - 1]
        result = slope * label + constant
        if self._longest is not None and result.q > self._longest:
            raise TooLong
        return result

    def value(self, label: flint.fmpq) -> Fraction:
        """Return the probability itself."""
        return as_fraction(label)


class GridSteps:
    """Labels that are multiples of 2^-bits, all roundings down, or all up.

    Rounded down, two answers stay exactly private: there x ≤ u(y) and y ≤ u(x) is all that closeness asks for, and a
    smaller label satisfies it all the more. Short of 1 the labels stop one unit below it.
    """

    def __init__(self, privacy: Privacy, bits: int, *, up: bool = False) -> None:
        self.one, self._up = 1 << bits, up
        # A piece (a/b)·S + c/d of u as (ad·S + cb·one) / bd, for the labels from its start rounded up.
        self._starts = [-(-start.numerator * self.one // start.denominator) for start in privacy.shape.starts]
        self._lines = []
        for line in privacy.shape.lines:
            (a, b), (c, d) = line.slope.as_integer_ratio(), line.constant.as_integer_ratio()
            self._lines.append((a * d, c * b << bits, b * d))

    def label(self, probability: Fraction) -> int:
        """Round a probability to the grid."""
        return self._round(probability.numerator * self.one, probability.denominator)

    def step(self, label: int) -> int:
        """Apply u and round."""
        factor, constant, divisor = self._lines[bisect_right(self._starts, label) - 1]
        return min(self.one, self._round(factor * label + constant, divisor))

    def value(self, label: int) -> Fraction:
        """Return the probability that the label stands for."""
        return Fraction(label, self.one)

    def _round(self, numerator: int, denominator: int) -> int:
        return -(-numerator // denominator) if self._up else numerator // denominator


@dataclass(frozen=True, slots=True)
class Violation:
    """A given label that exceeds its bound: at `node`, by what is given at `origin`."""

    node: int
    origin: int
    bound: Any


@dataclass(frozen=True, slots=True)
class Spread:
    """The bound of every node as a label, 1 where nothing given can be reached; and the worst contradiction."""

    labels: list[Any]
    violation: Violation | None


def spread(graph: DatasetGraph, given: Mapping[int, Any], steps: Iterates) -> Spread:
    """Return the smallest u^dist(b,d)(given_b) for every node d.

    Parameters
    ----------
    graph : DatasetGraph
    given : mapping
        Node index → label. These nodes keep their labels, and every path through one of them starts from its label.
    steps : Steps
        The arithmetic.
    """
    rows = listed(graph)
    first, row = rows.indptr.data, rows.indices.data
    labels = [steps.one] * graph.number_of_nodes
    origins = [-1] * graph.number_of_nodes
    for node, label in given.items():
        labels[node], origins[node] = label, node
    sources = sorted(given, key=given.__getitem__)
    queue: list[int] = []
    violation, widest = None, 0
    ahead, head = 0, 0
    label, further = None, None
    while ahead < len(sources) or head < len(queue):
        if head == len(queue) or (ahead < len(sources) and labels[sources[ahead]] <= labels[queue[head]]):
            node = sources[ahead]
            ahead += 1
        else:
            node = queue[head]
            head += 1
        if labels[node] != label:
            label = labels[node]
            further = steps.step(label)
        origin = origins[node]
        for other in row[first[node] : first[node + 1]]:
            if origins[other] < 0:
                origins[other], labels[other] = origin, further
                queue.append(other)
            elif further < labels[other] and other in given and labels[other] - further > widest:
                widest = labels[other] - further
                violation = Violation(other, origin, further)
    return Spread(labels, violation)


# The smallest ε, or δ, at which a request becomes possible, rounded up so that it then is.

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
