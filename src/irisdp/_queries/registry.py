"""The registry of queries: how each is written, what it answers, and which class implements it.

The parser, the help of the command line, the proof by exhaustion and the test of the README read this list. It imports
nothing, because help must be shown without loading an engine; `irisdp._queries.reading` loads the classes.
"""

from __future__ import annotations

from dataclasses import dataclass


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
    within : str or None
        What ``--within K`` guarantees for each answer; None if it guarantees nothing.
    """

    home: str
    usage: str
    answer: str
    example: str
    within: str | None = None

    @property
    def name(self) -> str:
        """The first word."""
        return self.usage.partition(" ")[0]


_OFF = "off by at most {K}"
_AWAY = "right where the truth stays as it is with {records} more or less"

FORMS = (
    QueryEntry("count.Count", "count [EXPR]", "number of records", 'count "age > 64"', _OFF),
    QueryEntry(
        "count_distinct.CountDistinct",
        "count-distinct COLUMN [EXPR]",
        "number of different values, such as people",
        "count-distinct person",
        _OFF,
    ),
    QueryEntry(
        "histogram.Histogram", "histogram COLUMN", "records in each bin or category", "histogram age --bins 18,65", _OFF
    ),
    QueryEntry(
        "sum_and_mean.Sum",
        "sum COLUMN",
        "sum of the values between two bounds",
        "sum visits --lower 0 --upper 20 --step 1",
        f"{_OFF}, beside what bounds and steps change,",
    ),
    QueryEntry(
        "sum_and_mean.Mean",
        "mean COLUMN",
        "mean of the values between two bounds",
        "mean age --lower 0 --upper 100 --step 1",
    ),
    QueryEntry("quantile.Median", "median COLUMN", "bin that holds the median", "median age --bins 18,40,65"),
    QueryEntry(
        "quantile.Quantile", "quantile P COLUMN", "bin that holds the quantile", "quantile 0.9 age --bins 18,40,65"
    ),
    QueryEntry(
        "plurality.Plurality",
        "plurality COLUMN",
        "category with the most records",
        "plurality party --categories A,B,C",
        "right where the largest category leads all others by {records}",
    ),
    QueryEntry("ranking.Top", "top K COLUMN", "the K largest categories", "top 2 party --categories A,B,C"),
    QueryEntry(
        "ranking.Ranking", "ranking COLUMN", "all categories in order of size", "ranking party --categories A,B,C"
    ),
    QueryEntry(
        "majority.Majority", "majority EXPR", "yes if EXPR is true more often than false", 'majority "vote = 1"', _AWAY
    ),
    QueryEntry(
        "threshold.AtLeast", "at-least K [EXPR]", "yes if there are K records or more", 'at-least 10 "age > 64"', _AWAY
    ),
    QueryEntry(
        "threshold.AtMost", "at-most K [EXPR]", "yes if there are K records or fewer", 'at-most 10 "age > 64"', _AWAY
    ),
    QueryEntry("band.Band", "band T1,T2,… [EXPR]", "band that holds the number of records", "band 10,100", _AWAY),
    QueryEntry(
        "category_sizes.Sizes",
        "sizes [K] COLUMN",
        "sizes of the largest categories, without names",
        "sizes 5 surname",
        "off by at most {K} in every number that tells the sizes, before they are made to fit,",
    ),
    QueryEntry(
        "column.EachCategory",
        "column COLUMN",
        "category of each record, by randomized response",
        "column party --categories A,B,C",
    ),
    QueryEntry(
        "apply.Apply",
        "apply MECH.json [EXPR or COLUMN]",
        "answer of your own mechanism file",
        'apply mechanism.json "age > 64"',
    ),
)
"""In the order in which help lists them."""
