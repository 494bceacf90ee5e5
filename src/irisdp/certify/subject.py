"""One mechanism under examination, in the form every check needs: rows as numbers, inputs placed on the graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..graphs import DatasetGraph, Path
from ..graphs.names import Nodes, NumberedNodes
from ..mechanisms import MechanismDocument
from ..privacy import Privacy
from .arithmetic import Numbers, convert, flint_rational
from .matrix_files import Auditable, as_document
from .pairs import RowPairs, distinct_row_pairs

__all__ = ["Subject", "bare_subject", "is_the_path", "same_promise", "subject_of"]

LARGEST_CERTIFIED_COUNT = 10**6
"""Largest n of a formula over 0..n whose certificate is checked; the stand-alone verifier has the same limit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """A mechanism, its stated privacy, and the graph on which it states it.

    Parameters
    ----------
    places : array
        The graph's index of every input; a permutation, since the graph's nodes are exactly the inputs.
    rows : list
        Distinct rows in python-flint; empty for a factored mechanism.
    """

    document: MechanismDocument
    privacy: Privacy
    graph: DatasetGraph
    places: NDArray[np.int64]
    rows: list[Numbers]

    @property
    def inputs(self) -> Nodes:
        """Names of the inputs."""
        return self.document.inputs

    @property
    def outputs(self) -> Sequence[Hashable]:
        """Names of the outputs."""
        return self.document.outputs

    def row(self, i: int) -> Numbers:
        """Return the row of an input; factored mechanisms have none to compare with a theorem's."""
        if not self.rows:
            raise BadInput("factors", "have no rows that this theorem speaks of", "write the matrix")
        row: Numbers = self.rows[int(self.document.row_of[i])]
        return row

    def row_pairs(self) -> RowPairs:
        """Return the pairs of different rows that meet over some edge."""
        at_place = np.empty(len(self.places), dtype=np.int64)
        at_place[self.places] = self.document.row_of
        return distinct_row_pairs(self.graph, at_place)


def subject_of(
    document: MechanismDocument, *, graph: DatasetGraph | None = None, privacy: Privacy | None = None
) -> Subject:
    """Convert once what is looked at; a graph and a privacy that are given come before its own.

    Raises
    ------
    BadInput
        When one is missing, or the graph's nodes are not exactly the inputs.
    """
    privacy = privacy if privacy is not None else document.privacy
    graph = graph if graph is not None else document.graph
    if privacy is None and graph is None and document.factored is None:
        raise BadInput("graph", "is missing, and so is the privacy", "give both: graph=… and privacy=…")
    if privacy is None:
        raise BadInput("privacy", "is missing", "state it in the file, or with privacy=…")
    if document.factored is not None:
        graph = Path(document.factored.n + 1) if graph is None else graph
        if not is_the_path(graph, len(document.inputs)):
            raise BadInput("graph", "of a factored mechanism must be the path 0..n", "leave it out, or expand the file")
    if graph is None:
        raise BadInput("graph", "is missing", "give the neighbouring inputs, in the file or with graph=…")
    return Subject(
        document=document,
        privacy=privacy,
        graph=graph,
        places=_places(document, graph),
        rows=convert(document.rows, flint_rational),
    )


def same_promise(one: Privacy, other: Privacy) -> bool:
    """Tell whether two privacies are the same pairs (r, δ), whatever ε is charged for them."""
    first, second = ([(pair.ratio, pair.delta) for pair in each.pairs] for each in (one, other))
    return first == second


def is_the_path(graph: DatasetGraph, nodes: int) -> bool:
    """Tell whether a graph is the path 0, 1, …, nodes − 1, under any description."""
    if graph.number_of_nodes != nodes:
        return False
    if isinstance(graph, Path):  # its nodes are named so
        return True
    if any(graph.nodes.position(k) is None for k in range(nodes)):
        return False
    number = np.array([graph.nodes.at(place) for place in range(nodes)], dtype=np.int64)
    return graph.number_of_edges == nodes - 1 and all(
        (np.abs(number[tails] - number[heads]) == 1).all() for tails, heads in graph.edges()
    )


def bare_subject(given: Auditable, graph: DatasetGraph | None = None) -> Subject:
    """Return the subject of an audit, whatever the mechanism states; a factored one is expanded."""
    document = as_document(given, graph)
    if document.factored is not None:
        document = as_document(document.factored.expand())
    return subject_of(document, graph=graph, privacy=Privacy.from_ratio(1))


def _places(document: MechanismDocument, graph: DatasetGraph) -> NDArray[np.int64]:
    """Return the graph's index of every input; nothing for a formula over more counts than a certificate speaks of.

    Raises
    ------
    BadInput
        When the graph's nodes are not exactly the inputs.
    """
    inputs, nodes = document.inputs, graph.nodes
    if document.factored is not None and len(inputs) > LARGEST_CERTIFIED_COUNT + 1:
        if document.certificate is not None:
            rule = f"is checked for counts up to {LARGEST_CERTIFIED_COUNT:,}, no further"
            raise BadInput("certificate", rule, "leave it out: privacy is judged without")
        return np.zeros(0, dtype=np.int64)
    if len(inputs) == len(nodes):
        if isinstance(inputs, NumberedNodes) and isinstance(nodes, NumberedNodes) and inputs.numbers == nodes.numbers:
            return np.arange(len(nodes))
        if inputs is nodes or all(a == b and type(a) is type(b) for a, b in zip(inputs, nodes, strict=True)):
            return np.arange(len(nodes))
        positions = [nodes.position(node) for node in inputs]
        places = np.array([place for place in positions if place is not None], dtype=np.int64)
        if len(np.unique(places)) == len(nodes):
            return places
    raise BadInput("graph", "must have exactly the mechanism's inputs as nodes", "name the same nodes in both")
