"""Declared groups: the cells of a grouped question, listed by the steward and never read off the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from .columns import Column, Kind
from .declared import declared_rows
from .table import Table
from .values import is_empty, read_value

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Groups", "find_keys", "read_groups"]


@dataclass(frozen=True, slots=True)
class Groups:
    """The cells of a grouped question, in their declared order.

    Attributes
    ----------
    columns : tuple of Column
        The group columns, with the kind their values are read as.
    labels : tuple of tuple
        One row per group, as declared; public.
    """

    columns: tuple[Column, ...]
    labels: tuple[tuple[Any, ...], ...] = field(repr=False)
    _keys: tuple[tuple[Any, ...], ...] = field(repr=False)

    def __len__(self) -> int:
        """Count the groups."""
        return len(self.labels)

    def arrow(self) -> pa.Table:
        """Return the keys as columns k0, k1, ... and each group's `position`, for an engine to join with."""
        import pyarrow as pa

        types = {
            Kind.TEXT: pa.string(),
            Kind.INTEGER: pa.int64(),
            Kind.NUMBER: pa.float64(),
            Kind.BOOLEAN: pa.bool_(),
            Kind.DATE: pa.timestamp("us"),
        }
        arrays = {
            f"k{place}": pa.array([key[place] for key in self._keys], types[column.kind])
            for place, column in enumerate(self.columns)
        }
        return pa.table({**arrays, "position": pa.array(range(len(self)), pa.int64())})


def find_keys(table: Table, by: Sequence[str] | str) -> tuple[Column, ...]:
    """Return the group columns of a table, checked."""
    names = [by] if isinstance(by, str) else by
    if not isinstance(names, Sequence) or not names:
        raise BadInput("by", "names no column", "give a list of one or more columns")
    columns = tuple(table.column(name, "by") for name in names)
    if len({column.name for column in columns}) < len(columns):
        raise BadInput("by", "names a column twice", "name each column once")
    for column in columns:
        if column.kind is Kind.OTHER:
            raise BadInput("by", f"groups by {column.name}, which is {column.kind}", "group by text, numbers or dates")
    return columns


def read_groups(table: Table, by: Sequence[str] | str, declared: Any) -> Groups:
    """Read declared groups.

    Parameters
    ----------
    table : Table
        What is grouped.
    by : text or sequence of text
        The group columns.
    declared : text, path, sequence, mapping or frame
        Text such as ``"north,east"`` for one column; a path (or text that ends in .csv or .tsv) of a file whose header
        names the group columns in any order; a sequence of values, tuples or mappings; a mapping from column to
        values; a frame.

    Returns
    -------
    Groups
        In the declared order, each group once. In an untyped column (CSV) the values are read as numbers if every
        declared one is a number, so that 3 also finds 3.0, and as text if not.

    Raises
    ------
    BadInput
        For no groups, a group given twice, an empty value, the wrong columns, and a value its column cannot hold.
    """
    columns = find_keys(table, by)
    rows = declared_rows(declared, [column.name for column in columns])
    if not rows:
        raise BadInput("groups", "declares no group", "declare one or more")
    kinds, values = [], []
    for place, column in enumerate(columns):
        kind, column_values = _read_column(column, [row[place] for row in rows])
        kinds.append(Column(column.name, kind))
        values.append(column_values)
    keys = tuple(zip(*values, strict=True))
    seen = set()
    for key, row in zip(keys, rows, strict=True):
        if key in seen:
            raise BadInput("groups", f"declares {_show(row)} twice", "declare each group once")
        seen.add(key)
    return Groups(tuple(kinds), tuple(rows), keys)


def _read_column(column: Column, values: list[Any]) -> tuple[Kind, list[Any]]:
    if any(is_empty(value) for value in values):
        raise BadInput("groups", f"has an empty value for {column.name}", "give every group a value")
    kind = column.kind
    if kind is Kind.UNTYPED:
        kind = Kind.NUMBER if all(read_value(value, Kind.NUMBER) is not None for value in values) else Kind.TEXT
    keys = []
    for value in values:
        key = read_value(value, kind)
        if key is None:
            raise BadInput("groups", f"has {_show(value)} for {column.name}, which is {kind}", f"give {kind}")
        keys.append(key)
    return kind, keys


def _show(value: Any) -> str:
    return repr(value)[:80]
