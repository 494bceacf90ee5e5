"""Histograms of a fixed total, with and without the names of their types: tables up to the order of their records.

Neighbours exchange one record: one type loses a record, another gains it. Between histograms the distance is half the
L1 norm of the difference. The same holds between sorted histograms (integer partitions), because there is always a
shortest step that stays sorted: take a record from the last part of a block of equal parts that is above its goal and
give it to the first part of a block that is below. The goal is sorted, so the rest of each block is no nearer to it,
and the two blocks cannot meet: parts b + 1 and b would have to become at most b and at least b + 1.
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BadInput
from ..exact import checked
from .families import LARGEST_FAMILY, Family, set_integer
from .names import ComputedNodes, Node, Nodes
from .protocol import Chunk, Indices, Mask, blocks

__all__ = ["Histograms", "SortedHistograms"]

_MOST_TYPES = 1000
_MOST_CELLS = 10**7
"""Largest total · types: beyond it the tables that number the histograms would not be small."""

_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class _Histograms(Family):
    """What both families share; a node is a tuple of `types` counts that sum to `total`.

    Parameters
    ----------
    total : int
        Records, at least 0.
    types : int
        Types a record may have, from 1 to 1000.
    """

    total: int
    types: int

    def __post_init__(self) -> None:
        set_integer(self, "total", at_least=0)
        set_integer(self, "types", at_least=1, at_most=_MOST_TYPES)
        if (self.total + 1) * self.types > _MOST_CELLS or self._count() > LARGEST_FAMILY:
            raise BadInput("total", "is too large with that many types", "choose fewer records or fewer types")

    @property
    def nodes(self) -> Nodes:
        """Tuples of counts."""
        return ComputedNodes(self._count(), self._name, self._position)

    def edges(self) -> Iterator[Chunk]:
        """Yield every edge once, block of nodes after block."""
        for start, stop in blocks(self.number_of_nodes, _BLOCK):
            index = np.arange(start, stop)
            for movers, moved in self._exchanges(self.counts(index)):
                heads = self.ranks(moved)
                upward = heads > index[movers]
                yield index[movers][upward], heads[upward]

    def neighbours(self, index: int) -> Indices:
        """Return the histograms one exchange away, in ascending order."""
        counts = self.counts(np.array([range(self.number_of_nodes)[index]]))
        return np.sort(self.ranks(np.concatenate([counts[:0], *(moved for _, moved in self._exchanges(counts))])))

    def distances(self, first: Indices, second: Indices) -> Indices:
        """Return half the L1 norm of the difference of the counts."""
        distances: Indices = np.abs(self.counts(first) - self.counts(second)).sum(axis=-1) // 2
        return distances

    @abstractmethod
    def counts(self, index: Indices) -> Indices:
        """Return the histograms at some indices, shape (len(index), types)."""

    @abstractmethod
    def ranks(self, counts: Indices) -> Indices:
        """Return the indices of histograms: the inverse of `counts`."""

    @abstractmethod
    def _count(self) -> int: ...

    @abstractmethod
    def _exchangers(self) -> tuple[range, range]:
        """Return the types that some histogram lets give a record, and those it lets take one."""

    @abstractmethod
    def _may_exchange(self, counts: Indices, giver: int, taker: int) -> Mask: ...

    def _exchanges(self, counts: Indices) -> Iterator[tuple[Indices, Indices]]:
        """Yield, for each pair of types, the rows that may exchange a record and what they become."""
        givers, takers = self._exchangers()
        for giver in givers:
            for taker in takers:
                if giver != taker:
                    movers = np.flatnonzero(self._may_exchange(counts, giver, taker))
                    moved = counts[movers]
                    moved[:, giver] -= 1
                    moved[:, taker] += 1
                    yield movers, moved

    def _name(self, index: int) -> Node:
        return tuple(self.counts(np.array([index]))[0].tolist())

    def _position(self, node: Any) -> int | None:
        if not isinstance(node, tuple) or len(node) != self.types or any(type(part) is not int for part in node):
            return None
        if min(node) < 0 or sum(node) != self.total or not self._is_name(node):
            return None
        return int(self.ranks(np.array([node]))[0])

    def _is_name(self, node: tuple[int, ...]) -> bool:
        return True


@checked
@dataclass(frozen=True, slots=True)
class Histograms(_Histograms):
    """Counts per type, in descending lexicographic order: (2, 0), (1, 1), (0, 2).

    Examples
    --------
    >>> graph = Histograms(4, 3)
    >>> graph.number_of_nodes, graph.distance(graph.index_of((4, 0, 0)), graph.index_of((1, 2, 1)))
    (15, 3)
    """

    @property
    def number_of_edges(self) -> int:
        """A pair of types and a histogram of the other total − 1 records for each edge."""
        return math.comb(self.types, 2) * math.comb(self.total + self.types - 2, self.types - 1) if self.total else 0

    @property
    def diameter(self) -> int:
        """Every record changes."""
        return self.total if self.types > 1 else 0

    def counts(self, index: Indices) -> Indices:
        """Return the histograms at some indices, shape (len(index), types)."""
        index = index.copy()
        counts = np.empty((len(index), self.types), np.int64)
        left = np.full(len(index), self.total)
        for place, before in enumerate(_simplices(self.total, self.types)):
            later = np.searchsorted(before, index, side="right") - 1
            counts[:, place] = left - later
            index -= before[later]
            left = later
        counts[:, -1] = left
        return counts

    def ranks(self, counts: Indices) -> Indices:
        """Return the indices of histograms, by the combinatorial number system on the sums of the later counts."""
        rank = np.zeros(len(counts), np.int64)
        left = np.full(len(counts), self.total)
        for place, before in enumerate(_simplices(self.total, self.types)):
            left = left - counts[:, place]
            rank += before[left]
        return rank

    def to_document(self) -> dict[str, Any]:
        """Describe the family."""
        return {"family": "histograms", "total": self.total, "types": self.types}

    def _count(self) -> int:
        return math.comb(self.total + self.types - 1, self.types - 1)

    def _exchangers(self) -> tuple[range, range]:
        return range(self.types), range(self.types)

    def _may_exchange(self, counts: Indices, giver: int, taker: int) -> Mask:
        may: Mask = counts[:, giver] > 0
        return may


@checked
@dataclass(frozen=True, slots=True)
class SortedHistograms(_Histograms):
    """Counts without the names of their types: integer partitions of `total` into at most `types` parts.

    A node is written with its largest part first and padded with zeros: (2, 1, 0). Order is by the last part, then by
    the one before it, and so on.

    Examples
    --------
    >>> SortedHistograms(4, 3).nodes[:]
    ((4, 0, 0), (3, 1, 0), (2, 2, 0), (2, 1, 1))
    """

    @property
    def number_of_edges(self) -> int:
        """Counted by going through them; no closed form is known."""
        return sum(len(tails) for tails, _ in self.edges())

    @property
    def diameter(self) -> int:
        """From one part to parts as equal as can be."""
        return self.total - -(-self.total // self.types)

    def counts(self, index: Indices) -> Indices:
        """Return the histograms at some indices, shape (len(index), types)."""
        partitions = _partitions(self.total, self.types)
        index, left = index.copy(), np.full(len(index), self.total)
        counts = np.zeros((len(index), self.types), np.int64)
        for parts in range(self.types, 1, -1):
            # `ranks` backwards: the largest last part before which there are no more than `index` partitions. What is
            # left after taking it off every part is the least in its residue class that still has enough of them.
            row = partitions[parts]
            after = np.searchsorted(row, row[left] - index)
            after += (left - after) % parts
            index -= row[left] - row[after]
            counts[:, :parts] += ((left - after) // parts)[:, np.newaxis]
            left = after
        counts[:, 0] += left
        return counts

    def ranks(self, counts: Indices) -> Indices:
        """Return the indices of partitions.

        Of the partitions of `left` into at most `parts` parts, those with a last part below c are all but the
        partitions of left − c · parts, which have c taken off every part.
        """
        partitions = _partitions(self.total, self.types)
        rank, left, taken = np.zeros((3, len(counts)), np.int64)
        left += self.total
        for parts in range(self.types, 1, -1):
            last = counts[:, parts - 1] - taken
            after = left - last * parts
            rank += partitions[parts][left] - partitions[parts][after]
            left, taken = after, counts[:, parts - 1]
        return rank

    def to_document(self) -> dict[str, Any]:
        """Describe the family."""
        return {"family": "sorted_histograms", "total": self.total, "types": self.types}

    def _count(self) -> int:
        return int(_partitions(self.total, self.types)[self.types][self.total])

    def _exchangers(self) -> tuple[range, range]:
        # Parts beyond the total are zero: none of them gives, and only the first zero takes.
        return range(min(self.types, self.total)), range(min(self.types, self.total + 1))

    def _may_exchange(self, counts: Indices, giver: int, taker: int) -> Mask:
        # From the last of a block of equal parts to the first of a block: the result is sorted, and comes up once.
        # Between parts b + 1 and b nothing would change.
        may: Mask = (counts[:, giver] > 0) & (counts[:, giver] != counts[:, taker] + 1)
        if giver + 1 < self.types:
            may &= counts[:, giver] > counts[:, giver + 1]
        if taker > 0:
            may &= counts[:, taker - 1] > counts[:, taker]
        return may

    def _is_name(self, node: tuple[int, ...]) -> bool:
        return sorted(node, reverse=True) == list(node)


@functools.lru_cache(maxsize=16)
def _simplices(total: int, types: int) -> tuple[Indices, ...]:
    """Tabulate, for each place but the last, how many histograms come before one whose later counts sum to t.

    For m later places that is C(t + m − 1, m): the histograms whose later counts sum to less than t.
    """
    tables = [np.arange(total + 1)]
    while len(tables) < types - 1:
        tables.append(np.cumsum(tables[-1]))
    return tuple(tables[::-1][: types - 1]) if types > 1 else ()


@functools.lru_cache(maxsize=16)
def _partitions(total: int, types: int) -> Indices:
    """Tabulate how many partitions of n have at most k parts, shape (types + 1, total + 1)."""
    row = [1] + [0] * total
    table = [row]
    for parts in range(1, types + 1):
        row = row.copy()
        for n in range(parts, total + 1):
            row[n] += row[n - parts]
        if row[-1] > LARGEST_FAMILY:
            raise BadInput("total", "is too large with that many types", "choose fewer records or fewer types")
        table.append(row)
    return np.array(table)
