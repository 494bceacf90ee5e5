"""Choosing the boundary: the homogeneous boundary that is best for non-negative weights on prefix sums.

The mechanism that follows from a boundary gives a prefix sum s the value u^t(s) at depth t, which is concave and
piecewise linear in s. So the best boundary is a linear program on the graph of touching classes
(docs/theory.md#rainbows; proofs/boundary-choice.md). Its linear pieces are not listed. A program with a few tangents is
solved, and a tangent is added wherever the solution violates a constraint. After finitely many rounds it satisfies all
of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import dyadic_above, is_short, numbers, rational_text
from .._exact.linprog import Optimum, as_fmpq, as_fraction, exact_optimum
from ..errors import BadInput, Refusal
from ..graphs import Graph, NumberedNodes, RankedGraph, compress, depth, node_from_key, touching_codes
from ..mechanisms import Row
from ..privacy import Privacy, turning_point, workable
from ._privacy_program import Goal, MechanismProgram, mechanism_program, multiplier_entry
from ._repair import shortened

NodeWeights = Sequence[Row]
"""One row per node: the weights of the first 1, 2, …, q − 1 answers of its ranking, none negative."""

_BITS = 192
_CLOSE = Fraction(1, 1 << 100)
"""How much of a weight a solution may promise and not keep, once numbers are too long to be exact."""

_MOST_ROUNDS = 200

_DEEPEST_PROOF, _PLACES = 200, 60
"""Depths to which a checker recomputes what a boundary earns exactly; decimals of long numbers in the proof."""


@dataclass(frozen=True, slots=True)
class _Return:
    """What a prefix sum s at the boundary of a class earns: Σ_t weight_t · u^t(s), concave in s."""

    weights: tuple[Fraction, ...]
    privacy: Privacy

    def tangent(self, s: Fraction) -> tuple[Fraction, Fraction]:
        """Return the value at s and a slope there, both exact while they are short and rounded up beyond."""
        shape = self.privacy.shape
        value, slope = Fraction(0), Fraction(0)
        factor = Fraction(1)
        for index, weight in enumerate(self.weights):
            value, slope = value + weight * s, slope + weight * factor
            if s == 1 or 1 - s < _CLOSE:
                value += sum(self.weights[index + 1 :], Fraction(0))
                break
            line = shape.lines[shape.place(s)]
            factor, s = factor * line.slope, line.at(s)
            if not is_short(((s, factor),)):
                s, factor = min(Fraction(1), dyadic_above(s, _BITS)), dyadic_above(factor, _BITS) if factor else factor
        return value, slope


@dataclass(frozen=True, slots=True)
class Choice:
    """Why no homogeneous boundary is better: tangents to what prefix sums earn, and multipliers between classes.

    Parameters
    ----------
    tangents : list of (class, k, s, weight)
        Weights of tangents at s to what the first k + 1 answers of a class earn; they sum to 1 for each class and k.
    multipliers : list of (class, class, output, pair, λ)
        Of the closeness of boundary rows where classes touch.
    """

    tangents: list[tuple[int, int, Fraction, Fraction]]
    multipliers: list[tuple[int, int, int, int, Fraction]]

    def to_document(self) -> dict[str, Any]:
        """Write as certificates do."""
        return {
            "tangents": [[code, k, rational_text(s), rational_text(weight)] for code, k, s, weight in self.tangents],
            "multipliers": [multiplier_entry(key, x) for *key, x in self.multipliers],
        }


def best_boundary(ranked: RankedGraph, weights: NodeWeights, privacy: Privacy) -> tuple[dict[int, Row], Choice | None]:
    """Return the valid homogeneous boundary whose mechanism maximises a weighted sum of prefix sums.

    Parameters
    ----------
    ranked : RankedGraph
    weights : one row per node
    privacy : Privacy

    Returns
    -------
    rows : dict
        Class → row along its ranking, for every class with a boundary. Exactly valid. If the ratio and the numbers are
        short and 200 rounds are enough: the best of all homogeneous ones (proofs/boundary-choice.md). Otherwise near
        it; about 2^-64 (relative, from working with a short ratio) is an estimate and no proof.
    choice : Choice or None
        What proves it, and how near it is where numbers are long (proofs/choice-of-boundary.md); where depths are at
        most 200.
    """
    depths = depth(ranked)
    codes = sorted({code for code, t in zip(ranked.codes.tolist(), depths.tolist(), strict=True) if t == 0})
    if not codes:
        return {}, None
    place = {code: number for number, code in enumerate(codes)}
    classes = _class_graph(ranked, place)
    worked = workable(privacy)
    q = len(ranked.outputs)
    nothing = Goal(name="", loss=((Fraction(0),) * q,) * len(codes), weights=(Fraction(1),) * len(codes))
    program = mechanism_program(nothing, classes, worked)
    cuts = _Cuts(program)
    returns = {}
    gathered = _by_depth(ranked, depths, weights)
    heaviest = max(sum(by_depth, Fraction(0)) for by_depth in gathered.values())
    for (code, k), by_depth in gathered.items():
        if code in place and any(by_depth):
            event = [place[code] * q + v for v in ranked.orders[code][: k + 1]]
            total = sum(by_depth, Fraction(0))
            earned = _Return(tuple(weight / total for weight in by_depth), worked)
            returns[key := cuts.promise((code, k), total / heaviest)] = (event, earned)
            # Not at 0: a tangent there is as steep as r^depth, and hardly ever binds.
            for s in (turning_point(worked.pairs[-1]), Fraction(1)):
                cuts.tangent(key, event, s, *earned.tangent(s))
    optimum = _solve(program, cuts, returns)
    rows = program.rows(optimum.values)
    if not (optimum.exact and is_short(rows)):
        rows = shortened(rows, classes, privacy)
    chosen = {code: ranked.along_ranking(code, rows[place[code]]) for code in codes}
    if int(depths.max()) > _DEEPEST_PROOF:
        return chosen, None
    multipliers = program.dual(optimum.duals).multipliers
    between = [
        (codes[i], codes[j], v, pair, _brief(heaviest * x)) for (i, j, v, pair), x in sorted(multipliers.items())
    ]
    return chosen, Choice(cuts.shares(optimum), between)


def _brief(x: Fraction) -> Fraction:
    return x if is_short(((x,),)) else round(x, _PLACES)


class _Cuts:
    """Columns for what prefix sums earn, and tangents that bound them, added to a program."""

    def __init__(self, program: MechanismProgram) -> None:
        self.linear = program.linear
        self._named: dict[int, tuple[int, int]] = {}
        self._tangents: list[tuple[int, int, Fraction]] = []

    def promise(self, name: tuple[int, int], weight: Fraction) -> int:
        """Add a column to be maximised, for a class and a prefix."""
        self._named[len(self.linear.columns)] = name
        self.linear.columns.append({})
        self.linear.cost.append(-as_fmpq(weight))
        return len(self.linear.columns) - 1

    def tangent(self, key: int, event: Sequence[int], s: Fraction, value: Fraction, slope: Fraction) -> None:
        """Bound the column by value + slope · (mass of the event − s)."""
        row = len(self.linear.right)
        self.linear.columns[key][row] = flint.fmpq(1)
        if slope:
            for column in event:
                self.linear.columns[column][row] = -as_fmpq(slope)
        self.linear.columns.append({row: flint.fmpq(1)})
        self.linear.cost.append(flint.fmpq(0))
        self.linear.right.append(as_fmpq(value - slope * s))
        self._tangents.append((key, row, s))

    def shares(self, optimum: Optimum) -> list[tuple[int, int, Fraction, Fraction]]:
        """Return how the optimum's multipliers weigh the tangents of every constraint, with sums of exactly 1."""
        result = []
        for key, name in self._named.items():
            mine = [
                (s, max(Fraction(0), -as_fraction(optimum.duals[row]))) for at, row, s in self._tangents if at == key
            ]
            total = sum((x for _, x in mine), Fraction(0))
            used = [(_brief(s), _brief(x / total)) for s, x in mine if x] if total else []
            if used:
                rest = 1 - sum((x for _, x in used[1:]), Fraction(0))
                result += [(*name, s, x) for s, x in [(used[0][0], rest), *used[1:]] if x > 0]
        return result


