"""Breadth-first search from many nodes at once, and connected components, over compressed rows."""

from __future__ import annotations

import numpy as np

from .protocol import UNREACHABLE, Indices, Mask
from .shortcuts import Shortcuts, shortcuts

__all__ = ["breadth_first", "connected_components"]

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
