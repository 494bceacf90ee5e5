"""Explicit graphs: a list of edges held as compressed rows."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._exact import checked, so_many
from ..errors import BadInput
from ._protocol import MOST_LISTED, UNREACHABLE, Chunk, DatasetGraph, Indices, Mask, NodeNames, blocks, json_node

# Compress long runs of nodes v that have no neighbours except v − 1 and v + 1, so that a search passes them in one
# step.
#
# Such a run can be entered at its two ends only. So a search only needs its length. A walk that leaves the node before
# one end at level l arrives at the node behind the other end at level l + length + 1, unless that node was reached
# before. Afterwards the distance of each node of the run follows from the nearer end.

LONG = 64
"""Nodes that a run has at least: in shorter ones a step for each node takes no longer."""

_FAR = np.iinfo(np.int64).max // 4


@dataclass(slots=True, eq=False)
class Shortcuts:
    """Runs from `first` to `last`, and who arrives behind them when.

    `gates` says of the nodes beside a run where one arrives, and after how many steps; `is_gate` marks them, and is
    empty where there is no run.
    """

    first: Indices
    last: Indices
    is_gate: Mask
    gates: dict[int, list[tuple[int, int]]]
    due: int = -1
    _levels: list[int] = field(default_factory=list)
    _arriving: dict[int, list[int]] = field(default_factory=dict)

    def leave(self, nodes: Iterable[int], level: int) -> None:
        """Go into the runs beside these nodes, which were reached at this level; `due` is when someone next arrives."""
        for node in nodes:
            for there, steps in self.gates.get(node, ()):
                arrival = level + steps
                if arrival not in self._arriving:
                    heapq.heappush(self._levels, arrival)
                self._arriving.setdefault(arrival, []).append(there)
        self.due = self._levels[0] if self._levels else -1

    def arrive(self) -> list[int]:
        """Return who arrives at the level that is due, and forget them."""
        result = self._arriving.pop(heapq.heappop(self._levels))
        self.due = self._levels[0] if self._levels else -1
        return result

    def fill(self, distances: Indices) -> None:
        """Write down the distances of the runs' own nodes."""
        if not len(self.first):
            return
        left, right = distances[self.first - 1], distances[self.last + 1]
        ends = [np.where(side == UNREACHABLE, _FAR, side) for side in (left, right)]
        lengths = self.last - self.first + 1
        nodes = np.arange(lengths.sum()) + np.repeat(self.first - (lengths.cumsum() - lengths), lengths)
        nearer = np.minimum(
            nodes + np.repeat(ends[0] - self.first + 1, lengths), np.repeat(ends[1] + self.last + 1, lengths) - nodes
        )
        nearer[nearer >= _FAR // 2] = UNREACHABLE
        distances[nodes] = nearer


def shortcuts(indptr: Indices, indices: Indices, unseen: Mask) -> Shortcuts:
    """Return the long runs of unseen nodes; none where fewer than half of all nodes have two neighbours.

    Parameters
    ----------
    indptr, indices : int64 arrays
        Compressed rows.
    unseen : bool array
        Nodes that the search does not start from.
    """
    none = np.zeros(0, np.int64)
    nodes = np.flatnonzero(unseen & (np.diff(indptr) == 2))
    if 2 * len(nodes) < len(unseen) or len(nodes) < LONG:
        return Shortcuts(none, none, np.zeros(0, np.bool_), {})
    one, other = indices[indptr[nodes]], indices[indptr[nodes] + 1]
    nodes = nodes[(np.minimum(one, other) == nodes - 1) & (np.maximum(one, other) == nodes + 1)]
    starts = np.flatnonzero(np.diff(nodes, prepend=-2) != 1)
    lengths = np.diff(starts, append=len(nodes))
    long = lengths >= LONG
    first, last = nodes[starts[long]], nodes[starts[long]] + lengths[long] - 1
    is_gate = np.zeros(len(unseen) if len(first) else 0, np.bool_)
    is_gate[first - 1] = is_gate[last + 1] = True
    gates: dict[int, list[tuple[int, int]]] = {}
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        gates.setdefault(start - 1, []).append((end + 1, end - start + 2))
        gates.setdefault(end + 1, []).append((start - 1, end - start + 2))
    return Shortcuts(first, last, is_gate, gates)


# Breadth-first search from many nodes at once, and connected components, over compressed sparse rows.

THIN = 48
"""A frontier of fewer nodes is walked node by node: below this NumPy's cost per call is more than the work."""

_THIN_EDGES = 20 * THIN


def breadth_first(indptr: Indices, indices: Indices, sources: Indices) -> Indices:
    """Return every node's distance to the nearest source, UNREACHABLE if no path exists.

    Level by level: a wide frontier as array operations, a thin one in a plain loop, and long runs of nodes in a row in
    one step, so that neither a graph of few levels nor a path of a million nodes is slow.

    Parameters
    ----------
    indptr, indices : int64 arrays
        Compressed rows.
    sources : int64 array
        Where distances are 0; may be empty.
    """
    distances = np.full(len(indptr) - 1, UNREACHABLE, np.int64)
    distances[sources] = 0
    unseen = distances < 0
    frontier = _ascending(sources)
    runs = shortcuts(indptr, indices, unseen)
    for first, last in zip(runs.first.tolist(), runs.last.tolist(), strict=True):
        unseen[first : last + 1] = False
    runs.leave(frontier[runs.is_gate[frontier]].tolist() if runs.gates else (), 0)
    level = 0
    while len(frontier) or runs.due >= 0:
        level = level + 1 if len(frontier) else runs.due
        if len(frontier) < THIN and (indptr[frontier + 1] - indptr[frontier]).sum() < _THIN_EDGES:
            frontier, level = _walk(indptr, indices, unseen, distances, frontier, level, runs)
            continue
        frontier = _advance(indptr, indices, unseen, frontier)
        if runs.due == level:
            arrived = np.unique(np.array(runs.arrive(), np.int64))
            arrived = arrived[unseen[arrived]]
            unseen[arrived] = False
            frontier = np.union1d(frontier, arrived)
        distances[frontier] = level
        if runs.gates:
            runs.leave(frontier[runs.is_gate[frontier]].tolist(), level)
    runs.fill(distances)
    return distances


def _advance(indptr: Indices, indices: Indices, unseen: Mask, frontier: Indices) -> Indices:
    """Return the unseen neighbours of a frontier in ascending order, and mark them seen."""
    starts = indptr[frontier]
    counts = indptr[frontier + 1] - starts
    # Where the rows of the frontier lie in `indices`, row after row.
    ends = counts.cumsum()
    places = np.arange(counts.sum())
    places += np.repeat(starts + counts - ends, counts)
    reached: Indices = indices.take(places)
    reached = reached.take(unseen.take(reached).nonzero()[0])
    if len(reached) * 8 > len(unseen):  # marking and listing is then cheaper than sorting
        before = unseen.copy()
        unseen[reached] = False
        return np.flatnonzero(before & ~unseen)
    unseen[reached] = False
    return _ascending(reached)


def _ascending(nodes: Indices) -> Indices:
    """Return nodes in ascending order, each once: on grids a frontier leads to the next in this order."""
    if (nodes[1:] > nodes[:-1]).all():
        return nodes
    nodes = np.sort(nodes)  # np.unique would hash: five times slower on frontiers of some thousand nodes
    return nodes[np.append(True, nodes[1:] > nodes[:-1]).nonzero()[0]]


def _walk(
    indptr: Indices,
    indices: Indices,
    unseen: Mask,
    distances: Indices,
    frontier: Indices,
    level: int,
    runs: Shortcuts,
) -> tuple[Indices, int]:
    """Search node by node while the frontier stays thin; return the first one that is not, and its level."""
    start, row, fresh, distance = indptr.data, indices.data, unseen.view(np.uint8).data, distances.data
    current, edges, gates = frontier.tolist(), 0, runs.gates
    while (current or runs.due == level) and len(current) < THIN and edges < _THIN_EDGES:
        following, edges = [], 0
        for node in current:
            first, last = start[node], start[node + 1]
            for neighbour in row[first:last]:
                if fresh[neighbour]:
                    fresh[neighbour] = 0
                    distance[neighbour] = level
                    following.append(neighbour)
                    edges += start[neighbour + 1] - start[neighbour]
        if gates:
            for node in runs.arrive() if runs.due == level else ():
                if fresh[node]:
                    fresh[node] = 0
                    distance[node] = level
                    following.append(node)
                    edges += start[node + 1] - start[node]
            runs.leave(following, level)
        current = following
        level += 1
    return np.array(current, np.int64), level - 1


def connected_components(count: int, tails: Indices, heads: Indices) -> Indices:
    """Number the connected components, in the order of their smallest nodes.

    Every root takes its smallest neighbouring root as parent. After two rounds a root has either taken a parent or
    become one, so the roots of a component at least halve and O(log count) rounds suffice.

    Parameters
    ----------
    count : int
        How many nodes there are.
    tails, heads : int64 arrays
        The edges.
    """
    parents = np.arange(count)
    while len(tails):
        tails, heads = parents[tails], parents[heads]
        apart = tails != heads
        tails, heads = tails[apart], heads[apart]
        np.minimum.at(parents, np.maximum(tails, heads), np.minimum(tails, heads))
        while not np.array_equal(grandparents := parents[parents], parents):
            parents = grandparents
    _, numbers = np.unique(parents, return_inverse=True)
    return numbers.astype(np.int64)


_ROWS = 1 << 13
"""Rows to a chunk of edges."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph(DatasetGraph):
    """An undirected graph in compressed rows; made by `graph_from_edges` and its siblings, or by `listed`.

    Parameters
    ----------
    names : Nodes
        Names of the nodes, in index order.
    indptr : int64 array, shape (number_of_nodes + 1,)
        The neighbours of node i are `indices[indptr[i] : indptr[i + 1]]`.
    indices : int64 array, shape (2 · number_of_edges,)
        Neighbours row after row, ascending within a row; every edge stands in both its rows.
    """

    names: NodeNames
    indptr: Indices
    indices: Indices

    def __repr__(self) -> str:
        """Show the size only."""
        return f"<Graph of {so_many(self.number_of_nodes, 'node')} and {so_many(self.number_of_edges, 'edge')}>"

    @property
    def nodes(self) -> NodeNames:
        """The names of the nodes."""
        return self.names

    @property
    def number_of_edges(self) -> int:
        """How many edges there are."""
        return len(self.indices) // 2

    def edges(self) -> Iterator[Chunk]:
        """Yield every edge once, first end below second end, in chunks of whole rows."""
        for start, stop in blocks(self.number_of_nodes, _ROWS):
            tails = np.repeat(np.arange(start, stop), np.diff(self.indptr[start : stop + 1]))
            heads = self.indices[self.indptr[start] : self.indptr[stop]]
            once = np.flatnonzero(tails < heads)  # twice as fast as a mask
            yield tails[once], heads[once]

    def neighbours(self, index: int) -> Indices:
        """Return the neighbours of a node in ascending order."""
        index = range(self.number_of_nodes)[index]
        return self.indices[self.indptr[index] : self.indptr[index + 1]]

    def distance(self, first: int, second: int) -> int:
        """Return the number of edges on a shortest path, or UNREACHABLE."""
        return int(self.distances_from(first)[second])

    def distances_from(self, index: int) -> Indices:
        """Return the distance of every node from one node, UNREACHABLE where there is no path."""
        return breadth_first(self.indptr, self.indices, np.array([range(self.number_of_nodes)[index]]))

    def adjacent(self, first: Indices, second: Indices) -> Mask:
        """Tell pair by pair whether two nodes are neighbours, by bisection of all rows at once."""
        low, high = self.indptr[first], self.indptr[first + 1]
        stop = high
        padded = np.append(self.indices, -1)  # a row may end where the array ends
        while (searching := low < high).any():
            middle = (low + high) // 2
            before = searching & (padded[middle] < second)
            low = np.where(before, middle + 1, low)
            high = np.where(searching & ~before, middle, high)
        mask: Mask = (low < stop) & (padded[low] == second)
        return mask

    def to_document(self) -> dict[str, Any]:
        """Describe the graph as {"nodes": […], "edges": [[a, b], …]}."""
        names = [json_node(node) for node in self.nodes]
        pairs = (pair for tails, heads in self.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True))
        return {"nodes": names, "edges": [[names[tail], names[head]] for tail, head in pairs]}


@checked
def listed(graph: DatasetGraph) -> Graph:
    """List a graph as compressed rows; an explicit graph is returned unchanged.

    Raises
    ------
    BadInput
        When it has too many nodes or edges to be listed.
    """
    if isinstance(graph, Graph):
        return graph
    if max(graph.number_of_nodes, graph.number_of_edges) > MOST_LISTED:
        raise BadInput("graph", f"has more than {MOST_LISTED} nodes or edges to list", "choose a smaller graph")
    none = np.zeros(0, np.int64)
    chunks = [(none, none), *graph.edges()]
    return compress(
        graph.nodes, np.concatenate([tails for tails, _ in chunks]), np.concatenate([heads for _, heads in chunks])
    )


def same_graph(first: DatasetGraph | None, second: DatasetGraph | None) -> bool:
    """Tell whether two graphs have the same nodes in the same order, and the same edges, however they are held."""
    if first is second or first is None or second is None:
        return first is second
    if first == second:
        return True
    sizes = [(graph.number_of_nodes, graph.number_of_edges) for graph in (first, second)]
    if sizes[0] != sizes[1] or max(sizes[0]) > MOST_LISTED or tuple(first.nodes) != tuple(second.nodes):
        return False
    one, other = listed(first), listed(second)
    return np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices)


def compress(nodes: NodeNames, tails: Indices, heads: Indices) -> Graph:
    """Build a graph from the ends of its edges; loops are ignored, double edges merged.

    Parameters
    ----------
    nodes : Nodes
        Names, in index order.
    tails, heads : int64 arrays of equal length
        Indices of the two ends of each edge, in any order.
    """
    count = len(nodes)
    apart = tails != heads
    tails, heads = tails[apart], heads[apart]
    # One number per direction of an edge: sorting the numbers sorts rows and columns together, and fast.
    keys = np.concatenate((tails * count + heads, heads * count + tails))
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    rows = keys // count
    indices = keys - rows * count
    indptr = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=indptr[1:])
    for array in (indptr, indices):
        array.setflags(write=False)
    return Graph(nodes, indptr, indices)
