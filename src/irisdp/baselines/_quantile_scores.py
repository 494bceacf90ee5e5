"""`median` and `quantile P`: which of several ordered bins holds it, answered by this library and by others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from math import ceil, comb, factorial, floor, prod
from typing import Any, Protocol

import flint
import numpy as np

from .._exact import Enclosure, enclosures_of, short_text
from ..design import CappedRankTable, QuantileMechanism, ScoredBins, quantile, read_share
from ..errors import BadInput
from ._comparison import MOST_TABLES, Comparison, ComparisonParameters, Objective, in_records
from ._largest import BaselineArgmax, ExponentialScore, PermutedFlips
from ._rates import Powers, Rate, enclose_closely

# Choose the bin that holds a quantile by scores: how far each bin is from being the right one.
#
# A record moves each score by at most 1, some up and others down. So any mechanism that depends on scores alone
# satisfies ε if a step weighs ε/2. `ExponentialScore` and `PermutedFlips` accept scores in place of gaps.


def rank_scores(counts: Sequence[int], share: Fraction, span: Fraction) -> tuple[int, ...]:
    """Return the score of each bin: 0 for the right one, which is the first up to whose end there are p·n records.

    Parameters
    ----------
    counts : sequence of int
        Records in each bin, in order.
    share : Fraction
        p, above 0 and at most 1.
    span : Fraction
        By how many records a neighbour moves C_j − p·n at most: 1 where records are exchanged, else max(p, 1 − p).

    Examples
    --------
    >>> rank_scores((4, 1, 5), Fraction(1, 2), Fraction(1))
    (1, 0, 1)
    """
    ends = list(accumulate(counts))
    rank = share * ends[-1]
    scores = []
    for index, end in enumerate(ends):
        start = ends[index - 1] if index else None
        if end < rank:
            scores.append(ceil((rank - end) / span))
        elif start is not None and start >= rank:
            scores.append(floor((start - rank) / span) + 1)
        else:
            scores.append(0)
    return tuple(scores)


def records_off(counts: Sequence[int], share: Fraction) -> tuple[int, ...]:
    """Return how many records lie between each bin and the record at the rank ⌈p·n⌉, that one included."""
    ends = list(accumulate(counts))
    rank = ceil(share * ends[-1])
    starts = [0, *ends]
    return tuple(
        rank - end if end < rank else start - rank + 1 if number and start >= rank else 0
        for number, (start, end) in enumerate(zip(starts, ends, strict=False))
    )


_WIDTH = Fraction(1, 10**15)
_LEADS = (5, 20)

_WHY = (
    "a record moves the scores of some bins up and those of others down, each by 1 at most: a step of the score weighs"
    " ε/2, as for any scores"
)

_WORST = Objective("worst", "probability of a wrong bin, at its largest over all counts", "probability")

_Counts = tuple[int, ...]


class _Answering(Protocol):
    """What errors are worked out from."""

    def worst(self) -> Enclosure:
        """Return the largest probability of a wrong bin."""

    def chances(self, counts: _Counts, powers: Powers | None) -> list[Any]:
        """Work out the chance of each bin, as balls."""

    def powers(self) -> Powers | None:
        """Return what chances are worked out from."""


@dataclass(frozen=True, slots=True)
class _Ours:
    """This library's choice."""

    made: QuantileMechanism

    def worst(self) -> Enclosure:
        """Return the largest probability of a wrong bin: of a table read off its rows, of scores where all are 1."""
        form = self.made.form
        if isinstance(form, ScoredBins):
            return Enclosure.exactly(form.ladder.wrong(1))
        assert isinstance(form, CappedRankTable)
        weights = form.rows.weights
        wrong = np.where(form.offsets.records_off > 0, weights, 0).sum(axis=1).max()
        return Enclosure.exactly(Fraction(int(wrong), int(weights[0].sum())))

    def chances(self, counts: _Counts, powers: Powers | None) -> list[Any]:
        """Look the chances up."""
        (weights,) = self.made.form.weights(np.array([counts], np.int64)).tolist()
        total = sum(weights)
        return [flint.arb(flint.fmpq(weight, total)) for weight in weights]

    def powers(self) -> None:
        """Return nothing: these chances are whole numbers over others."""
        return


@dataclass(frozen=True, slots=True)
class _Scored:
    """A peer that is given scores by rank."""

    peer: BaselineArgmax
    bins: int
    share: Fraction
    span: Fraction

    def worst(self) -> Enclosure:
        """Return the probability of a wrong bin where all wrong ones have the score 1."""
        return self.peer.wrong((0, *[1] * (self.bins - 1)))

    def chances(self, counts: _Counts, powers: Powers | None) -> list[Any]:
        """Work out the chances from the scores."""
        scores = rank_scores(counts, self.share, self.span)
        assert powers is not None
        each = {score: self.peer.chance(scores, scores.index(score), powers) for score in set(scores)}
        return [each[score] for score in scores]

    def powers(self) -> Powers:
        """Return powers of what a step of the score weighs."""
        return self.peer.rate.powers()


def compare_median(asked: ComparisonParameters) -> Comparison:
    """Compare how often the wrong bin is named as the median's."""
    if asked.words:
        raise BadInput("query", "median takes no column here", "leave it out: only numbers of bins are compared")
    return _compare(asked, "median", Fraction(1, 2))


