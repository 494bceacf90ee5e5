"""Why given rows are impossible although any two of them are possible: multipliers that anyone can check.

Numbers y on the given entries and λ ≥ 0 on the privacy constraints prove it. By weak duality (proofs/weak-duality.md)
every private mechanism x has Σ y·x ≤ `allows`, while the given rows have Σ y·given = `needs`, which is more. They come
from a program that always has a solution, how little the given rows must be moved, and are checked by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import flint

from ...errors import Infeasible, Refusal
from ...exact import rational_text, short_text
from ...graphs import RankedGraph
from ...graphs.names import json_node
from ...linprog.optimum import exact_optimum
from ...linprog.program import Basis, as_fmpq, as_fraction
from ...privacy import Privacy
from ..programs.dual import Dual, multiplier_entry
from ..programs.goals import Goal
from ..programs.program import MechanismProgram, mechanism_program
from .heterogeneous import Fixed

__all__ = ["add_given_rows", "feasible_start", "refuse_unfinished"]

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
