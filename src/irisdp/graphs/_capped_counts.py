"""How far the boundaries between ordered bins are from a quantile's rank, capped: all that says which bin holds it.

Of n records in k ordered bins let C_j be in bin j or before it. The quantile p is in the first bin with C_j ≥ p·n, that
is with an *offset* u_j = C_j − ⌈p·n⌉ that is not negative; in the last bin if all are negative. Offsets of the last bin
are never negative and left out. A cap R takes them to [−R, R − 1], which hides no sign.

- Exchange: a record that moves from a later bin to an earlier one raises the offsets between the two by one. A record
  that joins raises a last run of offsets, as if it came out of the last bin, or lowers a first run, as if it came out
  of the first and ⌈p·n⌉ grew. So the graph is the same for every p, and holds records that are in no bin.
- Add-remove: which of the two happens is a matter of n modulo the denominator of p, which is part of the node.

On counts of any size the edges are exactly the images of neighbours (proofs/quantiles.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise, permutations, product
from math import ceil, comb, factorial, prod
from typing import Any, Literal

import numpy as np

from .._exact import checked, integer
from ..errors import BadInput
from ._explicit import Graph, compress
from ._families import set_integer
from ._neighbouring import NeighbouringRelation, Relation
from ._protocol import Chunk, ComputedNodes, DatasetGraph, Indices, ListedNodes, Mask, Node, NodeNames, blocks

# Capped gaps: how far each category is behind the winner, which is all that a mechanism for the largest needs.
#
# Gaps of counts h are max h − h_i, at least one of which is 0. A cap R makes them finitely many: every gap above R
# becomes R. The edges are the images of all pairs of neighbouring counts, however large, so that capped gaps are a
# morphism from counts by category. Every edge is the image of some pair, so that no edge restricts a mechanism in vain.
#
# To list them, a gap at the cap is taken for exactly that, and moves by which the largest count falls are left out. No
# edge is lost. Of two neighbours, one becomes the other by a move by which the largest count does not fall; then a gap
# shrinks only if its category gains the record. If that category is beyond the cap and stays there, then only a
# category that lost the record changes, and the reverse move gains it. If the largest count grows, gaps at the cap stay
# there.

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
    relation: Relation = "exchange"
    _listed: list[Graph] = field(default_factory=list, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what would take too long to list."""
        q = set_integer(self, "categories", at_least=1, at_most=_MOST_CATEGORIES)
        set_integer(self, "largest", at_least=1, at_most=_MOST_NODES)
        if self.relation not in tuple(NeighbouringRelation):
            raise BadInput("relation", "must be exchange or add-remove", "choose one of the two")
        if self._count() > min(_MOST_NODES, _MOST_MOVES // max(1, q * (q - 1))):
            raise BadInput("largest", "makes too many nodes with that many categories", "lower one of the two")

    @property
    def nodes(self) -> NodeNames:
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
        indices: Indices = np.empty((len(index), self.categories), np.int64)
        tied = np.zeros(len(index), np.bool_)  # whether a 0 came: then what follows may be anything
        for place in range(self.categories):
            free, without = self._following(place)
            gap = np.where(tied, index // free, np.where(index < free, 0, 1 + (index - free) // max(1, without)))
            index -= np.where(tied, gap * free, np.where(gap == 0, 0, free + (gap - 1) * without))
            indices[:, place] = gap
            tied |= gap == 0
        return indices

    def ranks(self, gaps: Indices) -> Indices:
        """Return the indices of gaps: how many nodes come before each."""
        rank = np.zeros(len(gaps), np.int64)
        tied = np.zeros(len(gaps), np.bool_)
        for index, gap in enumerate(gaps.T):
            free, without = self._following(index)
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


MOST_PARTS = 1_000_000
"""Largest denominator of p: products with a remainder of n stay far below 2^63."""


@dataclass(frozen=True, slots=True, eq=False)
class Offsets:
    """Capped offsets of the boundaries between k ordered bins, and which are neighbours; made by `capped_offsets`.

    Parameters
    ----------
    reach : int
        R.
    parts : int
        The denominator of p where records are added or removed; 1 where they are exchanged.
    values : int64 array, shape (nodes / parts, k − 1)
        Offsets of the nodes, ascending in each row; node i has row i // parts, and n ≡ i modulo `parts`.
    graph : Graph
        Nodes are tuples of offsets, with n modulo `parts` behind them if there is more than one.
    """

    reach: int
    parts: int
    values: Indices
    graph: Graph

    @property
    def bins(self) -> int:
        """How many bins there are."""
        inner: int = self.values.shape[1]
        return inner + 1

    @property
    def truth(self) -> Indices:
        """The bin of the quantile at every node, from 0."""
        right: Indices = np.repeat((self.values < 0).sum(axis=1), self.parts)
        return right

    @property
    def records_off(self) -> Indices:
        """How many records each bin is from the quantile's rank at every node, at most R; shape (nodes, k)."""
        return np.repeat(_records_off(self.values), self.parts, axis=0)

    def index(self, offsets: Indices, remainders: Indices) -> Indices:
        """Return the nodes of offsets, which are capped here, and of n modulo `parts`."""
        capped = np.clip(offsets, -self.reach, self.reach - 1)
        return _ranks(capped + self.reach) * self.parts + remainders % self.parts


def offsets_of(counts: Indices, share: Fraction) -> tuple[Indices, Indices]:
    """Return the offsets of rows of counts, and n modulo the denominator of p.

    Parameters
    ----------
    counts : int64 array, shape (rows, k)
        Records in each bin, fewer than 2^62 in a row.
    share : Fraction
        p, whose denominator is at most 10^6.
    """
    totals = counts.sum(axis=1)
    whole, rest = np.divmod(totals, share.denominator)
    # ⌈p·n⌉ without a product that could leave 64 bits.
    rank = whole * share.numerator - (-rest * share.numerator) // share.denominator
    offsets: Indices = np.cumsum(counts, axis=1)[:, :-1] - rank[:, np.newaxis]
    return offsets, rest


def number_of_offsets(bins: int, reach: int, share: Fraction | None = None) -> int:
    """Return how many nodes `capped_offsets` would have."""
    return comb(2 * reach + bins - 2, bins - 1) * (1 if share is None else share.denominator)


@lru_cache(maxsize=8)
def capped_offsets(bins: int, reach: int, share: Fraction | None = None) -> Offsets:
    """List capped offsets and their edges.

    Parameters
    ----------
    bins : int
        k, at least 2.
    reach : int
        R, at least 1.
    share : Fraction, optional
        p where records are added or removed; left out where they are exchanged, for others or for none in a bin.
    """
    inner = bins - 1
    rising = np.array(list(combinations(range(2 * reach + inner - 1), inner)), np.int64).reshape(-1, inner)
    shifted = rising - np.arange(inner)
    rank = _ranks(shifted)
    levels = np.empty_like(shifted)
    levels[rank] = shifted
    values = levels - reach
    values.setflags(write=False)
    parts = 1 if share is None else share.denominator
    pairs = _exchanges(values, reach) if share is None else _additions(values, reach, share)

    def name(index: int) -> Node:
        row, rest = divmod(index, parts)
        offsets: tuple[int, ...] = tuple(values[row].tolist())
        return offsets if share is None else (*offsets, rest)

    def position(node: Any) -> int | None:
        if not isinstance(node, tuple) or len(node) != inner + (share is not None):
            return None
        if any(type(part) is not int for part in node):
            return None
        offsets, rest = node[:inner], node[inner] if share is not None else 0
        low_to_high = (-reach, *offsets, reach - 1)
        if not 0 <= rest < parts or any(low > high for low, high in pairwise(low_to_high)):
            return None
        return int(_ranks(np.array([offsets]) + reach)[0]) * parts + rest

    tails, heads = (np.concatenate([pair[end] for pair in pairs]) for end in (0, 1))
    return Offsets(reach, parts, values, compress(ComputedNodes(len(values) * parts, name, position), tails, heads))


def _exchanges(values: Indices, reach: int) -> list[tuple[Indices, Indices]]:
    """Raise every run of offsets by one, where they stay in order and below the cap."""
    pairs, inner, here = [], values.shape[1], np.arange(len(values))
    for start, stop in combinations(range(inner + 1), 2):
        moved = values.copy()
        moved[:, start:stop] += 1
        possible = moved[:, stop - 1] < (reach if stop == inner else moved[:, stop] + 1)
        pairs.append((here[possible], _ranks(moved[possible] + reach)))
    return pairs


def _additions(values: Indices, reach: int, share: Fraction) -> list[tuple[Indices, Indices]]:
    """Add a record to every bin, at every n modulo the denominator of p."""
    pairs, inner, here, parts = [], values.shape[1], np.arange(len(values)), share.denominator
    for rest in range(parts):
        grows = ceil(share * (rest + 1)) > ceil(share * rest)
        for index in range(inner + 1):
            moved = values.copy()
            if grows:
                moved[:, :index] -= 1
            else:
                moved[:, index:] += 1
            after = _ranks(np.clip(moved, -reach, reach - 1) + reach)
            pairs.append((here * parts + rest, after * parts + (rest + 1) % parts))
    return pairs


def _ranks(levels: Indices) -> Indices:
    """Return the place of ascending rows of numbers from 0 up, in an order that needs no largest number."""
    inner = levels.shape[1]
    highest = int(levels.max(initial=0)) + inner
    result = np.zeros(len(levels), np.int64)
    for index in range(inner):
        before = np.array([comb(number, index + 1) for number in range(highest + 1)], np.int64)
        result += before[levels[:, index] + index]
    return result


def _records_off(offsets: Indices) -> Indices:
    """Return how many records each bin is from the rank: up to its end from below, down to its start from above."""
    rows = len(offsets)
    short = np.hstack([np.maximum(-offsets, 0), np.zeros((rows, 1), np.int64)])
    beyond = np.hstack([np.zeros((rows, 1), np.int64), np.maximum(offsets + 1, 0)])
    indices: Indices = short + beyond
    return indices


# Capped heights: the order of categories and the steps between neighbours in it, on which top K and a ranking depend.
#
# Heights of counts h keep their order and the steps between consecutive counts: the least height is 0, equal counts
# have equal heights, and a step above its cap becomes the cap. So the K largest categories, and the right rankings, are
# the same for heights as for counts, ties included. Gaps to the largest would not do, because a cap on them makes the
# last of many categories look level. Each step, counted from below, may have a cap of its own.
#
# The edges are the images of all pairs of neighbouring counts of any size, and no others: heights are a morphism from
# counts by category. A move of one record changes a step by at most 2. So a step that is 2 or more above its cap R is R
# or more afterwards, and no category crosses it. It is enough to look at true steps up to R + 2.

Moves = NeighbouringRelation | Literal["exchange", "add-remove", "any"]
"""How neighbours differ: a record exchanged, one more, or either; "any" is what exchange becomes where records may be
in no category."""


@checked
def capped_heights(counts: Any, largest: int | Sequence[int]) -> Indices:
    """Return the heights of counts: their order, with steps between consecutive ones of at most `largest`.

    Parameters
    ----------
    counts : integer array, shape (tables, categories)
    largest : int, or one for each step, from below
        R, at least 1.

    Raises
    ------
    BadInput
        For what is no table of whole numbers.

    Examples
    --------
    >>> capped_heights([[9, 0, 4], [7, 7, 7]], 3).tolist()
    [[6, 0, 3], [0, 0, 0]]
    """
    try:
        counts = np.asarray(counts)
    except (TypeError, ValueError, OverflowError):  # rows of several lengths
        raise BadInput("counts", "must be a table of whole numbers", "give one row of counts per table") from None
    if counts.ndim != 2 or counts.dtype.kind not in "iu" or counts.shape[1] == 0:
        raise BadInput("counts", "must be a table of whole numbers", "give one row of counts per table")
    order = np.argsort(counts, axis=1, kind="stable")
    ascending = np.take_along_axis(counts, order, axis=1)
    caps = np.array([0, *_caps(counts.shape[1], largest)])
    steps = np.minimum(np.diff(ascending, axis=1, prepend=ascending[:, :1]), caps)
    heights = np.empty(counts.shape, np.int64)
    np.put_along_axis(heights, order, np.cumsum(steps, axis=1), axis=1)
    return heights


@checked
def order_graph(categories: int, largest: int | Sequence[int], relation: Moves = "exchange") -> Graph:
    """Build the graph of heights.

    Parameters
    ----------
    categories : int
        q, from 2 to 8.
    largest : int, or one for each step, from below
        R: steps of R and more look alike. Few enough that the edges can be listed.
    relation : {"exchange", "add-remove", "any"}

    Returns
    -------
    Graph
        Its nodes are tuples of q heights, in lexicographic order.

    Raises
    ------
    BadInput
        For another relation, or more nodes than can be listed.

    Examples
    --------
    >>> order_graph(2, 1).nodes[:], order_graph(3, 6).number_of_edges
    (((0, 0), (0, 1), (1, 0)), 816)
    """
    q = integer(categories, "categories", at_least=2, at_most=8)
    caps = _caps(q, largest)
    if relation not in ("exchange", "add-remove", "any"):
        raise BadInput("relation", "must be exchange, add-remove or any", "choose one of the three")
    if not steps_are_few(caps):
        raise BadInput("largest", "makes too many nodes with that many categories", "lower one of the two")
    counts = _counts(caps)
    here = capped_heights(counts, caps)
    keys, first = np.unique(keys_of_heights(here, caps), return_index=True)
    nodes = ListedNodes([tuple(one) for one in here[first].tolist()])
    tails = np.searchsorted(keys, keys_of_heights(here, caps))
    heads = [
        np.searchsorted(keys, keys_of_heights(capped_heights(counts + move, caps), caps))
        for move in _moves(q, relation)
    ]
    return compress(nodes, np.tile(tails, len(heads)), np.concatenate(heads))


def number_of_heights(caps: Sequence[int]) -> int:
    """Return how many heights there are under caps: for every set of steps that are no ties, orders times sizes."""
    q = len(caps) + 1
    result = 0
    for ends in (chosen for size in range(q) for chosen in combinations(range(1, q), size)):
        level = prod(factorial(after - before) for before, after in pairwise((0, *ends, q)))
        result += factorial(q) // level * prod(caps[end - 1] for end in ends)
    return result


def steps_are_few(caps: Sequence[int]) -> bool:
    """Tell whether the edges of the graph under caps can be listed, in seconds."""
    q = len(caps) + 1
    return prod(cap + 3 for cap in caps) * factorial(q) <= _MOST_MOVES // (q * q)


def _caps(q: int, largest: int | Sequence[int]) -> tuple[int, ...]:
    """Read one cap for each step."""
    given = list(largest) if isinstance(largest, Sequence) else [largest] * (q - 1)
    if len(given) != q - 1:
        raise BadInput("largest", f"must be one cap, or one for each of {q - 1} steps", "list them from below")
    return tuple(integer(cap, "largest", at_least=1, at_most=_MOST_MOVES) for cap in given)


def _counts(caps: Sequence[int]) -> Indices:
    """List all counts, the least of them 0, with consecutive steps up to 2 above their caps, in any order."""
    steps = np.array(list(product(*(range(cap + 3) for cap in caps))), dtype=np.int64)
    ascending = np.hstack([np.zeros((len(steps), 1), np.int64), np.cumsum(steps, axis=1)])
    return np.concatenate([ascending[:, order] for order in permutations(range(len(caps) + 1))])


def _moves(q: int, relation: Moves) -> Iterator[Indices]:
    """Yield what a record more, or one exchanged, adds to counts; the other way is the same edge."""
    records = np.eye(q, dtype=np.int64)
    if relation != "exchange":
        yield from records
    if relation != "add-remove":
        yield from (records[gains] - records[loses] for gains, loses in permutations(range(q), 2))


def keys_of_heights(heights: Indices, largest: int | Sequence[int]) -> Indices:
    """Number heights under caps, ascending in lexicographic order."""
    q = heights.shape[1]
    base = sum(_caps(q, largest)) + 1
    keys: Indices = heights @ (base ** np.arange(q - 1, -1, -1, dtype=np.int64))
    return keys
