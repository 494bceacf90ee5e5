"""Where answers trade off: two private mechanisms of which neither is as good as the other, and a choice by weights.

With given rows an optimum must be best in every prefix sum at every node at once. A linear program finds M, best in
the sum of them all. If some mechanism beats M in one prefix sum, neither dominates the other and there is no optimum;
if none does, M is the optimum. [Gu2024], Example 1; docs/theory.md#rainbows; proofs/no-optimum.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, NoReturn

from .._exact import Table, checked, is_short, rational_text
from .._exact.linprog import Basis, exact_optimum
from ..errors import BadInput, Infeasible, Refusal
from ..graphs import DatasetGraph, RankedGraph, key_of_node
from ..mechanisms import Mechanism, Row
from ..privacy import Privacy, workable
from ._boundary_choice import node_weights, weighted_goal
from ._constraints import Constraint, Constraints, read_constraints
from ._given_rows import Fixed, Rows
from ._infeasible_rows import add_given_rows, feasible_start, refuse_unfinished
from ._optimal_mechanism import LARGEST_EXACT, optimal_mechanism
from ._privacy_program import Goal, mechanism_program
from ._repair import shortened

_FEW_PIVOTS, _MANY_PIVOTS = 100, 2000
"""Exact pivots before a start is sought that is certain to be feasible, and after."""

_SHORTENED = Fraction(1, 1 << 40)
"""More than shortening the numbers of a table takes from a prefix sum; a difference as small decides nothing."""

Comparison = Literal["equal", "better", "worse", "incomparable"]


@checked
def compare(first: Mechanism, second: Mechanism, ranked: RankedGraph) -> Comparison:
    """Compare two mechanisms by dominance: prefix sums along every node's ranking.

    Returns
    -------
    "better", "worse", "equal" or "incomparable"
        What the first is beside the second. Every utility that never falls as probability moves to a better-ranked
        answer (an order-reasonable one) agrees with "better", and only then do they all agree.

    References
    ----------
    [Gu2024], Definition 3; [DOliveira2021], Definition 2 and Example 1.
    """

    def ranking(node: Hashable) -> tuple[Hashable, ...]:
        return _ranking(ranked, node)

    return _verdict(first.dominates(second, ranking), second.dominates(first, ranking))


@checked
def compare_lexicographically(first: Mechanism, second: Mechanism, ranked: RankedGraph) -> Comparison:
    """Compare two mechanisms node by node in the order of the ranking: the first difference decides at a node.

    Dominance implies this order, not the other way round. It is total at one node; over all of them two mechanisms may
    still be incomparable.

    Parameters
    ----------
    first, second : Mechanism
    ranked : RankedGraph
    """
    ahead = behind = True
    for node in ranked.graph.nodes:
        here, there = (_along(mechanism, node, ranked) for mechanism in (first, second))
        ahead, behind = ahead and here >= there, behind and there >= here
    return _verdict(ahead, behind)


def best_for(goal: Goal, ranked: RankedGraph, fixed: Fixed, privacy: Privacy) -> Table:
    """Return the rows of smallest goal among all private mechanisms with the given rows.

    Raises
    ------
    BadInput
        When the program is too large to be solved whole.
    Infeasible
        When no private mechanism has the given rows, with multipliers that prove it.
    """
    graph = ranked.graph
    if 2 * graph.number_of_edges * len(goal.loss[0]) > LARGEST_EXACT:
        raise BadInput("graph", "is too large for a linear program", "choose a smaller graph, or fewer given rows")
    worked = workable(privacy)
    rows = _solved(goal, graph, fixed, worked)
    if rows is None and worked != privacy:  # the given rows may leave no room at all
        rows = _solved(goal, graph, fixed, privacy)
    if rows is None:
        rows = _solved(goal, graph, fixed, privacy, feasible_start(ranked, fixed, privacy))
    if rows is None:
        refuse_unfinished()
    return rows if is_short(rows) else shortened(rows, graph, privacy)


def best_for_weights(
    ranked: RankedGraph, fixed: Fixed, privacy: Privacy, weights: Mapping[Any, Any] | None, constraints: Any
) -> Mechanism:
    """Return the mechanism that is best for weights among all private ones with given rows, if any, with its proof.

    Parameters
    ----------
    weights : mapping, optional
        As `rainbow` takes them.
    constraints : list, optional
        What the mechanisms have to meet besides.

    Raises
    ------
    BadInput
        When the program is too large to be solved whole, or a weight or constraint is malformed.
    Infeasible
        When there is no such mechanism.
    """
    truth = [ranked.orders[code][0] for code in ranked.codes.tolist()]
    asked = read_constraints(constraints, ranked.graph, ranked.outputs, truth=truth)
    given = {(node, v): p for node, row in fixed.items() for v, p in enumerate(row)}
    rows = Constraint({"fixed": [[i, v, rational_text(p)] for (i, v), p in given.items()]}, given)
    goal = weighted_goal(ranked, node_weights(ranked, weights))
    goal = replace(goal, constraints=Constraints((*([rows] if fixed else []), *asked.each)))
    try:
        return optimal_mechanism(goal, ranked.graph, privacy, outputs=ranked.outputs)
    except Infeasible:
        if fixed and constraints is None:
            feasible_start(ranked, fixed, privacy)  # says which rows contradict each other
        raise


def optimum_or_witnesses(
    ranked: RankedGraph, fixed: Fixed, bound: Rows, privacy: Privacy
) -> tuple[list[Table], int | None]:
    """Return one table, the optimum, or two incomparable ones.

    Parameters
    ----------
    bound : Rows
        The node-wise bound, which tells where M cannot be beaten without solving a program.

    Returns
    -------
    tables, node
        The node is one at which the two tables are incomparable because its own prefix sums trade off; None where
        there is one table, and where different nodes trade off.
    """
    best = best_for(_prefix_goal(ranked, None), ranked, fixed, privacy)
    for node, code in enumerate(ranked.codes.tolist()):
        order, top, here = ranked.orders[code], bound.distinct[bound.row_of[node]], best[node]
        for k in range(1, len(order)):
            if node in fixed or _prefix(here, order, k) >= _prefix(top, order, k):
                continue
            other = best_for(_prefix_goal(ranked, (node, k)), ranked, fixed, privacy)
            if _prefix(other[node], order, k) > _prefix(here, order, k):
                inside = _within_node(ranked, fixed, node, privacy)
                return ([best, other], None) if inside is None else (inside, node)
    return [best], None


def refuse_with(
    witnesses: Sequence[Table | Rows], ranked: RankedGraph, privacy: Privacy, node: int | None = None
) -> NoReturn:
    """Raise `Infeasible` for a request without an optimum, with the two mechanisms that show it.

    Parameters
    ----------
    node : int, optional
        A node whose own prefix sums trade off; left out, different nodes do.
    """
    made = tuple(
        Mechanism.from_matrix(
            rows.listed() if isinstance(rows, Rows) else rows,
            privacy=privacy,
            graph=ranked.graph,
            outputs=ranked.outputs,
        )
        for rows in witnesses
    )
    trade = "answers at different nodes trade off"
    if node is not None:
        trade = f"the answers at {key_of_node(ranked.graph.nodes[node])} trade off among themselves"
    raise Infeasible(
        f"no optimum exists: {trade}, and neither of the two witnesses is as good as the other everywhere; give more of"
        " the probabilities, or weights to choose by",
        status="no optimum",
        examples=made,
        witnesses=[mechanism.to_document() for mechanism in made],
    )


def _within_node(ranked: RankedGraph, fixed: Fixed, node: int, privacy: Privacy) -> list[Table] | None:
    """Return two tables that are incomparable at a node; None where one table has all its largest prefix sums."""
    order = ranked.orders[ranked.codes[node]]
    if len(order) == 2:
        return None
    own = best_for(_prefix_goal(ranked, (node, None)), ranked, fixed, privacy)
    for k in range(1, len(order)):
        other = best_for(_prefix_goal(ranked, (node, k)), ranked, fixed, privacy)
        if _prefix(other[node], order, k) > _prefix(own[node], order, k) + _SHORTENED:
            return [own, other]
    return None


def _solved(
    goal: Goal, graph: DatasetGraph, fixed: Fixed, privacy: Privacy, start: Basis | None = None
) -> Table | None:
    """Return the exact optimum; None where there is none, or where floats cannot tell and no start is known."""
    program = mechanism_program(goal, graph, privacy)
    add_given_rows(program, fixed)
    try:
        optimum = exact_optimum(program.linear, start=start, most_pivots=_FEW_PIVOTS if start is None else _MANY_PIVOTS)
    except Refusal:
        return None
    return program.rows(optimum.values) if optimum.exact else None


def _prefix_goal(ranked: RankedGraph, only: tuple[int, int | None] | None) -> Goal:
    """Return a goal whose minimum maximises one prefix sum, the sum of all at one node, or the sum of all."""
    loss = []
    for node, code in enumerate(ranked.codes.tolist()):
        order = ranked.orders[code]
        row = [Fraction(0)] * len(order)
        for index, v in enumerate(order):
            if only is None or only == (node, None):
                row[v] = Fraction(index)
            elif only[0] == node and only[1] is not None and index >= only[1]:
                row[v] = Fraction(1)
        loss.append(tuple(row))
    return Goal(name="prefix sums", loss=tuple(loss), weights=(Fraction(1),) * len(loss))


def _prefix(row: Row, order: Sequence[int], k: int) -> Fraction:
    return sum((row[v] for v in order[:k]), Fraction(0))


def _ranking(ranked: RankedGraph, node: Hashable) -> tuple[Hashable, ...]:
    return ranked.rankings[int(ranked.codes[ranked.graph.index_of(node)])]


def _along(mechanism: Mechanism, node: Hashable, ranked: RankedGraph) -> list[Fraction]:
    by_output = dict(zip(mechanism.outputs, mechanism.row(node), strict=True))
    return [by_output[output] for output in _ranking(ranked, node)]


def _verdict(ahead: bool, behind: bool) -> Comparison:
    if ahead and behind:
        return "equal"
    if ahead or behind:
        return "better" if ahead else "worse"
    return "incomparable"
