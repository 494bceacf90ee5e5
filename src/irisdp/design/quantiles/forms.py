"""The two forms of a quantile's rows: a table of capped offsets, and weights by score; and how far off each may be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from ...exact import Enclosure
from ...graphs.offsets import Offsets, offsets_of
from ...graphs.protocol import Indices
from ..pulling import UNIT, Pulled
from .ladder import Ladder

__all__ = ["Form", "PulledOffsets", "RankError", "ScoredBins"]

_FARTHEST = 1 << 40
"""Offsets beyond it score alike: no ladder is as long, and products with the denominator of p stay below 2^63."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankError:
    """How far from the quantile's rank the named bin is, at most, from public facts alone.

    Parameters
    ----------
    wrong_at_worst : float
        The largest chance of a wrong bin.
    records_off : float
        The largest mean number of records between the rank and the named bin, more than `farthest` counted as that.
    within_95_percent : int or None
        A number of records that the distance exceeds in at most 5 % of cases, whatever the data; None if no
        distinguished number is large enough.
    margin_for_99_percent : int or None
        From how many records on, between the rank and the nearest other bin, at most 1 % of answers are wrong.
    farthest : int
        Distances are distinguished up to this number of records.
    beyond : float
        The largest chance that the named bin is so many records off, or more.
    """

    wrong_at_worst: float
    records_off: float
    within_95_percent: int | None
    margin_for_99_percent: int | None
    farthest: int
    beyond: float


class Form(Protocol):
    """Chances of bins from counts."""

    def weights(self, counts: Indices) -> Indices:
        """Return whole numbers in proportion to which each row's bins are named; they add up below 2^63."""
        ...

    def error(self) -> RankError:
        """Return how far off it may be."""
        ...

    def wrong_from(self, margin: int) -> Enclosure:
        """Enclose the largest chance of a wrong bin where no other is nearer to the rank than so many records."""
        ...


@dataclass(frozen=True, slots=True)
class PulledOffsets:
    """Rows of the general pull, one for each node of capped offsets; every edge was checked.

    Parameters
    ----------
    offsets : Offsets
    rows : Pulled
    share : Fraction
        p.
    """

    offsets: Offsets
    rows: Pulled
    share: Fraction

    def weights(self, counts: Indices) -> Indices:
        """Return the chances, in units of 1/UNIT."""
        offsets, remainders = offsets_of(counts, self.share)
        found: Indices = self.rows.weights[self.offsets.index(offsets, remainders)]
        return found

    def error(self) -> RankError:
        """Compute the errors from the rows, because a stored table may have been replaced by a less accurate one."""
        off, chances = self.offsets.records_off, self.rows.weights / UNIT
        wrong = np.where(off > 0, chances, 0).sum(axis=1)
        reach = self.offsets.reach
        tails = [float(np.where(off > bound, chances, 0).sum(axis=1).max()) for bound in range(reach)]
        margin = np.where(off > 0, off, reach + 1).min(axis=1)
        ahead = [bound for bound in range(1, reach + 1) if wrong[margin >= bound].max(initial=0) <= 0.01]
        return RankError(
            wrong_at_worst=float(wrong.max()),
            records_off=float((off * chances).sum(axis=1).max()),
            within_95_percent=next((bound for bound, tail in enumerate(tails) if tail <= 0.05), None),
            margin_for_99_percent=min(ahead, default=None),
            farthest=reach,
            beyond=tails[-1],
        )

    def wrong_from(self, margin: int) -> Enclosure:
        """Read it off the rows; offsets beyond the reach look alike."""
        off = self.offsets.records_off
        near = np.where(off > 0, off, self.offsets.reach + 1).min(axis=1) >= min(margin, self.offsets.reach)
        wrong = np.where(off > 0, self.rows.weights, 0).sum(axis=1)[near]
        return Enclosure.exactly(Fraction(int(wrong.max()), UNIT))


@dataclass(frozen=True, slots=True)
class ScoredBins:
    """A sequence of weights by score.

    Parameters
    ----------
    ladder : Ladder
    share : Fraction
        p.
    span : Fraction
        M: by how many records a neighbour moves C_j − p·n at most; one step of the score.
    """

    ladder: Ladder
    share: Fraction
    span: Fraction

    def scores(self, counts: Indices) -> Indices:
        """Return the score of every bin.

        With f = p·n − C_j it is ⌈f/M⌉ if f > 0, and with g = C_{j−1} − p·n it is ⌊g/M⌋ + 1 if g ≥ 0; else 0.
        """
        offsets, remainders = offsets_of(counts, self.share)
        parts = self.share.denominator
        # p·n − C = −u − (⌈p·n⌉ − p·n), in units of 1/parts.
        above = (np.clip(offsets, -_FARTHEST, _FARTHEST) * parts) + (-self.share.numerator * remainders % parts)[
            :, None
        ]
        step = int(self.span * parts)
        none = np.zeros((len(counts), 1), np.int64)
        short = np.hstack([np.where(offsets < 0, -(above // step), 0), none])
        beyond = np.hstack([none, np.where(offsets >= 0, above // step + 1, 0)])
        found: Indices = short + beyond
        return found

    def weights(self, counts: Indices) -> Indices:
        """Look up the weight of every score."""
        table = np.array(self.ladder.weights, np.int64)
        found: Indices = table[np.minimum(self.scores(counts), len(table) - 1)]
        return found

    def error(self) -> RankError:
        """Bound the errors: the worst is that all wrong bins are equally far off."""
        last = len(self.ladder.weights) - 1
        farthest = max(1, int(last * self.span))
        return RankError(
            wrong_at_worst=float(self._from(1)),
            records_off=self._worst_mean(farthest),
            within_95_percent=None
            if self._from(farthest) > Fraction(1, 20)
            else self._first(Fraction(1, 20), farthest) - 1,
            margin_for_99_percent=self._margin(farthest),
            farthest=farthest,
            beyond=float(self._from(farthest)),
        )

    def wrong_from(self, margin: int) -> Enclosure:
        """Bound it from above: all wrong bins score what the nearest does, or more.

        Up to a margin of 1 that is exact: where one record, in the last bin, is all there is, all others score 1.
        """
        most = self._from(max(1, margin))
        return Enclosure.exactly(most) if margin <= 1 else Enclosure(Fraction(0), most)

    def _from(self, records: int) -> Fraction:
        """Bound the chance of a bin that is so many records off, or more: f or g is above records − 1."""
        return self.ladder.wrong(int((records - 1) / self.span) + 1)

    def _first(self, chance: Fraction, end: int) -> int:
        """Return the first number of records, or `end`, so far off with at most a chance, which falls."""
        low, high = 0, end
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._from(middle) <= chance else (middle, high)
        return high

    def _margin(self, farthest: int) -> int | None:
        found = self._first(Fraction(1, 100), farthest + 1)
        return found if found <= farthest else None

    def _worst_mean(self, farthest: int) -> float:
        """Bound the mean of how many records the named bin is off: where all wrong bins are equally far."""
        parts = self.share.denominator
        off = np.arange(1, farthest + 1)
        scores = np.minimum((off - 1) * parts // int(self.span * parts) + 1, len(self.ladder.weights) - 1)
        together = (self.ladder.bins - 1) * (np.array(self.ladder.weights, np.float64)[scores] / self.ladder.weights[0])
        return float((off * together / (1 + together)).max())
