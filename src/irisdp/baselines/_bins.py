"""`quantiles` and `bounds`: noisy counts of all bins, and how others answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import flint

from .._exact import Enclosure, ball, entries, short_text
from .._measurements import EDGES_OF_POWERS, NoisyBounds, NoisyQuantiles, QuantileBin, least_distance
from ..design import quantile, read_share
from ..errors import BadInput
from ..privacy import Privacy, halved
from ._comparison import Comparison, ComparisonParameters, Objective
from ._largest import BaselineArgmax, ExponentialScore, PermutedFlips
from ._rates import Rate, enclose_closely

_LIKELY = {"apart-50": Fraction(1, 2), "apart-95": Fraction(19, 20), "apart-99": Fraction(99, 100)}

_UNUSED_DELTA = "δ is not used: all of these mechanisms keep ε alone"


@dataclass(frozen=True, slots=True)
class ScoresByRank:
    """A mechanism that chooses one bin by scores: how far it surely stays, whatever the data.

    Parameters
    ----------
    peer : BaselineArgmax
    bins : int
    span : Fraction
        By how many records a neighbour moves C_j − p·n at most.
    """

    peer: BaselineArgmax
    bins: int
    span: Fraction

    def chance_within(self, distance: int) -> Enclosure:
        """Bound the chance that the bin is at most so many records from the rank.

        A bin further off has at least the score of the next record; all wrong bins may be that far off at once.
        """
        score = distance // self.span + 1
        wrong = self.peer.wrong((0, *[int(score)] * (self.bins - 1)))
        return Enclosure(1 - wrong.upper, Fraction(1))


def compare_quantiles(asked: ComparisonParameters) -> Comparison:
    """Compare how far off each of several quantiles may be, at one charge for all."""
    listed = asked.words[0].split(",") if len(asked.words) == 1 and isinstance(asked.words[0], str) else None
    listed = listed or (entries(asked.words[0]) if len(asked.words) == 1 else None)
    if not listed:
        raise BadInput("query", "quantiles needs numbers P1,P2,… and takes no column here", "write quantiles 0.25,0.5")
    shares = sorted({read_share(part.strip() if isinstance(part, str) else part) for part in listed})
    k, privacy, exchange = asked.needed_categories, asked.privacy, asked.relation == "exchange"
    parts = len(shares)
    pair = Privacy(ratio=privacy.ratio)
    names = tuple(map(str, range(k)))
    noise = cast(Privacy, halved(pair)) if exchange else pair
    counted = NoisyQuantiles(noise, pair, tuple(shares), names, ())
    rate = Rate(privacy.ratio, 2 * parts)
    spans = [Fraction(1) if exchange else max(share, 1 - share) for share in shares]
    each = Privacy(epsilon=pair.epsilon / parts) if parts > 1 else pair
    alone = [QuantileBin(quantile(k, each, share, asked.relation), names, ()) for share in shares]
    answering: list[Sequence[Any]] = [[counted], alone]
    answering += [[ScoresByRank(peer(rate), k, span) for span in spans] for peer in (PermutedFlips, ExponentialScore)]
    part = "ε" if parts == 1 else f"ε/{parts}"
    described: list[dict[str, Any]] = [
        {
            "name": "noisy counts of all bins",
            "ours": True,
            "runs_at": "ε/2 a bin" if exchange else "ε a bin",
            "why": "a record is in one bin, so all quantiles together cost what one count costs, or two under exchange",
            "scope": "no optimality is claimed",
        },
        {
            "name": "this library's quantile, one after the other",
            "runs_at": f"{part} each",
            "why": "the mechanism of `quantile P`, asked once for each",
            "scope": "no optimality is claimed",
        },
        *(
            {
                "name": f"{peer.name} by rank, one after the other",
                "known_as": peer.known_as,
                "runs_at": f"ε/{2 * parts} a step",
                "why": "a record moves the scores of some bins up and those of others down, each by 1 at most",
            }
            for peer in (PermutedFlips, ExponentialScore)
        ),
    ]
    columns = {
        Objective(
            name,
            f"records between a quantile's rank and its bin in {float(100 * often):g} % of cases, whatever the data:"
            " at most this many, for the hardest quantile",
            "records",
        ): [Enclosure.exactly(Fraction(max(_distance(one, often) for one in answers))) for answers in answering]
        for name, often in _LIKELY.items()
    }
    notes = ["distances are bounds: those of noisy counts add up the chances of all bins, and are off by less"]
    notes += [_UNUSED_DELTA] if privacy.delta else []
    query = "quantiles " + ",".join(map(short_text, shares))
    return Comparison.of(query, {"categories": k}, asked, described, columns, notes)


def _distance(mechanism: Any, often: Fraction) -> int:
    distance = least_distance(mechanism, often)
    if distance is None:
        raise BadInput("epsilon", "is too small: no distance is kept", "choose a larger epsilon")
    return distance


# Bounds: the bins between powers of two whose noisy counts reach a threshold.

_WRONG = Fraction(1, 20)
_SUCCESS = {"5 %": Fraction(1, 20), "1e-9": Fraction(1, 10**9)}


def compare_bounds(asked: ComparisonParameters) -> Comparison:
    """Compare from how many records on values lie between private bounds."""
    if asked.words:
        raise BadInput("query", "bounds takes no column here", "leave it out: no data is read")
    exchange, bins = asked.relation == "exchange", len(EDGES_OF_POWERS) + 1
    pair = Privacy(ratio=asked.privacy.ratio)
    noise = cast(Privacy, halved(pair)) if exchange else pair
    ours = NoisyBounds(noise, pair, EDGES_OF_POWERS)
    runs_at = "ε/2 a bin" if exchange else "ε a bin"
    why = "a record is in one bin: an exchange moves two counts" if exchange else "a record is in one bin"
    described: list[dict[str, Any]] = [
        {
            "name": "geometric noise, threshold for 5 %",
            "ours": True,
            "runs_at": runs_at,
            "why": why,
            "scope": "no optimality is claimed",
        }
    ]
    rate = Rate(asked.privacy.ratio, 2 if exchange else 1)
    alpha = noise.ratio

    def standing_out() -> flint.arb:
        beyond = ball(1 / alpha) ** ours.threshold / (1 + ball(1 / alpha))
        return 1 - (1 - beyond) ** bins

    inside = [Enclosure.exactly(Fraction(ours.inside_from))]
    empty = [enclose_closely(standing_out)]
    for words, wrong in _SUCCESS.items():
        described.append(
            {
                "name": f"Laplace noise, threshold for {words}",
                "known_as": "approximate bounds of a histogram over powers of two",
                "runs_at": runs_at,
                "why": why,
            }
        )
        inside.append(Enclosure.exactly(Fraction(_laplace_inside(rate, bins, wrong))))
        empty.append(Enclosure.exactly(wrong))
    often = "a bin between two powers of two lies within the bounds in 95 % of cases or more"
    columns = {
        Objective("inside-from", f"records from which on {often}", "records"): inside,
        Objective("empty", "probability that an empty bin stands out, where all are empty", "probability"): empty,
    }
    notes = [f"all have the same {bins} bins"] + ([_UNUSED_DELTA] if asked.privacy.delta else [])
    return Comparison.of("bounds", {}, asked, described, columns, notes)


def _laplace_inside(rate: Rate, bins: int, wrong: Fraction) -> int:
    """Return the least count that Laplace noise leaves above a threshold in 95 % of cases.

    The threshold τ is where no noise of any bin reaches it but with the probability `wrong`:
    (1 − ½e^(−τ·ε))^B = 1 − wrong. The count is τ + log(10)/ε, rounded up.
    """

    def needed() -> flint.arb:
        each = 1 - (ball(1 - wrong).log() / bins).exp()
        step = ball(rate.ratio).log() / rate.root
        return ((1 / (2 * each)).log() + (1 / (2 * ball(_WRONG))).log()) / step

    held = enclose_closely(needed)
    return -int(-held.upper // 1)
