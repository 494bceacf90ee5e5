"""When no private mechanism meets the constraints: what would have to give way."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

import flint
import numpy as np

from .._exact import rational_text, short_above
from .._exact.linprog import FloatSolver, LinearProgram, Optimum, as_floats, as_fraction, exact_optimum
from ..errors import Infeasible, Refusal
from ..graphs import DatasetGraph, NumberedNodes, compress
from ..privacy import Privacy, workable
from ._constraints import Constraints
from ._privacy_program import Dual, Goal, mechanism_program, multiplier_entry

_MOST_PIVOTS = 2000

_NEARLY = 1e-7
"""Less is left to the exact program to find."""


def refuse_if_infeasible(constraints: Constraints, graph: DatasetGraph, privacy: Privacy, answers: int) -> None:
    """Raise `Infeasible` where floats see that no mechanism meets the constraints, and exact numbers prove it.

    Parameters
    ----------
    answers : int
        How many there are.
    """
    nothing = _nothing(constraints, graph.number_of_nodes, answers)
    if _in_floats(_apart(nothing)) > _NEARLY and (missed := _smallest(_apart(nothing))):
        _refuse_at_any_privacy(nothing, graph, privacy, missed)
    if _in_floats(mechanism_program(nothing, graph, privacy, spare=True).linear) > _NEARLY:
        refuse_if_proven(constraints, graph, privacy, answers)


def refuse_if_proven(constraints: Constraints, graph: DatasetGraph, privacy: Privacy, answers: int) -> None:
    """Raise `Infeasible` where exact numbers prove that no private mechanism meets the constraints."""
    nothing = _nothing(constraints, graph.number_of_nodes, answers)
    if missed := _smallest(_apart(nothing)):
        _refuse_at_any_privacy(nothing, graph, privacy, missed)
    worked = workable(privacy)
    program = mechanism_program(nothing, graph, worked, spare=True)
    optimum = _exact(program.linear)
    dual = program.dual(optimum.duals)
    shown = dual.bound(nothing, privacy)
    if shown <= 0:
        return
    over = _value(program.linear, optimum) if optimum.exact else None
    _refuse_with_privacy(nothing, graph, privacy, dual, shown, over)


def _nothing(constraints: Constraints, inputs: int, answers: int) -> Goal:
    """Return a goal of 0 for every mechanism: a bound above 0 shows that there is none."""
    loss = ((Fraction(0),) * answers,) * inputs
    return Goal(name="", loss=loss, weights=(Fraction(0),) * inputs, constraints=constraints)


def _apart(nothing: Goal) -> LinearProgram:
    """Return the program without privacy whose value is by how much the constraints must be missed."""
    nowhere = np.zeros(0, np.int64)
    edgeless = compress(NumberedNodes(range(len(nothing.loss))), nowhere, nowhere)
    program = mechanism_program(nothing, edgeless, Privacy(ratio=1)).linear
    columns, cost = list(program.columns), list(program.cost)
    for row in range(len(program.right)):
        columns += [{row: flint.fmpq(1)}, {row: flint.fmpq(-1)}]
        cost += [flint.fmpq(1)] * 2
    return LinearProgram(columns, cost, program.right)


def _in_floats(program: LinearProgram) -> float:
    solution = FloatSolver(program).solve(as_floats(program.cost), as_floats(program.right))
    return 0.0 if solution is None else solution.objective


def _exact(program: LinearProgram) -> Optimum:
    return exact_optimum(program, most_pivots=_MOST_PIVOTS)


def _value(program: LinearProgram, optimum: Optimum) -> Fraction:
    total = sum((x * cost for x, cost in zip(optimum.values, program.cost, strict=True)), start=flint.fmpq(0))
    return as_fraction(total)


def _smallest(program: LinearProgram) -> Fraction:
    """Return the smallest value of a program that has one; 0 where exact numbers did not find it."""
    try:
        optimum = _exact(program)
    except Refusal:
        return Fraction(0)
    return _value(program, optimum) if optimum.exact else Fraction(0)


def _refuse_at_any_privacy(nothing: Goal, graph: DatasetGraph, privacy: Privacy, missed: Fraction) -> NoReturn:
    constraints = nothing.constraints
    lenient = _possible_without(nothing, graph, privacy)
    raise Infeasible(
        "no mechanism meets these constraints, whatever its privacy;" + _leave_out(constraints, lenient),
        status="infeasible",
        constraints=constraints.to_document(),
        possible_without=[constraints.each[number].document for number in lenient],
        smallest_delta=None,
        infeasible={"missed_by": rational_text(missed)},
    )


def _possible_without(nothing: Goal, graph: DatasetGraph, privacy: Privacy) -> list[int]:
    """Return the numbers of the constraints without which a private mechanism certainly meets the others."""

    def possible(number: int) -> bool:
        goal = replace(nothing, constraints=nothing.constraints.without(number))
        program = mechanism_program(goal, graph, workable(privacy), spare=True).linear
        try:
            optimum = _exact(program)
        except Refusal:
            return False
        return optimum.exact and _value(program, optimum) == 0

    return [number for number in range(len(nothing.constraints.each)) if possible(number)]


def _refuse_with_privacy(
    nothing: Goal, graph: DatasetGraph, privacy: Privacy, dual: Dual, shown: Fraction, over: Fraction | None
) -> NoReturn:
    constraints = nothing.constraints
    lenient = _possible_without(nothing, graph, privacy)
    delta = None
    if over is not None and privacy.single and privacy.delta + over < 1:
        delta = privacy.delta + over
    remedy = "" if delta is None else f" possible from delta {short_above(delta)}, or"
    raise Infeasible(
        f"no private mechanism meets these constraints;{remedy}{_leave_out(constraints, lenient)}",
        status="infeasible",
        constraints=constraints.to_document(),
        possible_without=[constraints.each[number].document for number in lenient],
        smallest_delta=None if delta is None else rational_text(delta),
        infeasible={
            "bound": rational_text(shown),
            "multipliers": [multiplier_entry(key, x) for key, x in sorted(dual.multipliers.items())],
            "constraint_multipliers": [[*key, rational_text(x)] for key, x in sorted(dual.of_constraints.items())],
        },
    )


def _leave_out(constraints: Constraints, lenient: list[int]) -> str:
    """Say which constraint alone is in the way."""
    if not lenient:
        remedy = " leave out more than one of them" if len(constraints.each) > 1 else " leave it out"
    else:
        remedy = " leave out " + " or ".join(map(constraints.name, lenient))
    if constraints.leaves_one_answer:
        remedy += ", or list outputs below and above all inputs, which unbiased answers need"
    return remedy
