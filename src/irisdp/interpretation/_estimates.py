"""What answers that are lists say: sizes rank by rank, and categories counted from answers about each record."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._exact import integer, percent_below, rational_text
from .._frames import Tabular
from .._hooks import Drawable
from .._ledger import Release
from .._measurements import LARGEST_SIZE, USUAL_CONFIDENCE, MeasurementKind, ReadAs, first_where, sizes_between
from .._release import Answers, Publication, ReleaseFile, read_confidence
from ..errors import BadInput
from ..mechanisms import balanced_truth
from ..privacy import as_pairs
from ._published_counts import LARGEST_COUNT
from ._released import released_table, stated

if TYPE_CHECKING:
    import pyarrow


# How many records are in each category, given a published answer about each record.

_FLOAT_ERROR = 1e-9
"""More than the floats of a tail are off by, and than the terms left out are in all."""


def estimated(answers: int, records: int, truth: Fraction, lie: Fraction) -> Fraction:
    """Estimate how many records are in a category that so many answers name, without bias.

    Examples
    --------
    >>> estimated(4, 8, Fraction(1, 2), Fraction(1, 4))
    Fraction(8, 1)
    """
    return (answers - records * lie) / (truth - lie)


def count_between(
    answers: int, records: int, truth: Fraction, lie: Fraction, *, wrong: Fraction = Fraction(1, 20)
) -> tuple[int, int]:
    """Return ends of how many records are in a category, which hold with probability 1 − `wrong` and more.

    Of t records in it, those that say so are binomially distributed with the truth's probability, of all others with
    that of a lie: together the more, the larger t. So every t is kept under which neither as many answers nor as few
    are less likely than half of `wrong` [Clopper1934]. Tails are floats, and the check allows for their error.

    Examples
    --------
    >>> count_between(60, 100, Fraction(3, 4), Fraction(1, 4))
    (53, 88)
    """
    most = float(wrong) / 2
    p, q = float(truth), float(lie)
    least = first_where(lambda t: t >= records or _at_least(answers, t, records, p, q) > most)
    # As few answers under t are as many of the other kind under the records that are not in the category.
    others = first_where(lambda t: t >= records or _at_least(records - answers, t, records, 1 - q, 1 - p) > most)
    return least, max(records - others, least)


def _at_least(answers: int, inside: int, records: int, truth: float, lie: float) -> float:
    """Bound the probability of so many answers or more, if `inside` records are in the category."""
    if answers <= 0:
        return 1.0
    first, right = _binomial(inside, truth)
    start, wrong = _binomial(records - inside, lie)
    beyond = np.append(np.cumsum(wrong[::-1])[::-1], 0.0)  # of so many lies, or more, from `start` on
    needed = answers - first - np.arange(len(right)) - start
    rounded = records * 2.0**-53  # a probability next to 1 is off by so much in each record
    return float(right @ beyond[np.clip(needed, 0, len(wrong))]) + _FLOAT_ERROR + rounded


def _binomial(trials: int, chance: float) -> tuple[int, NDArray[np.float64]]:
    """Return the first of the outcomes within 12 deviations and 40 of the mean, and the probability of each."""
    if chance in (0.0, 1.0):  # as floats: at ε = 40 a truth has probability 1 − 1e-17
        return int(trials * chance), np.ones(1)
    reach = 12 * sqrt(trials * chance * (1 - chance)) + 40
    mode = min(trials, floor((trials + 1) * chance))
    low, high = max(0, ceil(mode - reach)), min(trials, floor(mode + reach))
    odds = chance / (1 - chance)
    up = np.arange(mode, high)
    down = np.arange(mode, low, -1)
    rising = np.cumprod((trials - up) / (up + 1) * odds)
    sinking = np.cumprod(down / (trials - down + 1) / odds)
    weights = np.concatenate([sinking[::-1], [1.0], rising])
    return low, weights / weights.sum()


_MOST_TOLD = 10**7
"""Largest size after the head, of which every smaller size is one count more."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimates(Tabular, Drawable):
    """What a published list says of the truth, with ends.

    Parameters
    ----------
    kind : {"sizes", "categories"}
        Sizes rank by rank: with a confidence of 95 % all true sizes of a list lie between their ends together.
        Or how many records are in each category: each lies between its ends with the confidence asked for.
    columns : tuple of str
        The group columns, then for sizes `rank`, `published`, `low`, `high`; for categories `category`, `published`
        (how many answers name it), `estimate` (without bias), `low`, `high`.
    rows : list of tuple
    confidence : Fraction
        A lower bound of the interval's confidence.
    """

    kind: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    confidence: Fraction = USUAL_CONFIDENCE

    def to_arrow(self) -> pyarrow.Table:
        """Return the rows as an Arrow table; an estimate is rounded to a float."""
        import pyarrow

        rows = [tuple(map(_plain, row)) for row in self.rows]
        columns = list(map(list, zip(*rows, strict=True))) or [[]] * len(self.columns)
        return pyarrow.table(columns, names=list(self.columns))

    def to_documents(self) -> list[dict[str, Any]]:
        """Return one JSON-ready object per row; an estimate is exact text."""
        return [
            {
                name: rational_text(part) if isinstance(part, Fraction) else part
                for name, part in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]

    def describe(self) -> str:
        """Return one line that states what the interval guarantees."""
        which = "all sizes of a list are together" if self.kind == "sizes" else "each count is"
        return f"{which} between low and high with probability at least {percent_below(self.confidence)} %"

    def _summary(self) -> str:
        return f"{len(self.rows)} {self.kind}; {self.describe()}"


def read_list(release: Any, confidence: Any = None, given: Answers | None = None) -> Estimates | None:
    """Read a release whose answers are lists; None for any other release.

    Parameters
    ----------
    release
        As for `irisdp.interpret`.
    confidence : number, optional
        Confidence of the interval; 95 % for sizes, for which the release file states the largest error.
    given : Answers, optional
        All its answers, where they are at hand.
    """
    told = isinstance(release, Publication | Release | str | os.PathLike | Mapping)
    file = stated(release) if told else None
    if not isinstance(file, ReleaseFile) or file.read_as is not ReadAs.LISTS:
        return None
    if isinstance(release, Release):
        raise BadInput(
            "release",
            "is a line of a ledger, which keeps what was drawn and not the list that was shown",
            "publish the question again, which is free, and give that",
        )
    columns, rows = _shown(release, given)
    sure = read_confidence(confidence, alone=True)
    if file.kind == MeasurementKind.RANDOMISED_RESPONSE:
        return _categories(file, rows, sure)
    if sure != USUAL_CONFIDENCE:
        raise BadInput("confidence", "is 0.95 for sizes, whose release says no other", "leave it out")
    return _sizes(file.mechanism, columns, rows)


def _shown(release: Any, given: Answers | None) -> tuple[list[str], list[tuple[Any, ...]]]:
    table = released_table(release, lambda answer: answer, given)
    rows = [(*key, answer) for key, answer in zip(table.keys, table.values, strict=True)]
    return [*table.by, "answer"], rows


def _sizes(mechanism: Mapping[str, Any], columns: list[str], rows: list[tuple[Any, ...]]) -> Estimates:
    head = integer(mechanism.get("head"), "head", at_least=1, at_most=LARGEST_COUNT)
    if mechanism.get("within_95_percent") is None:
        raise BadInput("release", "is pure noise, which bounds no size", "ask with a larger epsilon")
    within = integer(mechanism["within_95_percent"], "within_95_percent", at_least=0, at_most=LARGEST_SIZE)
    public = mechanism.get("records")
    read: list[tuple[Any, ...]] = []
    for key, cell in groupby(rows, key=lambda row: row[:-2]):
        shown = [integer(row[-1], "answer", at_least=0, at_most=LARGEST_SIZE) for row in cell]
        if shown != sorted(shown, reverse=True):
            raise BadInput("release", "has sizes that do not fall", "give a file that publish wrote")
        if max(shown[head:], default=0) > _MOST_TOLD:
            raise BadInput("release", "has sizes after its head that no list tells", "give a file that publish wrote")
        # Groups without a size above 0 have no row: then a list of bounds is not aligned to the rows, and is left out.
        records = None if public is None or isinstance(public, list) else _records(public)
        ends = sizes_between(shown, head=head, within=within, records=records)
        if any(high is not None and low > high for low, high in ends):
            raise BadInput("release", "has sizes that so few records cannot have", "give a file that publish wrote")
        read += [(*key, rank, size, *end) for rank, (size, end) in enumerate(zip(shown, ends, strict=True), 1)]
    return Estimates(kind="sizes", columns=(*columns[:-2], "rank", "published", "low", "high"), rows=read)


def _records(public: Any) -> int:
    return integer(public, "records", at_least=0, at_most=LARGEST_COUNT)


def _categories(file: ReleaseFile, rows: list[tuple[Any, ...]], confidence: Fraction) -> Estimates:
    names = file.mechanism.get("categories")
    if not isinstance(names, list | tuple) or len(names) < 2 or len(set(map(str, names))) < len(names):
        raise BadInput("release", "does not name its categories", "give the .release.json that publish wrote")
    truth = balanced_truth(len(names), as_pairs(file.privacy))
    lie = (1 - truth) / (len(names) - 1)
    said = Counter(str(row[-1]) for row in rows)
    if set(said) - set(map(str, names)):
        raise BadInput("release", "has answers that are none of its categories", "give a file that publish wrote")
    if truth == lie:
        raise BadInput("release", "is pure noise, which says nothing of any category", "ask with a larger epsilon")
    read = [
        (
            name,
            said[str(name)],
            estimated(said[str(name)], len(rows), truth, lie),
            *count_between(said[str(name)], len(rows), truth, lie, wrong=1 - confidence),
        )
        for name in names
    ]
    columns = ("category", "published", "estimate", "low", "high")
    return Estimates(kind="categories", columns=columns, rows=read, confidence=confidence)


def _plain(part: Any) -> Any:
    return float(part) if isinstance(part, Fraction) else part
