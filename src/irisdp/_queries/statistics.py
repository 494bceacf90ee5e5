"""Per-group sufficient statistics: the only numbers that leave the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._tables import Column, ColumnType, Table, integers_of, whole_numbers
from ..errors import BadInput
from .groups import Groups, find_keys
from .privacy_units import PrivacyUnit, columns_read, records_statement

if TYPE_CHECKING:
    import pyarrow as pa

    from .._tables import Condition


# Read group keys from the data, for private selection only.

LONGEST_KEY = 1000
"""Characters of the longest text that may be named as a group; a longer one is no key."""

_NAMEABLE = {
    ColumnType.TEXT: f" AND LENGTH({{0}}) <= {LONGEST_KEY}",
    ColumnType.NUMBER: " AND ABS({0}) <= CAST('1.7976931348623157e308' AS DOUBLE)",
}


@dataclass(frozen=True, slots=True, eq=False)
class UnreleasedKeys:
    """Keys as they stand in the data: PRIVATE, and so is how many there are.

    A key may leave only through partition selection, which decides on its number of records alone; `select` then makes
    public groups of the chosen ones. `repr` shows none.

    Attributes
    ----------
    counts : int64 array
        Records per key, at least 1, in the order of the keys.
    """

    columns: tuple[Column, ...]
    counts: NDArray[np.int64] = field(repr=False)
    _keys: pa.Table = field(repr=False)

    def cells(self) -> KeyCells:
        """Return a cell per key, to count with; the keys stay as the engine holds them."""
        return KeyCells(self.columns, self._keys)

    def select(self, chosen: NDArray[np.bool_]) -> Groups:
        """Return the chosen keys as groups, sorted by key; call it with what partition selection drew, nothing else.

        Parameters
        ----------
        chosen : boolean array
            One entry per key.
        """
        if np.shape(chosen) != self.counts.shape or np.asarray(chosen).dtype != np.bool_:
            raise BadInput("chosen", "must hold one truth value per key", "pass the drawn selection")
        rows = self._keys.filter(np.asarray(chosen))
        keys: tuple[tuple[Any, ...], ...] = tuple(
            zip(*(rows.column(k).to_pylist() for k in rows.column_names), strict=True)
        )
        order = np.arange(len(keys))
        return Groups(self.columns, keys, order, rows, order)


@dataclass(frozen=True, slots=True, eq=False)
class KeyCells:
    """The cells of keys that nobody has chosen yet: PRIVATE; none becomes a Python value."""

    columns: tuple[Column, ...]
    _keys: pa.Table = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._keys)

    def arrow(self) -> pa.Table:
        """Return the keys and each cell's `position`, for an engine to join with."""

        return self._keys.append_column("position", whole_numbers(np.arange(len(self))))

    def box(self) -> None:
        """Return none: private keys do not decide how records are counted."""


def enumerate_keys(table: Table, by: Sequence[str] | str, *, unit: PrivacyUnit | None = None) -> UnreleasedKeys:
    """List the keys in the data with their numbers of records, sorted by key.

    Untyped columns are read as text. Records with a null in their key have no group, nor have those whose key nobody
    could read: text of more than `LONGEST_KEY` characters, and infinite numbers. There is one zero. With `unit` each
    person has one record (see `persons`), so a person moves one count by one.
    """
    columns = tuple(
        Column(column.name, ColumnType.TEXT if column.kind is ColumnType.UNTYPED else column.kind)
        for column in find_keys(table, by)
    )
    names = [f"k{index}" for index in range(len(columns))]
    named = list(zip(names, columns, strict=True))
    known = " AND ".join(f"NOT {name} IS NULL{_NAMEABLE.get(column.kind, '').format(name)}" for name, column in named)
    # Of two zeros that are one key, the data would decide which is shown.
    shown = ", ".join(
        f"CASE WHEN {name} = 0 THEN CAST('0' AS DOUBLE) ELSE {name} END AS {name}"
        if column.kind is ColumnType.NUMBER
        else name
        for name, column in named
    )
    listed = ", ".join(names)
    statement = (
        f"{records_statement(table, None, columns, unit)} SELECT {listed}, COUNT(*) AS total "
        f"FROM (SELECT {shown} FROM records WHERE {known}) AS nameable GROUP BY {listed} ORDER BY {listed}"
    )
    rows = table.run(statement, columns_read(table, None, columns, unit))
    return UnreleasedKeys(columns, integers_of(rows.column("total")), rows.select(names))


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


