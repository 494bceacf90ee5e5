"""The best rows given some rows anywhere: the node-wise bound, and whether it is a private mechanism itself.

At every node d and for every k, the first k answers of d's ranking are bounded by the nodes b with given rows. Together
they get at most the smallest u^dist(b,d)(what b gives them). No private mechanism passes this bound; where it is
private, it is the optimum ([DOliveira2021], Theorem 3; docs/theory.md#rainbows; proofs/rainbow-optimality.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ...graphs import DatasetGraph, RankedGraph
from ...linprog.program import as_fmpq
from ...mechanisms import Row
from ...privacy import Privacy
from .propagation import ExactSteps, Spread, Steps, spread

__all__ = [
    "Fixed",
    "Rows",
    "bound_rows",
    "event_label",
    "is_private",
    "spread_event",
]

Fixed = Mapping[int, Row]
"""Index of a node → its given row, in the order of the outputs."""

_NO_ROW = -1


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Distinct rows, in the order of the outputs, and which one every node uses."""

    distinct: tuple[Row, ...]
    row_of: NDArray[np.int64]

    def listed(self) -> list[Row]:
        """Return one row per node."""
        return [self.distinct[number] for number in self.row_of]


def event_label(row: Row, event: frozenset[int], steps: Steps) -> Any:
    """Return what a row gives to an event, as a label."""
    first, *others = event
    return steps.label(sum((row[v] for v in others), row[first]))


def spread_event(ranked: RankedGraph, fixed: Fixed, event: frozenset[int], steps: Steps) -> Spread:
    """Bound the probability of an event at every node."""
    return spread(ranked.graph, {node: event_label(row, event, steps) for node, row in fixed.items()}, steps)


def bound_rows(ranked: RankedGraph, fixed: Fixed, steps: Steps) -> Rows:
    """Return the rows that meet the node-wise bound in every prefix sum; nodes that are given keep their rows.

    Raises
    ------
    TooLong
        When `steps` limits the digits and a label has more.
    """
    spreads: dict[frozenset[int], list[Any]] = {}
    numbers: dict[Any, int] = {}
    distinct: list[Row] = []
    row_of = np.full(ranked.graph.number_of_nodes, _NO_ROW, np.int64)
    for node, row in fixed.items():
        row_of[node] = numbers.setdefault(_key(row), len(distinct))
        if row_of[node] == len(distinct):
            distinct.append(row)
    free = np.flatnonzero(row_of == _NO_ROW)
    for code, order in enumerate(ranked.orders):
        members = free[ranked.codes[free] == code]
        if not len(members):
            continue
        columns = []
        for k in range(1, len(order)):
            event = frozenset(order[:k])
            if event not in spreads:
                spreads[event] = spread_event(ranked, fixed, event, steps).labels
            columns.append(spreads[event])
        here: dict[Any, int] = {}
        for node in members.tolist():
            labels = tuple([labels[node] for labels in columns])
            if (number := here.get(labels)) is None:
                sums = [Fraction(0), *(steps.value(label) for label in labels), Fraction(1)]
                row = ranked.along_outputs(code, [after - before for before, after in pairwise(sums)])
                number = here[labels] = numbers.setdefault(_key(row), len(distinct))
                if number == len(distinct):
                    distinct.append(row)
            row_of[node] = number
    return Rows(tuple(distinct), row_of)


def _key(row: Row) -> tuple[int, ...]:
    """Return what tells rows apart; fractions themselves are hashed by a power to a modulus, which takes far longer."""
    return tuple([part for p in row for part in (p.numerator, p.denominator)])


def is_private(rows: Rows, graph: DatasetGraph, privacy: Privacy) -> bool:
    """Tell whether the rows of all neighbours are close, exactly; every pair of distinct rows is looked at once."""
    count = len(rows.distinct)
    meet = [np.zeros(0, np.int64)]
    for tails, heads in graph.edges():
        one, other = rows.row_of[tails], rows.row_of[heads]
        meet.append(np.unique((np.minimum(one, other) * count + np.maximum(one, other))[one != other]))
    pairs = [pair.tolist() for pair in np.divmod(np.unique(np.concatenate(meet)), count)]
    numbers = [[as_fmpq(p) for p in row] for row in rows.distinct]
    if any(min(row) < 0 for row in numbers):
        return False
    if numbers and len(numbers[0]) == 2:
        # Two answers are close if and only if each row gives the first at most u of what the other gives it.
        steps = ExactSteps(privacy)
        truth = [row[0] for row in numbers]
        most = [steps.step(p) for p in truth]
        return all(truth[i] <= most[j] and truth[j] <= most[i] for i, j in zip(*pairs, strict=True))
    zero = flint.fmpq(0)

    def excess(i: int, j: int, ratio: flint.fmpq) -> flint.fmpq:
        return sum((max(zero, p - ratio * q) for p, q in zip(numbers[i], numbers[j], strict=True)), start=zero)

    promised = [(as_fmpq(pair.ratio), as_fmpq(pair.delta)) for pair in privacy.pairs]
    return all(
        excess(i, j, ratio) <= delta and excess(j, i, ratio) <= delta
        for i, j in zip(*pairs, strict=True)
        for ratio, delta in promised
    )
