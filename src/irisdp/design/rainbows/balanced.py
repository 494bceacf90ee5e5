"""The balanced boundary: one row along every ranking, valid where classes touch, and dominated by no other such row.

The symmetric row (first choice (r + δ(q−1))/(r + q − 1), the rest equal) is valid for all rankings at once. Touching
rankings may leave slack, for example if they share a first choice. Then some rows are better in every prefix sum; of
these, take the one with the largest first prefix sum, then with the largest second, and so on. So nothing changes where
the symmetric row is undominated, and nothing dominates what is taken (proofs/balanced-boundary.md).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import flint

from ...errors import BadInput, Refusal
from ...graphs import RankedGraph
from ...graphs.boundary import touching_codes
from ...linprog.elimination import SparseRow
from ...linprog.optimum import exact_optimum
from ...linprog.program import LinearProgram, as_fmpq, as_fraction
from ...mechanisms import Row
from ...privacy import Privacy, are_close
from .farkas import refuse_unfinished
from .homogeneous import balanced_row

__all__ = ["balanced_boundary"]

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
    found, at_least = symmetric, list(accumulate(symmetric))[:-1]
    for k in range(len(at_least)):
        if at_least[k] < 1:
            found = _largest(k, at_least, turns, privacy)
            at_least = list(accumulate(found))[: k + 1] + at_least[k + 1 :]
        elif k + 1 < len(at_least):
            at_least[k + 1] = Fraction(1)
    if not all(are_close(found, tuple(found[place] for place in turn), privacy) for turn in turns):
        refuse_unfinished()
    return found


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
