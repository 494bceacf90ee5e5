"""The linear program over all private mechanisms on a graph, and how its solutions read as mechanisms and proofs.

    minimise    Σ_i w_i L_i(x)  or  the greatest L_i(x), i in S,  where L_i(x) = Σ_v loss(i, v) x_iv
    subject to  Σ_v x_iv = 1 at every input, and in both directions (i, j) of every edge
                x_iv − r x_jv ≤ s_(i,j),v  and  Σ_v s_(i,j),v ≤ δ

for every pair (r, δ). The excess s is left out where δ = 0. It is linear because a sum of positive parts is at most δ
exactly if some s ≥ 0 lies above each part and sums to at most δ. Inequalities get a slack column each: the exact solver
wants A z = b.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from .._exact import Table, checked, counts, numbers, plain_text, rational_text, table
from .._exact.linprog import LinearProgram, SparseRow, as_fmpq, as_fraction
from ..errors import BadInput
from ..graphs import DatasetGraph
from ..privacy import Privacy

# What a design minimises: a loss for every input and answer, averaged over the inputs or at its worst.

_ZERO = flint.fmpq(0)

LOSSES: dict[str, Callable[[int, int], int]] = {
    "absolute": lambda i, v: abs(i - v),
    "squared": lambda i, v: (i - v) ** 2,
    "zero-one": lambda i, v: int(i != v),
}
"""Losses of a count i answered by v that have a name."""

GRAPH_DISTANCE = "graph-distance"
"""The name of the loss that counts the steps from the true node to the answer."""


@checked
@dataclass(frozen=True, slots=True, init=False)
class Goal:
    """Minimise Σ_i w_i L_i ("average") or max over i in S of L_i ("worst"), where L_i = Σ_v loss(i, v) x_iv.

    Parameters
    ----------
    name : str
        What the value is called, for people.
    loss : table, array or data frame
        One row per input, one column per answer; any finite numbers. A float is read as its shortest decimal.
    loss_name : str, optional
        The name that certificates may write instead of the table: "absolute", "squared", "zero-one" (inputs and
        answers are 0..n) or "graph-distance" (inputs and answers are the nodes).
    weights : sequence or array, optional
        w, numbers from 0 up, one per input; makes the goal an average.
    side_information : sequence or array, optional
        Positions of the inputs in S, from 0, at least one; makes the goal a worst case.

    Raises
    ------
    BadInput
        For anything else, and unless exactly one of `weights` and `side_information` is given.

    Examples
    --------
    >>> import numpy as np
    >>> Goal(name="error", loss=1 - np.eye(2), weights=[0.25, 0.75]).weights
    (Fraction(1, 4), Fraction(3, 4))
    """

    name: str
    loss: Table
    loss_name: str | None
    weights: tuple[Fraction, ...] | None
    side_information: tuple[int, ...] | None

    def __init__(
        self, *, name: str, loss: Any, loss_name: str | None = None, weights: Any = None, side_information: Any = None
    ) -> None:
        if (weights is None) == (side_information is None):
            raise BadInput("goal", "must be an average or a worst case", "give weights or side_information")
        object.__setattr__(self, "name", plain_text(name, "name"))
        object.__setattr__(self, "loss", _goal_loss(loss, loss_name))
        object.__setattr__(self, "loss_name", loss_name)
        inputs = len(self.loss)
        if weights is not None:
            weights = numbers(weights, "weights", inputs)
            if min(weights) < 0:
                raise BadInput("weights", "must not be negative", f"give {inputs} numbers from 0 up")
        else:
            side_information = tuple(sorted(set(counts(side_information, "side_information", at_most=inputs - 1))))
            if not side_information:
                raise BadInput("side_information", "must name inputs", f"give positions from 0 to {inputs - 1}")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "side_information", side_information)

    def value(self, rows: Sequence[Sequence[Fraction]]) -> Fraction:
        """Return what a mechanism with these rows, one per input, reaches."""
        expected = [
            as_fraction(sum((as_fmpq(x) * as_fmpq(p) for x, p in zip(losses, row, strict=True) if x and p), _ZERO))
            for losses, row in zip(self.loss, rows, strict=True)
        ]
        if self.weights is not None:
            return sum((w * x for w, x in zip(self.weights, expected, strict=True)), Fraction(0))
        return max(expected[i] for i in self.side_information or ())

    def to_document(self, weights: Sequence[Fraction]) -> dict[str, Any]:
        """Write the goal as certificates do, with these weights: of the average, or of the proof for a worst case."""
        table_text = [[rational_text(x) for x in row] for row in self.loss]
        document: dict[str, Any] = {
            "aggregate": "worst" if self.weights is None else "average",
            "loss": table_text if self.loss_name is None else {"name": self.loss_name},
            "weights": [rational_text(w) for w in weights],
        }
        if self.side_information is not None and len(self.side_information) < len(self.loss):
            document["side_information"] = list(self.side_information)
        return document


def _goal_loss(loss: Any, name: str | None) -> Table:
    """Read the table of a goal, and hold it to its name."""
    if name is not None and name not in (*LOSSES, GRAPH_DISTANCE):
        known = ", ".join((*LOSSES, GRAPH_DISTANCE))
        raise BadInput("loss_name", "is not a loss with a name", f"choose {known}, or leave it out")
    if name == GRAPH_DISTANCE and isinstance(loss, tuple) and set(loss) == {()}:  # the graph says what it is
        return loss
    losses = table(loss, "loss")
    if name in LOSSES:
        of = LOSSES[name]
        if any(x != of(i, v) for i, row in enumerate(losses) for v, x in enumerate(row)):
            raise BadInput("loss_name", f"is {name}, and the table holds another loss", "leave the name out")
    return losses


def read_loss(loss: Any, count: int) -> tuple[Table, str | None]:
    """Read the loss of answering a count by a count, both in 0..count−1.

    Returns
    -------
    losses, name
        The exact table, and the name if the loss was given by one.

    Raises
    ------
    BadInput
        For an unknown name or a table of another shape.
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise BadInput("loss", "is not a loss with a name", f"choose {', '.join(LOSSES)}, or give a table")
        of = LOSSES[loss]
        return tuple(tuple(Fraction(of(i, v)) for v in range(count)) for i in range(count)), loss
    return table(loss, "loss", rows=count, columns=count), None


