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

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, comb
from typing import Any

import numpy as np

from .explicit import Graph, compress
from .names import ComputedNodes, Node
from .protocol import Indices

__all__ = ["MOST_PARTS", "Offsets", "capped_offsets", "number_of_offsets", "offsets_of"]

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
        for place in range(inner + 1):
            moved = values.copy()
            if grows:
                moved[:, :place] -= 1
            else:
                moved[:, place:] += 1
            after = _ranks(np.clip(moved, -reach, reach - 1) + reach)
            pairs.append((here * parts + rest, after * parts + (rest + 1) % parts))
    return pairs


def _ranks(levels: Indices) -> Indices:
    """Return the place of ascending rows of numbers from 0 up, in an order that needs no largest number."""
    inner = levels.shape[1]
    highest = int(levels.max(initial=0)) + inner
    found = np.zeros(len(levels), np.int64)
    for place in range(inner):
        before = np.array([comb(number, place + 1) for number in range(highest + 1)], np.int64)
        found += before[levels[:, place] + place]
    return found


def _records_off(offsets: Indices) -> Indices:
    """Return how many records each bin is from the rank: up to its end from below, down to its start from above."""
    rows = len(offsets)
    short = np.hstack([np.maximum(-offsets, 0), np.zeros((rows, 1), np.int64)])
    beyond = np.hstack([np.zeros((rows, 1), np.int64), np.maximum(offsets + 1, 0)])
    found: Indices = short + beyond
    return found
