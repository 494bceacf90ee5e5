"""The best rows given some: recomputed from a certificate's facts for binary and rainbow designs.

A neighbour of a node that gives an event probability s gives it at most u(s). So along any path from a node b whose row
is given, the first k outputs of d's ranking get at most u^dist(b,d)(mass that b gives them). The smallest of these
bounds, for every d and k, makes a mechanism that dominates every private one with the same given rows, if it is itself
private (proofs/rainbow-optimality.md). Privacy is the audit's business; here the rows are recomputed.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Number, Numbers, flint_rational, integer, json_list, rational
from ..errors import BadInput
from ..graphs import breadth_first
from ..graphs import listed as listed_graph
from ..mechanisms import too_deep, too_many_events
from ..privacy import Pair
from ._audited_mechanism import AuditedMechanism
from ._objectives import StatedGoal, multipliers

# Recompute u: the largest probability that a neighbour can give to an event, for any number of pairs.
#
# Each pair (r, δ) allows at most min{1, r·s + δ, 1 − (1 − s − δ)/r}. So u is the least of all these lines, and on an
# interval it is one of them. Their lower envelope is found once, and a value is looked up (docs/theory.md#operator).


class Step:
    """The map s → u(s), remembered: many nodes share a value."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        lowest: dict[Number, Number] = {flint.fmpq(0): flint.fmpq(1)}  # the constant of the lowest line of each slope
        for pair in pairs:
            ratio, delta = flint_rational(pair.ratio), flint_rational(pair.delta)
            for slope, constant in ((ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)):
                lowest[slope] = min(constant, lowest.get(slope, constant))
        self._lines: list[tuple[Number, Number]] = []
        self._starts: list[Number] = []  # where each line becomes the lowest
        for slope in sorted(lowest, reverse=True):
            constant, start = lowest[slope], flint.fmpq(0)
            while self._lines:
                steeper, other = self._lines[-1]
                start = (constant - other) / (steeper - slope)
                if start > self._starts[-1]:
                    break
                self._lines.pop()
                self._starts.pop()
            self._lines.append((slope, constant))
            self._starts.append(start if len(self._lines) > 1 else flint.fmpq(0))
        self._known: dict[Hashable, Number] = {}

    def __call__(self, s: Number) -> Number:
        """Return u(s) for s from 0 to 1."""
        if s not in self._known:
            slope, constant = self._line(s)
            self._known[s] = slope * s + constant
        return self._known[s]

    def slope(self, s: Number) -> Number:
        """Return a slope of u at s, that of the right side at a kink."""
        return self._line(s)[0]

    def _line(self, s: Number) -> tuple[Number, Number]:
        return self._lines[bisect_right(self._starts, s) - 1]


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


def homogeneous_rainbow(subject: AuditedMechanism, facts: Mapping[str, Any]) -> Best:
    """Take the rows of the boundary as given: all inputs with a neighbour of another ranking."""
    rankings = _rankings(subject, facts)
    return _best(subject, rankings, _boundary(subject, rankings))


def balanced_line(subject: AuditedMechanism, facts: Mapping[str, Any]) -> Best:
    """Compare the boundary with the balanced row: the first choice as in randomised response, the rest equally.

    The file's own rows are what the others are the best for, so that the bound is about them whatever `within` allows.
    """
    rankings = _rankings(subject, facts)
    q = len(subject.outputs)
    # Each pair asks for a lie at least this probable.
    lie = flint_rational(max((1 - pair.delta) / (pair.ratio + q - 1) for pair in subject.privacy.pairs))
    best = _best(subject, rankings, _boundary(subject, rankings))
    apart = max(
        (
            abs(p - (1 - (q - 1) * lie if v == rankings[i][0] else lie))
            for i in best.given
            for v, p in enumerate(subject.row(i))
        ),
        default=flint.fmpq(0),
    )
    return replace(best, apart=apart)


def fixed_rainbow(subject: AuditedMechanism, facts: Mapping[str, Any]) -> Best:
    """Take the rows of the inputs listed as "fixed" as given, on the boundary or not."""
    numbers = json_list(facts.get("fixed"), "fixed")
    fixed = {integer(i, "fixed", at_least=0, at_most=len(subject.inputs) - 1) for i in numbers}
    return _best(subject, _rankings(subject, facts), fixed)