def _solve(program: MechanismProgram, cuts: _Cuts, returns: Mapping[int, tuple[Sequence[int], _Return]]) -> Optimum:
    optimum: Optimum | None = None
    for _ in range(_MOST_ROUNDS):
        try:
            optimum = exact_optimum(program.linear)
        except Refusal:  # tangents too steep for floats: what was found before is valid, and nearly best
            if optimum is None:
                raise
            break
        kept = True
        for key, (event, earned) in returns.items():
            s = min(Fraction(1), max(Fraction(0), as_fraction(sum((optimum.values[v] for v in event), flint.fmpq(0)))))
            value, slope = earned.tangent(s)
            allowed = Fraction(0) if is_short(((value,),)) else _CLOSE
            if as_fraction(optimum.values[key]) > value + allowed:
                kept = False
                cuts.tangent(key, event, s, value, slope)
        if kept or not optimum.exact:
            break
    assert optimum is not None
    return optimum


def _by_depth(
    ranked: RankedGraph, depths: NDArray[np.int64], weights: NodeWeights
) -> dict[tuple[int, int], list[Fraction]]:
    """Add up the weights of every class, prefix and depth; components without a boundary earn all they can anyway."""
    q = len(ranked.outputs)
    lengths = np.zeros(len(ranked.classes), np.int64)
    np.maximum.at(lengths, ranked.codes, depths + 1)
    total = {
        (code, k): [Fraction(0)] * int(length) for code, length in enumerate(lengths.tolist()) for k in range(q - 1)
    }
    for code, t, row in zip(ranked.codes.tolist(), depths.tolist(), weights, strict=True):
        if t >= 0:
            for k, weight in enumerate(row):
                total[code, k][t] += weight
    return total


