"""`at-least K` and `majority`: yes or no, answered by this library and by others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from .._exact import Enclosure, integer
from ..errors import BadInput
from ..mechanisms import DepthMechanism, balanced_line
from ._comparison import Comparison, ComparisonParameters, Objective, in_records
from ._rates import Number, Powers, Rate

# Yes or no with the baseline mechanisms: their probability of error, by distance from the other answer.
#
# A question is a line of positions: yes from 1 up, no from 0 down; a record moves the position by at most `stride`. A
# position is *away* from the other answer by position − 1, or by −position. For `at-least K` the position is the
# count less K − 1, and the stride is 1; for `majority` it is yes less no, and the stride is 1 where records are added
# or removed, 2 where they are exchanged. At the rate α = r^(−1/stride) a position keeps ε.


@dataclass(frozen=True, slots=True)
class PeerDecision(ABC):
    """A mechanism that says yes or no, and treats the two alike.

    Parameters
    ----------
    ratio : Fraction
        r.
    stride : int
        By how much a record moves the position.
    """

    ratio: Fraction
    stride: int

    name: ClassVar[str]
    halvings: ClassVar[int] = 1
    """1 where the error is a formula in α, 2 where it is one in √α."""

    def wrong(self, away: int) -> Enclosure:
        """Return the probability of the wrong answer at positions that are so far away from the other."""
        rate = Rate(self.ratio, self.halvings * self.stride)
        return rate.enclose_probability(lambda powers: self.miss(away, powers), 2 * away + 2)

    @abstractmethod
    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability of the wrong answer from powers of α, or of √α."""


@dataclass(frozen=True, slots=True)
class GeometricSide(PeerDecision):
    """Add two-sided geometric noise to the position, and say on which side it comes to lie.

    References
    ----------
    [Ghosh2012].
    """

    name: ClassVar[str] = "threshold of a count with geometric noise"

    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability that noise reaches the other side."""
        return powers(away + 1) / (1 + powers.base)


@dataclass(frozen=True, slots=True)
class LaplaceSide(PeerDecision):
    """Add Laplace noise to the position, and say on which side of the middle between the answers it comes to lie.

    References
    ----------
    [Dwork2014].
    """

    name: ClassVar[str] = "threshold of a count with Laplace noise"
    halvings: ClassVar[int] = 2

    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability that noise reaches the other side: half of α^(away + ½)."""
        return powers(2 * away + 1) / 2


@dataclass(frozen=True, slots=True)
class ExponentialSide(PeerDecision):
    """The exponential mechanism with the distance from the middle between the answers as the score of yes, 0 of no.

    Only one score moves, and always one way, so that the odds, which move by the factor r, may be all of ε.

    References
    ----------
    [McSherry2007].
    """

    name: ClassVar[str] = "exponential mechanism"
    halvings: ClassVar[int] = 2

    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability of the answer with the smaller score."""
        odds = powers(2 * away + 1)
        return odds / (1 + odds)


@dataclass(frozen=True, slots=True)
class ComparedCounts(PeerDecision):
    """Add two-sided geometric noise to the two counts, and say whether the first is larger.

    Where a record is added, one count rises, and either noise may keep all of ε; where it is exchanged, both change.

    References
    ----------
    [Dwork2014], Claim 3.9, for Laplace noise.
    """

    name: ClassVar[str] = "the larger of two counts with geometric noise"

    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability that the difference of two noises reaches the other side.

        The difference is k with chance ((1 − α)/(1 + α))²·α^k·(k + b) for k ≥ 0, b = (1 + α²)/(1 − α²).
        """
        alpha, least = powers.base, away + 1
        middle = (1 + alpha**2) / (1 - alpha**2)
        tail = (least + middle) / (1 - alpha) + alpha / (1 - alpha) ** 2
        return ((1 - alpha) / (1 + alpha)) ** 2 * powers(least) * tail


@dataclass(frozen=True, slots=True)
class ToldAlone:
    """Randomised response about the answer alone: it does not look at how far away the other is.

    Parameters
    ----------
    ratio, delta : Fraction

    References
    ----------
    [Warner1965].
    """

    ratio: Fraction
    delta: Fraction

    name: ClassVar[str] = "randomised response about the answer"

    def wrong(self, away: int) -> Enclosure:
        """Return the probability of the wrong answer, (1 − δ)/(1 + r)."""
        return Enclosure.exactly((1 - self.delta) / (1 + self.ratio))


_LEADS = (5, 20)

_MOST_COUNTS = 10_000

_SCOPE = "no private mechanism has a smaller worst probability of the wrong answer; "

_AT_EVERY_DISTANCE = {
    1: "none that treats yes and no alike is wrong less often, at any distance",
    2: "with these rows at the boundary none is wrong less often, at any distance; a mechanism with a larger worst"
    " probability may be wrong less often at some distances",
}
"""By stride: under exchange two positions are at the boundary, and what one of them loses another may gain."""

_WORST = Objective("worst", "probability of the wrong answer, at its largest over all tables", "probability")


_WrongChance = Callable[[int], Enclosure]
"""From how far away the other answer is to the probability of the wrong one."""


