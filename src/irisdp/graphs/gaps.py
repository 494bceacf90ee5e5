"""How far each category is behind the winner, capped: all that a mechanism needs to know which category is the largest.

Gaps of counts h are max h − h_i, at least one of which is 0. A cap R makes them finitely many: every gap above R stands
as R. The edges are the images of all pairs of neighbouring counts, however large, so that gaps, capped, are a morphism
from counts by category; and every edge is the image of some pair, so that nothing is asked of a mechanism in vain.

To list them, a gap at the cap is taken for exactly that, and moves by which the largest count falls are left out. No
edge is lost. Of two neighbours one becomes the other by a move by which it does not fall; then a gap shrinks only where
its category gains the record. If that category is beyond the cap and stays there, one that lost the record is all that
changes, and gains it on the way back; and where the largest count grows, gaps at the cap stay there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Literal

import numpy as np

from ..errors import BadInput
from ..exact import checked
from .explicit import Graph, compress
from .families import set_integer
from .names import ComputedNodes, Node, Nodes
from .protocol import Chunk, DatasetGraph, Indices, Mask, blocks

__all__ = ["Gaps"]

_MOST_CATEGORIES = 20
_MOST_NODES = 1 << 20
_MOST_MOVES = 1 << 22
"""Nodes times ways in which a record may move: what listing the edges takes, a few seconds."""


@checked
@dataclass(frozen=True, slots=True)
class Gaps(DatasetGraph):
    """Gaps of q categories to the largest, from 0 to a cap; a node is a tuple of q gaps, the least of them 0.

    Parameters
    ----------
    categories : int
        q, from 1 to 20.
    largest : int
        R, at least 1: R says "R or more". Few enough nodes that their edges can be listed.
    relation : {"exchange", "add-remove"}
        Whether neighbours exchange one record for another, or have one more.

    Examples
    --------
    >>> Gaps(2, 2).nodes[:], Gaps(2, 2).neighbours(0).tolist()
    (((0, 0), (0, 1), (0, 2), (1, 0), (2, 0)), [2, 4])
    """

    categories: int
    largest: int
    relation: Literal["exchange", "add-remove"] = "exchange"
    _listed: list[Graph] = field(default_factory=list, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what would take too long to list."""
        q = set_integer(self, "categories", at_least=1, at_most=_MOST_CATEGORIES)
        set_integer(self, "largest", at_least=1, at_most=_MOST_NODES)
        if self.relation not in ("exchange", "add-remove"):
            raise BadInput("relation", "must be exchange or add-remove", "choose one of the two")
        if self._count() > min(_MOST_NODES, _MOST_MOVES // max(1, q * (q - 1))):
            raise BadInput("largest", "makes too many nodes with that many categories", "lower one of the two")

    @property
    def nodes(self) -> Nodes:
        """Tuples of gaps, in lexicographic order."""
        return ComputedNodes(self._count(), self._name, self._position)

    @property
    def number_of_edges(self) -> int:
        """How many pairs of capped gaps some pair of neighbours has."""
        return self._graph().number_of_edges

    def edges(self) -> Iterator[Chunk]:
        """Yield every edge once."""
        return self._graph().edges()

    def neighbours(self, index: int) -> Indices:
        """Return the neighbours of a node in ascending order."""
        return self._graph().neighbours(index)

    def distance(self, first: int, second: int) -> int:
        """Return the number of edges on a shortest path."""
        return self._graph().distance(first, second)

    def distances_from(self, index: int) -> Indices:
        """Return the distance of every node from one node."""
        return self._graph().distances_from(index)

    def adjacent(self, first: Indices, second: Indices) -> Mask:
        """Tell pair by pair whether two nodes are neighbours."""
        return self._graph().adjacent(first, second)

    def to_document(self) -> dict[str, Any]:
        """Describe the family."""
        return {
            "family": "gaps",
            "categories": self.categories,
            "largest": self.largest,
            "relation": self.relation,
        }

    def gaps(self, index: Indices) -> Indices:
        """Return the gaps at some indices, shape (len(index), categories)."""
        index = index.copy()
        found: Indices = np.empty((len(index), self.categories), np.int64)
        tied = np.zeros(len(index), np.bool_)  # whether a 0 came: then what follows may be anything
        for place in range(self.categories):
            free, without = self._following(place)
            gap = np.where(tied, index // free, np.where(index < free, 0, 1 + (index - free) // max(1, without)))
            index -= np.where(tied, gap * free, np.where(gap == 0, 0, free + (gap - 1) * without))
            found[:, place] = gap
            tied |= gap == 0
        return found

    def ranks(self, gaps: Indices) -> Indices:
        """Return the indices of gaps: how many nodes come before each."""
        rank = np.zeros(len(gaps), np.int64)
        tied = np.zeros(len(gaps), np.bool_)
        for place, gap in enumerate(gaps.T):
            free, without = self._following(place)
            rank += np.where(tied, gap * free, np.where(gap == 0, 0, free + (gap - 1) * without))
            tied |= gap == 0
        return rank

    def _graph(self) -> Graph:
        if not self._listed:
            chunks = [(np.zeros(0, np.int64),) * 2]
            for start, stop in blocks(self._count()):
                index = np.arange(start, stop)
                gaps = self.gaps(index)
                chunks += [(index[movers], self.ranks(moved)) for movers, moved in self._moves(gaps)]
            tails, heads = (np.concatenate([chunk[end] for chunk in chunks]) for end in (0, 1))
            self._listed.append(compress(self.nodes, tails, heads))
        return self._listed[0]

    def _moves(self, gaps: Indices) -> Iterator[tuple[Indices, Indices]]:
        """Yield rows, and what they become, for all moves by which the largest count does not fall."""
        categories = range(self.categories)
        exchange = self.relation == "exchange"
        for gainer, loser in permutations(categories, 2) if exchange else ((place, None) for place in categories):
            heights = -gaps
            heights[:, gainer] += 1
            if loser is not None:
                heights[:, loser] -= 1
            top = heights.max(axis=1)
            rows = np.flatnonzero(top >= 0)
            yield rows, np.minimum(top[rows, np.newaxis] - heights[rows], self.largest)

    def _count(self) -> int:
        count: int = (self.largest + 1) ** self.categories - self.largest**self.categories
        return count

    def _following(self, place: int) -> tuple[int, int]:
        """Return how many ways there are to go on behind a place: in all, and with a 0 among them."""
        left = self.categories - 1 - place
        free: int = (self.largest + 1) ** left
        without: int = self.largest**left
        return free, free - without

    def _name(self, index: int) -> Node:
        return tuple(self.gaps(np.array([index]))[0].tolist())

    def _position(self, node: Any) -> int | None:
        if not isinstance(node, tuple) or len(node) != self.categories or any(type(gap) is not int for gap in node):
            return None
        return int(self.ranks(np.array([node]))[0]) if min(node) == 0 and max(node) <= self.largest else None
