"""How likely a published winner has most records: by Bayes over gaps, or in the worst of the tables.

The mechanisms that name the largest category treat all categories alike, and so do the reader's tables. So which name
was published does not matter: it is true with the mean, over the tables, of the chance that a largest one is named.
What all categories have in common changes nothing, so that few rows stand for all tables (see `gap_classes`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..cells.kinds import MeasurementKind
from ..cells.winners import LargestCategory
from ..errors import BadInput
from ..exact import Enclosure, integer
from ..mechanisms.plurality import PermuteAndFlip, Pull, Winner
from ..queries import Relation
from ..queries.query import pure_pair
from .gap_classes import GapClasses, gap_classes, most_weighed, weighed
from .judgement import ChoiceRule, Judgement
from .knowledge import Knowledge
from .published_counts import LARGEST_COUNT
from .released import PublishedChoice

__all__ = ["WinnerRule", "winner"]


@dataclass(frozen=True, slots=True)
class WinnerRule(ChoiceRule):
    """A reader of the names of largest categories.

    Parameters
    ----------
    outputs : tuple
        The names of the categories.
    probability : Enclosure
        That a published name is true.
    basis : str
        Of `irisdp.reading.judgement.BASES`.
    right_at_worst : Fraction
        How likely such a name is true at least, whatever the table.
    others : Enclosure or None
        The probability of each other name, given what was published.
    note : str or None
        Why the tables were not weighed, where they are too many.
    """

    outputs: tuple[Hashable, ...]
    probability: Enclosure
    basis: str
    right_at_worst: Fraction
    others: Enclosure | None = field(repr=False)
    note: str | None = None

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The categories."""
        return self.outputs

    def judge(self, name: Hashable) -> Judgement:
        """Say how likely a published name is that of a largest category."""
        posterior = None
        if self.others is not None:
            posterior = {one: self.probability if one == name else self.others for one in self.outputs}
        return Judgement(
            reading=name,
            probability=self.probability,
            basis=self.basis,
            right_at_worst=self.right_at_worst,
            posterior=posterior,
            note=self.note,
        )


def winner(published: PublishedChoice, known: Knowledge) -> WinnerRule:
    """Make the rule for what `plurality` publishes: pull from the top, or permute and flip."""
    outputs = _outputs(published)
    pair = pure_pair(published.guarantee, "plurality")
    rule: Winner
    if published.kind == MeasurementKind.PULL_FROM_THE_TOP:
        rule = Pull(len(outputs), pair)
    else:
        rule = PermuteAndFlip(len(outputs), pair, exchange=published.relation is Relation.EXCHANGE)
    known.only_records("plurality")
    first, last = known.bounds(None)
    lead = 0 if known.lead is None else integer(known.lead, "lead", at_least=0, at_most=LARGEST_COUNT)
    if last is not None and lead > last:
        raise BadInput("lead", "leaves no table possible", "check it against at_most=")
    classes = None if last is None else gap_classes(rule.categories, first, last, lead)
    if classes is None:
        return WinnerRule(outputs, *_worst(rule, lead), None, None if last is None else _too_many(rule.categories))
    if not classes.tables:
        raise BadInput("lead", "leaves no table possible", "check it against at_least= and at_most=")
    return _bayes(rule, classes, outputs)


def _too_many(categories: int) -> str:
    """Say from where on tables are not weighed: without a word the answer would seem to fall with what is known."""
    return f"too many tables to weigh above {most_weighed(categories)} records; the worst case is shown"


def _worst(rule: Winner, lead: int) -> tuple[Enclosure, str, Fraction]:
    """Return how likely the largest is named, at worst, where it leads all others by `lead` or more."""
    found = rule.right_from(lead)
    return found, "worst", found.lower


def _bayes(rule: Winner, classes: GapClasses, outputs: tuple[Hashable, ...]) -> WinnerRule:
    """Weigh the chances of all tables, which are equally likely."""
    if not classes.gaps.any():  # tables of nobody only: all are largest
        one = Enclosure.exactly(Fraction(1))
        return WinnerRule(outputs, one, "certain", one.lower, one)
    chances = LargestCategory(rule, rule.privacy).chances(classes.gaps)
    level = (classes.gaps == 0).sum(axis=1)
    total = sum(classes.tables)
    # All that are level have the same chance, that of the first.
    times = [tables * int(many) for tables, many in zip(classes.tables, level, strict=True)]
    low = np.clip(chances.low[:, 0], 0.0, 1.0)
    high = np.clip(chances.high[:, 0], 0.0, 1.0)
    right = Enclosure(weighed(low, times, up=False) / total, weighed(high, times, up=True) / total)
    right = right.clamp(Fraction(0), Fraction(1))
    # Of the names that are true, on the whole, each other one has its share of what the published one leaves.
    true = Fraction(sum(times), total)
    others = Enclosure((true - right.upper) / (rule.categories - 1), (true - right.lower) / (rule.categories - 1))
    worst = min(many * Fraction(chance) for many, chance in zip(level.tolist(), low.tolist(), strict=True))
    return WinnerRule(outputs, right, "uniform", min(worst, Fraction(1)), others.clamp(Fraction(0), Fraction(1)))


def _outputs(published: PublishedChoice) -> tuple[Hashable, ...]:
    """Return the categories by name, which are not in a ledger."""
    named: Any = published.mechanism.get("outputs")
    if not isinstance(named, list | tuple):
        rule = "does not say which categories there are"
        raise BadInput("release", rule, "give the publication, or the .release.json beside its answers")
    outputs = tuple(named)
    if any(isinstance(name, list | dict | None) for name in outputs) or len(set(outputs)) != len(outputs):
        raise BadInput("release", "does not name each category once", "give the file that publish wrote")
    if len(outputs) < 2 or published.mechanism.get("categories") != len(outputs):
        raise BadInput("release", "names another number of categories than it compares", "give publish's own file")
    return outputs
