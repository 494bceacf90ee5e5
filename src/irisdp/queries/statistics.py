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

__all__ = ["Cells", "Statistics", "count_records", "counted"]


class Cells(Protocol):
    """Cells to count in: their columns, and their keys for an engine to join with."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The group columns, with the kind their values are read as."""
        ...

    def arrow(self) -> pa.Table:
        """Return the keys as columns k0, k1, ... and each cell's `position`."""
        ...

    def box(self) -> list[tuple[int, int]] | None:
        """Return the least and greatest key of each column where all between them are few; public facts decide."""
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
    table: Table,
    *,
    condition: Condition | None = None,
    groups: Cells | None = None,
    unit: Unit | None = None,
    different: Column | None = None,
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
    different : Column, optional
        Count the different values of a column, instead of records, among those for which the condition is true, and
        among those for which it is false.

    Returns
    -------
    Statistics
        Adding or removing a record (a person, with `unit`) changes at most one cell, by one record. Where several
        records are kept of a person, it changes as many.
    """
    if groups is not None and len(groups) == 0:
        return Statistics(*(np.zeros(0, dtype=np.int64),) * 3)
    keys: tuple[Column, ...] = () if groups is None else tuple(groups.columns)
    counts, counted_as, more = {"total": "COUNT(*)"}, "CASE WHEN {} THEN 1 END", {}
    if different is not None:
        counted_as, more = f"DISTINCT CASE WHEN {{}} THEN k{len(keys)} END", {"carried": 1}
        keys = (*keys, different)
    records = records_statement(table, condition, keys, unit, **more)
    if condition is not None or different is not None:
        counts |= {"yes": f"COUNT({counted_as.format('answer')})", "no": f"COUNT({counted_as.format('NOT answer')})"}
    statement = f"{records} {counted(counts, groups)}"
    declared = {} if groups is None else {"groups": groups.arrow()}
    found = table.run(statement, columns_read(table, condition, keys, unit), **declared)
    position = integers_of(found.column("position"))
    arrays = {name: np.zeros(1 if groups is None else len(groups), np.int64) for name in ("total", "yes", "no")}
    for name in counts:
        arrays[name][position] = integers_of(found.column(name))
    if "yes" not in counts:
        arrays["yes"] = arrays["total"].copy()
    return Statistics(**arrays)


def counted(counts: dict[str, str], groups: Cells | None, *, records: str = "records", also: str | None = None) -> str:
    """Write the SELECT over a relation of records that counts them by `position`, and by `also`, a column of theirs.

    Undeclared keys, of which there may be very many, must cost no memory. So records are joined with the cells before
    they are grouped. If so few keys lie between the declared ones that all of them may occur, records are grouped
    first, which is much faster.
    """
    kept = [] if also is None else [also]
    listed = ", ".join([*kept, *(f"{count} AS {name}" for name, count in counts.items())])
    if groups is None:
        return f"SELECT 0 AS position, {listed} FROM {records}" + (f" GROUP BY {also}" if kept else "")
    keys = [f"k{place}" for place in range(len(groups.columns))]
    box = groups.box()
    if box is None:
        same = " AND ".join(f"{records}.{key} = groups.{key}" for key in keys)
        return (
            f"SELECT position, {listed} FROM {records} JOIN groups ON {same} GROUP BY {', '.join(['position', *kept])}"
        )
    within = " AND ".join(
        f"{key} >= CAST('{least}' AS BIGINT) AND {key} <= CAST('{greatest}' AS BIGINT)"
        for key, (least, greatest) in zip(keys, box, strict=True)
    )
    by = ", ".join([*keys, *kept])
    grouped = f"SELECT {', '.join(keys)}, {listed} FROM {records} WHERE {within} GROUP BY {by}"
    same = " AND ".join(f"counted.{key} = groups.{key}" for key in keys)
    return f"SELECT position, {', '.join([*kept, *counts])} FROM ({grouped}) AS counted JOIN groups ON {same}"
