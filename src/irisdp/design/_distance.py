"""The best mechanism for answering with a dataset near the true one: LP[1] of [Alda2017]."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import flint
import numpy as np

from .._exact import Table, checked, numbers, table, workable_ratio
from .._exact.linprog import LinearProgram, SparseRow, as_fmpq, as_fraction, exact_optimum
from ..errors import BadInput
from ..graphs import UNREACHABLE, DatasetGraph, Indices, Path
from ..mechanisms import FactoredMechanism, Mechanism, StatedObjective
from ..privacy import Privacy
from ._closed_forms import LARGEST_MATRIX
from ._constraints import read_constraints
from ._consumer_optimal import consumer
from ._optimal_mechanism import check_size, fitted, optimal_mechanism, sealed
from ._privacy_program import LOSSES, Goal
from ._repair import shortened
from ._symmetry_reduction import distance_by_orbits, equal_shares, group_of, pair_classes

# Mean distance on a path: geometric noise, read as well as can be.
#
# On the path the loss grows with |i − v|, so by universality the optimal post-processing of the geometric mechanism
# is optimal among all private mechanisms. The best answer to a value is a weighted median of what the value implies
# about the input.

_BITS = 256
"""Where powers of r are longer than this, probabilities are rounded down to multiples of 2^-256."""


def distance_on_path(graph: Path, privacy: Privacy, weights: tuple[Fraction, ...]) -> Mechanism | FactoredMechanism:
    """Design the mechanism of smallest mean distance on a path.

    Parameters
    ----------
    graph : Path
    privacy : Privacy
        δ = 0.
    weights : tuple of Fraction
        One per node, with sum 1.

    References
    ----------
    docs/theory.md#counts, universality with a prior; proofs/universality.md.
    """
    count = graph.n
    if count > LARGEST_MATRIX:
        return consumer(count - 1, "absolute", privacy, prior=weights)
    unit, ends, inner = _powers(privacy.ratio, count)
    scale = math.lcm(*(weight.denominator for weight in weights))
    scaled = [int(weight * scale) for weight in weights]
    rows = [[0] * count for _ in range(count)]
    bound = 0
    for z in range(count):
        powers = inner if 0 < z < count - 1 else ends
        column = [powers[abs(z - i)] for i in range(count)]
        masses = [weight * mass for weight, mass in zip(scaled, column, strict=True)]
        below = list(accumulate(masses))
        median = bisect_left(below, -(-below[-1] // 2))
        bound += sum(mass * abs(i - median) for i, mass in enumerate(masses))
        for row, mass in zip(rows, column, strict=True):
            row[median] += mass
    goal = Goal(
        name="mean graph distance",
        loss=tuple(tuple(Fraction(LOSSES["absolute"](i, v)) for v in range(count)) for i in range(count)),
        loss_name="absolute",
        weights=weights,
    )
    private = shortened(tuple(tuple(Fraction(x, unit) for x in row) for row in rows), graph, privacy)
    certificate = {"kind": "theorem", "theorem": "geometric-reading", **goal.to_document(weights)}
    objective = StatedObjective(goal.name, _mean_distance(private, scaled) / scale, Fraction(bound, unit * scale))
    return sealed(
        Mechanism.from_matrix(private, privacy=privacy, graph=graph, objective=objective, certificate=certificate)
    )


def _mean_distance(rows: Table, weights: list[int]) -> Fraction:
    """Return Σ_i w_i Σ_v |i − v| p(v|i): over one denominator, as a million fractions would take their time."""
    common = math.lcm(*{p.denominator for row in rows for p in row})
    total = sum(
        weight * sum(abs(i - v) * (p.numerator * (common // p.denominator)) for v, p in enumerate(row))
        for i, (weight, row) in enumerate(zip(weights, rows, strict=True))
    )
    return Fraction(total, common)


def _powers(ratio: Fraction, count: int) -> tuple[int, list[int], list[int]]:
    """Return a unit, and in it the probability of an end and of an inner value k steps away."""
    a, b = ratio.numerator, ratio.denominator
    if count == 1:
        return 1, [1], []
    if a ** (count - 1) * (a + b) < 1 << _BITS:
        powers = [b**k * a ** (count - 1 - k) for k in range(count)]
        return a ** (count - 1) * (a + b), [power * a for power in powers], [power * (a - b) for power in powers]
    powers = [1 << _BITS]
    for _ in range(count - 1):
        powers.append(powers[-1] * b // a)
    return 1 << _BITS, [power * a // (a + b) for power in powers], [power * (a - b) // (a + b) for power in powers]


# The relaxations of LP[1]: mean distance if rows did not have to sum to 1 ([Alda2017], §3 and §4).
#
# LP[2] fixes only the sum of the whole matrix, LP[3] the sum of every column. Both fall apart into programs for one
# answer y, over the probabilities p_x = p(y|x) scaled to sum to 1:
#
#     LP(y)   minimise Σ_x p_x·d(x, y)  subject to  p_x ≤ r·p_x'  in both directions of every edge
#     LP[5]   the same, but only for edges from a layer around y to the next
#     LP[4]   LP[5] with one probability per layer: solved by p_x ∝ r^(−d(x, y)), Lemma 4
#
# so that LP[3] is their mean over y, and LP[2] their minimum. On every graph LP[5] ≤ LP(y), LP[2] ≤ LP[3] and LP[2] ≤
# LP[1]; on vertex-transitive graphs LP[1] = LP[2] = LP[3] = LP(y), and where layers are regular besides all five are
# equal (Theorem 1; proofs/exponential-symmetry.md).


@dataclass(frozen=True, slots=True)
class Bracket:
    """An optimum between a value that is reached and a bound that is not passed: equal where r is short."""

    value: Fraction
    lower_bound: Fraction


@dataclass(frozen=True, slots=True)
class Relaxations:
    """The optima of LP[2] and LP[3] on one graph, and of LP(y) and LP[5] around one answer of every orbit.

    Parameters
    ----------
    two, three : Bracket
    answers : tuple of int
        The answers y, one for every orbit of nodes.
    one_answer, layered : tuple of Bracket
        LP(y) and LP[5], for each of these.
    closed_form : tuple of Fraction
        LP[4], exactly.
    """

    two: Bracket
    three: Bracket
    answers: tuple[int, ...]
    one_answer: tuple[Bracket, ...]
    layered: tuple[Bracket, ...]
    closed_form: tuple[Fraction, ...]


@checked
def relaxations(graph: DatasetGraph, privacy: Privacy) -> Relaxations:
    """Solve LP[2] to LP[5] exactly, one answer for every orbit of nodes.

    Parameters
    ----------
    graph : DatasetGraph
        Connected.
    privacy : Privacy
        The ratio; δ is not used, as in [Alda2017].

    Examples
    --------
    >>> from irisdp.graphs import Cycle
    >>> relaxations(Cycle(4), Privacy.from_ratio(2)).two.value
    Fraction(2, 3)
    """
    nodes = graph.number_of_nodes
    classes = pair_classes(group_of(graph, equal_shares(graph)))
    answers = classes.representatives.tolist()
    sizes = classes.group.orbit_sizes.tolist()
    around = [classes.labels[orbit] - classes.labels[orbit].min() for orbit in range(len(answers))]
    whole = tuple(_solve(graph, y, labels, privacy, layered=False) for y, labels in zip(answers, around, strict=True))
    layered = tuple(_solve(graph, y, labels, privacy, layered=True) for y, labels in zip(answers, around, strict=True))
    shares = [Fraction(size, nodes) for size in sizes]
    return Relaxations(
        two=Bracket(min(x.value for x in whole), min(x.lower_bound for x in whole)),
        three=Bracket(
            sum((share * x.value for share, x in zip(shares, whole, strict=True)), start=Fraction(0)),
            sum((share * x.lower_bound for share, x in zip(shares, whole, strict=True)), start=Fraction(0)),
        ),
        answers=tuple(answers),
        one_answer=whole,
        layered=layered,
        closed_form=tuple(layered_distance(graph, y, privacy) for y in answers),
    )


def one_answer(graph: DatasetGraph, answer: int, privacy: Privacy, *, layered: bool = False) -> Bracket:
    """Solve LP(y), or LP[5], for one answer by its index, without using symmetry."""
    answer = range(graph.number_of_nodes)[answer]
    return _solve(graph, answer, np.arange(graph.number_of_nodes), privacy, layered=layered)


def layered_distance(graph: DatasetGraph, answer: int, privacy: Privacy) -> Fraction:
    """Return the optimum of LP[4] around one answer: Σ s_d d α^d / Σ s_d α^d with s_d the size of layer d, α = 1/r."""
    alpha = 1 / privacy.ratio
    sizes = np.bincount(_distances(graph, range(graph.number_of_nodes)[answer])).tolist()
    masses = [size * alpha**d for d, size in enumerate(sizes)]
    return sum((d * mass for d, mass in enumerate(masses)), start=Fraction(0)) / sum(masses, start=Fraction(0))


def _distances(graph: DatasetGraph, start: int) -> Indices:
    distances = graph.distances_from(start)
    if (distances == UNREACHABLE).any():
        raise BadInput("graph", "must be connected, or distances are infinite", "take one component")
    return distances


def _solve(graph: DatasetGraph, answer: int, labels: Indices, privacy: Privacy, *, layered: bool) -> Bracket:
    """Solve the program over inputs that share a label: orbits of automorphisms that keep the answer."""
    distances = _distances(graph, answer)
    _, first = np.unique(labels, return_index=True)
    sizes, distance = np.bincount(labels).tolist(), distances[first].tolist()
    tails, heads = (np.concatenate([*(chunk[end] for chunk in graph.edges()), first[:0]]) for end in (0, 1))
    tails, heads = np.concatenate((tails, heads)), np.concatenate((heads, tails))
    if layered:
        outward = distances[heads] == distances[tails] + 1
        tails, heads = tails[outward], heads[outward]
    apart = labels[tails] != labels[heads]
    pairs = np.unique(np.stack((labels[tails[apart]], labels[heads[apart]])), axis=1).T.tolist()
    ratio = workable_ratio(privacy.ratio)
    columns: list[SparseRow] = [{0: flint.fmpq(size)} for size in sizes]
    for row, (tail, head) in enumerate(pairs, 1):
        columns[tail][row], columns[head][row] = flint.fmpq(1), -as_fmpq(ratio)
        columns.append({row: flint.fmpq(1)})
    cost = [flint.fmpq(size * d) for size, d in zip(sizes, distance, strict=True)]
    zeros = [flint.fmpq(0)] * len(pairs)
    optimum = exact_optimum(LinearProgram(columns, cost + zeros, [flint.fmpq(1), *zeros]))
    if not optimum.exact:
        raise BadInput("graph", "makes a program that was not solved exactly", "choose a smaller graph")
    # Feasible at the workable ratio is feasible at the larger one asked for; multipliers prove a bound at any.
    value = sum((x * c for x, c in zip(optimum.values, cost + zeros, strict=True)), start=flint.fmpq(0))
    scores = [flint.fmpq(size * d) for size, d in zip(sizes, distance, strict=True)]
    for (tail, head), dual in zip(pairs, optimum.duals[1:], strict=True):
        multiplier = max(-dual, flint.fmpq(0))
        scores[tail] += multiplier
        scores[head] -= multiplier * as_fmpq(privacy.ratio)
    bound = min(score / size for score, size in zip(scores, sizes, strict=True))
    return Bracket(as_fraction(value), as_fraction(bound))


@checked
def distance(
    graph: DatasetGraph,
    privacy: Privacy,
    *,
    weights: Any = None,
    loss: Any = None,
    constraints: Any = None,
) -> Mechanism | FactoredMechanism:
    """Design the mechanism of smallest mean distance between the true node and the answer.

    Parameters
    ----------
    graph : DatasetGraph
        Its nodes are inputs and outputs. Connected, unless `loss` is given.
    privacy : Privacy
        Any ratio and δ, or several pairs.
    weights : sequence or array, optional
        How likely each input is, in the order of the nodes; divided by their sum. All the same when left out.
    loss : table, array or data frame, optional
        In row i and column v the loss of answering v where i is true; the graph distance when left out.
    constraints : list, optional
        Rules that every mechanism compared has to meet, as `consumer` takes them. An error is a distance in the graph
        unless {"error_at_most": K, "of": "absolute"} says otherwise. Symmetry is not used then.

    Returns
    -------
    Mechanism or FactoredMechanism
        With its exact mean loss, an exact lower bound and the certificate of it. The program is divided by the
        automorphisms of the graph, so that symmetric graphs of thousands of nodes are solved. Where no family has them
        in closed form, igraph (extra `graphs`) finds them. A path is solved by universality (`on_path`). The
        certificate is left out where it would have more than 100,000 multipliers. Under several pairs of privacy the
        program is solved whole, whatever the symmetry. Up to 150,000 privacy constraints, two for every edge and
        answer: 120 nodes and 491 edges without symmetry take about 40 s.

    Raises
    ------
    BadInput
        When the graph is not connected, or the program too large.
    Infeasible
        When no private mechanism meets the constraints.

    Examples
    --------
    >>> from irisdp.graphs import Hamming
    >>> distance(Hamming(3, 2), Privacy.from_ratio(3)).objective.value
    Fraction(3, 4)

    References
    ----------
    [Alda2017], LP[1]; docs/theory.md#databases; proofs/weak-duality.md; proofs/exponential-symmetry.md.
    """
    if weights is None:
        shares = equal_shares(graph)
    else:
        given = numbers(weights, "weights", graph.number_of_nodes)
        total = sum(given, start=Fraction(0))
        if min(given) < 0 or total == 0:
            raise BadInput("weights", "must not be negative, nor all 0", "give every input a weight from 0 up")
        shares = tuple(weight / total for weight in given)
    if not privacy.single or constraints is not None:
        return _by_program(graph, privacy, shares, loss, constraints)
    if isinstance(graph, Path) and privacy.delta == 0 and loss is None:
        return distance_on_path(graph, privacy, shares)
    return distance_by_orbits(graph, privacy, shares, loss)


def _by_program(
    graph: DatasetGraph, privacy: Privacy, shares: tuple[Fraction, ...], loss: Any, constraints: Any
) -> Mechanism:
    """Solve the program over all mechanisms, one variable per input and answer."""
    nodes = graph.number_of_nodes
    check_size("graph", graph.number_of_edges, nodes, fitted(privacy, graph.number_of_edges, nodes))
    if loss is not None:
        goal = Goal(name="mean loss", loss=table(loss, "loss", rows=nodes, columns=nodes), weights=shares)
    else:
        far = tuple(tuple(map(Fraction, graph.distances_from(node).tolist())) for node in range(nodes))
        if any(UNREACHABLE in row for row in far):
            raise BadInput("graph", "must be connected, or distances are infinite", "design for every component alone")
        goal = Goal(name="mean graph distance", loss=far, loss_name="graph-distance", weights=shares)
    asked = read_constraints(constraints, graph, tuple(graph.nodes), of="graph-distance")
    return optimal_mechanism(replace(goal, constraints=asked), graph, privacy, outputs=tuple(graph.nodes))