def _wrong_on_line(line: DepthMechanism, stride: int, away: int) -> Enclosure:
    """Return the probability of the wrong answer of the balanced line, which looks at the records up to the other."""
    if away // stride <= 1_000:
        return Enclosure.exactly(1 - line.row(0, away // stride)[0])
    truth = line.truth(0, away // stride, width=Fraction(1, 1 << 4_000))
    return Enclosure(1 - truth.upper, 1 - truth.lower)


def compare_at_least(asked: ComparisonParameters) -> Comparison:
    """Compare how often `at-least K` is answered wrongly."""
    threshold = _threshold(asked)
    n = asked.records
    if n is not None and threshold is None:
        raise BadInput("query", "at-least needs a number K for a mean over counts", "write at-least K, such as 10")
    if n is not None and threshold is not None and not 1 <= threshold <= n:
        raise BadInput("query", f"K must lie between 1 and n = {n}", "choose another K: the answer is known otherwise")
    peers = (GeometricSide, LaplaceSide, ExponentialSide)
    return _compare(
        asked,
        query="at-least" if threshold is None else f"at-least {threshold}",
        stride=1,
        peers=peers,
        lead="where the count is {lead} beyond the boundary between the answers",
        mean="counts 0 to {n}, each alike",
        away=[] if n is None or threshold is None else [_away(count - threshold + 1) for count in range(n + 1)],
        why="a record moves the count by 1, whatever the relation: it weighs all of ε",
    )


def compare_majority(asked: ComparisonParameters) -> Comparison:
    """Compare how often `majority` is answered wrongly."""
    if asked.words:
        raise BadInput("majority", "takes no condition here", "leave it out: no data is read")
    stride = 2 if asked.relation == "exchange" else 1
    why = (
        "a record that changes sides moves yes less no by 2: each of them weighs ε/2"
        if stride == 2
        else "a record moves yes less no by 1: it weighs all of ε"
    )
    n = asked.records
    return _compare(
        asked,
        query="majority",
        stride=stride,
        peers=(GeometricSide, ComparedCounts, LaplaceSide, ExponentialSide),
        lead="where yes is {lead} ahead",
        mean="0 to {n} of {n} records that say yes, each number alike",
        away=[] if n is None else [_away(2 * yes - n) for yes in range(n + 1)],
        why=why,
    )


def _threshold(asked: ComparisonParameters) -> int | None:
    if not asked.words:
        return None
    if len(asked.words) > 1:
        raise BadInput("at-least", "takes one number K and no condition here", "leave it out: no data is read")
    return integer(asked.words[0], "K", at_least=0, at_most=10**9)


def _away(position: int) -> int:
    """Return how far a position is from the other answer: yes from 1 up, no from 0 down."""
    return position - 1 if position >= 1 else -position


def _compare(
    asked: ComparisonParameters,
    *,
    query: str,
    stride: int,
    peers: Sequence[Callable[[Fraction, int], PeerDecision]],
    lead: str,
    mean: str,
    away: Sequence[int],
    why: str,
) -> Comparison:
    privacy = asked.privacy
    if len(away) > _MOST_COUNTS:
        raise BadInput("n", f"must be at most {_MOST_COUNTS:,} for a mean over counts", "give a smaller n, or none")
    at = "ε a record" if stride == 1 else "ε/2 a record"
    told = ToldAlone(privacy.ratio, privacy.delta)
    contenders: list[tuple[Mapping[str, Any], _WrongChance]] = [
        (
            {
                "name": "best for each distance",
                "ours": True,
                "runs_at": "ε in all",
                "why": "as likely right as ε and δ allow, at every number of records from the other answer",
                "scope": _SCOPE + _AT_EVERY_DISTANCE[stride],
            },
            partial(_wrong_on_line, balanced_line(privacy), stride),
        ),
        *(
            ({"name": one.name, "runs_at": at, "why": why}, one.wrong)
            for one in (made(privacy.ratio, stride) for made in peers)
        ),
        (
            {"name": told.name, "runs_at": "ε in all", "why": "the two answers are neighbours wherever they meet"},
            told.wrong,
        ),
    ]
    places = {_WORST: [0]}
    for ahead in _LEADS if asked.leads is None else asked.leads:
        words = f"probability of the wrong answer {lead.format(lead=in_records(ahead))}"
        places[Objective(f"lead-{ahead}", words, "probability")] = [ahead - 1]
    if away:
        words = f"probability of the wrong answer, mean over {mean.format(n=f'{asked.records:,}')}"
        places[Objective("mean", words, "probability")] = list(away)
    notes = []
    if privacy.delta > 0:
        notes.append("δ is used by this library and by randomised response; the other mechanisms keep ε alone")
    columns = {objective: [_mean(wrong, listed) for _, wrong in contenders] for objective, listed in places.items()}
    return Comparison.of(query, {"n": asked.records}, asked, [words for words, _ in contenders], columns, notes)


def _mean(wrong: _WrongChance, away: Sequence[int]) -> Enclosure:
    wrong_at = {distance: wrong(distance) for distance in set(away)}
    low, high = (
        sum((getattr(wrong_at[place], end) for place in away), start=Fraction(0)) for end in ("lower", "upper")
    )
    return Enclosure(low / len(away), high / len(away))
