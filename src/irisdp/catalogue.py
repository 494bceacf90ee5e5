"""The registry of queries: how each is written, what it answers, and where it lives.

The parser, the command line's help, the proof by exhaustion and the test of the README read this list. It stands on the
ground floor, because help must be shown without loading an engine; `queries.registry` loads what it names.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FORMS", "Form"]


@dataclass(frozen=True, slots=True)
class Form:
    """A query in words.

    Attributes
    ----------
    home : str
        File and class in `queries`.
    usage : str
        Its name, and what follows it.
    answer : str
        What it answers about each group.
    within : str or None
        What ``--within K`` promises of each answer; None where it promises nothing.
    """

    home: str
    usage: str
    answer: str
    within: str | None = None

    @property
    def name(self) -> str:
        """The first word."""
        return self.usage.partition(" ")[0]


_OFF = "off by at most {K}"
_AWAY = "right where the truth stays as it is with {records} more or less"

FORMS = (
    Form(
        "count.Count",
        "count [EXPR]",
        "how many records (for which EXPR is true), with exact two-sided geometric noise, or Gaussian noise for a μ",
        _OFF,
    ),
    Form(
        "count_distinct.CountDistinct",
        "count-distinct COLUMN [EXPR]",
        "how many different values a column has (where EXPR is true), such as people: not how many rows",
        _OFF,
    ),
    Form("at_least.AtLeast", "at-least K [EXPR]", "yes or no", _AWAY),
    Form("at_most.AtMost", "at-most K [EXPR]", "yes if EXPR is true for K records or fewer", _AWAY),
    Form(
        "band.Band",
        "band T1,T2,… [EXPR]",
        "which band the number of records (for which EXPR is true) is in, such as `10 to 19`",
        _AWAY,
    ),
    Form("majority.Majority", "majority EXPR", "yes if EXPR is true more often than false", _AWAY),
    Form(
        "histogram.Histogram",
        "histogram COLUMN",
        "how many records are in each of some bins, or of some declared categories, as counts",
        _OFF,
    ),
    Form(
        "sums.Sum",
        "sum COLUMN",
        "the sum of the column's values, held between public bounds, with staircase noise",
        f"{_OFF}, beside what bounds and steps change,",
    ),
    Form(
        "sums.Mean",
        "mean COLUMN",
        "the mean of the column's values, held between public bounds, from two noisy numbers of one ε",
    ),
    Form(
        "plurality.Plurality",
        "plurality COLUMN",
        "which of the declared categories most records have",
        "right where the largest category leads all others by {records}",
    ),
    Form("quantile.Median", "median COLUMN", "which of the declared bins holds the median"),
    Form("quantile.Quantile", "quantile P COLUMN", "which of the declared bins holds the quantile P, such as 0.9"),
    Form("orders.Top", "top K COLUMN", "the K declared categories that most records have, such as `a, b`"),
    Form(
        "orders.Ranking", "ranking COLUMN", "all declared categories, that with most records first, such as `b > a > c`"
    ),
    Form(
        "apply.Apply",
        "apply MECH.json [EXPR or COLUMN]",
        "what a mechanism of your own answers about the count, or the counts by category",
    ),
    Form(
        "sizes.Sizes",
        "sizes [K] COLUMN",
        "how large the categories are (the K largest), largest first, without names: a row for each",
        "off by at most {K} in every number that tells the sizes, before they are made to fit,",
    ),
    Form(
        "column.EachCategory",
        "column COLUMN",
        "each record's category, by randomised response: a row for each record, in their order; `other` "
        "for any that is not declared",
    ),
)
"""In the order in which help lists them."""
