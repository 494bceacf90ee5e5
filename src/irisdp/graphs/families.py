"""Families of graphs with distances in closed form: paths, cycles and complete graphs; what all families share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exact import checked, integer
from .names import Nodes, NumberedNodes
from .protocol import Chunk, DatasetGraph, Indices, Mask, blocks

__all__ = ["LARGEST_FAMILY", "Complete", "Cycle", "Family", "Path", "set_integer"]

LARGEST_FAMILY = 1 << 62
"""Most nodes of a family: an index must fit a machine word even where nothing is listed."""


class Family(DatasetGraph):
    """A graph that knows its distances in closed form; every family is connected."""

    __slots__ = ()

    @property
    @abstractmethod
    def diameter(self) -> int:
        """The largest distance between two nodes."""

    @abstractmethod
    def distances(self, first: Indices, second: Indices) -> Indices:
        """Return distances pair by pair; the arrays may broadcast."""

    def distance(self, first: int, second: int) -> int:
        """Return the number of edges on a shortest path."""
        everyone = range(self.number_of_nodes)
        return int(self.distances(np.array([everyone[first]]), np.array([everyone[second]]))[0])

    def distances_from(self, index: int) -> Indices:
        """Return the distance of every node from one node."""
        return self.distances(np.array([range(self.number_of_nodes)[index]]), np.arange(self.number_of_nodes))

    def adjacent(self, first: Indices, second: Indices) -> Mask:
        """Tell pair by pair whether two nodes are neighbours."""
        found: Mask = self.distances(first, second) == 1
        return found


def set_integer(family: Any, name: str, *, at_least: int, at_most: int = LARGEST_FAMILY) -> int:
    """Read a whole number that a family was constructed with, and keep it as a plain int."""
    value = integer(getattr(family, name), name, at_least=at_least, at_most=at_most)
    object.__setattr__(family, name, value)
    return value


@dataclass(frozen=True, slots=True)
class _Numbered(Family):
    """A family with nodes 0, …, n − 1."""

    n: int

    def __post_init__(self) -> None:
        set_integer(self, "n", at_least=1)

    @property
    def nodes(self) -> Nodes:
        """The integers 0, …, n − 1."""
        return NumberedNodes(range(self.n))


@checked
@dataclass(frozen=True, slots=True)
class Path(_Numbered):
    """n nodes in a row: the values 0, …, n − 1 of a count under adding or removing one record.

    Examples
    --------
    >>> Path(5).distance(1, 4), Path(5).neighbours(0).tolist()
    (3, [1])
    """

    @property
    def number_of_edges(self) -> int:
        """One fewer than nodes."""
        return self.n - 1

    @property
    def diameter(self) -> int:
        """From end to end."""
        return self.n - 1

    def edges(self) -> Iterator[Chunk]:
        """Yield (i, i + 1)."""
        for start, stop in blocks(self.n - 1):
            yield np.arange(start, stop), np.arange(start + 1, stop + 1)

    def neighbours(self, index: int) -> Indices:
        """Return the one or two nodes beside a node."""
        index = range(self.n)[index]
        return np.array([other for other in (index - 1, index + 1) if 0 <= other < self.n], np.int64)

    def distances(self, first: Indices, second: Indices) -> Indices:
        """Return |i − j|."""
        gaps: Indices = np.abs(first - second)
        return gaps

    def to_document(self) -> dict[str, Any]:
        """Describe the family."""
        return {"family": "path", "n": self.n}


@checked
@dataclass(frozen=True, slots=True)
class Cycle(_Numbered):
    """n nodes in a ring; one or two nodes make a path."""

    @property
    def number_of_edges(self) -> int:
        """As many as nodes, from three nodes on."""
        return self.n if self.n > 2 else self.n - 1

    @property
    def diameter(self) -> int:
        """Half way round."""
        return self.n // 2

    def edges(self) -> Iterator[Chunk]:
        """Yield (i, i + 1), and last the edge that closes the ring."""
        yield from Path(self.n).edges()
        if self.n > 2:
            yield np.array([0]), np.array([self.n - 1])

    def neighbours(self, index: int) -> Indices:
        """Return the nodes beside a node."""
        index = range(self.n)[index]
        beside = {(index - 1) % self.n, (index + 1) % self.n} - {index}
        return np.array(sorted(beside), np.int64)

    def distances(self, first: Indices, second: Indices) -> Indices:
        """Return the shorter way round."""
        way = np.abs(first - second)
        shorter: Indices = np.minimum(way, self.n - way)
        return shorter

    def to_document(self) -> dict[str, Any]:
        """Describe the family."""
        return {"family": "cycle", "n": self.n}


@checked
@dataclass(frozen=True, slots=True)
class Complete(_Numbered):
    """n nodes, every two of them neighbours: one record's value in the local model."""

    @property
    def number_of_edges(self) -> int:
        """Every pair."""
        return self.n * (self.n - 1) // 2

    @property
    def diameter(self) -> int:
        """One step, if there are two nodes."""
        return min(1, self.n - 1)

    def edges(self) -> Iterator[Chunk]:
        """Yield every pair, by the gap between its ends."""
        for gap in range(1, self.n):
            for start, stop in blocks(self.n - gap):
                yield np.arange(start, stop), np.arange(start + gap, stop + gap)

    def neighbours(self, index: int) -> Indices:
        """Return all the others."""
        return np.delete(np.arange(self.n), range(self.n)[index])

    def distances(self, first: Indices, second: Indices) -> Indices:
        """Return 1, or 0 from a node to itself."""
        different: Indices = (first != second).astype(np.int64)
        return different

    def to_document(self) -> dict[str, Any]:
        """Describe the family."""
        return {"family": "complete", "n": self.n}
