"""The K largest categories, and all of them in order: mechanisms to write down, over capped heights or all counts.

An answer is right if it may be the truth: among categories that are level, any order is. So which answers are right
depends on the order of the counts only, which capped heights keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np

from ...errors import BadInput
from ...exact import Table, checked, integer
from ...graphs import Graph, Histograms, listed, order_graph
from ...graphs.orders import Moves, number_of_heights
from ...graphs.protocol import Indices, Mask
from ...mechanisms import Mechanism, Objective
from ...privacy import Privacy
from ..alike import Renamed, best_alike
from ..programs.goals import Goal
from ..programs.optimal_mechanism import optimal_mechanism
from ..programs.repair import shortened
from ..programs.sealing import sealed
from ..pulling import Pulled, pulled

__all__ = [
    "Answers",
    "all_rankings",
    "all_tops",
    "order_rows",
    "ranking",
    "right_rankings",
    "right_tops",
    "top",
]

Answers = list[tuple[int, ...]]
"""Each names categories by number: the K largest in ascending order, or all of them, largest first."""

LARGEST_CATEGORIES = 5

MOST_CHANCES = 150_000
"""Inputs times answers of a mechanism that is written down: seconds, and a few megabytes."""

MOST_CONSTRAINTS = 6_000
"""Privacy constraints up to which the program over all private mechanisms is solved: seconds."""

MOST_CLASSES = 40_000
"""Privacy constraints between classes of chances up to which their program is solved: seconds."""

_BY_DEFAULT = 400
"""Inputs up to which heights are told apart where neither a cap nor a total is given."""


@checked
def top(
    k: int,
    categories: int,
    privacy: Privacy,
    *,
    relation: Moves = "exchange",
    largest: int | None = None,
    total: int | None = None,
) -> Mechanism:
    """Write down a mechanism that names the K largest categories.

    Parameters
    ----------
    k : int
        From 1 to q − 1.
    categories : int
        q, from 2 to 5.
    privacy : Privacy
        One pair. Its δ is not used, and δ = 0 is promised.
    relation : {"exchange", "add-remove", "any"}
        Whether neighbours exchange one record for another, have one more, or either.
    largest : int, optional
        Inputs are heights: the order of the categories, with steps between consecutive ones capped at so many records.
        If left out, the cap is at most 6, as far as inputs stay few. See `irisdp.graphs.order_graph`.
    total : int, optional
        Inputs are the counts of so many records instead; for "exchange" only, which keeps their number.

    Returns
    -------
    Mechanism
        Its answers are tuples of K category numbers, ascending; any of several that may be the largest is right.
        Private on every edge, exactly, with the mean probability of a wrong answer over all inputs, each alike. If the
        program over all private mechanisms has at most 6,000 constraints: optimal, with a lower bound and its
        certificate. Beyond that: pull if every edge of the graph passes an exact check, otherwise the best of the
        mechanisms that treat categories alike, to about 1e-6; neither has a bound.

    Examples
    --------
    >>> made = top(2, 3, Privacy(ratio=4), largest=1)
    >>> made.outputs, len(made.inputs)
    (((0, 1), (0, 2), (1, 2)), 13)

    References
    ----------
    proofs/orders.md, proofs/weak-duality.md.
    """
    q = integer(categories, "categories", at_least=2, at_most=LARGEST_CATEGORIES)
    answers = all_tops(integer(k, "k", at_least=1, at_most=q - 1), q)
    graph, heights = _inputs(q, len(answers), largest, total, relation)
    return _written(graph, right_tops(heights, answers), answers, privacy)


@checked
def ranking(
    categories: int,
    privacy: Privacy,
    *,
    relation: Moves = "exchange",
    largest: int | None = None,
    total: int | None = None,
) -> Mechanism:
    """Write down a mechanism that names all categories in order, largest first.

    Parameters and what is returned are those of `top`; answers are tuples of all category numbers, and any order among
    categories that are level is right.

    Parameters
    ----------
    categories, privacy, relation, largest, total
        As in `top`.

    Raises
    ------
    BadInput
        For numbers out of range, or too many inputs to be listed.

    Examples
    --------
    >>> ranking(3, Privacy(ratio=4), largest=1).outputs[:3]
    ((0, 1, 2), (0, 2, 1), (1, 0, 2))

    References
    ----------
    proofs/orders.md, proofs/weak-duality.md.
    """
    q = integer(categories, "categories", at_least=2, at_most=LARGEST_CATEGORIES)
    answers = all_rankings(q)
    graph, heights = _inputs(q, len(answers), largest, total, relation)
    return _written(graph, right_rankings(heights, answers), answers, privacy)


def all_tops(k: int, categories: int) -> Answers:
    """List the sets of K categories, in lexicographic order."""
    return list(combinations(range(categories), k))


def all_rankings(categories: int) -> Answers:
    """List the orders of the categories, in lexicographic order."""
    return list(permutations(range(categories)))


def right_tops(heights: Indices, answers: Answers) -> Mask:
    """Tell for every row of heights, or of counts, which sets hold no category that is below one left out."""
    right = np.empty((len(heights), len(answers)), np.bool_)
    for place, chosen in enumerate(answers):
        others = [one for one in range(heights.shape[1]) if one not in chosen]
        right[:, place] = heights[:, list(chosen)].min(axis=1) >= heights[:, others].max(axis=1)
    return right


def right_rankings(heights: Indices, answers: Answers) -> Mask:
    """Tell for every row of heights, or of counts, which orders never rise."""
    return np.stack([(np.diff(heights[:, list(order)], axis=1) <= 0).all(axis=1) for order in answers], axis=1)


def _inputs(q: int, answers: int, largest: int | None, total: int | None, relation: Moves) -> tuple[Graph, Indices]:
    """Choose the inputs, and refuse too many before anything is listed."""
    if total is not None and largest is not None:
        raise BadInput("total", "cannot be given with largest", "give one of the two")
    if total is None:
        few = [cap for cap in range(1, 7) if number_of_heights([cap] * (q - 1)) <= _BY_DEFAULT]
        cap = max(few, default=1) if largest is None else integer(largest, "largest", at_least=1)
        name, inputs = "largest", number_of_heights([min(cap, MOST_CHANCES)] * (q - 1))
    else:
        if relation != "exchange":
            raise BadInput("total", "is not kept where records are added or removed", "give largest instead")
        records = integer(total, "total", at_least=1)
        name, inputs = "total", comb(min(records, MOST_CHANCES) + q - 1, q - 1)
    if inputs * answers > MOST_CHANCES:
        rule = f"makes more than {MOST_CHANCES:,} chances, with that many categories, of an answer to an input"
        raise BadInput(name, rule, "lower one of the two")
    graph = order_graph(q, cap, relation) if total is None else listed(Histograms(records, q))
    return graph, np.array(graph.nodes[:], dtype=np.int64)


def _written(graph: Graph, right: Mask, answers: Answers, privacy: Privacy) -> Mechanism:
    if not privacy.single:
        raise BadInput("privacy", f"holds {len(privacy.pairs)} pairs, and this needs one", "give epsilon")
    privacy = privacy.pure
    goal = _goal(right)
    if 2 * graph.number_of_edges * len(answers) <= MOST_CONSTRAINTS:
        best = optimal_mechanism(goal, graph, privacy, outputs=answers)
        assert best.objective is not None
        rows = shortened(_alike(_renamed(graph, answers), best.matrix()), graph, privacy)
        made = Mechanism.from_matrix(rows, privacy=privacy, graph=graph, outputs=answers)
        proved = Objective(goal.name, goal.value(rows), best.objective.lower_bound)
        return sealed(replace(made, objective=proved, certificate=best.certificate))
    found, _ = order_rows(graph, right, answers, privacy.ratio)
    if found is None:
        raise BadInput("largest", "makes a program too large to be solved", "lower it, or ask for a larger epsilon")
    rows = tuple(found.row(node) for node in range(graph.number_of_nodes))
    objective = Objective(goal.name, goal.value(rows))
    return Mechanism.from_matrix(rows, privacy=privacy, graph=graph, outputs=answers, objective=objective)


def order_rows(graph: Graph, right: Mask, answers: Answers, ratio: Fraction) -> tuple[Pulled | None, str]:
    """Pull where every edge passes, else solve the program over classes of chances; and say which.

    Rows are private on every edge, which was checked in whole numbers; None where the program is too large.
    """
    found, categories = pulled(graph, right, ratio), max(map(max, answers)) + 1
    if found is not None:
        return found, "pull"
    if 2 * graph.number_of_edges * len(answers) > MOST_CLASSES * factorial(categories):
        return None, "linear program"  # there are at least so many classes of constraints
    return best_alike(graph, right, ratio, _renamed(graph, answers), MOST_CLASSES), "linear program"


def _goal(right: Mask) -> Goal:
    """Count a wrong answer as 1, and every input alike."""
    loss = tuple(tuple(Fraction(not one) for one in row) for row in right.tolist())
    return Goal(name="mean probability of a wrong answer", loss=loss, weights=(Fraction(1, len(loss)),) * len(loss))


def _renamed(graph: Graph, answers: Answers) -> Renamed:
    """List where each renaming of the categories takes every node and every answer."""
    heights = np.array(graph.nodes[:], dtype=np.int64)
    q, place = heights.shape[1], {one: number for number, one in enumerate(answers)}
    renamed = []
    for order in permutations(range(q)):
        moved = np.empty_like(heights)
        moved[:, list(order)] = heights
        nodes = np.array([graph.index_of(tuple(one)) for one in moved.tolist()])
        named = [tuple(order[one] for one in answer) for answer in answers]
        columns = [place[answer if len(answer) == q else tuple(sorted(answer))] for answer in named]
        renamed.append((nodes, np.array(columns)))
    return renamed


def _alike(renamed: Renamed, rows: Sequence[Sequence[Fraction]]) -> Table:
    """Average a mechanism over all renamings: as private, as good, and fair to each category."""
    summed = [[Fraction(0)] * len(row) for row in rows]
    for nodes, columns in renamed:
        for number, node in enumerate(nodes.tolist()):
            for answer, column in enumerate(columns.tolist()):
                summed[number][answer] += rows[node][column]
    return tuple(tuple(chance / len(renamed) for chance in row) for row in summed)
