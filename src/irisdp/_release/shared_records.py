"""Records of persons, chosen once for several questions about one version of one table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .._ledger import TableVersion
from .._queries import keep_records
from .._tables import HeldRecords, KeptRecords, Table
from ..errors import BadInput
from .plans import Plan

_Held = tuple[KeptRecords, HeldRecords]


@dataclass(slots=True, eq=False)
class SharedRecords(contextlib.ExitStack):
    """What several questions read of a table, which is held from the first of them on until this is left.

    Whatever is held, a question finds what it would find alone: where the engine cannot hold records, it is alone.

    Attributes
    ----------
    plans : list of Plan
        The questions that will be read.
    """

    plans: list[Plan] = field(default_factory=list)
    _held: dict[tuple[Any, ...], _Held | None] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Begin with nothing."""
        contextlib.ExitStack.__init__(self)

    def over(self, planned: Plan, key: bytes) -> Plan:
        """Return a question that reads the records which are held for it, if there are any."""
        records = _records_of(planned)
        if records is None or planned.unit is None:
            return planned
        if (records, key) not in self._held:
            sharing = [each for each in self.plans if _records_of(each) == records]
            shared = len(sharing) > 1
            self._held[records, key] = self._hold(planned.table, planned.unit, key, sharing) if shared else None
        held = self._held[records, key]
        return planned if held is None else replace(planned, table=planned.table.reading_kept(*held))

    def _hold(self, table: Table, unit: str, key: bytes, plans: Iterable[Plan]) -> _Held | None:
        try:
            held = keep_records(table, unit, key, {planned.contribution.records for planned in plans})
        except BadInput:  # for want of memory, for example: each question is read alone, and says what is wrong
            return None
        if held is not None:
            self.callback(held[1].close)
        return held


def _records_of(planned: Plan) -> tuple[Any, ...] | None:
    """Name the records, and their persons, that a question chooses from; None where it chooses none."""
    table = planned.table
    if planned.unit is None or table.persons is not None or table.lookups or planned.per_unit is not None:
        return None
    return planned.unit, table.location, table.called, table.part, table.held, table.reader


@dataclass(frozen=True, slots=True)
class PlanReading:
    """One version of a table, and what several questions read of it."""

    version: TableVersion
    shared: SharedRecords
