"""The winner as a mechanism file: rows for all capped gaps, or for all counts of so many records, and their bound.

If the linear program over all private mechanisms is small, it proves a bound, and the rows are its optimum, alike for
any order of the categories. The closed form that `plurality` chooses is kept if it is as good. Beyond, they are the
closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any, Literal

from ...errors import BadInput
from ...exact import Table, checked, integer
from ...graphs import DatasetGraph, Gaps, Histograms
from ...mechanisms import Mechanism, Objective
from ...mechanisms.plurality import LARGEST_CATEGORIES, LARGEST_PULL, Pull, Winner
from ...privacy import Privacy, are_close
from ..programs.goals import Goal
from ..programs.optimal_mechanism import optimal_mechanism
from ..programs.repair import shortened
from ..programs.sealing import sealed
from .plurality import Relation, Ties, plurality

__all__ = ["winner"]

MOST_INPUTS = 5_000

MOST_CONSTRAINTS = 6_000
"""Privacy constraints up to which the program over all private mechanisms is solved: seconds."""

_BY_DEFAULT = 100
"""Inputs up to which gaps are told apart where neither a cap nor a total is given."""

Node = tuple[int, ...]


@checked
def winner(
    categories: int,
    privacy: Privacy,
    *,
    largest: int | None = None,
    total: int | None = None,
    relation: Relation = "exchange",
    ties: Ties = "any",
    objective: Literal["average", "worst"] = "average",
) -> Mechanism:
    """Write down a mechanism that names the largest category.

    Parameters
    ----------
    categories : int
        q, from 2 up; answers are 0..q−1.
    privacy : Privacy
        One pair. Its δ is not used, and δ = 0 is promised.
    largest : int, optional
        Inputs are gaps to the largest, and this and more is one gap. Left out, up to 8, as far as inputs stay few.
    total : int, optional
        Inputs are the counts of so many records instead; for "exchange" only, which keeps their number.
    relation, ties
        As for `plurality`.
    objective : "average" or "worst"
        Minimise the probability of a wrong answer on average over all inputs, each alike, or at its largest.

    Returns
    -------
    Mechanism
        Private on every edge, exactly, with its value: the mean probability of a wrong answer, or the largest. Optimal,
        with a lower bound and its certificate, where the program over all private mechanisms has at most 6,000
        constraints; beyond, the closed form that `plurality` chooses, without a bound.

    References
    ----------
    docs/theory.md#plurality; proofs/plurality.md, proofs/weak-duality.md.
    """
    q = integer(categories, "categories", at_least=2, at_most=LARGEST_CATEGORIES)
    graph = _graph(q, largest, total, relation)
    cap = graph.largest if isinstance(graph, Gaps) else None
    made = plurality(q, privacy, relation, ties, largest=cap)
    privacy, form = made.privacy, made.form
    if cap is None:
        form = _on_counts(graph, form, privacy)
    gaps = _gaps(graph)
    rows = shortened(tuple(form.row(node) for node in gaps), graph, privacy)
    goal = _goal(graph, ties, objective)
    written = Mechanism.from_matrix(
        rows,
        privacy=privacy,
        graph=graph,
        outputs=range(q),
        objective=Objective(goal.name, goal.value(rows)),
    )
    if 2 * graph.number_of_edges * q > MOST_CONSTRAINTS:
        return written
    best = optimal_mechanism(goal, graph, privacy)
    assert best.objective is not None
    assert written.objective is not None
    bound = best.objective.lower_bound
    if written.objective.value > best.objective.value:
        if ties == "first":
            return best
        rows = shortened(_alike(gaps, best.matrix()), graph, privacy)
        written = Mechanism.from_matrix(rows, privacy=privacy, graph=graph, outputs=range(q))
    proved = Objective(goal.name, goal.value(rows), bound)
    return sealed(replace(written, objective=proved, certificate=best.certificate))


def _graph(q: int, largest: int | None, total: int | None, relation: Relation) -> Gaps | Histograms:
    """Choose the inputs, and refuse too many before anything is listed."""
    if total is not None and largest is not None:
        raise BadInput("total", "cannot be given with largest", "give one of the two")
    if total is None:
        few = [cap for cap in range(1, 9) if _number_of_gaps(q, cap) <= _BY_DEFAULT]
        cap = max(few, default=1) if largest is None else integer(largest, "largest", at_least=1)
        name, inputs = "largest", _number_of_gaps(q, min(cap, MOST_INPUTS))
    else:
        if relation == "add-remove":
            raise BadInput("total", "is not kept where records are added or removed", "give largest instead")
        records = integer(total, "total", at_least=1)
        name, inputs = "total", comb(min(records, MOST_INPUTS) + q - 1, q - 1)
    if inputs > MOST_INPUTS:
        raise BadInput(
            name, f"makes more than {MOST_INPUTS:,} inputs with that many categories", "lower one of the two"
        )
    return Gaps(q, cap, relation) if total is None else Histograms(records, q)


def _number_of_gaps(q: int, largest: int) -> int:
    count: int = (largest + 1) ** q - largest**q
    return count


def _gaps(graph: DatasetGraph) -> list[Node]:
    """Return how far each category is behind the largest, at every input."""
    nodes: Sequence[Any] = graph.nodes
    if isinstance(graph, Histograms):
        return [tuple(max(counts) - count for count in counts) for counts in nodes]
    return list(nodes)


def _on_counts(graph: DatasetGraph, form: Winner, privacy: Privacy) -> Winner:
    """Pull from the top on finitely many counts too where it is not proved, if every edge of theirs passes."""
    q = form.categories
    if isinstance(form, Pull) or q > LARGEST_PULL or privacy.ratio < Fraction(q - 2, 4):
        return form
    pulled = Pull(q, privacy)
    rows = [pulled.row(gaps) for gaps in _gaps(graph)]
    edges = (pair for tails, heads in graph.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True))
    return pulled if all(are_close(rows[one], rows[other], privacy) for one, other in edges) else form


def _goal(graph: DatasetGraph, ties: Ties, objective: str) -> Goal:
    """Count a wrong answer as 1: any but the largest, or but the first of the largest."""
    gaps = _gaps(graph)
    loss = tuple(
        tuple(Fraction(place != node.index(0) if ties == "first" else gap > 0) for place, gap in enumerate(node))
        for node in gaps
    )
    if objective == "worst":
        everywhere = tuple(range(len(gaps)))
        return Goal(name="largest probability of a wrong answer", loss=loss, side_information=everywhere)
    weights = (Fraction(1, len(gaps)),) * len(gaps)
    return Goal(name="mean probability of a wrong answer", loss=loss, weights=weights)


def _alike(gaps: Sequence[Node], rows: Sequence[Sequence[Fraction]]) -> Table:
    """Average a mechanism over all orders of the categories: as private, as good on any goal that is alike in them."""
    classes: dict[tuple[Node, int], list[Fraction]] = {}
    for node, row in zip(gaps, rows, strict=True):
        for gap, chance in zip(node, row, strict=True):
            classes.setdefault((tuple(sorted(node)), gap), []).append(chance)
    means = {one: sum(chances, start=Fraction(0)) / len(chances) for one, chances in classes.items()}
    return tuple(tuple(means[tuple(sorted(node)), gap] for gap in node) for node in gaps)
