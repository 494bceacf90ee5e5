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

from .._exact import checked
from ..errors import BadInput
from ._families import LARGEST_FAMILY, Family, set_integer
from ._protocol import Chunk, ComputedNodes, Indices, Mask, Node, NodeNames, blocks

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
    def nodes(self) -> NodeNames:
        """Tuples of counts."""
        return ComputedNodes(self._count(), self._name, self._position, self._names)

    def edges(self) -> Iterator[Chunk]:
        """Yield every edge once, block of nodes after block: a record moves from some place to a later one.

        Such a move makes the index larger, in both families, and by what depends on the places between the two only. So
        nothing is ranked again: of sums over the first places, one is subtracted from another.
        """
        for start, stop in blocks(self.number_of_nodes, _BLOCK):
            index = np.arange(start, stop)
            counts = np.ascontiguousarray(self.counts(index).T[: self._places])
            may_give, may_take = self._ends(counts)
            leaving, joining = self._rises(counts)
            for giver in range(len(counts) - 1):
                rows = np.flatnonzero(may_give[giver])
                for first, last in blocks(len(counts) - 1 - giver, max(1, _BLOCK // max(1, len(rows)))):
                    takers = slice(giver + 1 + first, giver + 1 + last)
                    may = may_take[takers, rows] & self._changes(counts[giver, rows], counts[takers, rows])
                    tails = np.broadcast_to(index[rows], may.shape)
                    yield tails[may], (tails + joining[takers, rows] - leaving[giver, rows])[may]

    def neighbours(self, index: int) -> Indices:
        """Return the histograms one exchange away, in ascending order."""
        counts = self.counts(np.array([range(self.number_of_nodes)[index]]))[0]
        found = np.zeros(0, np.int64)
        may_give, may_take = self._ends(counts[: self._places])
        for giver in np.flatnonzero(may_give):
            takers = np.flatnonzero(may_take & self._changes(counts[giver], counts[: self._places]))
            moved = np.tile(counts, (len(takers), 1))
            moved[:, giver] -= 1
            moved[np.arange(len(takers)), takers] += 1
            found = np.concatenate((found, self.ranks(moved[takers != giver])))
        return np.sort(found)

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

    @property
    def _places(self) -> int:
        """How many types may be part of an exchange: the first so many."""
        return self.types

    # Counts have the shape (types, histograms) here, or that of one histogram.

    @abstractmethod
    def _ends(self, counts: Indices) -> tuple[Mask, Mask]:
        """Tell which types may give a record, and which may take one."""

    @abstractmethod
    def _changes(self, given: Indices, taken: Indices) -> Mask:
        """Tell whether a record that leaves a type of some count for one of another count makes another histogram."""

    @abstractmethod
    def _rises(self, counts: Indices) -> tuple[Indices, Indices]:
        """Return what the index rises by when a record goes to a later type, less what to take off for where from.

        These are sums modulo 2^64 where some type may not give or take; of two that may, the difference is below 2^62.
        """

    def _name(self, index: int) -> Node:
        return tuple(self.counts(np.array([index]))[0].tolist())

    def _names(self, indices: range) -> Iterator[Node]:
        return map(tuple, self.counts(np.array(indices)).tolist())

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
        for index, before in enumerate(_simplices(self.total, self.types)):
            left = left - counts[:, index]
            rank += before[left]
        return rank

    def to_document(self) -> dict[str, Any]:
        """Describe the family."""
        return {"family": "histograms", "total": self.total, "types": self.types}

    def _count(self) -> int:
        return math.comb(self.total + self.types - 1, self.types - 1)

    def _ends(self, counts: Indices) -> tuple[Mask, Mask]:
        return counts > 0, np.broadcast_to(np.True_, counts.shape)

    def _changes(self, given: Indices, taken: Indices) -> Mask:
        return np.broadcast_to(np.True_, taken.shape)

    def _rises(self, counts: Indices) -> tuple[Indices, Indices]:
        # From the giver up to the place before the taker, one record more comes later.
        sums = np.zeros_like(counts)
        left = np.full(counts.shape[1], self.total)
        for index, before in enumerate(_simplices(self.total, self.types)):
            left -= counts[index]
            sums[index + 1] = sums[index] + before[np.minimum(left + 1, self.total)] - before[left]
        return sums, sums


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
        for parts in range(self._places, 1, -1):
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
        for parts in range(self._places, 1, -1):
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

    @property
    def _places(self) -> int:
        # Parts beyond the total are zero, and stay so: the last record to take is one of a part of two or more.
        return min(self.types, self.total)

    def _ends(self, counts: Indices) -> tuple[Mask, Mask]:
        # From the last of a block of equal parts to the first of a block: the result is sorted, and comes up once.
        falls = counts[:-1] > counts[1:]
        edge = np.ones_like(counts[:1], np.bool_)
        return np.concatenate((falls, counts[-1:] > 0)), np.concatenate((edge, falls))

    def _changes(self, given: Indices, taken: Indices) -> Mask:
        # Between parts b + 1 and b nothing would change.
        may: Mask = given != taken + 1
        return may

    def _rises(self, counts: Indices) -> tuple[Indices, Indices]:
        # Let the parts before place k together be a_k more than k times the part there. With p(n, k) partitions of n
        # into exactly k parts, the index is what is left of the last one when all p(a_k, k + 1), k > 0, are taken off:
        # `ranks` in another order. A record from place g to place t raises a_g by g, lowers a_t by t + 1, and lowers by
        # one what is between.
        place = np.arange(len(counts))[:, np.newaxis]
        above = np.cumsum(counts, axis=0) - (place + 1) * counts
        exactly = _exact_partitions(self.total, self.types)
        here, lower, lowest, higher = (
            exactly[place, np.clip(above + moved, 0, self.total)] for moved in (0, -1, -1 - place, place)
        )
        sums = np.cumsum(here - lower, axis=0)
        return sums - here + higher, sums + lower - lowest

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
    row = np.zeros(total + 1, np.int64)
    row[0] = 1
    table = [row]
    for parts in range(1, types + 1):
        # A partition into at most k parts has fewer of them, or one can be taken off each. Floats first: they can tell
        # that whole numbers would run over.
        if row[total % parts :: parts].sum(dtype=np.float64) < 1.5 * LARGEST_FAMILY:
            steps = np.zeros((total // parts + 1, parts), np.int64)
            steps.flat[: total + 1] = row
            row = np.cumsum(steps, axis=0).ravel()[: total + 1]
            table.append(row)
        if len(table) <= parts or row[-1] > LARGEST_FAMILY:
            raise BadInput("total", "is too large with that many types", "choose fewer records or fewer types")
    return np.array(table)


@functools.lru_cache(maxsize=16)
def _exact_partitions(total: int, types: int) -> Indices:
    """Tabulate how many partitions of n have exactly k + 1 parts, shape (types, total + 1)."""
    return np.diff(_partitions(total, types), axis=0)
