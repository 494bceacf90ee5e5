"""Whether two tables hold the same records, but for columns that only one of them has; the result is private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import BadInput
from .columns import Column
from .engine import quote_name
from .parts import injective
from .table import Table

if TYPE_CHECKING:
    import pyarrow as pa


def common_columns(one: Table, other: Table) -> list[str]:
    """Return the names of the columns that both tables have, spelt alike and of one type, whose values are read.

    Both must be read by one engine, in the same way; no record is looked at.

    Raises
    ------
    BadInput
        Where Spark reads a table, or the two are not comparable.
    """
    if any(not table.reader.split(" ", 1)[1].startswith("duckdb") for table in (one, other)):
        raise BadInput("was", "compares records in DuckDB, and Spark reads this table", "name files, without engine=")
    if (one.reader, one.text, one.ordered) != (other.reader, other.text, other.ordered):
        rule = "is another kind of file than the data, or written in another way"
        raise BadInput("was", rule, "save the earlier data in the format of the new data, or leave was= out")
    held = {column.name: column.kind for column in other.held}
    common = [column for column in one.held if held.get(column.name) is column.kind and not column.kind.is_opaque]
    if not common:
        raise BadInput("was", "has no column in common with the data", "name the data as it was before the change")
    types, others = (_types(table, common) for table in (one, other))
    return [column.name for column in common if types[column.name] == others[column.name]]


def hold_the_same(one: Table, other: Table, names: Sequence[str]) -> bool:
    """Tell whether two tables hold the same records in some columns: in order, where the tables have one.

    Each record is represented by the SHA-256 of its values, which takes about 50 bytes of memory for each.
    """
    found, sought = (_digests(table, names) for table in (one, other))
    return bool(found.equals(sought))


def _types(table: Table, columns: Sequence[Column]) -> dict[str, pa.DataType]:
    listed = ", ".join(f"data.{quote_name(column.name)}" for column in columns)
    schema = table.run(f"SELECT {listed} FROM data LIMIT 0", columns).schema
    return dict(zip((column.name for column in columns), schema.types, strict=True))


def _digests(table: Table, names: Sequence[str]) -> pa.ChunkedArray:
    columns = [column for column in table.held if column.name in names]
    columns.sort(key=lambda column: names.index(column.name))
    types = _types(table, columns)
    parts = ", ".join(injective(f"data.{quote_name(name)}", types[name]) for name in names)
    order = "" if table.ordered else " ORDER BY 1"
    digests = table.run(f"SELECT unhex(sha256(concat({parts}))) AS digest FROM data{order}", columns)
    return digests["digest"].combine_chunks()
