"""Which bin holds a quantile: which mechanism names it, chosen from public facts, and what was checked or is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, checked, integer, rational, rational_text
from ..errors import BadInput
from ..graphs import (
    MOST_PARTS,
    Indices,
    NeighbouringRelation,
    Offsets,
    Relation,
    capped_offsets,
    number_of_offsets,
    offsets_of,
)
from ..mechanisms import Row
from ..privacy import Privacy
from ._pull import LARGEST_RATIO, UNIT, Pulled, pulled
from ._score_weights import MOST_BINS, ScoreWeights, ladder
from ._table_cache import kept_table

# Where records are exchanged: the pull's fixed point on capped offsets without following it record by record.
#
# A wrong bin is a number of records off, and its chance is that of the right bin where these have moved, over r for
# each. It is best to move all of one side. Towards an earlier bin, the offsets from it on all rise until its own is
# 0; towards a later one, all offsets before it fall. So one unknown for each node is left. This is a guess, which the
# sweeps of the general pull confirm at once, and it decides nothing: every edge is checked.

_TOLERANCE = 1e-15
_MOST_ROUNDS = 3_000


def exchanged(offsets: Offsets, ratio: float) -> NDArray[np.float64]:
    """Return the chances of all bins at all nodes, about; shape (nodes, k).

    Parameters
    ----------
    offsets : Offsets
        Of records that are exchanged.
    ratio : float
        r.
    """
    off = offsets.records_off
    arrived, right = _arrivals(offsets), off == 0
    discounts = np.where(right, 0, ratio ** -off.astype(np.float64))
    pace = 1 / (1 + (offsets.bins - 1) / ratio / 2)
    share = np.full(len(off), 0.5)
    for _ in range(_MOST_ROUNDS):
        left = 1 - (share[arrived] * discounts).sum(axis=1)
        after = (1 - pace) * share + pace * left
        moved = float(np.abs(after / share - 1).max())
        share = after
        if moved < _TOLERANCE:
            break
    chances: NDArray[np.float64] = np.where(right, share[:, np.newaxis], share[arrived] * discounts)
    return chances


def _arrivals(offsets: Offsets) -> Indices:
    """Return the node at which each bin is right once the records have moved."""
    values, bins = offsets.values, offsets.bins
    arrived = np.repeat(np.arange(len(values))[:, np.newaxis], bins, axis=1)
    for index in range(bins):
        for earlier in (True, False):
            if index == (bins - 1 if earlier else 0):
                continue
            wrong = np.flatnonzero(values[:, index] < 0 if earlier else values[:, index - 1] >= 0)
            moved = values[wrong]
            if earlier:
                moved[:, index:] -= moved[:, index, np.newaxis].copy()
            else:
                moved[:, :index] -= moved[:, index - 1, np.newaxis] + 1
            arrived[wrong, index] = offsets.index(moved, np.zeros(len(wrong), np.int64))
    return arrived


# The two forms of a quantile's rows: a table of capped offsets, and weights by score; and how far off each may be.

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

    def off_by_more(self, distance: int) -> Enclosure:
        """Enclose the largest chance that the named bin is more than so many records from the rank."""
        ...


@dataclass(frozen=True, slots=True)
class CappedRankTable:
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
        indices: Indices = self.rows.weights[self.offsets.index(offsets, remainders)]
        return indices

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

    def off_by_more(self, distance: int) -> Enclosure:
        """Read it off the rows; distances beyond the reach look alike."""
        beyond = self.offsets.records_off > min(distance, self.offsets.reach - 1)
        return Enclosure.exactly(Fraction(int(np.where(beyond, self.rows.weights, 0).sum(axis=1).max()), UNIT))


@dataclass(frozen=True, slots=True)
class ScoredBins:
    """A sequence of weights by score.

    Parameters
    ----------
    ladder : ScoreWeights
    share : Fraction
        p.
    span : Fraction
        M: by how many records a neighbour moves C_j − p·n at most; one step of the score.
    """

    ladder: ScoreWeights
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
        indices: Indices = short + beyond
        return indices

    def weights(self, counts: Indices) -> Indices:
        """Look up the weight of every score."""
        table = np.array(self.ladder.weights, np.int64)
        indices: Indices = table[np.minimum(self.scores(counts), len(table) - 1)]
        return indices

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

    def off_by_more(self, distance: int) -> Enclosure:
        """Bound it from above: all wrong bins score what the nearest does, or more.

        At 0 that is exact: where one record, in the last bin, is all there is, all others score 1.
        """
        most = self._from(distance + 1)
        return Enclosure.exactly(most) if distance < 1 else Enclosure(Fraction(0), most)

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
        margin = self._first(Fraction(1, 100), farthest + 1)
        return margin if margin <= farthest else None

    def _worst_mean(self, farthest: int) -> float:
        """Bound the mean of how many records the named bin is off: where all wrong bins are equally far."""
        parts = self.share.denominator
        off = np.arange(1, farthest + 1)
        scores = np.minimum((off - 1) * parts // int(self.span * parts) + 1, len(self.ladder.weights) - 1)
        together = (self.ladder.bins - 1) * (np.array(self.ladder.weights, np.float64)[scores] / self.ladder.weights[0])
        return float((off * together / (1 + together)).max())


USUAL_WORK = {"exchange": 8_000_000, "add-remove": 1_200_000}
MOST_WORK = {"exchange": 16_000_000, "add-remove": 3_000_000}
"""Chances in a table, times its cap, up to which a larger cap is taken than needed, and up to which one is worked out
at all: some seconds, once, as tables are kept on disk."""

_WANTED = 1e-6
_NEEDED = 1e-4
"""What all wrong bins together may get where all are at the cap, about: a cap is chosen for the first, if it fits."""

_LEAST_CAP = 2
_MOST_IN_A_TABLE = 64
"""Bins: with more, nodes are no longer told apart in 64 bits, and their edges take more than a minute."""
_LARGEST_COUNT = 1 << 60


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileMechanism:
    """A mechanism that names the bin of a quantile, what it is, and what is claimed of it.

    Parameters
    ----------
    bins : int
        k.
    share : Fraction
        p.
    privacy : Privacy
        The guarantee, on counts of any size.
    relation : {"exchange", "add-remove"}
        Whether neighbours exchange one record for another, which may be in no bin, or have one more.
    form : Form
        Where its chances come from.
    rule : str
        Which mechanism this is, and why it is private.
    error : RankError
        How far off it may be, from public facts.
    """

    bins: int
    share: Fraction
    privacy: Privacy
    relation: Relation
    form: Form
    rule: str
    error: RankError

    @checked
    def row(self, counts: Sequence[int]) -> Row:
        """Return the chance of each bin, exactly.

        Parameters
        ----------
        counts : sequence of k integers
            Records in each bin, in order.
        """
        listed = tuple(counts) if isinstance(counts, Sequence) and not isinstance(counts, str) else ()
        if len(listed) != self.bins:
            raise BadInput("counts", f"must be a list of {self.bins} counts", "give one for each bin")
        held = [integer(count, "counts", at_least=0, at_most=_LARGEST_COUNT // MOST_BINS) for count in listed]
        (weights,) = self.form.weights(np.array([held], np.int64)).tolist()
        return tuple(Fraction(weight, sum(weights)) for weight in weights)


@checked
def quantile(
    bins: int, privacy: Privacy, share: Any = Fraction(1, 2), relation: Relation = "exchange"
) -> QuantileMechanism:
    """Name the bin that holds a quantile, from how many records are in each of several bins in order.

    Parameters
    ----------
    bins : int
        k, from 2 to 100.
    privacy : Privacy
        One pair. Its δ is not used, and δ = 0 is promised.
    share : number or text
        p, above 0 and at most 1, with a denominator up to 10^6. The right bin is the first that has p·n of the n
        records, or more, up to its end. The median is 1/2.
    relation : {"exchange", "add-remove"}
        Whether neighbours exchange one record for another, or have one more. Under "exchange" a record may also be
        exchanged for one in no bin: n then changes, and rows are private all the same.

    Returns
    -------
    QuantileMechanism
        Private for counts of any size. If the table of capped offsets is small: pull on it, every edge of which was
        checked in whole numbers. Otherwise: weights by score, which are proved to be private.

    Raises
    ------
    BadInput
        For numbers out of these ranges, or privacy of several pairs.

    Examples
    --------
    >>> made = quantile(3, Privacy(ratio=2))
    >>> [round(float(chance), 4) for chance in made.row((4, 3, 5))]
    [0.161, 0.678, 0.161]

    References
    ----------
    [McSherry2007]; proofs/quantiles.md.
    """
    k = integer(bins, "bins", at_least=2, at_most=MOST_BINS)
    part = read_share(share)
    if not privacy.single:
        raise BadInput("privacy", f"holds {len(privacy.pairs)} pairs, and this needs one", "give epsilon")
    privacy = privacy.pure
    form, rule = _form(k, min(privacy.ratio, LARGEST_RATIO), part, NeighbouringRelation(relation))
    return QuantileMechanism(
        bins=k, share=part, privacy=privacy, relation=relation, form=form, rule=rule, error=form.error()
    )


def scored_quantile(made: QuantileMechanism, privacy: Privacy) -> QuantileMechanism:
    """Return the weights by score for the same question at another privacy, which take no table to be worked out."""
    exchange = made.relation == NeighbouringRelation.EXCHANGE
    span = Fraction(1) if exchange else max(made.share, 1 - made.share)
    form = ScoredBins(ladder(made.bins, min(privacy.ratio, LARGEST_RATIO)), made.share, span)
    return replace(made, privacy=privacy.pure, form=form, rule=_BY_SCORE, error=form.error())


def read_share(share: Any) -> Fraction:
    """Read p: above 0 and at most 1, with a denominator of at most 10^6."""
    part = rational(share, "quantile")
    if not 0 < part <= 1:
        raise BadInput("quantile", "must be above 0 and at most 1", "write for example 0.9; the median is 0.5")
    if part.denominator > MOST_PARTS:
        raise BadInput("quantile", "must be a fraction of whole numbers up to 1,000,000", "round it, such as to 0.333")
    return part


_BY_SCORE = "weights by score: proved private for counts of any size, its inequality checked in whole numbers"


@lru_cache(maxsize=32)
def _form(bins: int, ratio: Fraction, share: Fraction, relation: NeighbouringRelation) -> tuple[Form, str]:
    """Choose: the relation's own table, else that of exchanges if it falls faster than weights by score, else those."""
    exchange = relation == NeighbouringRelation.EXCHANGE
    span = Fraction(1) if exchange else max(share, 1 - share)
    steps = ladder(bins, ratio)
    if not exchange:
        table = _table(bins, ratio, share, relation)
        if table is not None:
            return table
    fall = math.log(ratio / steps.growth) / float(span) if ratio > 1 else 0.0
    if exchange or math.log(ratio) > fall:
        table = _table(bins, ratio, share, NeighbouringRelation.EXCHANGE)
        if table is not None:
            return table
    return (
        ScoredBins(steps, share, span),
        _BY_SCORE,
    )


