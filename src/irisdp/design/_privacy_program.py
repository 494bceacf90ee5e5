"""The linear program over all private mechanisms on a graph, and how its solutions read as mechanisms and proofs.

    minimise    Σ_i w_i L_i(x)  or  the greatest L_i(x), i in S,  where L_i(x) = Σ_v loss(i, v) x_iv
    subject to  Σ_v x_iv = 1 at every input, and in both directions (i, j) of every edge
                x_iv − r x_jv ≤ s_(i,j),v  and  Σ_v s_(i,j),v ≤ δ

for every pair (r, δ), and to linear constraints that were asked for (`_constraints`). The excess s is left out where
δ = 0. It is linear because a sum of positive parts is at most δ exactly if some s ≥ 0 lies above each part and sums to
at most δ. Inequalities get a slack column each: the exact solver wants A z = b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from .._exact import Table, checked, counts, numbers, plain_text, rational_text, table
from .._exact.linprog import LinearProgram, SparseRow, as_fmpq, as_fraction
from ..errors import BadInput
from ..graphs import DatasetGraph
from ..privacy import Privacy
from ._constraints import NO_CONSTRAINTS, Constraints, LinearRow, Place

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
        answers are whole numbers) or "graph-distance" (both are the nodes).
    weights : sequence or array, optional
        w, numbers from 0 up, one per input; makes the goal an average.
    side_information : sequence or array, optional
        Positions of the inputs in S, from 0, at least one; makes the goal a worst case.
    constraints : Constraints
        Those that `optimal_mechanism` read; none when left out.

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
    constraints: Constraints

    def __init__(
        self,
        *,
        name: str,
        loss: Any,
        loss_name: str | None = None,
        weights: Any = None,
        side_information: Any = None,
        constraints: Constraints = NO_CONSTRAINTS,
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
        object.__setattr__(self, "constraints", constraints)

    def check_name(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Refuse a name of another loss than the table holds, for inputs and answers of these names."""
        if self.loss_name is None or self.loss_name == GRAPH_DISTANCE:
            return
        of = LOSSES[self.loss_name]
        names = (name for group in (inputs, outputs) for name in group)
        counted = self.loss_name == "zero-one" or all(isinstance(name, int) for name in names)
        lines = zip(inputs, self.loss, strict=True)
        if not counted or any(x != of(i, v) for i, row in lines for v, x in zip(outputs, row, strict=True)):
            rule = f"is {self.loss_name}, and the table holds another loss of the inputs and answers"
            raise BadInput("loss_name", rule, "leave the name out")

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
        if self.constraints.each:
            document["constraints"] = self.constraints.to_document()
        return document


