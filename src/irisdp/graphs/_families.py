"""Families of graphs with distances in closed form: paths, cycles and complete graphs; what all families share."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._exact import checked, integer
from ..errors import BadInput
from ._explicit import listed
from ._protocol import (
    CHUNK,
    UNREACHABLE,
    Chunk,
    ComputedNodes,
    DatasetGraph,
    Indices,
    Mask,
    Node,
    NodeNames,
    NumberedNodes,
    blocks,
)

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
        mask: Mask = self.distances(first, second) == 1
        return mask


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
    def nodes(self) -> NodeNames:
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


# Cartesian products of graphs, including Hamming graphs.

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")


@checked
@dataclass(frozen=True, slots=True)
class Product(DatasetGraph):
    """Two nodes are neighbours when they differ in one coordinate, by an edge there. Distances add up.

    Parameters
    ----------
    factors : tuple of DatasetGraph
        At least one. A node is the tuple of a node of each, the last coordinate running fastest.

    Examples
    --------
    >>> from irisdp.graphs import Path
    >>> grid = Product((Path(3), Path(3)))
    >>> grid.distance(grid.index_of((0, 0)), grid.index_of((2, 1)))
    3
    """

    factors: tuple[DatasetGraph, ...]

    def __post_init__(self) -> None:
        """Check the number of nodes."""
        object.__setattr__(self, "factors", tuple(self.factors))
        if not self.factors or math.prod(self._sizes) > LARGEST_FAMILY:
            raise BadInput("factors", "must be one graph or more, of at most 2^62 nodes together", "change the factors")

    @property
    def _sizes(self) -> list[int]:
        return [factor.number_of_nodes for factor in self.factors]

    @property
    def nodes(self) -> NodeNames:
        """Tuples of the factors' nodes."""
        return ComputedNodes(math.prod(self._sizes), self._name, self._position)

    @property
    def number_of_edges(self) -> int:
        """Each edge of a factor, once per choice of the other coordinates."""
        count = self.number_of_nodes
        return sum(factor.number_of_edges * (count // factor.number_of_nodes) for factor in self.factors)

    def edges(self) -> Iterator[Chunk]:
        """Yield the edges along the first coordinate, then along the second, and so on."""
        return _product_edges(self.factors)

    def neighbours(self, index: int) -> Indices:
        """Return the nodes one edge of one factor away, in ascending order."""
        return _product_neighbours(self.factors, range(self.number_of_nodes)[index])

    def distance(self, first: int, second: int) -> int:
        """Return the sum of the factors' distances, UNREACHABLE if one is."""
        everyone, sizes = range(self.number_of_nodes), self._sizes
        pairs = zip(_digits(everyone[first], sizes), _digits(everyone[second], sizes), strict=True)
        steps = [factor.distance(*pair) for factor, pair in zip(self.factors, pairs, strict=True)]
        return UNREACHABLE if UNREACHABLE in steps else sum(steps)

    def distances_from(self, index: int) -> Indices:
        """Return the distance of every node from one node."""
        total = np.zeros(1, np.int64)
        for factor, digit in zip(self.factors, _digits(range(self.number_of_nodes)[index], self._sizes), strict=True):
            steps = factor.distances_from(digit)
            both = np.add.outer(total, steps)
            both[np.logical_or.outer(total < 0, steps < 0)] = UNREACHABLE
            total = both.ravel()
        return total

    def adjacent(self, first: Indices, second: Indices) -> Mask:
        """Tell pair by pair whether two nodes differ by one edge in one coordinate."""
        differing, edge = np.zeros(np.shape(first), np.int64), np.zeros(np.shape(first), np.bool_)
        for factor in reversed(self.factors):
            first, here = np.divmod(first, factor.number_of_nodes)
            second, there = np.divmod(second, factor.number_of_nodes)
            differing += here != there
            edge |= factor.adjacent(here, there)
        mask: Mask = edge & (differing == 1)
        return mask

    def to_document(self) -> dict[str, Any]:
        """Describe the graph by its edges: products have no name of their own in documents."""
        return listed(self).to_document()

    def _name(self, index: int) -> Node:
        digits = _digits(index, self._sizes)
        return tuple(factor.nodes.at(digit) for factor, digit in zip(self.factors, digits, strict=True))

    def _position(self, node: Any) -> int | None:
        if not isinstance(node, tuple) or len(node) != len(self.factors):
            return None
        index = 0
        for factor, part in zip(self.factors, node, strict=True):
            digit = factor.nodes.position(part)
            if digit is None:
                return None
            index = index * factor.number_of_nodes + digit
        return index


@checked
@dataclass(frozen=True, slots=True)
class Hamming(Family):
    """Words of a fixed length, neighbours when one symbol differs: tables under exchange of one record.

    Up to ten symbols a word is its digits ("010"); beyond ten it is numbers joined by commas ("3,11,0").

    Parameters
    ----------
    length : int
        Symbols in a word, at least 1.
    symbols : int
        Size of the alphabet, at least 1.

    Examples
    --------
    >>> cube = Hamming(3, 2)
    >>> cube.distance(cube.index_of("010"), cube.index_of("111"))
    2
    """

    length: int
    symbols: int

    def __post_init__(self) -> None:
        """Check the sizes."""
        set_integer(self, "length", at_least=1)
        set_integer(self, "symbols", at_least=1)
        # The bound on `length` comes first: the power itself could be too long to compute.
        if self.length > 62 or self.symbols**self.length > LARGEST_FAMILY:
            raise BadInput("length", "must be at most 62 and give at most 2^62 words", "shorten the words")

    @property
    def nodes(self) -> NodeNames:
        """All words, in lexicographic order."""
        return ComputedNodes(self.symbols**self.length, self._word, self._position)

    @property
    def number_of_edges(self) -> int:
        """Every word, position and other symbol, from both ends."""
        return self.number_of_nodes * self.length * (self.symbols - 1) // 2

    @property
    def diameter(self) -> int:
        """Every symbol differs."""
        return self.length if self.symbols > 1 else 0

    def edges(self) -> Iterator[Chunk]:
        """Yield the edges that change the first symbol, then the second, and so on."""
        return _product_edges(self._factors)

    def neighbours(self, index: int) -> Indices:
        """Return the words that differ in one symbol, in ascending order."""
        return _product_neighbours(self._factors, range(self.number_of_nodes)[index])

    def distances(self, first: Indices, second: Indices) -> Indices:
        """Return the number of differing symbols."""
        count = np.zeros(np.broadcast_shapes(first.shape, second.shape), np.int64)
        for _ in range(self.length):
            first, here = np.divmod(first, self.symbols)
            second, there = np.divmod(second, self.symbols)
            count += here != there
        return count

    def to_document(self) -> dict[str, Any]:
        """Describe the family."""
        return {"family": "hamming", "length": self.length, "symbols": self.symbols}

    @property
    def _factors(self) -> list[Complete]:
        return [Complete(self.symbols)] * self.length

    @property
    def _separator(self) -> str:
        return "" if self.symbols <= 10 else ","

    def _word(self, index: int) -> Node:
        return self._separator.join(map(str, _digits(index, [self.symbols] * self.length)))

    def _position(self, node: Any) -> int | None:
        if not isinstance(node, str):
            return None
        parts = node.split(",") if self._separator else list(node)
        # Only digits as `_word` writes them: int() would also read "٣", "+3" and "03".
        if len(parts) != self.length or not all(_NUMBER.fullmatch(part) for part in parts):
            return None
        index = 0
        for digit in map(int, parts):
            if digit >= self.symbols:
                return None
            index = index * self.symbols + digit
        return index


def _digits(index: int, sizes: Sequence[int]) -> list[int]:
    """Write an index in mixed radix, the first digit first."""
    digits = []
    for size in reversed(sizes):
        index, digit = divmod(index, size)
        digits.append(digit)
    return digits[::-1]


def _product_edges(factors: Sequence[DatasetGraph]) -> Iterator[Chunk]:
    count = math.prod(factor.number_of_nodes for factor in factors)
    weight = count
    for factor in factors:
        size = factor.number_of_nodes
        weight //= size
        for tails, heads in factor.edges():
            # Every node whose coordinate here is 0 is the origin of one copy of the factor.
            for start, stop in blocks(count // size, max(1, CHUNK // max(1, len(tails)))):
                before, after = np.divmod(np.arange(start, stop), weight)
                origins = before * (size * weight) + after
                yield np.add.outer(origins, tails * weight).ravel(), np.add.outer(origins, heads * weight).ravel()


def _product_neighbours(factors: Sequence[DatasetGraph], index: int) -> Indices:
    sizes = [factor.number_of_nodes for factor in factors]
    weight, neighbours = math.prod(sizes), []
    for factor, size, digit in zip(factors, sizes, _digits(index, sizes), strict=True):
        weight //= size
        neighbours.append(index + (factor.neighbours(digit) - digit) * weight)
    return np.sort(np.concatenate(neighbours))
