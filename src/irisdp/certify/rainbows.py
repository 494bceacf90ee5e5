"""The best rows given some: recomputed from a certificate's facts for binary and rainbow designs.

A neighbour of a node that gives an event probability s gives it at most u(s). So along any path from a node b whose row
is given, the first k outputs of d's ranking get at most u^dist(b,d)(mass that b gives them). The smallest of these
bounds, for every d and k, makes a mechanism that dominates every private one with the same given rows, if it is itself
private (proofs/rainbow-optimality.md). Privacy is the audit's business; here the rows are recomputed.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import integer, json_list
from ..mechanisms.scope import too_deep, too_many_events
from .arithmetic import Number, Numbers, flint_rational
from .step import Step
from .subject import Subject

__all__ = ["Best", "balanced_line", "fixed_rainbow", "homogeneous_rainbow"]

Ranking = tuple[int, ...]
Rows = Sequence[Sequence[Number]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The best rows given some, recomputed.

    Parameters
    ----------
    rankings : list
        One per input.
    rows : sequence of rows
        One per input; a given row is its own.
    given : frozenset of int
        The inputs whose rows were taken from the file as they are: the rows are best among the mechanisms that share
        these, and say nothing about others.
    boundary : frozenset of int
        The inputs with a neighbour of another ranking.
    apart : number
        How far the given rows are at most from those that the theorem names, where it names any.
    """

    rankings: list[Ranking]
    rows: Rows
    given: frozenset[int]
    boundary: frozenset[int]
    apart: Number = 0


def homogeneous_rainbow(subject: Subject, facts: Mapping[str, Any]) -> Best:
    """Take the rows of the boundary as given: all inputs with a neighbour of another ranking."""
    rankings = _rankings(subject, facts)
    return _best(subject, rankings, _boundary(subject, rankings))


def balanced_line(subject: Subject, facts: Mapping[str, Any]) -> Best:
    """Compare the boundary with the balanced row: the first choice as in randomised response, the rest equally.

    The file's own rows are what the others are the best for, so that the bound is about them whatever `within` allows.
    """
    rankings = _rankings(subject, facts)
    q = len(subject.outputs)
    # Each pair asks for a lie at least this probable.
    lie = flint_rational(max((1 - pair.delta) / (pair.ratio + q - 1) for pair in subject.privacy.pairs))
    found = _best(subject, rankings, _boundary(subject, rankings))
    apart = max(
        (
            abs(p - (1 - (q - 1) * lie if v == rankings[i][0] else lie))
            for i in found.given
            for v, p in enumerate(subject.row(i))
        ),
        default=flint.fmpq(0),
    )
    return replace(found, apart=apart)


def fixed_rainbow(subject: Subject, facts: Mapping[str, Any]) -> Best:
    """Take the rows of the inputs listed as "fixed" as given, on the boundary or not."""
    numbers = json_list(facts.get("fixed"), "fixed")
    fixed = {integer(i, "fixed", at_least=0, at_most=len(subject.inputs) - 1) for i in numbers}
    return _best(subject, _rankings(subject, facts), fixed)


def _best(subject: Subject, rankings: list[Ranking], given: set[int]) -> Best:
    rows = _best_rows(subject, rankings, {i: subject.row(i) for i in given})
    return Best(rankings=rankings, rows=rows, given=frozenset(given), boundary=frozenset(_boundary(subject, rankings)))


def _rankings(subject: Subject, facts: Mapping[str, Any]) -> list[Ranking]:
    """Read the ranking of every input."""
    q = len(subject.outputs)
    known = []
    for line in json_list(facts.get("rankings"), "rankings"):
        ranking = tuple(integer(v, "rankings", at_least=0, at_most=q - 1) for v in json_list(line, "rankings", q))
        if len(set(ranking)) != q:
            raise BadInput("rankings", "must list every output once", "rank all outputs, best first")
        known.append(ranking)
    given = json_list(facts.get("ranking_of"), "ranking_of", len(subject.inputs))
    classes = [integer(c, "ranking_of", at_least=0, at_most=len(known) - 1) for c in given]
    return [known[c] for c in classes]


def _boundary(subject: Subject, rankings: Sequence[Ranking]) -> set[int]:
    """Return the inputs with a neighbour of another ranking; a ranking that is listed twice is one ranking."""
    numbers: dict[Ranking, int] = {}
    classes = [numbers.setdefault(ranking, len(numbers)) for ranking in rankings]
    at_place = np.empty(len(classes), dtype=np.int64)
    at_place[subject.places] = classes
    found = np.zeros(len(classes), dtype=np.bool_)
    for tails, heads in subject.graph.edges():
        apart = at_place[tails] != at_place[heads]
        found[tails[apart]] = found[heads[apart]] = True
    return set(np.flatnonzero(found[subject.places]).tolist())


def _best_rows(subject: Subject, rankings: Sequence[Ranking], given: Mapping[int, Numbers]) -> Rows:
    input_at = np.empty(len(rankings), dtype=np.int64)
    input_at[subject.places] = np.arange(len(rankings))
    if too_many_events(rankings, len(rankings)):
        raise BadInput("rankings", "have too many different first choices", "give fewer outputs or fewer rankings")
    if too_deep(_deepest(subject, given), subject.privacy):
        raise BadInput("rankings", "reach too far from the given rows for exact numbers", "use a shorter ratio")
    neighbours = [input_at[subject.graph.neighbours(place)].tolist() for place in subject.places.tolist()]
    step = Step(subject.privacy.pairs)
    bounds: dict[frozenset[int], list[Number]] = {}
    best: list[Numbers] = []
    for i, ranking in enumerate(rankings):
        if i in given:
            best.append(given[i])
            continue
        row, before = [flint.fmpq(0)] * len(ranking), flint.fmpq(0)
        for k, output in enumerate(ranking):
            event = frozenset(ranking[: k + 1])
            if event not in bounds:
                start = {b: sum((row[v] for v in event), start=flint.fmpq(0)) for b, row in given.items()}
                bounds[event] = _spread(start, neighbours, step)
            row[output], before = bounds[event][i] - before, bounds[event][i]
        best.append(tuple(row))
    return best


def _deepest(subject: Subject, given: Mapping[int, Numbers]) -> int:
    """Return the largest distance of an input from the given ones."""
    size = len(subject.places)
    if not given or not too_deep(size, subject.privacy):
        return 0  # no need to measure
    near: NDArray[np.int64] = np.full(size, size, dtype=np.int64)
    frontier = [int(subject.places[b]) for b in given]
    near[frontier], steps = 0, 0
    while frontier:
        steps += 1
        reached = {int(j) for place in frontier for j in subject.graph.neighbours(place) if near[j] == size}
        frontier = list(reached)
        near[frontier] = steps
    return int(near[near < size].max())


def _spread(start: Mapping[int, Number], neighbours: Sequence[Sequence[int]], step: Step) -> list[Number]:
    """Return the smallest u^dist(b,d)(start_b) for every d: values are passed on from the smallest up.

    Since u is increasing and u(s) ≥ s, they come in rising order, and the first to reach an input is its smallest.
    """
    found = [flint.fmpq(1)] * len(neighbours)
    for b, value in start.items():
        found[b] = value
    heap = [(value, b) for b, value in start.items()]
    heapq.heapify(heap)
    while heap:
        value, d = heapq.heappop(heap)
        further = step(value)
        for other in neighbours[d]:
            if other not in start and further < found[other]:
                found[other] = further
                heapq.heappush(heap, (further, other))
    return found
