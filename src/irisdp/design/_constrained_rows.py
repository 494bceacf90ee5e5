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

from .._exact import Table, dyadic_above
from .._exact.linprog import FloatSolver, LinearProgram, as_floats, as_fmpq, as_fraction
from ..errors import CertificateRejected, Refusal
from ..graphs import DatasetGraph
from ..privacy import Privacy
from ._constraints import Constraints
from ._privacy_program import Goal, directions, mechanism_program

_FINE, _COARSE = 128, 44
"""Places of the binary fractions to which a matrix, and the one with slack, are rounded."""

_WEIGHT_BITS = 20

_SLACKS = (Fraction(1, 10**3), Fraction(1, 10**5), Fraction(1, 10**7))
"""How much slack is asked for, most first: every inequality shall have as much that can."""


def short_within(rows: Table, constraints: Constraints, graph: DatasetGraph, privacy: Privacy) -> Table:
    """Return short rows that meet the constraints and privacy exactly, near given ones that nearly do.

    Parameters
    ----------
    rows : table
        One row per node.
    constraints : Constraints
    graph : DatasetGraph
    privacy : Privacy

    Raises
    ------
    Refusal
        Where no mechanism was found that keeps the constraints with slack.
    """
    equations = _Equations(constraints, len(rows), len(rows[0]))
    short = equations.rounded(rows, _FINE)
    over = list(_excesses(short, constraints, graph, privacy))
    if max(over) <= 0:
        return short
    for slack in _SLACKS:
        spare = equations.rounded(_with_slack(constraints, graph, privacy, len(rows[0]), slack), _COARSE)
        needed = [(x, y) for x, y in zip(over, _excesses(spare, constraints, graph, privacy), strict=True) if x > 0]
        if all(y < 0 for _, y in needed):
            weight = dyadic_above(max(x / (x - y) for x, y in needed), _WEIGHT_BITS)
            made = tuple(
                tuple((1 - weight) * p + weight * s for p, s in zip(*pair, strict=True))
                for pair in zip(short, spare, strict=True)
            )
            if max(_excesses(made, constraints, graph, privacy)) > 0 or not constraints.are_met(made):
                raise CertificateRejected("the rounded mechanism does not keep its constraints", status="repair failed")
            return made
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


def _with_slack(
    constraints: Constraints, graph: DatasetGraph, privacy: Privacy, answers: int, slack: Fraction
) -> list[list[Fraction]]:
    """Return, in floats, rows that keep as many inequalities as can be with so much slack."""
    nodes = graph.number_of_nodes
    nothing = Goal(
        name="", loss=((Fraction(0),) * answers,) * nodes, weights=(Fraction(1),) * nodes, constraints=constraints
    )
    program = mechanism_program(nothing, graph, privacy)
    columns, right = [dict(column) for column in program.linear.columns], list(program.linear.right)
    cost = [flint.fmpq(0)] * len(columns)
    # Of an excess above a ratio only the sum needs slack, which is a row of its own.
    tight = {row for (*_, pair), row in program.of_edges.items() if privacy.pairs[pair].delta}
    entries = [k for k in range(nodes * answers) if divmod(k, answers) not in constraints.given]
    slacks = [
        k
        for k in range(nodes * answers, len(columns))
        if list(columns[k].values()) == [1] and not set(columns[k]) & tight
    ]
    slack_of = {}
    for k in (*entries, *slacks):  # what the column holds is what is above the slack, and the slack itself
        slack_of[k] = len(columns)
        columns += [{**columns[k], len(right): flint.fmpq(1)}, {len(right): flint.fmpq(1)}]
        cost += [flint.fmpq(-1), flint.fmpq(0)]
        right.append(as_fmpq(slack))
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