# Dual certificates: numbers from which anyone can compute a bound that no private mechanism passes.
#
# Take any weights w (for an average those of the goal; for a worst case weights on S with sum 1) and any multipliers
# λ ≥ 0 on directed edges and answers. Then every (r,δ)-private mechanism has a goal of at least
#
#     Σ_i min_v [ w_i loss(i, v) + Σ_{j~i} (λ_(i,j),v − r λ_(j,i),v) ]  −  δ Σ_(i,j) max_v λ_(i,j),v
#
# with multipliers for every pair (r, δ) where there are several, and both sums over the pairs as well
# (weak duality; proofs/weak-duality.md). So a certificate may be rounded at will: it gets weaker, never wrong.

Multipliers = dict[tuple[int, int, int, int], Fraction]
"""(i, j, v, k) → λ for the constraint x_iv ≤ r x_jv + excess of pair k; zeros left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dual:
    """Weights of the inputs and multipliers of the privacy constraints.

    Parameters
    ----------
    weights : tuple of Fraction
        w, one per input.
    multipliers : Multipliers
        λ, non-negative.
    """

    weights: tuple[Fraction, ...]
    multipliers: Multipliers

    def bound(self, goal: Goal, privacy: Privacy) -> Fraction:
        """Return the lower bound on the goal of every mechanism with this privacy, exactly."""
        ratios = [as_fmpq(pair.ratio) for pair in privacy.pairs]
        deltas = [as_fmpq(pair.delta) for pair in privacy.pairs]
        weights = [as_fmpq(w) for w in self.weights]
        scores = [
            [w * as_fmpq(x) if x and w != 0 else _ZERO for x in losses]
            for w, losses in zip(weights, goal.loss, strict=True)
        ]
        largest: dict[tuple[int, int, int], flint.fmpq] = {}
        for (i, j, v, pair), exact in self.multipliers.items():
            multiplier = as_fmpq(exact)
            scores[i][v] += multiplier
            scores[j][v] -= ratios[pair] * multiplier
            if deltas[pair] != 0:
                largest[i, j, pair] = max(largest.get((i, j, pair), _ZERO), multiplier)
        spent = (deltas[pair] * most for (_, _, pair), most in largest.items())
        return as_fraction(sum((min(row) for row in scores), _ZERO) - sum(spent, _ZERO))

    def normalised(self, goal: Goal) -> Dual:
        """For a worst case make the weights sum to exactly 1."""
        if goal.side_information is None:
            return self
        weights, total = list(self.weights), sum(self.weights, start=Fraction(0))
        heaviest = max(goal.side_information, key=weights.__getitem__)
        if weights[heaviest] + 1 - total >= 0:
            weights[heaviest] += 1 - total  # rounding, or weight that the optimum does not need: keeps the others short
        else:
            weights = [w / total for w in weights]
        return replace(self, weights=tuple(weights))

    def rounded(self, goal: Goal, places: int) -> Dual:
        """Round everything that is free to decimals of so many places: short to write, and hardly weaker."""
        multipliers = {key: rounded for key, x in self.multipliers.items() if (rounded := round(x, places))}
        weights = self.weights if goal.side_information is None else tuple(round(w, places) for w in self.weights)
        return Dual(weights=weights, multipliers=multipliers).normalised(goal)

    def to_document(self, goal: Goal) -> dict[str, Any]:
        """Write the certificate of a mechanism file; inputs and answers stand by their positions."""
        return {
            "kind": "dual",
            **goal.to_document(self.weights),
            "multipliers": [multiplier_entry(key, x) for key, x in sorted(self.multipliers.items())],
        }


def multiplier_entry(key: Sequence[Any], multiplier: Fraction) -> list[Any]:
    """Write [i, j, v, λ], and for a pair of privacy after the first its number behind it."""
    *place, pair = key
    return [*place, rational_text(multiplier), *([pair] if pair else [])]


Directions = list[tuple[int, int]]
"""Every edge in both directions, as pairs of indices."""


def directions(graph: DatasetGraph) -> Directions:
    """List every edge of a graph in both directions."""
    pairs: Directions = []
    for tails, heads in graph.edges():
        for i, j in zip(tails.tolist(), heads.tolist(), strict=True):
            pairs += [(i, j), (j, i)]
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismProgram:
    """The program and where things are in it.

    Columns: x_iv at i·q + v, then the worst loss (if the goal is one), then slacks and excesses.
    Rows: one sum per input, one per input of S, then per direction and pair q, and with δ > 0 one more.

    Parameters
    ----------
    linear : LinearProgram
    goal : Goal
    edges : Directions
    pure : tuple of bool
        For every pair whether δ = 0: no excess columns and rows.
    """

    linear: LinearProgram
    goal: Goal
    edges: Directions
    pure: tuple[bool, ...]

    @property
    def inputs(self) -> int:
        """How many inputs there are."""
        return len(self.goal.loss)

    @property
    def answers(self) -> int:
        """How many answers there are, q."""
        return len(self.goal.loss[0])

    def rows(self, values: Sequence[flint.fmpq]) -> Table:
        """Read a solution as the rows of a mechanism."""
        q = self.answers
        return tuple(tuple(as_fraction(x) for x in values[i * q : (i + 1) * q]) for i in range(self.inputs))

    def dual(self, duals: Sequence[flint.fmpq]) -> Dual:
        """Read the multipliers of the rows as a dual certificate; negative ones, which prove nothing, become 0."""
        q, row = self.answers, self.inputs
        weights = list(self.goal.weights or [Fraction(0)] * self.inputs)
        for i in self.goal.side_information or ():
            weights[i] = max(-as_fraction(duals[row]), Fraction(0))
            row += 1
        multipliers: Multipliers = {}
        for (i, j), (pair, pure) in product(self.edges, enumerate(self.pure)):
            for v in range(q):
                if duals[row + v] < 0:
                    multipliers[i, j, v, pair] = -as_fraction(duals[row + v])
            row += q + (not pure)
        return Dual(weights=tuple(weights), multipliers=multipliers)


class _Builder:
    """Columns and rows of a linear program, written one row at a time."""

    def __init__(self, columns: int) -> None:
        self.columns: list[SparseRow] = [{} for _ in range(columns)]
        self.cost = [flint.fmpq(0)] * columns
        self.right: list[flint.fmpq] = []

    def new_column(self) -> int:
        self.columns.append({})
        self.cost.append(flint.fmpq(0))
        return len(self.columns) - 1

    def equal(self, entries: list[tuple[int, flint.fmpq]], right: flint.fmpq) -> None:
        for column, x in entries:
            if x != 0:
                self.columns[column][len(self.right)] = x
        self.right.append(right)

    def at_most(self, entries: list[tuple[int, flint.fmpq]], right: flint.fmpq) -> None:
        self.equal([*entries, (self.new_column(), flint.fmpq(1))], right)


def mechanism_program(goal: Goal, graph: DatasetGraph, privacy: Privacy) -> MechanismProgram:
    """Write the program for a goal.

    Parameters
    ----------
    goal : Goal
        Its loss has one row per node of the graph.
    graph : DatasetGraph
    privacy : Privacy
        Every r and δ, taken exactly.
    """
    one, zero = flint.fmpq(1), flint.fmpq(0)
    promised = [(as_fmpq(pair.ratio), as_fmpq(pair.delta)) for pair in privacy.pairs]
    loss = [[as_fmpq(x) for x in row] for row in goal.loss]
    m, q = len(loss), len(loss[0])
    edges = directions(graph)
    builder = _Builder(m * q)
    for i in range(m):
        builder.equal([(i * q + v, one) for v in range(q)], one)
    for i, weight in enumerate(goal.weights or ()):
        for v in range(q):
            builder.cost[i * q + v] = as_fmpq(weight) * loss[i][v]
    if goal.side_information is not None:
        # The column holds the worst loss above the smallest possible one, so that it is non-negative like all others.
        smallest = min(min(loss[i]) for i in goal.side_information)
        worst = builder.new_column()
        builder.cost[worst] = one
        for i in goal.side_information:
            builder.at_most([*((i * q + v, loss[i][v]) for v in range(q)), (worst, -one)], smallest)
    for (i, j), (ratio, delta) in product(edges, promised):
        excess = []
        for v in range(q):
            entries = [(i * q + v, one), (j * q + v, -ratio)]
            if delta != 0:
                excess.append(builder.new_column())
                entries.append((excess[-1], -one))
            builder.at_most(entries, zero)
        if delta != 0:
            builder.at_most([(column, one) for column in excess], delta)
    linear = LinearProgram(builder.columns, builder.cost, builder.right)
    return MechanismProgram(
        linear=linear, goal=goal, edges=edges, pure=tuple(bool(delta == 0) for _, delta in promised)
    )
