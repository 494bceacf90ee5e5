"""The best private answer to a question with any number of answers, for nodes that rank them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import flint
import numpy as np

from .._exact import checked, is_short, rational
from .._exact.linprog import LinearProgram, SparseRow, as_fmpq, as_fraction, exact_optimum
from ..errors import BadInput, Infeasible, Refusal
from ..graphs import Assignment, DatasetGraph, RankedGraph, as_node, node_from_key, rank, touching_codes
from ..mechanisms import Mechanism, Row
from ..privacy import Privacy, are_close
from ._boundary_choice import best_boundary, class_of, node_weights, weighted_goal
from ._given_rows import Fixed, bound_rows, is_private, proven
from ._homogeneous import balanced_row, classes_with_boundary, homogeneous_rows
from ._incomparable import best_for_weights, optimum_or_witnesses, refuse_with
from ._infeasible_rows import apart, contradiction, refuse, refuse_as, refuse_unfinished
from ._optimal_mechanism import LARGEST_EXACT, best_of_all
from ._privacy_program import Goal
from ._propagation import ExactSteps, TooLong, smallest_delta, smallest_epsilon
from ._repair import moved, shortened

# The balanced boundary: one row along every ranking, valid where classes touch, and dominated by no other such row.
#
# The symmetric row (first choice (r + δ(q−1))/(r + q − 1), the rest equal) is valid for all rankings at once.
# Touching rankings may leave slack, for example if they share a first choice. Then some rows are better in every
# prefix sum; of these, take the one with the largest first prefix sum, then with the largest second, and so on. So
# nothing changes where the symmetric row is undominated, and nothing dominates what is taken
# (proofs/balanced-boundary.md).

_LARGEST = 5000
"""Most constraints of the program that looks for a better row."""

_MOST_PIVOTS = 1000

Turn = tuple[int, ...]
"""Place in one ranking → place of the same answer in a ranking that it touches."""


def balanced_boundary(ranked: RankedGraph, privacy: Privacy) -> Row:
    """Return the balanced row, best answer first, the same for every ranking.

    Parameters
    ----------
    ranked : RankedGraph
        Its touching classes decide what is valid.
    privacy : Privacy

    Returns
    -------
    Row
        Exactly valid; no other row that all rankings share, and that is valid here, has prefix sums at least as large
        everywhere and one larger. For two answers the first choice has (r + δ)/(r + 1); where the first choices of
        touching rankings take each other's every place, as with rotations, (r + δ(q−1))/(r + q − 1).
    """
    symmetric = balanced_row(len(ranked.outputs), privacy)
    turns = _turns(ranked)
    if len(symmetric) == 2 or not turns or {turn[0] for turn in turns} >= set(range(1, len(symmetric))):
        # Two answers, or a first choice that stands in every other place next door: this row is the only best one.
        return symmetric
    result, at_least = symmetric, list(accumulate(symmetric))[:-1]
    for k in range(len(at_least)):
        if at_least[k] < 1:
            result = _largest(k, at_least, turns, privacy)
            at_least = list(accumulate(result))[: k + 1] + at_least[k + 1 :]
        elif k + 1 < len(at_least):
            at_least[k + 1] = Fraction(1)
    if not all(are_close(result, tuple(result[place] for place in turn), privacy) for turn in turns):
        refuse_unfinished()
    return result


def _turns(ranked: RankedGraph) -> list[Turn]:
    """Return how places change between rankings that touch, both ways, each way once."""
    orders, found = ranked.orders, dict[Turn, None]()
    for pair in touching_codes(ranked).tolist():
        for one, other in (pair, pair[::-1]):
            place = {v: k for k, v in enumerate(orders[other])}
            found[tuple(place[v] for v in orders[one])] = None
    return list(found)


def _largest(k: int, at_least: list[Fraction], turns: list[Turn], privacy: Privacy) -> Row:
    """Return a valid row with the most on its first k + 1 places and prefix sums at least so large."""
    q = len(at_least) + 1
    one = flint.fmpq(1)
    columns: list[SparseRow] = [{} for _ in range(q)]
    right: list[flint.fmpq] = []

    def constrain(entries: dict[int, flint.fmpq], slack: int, bound: flint.fmpq) -> None:
        for column, x in entries.items():
            columns[column][len(right)] = x
        if slack:
            columns.append({len(right): flint.fmpq(slack)})
        right.append(bound)

    constrain(dict.fromkeys(range(q), one), 0, one)
    for length, sum_so_far in enumerate(at_least, start=1):
        constrain(dict.fromkeys(range(length), one), -1, as_fmpq(sum_so_far))
    pairs = dict.fromkeys((i, j) for turn in turns for i, j in enumerate(turn) if i != j)
    if (len(pairs) + len(turns)) * len(privacy.pairs) > _LARGEST:
        rule = f"balanced, makes a program of more than {_LARGEST} constraints for these rankings"
        raise BadInput("boundary", rule, "give the rows, by ranking")
    for promised in privacy.pairs:
        ratio, delta = as_fmpq(promised.ratio), as_fmpq(promised.delta)
        excess: dict[tuple[int, int], int] = {}
        for i, j in pairs:
            entries = {i: one, j: -ratio}
            if delta != 0:
                excess[i, j] = len(columns)
                columns.append({})
                entries[excess[i, j]] = -one
            constrain(entries, 1, flint.fmpq(0))
        if delta != 0:
            for turn in turns:
                moved = [excess[i, j] for i, j in enumerate(turn) if i != j]
                constrain(dict.fromkeys(moved, one), 1, delta)
    cost = [flint.fmpq(-1 if column <= k else 0) for column in range(len(columns))]
    try:
        optimum = exact_optimum(LinearProgram(columns, cost, right), most_pivots=_MOST_PIVOTS)
    except Refusal:
        refuse_unfinished()
    if not optimum.exact:
        refuse_unfinished()
    return tuple(as_fraction(x) for x in optimum.values[:q])


_LONGEST = 10**100

Homogeneous = dict[int, Row]
"""Class → its row along its ranking."""


@checked
def rainbow(
    graph: DatasetGraph,
    rankings: Assignment,
    privacy: Privacy,
    *,
    boundary: Any = None,
    weights: Mapping[Any, Any] | None = None,
    constraints: Any = None,
) -> Mechanism:
    """Design the optimal mechanism for nodes that rank the answers.

    Parameters
    ----------
    graph : DatasetGraph
        Any graph.
    rankings : mapping, function or sequence
        All answers, best first, for every node.
    privacy : Privacy
        Any ratio and δ.
    boundary : "balanced", "best" or mapping
        The given rows; when left out "balanced", and with weights or constraints none. Balanced is one row along every
        ranking, valid where classes touch and dominated by no other such row: `balanced_boundary`, which is the
        symmetric row, or a better one where touching rankings leave slack. Best is the homogeneous boundary that is
        best for `weights`. Or ranking → {answer: probability}, where a ranking is a tuple of answers or the text
        "a>b>c". Or node → {answer: probability}, for nodes anywhere. Answers left out have probability 0.
    weights : mapping, optional
        Node or ranking → a number, the weight of the first choice, or a list, the weights of the first 1, 2, … choices
        together. Nodes and rankings left out weigh nothing. Left out altogether, every first choice weighs 1. Not with
        "balanced" or rows given per ranking. With "best" they choose the boundary. Otherwise the result is best for
        these weights among all private mechanisms with the rows given per node, if any, by the linear program.
    constraints : list, optional
        Rules that every mechanism compared has to meet, as `consumer` takes them, where {"keep": [node]} means that
        the node's first choice is certain. The weights decide which mechanism is best.

    Returns
    -------
    Mechanism
        Private exactly. At every node and for every k, the first k choices together have at least the probability that
        any private mechanism with the same given rows can give them; with weights or constraints the weighted sum of
        what they miss is smallest, with an exact lower bound and the certificate of it. Otherwise the facts to
        recompute this are included if the graph has at most 10,000 nodes. Where rows are given per node and numbers are
        long, given rows too may move by about 2^-120 to stay exactly private, unless there are weights.

    Raises
    ------
    BadInput
        For rankings of different answers, rows that are no distributions, or names that are unknown.
    Infeasible
        If given rows contradict each other. If two rows do, `document["infeasible"]` names a pair of nodes, an event,
        their distance, the needed and the allowed probability; `document` holds the smallest ε and δ at which this pair
        and all like it are possible. If only more rows together do, it holds multipliers that prove it. When no optimum
        exists, the `witnesses` of the error are two incomparable mechanisms.

    Examples
    --------
    >>> from irisdp.graphs import Path
    >>> rankings = [("a", "b", "c")] * 2 + [("c", "b", "a")]
    >>> rainbow(Path(3), rankings, Privacy.from_ratio(2)).row(0)
    (Fraction(3, 4), Fraction(1, 8), Fraction(1, 8))

    References
    ----------
    [Gu2024], Theorems 2–4 and Example 1, corrected; docs/theory.md#rainbows; proofs/rainbow-optimality.md,
    proofs/balanced-boundary.md, proofs/boundary-choice.md, proofs/no-optimum.md, proofs/two-rows.md.
    """
    ranked = rank(graph, rankings)
    for output in ranked.outputs:
        as_node(output, "rankings")
    if boundary is None and (weights is not None or constraints is not None):
        return best_for_weights(ranked, {}, privacy, weights, constraints)
    if isinstance(boundary, Mapping):
        if not _by_ranking(ranked, boundary):
            return _with_given_rows(ranked, boundary, privacy, weights, constraints)
    elif boundary is not None and not (isinstance(boundary, str) and boundary in ("balanced", "best")):
        raise BadInput("boundary", "is not a known form", 'write "balanced", "best" or {ranking or node: row}')
    if constraints is not None:
        raise BadInput("constraints", "do not go with this boundary", "give rows by node, or leave the boundary out")
    if boundary == "best":
        choice = node_weights(ranked, weights)
        rows, why = best_boundary(ranked, choice, privacy)
        goal = weighted_goal(ranked, choice)
        facts = None if why is None else {"choice": why.to_document()}
        return best_of_all(_homogeneous(ranked, rows, privacy, goal=goal, facts=facts), goal)
    _check_no_weights(weights)
    if isinstance(boundary, Mapping):
        return _with_rows_by_ranking(ranked, boundary, privacy)
    row = balanced_boundary(ranked, privacy)
    symmetric = len(row) > 1 and row == balanced_row(len(row), privacy)
    theorem = "balanced-line" if symmetric else "homogeneous-rainbow"
    return _homogeneous(ranked, dict.fromkeys(classes_with_boundary(ranked), row), privacy, theorem=theorem)


def _with_rows_by_ranking(ranked: RankedGraph, boundary: Mapping[Any, Any], privacy: Privacy) -> Mechanism:
    codes = {key: class_of(ranked, key) for key in boundary}
    given = {code: _row(ranked, boundary[key], code) for key, code in codes.items() if code is not None}
    if set(classes_with_boundary(ranked)) - set(given):
        raise BadInput("boundary", "leaves out a ranking that has a boundary", "give a row for every ranking")
    _check_validity(ranked, given, privacy)
    return _homogeneous(ranked, given, privacy)


def _with_given_rows(
    ranked: RankedGraph,
    boundary: Mapping[Any, Any],
    privacy: Privacy,
    weights: Mapping[Any, Any] | None,
    constraints: Any,
) -> Mechanism:
    fixed: dict[int, Row] = {}
    for key, entries in boundary.items():
        index = ranked.graph.index_of(node_from_key(ranked.graph, key, "boundary"))
        if index in fixed:
            raise BadInput("boundary", "names a node twice", "name every node once")
        fixed[index] = _row(ranked, entries)
    if (conflict := contradiction(ranked, fixed, privacy)) is not None:
        refuse(conflict, ranked, fixed, privacy)
    if weights is not None or constraints is not None:
        return best_for_weights(ranked, fixed, privacy, weights, constraints)
    return _heterogeneous(ranked, fixed, privacy)


def _homogeneous(
    ranked: RankedGraph,
    rows: Homogeneous,
    privacy: Privacy,
    *,
    theorem: str = "homogeneous-rainbow",
    goal: Goal | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Mechanism:
    found, within = homogeneous_rows(ranked, rows, privacy)
    return proven(found, ranked, privacy, theorem=theorem, within=within, goal=goal, facts=facts)


def _heterogeneous(ranked: RankedGraph, fixed: Fixed, privacy: Privacy) -> Mechanism:
    try:
        rows = bound_rows(ranked, fixed, ExactSteps(privacy, _LONGEST))
    except TooLong:
        rows = bound_rows(ranked, fixed, ExactSteps(privacy))
    if not is_private(rows, ranked.graph, privacy):
        if 2 * ranked.graph.number_of_edges * len(ranked.outputs) > LARGEST_EXACT:
            raise Infeasible(
                "no optimum was found. The best rows of single nodes are not private together, and the graph is too"
                " large for a linear program to decide",
                status="no optimum found",
            )
        tables, node = optimum_or_witnesses(ranked, fixed, rows, privacy)
        if len(tables) == 2:
            refuse_with(tables, ranked, privacy, node)
        return Mechanism.from_matrix(tables[0], privacy=privacy, graph=ranked.graph, outputs=ranked.outputs)
    if is_short(rows.distinct):
        return proven(rows, ranked, privacy, theorem="rainbow", fixed=fixed)
    exact = rows.listed()
    short = shortened(tuple(exact), ranked.graph, privacy)
    mechanism = Mechanism.from_matrix(short, privacy=privacy)
    nearby = {node: short[node] for node in fixed}
    following = bound_rows(ranked, nearby, ExactSteps(privacy)).listed()
    within = 2 * moved(tuple(following), short)
    brief = replace(rows, distinct=mechanism.rows, row_of=mechanism.row_of)
    return proven(brief, ranked, privacy, theorem="rainbow", within=within, fixed=fixed)


def _by_ranking(ranked: RankedGraph, boundary: Mapping[Any, Any]) -> bool:
    """Tell whether rows are given by ranking, not by node."""
    return bool(boundary) and all(class_of(ranked, key) is not None for key in boundary)


def _check_validity(ranked: RankedGraph, given: Homogeneous, privacy: Privacy) -> None:
    """Refuse rows that are not close where their classes touch."""
    by_output = {code: ranked.along_outputs(code, row) for code, row in given.items()}
    pairs = touching_codes(ranked).tolist()

    def all_close(changed: Privacy) -> bool:
        return all(are_close(by_output[one], by_output[other], changed) for one, other in pairs)

    for one, other in pairs:
        conflict = apart(one, other, by_output, privacy)
        if conflict is None:
            continue
        node_of = dict(zip((one, other), _crossing_edge(ranked, one, other), strict=True))
        fixed = {node_of[code]: by_output[code] for code in (one, other)}
        conflict = replace(conflict, node=node_of[conflict.node], origin=node_of[conflict.origin])
        epsilon, delta = smallest_epsilon(all_close, privacy), smallest_delta(all_close, privacy)
        refuse_as(conflict, ranked, fixed, privacy, epsilon=epsilon, delta=delta)


def _crossing_edge(ranked: RankedGraph, one: int, other: int) -> tuple[int, int]:
    """Return the first edge from one class to another."""
    for tails, heads in ranked.graph.edges():
        for i, j in ((tails, heads), (heads, tails)):
            here = np.flatnonzero((ranked.codes[i] == one) & (ranked.codes[j] == other))
            if len(here):
                return int(i[here[0]]), int(j[here[0]])
    raise AssertionError("classes that touch have an edge between them")


def _row(ranked: RankedGraph, given: Any, code: int | None = None) -> Row:
    """Read {answer: probability} as a row in the order of the outputs, or along the ranking of a class."""
    if not isinstance(given, Mapping):
        raise BadInput("boundary", "must give every row as probabilities by answer", "write {answer: probability, …}")
    row = [Fraction(0)] * len(ranked.outputs)
    named = set()
    for key, value in given.items():
        place = _output(ranked.outputs, key)
        if place in named:
            raise BadInput("boundary", "has a row that names an answer twice", "name every answer once")
        named.add(place)
        row[place] = rational(value, "boundary")
    if min(row) < 0 or sum(row) != 1:
        raise BadInput("boundary", "has a row that is no distribution", "give probabilities that sum to exactly 1")
    return tuple(row) if code is None else ranked.along_ranking(code, row)


def _output(outputs: Sequence[Hashable], key: Any) -> int:
    for index, output in enumerate(outputs):
        if key == output or (isinstance(key, str) and key == str(output)):
            return index
    raise BadInput("boundary", "has a row that names an unknown answer", f"choose {', '.join(map(str, outputs))}")


def _check_no_weights(weights: Any) -> None:
    if weights is not None:
        raise BadInput("weights", "have no say with this boundary: the optimum needs none", 'leave them out, or "best"')
