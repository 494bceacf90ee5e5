"""One noisy count for a group's name and its answer: what is named is what is counted, and both are paid for once.

The noise ends: it is at most x₊, and a group that nobody is in never has a noisy count above it. So a group is named
exactly if its noisy count lies above x₊, which is post-processing of the noisy count. Without a condition this is
optimal. No private rule that never names an empty group names any group more often, and no other way to name and count
at the same cost serves any reader better (proofs/named-counts.md).

With a condition a group is a pair of counts, of the records that satisfy it and of the others. A record is in one of
the two, so noise for both costs no more than for one. A group is named if either lies above x₊, and answered by the
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..noise import ShapeLaw
from ..privacy import Privacy, enclose_steps
from ..sampling import BitSource
from .added_noise import ShapeNoise, shape_law
from .assurance import HIGH, LOW, Assurance
from .assured import promised
from .counts_on_paths import CountNodes, NoisyCounts
from .named_ends import named_ends
from .naming import describe_naming, named_from
from .padding import longer
from .protocol import Link
from .shares import share_of

__all__ = ["UNNAMED", "GroupCounts", "NamedCounts"]

UNNAMED = np.iinfo(np.int64).min
"""Stands for the answer about a group that is not named."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts(CountNodes):
    """Two counts for each group, of which a record is in one: private, and not shown by `repr`.

    Attributes
    ----------
    values : int64 array
        Records that are counted.
    lower, upper
        0, and no end.
    others : int64 array
        The group's other records.
    """

    others: NDArray[np.int64] = field(repr=False)

    def padded(self, size: int) -> GroupCounts:
        """Return `size` nodes: these, and after them groups that nobody is in."""
        return GroupCounts(longer(self.values, size), longer(self.lower, size), None, longer(self.others, size))

    def alone(self, cell: int) -> GroupCounts:
        """Return one group."""
        part = slice(cell, cell + 1)
        return GroupCounts(self.values[part], self.lower[part], None, self.others[part])


@dataclass(frozen=True, slots=True)
class NamedCounts(ShapeNoise):
    """Names groups by their noisy counts and answers with these, in the cells of noise that is best for every reader.

    Parameters
    ----------
    privacy : Privacy
        Of one person who comes or goes, for names and answers together. Every pair has a δ above 0.
    split : bool
        Whether a group's other records are counted beside those that are asked for, so that they can name it too.
    records : int
        How many records one person has that count, in whatever groups.

    References
    ----------
    proofs/named-counts.md; `irisdp.noise.law`.
    """

    privacy: Privacy
    split: bool = False
    records: int = 1

    def __post_init__(self) -> None:
        """Refuse a guarantee under which noise has no end, or one too far out: then nothing may be named by it."""
        if self.noise.support is None:
            raise BadInput("delta", "must be above 0 to name groups by their counts", "give delta=1e-6")

    @property
    def share(self) -> Privacy:
        """What one record may reveal."""
        return share_of(self.privacy, self.records)

    @property
    def noise(self) -> ShapeLaw:
        """What is added, in cells."""
        return shape_law(self.share)

    @property
    def last(self) -> int:
        """The last cell that an empty group's noisy count can be in: beyond it, groups are named."""
        support = self.noise.support
        assert support is not None
        return support[1]

    def draw(
        self, nodes: CountNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw the cell of each group's noisy count, or `UNNAMED`."""
        drawn = self.noise.draw(nodes.values, source)
        named = self._passes(drawn)
        if self.split:
            named |= self._passes(self.noise.draw(self._others(nodes), source))
        return np.where(named, drawn, UNNAMED)

    def named(self, drawn: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which groups were named, by what was drawn."""
        found: NDArray[np.bool_] = drawn != UNNAMED
        return found

    def show(self, drawn: list[Any], nodes: CountNodes) -> list[Any]:
        """Show the whole numbers in which the noisy counts of named groups lie."""
        whole: list[Any] = self.noise.whole(drawn).tolist()
        # Named, as a class with slots is made twice and `super()` would mean the first.
        return NoisyCounts.show(self, whole, nodes)

    def beside(self, drawn: list[Any]) -> dict[str, list[Any]]:
        """Return the cells, as they were drawn: what readers need beside the numbers that people are shown."""
        return {"cells": drawn}

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: CountNodes, confidence: Fraction) -> Assurance:
        """Return ends that allow for the groups' being named: a small one's noisy count must be far too large."""
        between = named_ends(self.noise, self.last, split=self.split, confidence=confidence)
        ends = [between.of(cell) for cell in drawn]
        columns = {LOW: [low for low, _ in ends], HIGH: [high for _, high in ends]}
        return Assurance(columns, promised(confidence), confidence)

    def law(self, nodes: CountNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of a named group's cell; None stands for a group that is not named."""
        first, chances = self._cells(int(nodes.values[cell]))
        otherwise = Fraction(0)
        if self.split:
            other, masses = self._cells(int(self._others(nodes)[cell]))
            otherwise = sum((masses[place] for place in np.flatnonzero(self._passes(other))), Fraction(0))
        alone = self._passes(first).tolist()
        named = {
            z: chance if passes else chance * otherwise
            for z, passes, chance in zip(first.tolist(), alone, chances, strict=True)
        }
        return {None: 1 - sum(named.values())} | {z: chance for z, chance in named.items() if chance}

    def describe_error(self) -> str:
        """Say the expected error in one line, and what noise is made for where a person has several records."""
        return self.describe_error_for("person")

    def describe_error_for(self, unit: str) -> str:
        """Return the same text with another word for a protected person."""
        of = "of a group chosen beforehand; a small one that is named is off by more"
        said = f"{NoisyCounts.describe_error(self)}, {of}"
        if self.records == 1:
            return said
        most = self.records
        return f"{said}; noise at ε/{most}, as one {unit} can change the groups by at most {most} in all"

    def named_from(self) -> dict[str, int]:
        """Return from how many records on a group is named, whatever part of them is counted."""
        return named_from(self._chance)

    def describe_naming(self) -> str:
        """Say the same in words."""
        whatever = ", for however many of them the condition holds" if self.split else ""
        return f"{describe_naming(self.named_from())}{whatever}"

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers: how many cells are a unit, and which is the last unnamed.

        Cell 0 begins at −½.
        """
        document = {"kind": "named-counts", "cells_per_unit": self.noise.atoms_per_unit, "named_above": self.last}
        document |= {"split": True} if self.split else {}
        return document | ({"records": self.records} if self.records > 1 else {})

    def _passes(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which noisy counts no empty group can have."""
        passing: NDArray[np.bool_] = cells > self.last
        return passing

    def _cells(self, count: int) -> tuple[NDArray[np.int64], list[Fraction]]:
        """Return the cells in which a count's noisy count may lie, and their probabilities."""
        size, support = self.noise.atoms_per_unit, self.noise.support
        assert support is not None
        below = [self.noise.below_exactly(z) for z in range(support[0], support[1] + 2)]
        places = np.arange(support[0], support[1] + 1) + count * size
        return places, [after - before for before, after in pairwise(below)]

    def _others(self, nodes: CountNodes) -> NDArray[np.int64]:
        assert isinstance(nodes, GroupCounts)
        return nodes.others

    def _chance(self, size: int) -> Fraction:
        """Bound from below the probability that a group of this size is named.

        Where it is split in two it is least in the middle: the chances to miss have ratios that never rise.
        """
        parts = (size // 2, size - size // 2) if self.split else (size,)
        missed = Fraction(1)
        for part in parts:
            missed *= 1 - enclose_steps(Fraction(0), part, self.share, width=Fraction(1, 1 << 40)).lower
        return 1 - missed
