"""A mechanism found elsewhere, with its exact value for a goal, a lower bound for all private ones and the proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._exact import checked
from ..errors import BadInput
from ..mechanisms import ALL_PRIVATE, CONSTRAINED, Mechanism, StatedObjective
from ..privacy import are_close
from ._constraints import read_constraints
from ._optimal_mechanism import best_bound, check_size, sealed
from ._privacy_program import Goal, directions


@checked
def certified(mechanism: Mechanism, goal: Goal, *, constraints: Any = None) -> Mechanism:
    """Bound from below what any private mechanism reaches for a goal, and state it in a mechanism of your own.

    Parameters
    ----------
    mechanism : Mechanism
        Private on its graph, whose nodes are its inputs in order; what `design.repair` returns is. It may be the
        optimum of another solver, or anything else.
    goal : Goal
        One row of its loss for every input, one column for every answer.
    constraints : list, optional
        Linear constraints that the mechanism meets exactly, and all it is compared with: see docs/howto/constraints.md.

    Returns
    -------
    Mechanism
        With the same rows. `objective` holds their exact value and the lower bound, which no mechanism with the same
        privacy on the same graph, and with the same constraints, passes. What lies between is how far from optimal the
        mechanism is at most. The certificate proves the bound to `irisdp.audit` and to the stand-alone verifier.

    Raises
    ------
    BadInput
        When the mechanism has no graph, or its inputs are not the nodes in order; when it is not private or does not
        meet the constraints; when the goal has another shape; and when the program is too large to be solved whole.

    Examples
    --------
    >>> from irisdp import Privacy, design, graphs
    >>> goal = design.Goal(name="error", loss=[[0, 1], [1, 0]], side_information=[0, 1])
    >>> found = design.repair([[0.6666, 0.3334], [0.3334, 0.6666]], graphs.Path(2), Privacy(ratio=2))
    >>> objective = certified(found, goal).objective
    >>> objective.value, objective.lower_bound
    (Fraction(1667, 5000), Fraction(1, 3))

    References
    ----------
    proofs/weak-duality.md.
    """
    graph, privacy, rows = mechanism.graph, mechanism.privacy, mechanism.matrix()
    if graph is None:
        raise BadInput("mechanism", "has no graph", "give one whose graph joins neighbouring inputs")
    if tuple(mechanism.inputs) != tuple(graph.nodes):
        rule = "has inputs that are not the nodes of its graph in their order"
        raise BadInput("mechanism", rule, "repair its matrix with inputs=…: design.repair puts them in order")
    if (len(goal.loss), len(goal.loss[0])) != (len(rows), len(mechanism.outputs)):
        rule = f"has a loss of {len(goal.loss)} rows and {len(goal.loss[0])} columns"
        raise BadInput("goal", rule, f"the mechanism needs {len(rows)} and {len(mechanism.outputs)}")
    goal.check_name(graph.nodes, mechanism.outputs)
    check_size("graph", graph.number_of_edges, len(mechanism.outputs), privacy)
    if not all(are_close(rows[i], rows[j], privacy) for i, j in directions(graph) if i < j):
        raise BadInput("mechanism", "is not private on its graph", "repair its matrix: design.repair")
    if constraints is not None:
        of = "graph-distance" if goal.loss_name == "graph-distance" else "absolute"
        goal = replace(goal, constraints=read_constraints(constraints, graph, mechanism.outputs, of=of))
    if not goal.constraints.are_met(rows):
        raise BadInput("mechanism", "does not meet the constraints exactly", "design.optimal_mechanism does")
    value = goal.value(rows)
    bound, dual = best_bound(goal, graph, privacy, value)
    objective = StatedObjective(goal.name, value, bound)
    made = replace(mechanism, objective=objective, certificate=dual.to_document(goal))
    return sealed(made, among=CONSTRAINED if goal.constraints.each else ALL_PRIVATE)