def _table(bins: int, ratio: Fraction, share: Fraction, relation: NeighbouringRelation) -> tuple[Form, str] | None:
    """Pull on capped offsets, at the largest cap that is wanted and fits; None if none does, or the check fails."""
    if ratio == 1 or bins > _MOST_IN_A_TABLE:
        return None
    exchange = relation == NeighbouringRelation.EXCHANGE
    span = 1.0 if exchange else float(max(share, 1 - share))
    own = None if exchange else share
    wanted, needed = (
        max(math.ceil(math.log((bins - 1) / chance) * span / math.log(ratio)), _LEAST_CAP)
        for chance in (_WANTED, _NEEDED)
    )
    cap = wanted
    if _work(bins, needed, own) > MOST_WORK[relation]:
        return None
    while cap > needed and _work(bins, cap, own) > USUAL_WORK[relation]:
        cap -= 1
    offsets = capped_offsets(bins, cap, own)
    asked = f"quantile table 1: {bins} bins up to {cap}, {relation}, {own}, {rational_text(ratio)}"
    found = kept_table(asked, offsets.graph, bins, ratio, lambda: (_pulled(offsets, ratio, span, exchange), "pull"))
    if found is None:
        return None
    rows, _ = found
    rule = (
        f"the pull on offsets capped at {cap}{'' if own is None else ', and the number of records'}: every edge of"
        f" their graph was checked in whole numbers, and counts of any size map to it"
    )
    return CappedRankTable(offsets, rows, share), rule


def _work(bins: int, cap: int, share: Fraction | None) -> int:
    """Return about what a table costs: each sweep goes over all chances, and a larger cap takes more sweeps."""
    return number_of_offsets(bins, cap, share) * bins * cap


def _pulled(offsets: Offsets, ratio: Fraction, span: float, exchange: bool) -> Pulled | None:
    """Pull, from a guess: where records are exchanged it is all but exact, else chances that fall with the distance."""
    far = np.exp(-math.log(ratio) / span * offsets.records_off) / 2
    right = offsets.truth[:, np.newaxis] == np.arange(offsets.bins)
    return pulled(offsets.graph, right, ratio, exchanged(offsets, float(ratio)) if exchange else far)
