"""When given rows contradict each other: which two nodes, by how much, and what privacy would make them possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import flint
import numpy as np

from .._exact import decimal_above, rational_text, short_text
from .._exact.linprog import Basis, as_fmpq, as_fraction, exact_optimum
from ..errors import Infeasible, Refusal
from ..graphs import UNREACHABLE, DatasetGraph, RankedGraph, breadth_first, json_node, key_of_node, listed
from ..mechanisms import Row
from ..privacy import Privacy, enclose_steps, hockey_stick, steps
from ._given_rows import Fixed, spread_event
from ._privacy_program import Dual, Goal, MechanismProgram, mechanism_program, multiplier_entry
from ._propagation import GridSteps, reaches, smallest_delta, smallest_epsilon
from ._propagation import Iterates as StepRule

# Why given rows are impossible although any two of them are possible: multipliers that anyone can check.
#
# Numbers y on the given entries and λ ≥ 0 on the privacy constraints prove it. By weak duality
# (proofs/weak-duality.md) every private mechanism x has Σ y·x ≤ `allows`, while the given rows have Σ y·given =
# `needs`, which is more. They come from a program that always has a solution, how little the given rows must be
# moved, and are checked by themselves.

_MOST_PIVOTS = 2000


@dataclass(frozen=True, slots=True)
class _Entry:
    """A given entry: its node, its output, its row in the program."""

    node: int
    output: int
    row: int


def add_given_rows(program: MechanismProgram, fixed: Fixed) -> list[_Entry]:
    """Insist on the given rows; the last entry of each follows from the sum."""
    linear, q, entries = program.linear, program.answers, []
    for node, row in fixed.items():
        for v in range(q - 1):
            entries.append(_Entry(node, v, len(linear.right)))
            linear.columns[node * q + v][len(linear.right)] = flint.fmpq(1)
            linear.right.append(as_fmpq(row[v]))
    return entries


def feasible_start(ranked: RankedGraph, fixed: Fixed, privacy: Privacy) -> Basis:
    """Return a basis of a private mechanism with the given rows, in the program that insists on them.

    Raises
    ------
    Infeasible
        With multipliers, checked in rationals, when there is no such mechanism.
    """
    nodes, q = ranked.graph.number_of_nodes, len(ranked.outputs)
    nothing = Goal(name="", loss=((Fraction(0),) * q,) * nodes, weights=(Fraction(1),) * nodes)
    program = mechanism_program(nothing, ranked.graph, privacy)
    linear = program.linear
    entries = add_given_rows(program, fixed)
    rigid = len(linear.columns)
    row_of: list[int] = []
    for entry in entries:  # a given entry may be moved either way, at a cost
        for sign in (1, -1):
            linear.columns.append({entry.row: flint.fmpq(sign)})
            linear.cost.append(flint.fmpq(1))
            row_of.append(entry.row)
    try:
        optimum = exact_optimum(linear, most_pivots=_MOST_PIVOTS)
    except Refusal:
        refuse_unfinished()
    weight = {(entry.node, entry.output): as_fraction(optimum.duals[entry.row]) for entry in entries}
    loss = tuple(tuple(-weight.get((i, v), Fraction(0)) for v in range(q)) for i in range(nodes))
    goal = Goal(name="", loss=loss, weights=(Fraction(1),) * nodes)
    dual = Dual(weights=(Fraction(1),) * nodes, multipliers=program.dual(optimum.duals).multipliers)
    allows = -dual.bound(goal, privacy)
    needs = sum((y * fixed[i][v] for (i, v), y in weight.items()), Fraction(0))
    if needs > allows:
        _refuse(ranked, weight, dual, needs, allows)
    if not optimum.exact:
        refuse_unfinished()
    count = len(linear.columns)
    return tuple(
        sorted(
            index if index < rigid else rigid + (row_of[index - rigid] if index < count else index - count)
            for index in optimum.basis
        )
    )


def refuse_unfinished() -> NoReturn:
    """Say that exact arithmetic did not come to an end."""
    raise Infeasible(
        "no optimum was found: the linear program of this request is too ill-conditioned to be decided; give rows with"
        " fewer digits",
        status="no optimum found",
    )


def _refuse(
    ranked: RankedGraph, weight: dict[tuple[int, int], Fraction], dual: Dual, needs: Fraction, allows: Fraction
) -> NoReturn:
    nodes, outputs = ranked.graph.nodes, ranked.outputs

    def name(i: int) -> object:
        return json_node(nodes.at(i))

    rows = [[name(i), json_node(outputs[v]), rational_text(y)] for (i, v), y in sorted(weight.items()) if y]
    edges = [
        multiplier_entry((name(i), name(j), json_node(outputs[v]), pair), x)
        for (i, j, v, pair), x in sorted(dual.multipliers.items())
    ]
    given = len({i for (i, _), y in weight.items() if y})
    raise Infeasible(
        f"no private mechanism has these {given} given rows together. With the weights shown they add up to"
        f" {short_text(needs, 12)}; a private mechanism reaches at most {short_text(allows, 12)}. Give fewer rows,"
        " or rows that are closer to each other",
        status="infeasible",
        infeasible={
            "multipliers": {"rows": rows, "edges": edges},
            "needs": rational_text(needs),
            "allows": rational_text(allows),
        },
    )


# Which two given rows contradict each other: the theorem of two rows, event by event.
#
# Two rows P and Q, t edges apart, belong to one private mechanism if and only if Q(S) ≤ u^t(P(S)) for every set S of
# answers. The prefixes in order of Q/P suffice, because u^t is concave (proofs/two-rows.md). For three given rows
# this is necessary and not sufficient: the multipliers below explain what no pair does.

Pair = tuple[int, int, int]
"""Two nodes with given rows that differ, and their distance."""

_MOST_ROWS = 2000
"""Different given rows beyond which pairs are not looked at one by one."""

_FEW_STEPS, _WIDTH = 32, Fraction(1, 1 << 192)

_SAFE = 1e-9
"""A float beyond its bound by this much needs no exact second look."""


def given_pairs(graph: DatasetGraph, fixed: Fixed) -> list[Pair]:
    """Return the closest two nodes for every two different given rows that are connected."""
    groups: dict[Row, list[int]] = {}
    for node, row in fixed.items():
        groups.setdefault(row, []).append(node)
    if not 1 < len(groups) <= _MOST_ROWS:
        return []
    rows, pairs = listed(graph), []
    members = [np.array(nodes, np.int64) for nodes in groups.values()]
    for place, sources in enumerate(members):
        distances = breadth_first(rows.indptr, rows.indices, sources)
        for others in members[place + 1 :]:
            reached = others[distances[others] != UNREACHABLE]
            if len(reached):
                nearest = int(reached[np.argmin(distances[reached])])
                pairs.append((place, nearest, int(distances[nearest])))
    # The group is named by its first member until a pair is reported: finding the nearest one costs a search.
    return sorted(((int(members[place][0]), other, t) for place, other, t in pairs), key=lambda pair: pair[2])


def telling_event(here: Row, there: Row, distance: int, privacy: Privacy) -> frozenset[int] | None:
    """Return a set of answers that has more probability here than u^distance of what it has there, or None.

    None means that the two rows are possible together, up to ties below 2^-192 beyond 32 steps.
    """
    for event in _prefixes(here, there):
        needs, source = _mass(here, event), _mass(there, event)
        if _is_safe(float(needs), float(source), distance, privacy):
            continue
        if distance <= _FEW_STEPS:
            allows = steps(source, distance, privacy)
        else:
            allows = enclose_steps(source, distance, privacy, width=_WIDTH).upper
        if needs > allows:
            return event
    return None


def are_possible_together(here: Row, there: Row, distance: int, privacy: Privacy) -> bool:
    """Tell whether some private mechanism has both rows; beyond 32 steps a tie within 2^-100 counts as no."""
    return all(reaches(_mass(there, event), distance, _mass(here, event), privacy) for event in _prefixes(here, there))


def _prefixes(here: Row, there: Row) -> Iterator[frozenset[int]]:
    """Yield the sets of answers that are likelier here than there, by all thresholds on how much."""

    def likelier(v: int) -> tuple[bool, Fraction]:
        return (there[v] == 0, Fraction(0)) if there[v] == 0 else (False, here[v] / there[v])

    order = sorted((v for v in range(len(here)) if here[v] or there[v]), key=likelier, reverse=True)
    for k in range(1, len(order)):
        yield frozenset(order[:k])


def _is_safe(needs: float, source: float, distance: int, privacy: Privacy) -> bool:
    """Tell in floats whether u^distance(source) is beyond doubt larger; it grows with every step."""
    starts = np.array([float(start) for start in privacy.shape.starts])
    lines = [(float(line.slope), float(line.constant)) for line in privacy.shape.lines]
    for _ in range(min(distance, 10_000)):
        if source > needs + _SAFE:
            return True
        slope, constant = lines[np.searchsorted(starts, source, side="right") - 1]
        source = min(1.0, slope * source + constant)
    return source > needs + _SAFE


def _mass(row: Row, event: frozenset[int]) -> Fraction:
    return sum((row[v] for v in event), Fraction(0))


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
    if (result := _between_neighbours(ranked.graph, fixed, privacy)) is not None:
        return result
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
            if (result := apart(i, j, fixed, privacy)) is not None:
                return result
    return None


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
