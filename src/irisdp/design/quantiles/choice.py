"""Which bin holds a quantile: which mechanism names it, chosen from public facts, and what was checked or is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ...errors import BadInput
from ...exact import checked, integer, rational, rational_text
from ...graphs.offsets import MOST_PARTS, Offsets, capped_offsets, number_of_offsets
from ...mechanisms import Row
from ...privacy import Privacy
from ..kept_tables import kept_table
from ..pulling import LARGEST_RATIO, Pulled, pulled
from .arrivals import exchanged
from .forms import Form, PulledOffsets, RankError, ScoredBins
from .ladder import MOST_BINS, ladder

__all__ = ["Quantile", "quantile", "read_share"]

Relation = Literal["exchange", "add-remove"]

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
class Quantile:
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
def quantile(bins: int, privacy: Privacy, share: Any = Fraction(1, 2), relation: Relation = "exchange") -> Quantile:
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
    Quantile
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
    form, rule = _form(k, min(privacy.ratio, LARGEST_RATIO), part, relation == "exchange")
    return Quantile(bins=k, share=part, privacy=privacy, relation=relation, form=form, rule=rule, error=form.error())


def read_share(share: Any) -> Fraction:
    """Read p: above 0 and at most 1, with a denominator of at most 10^6."""
    part = rational(share, "quantile")
    if not 0 < part <= 1:
        raise BadInput("quantile", "must be above 0 and at most 1", "write for example 0.9; the median is 0.5")
    if part.denominator > MOST_PARTS:
        raise BadInput("quantile", "must be a fraction of whole numbers up to 1,000,000", "round it, such as to 0.333")
    return part


@lru_cache(maxsize=32)
def _form(bins: int, ratio: Fraction, share: Fraction, exchange: bool) -> tuple[Form, str]:
    """Choose: the relation's own table, else that of exchanges if it falls faster than weights by score, else those."""
    span = Fraction(1) if exchange else max(share, 1 - share)
    steps = ladder(bins, ratio)
    if not exchange:
        table = _table(bins, ratio, share, False)
        if table is not None:
            return table
    fall = math.log(ratio / steps.growth) / float(span) if ratio > 1 else 0.0
    if exchange or math.log(ratio) > fall:
        table = _table(bins, ratio, share, True)
        if table is not None:
            return table
    return (
        ScoredBins(steps, share, span),
        "weights by score: proved private for counts of any size, its inequality checked in whole numbers",
    )


def _table(bins: int, ratio: Fraction, share: Fraction, exchange: bool) -> tuple[Form, str] | None:
    """Pull on capped offsets, at the largest cap that is wanted and fits; None if none does, or the check fails."""
    if ratio == 1 or bins > _MOST_IN_A_TABLE:
        return None
    span = 1.0 if exchange else float(max(share, 1 - share))
    own = None if exchange else share
    wanted, needed = (
        max(math.ceil(math.log((bins - 1) / chance) * span / math.log(ratio)), _LEAST_CAP)
        for chance in (_WANTED, _NEEDED)
    )
    cap = wanted
    relation = "exchange" if exchange else "add-remove"
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
    return PulledOffsets(offsets, rows, share), rule


def _work(bins: int, cap: int, share: Fraction | None) -> int:
    """Return about what a table costs: each sweep goes over all chances, and a larger cap takes more sweeps."""
    return number_of_offsets(bins, cap, share) * bins * cap


def _pulled(offsets: Offsets, ratio: Fraction, span: float, exchange: bool) -> Pulled | None:
    """Pull, from a guess: where records are exchanged it is all but exact, else chances that fall with the distance."""
    far = np.exp(-math.log(ratio) / span * offsets.records_off) / 2
    right = offsets.truth[:, np.newaxis] == np.arange(offsets.bins)
    return pulled(offsets.graph, right, ratio, exchanged(offsets, float(ratio)) if exchange else far)