def _best(subject: AuditedMechanism, rankings: list[Ranking], given: set[int]) -> Best:
    rows = _best_rows(subject, rankings, {i: subject.row(i) for i in given})
    return Best(rankings=rankings, rows=rows, given=frozenset(given), boundary=frozenset(_boundary(subject, rankings)))


def _rankings(subject: AuditedMechanism, facts: Mapping[str, Any]) -> list[Ranking]:
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


def _boundary(subject: AuditedMechanism, rankings: Sequence[Ranking]) -> set[int]:
    """Return the inputs with a neighbour of another ranking; a ranking that is listed twice is one ranking."""
    numbers: dict[Ranking, int] = {}
    classes = [numbers.setdefault(ranking, len(numbers)) for ranking in rankings]
    at_place = np.empty(len(classes), dtype=np.int64)
    at_place[subject.places] = classes
    boundary = np.zeros(len(classes), dtype=np.bool_)
    for tails, heads in subject.graph.edges():
        apart = at_place[tails] != at_place[heads]
        boundary[tails[apart]] = boundary[heads[apart]] = True
    return set(np.flatnonzero(boundary[subject.places]).tolist())


def _best_rows(subject: AuditedMechanism, rankings: Sequence[Ranking], given: Mapping[int, Numbers]) -> Rows:
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


def _deepest(subject: AuditedMechanism, given: Mapping[int, Numbers]) -> int:
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
    result = [flint.fmpq(1)] * len(neighbours)
    for b, value in start.items():
        result[b] = value
    heap = [(value, b) for b, value in start.items()]
    heapq.heapify(heap)
    while heap:
        value, d = heapq.heappop(heap)
        further = step(value)
        for other in neighbours[d]:
            if other not in start and further < result[other]:
                result[other] = further
                heapq.heappush(heap, (further, other))
    return result


# Bound the goal over all boundaries with one row per ranking, to check whether a boundary was well chosen.
#
# With row m^c on the boundary of class c the best mechanism gives the first k choices u^t(S_k(m^c)) at depth t. So the
# goal is a constant minus a sum of concave functions of the S_k(m^c). Tangents bound these from above by linear
# functions, at any points and with any weights that sum to 1. Multipliers on the pairs of classes that touch then bound
# a linear goal by weak duality. Bad tangents or multipliers only make the bound weak (proofs/choice-of-boundary.md).

ONE_ROW_PER_RANKING = "mechanisms whose boundary rows depend on the ranking alone"
"""The scope of the bound."""

_DEEPEST = 1000