def _goal_loss(loss: Any, name: str | None) -> Table:
    """Read the table of a goal, and whether its name is one."""
    if name is not None and name not in (*LOSSES, GRAPH_DISTANCE):
        known = ", ".join((*LOSSES, GRAPH_DISTANCE))
        raise BadInput("loss_name", "is not a loss with a name", f"choose {known}, or leave it out")
    if name == GRAPH_DISTANCE and isinstance(loss, tuple) and set(loss) == {()}:  # the graph says what it is
        return loss
    return table(loss, "loss")


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
# (weak duality; proofs/weak-duality.md). So a certificate may be rounded at will: it gets weaker, never wrong. Linear
# constraints have multipliers too: μ, not negative where Σ a x_iv is at most b and any number where it is equal, adds
# Σ a x_iv − b to what is bounded. Of entries that are given the smallest score need not be thought of, since their part
# is known.

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
    of_constraints : mapping
        Number of the constraint and of the row within it → μ.
    """

    weights: tuple[Fraction, ...]
    multipliers: Multipliers
    of_constraints: Mapping[Place, Fraction] = field(default_factory=dict)

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
        total = -sum(spent, _ZERO)
        for key, row in goal.constraints.rows():
            if price := self.of_constraints.get(key):
                total -= as_fmpq(price * row.bound)
                for i, v, a in row.terms:
                    scores[i][v] += as_fmpq(price * a)
        return as_fraction(sum((_least(i, row, goal.constraints) for i, row in enumerate(scores)), total))

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
        of_constraints = {key: rounded for key, x in self.of_constraints.items() if (rounded := round(x, places))}
        return Dual(weights=weights, multipliers=multipliers, of_constraints=of_constraints).normalised(goal)

    def to_document(self, goal: Goal) -> dict[str, Any]:
        """Write the certificate of a mechanism file; inputs and answers stand by their positions."""
        document = {
            "kind": "dual",
            **goal.to_document(self.weights),
            "multipliers": [multiplier_entry(key, x) for key, x in sorted(self.multipliers.items())],
        }
        if self.of_constraints:
            listed = sorted(self.of_constraints.items())
            document["constraint_multipliers"] = [[*key, rational_text(x)] for key, x in listed]
        return document


def _least(i: int, scores: Sequence[flint.fmpq], constraints: Constraints) -> flint.fmpq:
    """Return an input's smallest part: given entries at their probability, the rest where the score is smallest."""
    if not constraints.given:
        return min(scores)
    known = {v: p for v in range(len(scores)) if (p := constraints.given.get((i, v))) is not None}
    part = sum((scores[v] * as_fmpq(p) for v, p in known.items() if p), flint.fmpq(0))
    rest = 1 - as_fmpq(sum(known.values(), start=Fraction(0)))
    return part + rest * min((x for v, x in enumerate(scores) if v not in known), default=flint.fmpq(0))


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

    Columns: x_iv at i·q + v (empty where the entry is given), then the worst loss (if the goal is one), then slacks and
    excesses.

    Parameters
    ----------
    linear : LinearProgram
    goal : Goal
    of_inputs : mapping
        Input of S → the row that bounds its loss.
    of_edges : mapping
        (i, j, v, pair) → the row of this privacy constraint.
    of_constraints : mapping
        Number of a constraint and of the row within it → the row here.
    """

    linear: LinearProgram
    goal: Goal
    of_inputs: Mapping[int, int]
    of_edges: Mapping[tuple[int, int, int, int], int]
    of_constraints: Mapping[Place, int]

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
        q, given = self.answers, self.goal.constraints.given
        table = [[as_fraction(x) for x in values[i * q : (i + 1) * q]] for i in range(self.inputs)]
        for (i, v), p in given.items():
            table[i][v] = p
        return tuple(map(tuple, table))

    def dual(self, duals: Sequence[flint.fmpq]) -> Dual:
        """Read the multipliers of the rows as a dual certificate; negative ones, which prove nothing, become 0."""
        weights = list(self.goal.weights or [Fraction(0)] * self.inputs)
        for i, row in self.of_inputs.items():
            weights[i] = max(-as_fraction(duals[row]), Fraction(0))
        multipliers = {key: -as_fraction(duals[row]) for key, row in self.of_edges.items() if duals[row] < 0}
        of_constraints = {}
        for key, one in self.goal.constraints.rows():
            multiplier = -as_fraction(duals[self.of_constraints[key]])
            if multiplier and (one.equal or multiplier > 0):
                of_constraints[key] = multiplier
        return Dual(weights=tuple(weights), multipliers=multipliers, of_constraints=of_constraints)


class _Builder:
    """Columns and rows of a linear program, written one row at a time; entries that are given go to the right."""

    def __init__(self, columns: int, given: Mapping[int, flint.fmpq]) -> None:
        self.columns: list[SparseRow] = [{} for _ in range(columns)]
        self.cost = [flint.fmpq(0)] * columns
        self.right: list[flint.fmpq] = []
        self.given = given

    def new_column(self) -> int:
        self.columns.append({})
        self.cost.append(flint.fmpq(0))
        return len(self.columns) - 1

    def equal(self, entries: list[tuple[int, flint.fmpq]], right: flint.fmpq) -> int:
        """Add a row and return its number."""
        for column, x in entries:
            if column in self.given:
                right = right - x * self.given[column]
            elif x != 0:
                self.columns[column][len(self.right)] = x
        self.right.append(right)
        return len(self.right) - 1

    def at_most(self, entries: list[tuple[int, flint.fmpq]], right: flint.fmpq) -> int:
        return self.equal([*entries, (self.new_column(), flint.fmpq(1))], right)


def mechanism_program(goal: Goal, graph: DatasetGraph, privacy: Privacy, *, spare: bool = False) -> MechanismProgram:
    """Write the program for a goal.

    Parameters
    ----------
    goal : Goal
        Its loss has one row per node of the graph.
    graph : DatasetGraph
    privacy : Privacy
        Every r and δ, taken exactly.
    spare : bool
        Whether every δ may be exceeded, by a number that is all that costs where the goal does not.
    """
    one, zero = flint.fmpq(1), flint.fmpq(0)
    promised = [(as_fmpq(pair.ratio), as_fmpq(pair.delta)) for pair in privacy.pairs]
    loss = [[as_fmpq(x) for x in row] for row in goal.loss]
    m, q = len(loss), len(loss[0])
    builder = _Builder(m * q, {i * q + v: as_fmpq(p) for (i, v), p in goal.constraints.given.items()})
    of_inputs: dict[int, int] = {}
    of_edges: dict[tuple[int, int, int, int], int] = {}
    for i in range(m):
        builder.equal([(i * q + v, one) for v in range(q)], one)
    for i, weight in enumerate(goal.weights or ()):
        for v in range(q):
            if i * q + v not in builder.given:
                builder.cost[i * q + v] = as_fmpq(weight) * loss[i][v]
    if goal.side_information is not None:
        # The column holds the worst loss above the smallest possible one, so that it is non-negative like all others.
        smallest = min(min(loss[i]) for i in goal.side_information)
        worst = builder.new_column()
        builder.cost[worst] = one
        for i in goal.side_information:
            entries = [*((i * q + v, loss[i][v]) for v in range(q)), (worst, -one)]
            of_inputs[i] = builder.at_most(entries, smallest)
    over = builder.new_column() if spare else None
    if over is not None:
        builder.cost[over] = one
    for (i, j), (pair, (ratio, delta)) in product(directions(graph), enumerate(promised)):
        excess = []
        for v in range(q):
            if builder.given.get(i * q + v) == 0:
                continue  # 0 is never too much
            entries = [(i * q + v, one), (j * q + v, -ratio)]
            if delta != 0 or spare:
                excess.append(builder.new_column())
                entries.append((excess[-1], -one))
            of_edges[i, j, v, pair] = builder.at_most(entries, zero)
        if delta != 0 or spare:
            entries = [(column, one) for column in excess]
            builder.at_most([*entries, *([] if over is None else [(over, -one)])], delta)
    of_constraints = {key: _add_constraint(builder, row, q) for key, row in goal.constraints.rows()}
    return MechanismProgram(
        linear=LinearProgram(builder.columns, builder.cost, builder.right),
        goal=goal,
        of_inputs=of_inputs,
        of_edges=of_edges,
        of_constraints=of_constraints,
    )


def _add_constraint(builder: _Builder, row: LinearRow, answers: int) -> int:
    entries = [(i * answers + v, as_fmpq(a)) for i, v, a in row.terms]
    return (builder.equal if row.equal else builder.at_most)(entries, as_fmpq(row.bound))
