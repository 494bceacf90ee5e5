"""How large the categories of a cell are, largest first and without names: numbers with noise, made to fit.

A list of sizes x_1 ≥ x_2 ≥ … is described by its first D sizes and, of those below, by how many are at least 1, 2, …,
J. One record more or less moves one entry of the sorted list by one, and so exactly one of the D + J numbers, or none.
Each number has the noise of a count (proofs/sizes.md). How many categories there are shows only as far as noise on the
numbers lets it. What is shown is the list that is nearest to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, shown_above
from .._sampling import BitSource
from ..mechanisms import fall_together, privacy_to_document, sizes_of
from ..privacy import Guarantee
from .confidence import assured_together, least_distance, no_assurance, together
from .counts import CountNodes, GaussianNoise, GeometricNoise, ShapeNoise
from .protocol import ChainLink, ConfidenceStatement, longer
from .registry import MeasurementKind

# Joint intervals for the sizes of categories, given a published list of them.

LARGEST_SIZE = 1 << 40
"""Sizes beyond this are told as this."""

MOST_SIZES = 10**6
"""Sizes that are told at most: a list beyond would hold little but noise, or more than anyone reads."""


def sizes_between(
    shown: Sequence[int], *, head: int, within: int, records: int | None = None
) -> list[tuple[int, int | None]]:
    """Return ends of the true size of every rank that is shown.

    Parameters
    ----------
    shown : sequence of int
        The published list, largest first.
    head : int
        How many first sizes are released each by itself; later ones are described by how many are at least 1, 2, ….
    within : int
        The largest error of the released numbers, before they were made consistent.
    records : int, optional
        How many records there are, where that is public.

    Returns
    -------
    list of (int, int or None)
        The least and the largest size. All hold together whenever no number is further off; None stands for no end.

    References
    ----------
    proofs/sizes.md, claim 6.

    Examples
    --------
    >>> sizes_between([9, 7, 1], head=3, within=2)
    [(7, 11), (5, 9), (0, 3)]
    """
    top, rest = list(shown[:head]), np.array(shown[head:], dtype=np.int64)
    last = int(rest[0]) if len(rest) else 0
    counts = len(rest) - np.searchsorted(rest[::-1], np.arange(1, last + 1))  # c′_1, …, c′_t
    at_least = int(np.count_nonzero(counts > within))
    lows = [max(size - within if size > last else 0, at_least) for size in top]
    highs: list[int | None] = [None if size >= LARGEST_SIZE else size + within for size in top]
    places = np.arange(1, len(rest) + 1)
    lows += np.searchsorted(within - counts, -places, side="right").tolist()
    # The first j with c′_j + m < i − D; sizes are below it.
    told = np.where(counts < MOST_SIZES, counts + within, np.iinfo(np.int64).max)
    first = last - np.searchsorted(told[::-1], places)
    beyond = highs[-1] if highs else None
    highs += [int(j) if j < last else beyond for j in first.tolist()]
    if records is not None:
        parts = [records // rank for rank in range(1, len(highs) + 1)]
        highs = [part if high is None else min(high, part) for high, part in zip(highs, parts, strict=True)]
    falling = list(accumulate(highs, _smaller))
    raised = list(accumulate(reversed(lows), max))[::-1]
    return list(zip(raised, falling, strict=True))


def _smaller(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


Integers = NDArray[np.int64]

_LIKELY = Fraction(19, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizesShape:
    """Which numbers tell a list of sizes; public.

    Parameters
    ----------
    head : int
        D: the first sizes, each released by itself.
    below : int
        J: of the sizes after those, how many are at least 1, 2, …, J. Larger ones there count as J.
    first : int or None
        How many sizes are shown, zeros included; None for all above 0.
    """

    head: int
    below: int = 0
    first: int | None = None

    @property
    def numbers(self) -> int:
        """How many numbers that is."""
        return self.head + self.below

    def tell(self, sizes: Integers) -> Integers:
        """Return the numbers that tell a list; equal for equal multisets, and zeros tell nothing.

        Two lists of which one has one record more differ in at most one number, by one.
        """
        falling = np.minimum(np.sort(sizes)[::-1], LARGEST_SIZE)
        told = np.zeros(self.numbers, dtype=np.int64)
        front = falling[: self.head]
        told[: len(front)] = front
        if self.below:
            rest = np.bincount(np.minimum(falling[self.head :], self.below), minlength=self.below + 1)
            told[self.head :] = np.cumsum(rest[:0:-1])[::-1]
        return told

    def fit(self, noisy: Sequence[int], records: int | None = None) -> tuple[int, ...]:
        """Return the list that is nearest to noisy numbers; `records` is how many records there are, where public."""
        told = np.array(noisy, dtype=np.int64)
        head, below = told[: self.head], told[self.head :]
        head, below = np.clip(head, 0, LARGEST_SIZE), np.clip(below, 0, MOST_SIZES)
        if records is not None:  # the i-th largest of sizes that sum to n is at most n/i
            head = np.minimum(head, records // np.arange(1, self.head + 1))
            below = np.minimum(below, np.maximum(records // np.arange(1, self.below + 1) - self.head, 0))
        sizes = sizes_of(*fall_together(head.tolist(), below.tolist()))
        if self.first is not None:
            return (*sizes[: self.first], *[0] * (self.first - len(sizes)))
        return tuple(sizes)


@dataclass(frozen=True, slots=True, eq=False)
class SizeNodes:
    """The numbers that tell a cell's sizes; private, and not shown by `repr`.

    Attributes
    ----------
    told : int64 array, shape (cells, numbers)
        See `SizesShape.tell`.
    records : int64 array or None
        How many records each cell has, where that is public.
    """

    told: Integers = field(repr=False)
    records: Integers | None = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.told)

    def padded(self, size: int) -> SizeNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        nobody = np.zeros((size - len(self.told), self.told.shape[1]), dtype=np.int64)
        records = None if self.records is None else longer(self.records, size)
        return SizeNodes(np.concatenate([self.told, nobody]), records)


@dataclass(frozen=True, slots=True)
class SortedSizes:
    """Tells sizes by numbers with noise, and shows the nearest list.

    Parameters
    ----------
    noise : GeometricNoise, ShapeNoise or GaussianNoise
        What each number gets: private for a step of that number.
    privacy : Guarantee
        What that comes to for a step on the cell's graph (`queries.sizes`).
    shape : SizesShape

    References
    ----------
    proofs/sizes.md.
    """

    noise: GeometricNoise | ShapeNoise | GaussianNoise
    privacy: Guarantee
    shape: SizesShape

    @property
    def chained(self) -> None:
        """None: such answers form no chain."""
        return

    def draw(self, nodes: SizeNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None) -> Integers:
        """Draw the noisy numbers of every cell; equally many random words whatever the sizes, but for ties."""
        flat = _counts(nodes.told.ravel())
        return self.noise.draw(flat, source=source).reshape(nodes.told.shape)

    def show(self, drawn: list[Any], nodes: SizeNodes) -> list[Any]:
        """Return the nearest list of sizes for every cell."""
        publics = [None] * len(drawn) if nodes.records is None else nodes.records.tolist()
        return [self.shape.fit(noisy, records) for noisy, records in zip(drawn, publics, strict=False)]

    def ends(self, nodes: SizeNodes) -> dict[str, Any]:
        """Return how many records there are, where that is public: the i-th largest size is at most an i-th of it."""
        if nodes.records is None:
            return {}
        records = nodes.records.tolist()
        return {"records": records[0] if len(set(records)) == 1 else records}

    def law(self, nodes: SizeNodes, cell: int, largest: int) -> dict[Any, Fraction] | dict[Any, Enclosure]:
        """Return the law of the noisy numbers, lumped as those of counts are; `show` makes lists of them."""
        flat = _counts(nodes.told[cell])
        laws = [self.noise.law(flat, index, largest) for index in range(len(flat))]
        law: dict[Any, Any] = {}
        for parts in product(*(one.items() for one in laws)):
            values, chances = zip(*parts, strict=True)
            law[values] = _multiplied(chances)
        return law

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error of each number, and what all are within, before they are made to fit."""
        mean = self.noise.expected_error()["mean_absolute"]
        return {
            "numbers": self.shape.numbers,
            "mean_absolute": mean,
            "all_within_95_percent": None if mean is None else least_distance(self, _LIKELY),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Return the probability that all numbers are at most so far off, before they are made to fit."""
        return together(self.noise.chance_within(distance), self.shape.numbers)

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: SizeNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return ends of every size, which hold together for all of a list."""
        within = least_distance(self, confidence)
        if within is None:
            return no_assurance()
        publics = [None] * len(shown) if nodes.records is None else nodes.records.tolist()
        ends = [
            sizes_between(sizes, head=self.shape.head, within=within, records=records)
            for sizes, records in zip(shown, publics, strict=False)
        ]
        return assured_together(ends, confidence)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        if error["mean_absolute"] is None:
            return "pure noise"
        head = f"the {self.shape.head} largest sizes" if self.shape.head > 1 else "the largest size"
        rest = f", and how many below are at least 1, …, {self.shape.below:,}," if self.shape.below else ""
        return (
            f"{head}{rest} off by {shown_above(error['mean_absolute'])} on average, all by at most "
            f"{error['all_within_95_percent']} in 95 % of cases, before they are fitted to a list that never rises"
        )

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        mean = self.noise.expected_error()["mean_absolute"]
        return {
            "kind": MeasurementKind.SORTED_SIZES.value,
            "noise": {**self.noise.to_document(), "privacy": privacy_to_document(self.noise.privacy)},
            "head": self.shape.head,
            "below": self.shape.below,
            **({"first": self.shape.first} if self.shape.first is not None else {}),
            **({} if mean is None else {"within_95_percent": least_distance(self, _LIKELY)}),
        }


def _multiplied(chances: Sequence[Any]) -> Any:
    if all(isinstance(chance, Fraction) for chance in chances):
        result = Fraction(1)
        for chance in chances:
            result *= chance
        return result
    low, high = Fraction(1), Fraction(1)
    for chance in chances:
        low, high = low * chance.lower, high * chance.upper
    return Enclosure(low, high)


def _counts(values: Integers) -> CountNodes:
    """Return numbers as counts of paths without a public end."""
    return CountNodes(values=values, lower=np.zeros_like(values), upper=None)
