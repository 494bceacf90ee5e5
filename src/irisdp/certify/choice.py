"""Whether a boundary was well chosen: a bound on the goal over all boundaries with one row per ranking.

With row m^c on the boundary of class c the best mechanism gives the first k choices u^t(S_k(m^c)) at depth t. So the
goal is a constant minus a sum of concave functions of the S_k(m^c). Tangents bound these from above by linear
functions, at any points and with any weights that sum to 1. Multipliers on the pairs of classes that touch then bound a
linear goal by weak duality. Bad tangents or multipliers only make the bound weak (proofs/choice-of-boundary.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import flint
import numpy as np

from ..errors import BadInput
from ..exact import integer, json_list, rational
from ..graphs.explicit import listed as listed_graph
from ..graphs.search import breadth_first
from .arithmetic import Number, flint_rational
from .dual import multipliers
from .goals import Goal
from .rainbows import Best
from .step import Step
from .subject import Subject

__all__ = ["ONE_ROW_PER_RANKING", "choice_bound"]

ONE_ROW_PER_RANKING = "mechanisms whose boundary rows depend on the ranking alone"
"""The scope of the bound."""

_DEEPEST = 1000

Ranking = tuple[int, ...]


def choice_bound(subject: Subject, certificate: Mapping[str, Any], best: Best, goal: Goal) -> Number:
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


def _earned(subject: Subject, best: Best, goal: Goal) -> tuple[Number, dict[tuple[Ranking, int], list[Number]]]:
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


def _touching(subject: Subject, best: Best) -> set[tuple[Ranking, Ranking]]:
    input_at = np.empty(len(subject.places), dtype=np.int64)
    input_at[subject.places] = np.arange(len(subject.places))
    found = set()
    for tails, heads in subject.graph.edges():
        for i, j in zip(input_at[tails].tolist(), input_at[heads].tolist(), strict=True):
            one, other = best.rankings[i], best.rankings[j]
            if one != other:
                found |= {(one, other), (other, one)}
    return found
