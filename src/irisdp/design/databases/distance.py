"""The best mechanism for answering with a dataset near the true one: LP[1] of the exponential-optimality paper."""

from __future__ import annotations

from fractions import Fraction

from ...errors import BadInput
from ...graphs import UNREACHABLE, DatasetGraph
from ...mechanisms import Mechanism
from ...privacy import Privacy
from ..programs.goals import Goal
from ..programs.tailored import insist_on_size, tailored

__all__ = ["distance"]


def distance(graph: DatasetGraph, privacy: Privacy) -> Mechanism:
    """Design the mechanism of smallest mean distance between the true node and the answer.

    Parameters
    ----------
    graph : DatasetGraph
        Connected. Its nodes are inputs and outputs; all weigh the same.
    privacy : Privacy
        Any ratio and δ.

    Returns
    -------
    Mechanism
        With its exact mean distance, an exact lower bound and the certificate of it.

    Raises
    ------
    BadInput
        When the graph is not connected, or too large.

    Examples
    --------
    >>> from irisdp.graphs import Hamming
    >>> distance(Hamming(3, 2), Privacy.from_ratio(3)).objective.value
    Fraction(3, 4)

    References
    ----------
    Exponential-optimality paper, LP[1]; theory §6; proofs/weak-duality.md.
    """
    nodes = graph.number_of_nodes
    insist_on_size("graph", graph.number_of_edges, nodes)
    table = [graph.distances_from(index).tolist() for index in range(nodes)]
    if any(UNREACHABLE in row for row in table):
        raise BadInput("graph", "must be connected, or distances are infinite", "design for every component by itself")
    goal = Goal(
        name="mean graph distance",
        loss=tuple(tuple(Fraction(x) for x in row) for row in table),
        loss_name="graph-distance",
        weights=(Fraction(1, nodes),) * nodes,
    )
    return tailored(goal, graph, privacy, outputs=tuple(graph.nodes))
