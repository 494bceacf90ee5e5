"""The K largest categories, and all of them in order: mechanisms to write down, over capped heights or all counts.

An answer is right if it may be the truth: among categories that are level, any order is. So which answers are right
depends on the order of the counts only, which capped heights keep.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations
from math import ceil, comb, factorial, log

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, Table, checked, integer, rational_text
from ..errors import BadInput
from ..graphs import (
    Graph,
    Histograms,
    Indices,
    Mask,
    Moves,
    capped_heights,
    keys_of_heights,
    listed,
    number_of_heights,
    order_graph,
    steps_are_few,
)
from ..mechanisms import Mechanism, StatedObjective
from ..privacy import Privacy
from ._optimal_mechanism import optimal_mechanism, sealed
from ._privacy_program import Goal
from ._pull import LARGEST_RATIO, UNIT, Pulled, Renamed, best_alike, pulled
from ._repair import shortened
from ._table_cache import kept_table

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
    for index, chosen in enumerate(answers):
        others = [one for one in range(heights.shape[1]) if one not in chosen]
        right[:, index] = heights[:, list(chosen)].min(axis=1) >= heights[:, others].max(axis=1)
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
        proved = StatedObjective(goal.name, goal.value(rows), best.objective.lower_bound)
        return sealed(replace(made, objective=proved, certificate=best.certificate))
    found, _ = order_rows(graph, right, answers, privacy.ratio)
    if found is None:
        raise BadInput("largest", "makes a program too large to be solved", "lower it, or ask for a larger epsilon")
    rows = tuple(found.row(node) for node in range(graph.number_of_nodes))
    objective = StatedObjective(goal.name, goal.value(rows))
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


# Tables from which the K largest, or a ranking, are published: chosen from public facts alone, and kept on disk.
#
# The cap of heights follows from the number of categories, the ratio and the relation. It is large enough that an
# answer about categories that are further apart is wrong with a probability of at most 1/10,000. For a ranking all
# steps matter. For the K largest only the step between the last of them and the next matters, so the other steps may
# have a smaller cap, as large as the size of the graph allows. Where even the least graph takes too long there is no
# table, and noisy counts are sorted instead.

WRONG_FAR_APART = 1e-4
"""Probability of a wrong answer, at most, where all categories are further apart than a table tells apart."""

MOST_TABLE_CHANCES = 100_000
"""Inputs times answers of a table."""

MOST_WORK = 4_000_000
"""Chances times the larger cap: the sweeps by which they are found are as many as steps are long. Seconds."""

LEAST_CAP = 2
"""Least cap of the steps that a right answer does not tell apart."""

_ROUNDED = Fraction(1, 1 << 44)
"""More than rounding takes from a sum of 120 chances at most."""

_MORE = 4
"""How many further caps are tried where the first does not reach far enough."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderTable:
    """Chances of all answers at all capped heights.

    Parameters
    ----------
    answers : list of tuples of int
        Each names categories by number.
    caps : tuple of int
        Steps of so many records and more look alike: one for each step, from below.
    largest : int
        R, the cap of the steps between categories that a right answer tells apart.
    rule : {"pull", "linear program"}
        How it was found.
    weights : int64 array, shape (nodes, answers)
        Chances in units of 1/UNIT, private on every edge of the graph, which was checked.
    wrong : float array, one per node
        The probability of a wrong answer.
    apart : int array, one per node
        The least step between two categories that a right answer tells apart.
    """

    answers: Answers
    caps: tuple[int, ...]
    largest: int
    rule: str
    weights: Indices = field(repr=False)
    wrong: NDArray[np.float64] = field(repr=False)
    apart: Indices = field(repr=False)
    _keys: Indices = field(repr=False)

    def at(self, counts: Indices) -> Indices:
        """Return the weights of each table of counts, shape (tables, categories) → (tables, answers)."""
        keys = keys_of_heights(capped_heights(counts, self.caps), self.caps)
        indices: Indices = self.weights[np.searchsorted(self._keys, keys)]
        return indices

    @property
    def worst_error(self) -> float:
        """The largest probability of a wrong answer, over all counts."""
        return float(self.wrong.max())

    @property
    def error_far_apart(self) -> float:
        """The largest probability of a wrong answer if the relevant distances are R or more."""
        return float(self.wrong[self.apart >= self.largest].max())

    def wrong_from(self, step: int) -> Enclosure:
        """Enclose the largest probability of a wrong answer if the relevant distances are at least so many records."""
        found = Fraction(float(self.wrong[self.apart >= min(step, self.largest)].max()))
        return Enclosure(found - _ROUNDED, found + _ROUNDED)

    def apart_for(self, truth: float) -> int | None:
        """Return the least step from which on answers are right with this probability; None if no cap is as far."""
        for step in range(self.largest + 1):
            if self.wrong[self.apart >= step].max() <= 1 - truth:
                return step
        return None