def _class_graph(ranked: RankedGraph, place: Mapping[int, int]) -> Graph:
    pairs = [(place[one], place[other]) for one, other in touching_codes(ranked).tolist()]
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return compress(NumberedNodes(range(len(place))), ends[:, 0], ends[:, 1])


def class_of(ranked: RankedGraph, key: Any) -> int | None:
    """Return the class that a key names by its ranking, or None."""
    for code, ranking in enumerate(ranked.rankings):
        if key == ranking or (isinstance(key, str) and key == ">".join(map(str, ranking))):
            return code
    return None


def node_weights(ranked: RankedGraph, given: Mapping[Any, Any] | None) -> NodeWeights:
    """Read weights on prefix sums, by node or ranking: one row of q − 1 per node."""
    count, length = ranked.graph.number_of_nodes, len(ranked.outputs) - 1
    nothing = (Fraction(0),) * length
    if given is None:
        return [(Fraction(1), *nothing[1:])[:length]] * count
    if not isinstance(given, Mapping):
        raise BadInput("weights", "must be given by node or ranking", "write {node: number or list, …}")
    result: list[Row] = [nothing] * count
    for key, value in given.items():
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        entries = numbers(value if listed else [value], "weights")
        if len(entries) > length or any(entry < 0 for entry in entries):
            raise BadInput("weights", f"must be up to {length} numbers from 0 up", "weigh the first 1, 2, … choices")
        row = (*entries, *nothing[len(entries) :])
        if (code := class_of(ranked, key)) is not None:
            for node in np.flatnonzero(ranked.codes == code).tolist():
                result[node] = row
        else:
            result[ranked.graph.index_of(node_from_key(ranked.graph, key, "weights"))] = row
    return result


def weighted_goal(ranked: RankedGraph, weights: NodeWeights) -> Goal:
    """Return the weighted sum of what prefix sums miss of 1, as a goal to minimise."""
    loss = []
    for code, row in zip(ranked.codes.tolist(), weights, strict=True):
        here = [Fraction(0)] * len(ranked.outputs)
        for index, v in enumerate(ranked.orders[code]):
            here[v] = sum(row[:index], Fraction(0))
        loss.append(tuple(here))
    return Goal(
        name="weighted sum of the probabilities of missing the first choices",
        loss=tuple(loss),
        weights=(Fraction(1),) * len(loss),
    )
