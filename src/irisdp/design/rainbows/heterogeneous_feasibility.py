"""When given rows contradict each other: which two nodes, by how much, and what privacy would make them possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np

from ...errors import Infeasible
from ...exact import decimal_above, rational_text, short_text
from ...graphs import DatasetGraph, RankedGraph, key_of_node
from ...graphs.names import json_node
from ...mechanisms import Row
from ...privacy import Privacy, enclose_steps, hockey_stick, steps
from .heterogeneous import Fixed, spread_event
from .propagation import GridSteps
from .propagation import Steps as StepRule
from .propagation_limits import smallest_delta, smallest_epsilon
from .two_rows import Pair, are_possible_together, given_pairs, telling_event

__all__ = ["Contradiction", "apart", "contradiction", "refuse", "refuse_as"]

_BITS = 192
"""A contradiction below 2^-192 is a tie that exact arithmetic has to judge."""

_PLACES, _MOST_PLACES = 30, 4000


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Node `node` is given more of an event than `origin`, `distance` edges away, allows."""

    node: int
    origin: int
    distance: int
    event: frozenset[int]


def contradiction(
    ranked: RankedGraph,
    fixed: Fixed,
    privacy: Privacy,
    rule: StepRule | None = None,
    pairs: Sequence[Pair] | None = None,
) -> Contradiction | None:
    """Return two given nodes that no private mechanism can satisfy together, or None when any two are possible.

    For two outputs none found means that a mechanism exists. For more, every prefix of a ranking is looked at, and
    then every event for every pair (of up to 2,000 different rows); three rows may still be impossible together.
    """
    # Rounded up, a bound that is exceeded is exceeded for certain.
    rule = GridSteps(privacy, _BITS, up=True) if rule is None else rule
    tried: set[frozenset[int]] = set()
    for order in ranked.orders:
        for k in range(1, len(order)):
            event = frozenset(order[:k])
            if event in tried or (len(order) == 2 and tried):  # with two answers one event says it all
                continue
            tried.add(event)
            violation = spread_event(ranked, fixed, event, rule).violation
            if violation is not None:
                distance = int(ranked.graph.distances_from(violation.origin)[violation.node])
                return Contradiction(violation.node, violation.origin, distance, event)
    if len(ranked.outputs) == 2:
        return None
    if (found := _between_neighbours(ranked.graph, fixed, privacy)) is not None:
        return found
    for one, other, distance in given_pairs(ranked.graph, fixed) if pairs is None else pairs:
        told = telling_event(fixed[one], fixed[other], distance, privacy)
        if told is not None:
            away = ranked.graph.distances_from(other).tolist()
            same = [node for node, row in fixed.items() if row == fixed[one] and away[node] == distance]
            return Contradiction(same[0], other, distance, told)
    return None


def apart(one: int, other: int, fixed: Fixed, privacy: Privacy) -> Contradiction | None:
    """Return the event that tells the given rows of two neighbours too well apart, or None when they are close."""
    for pair in privacy.pairs:
        for node, origin in ((one, other), (other, one)):
            if hockey_stick(fixed[node], fixed[origin], pair.ratio) > pair.delta:
                faced = enumerate(zip(fixed[node], fixed[origin], strict=True))
                return Contradiction(node, origin, 1, frozenset(v for v, (p, q) in faced if p > pair.ratio * q))
    return None


