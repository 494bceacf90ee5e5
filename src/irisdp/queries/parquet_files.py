"""Parquet files opened by what they hold, and by nothing that a writer noted beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from ..errors import BadInput

__all__ = ["old_instants", "opened_parquet"]

_DIGITS_OF_16_BYTES = 38


def opened_parquet(path: Path, listed: Sequence[str] = ()) -> Any:
    """Open a file by its own types: an Arrow schema stored beside them would make Arrow check what it decodes.

    Texts of the parts listed are read as dictionaries.

    Raises
    ------
    BadInput
        For decimals in bytes whose number may differ, or that are too many: Arrow fails on single values of these.
    """
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        size = file.read(4)
        file.seek(-8 - int.from_bytes(size, "little"), os.SEEK_END)
        footer = file.read().replace(b"ARROW:schema", b"arrow:schema")
    metadata = pq.read_metadata(BytesIO(b"PAR1" + footer))
    for column in map(metadata.schema.column, range(metadata.num_columns)):
        if _some_fail(column):
            rule = f"keeps the decimals of {column.path} in bytes of any number, of which some values cannot be read"
            raise BadInput("data", rule, "write it again with decimals of one length, as DuckDB, PyArrow and Spark do")
    # Old instants (INT96) overflow in nanoseconds, the default, from the year 2262 on.
    return pq.ParquetFile(
        path, metadata=metadata, coerce_int96_timestamp_unit="us", read_dictionary=list(listed) or None
    )


def _some_fail(column: Any) -> bool:
    """Tell whether Arrow fails on some values of a column: decimals of no bytes, or of more than its own have."""
    if column.logical_type.type != "DECIMAL":
        return False
    most = 16 if column.precision <= _DIGITS_OF_16_BYTES else 32
    return bool(column.physical_type == "BYTE_ARRAY" or column.length > most)


def old_instants(file: Any) -> set[str]:
    """Return the columns of instants in 96 bits: DuckDB and Arrow read some of them as different instants."""
    columns = map(file.metadata.schema.column, range(file.metadata.num_columns))
    return {column.path for column in columns if column.physical_type == "INT96"}
