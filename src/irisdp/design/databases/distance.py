"""The best mechanism for answering with a dataset near the true one: LP[1] of [Alda2017]."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ...errors import BadInput
from ...exact import checked, numbers, table
from ...graphs import UNREACHABLE, DatasetGraph, Path
from ...mechanisms import FactoredMechanism, Mechanism
from ...privacy import Privacy
from ..programs.goals import Goal
from ..programs.optimal_mechanism import check_size, optimal_mechanism
from .by_orbits import distance_by_orbits, equal_shares
from .on_path import distance_on_path

__all__ = ["distance"]


@checked
def distance(
    graph: DatasetGraph, privacy: Privacy, *, weights: Sequence[Any] | None = None, loss: Any = None
) -> Mechanism | FactoredMechanism:
    """Design the mechanism of smallest mean distance between the true node and the answer.

    Parameters
    ----------
    graph : DatasetGraph
        Its nodes are inputs and outputs. Connected, unless `loss` is given.
    privacy : Privacy
        Any ratio and δ, or several pairs.
    weights : sequence, optional
        How likely each input is, in the order of the nodes; divided by their sum. All the same when left out.
    loss : table, optional
        In row i and column v the loss of answering v where i is true; the graph distance when left out.

    Returns
    -------
    Mechanism or FactoredMechanism
        With its exact mean loss, an exact lower bound and the certificate of it. The program is divided by the
        automorphisms of the graph, so that symmetric graphs of thousands of nodes are solved. Where no family has them
        in closed form, igraph (extra `graphs`) finds them. A path is solved by universality (`on_path`). The
        certificate is left out where it would have more than 100,000 multipliers. Under several pairs of privacy the
        program is solved whole, whatever the symmetry.

    Raises
    ------
    BadInput
        When the graph is not connected, or the program too large.

    Examples
    --------
    >>> from irisdp.graphs import Hamming
    >>> distance(Hamming(3, 2), Privacy.from_ratio(3)).objective.value
    Fraction(3, 4)

    References
    ----------
    [Alda2017], LP[1]; docs/theory.md#databases; proofs/weak-duality.md; proofs/exponential-symmetry.md.
    """
    if weights is None:
        shares = equal_shares(graph)
    else:
        given = numbers(weights, "weights", graph.number_of_nodes)
        total = sum(given, start=Fraction(0))
        if min(given) < 0 or total == 0:
            raise BadInput("weights", "must not be negative, nor all 0", "give every input a weight from 0 up")
        shares = tuple(weight / total for weight in given)
    if not privacy.single:
        return _by_program(graph, privacy, shares, loss)
    if isinstance(graph, Path) and privacy.delta == 0 and loss is None:
        return distance_on_path(graph, privacy, shares)
    return distance_by_orbits(graph, privacy, shares, loss)


def _by_program(graph: DatasetGraph, privacy: Privacy, shares: tuple[Fraction, ...], loss: Any) -> Mechanism:
    """Solve the program over all mechanisms, one variable per input and answer."""
    nodes = graph.number_of_nodes
    check_size("graph", graph.number_of_edges, nodes, privacy)
    if loss is not None:
        goal = Goal(name="mean loss", loss=table(loss, "loss", rows=nodes, columns=nodes), weights=shares)
    else:
        far = tuple(tuple(map(Fraction, graph.distances_from(node).tolist())) for node in range(nodes))
        if any(UNREACHABLE in row for row in far):
            raise BadInput("graph", "must be connected, or distances are infinite", "design for every component alone")
        goal = Goal(name="mean graph distance", loss=far, loss_name="graph-distance", weights=shares)
    return optimal_mechanism(goal, graph, privacy, outputs=tuple(graph.nodes))