def compare_quantile(asked: ComparisonParameters) -> Comparison:
    """Compare how often the wrong bin is named as a quantile's."""
    if len(asked.words) != 1:
        raise BadInput("query", "quantile needs a number P and takes no column here", "write quantile 0.9")
    share = read_share(asked.words[0])
    return _compare(asked, f"quantile {short_text(share)}", share)


def _compare(asked: ComparisonParameters, query: str, share: Fraction) -> Comparison:
    k = asked.needed_categories
    made = quantile(k, asked.privacy, share, asked.relation)
    span = Fraction(1) if asked.relation == "exchange" else max(share, 1 - share)
    rate = Rate(asked.privacy.ratio, 2)
    peers = [peer(rate) for peer in (PermutedFlips, ExponentialScore)]
    answering: list[_Answering] = [_Ours(made), *(_Scored(peer, k, share, span) for peer in peers)]
    name, _, reason = made.rule.partition(":")
    floor = Fraction(k - 1) / (asked.privacy.ratio + k - 1)
    described: list[dict[str, Any]] = [
        {
            "name": name.split(" capped")[0],
            "ours": True,
            "runs_at": "ε in all",
            "why": reason.strip(),
            "scope": "no optimality is claimed; no private mechanism has a worst probability of a wrong bin below"
            f" {short_text(floor)}",
        },
        *(
            {
                "name": f"{peer.name} by rank",
                "known_as": peer.known_as,
                "runs_at": "ε/2 a step",
                "why": _WHY,
            }
            for peer in peers
        ),
    ]
    notes = [] if asked.privacy.delta == 0 else ["δ is not used: all of these mechanisms keep ε alone"]
    columns = _errors(k, share, asked, answering, notes)
    return Comparison.of(query, {"categories": k, "n": asked.records}, asked, described, columns, notes)


def _errors(
    k: int, share: Fraction, asked: ComparisonParameters, answering: Sequence[_Answering], notes: list[str]
) -> dict[Objective, list[Enclosure]]:
    result = {_WORST: [one.worst() for one in answering]}
    n = asked.records
    if n is not None and comb(n + k - 1, k - 1) <= MOST_TABLES:
        means = [_means(one, n, k, share) for one in answering]
        about = in_records(n)
        for index, (name, words, unit) in enumerate(
            (
                ("mean", f"probability of a wrong bin, mean over all histograms of {about}, each alike", "probability"),
                (
                    "mean-records",
                    f"probability of a wrong bin, mean over {about}, each in any bin alike",
                    "probability",
                ),
                ("records-off", f"records from the rank to the bin, mean over all histograms of {about}", "records"),
            )
        ):
            result[Objective(name, words, unit)] = [triple[index] for triple in means]
    elif n is not None:
        notes.append(f"no mean: {n:,} records in {k} bins make more than {MOST_TABLES:,} histograms")
    for lead in _LEADS if asked.leads is None else asked.leads:
        counts = _at_lead(lead, k, share)
        if counts is None:
            notes.append("no leads: where the quantile is the end of all records, its bin has no other beyond")
            break
        shown = ",".join(map(str, counts))
        words = (
            f"probability of a wrong bin where the rank is {in_records(lead)} from every other bin, at counts {shown}"
        )
        result[Objective(f"lead-{lead}", words, "probability")] = [_wrong(one, counts, share) for one in answering]
    return result


def _at_lead(lead: int, k: int, share: Fraction) -> _Counts | None:
    """Return counts whose quantile lies in a middle bin, so many records from the bins on either side."""
    if share == 1:
        return None
    records = share.denominator
    while True:
        rank = ceil(share * records)
        before, after = (rank - lead if k > 2 else 0), records - rank - lead + 1
        if before >= 0 and after >= 0:
            middle = records - before - after
            left = (k - 1) // 2
            return (*([before] if left else []), *[0] * (left - 1), middle, *[0] * (k - left - 2), after)
        records += share.denominator


def _wrong(one: _Answering, counts: _Counts, share: Fraction) -> Enclosure:
    off = records_off(counts, share)

    def compute() -> flint.arb:
        chances = one.chances(counts, one.powers())
        return sum((chance for chance, away in zip(chances, off, strict=True) if away), start=flint.arb(0))

    return enclose_closely(compute).clamp(Fraction(0), Fraction(1))


def _means(one: _Answering, records: int, k: int, share: Fraction) -> tuple[Enclosure, ...]:
    """Enclose the mean over histograms, over what each record may be, and the mean of how many records it is off."""
    tables = [(counts, records_off(counts, share), _ways(counts)) for counts in _histograms(records, k)]

    def add_up() -> list[flint.arb]:
        powers = one.powers()
        total = [flint.arb(0)] * 3
        for counts, off, ways in tables:
            wrong = away = flint.arb(0)
            for chance, distance in zip(one.chances(counts, powers), off, strict=True):
                if distance:
                    wrong, away = wrong + chance, away + distance * chance
            total = [total[0] + wrong, total[1] + ways * wrong, total[2] + away]
        return [total[0] / len(tables), total[1] / flint.arb(k) ** records, total[2] / len(tables)]

    return enclosures_of(add_up, 3, width=_WIDTH)


def _histograms(records: int, k: int) -> Iterator[_Counts]:
    for bars in combinations(range(records + k - 1), k - 1):
        ends = [-1, *bars, records + k - 1]
        yield tuple(end - start - 1 for start, end in pairwise(ends))


def _ways(counts: _Counts) -> int:
    return factorial(sum(counts)) // prod(map(factorial, counts))
