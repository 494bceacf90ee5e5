"""Short numbers for a mechanism under linear constraints: rounding that keeps every equation, then a step inward.

Entries are rounded to multiples of a power of two, except as many as there are equations: the largest, for which these
are solved. What is then too much for an inequality, by about the rounding, is taken back by a step towards a mechanism
that keeps all of them with slack. All of it is checked at the end, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from .._exact import Table, dyadic_above
from .._exact.linprog import FloatSolver, LinearProgram, as_floats, as_fmpq, as_fraction
from ..errors import CertificateRejected, Refusal
from ..graphs import DatasetGraph
from ..privacy import Privacy
from ._constraints import Constraints
from ._privacy_program import Goal, MechanismProgram, directions, mechanism_program

_FINE = 128
"""Places of the binary fractions to which entries are rounded."""

_WEIGHT_BITS = 20

_LITTLE = Fraction(1, 1 << 30)
"""A step inward that is shorter costs so little that no other is sought."""

_MARGINS = (1e-3, 1e-5, 1e-7, 1e-8)
"""By how much every inequality is kept by the mechanisms towards which a step is made; the least is above the errors of
floats, and the mechanism itself may then be the answer."""

_SLACK = Fraction(1, 10**3)
"""How much is asked for where some inequalities cannot be kept strictly."""


def short_within(rows: Table, goal: Goal, graph: DatasetGraph, privacy: Privacy) -> Table:
    """Return short rows that meet the constraints and privacy exactly, near given ones that nearly do.

    Parameters
    ----------
    rows : table
        One row per node.
    goal : Goal
        Its constraints, and what to make small where the given rows are not near enough.
    graph : DatasetGraph
    privacy : Privacy

    Raises
    ------
    Refusal
        Where no mechanism was found that keeps the constraints with slack.
    """
    constraints = goal.constraints
    equations = _Equations(constraints, len(rows), len(rows[0]))

    def excesses(table: Table) -> list[Fraction]:
        return list(_excesses(table, constraints, graph, privacy))

    short = equations.rounded(rows, _FINE)
    over = excesses(short)
    if max(over) <= 0:
        return short
    candidates: list[Table] = []
    for inner in _inner(goal, graph, privacy):
        spare = equations.rounded(inner, _FINE)
        slack = excesses(spare)
        needed = [(x, y) for x, y in zip(over, slack, strict=True) if x > 0]
        if max(slack) <= 0:
            candidates.append(spare)
        if all(y < 0 for _, y in needed):
            weight = dyadic_above(max(x / (x - y) for x, y in needed), _WEIGHT_BITS)
            mixed = tuple(
                tuple((1 - weight) * p + weight * s for p, s in zip(*pair, strict=True))
                for pair in zip(short, spare, strict=True)
            )
            if max(excesses(mixed)) <= 0:
                candidates.append(mixed)
                if weight < _LITTLE:
                    break
    if candidates:
        best = min(candidates, key=goal.value)
        if not constraints.are_met(best):
            raise CertificateRejected("the rounded mechanism does not keep its constraints", status="repair failed")
        return best
    raise Refusal(
        "no exact mechanism was found: the constraints leave no slack for rounding; give a ratio with few digits"
        " instead of epsilon, or a smaller problem",
        status="no optimum found",
    )


def _excesses(rows: Table, constraints: Constraints, graph: DatasetGraph, privacy: Privacy) -> Iterator[Fraction]:
    """Yield by how much every inequality is broken, or not: entries, privacy and constraints, in a fixed order."""
    for i, row in enumerate(rows):
        yield from (-p for v, p in enumerate(row) if (i, v) not in constraints.given)
    for pair in privacy.pairs:
        for i, j in directions(graph):
            differences = (p - pair.ratio * q for p, q in zip(rows[i], rows[j], strict=True))
            if pair.delta:
                yield sum((x for x in differences if x > 0), start=-pair.delta)
            else:
                yield from differences
    yield from (row.excess(rows) for _, row in constraints.rows() if not row.equal)


def _inner(goal: Goal, graph: DatasetGraph, privacy: Privacy) -> Iterator[list[list[Fraction]]]:
    """Yield, in floats, mechanisms that keep inequalities strictly: good ones first, and last whatever there is."""
    for margin in _MARGINS:
        tightened = _tightened(goal, graph, privacy, margin)
        if tightened is not None:
            yield tightened
    yield _with_slack(goal, graph, privacy)


def _tightened(goal: Goal, graph: DatasetGraph, privacy: Privacy, margin: float) -> list[list[Fraction]] | None:
    """Return, in floats, the best rows that keep every inequality with this margin; None where floats find none."""
    program = mechanism_program(goal, graph, privacy)
    linear, answers = program.linear, program.answers
    lower = np.zeros(len(linear.columns))
    lower[: len(goal.loss) * answers] = margin
    lower[_slack_columns(program, privacy)] = margin
    for i, v in goal.constraints.given:
        lower[i * answers + v] = 0
    largest = max(map(abs, linear.cost)) or flint.fmpq(1)
    solution = FloatSolver(linear).solve(as_floats(linear.cost, 1 / largest), as_floats(linear.right), lower)
    if solution is None:
        return None
    return [list(row) for row in program.rows([flint.fmpq(*x.as_integer_ratio()) for x in solution.values.tolist()])]


def _slack_columns(program: MechanismProgram, privacy: Privacy) -> list[int]:
    """Return the slack columns; of an excess above a ratio only that of the sum, which is a row of its own."""
    tight = {row for (*_, pair), row in program.of_edges.items() if privacy.pairs[pair].delta}
    first = program.inputs * program.answers
    columns = program.linear.columns
    return [k for k in range(first, len(columns)) if list(columns[k].values()) == [1] and not set(columns[k]) & tight]


def _with_slack(goal: Goal, graph: DatasetGraph, privacy: Privacy) -> list[list[Fraction]]:
    """Return, in floats, rows that keep as many inequalities as can be strictly."""
    nodes, answers = len(goal.loss), len(goal.loss[0])
    constraints = goal.constraints
    nothing = Goal(
        name="", loss=((Fraction(0),) * answers,) * nodes, weights=(Fraction(1),) * nodes, constraints=constraints
    )
    program = mechanism_program(nothing, graph, privacy)
    columns, right = [dict(column) for column in program.linear.columns], list(program.linear.right)
    cost = [flint.fmpq(0)] * len(columns)
    entries = [k for k in range(nodes * answers) if divmod(k, answers) not in constraints.given]
    slack_of = {}
    for k in (
        *entries,
        *_slack_columns(program, privacy),
    ):  # what the column holds is what is above the slack, and the slack itself
        slack_of[k] = len(columns)
        columns += [{**columns[k], len(right): flint.fmpq(1)}, {len(right): flint.fmpq(1)}]
        cost += [flint.fmpq(-1), flint.fmpq(0)]
        right.append(as_fmpq(_SLACK))
    solution = FloatSolver(LinearProgram(columns, cost, right)).solve(as_floats(cost), as_floats(right))
    if solution is None:
        return [[Fraction(1, answers)] * answers] * nodes  # without slack, as will be seen
    values = solution.values

    def entry(k: int) -> Fraction:
        return (
            Fraction(float(values[k] + values[slack_of[k]])) if k in slack_of else constraints.given[divmod(k, answers)]
        )

    return [[entry(i * answers + v) for v in range(answers)] for i in range(nodes)]


@dataclass(frozen=True, slots=True)
class _Row:
    """Σ a x_iv = right."""

    terms: tuple[tuple[int, int, Fraction], ...]
    right: Fraction


class _Equations:
    """All that must be equal: sums of rows, and constraints; entries that are given are known."""

    def __init__(self, constraints: Constraints, inputs: int, answers: int) -> None:
        self._given = constraints.given
        rows = [_Row(tuple((i, v, Fraction(1)) for v in range(answers)), Fraction(1)) for i in range(inputs)]
        rows += [_Row(row.terms, row.bound) for _, row in constraints.rows() if row.equal]
        # Equations that share no input are solved apart.
        block = list(range(inputs))
        for row in rows:
            together = {block[i] for i, _, a in row.terms if a}
            block = [min(together) if b in together else b for b in block]
        self._blocks: dict[int, list[_Row]] = {}
        for row in rows:
            self._blocks.setdefault(block[row.terms[0][0]] if row.terms else 0, []).append(row)

    def rounded(self, rows: Sequence[Sequence[Fraction]], places: int) -> Table:
        """Round all entries but those that the equations are solved for: the largest."""
        unit = 1 << places
        table = [[Fraction(max(0, int(x * unit)), unit) for x in row] for row in rows]
        for (i, v), p in self._given.items():
            table[i][v] = p
        for equations in self._blocks.values():
            self._solve(equations, rows, table)
        return tuple(map(tuple, table))

    def _solve(self, equations: list[_Row], rows: Sequence[Sequence[Fraction]], table: list[list[Fraction]]) -> None:
        places = {(i, v) for row in equations for i, v, a in row.terms if a and (i, v) not in self._given}
        order = sorted(places, key=lambda place: (-rows[place[0]][place[1]], place))
        number = {place: k for k, place in enumerate(order)}
        matrix = flint.fmpq_mat(len(equations), len(order) + 1)
        for at, row in enumerate(equations):
            right = row.right
            for i, v, a in row.terms:
                if (i, v) in self._given:
                    right -= a * self._given[i, v]
                elif a:
                    matrix[at, number[i, v]] = as_fmpq(a)
            matrix[at, len(order)] = as_fmpq(right)
        reduced, rank = matrix.rref()
        for at in range(rank):
            pivot = next(k for k in range(len(order) + 1) if reduced[at, k] != 0)
            if pivot == len(order):
                raise CertificateRejected("the equations contradict each other", status="repair failed")
            value = reduced[at, len(order)]
            for k in range(pivot + 1, len(order)):
                if (x := reduced[at, k]) != 0:
                    i, v = order[k]
                    value -= x * as_fmpq(table[i][v])
            i, v = order[pivot]
            table[i][v] = as_fraction(value)
