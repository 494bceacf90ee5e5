"""How much of a table is one person's: how many records count, and in how many groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import BadInput
from ..exact import integer

__all__ = ["MOST_RECORDS", "ONE_RECORD", "Contribution", "read_contribution"]

MOST_RECORDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one person may contribute; every record is a person's only one where there is no unit.

    Attributes
    ----------
    records : int
        M: how many records are kept of each.
    groups : int
        In how many cells they may lie: 1 where there are no groups, else at most M.
    grouped : bool
        Whether there are groups.
    exchanged : bool
        Whether one step takes a person's several records for another's, in the one cell that there is.
    declared : int or None
        How many groups there are, where that is public.
    """

    records: int = 1
    groups: int = 1
    grouped: bool = False
    exchanged: bool = False
    declared: int | None = None

    @property
    def several(self) -> bool:
        """Whether a person may have more than one record that counts."""
        return self.records > 1

    @property
    def cells(self) -> int:
        """How many answers a person can move."""
        return self.groups if self.declared is None else max(1, min(self.groups, self.declared))

    @property
    def limits_groups(self) -> bool:
        """Whether fewer groups are allowed than the records that are kept may lie in."""
        return self.grouped and self.groups < self.records

    def to_document(self) -> dict[str, int]:
        """Return the facts that belong to a question; none where one record is kept."""
        if not self.several:
            return {}
        return {"at_most": self.records} | ({"groups_per_unit": self.groups} if self.grouped else {})


ONE_RECORD = Contribution()
"""What a person contributes unless more is asked for."""


def read_contribution(
    at_most: Any, groups_per_unit: Any, *, unit: Any, per_unit: Any, grouped: bool, exchange: bool
) -> Contribution:
    """Read how many records a person keeps, and in how many groups.

    Parameters
    ----------
    at_most, groups_per_unit : int, optional
        As for `irisdp.publish`.
    unit, per_unit
        Whether there are persons, and whether a condition is asked of persons.
    grouped : bool
        Whether there are groups, bins among them.
    exchange : bool
        Whether neighbours have as many persons, and one is another.
    """
    records = 1 if at_most is None else integer(at_most, "at_most", at_least=1, at_most=MOST_RECORDS)
    if at_most is not None and unit is None:
        raise BadInput("at_most", "is about people who have several records", "say whose they are with unit=")
    groups = records
    if groups_per_unit is not None:
        groups = integer(groups_per_unit, "groups_per_unit", at_least=1, at_most=MOST_RECORDS)
        if records == 1:
            rule = "is about people who keep several records, and one is kept of each"
            raise BadInput("groups_per_unit", rule, "add at_most=, or leave it out")
        if not grouped:
            raise BadInput("groups_per_unit", "is about groups, and there are none", "add by=, or leave it out")
    if records > 1 and per_unit is not None:
        rule = "keeps several records, and per_unit= has one answer of each person"
        raise BadInput("at_most", rule, "leave one of the two out")
    one_cell = exchange and not grouped and records > 1
    return Contribution(records, min(groups, records) if grouped else 1, grouped, one_cell)
