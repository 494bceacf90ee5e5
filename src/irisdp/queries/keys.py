"""Group keys read off the data, for private selection only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from .arrow import integers_of, whole_numbers
from .columns import Column, Kind
from .groups import Groups, find_keys
from .persons import Unit, columns_read, records_statement
from .table import Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LONGEST_KEY", "KeyCells", "UnreleasedKeys", "enumerate_keys"]


LONGEST_KEY = 1000
"""Characters of the longest text that may be named as a group; a longer one is no key."""

_NAMEABLE = {
    Kind.TEXT: f" AND LENGTH({{0}}) <= {LONGEST_KEY}",
    Kind.NUMBER: " AND ABS({0}) <= CAST('1.7976931348623157e308' AS DOUBLE)",
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


def enumerate_keys(table: Table, by: Sequence[str] | str, *, unit: Unit | None = None) -> UnreleasedKeys:
    """List the keys in the data with their numbers of records, sorted by key.

    Untyped columns are read as text. Records with a null in their key have no group, nor have those whose key nobody
    could read: text of more than `LONGEST_KEY` characters, and infinite numbers. There is one zero. With `unit` each
    person has one record (see `persons`), so a person moves one count by one.
    """
    columns = tuple(
        Column(column.name, Kind.TEXT if column.kind is Kind.UNTYPED else column.kind)
        for column in find_keys(table, by)
    )
    names = [f"k{place}" for place in range(len(columns))]
    named = list(zip(names, columns, strict=True))
    known = " AND ".join(f"NOT {name} IS NULL{_NAMEABLE.get(column.kind, '').format(name)}" for name, column in named)
    # Of two zeros that are one key, the data would decide which is shown.
    shown = ", ".join(
        f"CASE WHEN {name} = 0 THEN CAST('0' AS DOUBLE) ELSE {name} END AS {name}"
        if column.kind is Kind.NUMBER
        else name
        for name, column in named
    )
    listed = ", ".join(names)
    statement = (
        f"{records_statement(table, None, columns, unit)} SELECT {listed}, COUNT(*) AS total "
        f"FROM (SELECT {shown} FROM records WHERE {known}) AS nameable GROUP BY {listed} ORDER BY {listed}"
    )
    found = table.run(statement, columns_read(table, None, columns, unit))
    return UnreleasedKeys(columns, integers_of(found.column("total")), found.select(names))
