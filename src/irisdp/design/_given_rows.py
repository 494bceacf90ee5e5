"""The best rows given some rows anywhere: the node-wise bound, and whether it is a private mechanism itself.

At every node d and for every k, the first k answers of d's ranking are bounded by the nodes b with given rows. Together
they get at most the smallest u^dist(b,d)(what b gives them). No private mechanism passes this bound; where it is
private, it is the optimum ([DOliveira2021], Theorem 3; docs/theory.md#rainbows; proofs/rainbow-optimality.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import decimal_above, rational_text
from .._exact.linprog import as_fmpq
from ..graphs import UNREACHABLE, DatasetGraph, RankedGraph, boundary
from ..mechanisms import ALL_PRIVATE, SAME_ROWS, Mechanism, Row, StatedObjective, too_deep, too_many_events
from ..privacy import Privacy
from ._optimal_mechanism import sealed
from ._privacy_program import Goal
from ._propagation import ExactSteps, Iterates, Spread, spread

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


def event_label(row: Row, event: frozenset[int], steps: Iterates) -> Any:
    """Return what a row gives to an event, as a label."""
    first, *others = event
    return steps.label(sum((row[v] for v in others), row[first]))


def spread_event(ranked: RankedGraph, fixed: Fixed, event: frozenset[int], steps: Iterates) -> Spread:
    """Bound the probability of an event at every node."""
    return spread(ranked.graph, {node: event_label(row, event, steps) for node, row in fixed.items()}, steps)


def bound_rows(ranked: RankedGraph, fixed: Fixed, steps: Iterates) -> Rows:
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


# From best rows to a mechanism that says what it is best at, with the facts a checker needs to recompute it.

LARGEST_CERTIFIED = 10_000
"""Nodes, and edges of an explicit graph, beyond which the certificate would be longer than its recomputation."""

_PLACES = 45
"""Decimals of `within`."""


def proven(
    rows: Rows,
    ranked: RankedGraph,
    privacy: Privacy,
    *,
    theorem: str,
    within: Fraction = Fraction(0),
    fixed: Iterable[int] | None = None,
    goal: Goal | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Mechanism:
    """Write rows down as a mechanism with its theorem certificate.

    What is proven is among the mechanisms that share the given rows: those of `fixed`, or those on the boundary. Only
    where no row is given (no fixed node, or no boundary) is it among all private mechanisms.

    Parameters
    ----------
    rows : Rows
        Optimal given some of them, up to `within` per entry.
    ranked : RankedGraph
    privacy : Privacy
    theorem : str
        "balanced-line", "homogeneous-rainbow" or "rainbow".
    within : Fraction
        Largest distance of an entry from the theorem's own.
    fixed : iterable, optional
        The nodes whose rows are given, which "rainbow" needs.
    goal : Goal, optional
        What to report; the mean probability of missing the first choice when left out.
    facts : mapping, optional
        More for the certificate.
    """
    graph = ranked.graph
    mechanism = Mechanism(
        privacy=privacy,
        inputs=graph.nodes,
        outputs=ranked.outputs,
        rows=rows.distinct,
        row_of=rows.row_of,
        graph=graph,
    )
    size = graph.number_of_nodes
    if max(size, graph.number_of_edges) > LARGEST_CERTIFIED or too_many_events(ranked.orders, size):
        return mechanism
    if _too_deep(ranked, privacy, fixed):
        return mechanism
    goal = first_choice_goal(ranked) if goal is None else goal
    certificate: dict[str, Any] = {
        "kind": "theorem",
        "theorem": theorem,
        "rankings": [list(order) for order in ranked.orders],
        "ranking_of": ranked.codes.tolist(),
        **goal.to_document(goal.weights or ()),
        **(facts or {}),
    }
    given = len(ranked.classes) > 1 and bool(boundary(ranked).any())
    if fixed is not None:
        certificate["fixed"] = sorted(fixed)
        given = bool(certificate["fixed"])
    if within:
        certificate["within"] = rational_text(decimal_above(within, _PLACES))
    value = goal.value(rows.listed())
    # Entries that are off by `within` move the expected loss at an input by at most that times the sum of its losses.
    slack = sum(
        (w * within * sum(losses) for w, losses in zip(goal.weights or (), goal.loss, strict=True)), Fraction(0)
    )
    bound = max(Fraction(0), -decimal_above(slack - value, _PLACES)) if slack else value
    among = SAME_ROWS if given else ALL_PRIVATE
    objective = StatedObjective(f"{goal.name}, among {among}", value, bound)
    return sealed(replace(mechanism, objective=objective, certificate=certificate), among=among)


def _too_deep(ranked: RankedGraph, privacy: Privacy, fixed: Iterable[int] | None) -> bool:
    """Tell whether rows are propagated farther than a checker follows them with exact numbers."""
    graph = ranked.graph
    if not too_deep(graph.number_of_nodes, privacy):
        return False
    sources = np.flatnonzero(boundary(ranked)).tolist() if fixed is None else list(fixed)
    near = np.full(graph.number_of_nodes, UNREACHABLE)
    for source in sources:
        distances = graph.distances_from(source)
        near = np.where((near == UNREACHABLE) | ((distances != UNREACHABLE) & (distances < near)), distances, near)
    return too_deep(int(near.max()), privacy)


def first_choice_goal(ranked: RankedGraph) -> Goal:
    """Return the mean probability that the answer is not the node's first choice, as a goal."""
    count = ranked.graph.number_of_nodes
    losses = [tuple(Fraction(v != order[0]) for v in range(len(order))) for order in ranked.orders]
    return Goal(
        name="mean probability of missing the first choice",
        loss=tuple(losses[code] for code in ranked.codes.tolist()),
        weights=(Fraction(1, count),) * count,
    )
