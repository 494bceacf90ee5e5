"""Exact readings of small mechanisms: the game as a linear program in rationals, and the arithmetic that certifies one.

Used where numbers are few enough; larger games are played in floats with certified bounds (`minimax`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

from ..exact import Table
from ..linprog.elimination import SparseRow
from ..linprog.optimum import exact_optimum
from ..linprog.program import LinearProgram, as_fmpq, as_fraction

__all__ = ["ExactReading", "bayes_bound", "exact_bayes", "exact_minimax", "expected_losses"]


@dataclass(frozen=True, slots=True)
class ExactReading:
    """A reading as a stochastic matrix, and the prior that bounds all readings."""

    table: Table
    weights: tuple[Fraction, ...]


def costs(rows: Table, losses: Table, weights: Sequence[Fraction]) -> list[list[flint.fmpq]]:
    """Return Σ_i w_i P_iz l_iv: one row per released value, one column per answer."""
    channel = flint.fmpq_mat([[as_fmpq(row[z]) for row in rows] for z in range(len(rows[0]))])
    weighed = flint.fmpq_mat([[as_fmpq(w) * as_fmpq(x) for x in line] for w, line in zip(weights, losses, strict=True)])
    products: list[list[flint.fmpq]] = (channel * weighed).tolist()
    return products


def bayes_bound(rows: Table, losses: Table, weights: Sequence[Fraction]) -> Fraction:
    """Return Σ_z min_v Σ_i w_i P_iz l_iv: what no reading of the mechanism stays below, on average over the prior."""
    return as_fraction(sum((min(line) for line in costs(rows, losses, weights)), flint.fmpq(0)))


def expected_losses(rows: Table, losses: Table, reading: Table) -> list[Fraction]:
    """Return Σ_z P_iz Σ_v T_zv l_iv for every input."""
    read = flint.fmpq_mat([[as_fmpq(p) for p in row] for row in rows]) * flint.fmpq_mat(
        [[as_fmpq(p) for p in row] for row in reading]
    )
    return [
        as_fraction(sum((p * as_fmpq(x) for p, x in zip(row, line, strict=True) if p != 0), flint.fmpq(0)))
        for row, line in zip(read.tolist(), losses, strict=True)
    ]


def exact_bayes(rows: Table, losses: Table, weights: Sequence[Fraction]) -> ExactReading:
    """Return the deterministic best reading for a prior; among equals the least answer."""
    best = [line.index(min(line)) for line in costs(rows, losses, weights)]
    one, zero = Fraction(1), Fraction(0)
    return ExactReading(
        tuple(tuple(one if v == b else zero for v in range(len(losses[0]))) for b in best), tuple(weights)
    )


def exact_minimax(rows: Table, losses: Table, possible: Sequence[int]) -> ExactReading:
    """Solve the reader's linear program, exactly unless the solver has to give up close to the optimum.

    Variables: T_zv, a slack per possible input, and the worst loss above the least entry, so that all are non-negative.
    """
    released, answers = len(rows[0]), len(losses[0])
    one = flint.fmpq(1)
    floor = as_fmpq(min(min(losses[i]) for i in possible))
    channel = [[as_fmpq(p) for p in row] for row in rows]
    table = [[as_fmpq(x) - floor for x in row] for row in losses]
    columns: list[SparseRow] = []
    for z in range(released):
        for v in range(answers):
            column: SparseRow = {z: one}
            for k, i in enumerate(possible):
                if (x := channel[i][z] * table[i][v]) != 0:
                    column[released + k] = x
            columns.append(column)
    columns += [{released + k: one} for k in range(len(possible))]
    columns.append({released + k: -one for k in range(len(possible))})
    cost = [flint.fmpq(0)] * (len(columns) - 1) + [one]
    right = [one] * released + [flint.fmpq(0)] * len(possible)
    found = exact_optimum(LinearProgram(columns, cost, right))
    weights = [Fraction(0)] * len(rows)
    for k, i in enumerate(possible):
        weights[i] = max(-as_fraction(found.duals[released + k]), Fraction(0))
    if not any(weights):
        # The worst loss is the least entry there is, which any prior proves.
        weights[possible[0]] = Fraction(1)
    values = [max(as_fraction(x), Fraction(0)) for x in found.values[: released * answers]]
    lines = [values[z * answers : (z + 1) * answers] for z in range(released)]
    return ExactReading(tuple(_normalised(line) for line in lines), _normalised(weights))


def _normalised(numbers: list[Fraction]) -> tuple[Fraction, ...]:
    total = sum(numbers, Fraction(0))
    return tuple(numbers) if total == 1 else tuple(x / total for x in numbers)