def choice_bound(subject: AuditedMechanism, certificate: Mapping[str, Any], best: Best, goal: StatedGoal) -> Number:
    """Recompute the bound that "choice" of a certificate proves.

    Parameters
    ----------
    certificate : mapping
        "choice" holds "tangents": [[class, k, s, weight], …] and "multipliers": [[class, class, output, λ], …]. The
        number of a pair of the privacy follows λ if it is not the first. Classes are positions in "rankings".

    Raises
    ------
    BadInput
        When it is malformed, the goal is no average, or the graph is deeper than 1,000.
    """
    facts = certificate.get("choice")
    if not isinstance(facts, Mapping) or goal.aggregate != "average":
        raise BadInput("choice", "must hold tangents and multipliers, for an average", "leave it out")
    pairs = [(flint_rational(pair.ratio), flint_rational(pair.delta)) for pair in subject.privacy.pairs]
    step = Step(subject.privacy.pairs)
    constant, earned = _earned(subject, best, goal)
    scores: dict[Ranking, list[Number]] = {
        best.rankings[i]: [flint.fmpq(0)] * len(subject.outputs) for i in best.boundary
    }
    rankings = [tuple(integer(v, "rankings", at_least=0) for v in line) for line in certificate["rankings"]]
    drawn: dict[tuple[Ranking, int], Number] = {}
    for entry in json_list(facts.get("tangents"), "tangents"):
        which, place, at, share = json_list(entry, "tangents", 4)
        ranking = rankings[integer(which, "tangents", at_least=0, at_most=len(rankings) - 1)]
        k = integer(place, "tangents", at_least=0, at_most=len(subject.outputs) - 2)
        s, weight = (flint_rational(rational(x, "tangents")) for x in (at, share))
        if ranking not in scores or not 0 <= s <= 1 or weight < 0:
            raise BadInput("tangents", "must touch at probabilities of a class with a boundary", "correct them")
        drawn[ranking, k] = drawn.get((ranking, k), flint.fmpq(0)) + weight
        value, slope = _tangent(earned.get((ranking, k), []), s, step)
        constant -= weight * (value - slope * s)
        for v in ranking[: k + 1]:
            scores[ranking][v] -= weight * slope
    if any(total != 1 for total in drawn.values()):
        raise BadInput("tangents", "must have weights that sum to 1 for every class and prefix", "correct them")
    for key, weights in earned.items():
        if key not in drawn:  # at most all of it
            constant -= sum(weights, start=flint.fmpq(0))
    touching = _touching(subject, best)
    largest: dict[tuple[Ranking, Ranking, int], Number] = {}
    seen = set()
    for i, j, v, k, size in multipliers(facts, len(rankings), len(subject.outputs), len(pairs)):
        first, second = rankings[i], rankings[j]
        if (first, second) not in touching or size < 0 or (first, second, v, k) in seen:
            raise BadInput("multipliers", "must be 0 or more, each once, where classes touch", "correct them")
        seen.add((first, second, v, k))
        scores[first][v] += size
        scores[second][v] -= pairs[k][0] * size
        largest[first, second, k] = max(size, largest.get((first, second, k), size))
    return (
        constant
        + sum((min(row) for row in scores.values()), start=flint.fmpq(0))
        - sum((pairs[k][1] * size for (_, _, k), size in largest.items()), start=flint.fmpq(0))
    )


def _earned(
    subject: AuditedMechanism, best: Best, goal: StatedGoal
) -> tuple[Number, dict[tuple[Ranking, int], list[Number]]]:
    """Return the goal with all prefix sums 0, and by class and prefix what a prefix sum takes off it at every depth."""
    graph = listed_graph(subject.graph)
    at_boundary = np.sort(subject.places[np.array(sorted(best.boundary), dtype=np.int64)])
    depths = breadth_first(graph.indptr, graph.indices, at_boundary)[subject.places].tolist()
    if max(depths) > _DEEPEST:
        raise BadInput("choice", f"is not checked deeper than {_DEEPEST}", "leave it out")
    constant: Number = flint.fmpq(0)
    earned: dict[tuple[Ranking, int], list[Number]] = {}
    for i, ranking in enumerate(best.rankings):
        losses = [goal.weights[i] * goal.loss_row(i)[v] for v in ranking]
        if depths[i] < 0:  # no boundary to be reached: the first choice, surely
            constant += losses[0]
            continue
        constant += losses[-1]
        for k in range(len(ranking) - 1):
            weights = earned.setdefault((ranking, k), [])
            weights.extend([flint.fmpq(0)] * (depths[i] + 1 - len(weights)))
            weights[depths[i]] += losses[k + 1] - losses[k]
    return constant, {key: weights for key, weights in earned.items() if any(weights)}


def _tangent(weights: Sequence[Number], s: Number, step: Step) -> tuple[Number, Number]:
    """Return Σ_t weight_t·u^t(s) and a slope there, that of the right side at a kink."""
    value, slope, factor = flint.fmpq(0), flint.fmpq(0), flint.fmpq(1)
    for weight in weights:
        value, slope = value + weight * s, slope + weight * factor
        factor, s = factor * step.slope(s), step(s)
    return value, slope


def _touching(subject: AuditedMechanism, best: Best) -> set[tuple[Ranking, Ranking]]:
    input_at = np.empty(len(subject.places), dtype=np.int64)
    input_at[subject.places] = np.arange(len(subject.places))
    result = set()
    for tails, heads in subject.graph.edges():
        for i, j in zip(input_at[tails].tolist(), input_at[heads].tolist(), strict=True):
            one, other = best.rankings[i], best.rankings[j]
            if one != other:
                result |= {(one, other), (other, one)}
    return result
