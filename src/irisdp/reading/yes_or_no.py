"""How likely a published yes or no is true: the chances of the answer at every depth, weighed by what is known.

A table on one side of the question, `depth` steps from the other, is answered truly with the chance T^depth of the
boundary's. So for a reader who considers some tables possible, answers are right with at least the probability at the
least depth. Given weights of the tables, Bayes' rule adds up those probabilities on either side.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from ..errors import BadInput
from ..exact import Enclosure, integer, rational
from ..mechanisms import DepthMechanism, privacy_from_document
from ..privacy import Gaussian
from ..queries import Relation
from .judgement import CERTAIN, IMPOSSIBLE, ChoiceRule, Judgement, sure
from .knowledge import Knowledge
from .published_counts import LARGEST_COUNT
from .released import PublishedChoice
from .sides import Side, side_of_counts, side_of_leads, side_of_weights

__all__ = ["YesOrNoRule", "yes_or_no"]

_WIDTH = Fraction(1, 1 << 80)


@dataclass(frozen=True, slots=True)
class YesOrNoRule(ChoiceRule):
    """A reader of yes and no.

    Parameters
    ----------
    mechanism : DepthMechanism
    sides : dict
        For yes and for no the tables that fit what is known, None where there are none.
    certain : bool
        Whether the answer is public, and is said with certainty.
    basis : str
        Of `irisdp.reading.judgement.BASES`, where it is not known which side the truth is on.
    """

    mechanism: DepthMechanism
    sides: dict[str, Side | None]
    certain: bool
    basis: str

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Yes and no."""
        return ("yes", "no")

    def judge(self, name: Hashable) -> Judgement:
        """Say how likely a published answer is true."""
        possible = [side for side in self.names if self.sides[str(side)] is not None]
        if self.certain and name not in possible:
            rule = "leaves possible only what this release, which is never wrong, did not say"
            raise BadInput("at_least", rule, "check it, at_most= and the value against the release")
        if self.certain:
            return sure(name, name, self.names, "certain", Fraction(1))
        nearest = [self._truth(side, depths.first) for side, depths in self._both()]
        at_worst = min(chance.lower for chance in nearest)
        if len(possible) == 1:
            return sure(name, possible[0], self.names, "known", at_worst)
        if self.basis == "worst":
            found = Enclosure(at_worst, min(chance.upper for chance in nearest))
            return Judgement(reading=name, probability=found, basis="worst", right_at_worst=at_worst, posterior=None)
        likely = self._bayes(str(name))
        other = "no" if name == "yes" else "yes"
        chances = {name: likely, other: Enclosure(1 - likely.upper, 1 - likely.lower)}
        return Judgement(
            reading=name if likely.lower + likely.upper >= 1 else other,
            probability=likely,
            basis=self.basis,
            right_at_worst=at_worst,
            posterior={side: chances[side] for side in self.names},
        )

    def _bayes(self, name: str) -> Enclosure:
        """Enclose the chance that an answer is true, given that it was published."""
        right = wrong = IMPOSSIBLE
        for side, depths in self._both():
            true, total = depths.right(partial(self._truth, side))
            if side == name:
                right = true
            else:
                wrong = Enclosure(max(total - true.upper, Fraction(0)), max(total - true.lower, Fraction(0)))
        return Enclosure(_share(right.lower, wrong.upper), _share(right.upper, wrong.lower, most=True))

    def _both(self) -> list[tuple[str, Side]]:
        return [(side, depths) for side, depths in self.sides.items() if depths is not None]

    def _truth(self, side: str, depth: int) -> Enclosure:
        group = next(place for place, names in enumerate(self.mechanism.rankings) if names[0] == side)
        return self.mechanism.truth(group, depth, width=_WIDTH)


def yes_or_no(published: PublishedChoice, known: Knowledge) -> YesOrNoRule:
    """Make the rule for what `at-least`, `at-most` and `majority` publish."""
    query = published.query.get("query")
    exchange = published.relation is Relation.EXCHANGE
    mechanism = _mechanism(published)
    if query == "majority":
        return YesOrNoRule(mechanism, _majority(known, exchange=exchange), False, _basis(known))
    if query not in ("at-least", "at-most"):
        raise BadInput("release", "asks a question that interpret does not know", "give the file that publish wrote")
    if known.lead is not None:
        raise BadInput("lead", "is about majorities and the largest of several categories", "give at_least=, at_most=")
    # At most K is what is not at least K + 1.
    start = integer(published.query.get("threshold"), "threshold", at_least=0, at_most=LARGEST_COUNT) + (
        query == "at-most"
    )
    high, low = ("yes", "no") if query == "at-least" else ("no", "yes")
    least, most, weights = known.weights()
    sides: dict[str, Side | None]
    if weights is None:
        sides = {
            high: side_of_counts(max(least, start) - start, None if most is None else most - start),
            low: side_of_counts(start - 1 - (start - 1 if most is None else min(most, start - 1)), start - 1 - least),
        }
    else:
        sides = {
            high: side_of_weights({count - start: weight for count, weight in weights.items() if count >= start}),
            low: side_of_weights({start - 1 - count: weight for count, weight in weights.items() if count < start}),
        }
    certain = start == 0 or (exchange and published.query.get("expression") is None)
    return YesOrNoRule(mechanism, sides, certain, _basis(known, most))


def _basis(known: Knowledge, most: int | None = None) -> str:
    if known.prior is not None:
        return "prior"
    return "worst" if most is None and known.at_most is None else "uniform"


def _majority(known: Knowledge, *, exchange: bool) -> dict[str, Side | None]:
    """Count the tables in which so many say yes or no; a tie is a no, and has no lead."""
    known.only_records("majority")
    least, most = known.bounds(None)
    lead = 0 if known.lead is None else integer(known.lead, "lead", at_least=0, at_most=LARGEST_COUNT)
    sides = {
        "yes": side_of_leads(
            max(lead, 1), least, most, furthest=lambda depth: 2 * depth + 2 if exchange else depth + 1
        ),
        "no": side_of_leads(lead, least, most, furthest=lambda depth: 2 * depth + 1 if exchange else depth),
    }
    if not any(sides.values()):
        raise BadInput("lead", "leaves no table possible", "check it against at_most=")
    return sides


def _mechanism(published: PublishedChoice) -> DepthMechanism:
    """Build the mechanism again from its sidecar."""
    rankings, boundary = published.mechanism.get("rankings"), published.mechanism.get("boundary")
    pairs = published.guarantee
    if isinstance(pairs, Gaussian):
        pairs = privacy_from_document(published.mechanism.get("pairs"))
    names = {("yes", "no"), ("no", "yes")}
    if not isinstance(rankings, list | tuple) or not isinstance(boundary, list | tuple) or len(boundary) != 2:
        raise BadInput("release", "has no boundary of two classes", "give the file that publish wrote")
    listed = tuple(map(tuple, rankings))
    if len(listed) != 2 or set(listed) != names:
        raise BadInput("release", "does not rank yes and no", "give the file that publish wrote")
    rows: Any = tuple(tuple(rational(p, "boundary") for p in row) for row in boundary)
    return DepthMechanism(privacy=pairs, rankings=listed, boundary=rows)


def _share(part: Fraction, rest: Fraction, *, most: bool = False) -> Fraction:
    """Return part/(part + rest); of what can never be published, whichever end is on the safe side."""
    return part / (part + rest) if part + rest else (CERTAIN if most else IMPOSSIBLE).lower
