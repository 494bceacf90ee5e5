"""How often each value of a column occurs in each cell, without the values: the input of the query sizes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .arrow import integers_of
from .columns import Column, Kind
from .persons import Unit, columns_read, records_statement
from .statistics import Cells
from .table import Table

__all__ = ["ValueCounts", "count_values"]


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """Counts of values, per cell; private, and so is how many there are. Not shown by `repr`.

    Attributes
    ----------
    ends : int64 array, one longer than there are cells
        Where the counts of each cell begin, and where the last end.
    counts : int64 array
        Records of one value each, at least 1.
    total : int64 array or None
        Records in the cell, those without a value included; None where they were not counted.
    """

    ends: NDArray[np.int64] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    total: NDArray[np.int64] | None = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.ends) - 1

    def of_cell(self, cell: int) -> NDArray[np.int64]:
        """Return the counts in one cell."""
        return self.counts[self.ends[cell] : self.ends[cell + 1]]


def count_values(table: Table, column: Column, *, groups: Cells | None = None, unit: Unit | None = None) -> ValueCounts:
    """Count the records of each value in each cell, in one pass of the engine.

    Parameters
    ----------
    table : Table
        What is counted.
    column : Column
        Whose values; one without types is read as text. A record without a value, or with one that cannot be read, is
        in no count.
    groups, unit
        As for `count_records`.

    Returns
    -------
    ValueCounts
        Adding or removing a record (a person, with `unit`) changes at most one count of one cell, by one; a count of no
        records counts as none.
    """
    cells = 1 if groups is None else len(groups)
    if not cells:
        nothing = np.zeros(0, dtype=np.int64)
        return ValueCounts(np.zeros(1, dtype=np.int64), nothing, nothing)
    named = replace(column, kind=Kind.TEXT) if column.kind is Kind.UNTYPED else column
    keys = (*(() if groups is None else groups.columns), named)
    value = f"k{len(keys) - 1}"
    joined, position = "", "0"
    if groups is not None:
        same = " AND ".join(f"records.k{place} = groups.k{place}" for place in range(len(keys) - 1))
        joined, position = f" JOIN groups ON {same}", "groups.position"
    statement = (
        f"{records_statement(table, None, keys, unit)}, "
        f"listed AS (SELECT {position} AS position, records.{value} AS value FROM records{joined}) "
        "SELECT position, CASE WHEN value IS NULL THEN 1 ELSE 0 END AS missing, COUNT(*) AS total "
        "FROM listed GROUP BY position, value"
    )
    declared = {} if groups is None else {"groups": groups.arrow()}
    found = table.run(statement, columns_read(table, None, keys, unit), **declared)
    position_of, missing, counts = (integers_of(found.column(name)) for name in ("position", "missing", "total"))
    total = np.bincount(position_of, counts, minlength=cells).astype(np.int64)
    known = missing == 0
    order = np.argsort(position_of[known], kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(position_of[known], minlength=cells))])
    return ValueCounts(ends.astype(np.int64), counts[known][order], total)
