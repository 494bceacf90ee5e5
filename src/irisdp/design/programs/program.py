"""The linear program over all private mechanisms on a graph, and how its solutions read as mechanisms and proofs.

    minimise    Σ_i w_i L_i(x)  or  the greatest L_i(x), i in S,  where L_i(x) = Σ_v loss(i, v) x_iv
    subject to  Σ_v x_iv = 1 at every input, and in both directions (i, j) of every edge
                x_iv − r x_jv ≤ s_(i,j),v  and  Σ_v s_(i,j),v ≤ δ

for every pair (r, δ). The excess s is left out where δ = 0. It is linear because a sum of positive parts is at most δ
exactly if some s ≥ 0 lies above each part and sums to at most δ. Inequalities get a slack column each: the exact solver
wants A z = b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import flint

from ...exact import Table
from ...graphs import DatasetGraph
from ...linprog.elimination import SparseRow
from ...linprog.program import LinearProgram, as_fmpq, as_fraction
from ...privacy import Privacy
from .dual import Dual, Multipliers
from .goals import Goal

__all__ = ["Directions", "MechanismProgram", "directions", "mechanism_program"]

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
