"""The best private answer to a yes/no question on any dataset graph, for probabilities fixed wherever one likes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .._exact import checked, rational, short_text
from .._frames import printable
from ..errors import BadInput
from ..graphs import Assignment, DatasetGraph, RankedGraph, as_node, colour, node_among
from ..mechanisms import Mechanism, Row
from ..privacy import Privacy, are_close
from ._given_rows import LARGEST_CERTIFIED, Fixed, Rows, bound_rows, is_private, proven, spread_event
from ._homogeneous import balanced_row, classes_with_boundary, homogeneous_rows
from ._incomparable import best_for_weights, refuse_with
from ._infeasible_rows import contradiction, refuse
from ._propagation import ExactSteps, GridSteps, Iterates, TooLong

_LONGEST = 10**100
_BITS = 128


@checked
def binary(
    graph: DatasetGraph,
    colors: Assignment,
    privacy: Privacy,
    *,
    boundary: Any = None,
    weights: Mapping[Any, Any] | None = None,
    constraints: Any = None,
) -> Mechanism:
    """Design the optimal mechanism for a function with two values.

    Parameters
    ----------
    graph : DatasetGraph
        Any graph.
    colors : mapping, function or sequence
        The true value at every node: one of two. Where only one occurs, the other answer is called "not …". True and
        False become "yes" and "no".
    privacy : Privacy
        Any ratio and δ.
    boundary : "balanced", number or mapping
        The probability of a node's own colour; when left out "balanced", and with weights or constraints none. Balanced
        is the best that treats both colours alike at every boundary node. Or one number for all of them, or node →
        number for nodes anywhere.
    weights : mapping, optional
        Node → what a wrong answer there costs; nodes left out weigh nothing. The result is then best for these weights
        among all private mechanisms with the probabilities given per node, if any, by the linear program.
    constraints : list, optional
        Rules that every mechanism compared has to meet, as `consumer` takes them, where {"keep": [node]} means that
        the node's own colour is certain. The weights decide which mechanism is best; all are 1 when left out.

    Returns
    -------
    Mechanism
        Exactly private. At every node it is at least as truthful as every private mechanism with the same fixed
        probabilities. The facts to recompute this are included if the graph has at most 10,000 nodes. A node that is
        connected to none of them tells the truth.

    Raises
    ------
    BadInput
        For more than two colours, a probability outside [0, 1], or a name that is no node.
    Infeasible
        If the fixed probabilities contradict each other. `document["infeasible"]` names the pair, the event, the
        distance, the needed and the allowed probability; `document` holds the smallest ε and δ that resolve it. If no
        optimum exists, because an edge between the colours has no fixed end and its ends trade off, the `witnesses` of
        the error are the best mechanism for either colour, neither of which dominates the other.

    Examples
    --------
    >>> from irisdp.graphs import Path
    >>> privacy = Privacy.from_ratio(2, delta="0.1")
    >>> binary(Path(3), ["no", "yes", "yes"], privacy).row(2)
    (Fraction(1, 10), Fraction(9, 10))

    References
    ----------
    [DOliveira2021], Theorems 2–5, corrected; docs/theory.md#colourings; proofs/rainbow-optimality.md.
    """
    ranked = _ranked(graph, colors)
    if weights is not None or constraints is not None:
        if boundary is not None and not isinstance(boundary, Mapping):
            raise BadInput("boundary", "has no say beside weights or constraints", "give it by node, or leave it out")
        fixed = _fixed(ranked, boundary or {})
        if (conflict := contradiction(ranked, fixed, privacy)) is not None:
            refuse(conflict, ranked, fixed, privacy)
        return best_for_weights(ranked, fixed, privacy, weights, constraints)
    if boundary is None:
        boundary = "balanced"
    if isinstance(boundary, Mapping):
        return _heterogeneous(ranked, _fixed(ranked, boundary), privacy)
    if isinstance(boundary, str) and boundary == "balanced":
        row = balanced_row(2, privacy)
        theorem = "balanced-line"
    else:
        truth = _probability(boundary)
        row, theorem = (truth, 1 - truth), "homogeneous-rainbow"
        _check_validity(ranked, row, privacy)
    rows, within = homogeneous_rows(ranked, dict.fromkeys(classes_with_boundary(ranked), row), privacy)
    if len(ranked.classes) < 2:
        theorem = "homogeneous-rainbow"
    return proven(rows, ranked, privacy, theorem=theorem, within=within)


def _heterogeneous(ranked: RankedGraph, fixed: Fixed, privacy: Privacy) -> Mechanism:
    conflict = contradiction(ranked, fixed, privacy)
    if conflict is not None:
        refuse(conflict, ranked, fixed, privacy)
    within = Fraction(0)
    try:
        rows = bound_rows(ranked, fixed, steps := ExactSteps(privacy, _LONGEST))
    except TooLong:
        bits = _grid_bits(fixed)
        rows = bound_rows(ranked, fixed, GridSteps(privacy, bits))
        if is_private(rows, ranked.graph, privacy):
            if ranked.graph.number_of_nodes <= LARGEST_CERTIFIED:
                within = _farthest(rows, bound_rows(ranked, fixed, GridSteps(privacy, bits, up=True)))
            return proven(rows, ranked, privacy, theorem="rainbow", within=within, fixed=fixed)
        # The given probabilities leave no room for rounding, or there is no optimum: only exact numbers can tell.
        rows = bound_rows(ranked, fixed, steps := ExactSteps(privacy))
    if not is_private(rows, ranked.graph, privacy):
        if (conflict := contradiction(ranked, fixed, privacy, steps)) is not None:  # one too small to be seen before
            refuse(conflict, ranked, fixed, privacy)
        refuse_with([_best_for_class(ranked, fixed, code, steps) for code in (0, 1)], ranked, privacy)
    return proven(rows, ranked, privacy, theorem="rainbow", fixed=fixed)


def _best_for_class(ranked: RankedGraph, fixed: Fixed, code: int, steps: Iterates) -> Rows:
    """Return the private mechanism that is as truthful as possible at every node of one colour.

    The bound on a single event is attained at all nodes at once, so these two mechanisms attain the node-wise bound on
    either colour. A mechanism as good as both would attain all of it.
    """
    order = ranked.orders[code]
    labels = spread_event(ranked, fixed, frozenset(order[:1]), steps).labels
    listed = []
    for label in labels:
        truth = steps.value(label)
        listed.append((truth, 1 - truth) if order[0] == 0 else (1 - truth, truth))
    distinct: dict[Row, int] = {}
    row_of = np.array([distinct.setdefault(row, len(distinct)) for row in listed])
    return Rows(tuple(distinct), row_of)


def _ranked(graph: DatasetGraph, colors: Assignment) -> RankedGraph:
    coloured = colour(graph, colors)
    # Names of answers must fit in a file, which knows no booleans: a predicate answers yes or no.
    ranked = tuple(
        ("yes" if c else "no") if isinstance(c, bool | np.bool_) else as_node(c, "colors") for c in coloured.classes
    )
    if len(ranked) > 2:
        raise BadInput("colors", f"has {len(ranked)} colours, more than two", "use a rainbow design")
    names: tuple[Hashable, ...] = ranked if len(ranked) == 2 else (ranked[0], f"not {ranked[0]}")
    rankings = ((names[0], names[1]), (names[1], names[0]))[: len(ranked)]
    return RankedGraph(graph, rankings, coloured.codes, names)


def _fixed(ranked: RankedGraph, given: Mapping[Any, Any]) -> dict[int, Row]:
    fixed: dict[int, Row] = {}
    nodes = ranked.graph.nodes
    for key, value in given.items():
        node = printable(repr(key))[:40]
        try:
            index = ranked.graph.index_of(node_among(nodes, key, "boundary"))
        except BadInput as error:
            raise BadInput("boundary", f"names {node}, and this {error.rule}", error.remedy) from None
        if index in fixed:
            raise BadInput("boundary", "names a node twice", "name every node once")
        truth = _probability(value, f" at node {node}")
        own = ranked.orders[int(ranked.codes[index])][0]
        fixed[index] = (truth, 1 - truth) if own == 0 else (1 - truth, truth)
    return fixed


def _probability(value: Any, where: str = "") -> Fraction:
    probability = value if type(value) is Fraction else rational(value, "boundary")
    if not 0 <= probability <= 1:
        rule = f"must be balanced, or probabilities, not {short_text(probability)}{where}"
        raise BadInput("boundary", rule, 'write "balanced", or numbers from 0 to 1')
    return probability


def _check_validity(ranked: RankedGraph, row: Row, privacy: Privacy) -> None:
    """Refuse one probability for all boundary nodes that neighbours across the colours cannot both have."""
    if are_close(row, (row[1], row[0]), privacy):
        return
    for tails, heads in ranked.graph.edges():
        crossing = np.flatnonzero(ranked.codes[tails] != ranked.codes[heads])
        if len(crossing):
            pair = [int(tails[crossing[0]]), int(heads[crossing[0]])]
            fixed = {i: row if ranked.codes[i] == 0 else (row[1], row[0]) for i in pair}
            conflict = contradiction(ranked, fixed, privacy)
            if conflict is not None:
                refuse(conflict, ranked, fixed, privacy)
            return


def _grid_bits(fixed: Fixed) -> int:
    """Keep 128 significant bits of the smallest given probability."""
    smallest = min((p for row in fixed.values() for p in row if p > 0), default=Fraction(1))
    return _BITS + max(0, smallest.denominator.bit_length() - smallest.numerator.bit_length())


def _farthest(one: Rows, other: Rows) -> Fraction:
    """Return the largest difference of entries."""
    return max((abs(p[0] - q[0]) for p, q in zip(one.listed(), other.listed(), strict=True)), default=Fraction(0))