def refuse(found: Contradiction, ranked: RankedGraph, fixed: Fixed, privacy: Privacy) -> NoReturn:
    """Raise `Infeasible` for a contradiction, with the smallest ε and δ at which the given rows contradict no more."""

    pairs = given_pairs(ranked.graph, fixed) if len(ranked.outputs) > 2 else []

    def least(limit: Callable[[Callable[[Privacy], bool], Privacy], Fraction | None], of: str) -> Fraction | None:
        # Each round settles one pair for good, and a larger ε or δ never unsettles one.
        current: Privacy = privacy
        remaining: Contradiction | None = found
        needed: Fraction | None = Fraction(0)
        while remaining is not None:
            pair = remaining
            needed = limit(lambda changed: _possible(pair, fixed, changed), privacy)  # noqa: B023 - called at once
            if needed is None:
                return None
            current = Privacy(epsilon=needed, delta=privacy.delta) if of == "epsilon" else privacy.with_delta(needed)
            remaining = contradiction(ranked, fixed, current, pairs=pairs)
        return needed

    refuse_as(
        found, ranked, fixed, privacy, epsilon=least(smallest_epsilon, "epsilon"), delta=least(smallest_delta, "delta")
    )


def refuse_as(
    found: Contradiction,
    ranked: RankedGraph,
    fixed: Fixed,
    privacy: Privacy,
    *,
    epsilon: Fraction | None,
    delta: Fraction | None,
) -> NoReturn:
    """Raise `Infeasible` for a contradiction and the limits found."""
    nodes = ranked.graph.nodes
    node, origin = nodes.at(found.node), nodes.at(found.origin)
    given, source = _mass(fixed[found.node], found.event), _mass(fixed[found.origin], found.event)
    bound = _bound(source, found.distance, privacy, below=given)
    answers = [ranked.outputs[v] for v in sorted(found.event)]
    limits = [
        f"from {name} {rational_text(value)}"
        for name, value in (("epsilon", epsilon), ("delta", delta))
        if value is not None
    ]
    otherwise = "impossible at any privacy" if privacy.single else "ask for less privacy, or give rows that are closer"
    remedy = f"possible {' or '.join(limits)}" if limits else otherwise
    raise Infeasible(
        f"no private mechanism has these probabilities: {key_of_node(node)} is given {short_text(given)} for"
        f" {' or '.join(map(str, answers))}, but {key_of_node(origin)} at distance {found.distance} is given"
        f" {short_text(source)}, which allows at most {short_text(bound)}; {remedy}",
        status="infeasible",
        pair=[json_node(node), json_node(origin)],
        answers=[json_node(answer) for answer in answers],
        probability=rational_text(given),
        other_probability=rational_text(source),
        distance=found.distance,
        bound=rational_text(bound),
        smallest_epsilon=None if epsilon is None else rational_text(epsilon),
        smallest_delta=None if delta is None else rational_text(delta),
        infeasible={
            "pair": [json_node(node), json_node(origin)],
            "event": [json_node(answer) for answer in answers],
            "distance": found.distance,
            "needs": rational_text(given),
            "allows": rational_text(bound),
        },
    )


def _possible(pair: Contradiction, fixed: Fixed, privacy: Privacy) -> bool:
    return are_possible_together(fixed[pair.node], fixed[pair.origin], pair.distance, privacy)


def _between_neighbours(graph: DatasetGraph, fixed: Fixed, privacy: Privacy) -> Contradiction | None:
    given = np.zeros(graph.number_of_nodes, np.bool_)
    given[list(fixed)] = True
    for tails, heads in graph.edges():
        both = given[tails] & given[heads]
        for i, j in zip(tails[both].tolist(), heads[both].tolist(), strict=True):
            if (found := apart(i, j, fixed, privacy)) is not None:
                return found
    return None


def _mass(row: Row, event: frozenset[int]) -> Fraction:
    return sum((row[v] for v in event), Fraction(0))


def _bound(source: Fraction, distance: int, privacy: Privacy, *, below: Fraction) -> Fraction:
    """Return u^distance(source), exactly while it is short, else rounded up but still below what is needed."""
    if distance <= _PLACES:
        exact = steps(source, distance, privacy)
        if exact.denominator < 10**_PLACES:
            return exact
    places = _PLACES
    while True:
        bound = enclose_steps(source, distance, privacy, width=Fraction(1, 10 ** (places + 5))).upper
        bound = decimal_above(bound, places)
        if bound < below or places > _MOST_PLACES:
            return bound
        places *= 2
