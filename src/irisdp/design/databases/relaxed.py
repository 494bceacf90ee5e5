"""The relaxations of LP[1]: mean distance if rows did not have to sum to 1 ([Alda2017], §3 and §4).

LP[2] fixes only the sum of the whole matrix, LP[3] the sum of every column. Both fall apart into programs for one
answer y, over the probabilities p_x = p(y|x) scaled to sum to 1:

    LP(y)   minimise Σ_x p_x·d(x, y)  subject to  p_x ≤ r·p_x'  in both directions of every edge
    LP[5]   the same, but only for edges from a layer around y to the next
    LP[4]   LP[5] with one probability per layer: solved by p_x ∝ r^(−d(x, y)), Lemma 4

so that LP[3] is their mean over y, and LP[2] their minimum. On every graph LP[5] ≤ LP(y), LP[2] ≤ LP[3] and
LP[2] ≤ LP[1]; on vertex-transitive graphs LP[1] = LP[2] = LP[3] = LP(y), and where layers are regular besides all five
are equal (Theorem 1; proofs/exponential-symmetry.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from ...errors import BadInput
from ...exact import checked
from ...exact.short import workable_ratio
from ...graphs import UNREACHABLE, DatasetGraph
from ...graphs.protocol import Indices
from ...linprog.elimination import SparseRow
from ...linprog.optimum import exact_optimum
from ...linprog.program import LinearProgram, as_fmpq, as_fraction
from ...privacy import Privacy
from .by_orbits import equal_shares, group_of
from .orbits import pair_classes

__all__ = ["Bracket", "Relaxations", "layered_distance", "one_answer", "relaxations"]


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
