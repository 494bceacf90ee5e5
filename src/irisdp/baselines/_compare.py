"""`compare`: the errors of this library's mechanism and of others under the same guarantee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._aliases import did_you_mean
from .._exact import checked, rational
from ..errors import BadInput
from ..graphs import Relation
from ..privacy import Privacy
from ._bins import compare_bounds, compare_quantiles
from ._comparison import Comparison, ComparisonParameters, is_in_range, out_of_range
from ._count_noise import compare_counts
from ._largest import compare_winners
from ._moments import compare_mean, compare_variance
from ._order import compare_ranking, compare_top
from ._quantile_scores import compare_median, compare_quantile
from ._yes_no import compare_at_least, compare_majority

# The queries that can be compared. To add one, write its comparison and a row here.


@dataclass(frozen=True, slots=True)
class ComparableQuery:
    """A question, how it is written, and what compares mechanisms for it.

    Attributes
    ----------
    usage : str
        Its name, and what follows it.
    compare : callable
    uses : tuple of str
        The options that it has a use for, of categories, n, lead and gaps.
    """

    usage: str
    compare: Callable[[ComparisonParameters], Comparison]
    uses: tuple[str, ...]

    @property
    def name(self) -> str:
        """The first word."""
        return self.usage.partition(" ")[0]


QUESTIONS = (
    ComparableQuery("plurality", compare_winners, ("categories", "n", "lead", "gaps")),
    ComparableQuery("top K", compare_top, ("categories", "n", "lead", "gaps")),
    ComparableQuery("ranking", compare_ranking, ("categories", "n", "lead", "gaps")),
    ComparableQuery("count", compare_counts, ("n",)),
    ComparableQuery("at-least [K]", compare_at_least, ("n", "lead")),
    ComparableQuery("majority", compare_majority, ("n", "lead")),
    ComparableQuery("median", compare_median, ("categories", "n", "lead")),
    ComparableQuery("quantile P", compare_quantile, ("categories", "n", "lead")),
    ComparableQuery("quantiles P1,P2,…", compare_quantiles, ("categories",)),
    ComparableQuery("mean", compare_mean, ()),
    ComparableQuery("variance", compare_variance, ()),
    ComparableQuery("bounds", compare_bounds, ()),
)


def find_question(name: str) -> ComparableQuery:
    """Return the question of a name."""
    names = [question.name for question in QUESTIONS]
    for question in QUESTIONS:
        if question.name == name:
            return question
    remedy = did_you_mean(name, names, most=3) or f"choose from {', '.join(names)}"
    raise BadInput("query", f"{name} cannot be compared", remedy)


_OPTIONS = ("categories", "n", "lead", "gaps")


@checked
def compare(
    query: str,
    *words: Any,
    categories: int | str | None = None,
    n: int | str | None = None,
    epsilon: Any = None,
    ratio: Any = None,
    delta: Any = 0,
    relation: Relation = "exchange",
    lead: int | str | Sequence[int | str] | None = None,
    gaps: Sequence[Any] | None = None,
) -> Comparison:
    """Compare the exact errors of this library's mechanism and of others, for one question and one guarantee.

    No data is read and nothing is spent; every number is worked out, none is sampled.

    Parameters
    ----------
    query : {"plurality", "top", "ranking", "count", "at-least", "majority", "median", "quantile", "quantiles", \
"mean", "variance", "bounds"}
        The question.
    *words
        What follows its name: K, P, or P1,P2,….
    categories : int, optional
        How many categories, or ordered bins, there are.
    n : int, optional
        How many records there are: adds means over all tables of so many.
    epsilon, ratio, delta : number or text
        The guarantee: ε or r = e^ε, and δ.
    relation : "exchange" or "add-remove"
        Whether neighbours exchange one record for another, or have one more. Every mechanism runs at the largest ε a
        record, or the least noise, with which it satisfies the guarantee under this relation for counts of any size.
    lead : int or sequence of int, optional
        By how many records the true answer is ahead.
    gaps : sequence of int, or of such sequences, optional
        How many records each category has fewer than the largest.

    Returns
    -------
    Comparison
        Errors as fractions, or as intervals where they are none, with `to_document`, `to_pandas`, `to_svg` and `save`.

    Raises
    ------
    BadInput
        For an unknown question, options that it does not use, and numbers out of range.

    References
    ----------
    docs/theory.md#peers.

    Examples
    --------
    >>> found = compare("plurality", categories=3, ratio=2)
    >>> for one in found.mechanisms[:2]:
    ...     print(one.name, one.errors["worst"])
    pull from the top <Enclosure: exactly 0.5>
    permute and flip <Enclosure: 0.54044 to 0.54044, apart 5e-37>
    """
    name, *rest = query.split() or [query]
    question = find_question(name)
    if epsilon is None and ratio is None:
        raise BadInput("epsilon", "is missing", "add epsilon=1, or ratio=2 for e^ε")
    asked = ComparisonParameters.read(
        words=(*rest, *words),
        categories=categories,
        n=n,
        privacy=_privacy(epsilon, ratio, delta),
        relation=relation,
        lead=lead,
        gaps=gaps,
    )
    asked.refuse(name, *(option for option in _OPTIONS if option not in question.uses))
    return question.compare(asked)


def _privacy(epsilon: Any, ratio: Any, delta: Any) -> Privacy:
    """Read what mechanisms keep; below ε = 0 the range is told, as it is beyond its other end."""
    if epsilon is not None and ratio is not None:
        raise BadInput("epsilon", "says the same as ratio=", "leave one of the two out")
    for name, value, least in (("epsilon", epsilon, 0), ("ratio", ratio, 1)):
        if value is not None and rational(value, name) < least:
            raise out_of_range(name)
    privacy = Privacy(epsilon=epsilon, ratio=ratio, delta=delta)
    if not is_in_range(privacy):
        raise out_of_range("epsilon" if ratio is None else "ratio")
    return privacy
