"""The exponential mechanism at the largest exponent that is private on a graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint

from ...errors import BadInput
from ...exact import Table, ball, checked, working_precision
from ...exact.short import is_short
from ...graphs import UNREACHABLE, DatasetGraph
from ...mechanisms import Mechanism, Objective
from ...mechanisms.exponential import Exponential
from ...privacy import Privacy
from ..programs.repair import shortened
from .by_orbits import certified, class_program, equal_shares, group_of
from .safe_rate import safe_rate

__all__ = ["exponential", "safe_exponential"]

_MOST_ENTRIES = 1 << 22
"""Most entries of a table of distances."""

_BITS = 256


@checked
def exponential(
    graph: DatasetGraph,
    privacy: Privacy,
    *,
    scores: Any = None,
    outputs: Sequence[Hashable] | None = None,
    prior: Sequence[Any] | None = None,
) -> Mechanism:
    """Design the exponential mechanism at the largest safe exponent, in short numbers.

    Parameters
    ----------
    graph : DatasetGraph
        The inputs.
    privacy : Privacy
        The ratio; the mechanism does not use δ and satisfies δ = 0.
    scores : table, optional
        One row per node, one column per answer, the higher the better. Left out, answers are nodes and the score is
        minus the graph distance.
    outputs : sequence, optional
        Names of the answers when scores are given; 0..q−1 when left out.
    prior : sequence, optional
        Positive weights of the answers.

    Returns
    -------
    Mechanism
        Exactly private, and within about 2^-120 of the exponential mechanism where that has long numbers. Without
        `scores` its objective is the mean graph distance. On a vertex-transitive graph all of ε is spent in the
        exponent, and the objective has a lower bound and its certificate. The two agree where Theorem 1 of [Alda2017]
        holds (`irisdp.graphs.symmetry.regular_layers`).

    Raises
    ------
    BadInput
        When the graph is not connected and no scores are given, or the table is too large.

    Examples
    --------
    >>> from irisdp.graphs import Hamming
    >>> exponential(Hamming(3, 2), Privacy.from_ratio(3)).objective.value
    Fraction(3, 4)

    References
    ----------
    [Alda2017], Definition 2 and Theorem 1; docs/theory.md#databases; proofs/exponential-rate.md.
    """
    if scores is None and outputs is not None:
        raise BadInput("outputs", "are the nodes where no scores are given", "leave them out, or give scores")
    privacy = privacy.pure
    uniform = equal_shares(graph)
    if scores is None and prior is None and group_of(graph, uniform).vertex_transitive:
        program, goal = class_program(graph, privacy, uniform)
        weights = [privacy.ratio**-loss for loss in map(int, program.loss)]
        total = sum(size * weight for size, weight in zip(program.classes.sizes.tolist(), weights, strict=True))
        _, multipliers, _ = program.solve()
        return certified(program, goal, program.shortened([weight / total for weight in weights]), multipliers)
    table = _scores(graph, scores)
    lazy = safe_exponential(table, graph, privacy, outputs=outputs if scores is not None else graph.nodes, prior=prior)
    mechanism = Mechanism.from_matrix(
        shortened(_rows(lazy), graph, privacy), privacy=privacy, graph=graph, outputs=lazy.outputs
    )
    if scores is not None:
        return mechanism
    matrix = mechanism.matrix()
    value = sum(
        (-score * p for row, line in zip(table, matrix, strict=True) for score, p in zip(row, line, strict=True))
    )
    return replace(mechanism, objective=Objective("mean graph distance", Fraction(value) / len(uniform)))


@checked
def safe_exponential(
    scores: Any,
    graph: DatasetGraph,
    privacy: Privacy,
    *,
    outputs: Sequence[Hashable] | None = None,
    prior: Sequence[Any] | None = None,
) -> Exponential:
    """Return the exponential mechanism at the largest safe exponent, with probabilities computed when asked for.

    Parameters
    ----------
    scores : table
        One row per node of the graph.
    graph, privacy, outputs, prior
        As in `exponential`.

    Returns
    -------
    Exponential
        Private for this ratio, in exact arithmetic; nothing underflows. its `draw_positions` draws from
        it.

    Raises
    ------
    BadInput
        For scores that are not one row of numbers for every node.
    """
    lazy = Exponential.of(scores, 1, inputs=graph.nodes, outputs=outputs, prior=prior)
    if len(lazy.levels) != graph.number_of_nodes:
        raise BadInput("scores", "must have one row for every node", f"give {graph.number_of_nodes} rows")
    return replace(lazy, rate=safe_rate(lazy.levels, lazy.prior, graph, privacy).rate)


def _scores(graph: DatasetGraph, scores: Any) -> Any:
    if scores is not None:
        return scores
    nodes = graph.number_of_nodes
    if nodes * nodes > _MOST_ENTRIES:
        raise BadInput("graph", f"has {nodes} nodes, too many for a table of distances", "choose a smaller graph")
    distances = [graph.distances_from(node).tolist() for node in range(nodes)]
    if any(UNREACHABLE in row for row in distances):
        raise BadInput("graph", "must be connected, or distances are infinite", "design for every component alone")
    return [[-distance for distance in row] for row in distances]


def _rows(lazy: Exponential) -> Table:
    """Return exact rows where they are short, else rows that miss them by less than 2^-200."""
    longest = max(map(max, lazy.levels)) * max(lazy.rate.denominator.bit_length(), 1)
    if longest < 340:
        rows = tuple(lazy.row(position) for position in range(len(lazy.levels)))
        if is_short(rows):
            return rows
    # Every row has an answer at level 0, so that its sum is at least the lightest weight.
    levels, lightest = {level for line in lazy.levels for level in line}, min(lazy.prior)
    bits = _BITS + int(max(lazy.prior) / lightest).bit_length()
    with working_precision(bits + 64 + 4 * max(levels).bit_length()):
        scale, rate = flint.arb(2) ** bits, ball(lazy.rate)
        powers = {level: int((rate**level * scale).lower().floor().unique_fmpz()) for level in levels}
    weights = [int(weight / lightest * (1 << _BITS)) for weight in lazy.prior]
    rounded = []
    for line in lazy.levels:
        masses = [weight * powers[level] for weight, level in zip(weights, line, strict=True)]
        total = sum(masses)
        rounded.append(tuple(Fraction(mass, total) for mass in masses))
    return tuple(rounded)
