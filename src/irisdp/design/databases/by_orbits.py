"""The smallest mean distance, or any other mean loss, on a graph divided by its symmetry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from ...errors import BadInput
from ...exact import Table, table
from ...graphs import UNREACHABLE, DatasetGraph
from ...graphs.symmetry import LARGEST_SYMMETRIC, Symmetry, symmetry
from ...mechanisms import Mechanism, Objective
from ...privacy import Privacy
from ..programs.goals import Goal
from ..programs.sealing import sealed
from .class_program import ClassProgram
from .orbits import pair_classes

__all__ = ["LARGEST_CERTIFICATE", "certified", "class_program", "distance_by_orbits", "equal_shares", "group_of"]

LARGEST_PROGRAM = 50_000
"""Most privacy constraints between classes of pairs: about a minute."""

LARGEST_CERTIFICATE = 100_000
"""Most multipliers that are written into a certificate; beyond it the bound is stated without them."""

_SPARE_DIGITS = 20
"""Digits to which a rounded bound agrees with the value at least, before the ratio's own 2^-64."""


def distance_by_orbits(
    graph: DatasetGraph, privacy: Privacy, weights: tuple[Fraction, ...], loss: Any = None
) -> Mechanism:
    """Design the mechanism of smallest mean loss; `irisdp.design.distance` says more.

    Parameters
    ----------
    graph : DatasetGraph
    privacy : Privacy
    weights : tuple of Fraction
        One per node, with sum 1.
    loss : table, optional
        Rows are inputs, columns answers; the graph distance when left out.

    References
    ----------
    proofs/exponential-symmetry.md; proofs/weak-duality.md.
    """
    program, goal = class_program(graph, privacy, weights, loss)
    values, multipliers, _ = program.solve()
    return certified(program, goal, program.shortened(values), multipliers)


def class_program(
    graph: DatasetGraph, privacy: Privacy, weights: tuple[Fraction, ...], loss: Any = None
) -> tuple[ClassProgram, Goal]:
    """Write the program of a graph, divided by its symmetry, and the goal as certificates state it."""
    nodes = graph.number_of_nodes
    losses = None if loss is None else table(loss, "loss", rows=nodes, columns=nodes)
    classes = pair_classes(group_of(graph, weights, losses))
    if classes.number > LARGEST_PROGRAM:
        raise BadInput("graph", "has too little symmetry for its size to be solved whole", "choose a smaller graph")
    start = classes.representatives.tolist()
    if losses is None:
        here = tuple(tuple(map(Fraction, graph.distances_from(node).tolist())) for node in start)
        if any(UNREACHABLE in row for row in here):
            raise BadInput("graph", "must be connected, or distances are infinite", "design for every component alone")
        goal = Goal(name="mean graph distance", loss=((),) * nodes, loss_name="graph-distance", weights=weights)
    else:
        here = tuple(losses[node] for node in start)
        goal = Goal(name="mean loss", loss=losses, weights=weights)
    program = ClassProgram.of(graph, classes, privacy, here, weights)
    if len(program.pairs.first) > LARGEST_PROGRAM:
        rule = f"makes a program of {len(program.pairs.first)} privacy constraints, more than {LARGEST_PROGRAM}"
        raise BadInput("graph", rule, "choose a smaller or more symmetric graph")
    return program, goal


def certified(
    program: ClassProgram, goal: Goal, values: Sequence[Fraction], multipliers: Sequence[Fraction]
) -> Mechanism:
    """Write down a private solution of a program, with the bound that its multipliers prove."""
    value = program.value(values)
    bound = program.bound(multipliers)
    if bound != value:
        changes = (int(program.triples.sum()) + 1) * (2 + program.privacy.ratio)
        places = _SPARE_DIGITS + len(str(ceil(changes / value if value else changes)))
        rounded = [round(multiplier, places) for multiplier in multipliers]
        # Without multipliers the bound is weak but never absurd, should the solver have ended far from an optimum.
        multipliers = max((rounded, [Fraction(0)] * len(rounded)), key=program.bound)
        bound = program.bound(multipliers)
    mechanism = Mechanism(
        privacy=program.privacy,
        inputs=program.graph.nodes,
        outputs=tuple(program.graph.nodes),
        rows=program.rows(values),
        row_of=np.arange(program.graph.number_of_nodes),
        graph=program.graph,
        objective=Objective(goal.name, value, bound),
    )
    stated = sum(count for count, x in zip(program.triples.tolist(), multipliers, strict=True) if x > 0)
    if stated > LARGEST_CERTIFICATE:
        return mechanism
    certificate = {
        "kind": "dual",
        **goal.to_document(goal.weights or ()),
        "multipliers": program.multipliers_document(multipliers),
    }
    return sealed(replace(mechanism, certificate=certificate))


def equal_shares(graph: DatasetGraph) -> tuple[Fraction, ...]:
    """Return the same weight for every node, with sum 1; refuse graphs that are too large before they cost memory."""
    nodes = graph.number_of_nodes
    if nodes > LARGEST_SYMMETRIC:
        raise BadInput("graph", f"has more than {LARGEST_SYMMETRIC} nodes", "choose a smaller graph")
    return (Fraction(1, nodes),) * nodes


def group_of(graph: DatasetGraph, weights: Sequence[Fraction], losses: Table | None = None) -> Symmetry:
    """Find automorphisms that keep weights and losses; none but the identity where igraph is needed and missing."""
    nodes = graph.number_of_nodes
    distinct = {weight: colour for colour, weight in enumerate(sorted(set(weights)))}
    colours = [distinct[weight] for weight in weights] if len(distinct) > 1 else None
    try:
        group = symmetry(graph, colours=colours)
    except BadInput as error:
        if error.field != "igraph":
            raise
        return Symmetry(np.zeros((0, nodes), np.int64), np.arange(nodes))
    if losses is None:
        return group
    array = np.array(losses, dtype=object)
    kept = [row for row in group.generators if (array[np.ix_(row, row)] == array).all()]
    return Symmetry.generated(np.array(kept, dtype=np.int64).reshape(len(kept), nodes))
