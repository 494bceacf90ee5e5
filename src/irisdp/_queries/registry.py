"""The registry of queries: how each is written, what it answers, and which class implements it.

The parser, the help of the command line, reports, plots and the proof by exhaustion read this list. It imports nothing
of the library, because help must be shown without loading an engine; `irisdp._queries.reading` loads the classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


class AnswerType(Enum):
    """What a query answers with."""

    NUMBER = auto()
    YES_OR_NO = auto()
    NAME = auto()
    FILE = auto()
    """What its mechanism file says."""


class Measured(Enum):
    """What a query is about, where that is a number."""

    RECORDS = auto()
    DISTINCT_VALUES = auto()
    VALUES = auto()
    """Sums or means of them: as the column is measured."""


@dataclass(frozen=True, slots=True)
class QueryEntry:
    """A query in words.

    Attributes
    ----------
    home : str
        File and class in `queries`.
    usage : str
        Its name, and what follows it.
    answer : str
        What it answers about each group.
    example : str
        What can be typed after ``irisdp publish DATA``, with the options that the query needs.
    asks : str
        What it asks, as reports say it; names in braces are the query's own facts.
    answers : AnswerType
    measured : Measured, optional
        What the true answer, or the number that decides it, is a number of.
    within : str or None
        What ``--within K`` guarantees for each answer; None if it guarantees nothing.
    within_records : str or None
        What it guarantees if ``--records N`` is given, of a query whose error depends on how many records have a value.
    needs_categories : bool
        Whether categories, or bins where it takes them, must be declared.
    elsewhere : tuple of str
        What other tools call it.
    """

    home: str
    usage: str
    answer: str
    example: str
    asks: str
    answers: AnswerType = AnswerType.NAME
    measured: Measured | None = None
    within: str | None = None
    within_records: str | None = None
    needs_categories: bool = False
    elsewhere: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The first word."""
        return self.usage.partition(" ")[0]

    @property
    def counts(self) -> bool:
        """Whether answers are counts: of records, persons or different values."""
        return self.answers is AnswerType.NUMBER and self.measured is not Measured.VALUES

    @property
    def compares(self) -> bool:
        """Whether a number of records is compared with one number, or several, that come first in the question."""
        return self.answers is not AnswerType.NUMBER and self.measured is Measured.RECORDS


_OFF = "off by at most {K}"
_NEAR_RANK = "at most {K} records from the quantile's rank"
_AWAY = "right if {records} more or less would not change the true answer"

