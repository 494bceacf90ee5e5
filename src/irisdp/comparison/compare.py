"""`compare`: the errors of this library's mechanism and of others under the same guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ..errors import BadInput
from ..exact import checked, rational
from ..privacy import Privacy
from .asked import Asked, is_in_range, out_of_range
from .comparisons import Comparison
from .registry import find_question

__all__ = ["compare"]

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
    relation: Literal["exchange", "add-remove"] = "exchange",
    lead: int | str | Sequence[int | str] | None = None,
    gaps: Sequence[Any] | None = None,
) -> Comparison:
    """Compare the exact errors of this library's mechanism and of others, for one question and one guarantee.

    No data is read and nothing is spent; every number is worked out, none is sampled.

    Parameters
    ----------
    query : {"plurality", "top", "ranking", "count", "at-least", "majority", "median", "quantile"}
        The question.
    *words
        What follows its name: K, or P.
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
    asked = Asked.read(
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
