"""From best rows to a mechanism that says what it is best at, with the facts a checker needs to recompute it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...exact import decimal_above, rational_text
from ...graphs import UNREACHABLE, RankedGraph, boundary
from ...mechanisms import ALL_PRIVATE, SAME_ROWS, Mechanism, Objective
from ...mechanisms.scope import too_deep, too_many_events
from ...privacy import Privacy
from ..programs.goals import Goal
from ..programs.sealing import sealed
from .heterogeneous import Rows

__all__ = ["LARGEST_CERTIFIED", "first_choice_goal", "proven"]

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
    objective = Objective(f"{goal.name}, among {among}", value, bound)
    return sealed(replace(mechanism, objective=objective, certificate=certificate), among=among)


def _too_deep(ranked: RankedGraph, privacy: Privacy, fixed: Iterable[int] | None) -> bool:
    """Tell whether rows are propagated farther than a checker follows them with exact numbers."""
    graph = ranked.graph
    if not too_deep(graph.number_of_nodes, privacy):
        return False
    sources = np.flatnonzero(boundary(ranked)).tolist() if fixed is None else list(fixed)
    near = np.full(graph.number_of_nodes, UNREACHABLE)
    for source in sources:
        found = graph.distances_from(source)
        near = np.where((near == UNREACHABLE) | ((found != UNREACHABLE) & (found < near)), found, near)
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
