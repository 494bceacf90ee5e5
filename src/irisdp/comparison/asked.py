"""What is compared at: public facts, read once for every question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from ..errors import BadInput
from ..exact import entries, integer
from ..privacy import Privacy

__all__ = ["Asked", "Relation", "in_records", "is_in_range", "out_of_range", "read_gaps_list", "read_leads"]

Relation = Literal["exchange", "add-remove"]

LARGEST_LEAD = 10_000
_LARGEST_RECORDS = 10**6
_MOST_RATIO = 10**9
_LEAST_EXCESS = Fraction(1, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a question is compared at.

    Attributes
    ----------
    words : tuple
        What follows the question's name.
    categories : int or None
        q.
    records : int or None
        n.
    privacy : Privacy
        One pair.
    relation : {"exchange", "add-remove"}
    leads : tuple of int or None
        By how many records the true answer is ahead; None where nothing was said.
    gaps : tuple of tuples of int
        How many records each category has fewer than the largest.
    """

    words: tuple[Any, ...]
    categories: int | None
    records: int | None
    privacy: Privacy
    relation: Relation
    leads: tuple[int, ...] | None
    gaps: tuple[tuple[int, ...], ...]

    @classmethod
    def read(
        cls,
        *,
        words: Sequence[Any],
        categories: Any,
        n: Any,
        privacy: Privacy,
        relation: Any,
        lead: Any,
        gaps: Any,
    ) -> Asked:
        """Check what was given.

        Raises
        ------
        BadInput
            For numbers out of range, ε = 0, several pairs and relations that are none.
        """
        if not privacy.single:
            raise BadInput("privacy", f"holds {len(privacy.pairs)} pairs, and this needs one", "give epsilon and delta")
        if not is_in_range(privacy):
            raise out_of_range("epsilon")
        if relation not in get_args(Relation):
            raise BadInput("relation", f"must be one of {', '.join(get_args(Relation))}", "choose one of them")
        return cls(
            words=tuple(words),
            categories=None if categories is None else integer(categories, "categories", at_least=2, at_most=100),
            records=None if n is None else integer(n, "n", at_least=1, at_most=_LARGEST_RECORDS),
            privacy=privacy,
            relation=relation,
            leads=None if lead is None else read_leads(lead),
            gaps=() if gaps is None else read_gaps_list(gaps),
        )

    @property
    def needed_categories(self) -> int:
        """How many categories, where a question cannot do without them."""
        if self.categories is None:
            raise BadInput("categories", "is missing", "say how many there are, such as categories=4")
        return self.categories

    def refuse(self, query: str, *options: str) -> None:
        """Refuse options that a question has no use for."""
        given = {
            "categories": self.categories,
            "n": self.records,
            "lead": self.leads,
            "gaps": self.gaps or None,
        }
        for option in options:
            if given[option] is not None:
                raise BadInput(option, f"is not used by {query}", "leave it out")


def is_in_range(privacy: Privacy) -> bool:
    """Tell whether mechanisms that keep one pair are compared."""
    return bool(1 + _LEAST_EXCESS <= privacy.ratio <= _MOST_RATIO)


def out_of_range(field: str) -> BadInput:
    """Return the refusal of an ε, or of a ratio, that mechanisms are not compared at."""
    if field == "ratio":
        return BadInput(field, "must be e^ε of an ε from 0.000001 to 20 to compare mechanisms", "give for example 2")
    return BadInput(field, "must lie between 0.000001 and 20 to compare mechanisms", "give for example 1")


def in_records(number: int) -> str:
    """Write a number of records."""
    return f"{number:,} record{'' if number == 1 else 's'}"


def read_leads(lead: Any) -> tuple[int, ...]:
    """Read one lead or a list of them."""
    listed = [lead] if isinstance(lead, (int, str)) else entries(lead)
    if not listed:
        raise BadInput("lead", "must be a whole number or a list of them", "give for example lead=5")
    return tuple(dict.fromkeys(integer(one, "lead", at_least=1, at_most=LARGEST_LEAD) for one in listed))


def read_gaps_list(gaps: Any) -> tuple[tuple[int, ...], ...]:
    """Read gaps to the largest, one list or several; of each the least is 0."""
    lists = entries(gaps) or ()
    if lists and all(isinstance(one, (int, str)) for one in lists):
        lists = [lists]
    found = []
    for one in lists:
        parts = entries(one)
        if not parts:
            raise BadInput("gaps", "must be a list of whole numbers", "give for example gaps=[0, 3, 5]")
        row = tuple(integer(part, "gaps", at_least=0, at_most=LARGEST_LEAD) for part in parts)
        if min(row) != 0:
            raise BadInput("gaps", "must hold a 0: the largest category has none", "subtract the least from all")
        found.append(row)
    if not found:
        raise BadInput("gaps", "must be a list of whole numbers", "give for example gaps=[0, 3, 5]")
    return tuple(dict.fromkeys(found))
