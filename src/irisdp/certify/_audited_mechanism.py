"""One mechanism under examination, in the form every check needs: rows as numbers, inputs placed on the graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._exact import Numbers, convert, flint_rational
from ..errors import BadInput
from ..graphs import Complete, DatasetGraph, NodeNames, NumberedNodes, Path
from ..mechanisms import MechanismDocument
from ..privacy import Privacy
from ._matrix_files import Auditable, as_document

# Reduce edges to distinct pairs of rows, which decide the cost of an audit.
#
# A graph may have 10^7 edges and a mechanism 10^3 different rows. Closeness depends on rows only, so every pair of rows
# that meets over some edge is checked once, and edges within one row not at all.

_BUFFER = 1 << 21
"""Edges gathered before equal pairs are merged: sorting a few millions at once is cheaper than often."""

MOST_EDGES = 1 << 30
"""Edges up to which a graph is streamed over: about a minute."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RowPairs:
    """The unordered pairs of different rows that some edge joins.

    Parameters
    ----------
    first, second : arrays
        Row numbers of every pair, first < second.
    tails, heads : arrays
        One edge for every pair: node indices, the tail using row `first`.
    counts : array
        How many edges share the pair.
    """

    first: Integers
    second: Integers
    tails: Integers
    heads: Integers
    counts: Integers

    def __len__(self) -> int:
        """Return the number of distinct pairs."""
        return len(self.first)


def distinct_row_pairs(graph: DatasetGraph, row_of: Integers) -> RowPairs:
    """Stream over a graph's edges and keep one edge for every distinct pair of rows.

    Parameters
    ----------
    graph : DatasetGraph
        Its edges are read chunk by chunk and never held all at once.
    row_of : array
        The row of every node, in the graph's order.
    """
    rows = int(row_of.max(initial=0)) + 1
    if isinstance(graph, Complete):
        return _all_pairs(row_of)
    if graph.number_of_edges > MOST_EDGES:
        rule = f"has {graph.number_of_edges:,} edges, and every one is looked at up to {MOST_EDGES:,}"
        raise BadInput("graph", rule, "audit a smaller member of the family")
    none = np.zeros(0, np.int64)
    pairs = [(none, none, none, none)]
    waiting = 0
    for chunk_tails, chunk_heads in graph.edges():
        apart = row_of[chunk_tails] != row_of[chunk_heads]
        tails, heads = chunk_tails[apart], chunk_heads[apart]
        here, there = row_of[tails], row_of[heads]
        swap = here > there
        codes = np.where(swap, there * rows + here, here * rows + there)
        pairs.append((codes, np.where(swap, heads, tails), np.where(swap, tails, heads), np.ones_like(codes)))
        waiting += len(codes)
        if waiting > _BUFFER:
            pairs, waiting = [_merge(pairs)], 0
    codes, tails, heads, counts = _merge(pairs)
    return RowPairs(*np.divmod(codes, rows), tails, heads, counts)


def _all_pairs(row_of: Integers) -> RowPairs:
    """Return the pairs of a complete graph without looking at its edges: every two rows meet, at their first nodes."""
    rows, place, uses = np.unique(row_of, return_index=True, return_counts=True)
    if len(rows) * (len(rows) - 1) // 2 > MOST_EDGES:
        raise BadInput("graph", f"has more than {MOST_EDGES:,} pairs of different rows", "audit a smaller mechanism")
    first, second = np.triu_indices(len(rows), 1)
    return RowPairs(rows[first], rows[second], place[first], place[second], uses[first] * uses[second])


def _merge(found: list[tuple[Integers, Integers, Integers, Integers]]) -> tuple[Integers, Integers, Integers, Integers]:
    codes, tails, heads, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    distinct, place, number = np.unique(codes, return_index=True, return_inverse=True)
    totals = np.bincount(number, weights=counts, minlength=len(distinct)).astype(np.int64)
    return distinct, tails[place], heads[place], totals


LARGEST_CERTIFIED_COUNT = 10**6
"""Largest n of a formula over 0..n whose certificate is checked; the stand-alone verifier has the same limit."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditedMechanism:
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
    def inputs(self) -> NodeNames:
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


def audited_mechanism(
    document: MechanismDocument, *, graph: DatasetGraph | None = None, privacy: Privacy | None = None
) -> AuditedMechanism:
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
    return AuditedMechanism(
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
    number = np.array([graph.nodes.at(index) for index in range(nodes)], dtype=np.int64)
    return graph.number_of_edges == nodes - 1 and all(
        (np.abs(number[tails] - number[heads]) == 1).all() for tails, heads in graph.edges()
    )


def bare_subject(given: Auditable, graph: DatasetGraph | None = None) -> AuditedMechanism:
    """Return the subject of an audit, whatever the mechanism states; a factored one is expanded."""
    document = as_document(given, graph)
    if document.factored is not None:
        document = as_document(document.factored.expand())
    return audited_mechanism(document, graph=graph, privacy=Privacy.from_ratio(1))


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