@lru_cache(maxsize=16)
def order_table(k: int | None, categories: int, ratio: Fraction, relation: Moves) -> OrderTable | None:
    """Find or read the table for a question; None where noisy counts have to do.

    Parameters
    ----------
    k : int or None
        How many of the largest are named; None for a ranking of all.
    categories : int
    ratio : Fraction
        r = e^ε.
    relation : {"exchange", "add-remove", "any"}

    Returns
    -------
    OrderTable or None
        Private at the ratio on every edge, which was checked in whole numbers, however it was come by.
    """
    if categories > LARGEST_CATEGORIES or ratio <= 1:
        return None
    ratio = min(ratio, LARGEST_RATIO)
    answers = all_rankings(categories) if k is None else all_tops(k, categories)
    # A step shrinks by two records at a time where they are exchanged, and by one where they come and go.
    pace = (1 if relation == "add-remove" else 2) / log(ratio)
    first = max(1, ceil(pace * log(1 / WRONG_FAR_APART)))
    for largest in range(first, first + _MORE + 1):
        caps = _caps(k, categories, largest, len(answers))
        result = None if caps is None else _table(k, ratio, relation, caps, largest, answers)
        if result is None or result.error_far_apart <= WRONG_FAR_APART:
            return result
    return None


def _caps(k: int | None, categories: int, largest: int, answers: int) -> tuple[int, ...] | None:
    """Return the caps of all steps, as large as the size of a graph allows; None where it allows none."""

    def caps_with(other: int) -> tuple[int, ...]:
        return tuple(largest if k in (None, categories - 1 - step) else other for step in range(categories - 1))

    def fits(other: int) -> bool:
        caps = caps_with(other)
        chances = number_of_heights(caps) * answers
        return chances <= min(MOST_TABLE_CHANCES, MOST_WORK // largest) and steps_are_few(caps)

    least = largest if k is None else min(LEAST_CAP, largest)
    # A graph grows with every cap, so that those which fit come first.
    room = bisect_left(range(least, largest + 1), True, key=lambda other: not fits(other))
    return caps_with(least + room - 1) if room else None


def _table(
    k: int | None, ratio: Fraction, relation: Moves, caps: tuple[int, ...], largest: int, answers: Answers
) -> OrderTable | None:
    graph = order_graph(len(caps) + 1, caps, relation)
    heights = np.array(graph.nodes[:], dtype=np.int64)
    right = right_rankings(heights, answers) if k is None else right_tops(heights, answers)
    asked = f"{'ranking' if k is None else f'top {k}'} up to {caps}, {relation}, {rational_text(ratio)}"

    def find() -> tuple[Pulled | None, str]:
        # Pull fails for the K largest only where caps are small for the ratio: no program would be worth its minute.
        return order_rows(graph, right, answers, ratio) if k is None else (pulled(graph, right, ratio), "pull")

    kept = kept_table(f"order table 2: {asked}", graph, len(answers), ratio, find)
    if kept is None:
        return None
    rows, rule = kept
    wrong = 1 - np.where(right, rows.weights / UNIT, 0).sum(axis=1)
    falling = -np.sort(-heights, axis=1)
    steps = falling[:, :-1] - falling[:, 1:]
    apart = steps.min(axis=1) if k is None else steps[:, k - 1]
    return OrderTable(answers, caps, largest, rule, rows.weights, wrong, apart, keys_of_heights(heights, caps))
