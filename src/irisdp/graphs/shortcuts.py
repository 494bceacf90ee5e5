"""Long runs of nodes that a search passes in one step: nodes v with no neighbours but v − 1 and v + 1.

Such a run can be entered at its two ends only. So a search only needs its length. A walk that leaves the node before
one end at level l arrives at the node behind the other end at level l + length + 1, unless that node was reached
before. Afterwards a node of the run is as far as the nearer way in says.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .protocol import UNREACHABLE, Indices, Mask

__all__ = ["Shortcuts", "shortcuts"]

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
        found = self._arriving.pop(heapq.heappop(self._levels))
        self.due = self._levels[0] if self._levels else -1
        return found

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
