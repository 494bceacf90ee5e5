"""How likely a published winner has most records: by Bayes over gaps, or in the worst of the tables.

The mechanisms that name the largest category treat all categories alike, and so do the reader's tables. So which name
was published does not matter: it is true with the mean, over the tables, of the chance that a largest one is named.
What all categories have in common changes nothing, so that few rows stand for all tables (see `gap_classes`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, integer
from .._measurements import LargestCategory, MeasurementKind
from .._queries import pure_pair
from .._release import ReleaseFile
from ..errors import BadInput
from ..mechanisms import PermuteAndFlip, Pull, Winner
from ._knowledge import ReaderKnowledge
from ._name_rules import ChoiceRule, NameProbability
from ._published_counts import LARGEST_COUNT

# All tables of so many records in q categories, up to their order and their common part: few, and easy to list.

_MOST_ENTRIES = 1_500_000
"""Gaps in all that are listed; some seconds."""


@dataclass(frozen=True, slots=True)
class GapClasses:
    """Gaps to the largest category, ascending, and how many tables have them, in any order.

    Attributes
    ----------
    gaps : int64 array, shape (classes, q)
    tables : list of int
    """

    gaps: NDArray[np.int64]
    tables: list[int]


def gap_classes(categories: int, first: int, last: int, lead: int) -> GapClasses | None:
    """List the gaps of all tables of `first` to `last` records whose largest category leads by `lead` or more.

    Returns
    -------
    GapClasses or None
        None where they would be more than about a million numbers.

    Notes
    -----
    What every category has above the least is a list of q − 1 numbers, sorted, with a sum of `last` at most. The least
    category's own count is then free, as far as the number of records allows.
    """
    if _too_many_classes(categories, last):
        return None
    above = np.zeros((1, 1), dtype=np.int64)
    for left in range(categories - 1, 0, -1):
        least = above[:, -1]
        most = (last - above.sum(axis=1)) // left
        choices = most - least + 1
        rows = np.repeat(np.arange(len(above)), choices)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(choices) - choices, choices)
        above = np.column_stack([above[rows], least[rows] + place])
    above = above[above[:, -1] - above[:, -2] >= lead]
    total = above.sum(axis=1)
    copies = (last - total) // categories - np.maximum(0, -((total - first) // categories)) + 1
    above, copies = above[copies > 0], copies[copies > 0]
    return GapClasses((above[:, -1:] - above)[:, ::-1], _in_any_order(above, copies))


def most_weighed(categories: int) -> int:
    """Return the most records of which `gap_classes` lists all tables of that many categories."""
    beyond = 1
    while not _too_many_classes(categories, beyond):
        beyond *= 2
    fits = beyond // 2
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        fits, beyond = (fits, middle) if _too_many_classes(categories, middle) else (middle, beyond)
    return fits


def _too_many_classes(categories: int, last: int) -> bool:
    return _partitions(categories - 1, last) * categories > _MOST_ENTRIES


def _partitions(parts: int, largest: int) -> int:
    """Count the lists of `parts` sorted numbers with a sum of `largest` at most; where they are too many, too many."""
    if parts == 1:
        return largest + 1
    if math.comb(largest + parts, parts) // math.factorial(parts) > _MOST_ENTRIES:
        return _MOST_ENTRIES + 1  # each list has at most that many orders
    ways = [1] + [0] * largest
    for part in range(1, parts + 1):
        for total in range(part, largest + 1):
            ways[total] += ways[total - part]
    return sum(ways)


def _in_any_order(sorted_rows: NDArray[np.int64], copies: NDArray[np.int64]) -> list[int]:
    """Multiply how often every row comes by the number of its different orders."""
    runs = np.ones(len(sorted_rows), dtype=np.int64)
    alike = np.ones(len(sorted_rows), dtype=object)
    for index in range(1, sorted_rows.shape[1]):
        runs = np.where(sorted_rows[:, index] == sorted_rows[:, index - 1], runs + 1, 1)
        alike = alike * runs.astype(object)
    orders = math.factorial(sorted_rows.shape[1])
    return [orders // int(same) * int(often) for same, often in zip(alike, copies, strict=True)]


def weighed(values: NDArray[np.float64], weights: list[int], *, up: bool) -> Fraction:
    """Add up weights times floats in [0, 1], each rounded to a multiple of 2^-62, down or up."""
    scaled = np.ceil(values * 2.0**62) if up else np.floor(values * 2.0**62)
    return Fraction(sum(int(value) * weight for value, weight in zip(scaled, weights, strict=True)), 1 << 62)


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
        Of `irisdp.interpretation.BASES`.
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

    def judge(self, name: Hashable) -> NameProbability:
        """Say how likely a published name is that of a largest category."""
        posterior = None
        if self.others is not None:
            posterior = {output: self.probability if output == name else self.others for output in self.outputs}
        return NameProbability(
            reading=name,
            probability=self.probability,
            basis=self.basis,
            right_at_worst=self.right_at_worst,
            posterior=posterior,
            note=self.note,
        )


def winner(published: ReleaseFile, known: ReaderKnowledge) -> WinnerRule:
    """Make the rule for what `plurality` publishes: pull from the top, or permute and flip."""
    outputs = _outputs(published)
    pair = pure_pair(published.privacy, "plurality")
    rule: Winner
    if published.kind == MeasurementKind.PULL_FROM_THE_TOP:
        rule = Pull(len(outputs), pair)
    else:
        rule = PermuteAndFlip(len(outputs), pair, published.cell_relation)
    known.only_records("plurality")
    first, last = known.bounds(None)
    lead = 0 if known.lead is None else integer(known.lead, "lead", at_least=0, at_most=LARGEST_COUNT)
    if last is not None and lead > last:
        raise BadInput("lead", "leaves no table possible", "check it against at_most=")
    classes = None if last is None else gap_classes(rule.categories, first, last, lead)
    if classes is None:
        return WinnerRule(
            outputs, *_worst(rule, lead), None, None if last is None else _too_many_to_compute(rule.categories)
        )
    if not classes.tables:
        raise BadInput("lead", "leaves no table possible", "check it against at_least= and at_most=")
    return _bayes(rule, classes, outputs)


def _too_many_to_compute(categories: int) -> str:
    """Say from where on tables are not weighed: without a word the answer would seem to fall with what is known."""
    return f"too many tables to weigh above {most_weighed(categories)} records; the worst case is shown"


def _worst(rule: Winner, lead: int) -> tuple[Enclosure, str, Fraction]:
    """Return how likely the largest is named, at worst, where it leads all others by `lead` or more."""
    probability = rule.right_from(lead)
    return probability, "worst", probability.lower


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


def _outputs(published: ReleaseFile) -> tuple[Hashable, ...]:
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
