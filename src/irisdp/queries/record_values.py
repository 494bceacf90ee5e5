"""The category of every record, in the order of the records: the input of the query column."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .arrow import integers_of
from .groups import Groups
from .persons import columns_read, records_statement
from .table import Table

__all__ = ["RecordValues", "read_values"]


@dataclass(frozen=True, slots=True, eq=False)
class RecordValues:
    """Which category each record is in; private but for how many records there are. Not shown by `repr`.

    Attributes
    ----------
    codes : int64 array
        The place of the record's category among those declared; of a record without a value, or with another, how many
        are declared.
    """

    codes: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        """Count the cells: a table without groups is one."""
        return 1


def read_values(table: Table, categories: Groups) -> RecordValues:
    """Read the category of every record.

    Parameters
    ----------
    table : Table
        One whose records have an order (`Table.ordered`): one record exchanged changes one code, at its place.
    categories : Groups
        Of one column; each is declared.
    """
    # Numbered as they are read, before the join, which keeps no order.
    statement = (
        f"{records_statement(table, None, categories.columns, None)}, "
        "numbered AS (SELECT ROW_NUMBER() OVER () AS place, k0 FROM records) "
        "SELECT CASE WHEN groups.position IS NULL THEN -1 ELSE groups.position END AS position "
        "FROM numbered LEFT JOIN groups ON numbered.k0 = groups.k0 ORDER BY place"
    )
    found = table.run(statement, columns_read(table, None, categories.columns, None), groups=categories.arrow())
    positions = integers_of(found.column("position"))
    return RecordValues(np.where(positions < 0, len(categories), positions))
