"""Per-group sufficient statistics: the only numbers that leave the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from .columns import Column, read_as
from .expression import Condition
from .table import Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Cells", "Statistics", "count_records", "records_statement"]


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
    table: Table, *, condition: Condition | None = None, groups: Cells | None = None, unit: str | None = None
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
    unit : text, optional
        Column that names the person a record belongs to; see `records_statement`.

    Returns
    -------
    Statistics
        Adding or removing a record (a person, with `unit`) changes at most one cell, by one record.
    """
    keys = () if groups is None else groups.columns
    person = table.column(unit, "unit") if unit is not None else None
    records = records_statement(table, condition, keys, person)
    counts = (
        "COUNT(*) AS total, COUNT(CASE WHEN answer THEN 1 END) AS yes, COUNT(CASE WHEN NOT answer THEN 1 END) AS no"
    )
    if groups is None:
        statement = f"{records} SELECT 0 AS position, {counts} FROM records"
    else:
        # The join comes first: undeclared keys, of which there may be very many, then cost no memory.
        same = " AND ".join(f"records.k{place} = groups.k{place}" for place in range(len(keys)))
        statement = f"{records} SELECT position, {counts} FROM records JOIN groups ON {same} GROUP BY position"
    used = [*(condition.columns if condition else ()), *(table.column(key.name, "by") for key in keys)]
    declared = None if groups is None else groups.arrow()
    found = table.run(statement, used if person is None else [*used, person], declared)
    position = found.column("position").to_numpy()
    arrays = {name: np.zeros(1 if groups is None else len(groups), np.int64) for name in ("total", "yes", "no")}
    for name, array in arrays.items():
        array[position] = found.column(name).to_numpy()
    return Statistics(**arrays)


def records_statement(table: Table, condition: Condition | None, keys: Sequence[Column], person: Column | None) -> str:
    """Return the WITH clause of `records`: keys k0, k1, ... and the `answer`, one row per record that counts.

    With a person, each keeps one record of the whole table: the one whose keys have the least MD5, then, among those,
    whose answer has. That is a function of the person's own records and of nothing else (no row number, no order of
    reading), so whatever others add or remove, a person's record stays; and the group kept is a function of the
    person's keys alone, so it is public where membership is. The hash makes the choice even-handed: the least value
    itself would favour the first group of the alphabet. Records without a person belong to nobody.
    """
    names = [f"k{place}" for place in range(len(keys))]
    parts = [
        f"{read_as(table.column(key.name, 'by').reference, key.kind).sql('duckdb')} AS {name}"
        for key, name in zip(keys, names, strict=True)
    ]
    parts.append(f"{condition.sql('duckdb') if condition else 'TRUE'} AS answer")
    if person is None:
        return f"WITH records AS (SELECT {', '.join(parts)} FROM data)"
    # A struct is compared field by field; the values follow their hash, so that a collision decides nothing.
    texts = ", ".join(["'key'", *(f"CAST({name} AS TEXT)" for name in names)])
    fields = [
        f"'key_hash': {_hash(texts)}",
        *(f"'{name}': {name}" for name in names),
        f"'answer_hash': {_hash(f'{texts}, CAST(answer AS TEXT)')}",
        "'answer': answer",
    ]
    return (
        f"WITH all_records AS (SELECT {person.reference.sql('duckdb')} AS person, {', '.join(parts)} FROM data), "
        f"kept AS (SELECT MIN({{{', '.join(fields)}}}) AS kept FROM all_records "
        "WHERE NOT person IS NULL GROUP BY person), "
        f"records AS (SELECT {', '.join(f'kept.kept.{name} AS {name}' for name in [*names, 'answer'])} FROM kept)"
    )


def _hash(texts: str) -> str:
    # Twelve hexadecimal digits are enough to be even-handed, and DuckDB keeps twelve bytes without a pointer.
    return f"SUBSTRING(MD5(CONCAT_WS('|', {texts})), 1, 12)"