FORMS = (
    QueryEntry(
        home="count.Count",
        usage="count [EXPR]",
        answer="number of records",
        example='count "age > 64"',
        asks="How many records there are{where}",
        answers=AnswerType.NUMBER,
        measured=Measured.RECORDS,
        within=_OFF,
        elsewhere=("len", "size"),
    ),
    QueryEntry(
        home="count_distinct.CountDistinct",
        usage="count-distinct COLUMN [EXPR]",
        answer="number of different values, such as people",
        example="count-distinct person",
        asks="How many different values {column} has{among}",
        answers=AnswerType.NUMBER,
        measured=Measured.DISTINCT_VALUES,
        within=_OFF,
        elsewhere=("distinct", "nunique", "unique"),
    ),
    QueryEntry(
        home="histogram.Histogram",
        usage="histogram COLUMN [EXPR]",
        answer="records in each bin or category",
        example="histogram age --bins 18,65",
        asks="How many records have each value of {column}{among}",
        answers=AnswerType.NUMBER,
        measured=Measured.RECORDS,
        within=_OFF,
        needs_categories=True,
    ),
    QueryEntry(
        home="sum_and_mean.Sum",
        usage="sum COLUMN [EXPR]",
        answer="sum of the values between two bounds",
        example="sum visits --lower 0 --upper 20 --step 1",
        asks="The sum of {column}{among}",
        answers=AnswerType.NUMBER,
        measured=Measured.VALUES,
        within=f"{_OFF}, beside what bounds and steps change,",
    ),
    QueryEntry(
        home="sum_and_mean.Mean",
        usage="mean COLUMN [EXPR]",
        answer="mean of the values between two bounds",
        example="mean age --lower 0 --upper 100 --step 1",
        asks="The mean of {column}{among}",
        answers=AnswerType.NUMBER,
        measured=Measured.VALUES,
        within_records=f"{_OFF}, beside what bounds and steps change, if at least {{N}} of its records have a value,",
        elsewhere=("avg", "average"),
    ),
    QueryEntry(
        home="sum_and_mean.Variance",
        usage="variance COLUMN [EXPR]",
        answer="population variance of the values between two bounds",
        example="variance age --lower 0 --upper 100 --step 1",
        asks="The population variance of {column}{among}",
        answers=AnswerType.NUMBER,
        measured=Measured.VALUES,
        elsewhere=("var",),
    ),
    QueryEntry(
        home="sum_and_mean.Deviation",
        usage="deviation COLUMN [EXPR]",
        answer="population standard deviation: the root of the variance",
        example="deviation age --lower 0 --upper 100 --step 1",
        asks="The population standard deviation of {column}{among}",
        answers=AnswerType.NUMBER,
        measured=Measured.VALUES,
        elsewhere=("std", "stddev", "sd", "standard-deviation"),
    ),
    QueryEntry(
        home="value_bounds.Bounds",
        usage="bounds COLUMN [EXPR]",
        answer="powers of two to bound the values by",
        example="bounds income",
        asks="Between which powers of two the values of {column} lie{among}",
        answers=AnswerType.NUMBER,
        measured=Measured.VALUES,
        elsewhere=("range", "min", "max"),
    ),
    QueryEntry(
        home="quantile.Median",
        usage="median COLUMN [EXPR]",
        answer="bin that holds the median",
        example="median age --bins 18,40,65",
        asks="Which bin holds the median of {column}{among}",
        within=_NEAR_RANK,
    ),
    QueryEntry(
        home="quantile.Quantile",
        usage="quantile P COLUMN [EXPR]",
        answer="bin that holds the quantile",
        example="quantile 0.9 age --bins 18,40,65",
        asks="Which bin holds the quantile {share} of {column}{among}",
        within=_NEAR_RANK,
        elsewhere=("percentile",),
    ),
    QueryEntry(
        home="quantile.Quantiles",
        usage="quantiles P1,P2,… COLUMN [EXPR]",
        answer="bins that hold several quantiles, at one charge",
        example="quantiles 0.25,0.5,0.75 age --bins 18,40,65",
        asks="Which bins hold the quantiles {shares} of {column}{among}",
        within=_NEAR_RANK,
        elsewhere=("percentiles",),
    ),
    QueryEntry(
        home="plurality.Plurality",
        usage="plurality COLUMN [EXPR]",
        answer="category with the most records",
        example="plurality party --categories A,B,C",
        asks="Which category of {column} most records have{among}",
        within="right where the largest category leads all others by {records}",
        needs_categories=True,
        elsewhere=("mode",),
    ),
    QueryEntry(
        home="ranking.Top",
        usage="top K COLUMN [EXPR]",
        answer="the K largest categories",
        example="top 2 party --categories A,B,C",
        asks="Which {k} categories of {column} most records have{among}",
        needs_categories=True,
    ),
    QueryEntry(
        home="ranking.Ranking",
        usage="ranking COLUMN [EXPR]",
        answer="all categories in order of size",
        example="ranking party --categories A,B,C",
        asks="How the categories of {column} rank by their numbers of records, the largest first{among}",
        needs_categories=True,
    ),
    QueryEntry(
        home="majority.Majority",
        usage="majority EXPR",
        answer="yes if EXPR is true more often than false",
        example='majority "vote = 1"',
        asks="Whether “{expression}” is true of more records than it is false of",
        answers=AnswerType.YES_OR_NO,
        within=_AWAY,
    ),
    QueryEntry(
        home="threshold.AtLeast",
        usage="at-least K [EXPR]",
        answer="yes if there are K records or more",
        example='at-least 10 "age > 64"',
        asks="Whether there are at least {threshold} records{where}",
        answers=AnswerType.YES_OR_NO,
        measured=Measured.RECORDS,
        within=_AWAY,
    ),
    QueryEntry(
        home="threshold.AtMost",
        usage="at-most K [EXPR]",
        answer="yes if there are K records or fewer",
        example='at-most 10 "age > 64"',
        asks="Whether there are at most {threshold} records{where}",
        answers=AnswerType.YES_OR_NO,
        measured=Measured.RECORDS,
        within=_AWAY,
    ),
    QueryEntry(
        home="band.Band",
        usage="band T1,T2,… [EXPR]",
        answer="band that holds the number of records",
        example="band 10,100",
        asks="In which band the number of records lies{where}; bands begin at {thresholds}",
        measured=Measured.RECORDS,
        within=_AWAY,
    ),
    QueryEntry(
        home="category_sizes.Sizes",
        usage="sizes [K] COLUMN [EXPR]",
        answer="sizes of the largest categories, without names",
        example="sizes 5 surname",
        asks="How large the categories of {column} are, the largest first, without their names{among}",
        answers=AnswerType.NUMBER,
        measured=Measured.RECORDS,
        within="off by at most {K} in every number that tells the sizes, before they are made to fit,",
    ),
    QueryEntry(
        home="column.EachCategory",
        usage="column COLUMN [EXPR]",
        answer="category of each record, by randomized response",
        example="column party --categories A,B,C",
        asks="Which category of {column} each record has, with answers changed at random{otherwise}",
        needs_categories=True,
    ),
    QueryEntry(
        home="apply.Apply",
        usage="apply MECH.json [COLUMN] [EXPR]",
        answer="answer of your own mechanism file",
        example='apply mechanism.json "age > 64"',
        asks="What the mechanism {mechanism} answers{among}",
        answers=AnswerType.FILE,
        needs_categories=True,
    ),
)
"""In the order in which help lists them."""

FORM_OF: Mapping[str, QueryEntry] = {form.name: form for form in FORMS}
"""Each query, by its name."""
