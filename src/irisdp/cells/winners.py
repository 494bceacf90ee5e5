"""Which category is the largest in each cell, drawn exactly for many cells at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact import Enclosure, shown_above
from ..mechanisms.plurality import PermuteAndFlip, Pull, Winner
from ..privacy import Privacy
from ..sampling import BitSource
from ..sampling.bits import system_bits
from ..sampling.thresholds import LAST_WORD, ThresholdTable, chunks
from ..sampling.ties import bracket_rational, resolve
from .assurance import Assurance
from .assured import assured_names
from .chances import least_distance
from .protocol import ENCLOSED, Link
from .winner_floats import Interval, flip_chances, pull_chances
from .wording import records

__all__ = ["GapNodes", "LargestCategory"]

_WORD = 2.0**64


@dataclass(frozen=True, slots=True, eq=False)
class GapNodes:
    """How far each category is behind the largest, per cell; private, and not shown by `repr`.

    Attributes
    ----------
    categories : tuple
        Their names, as declared; public.
    gaps : int64 array, shape (cells, categories)
        Records that each category has fewer than the largest.
    """

    categories: tuple[Any, ...]
    gaps: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.gaps)

    def padded(self, size: int) -> GapNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        nobody = np.zeros((size - len(self.gaps), len(self.categories)), dtype=np.int64)
        return GapNodes(self.categories, np.concatenate([self.gaps, nobody]))


@dataclass(frozen=True, slots=True)
class LargestCategory:
    """Names the largest category, from the gaps to it.

    Parameters
    ----------
    rule : Winner
        Pull from the top, or permute and flip.
    privacy : Privacy
        What one step on a cell's graph may reveal: at least that is kept by the rule.

    References
    ----------
    docs/theory.md#plurality; proofs/plurality.md.
    """

    rule: Winner
    privacy: Privacy

    @property
    def claim(self) -> str | None:
        """What is proven of it: of pull from the top, on tables of every size (proofs/plurality.md, T3)."""
        proven = isinstance(self.rule, Pull)
        return "on tables of every size, smallest worst probability of a wrong answer" if proven else None

    @property
    def chained(self) -> Privacy | None:
        """None: such answers form no chain."""
        return None

    def draw(
        self, nodes: GapNodes, links: Sequence[Link] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw the place of one category per cell: a word each, and ⌈log2 q⌉ comparisons.

        A word that falls between the floats around a cumulative probability (about once in 2^48 draws) is compared with
        the exact one. More words are read only if 64 digits leave it open.
        """
        bits = system_bits(source)
        drawn = np.empty(len(nodes), dtype=np.int64)
        for part in chunks(len(nodes)):
            gaps = nodes.gaps[part]
            table = ThresholdTable.from_cells(_open_cells(self.chances(gaps))).at(bits.word_bits)
            words = bits.words(len(gaps))
            drawn[part], ties = table.count_reached(words, np.arange(len(gaps)))
            for tie in ties.tolist():
                bracket = partial(_bracket, self.rule, tuple(gaps[tie].tolist()))
                drawn[part.start + tie] = resolve(int(words[tie]), bracket, bits, first=0, last=gaps.shape[1] - 1)
        return drawn

    def show(self, drawn: list[Any], nodes: GapNodes) -> list[Any]:
        """Name the categories."""
        return [nodes.categories[place] for place in drawn]

    def ends(self, nodes: GapNodes) -> dict[str, Any]:
        """Return the names: the same question may spell them in another way."""
        return {"outputs": nodes.categories}

    def law(self, nodes: GapNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of a cell's answer."""
        return dict(zip(nodes.categories, self.rule.row(nodes.gaps[cell].tolist()), strict=True))

    def expected_error(self) -> dict[str, Any]:
        """Return the largest probability of a wrong answer, and the leads that bring it to 5 % and 1 %."""
        return {
            "wrong_at_worst": float(self.rule.worst_error),
            "lead_for_95_percent": least_distance(self, Fraction(19, 20)),
            "lead_for_99_percent": least_distance(self, Fraction(99, 100)),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Enclose the probability of naming the largest where it leads all others by so many records, at worst.

        Of pull from the top the lower end is a bound from a lead of 2 on (`Pull.right_from`).
        """
        return self.rule.right_from(distance, width=ENCLOSED)

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: GapNodes, confidence: Fraction) -> Assurance:
        """Return the probability of the right answer, at worst."""
        return assured_names(self.chance_within(0).lower, shown)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        lead = error["lead_for_99_percent"]
        where = f"where the largest leads all others by {records(lead)}" if lead else "whatever the lead"
        return f"wrong with probability {shown_above(error['wrong_at_worst'])} at worst, below 1 % {where}"

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers."""
        kind = "pull-from-the-top" if isinstance(self.rule, Pull) else "permute-and-flip"
        return {"kind": kind, "categories": self.rule.categories}

    def chances(self, gaps: NDArray[np.int64]) -> Interval:
        """Return the chance of each category in each cell, as intervals."""
        ratio = self.rule.privacy.ratio
        if isinstance(self.rule, PermuteAndFlip):
            return flip_chances(gaps, ratio, exchange=self.rule.exchange)
        order = np.argsort(gaps, axis=1, kind="stable")
        found = pull_chances(np.take_along_axis(gaps, order, axis=1), ratio)
        low, high = np.empty_like(found.low), np.empty_like(found.high)
        np.put_along_axis(low, order, found.low, axis=1)
        np.put_along_axis(high, order, found.high, axis=1)
        return Interval(low, high)


def _open_cells(chances: Interval) -> NDArray[np.uint64]:
    """Return the words that each cumulative probability leaves open, shape (cells, q − 1, 2); see `thresholds`."""
    low, high = chances.low[:, :1], chances.high[:, :1]
    sums = [Interval(low[:, 0], high[:, 0])]
    for place in range(1, chances.low.shape[1] - 1):
        sums.append(sums[-1].plus(Interval(chances.low[:, place], chances.high[:, place])))
    cells = np.empty((len(chances.low), len(sums), 2), dtype=np.uint64)
    for place, one in enumerate(sums):
        cells[:, place, 0] = _word(np.floor(np.maximum(one.low, 0.0) * _WORD))
        cells[:, place, 1] = _word(np.maximum(np.ceil(one.high * _WORD) - 1, 0.0))
    return cells


def _word(value: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Turn floats that are whole numbers into words; those from 2^64 on are the last."""
    beyond = value >= _WORD
    words = np.where(beyond, 0.0, value).astype(np.uint64)
    words[beyond] = LAST_WORD
    return words


def _bracket(rule: Winner, gaps: tuple[int, ...], category: int, bits: int) -> tuple[int, int]:
    """Bracket the chance of the categories before this one."""
    found = rule.enclose(gaps, width=Fraction(1, len(gaps) << bits + 2))[:category]
    total = list(accumulate(found, lambda one, other: Enclosure(one.lower + other.lower, one.upper + other.upper)))[-1]
    return bracket_rational(total.lower, bits)[0], bracket_rational(total.upper, bits)[1]