def read_values(table: Table, categories: Groups, condition: Condition | None = None) -> RecordValues:
    """Read the category of every record; a record for which a condition is not true has none.

    Parameters
    ----------
    table : Table
        One whose records have an order (`Table.ordered`): one record exchanged changes one code, at its place.
    categories : Groups
        Of one column; each is declared.
    condition : Condition, optional
        Read over this table's columns.
    """
    value = "k0" if condition is None else "CASE WHEN answer THEN k0 END AS k0"
    # Numbered as they are read, before the join, which keeps no order.
    statement = (
        f"{records_statement(table, condition, categories.columns, None, placed=True)}, "
        f"numbered AS (SELECT place, {value} FROM records) "
        "SELECT CASE WHEN groups.position IS NULL THEN -1 ELSE groups.position END AS position "
        "FROM numbered LEFT JOIN groups ON numbered.k0 = groups.k0 ORDER BY place"
    )
    read = columns_read(table, condition, categories.columns, None)
    rows = table.run(statement, read, placed=True, groups=categories.arrow())
    positions = integers_of(rows.column("position"))
    return RecordValues(np.where(positions < 0, len(categories), positions))


class CountsByGroup(Protocol):
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
    groups: CountsByGroup | None = None,
    unit: PrivacyUnit | None = None,
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
    unit : PrivacyUnit, optional
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
    counts, counted_as = {"total": "COUNT(*)"}, "CASE WHEN {} THEN 1 END"
    more: dict[str, Any] = {}
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


def counted(
    counts: dict[str, str], groups: CountsByGroup | None, *, records: str = "records", also: str | None = None
) -> str:
    """Write the SELECT over a relation of records that counts them by `position`, and by `also`, a column of theirs.

    Undeclared keys, of which there may be very many, must cost no memory. So records are joined with the cells before
    they are grouped. If so few keys lie between the declared ones that all of them may occur, records are grouped
    first, which is much faster.
    """
    kept = [] if also is None else [also]
    listed = ", ".join([*kept, *(f"{count} AS {name}" for name, count in counts.items())])
    if groups is None:
        return f"SELECT 0 AS position, {listed} FROM {records}" + (f" GROUP BY {also}" if kept else "")
    keys = [f"k{index}" for index in range(len(groups.columns))]
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


def count_values(
    table: Table,
    column: Column,
    *,
    condition: Condition | None = None,
    groups: CountsByGroup | None = None,
    unit: PrivacyUnit | None = None,
) -> ValueCounts:
    """Count the records of each value in each cell, in one pass of the engine.

    Parameters
    ----------
    table : Table
        What is counted.
    column : Column
        Whose values; one without types is read as text. A record without a value, or with one that cannot be read, is
        in no count.
    condition, groups, unit
        As for `count_records`. A record for which a condition is not true is one without a value.

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
    named = replace(column, kind=ColumnType.TEXT) if column.kind is ColumnType.UNTYPED else column
    keys = (*(() if groups is None else groups.columns), named)
    value = f"k{len(keys) - 1}"
    joined, position = "", "0"
    counted_as = f"records.{value}" if condition is None else f"CASE WHEN records.answer THEN records.{value} END"
    if groups is not None:
        same = " AND ".join(f"records.k{index} = groups.k{index}" for index in range(len(keys) - 1))
        joined, position = f" JOIN groups ON {same}", "groups.position"
    statement = (
        f"{records_statement(table, condition, keys, unit)}, "
        f"listed AS (SELECT {position} AS position, {counted_as} AS value FROM records{joined}) "
        "SELECT position, CASE WHEN value IS NULL THEN 1 ELSE 0 END AS missing, COUNT(*) AS total "
        "FROM listed GROUP BY position, value"
    )
    declared = {} if groups is None else {"groups": groups.arrow()}
    counted = table.run(statement, columns_read(table, condition, keys, unit), **declared)
    position_of, missing, counts = (integers_of(counted.column(name)) for name in ("position", "missing", "total"))
    total = np.bincount(position_of, counts, minlength=cells).astype(np.int64)
    known = missing == 0
    order = np.argsort(position_of[known], kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(position_of[known], minlength=cells))])
    return ValueCounts(ends.astype(np.int64), counts[known][order], total)
