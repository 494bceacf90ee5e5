"""Per-group sufficient statistics: the only numbers that leave the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from .arrow import integers_of
from .columns import Column
from .expression import Condition
from .persons import Unit, columns_read, records_statement
from .table import Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Cells", "Statistics", "count_records"]


class Cells(Protocol):
    """Cells to count in: their columns, and their keys for an engine to join with."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The group columns, with the kind their values are read as."""
        ...

    def arrow(self) -> pa.Table:
        """Return the keys as columns k0, k1, ... and each cell's `position`."""
        ...

    def __len__(self) -> int:
        """Count the cells."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Counts per cell, aligned to the declared groups; private, and not shown by `repr`.

    Attributes
    ----------
    total : int64 array
        Records in the cell.
    yes, no : int64 array
        Records for which the condition is true, or false; the rest, total − yes − no, have no answer (null). Without a
        condition every record is a yes.
    """

    total: NDArray[np.int64] = field(repr=False)
    yes: NDArray[np.int64] = field(repr=False)
    no: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.total)


def count_records(
    table: Table, *, condition: Condition | None = None, groups: Cells | None = None, unit: Unit | None = None
) -> Statistics:
    """Count records per cell, in one pass of the engine.

    Parameters
    ----------
    table : Table
        What is counted.
    condition : Condition, optional
        Read over this table's columns.
    groups : Groups or the cells of `UnreleasedKeys`, optional
        The cells; one cell holds the whole table without them. A record whose key is null or not declared belongs to
        no cell.
    unit : Unit, optional
        Whose records are whose, and which of them stands for a person.

    Returns
    -------
    Statistics
        Adding or removing a record (a person, with `unit`) changes at most one cell, by one record.
    """
    if groups is not None and len(groups) == 0:
        return Statistics(*(np.zeros(0, dtype=np.int64),) * 3)
    keys = () if groups is None else groups.columns
    records = records_statement(table, condition, keys, unit)
    counts = (
        "COUNT(*) AS total, COUNT(CASE WHEN answer THEN 1 END) AS yes, COUNT(CASE WHEN NOT answer THEN 1 END) AS no"
    )
    if groups is None:
        statement = f"{records} SELECT 0 AS position, {counts} FROM records"
    else:
        # The join comes first: undeclared keys, of which there may be very many, then cost no memory.
        same = " AND ".join(f"records.k{place} = groups.k{place}" for place in range(len(keys)))
        statement = f"{records} SELECT position, {counts} FROM records JOIN groups ON {same} GROUP BY position"
    declared = None if groups is None else groups.arrow()
    found = table.run(statement, columns_read(table, condition, keys, unit), declared)
    position = integers_of(found.column("position"))
    arrays = {name: np.zeros(1 if groups is None else len(groups), np.int64) for name in ("total", "yes", "no")}
    for name, array in arrays.items():
        array[position] = integers_of(found.column(name))
    return Statistics(**arrays)
