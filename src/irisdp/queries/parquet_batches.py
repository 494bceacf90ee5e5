"""Columns of a Parquet file through Arrow, in memory that is bounded by what the file holds, not by what it unpacks to.

A text that a file holds once may occur in thousands of records, or thousands of times in one list. It is read as a
dictionary, and expanded in small pieces. Of a list or a structure only whether there is one is asked, so one of its
parts is read, and of numbers rather than text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .columns import Kind
from .parquet_files import opened_parquet
from .total import kind_of_type

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RECORDS", "parquet_batches"]

RECORDS = 1 << 17
"""Read at once."""
_NESTED_RECORDS = 1 << 10
"""Read at once where text within lists or structures is: Arrow takes 2 GiB of different texts there."""


def parquet_batches(path: Path, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read columns of a file; texts are dictionaries where the file has such, and nested columns have one part."""
    file = opened_parquet(path)
    leaves = _leaves(file, names)
    nested = {name for name in names if kind_of_type(file.schema_arrow.field(name).type) is Kind.NESTED}
    texts = {name: leaf for name, leaf in leaves.items() if leaf.physical_type == "BYTE_ARRAY"}
    repeated = _with_dictionaries(file.metadata)
    listed = [leaf.path for name, leaf in texts.items() if name in nested or leaf.path in repeated]
    size = _NESTED_RECORDS if nested & set(texts) else RECORDS
    paths = [leaf.path for leaf in leaves.values()]
    for batch in opened_parquet(path, listed).iter_batches(size, columns=paths):
        yield batch.select(names)


def _leaves(file: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the part of each column that is read: of numbers if there is one, and in as few lists as may be."""
    found: dict[str, Any] = {}
    place = 0
    for field in file.schema_arrow:
        parts = [file.metadata.schema.column(place + part) for part in range(_parts(field.type))]
        place += len(parts)
        if field.name in names:
            found[field.name] = min(
                parts, key=lambda one: (one.physical_type == "BYTE_ARRAY", one.max_repetition_level)
            )
    return found


def _parts(kind: pa.DataType) -> int:
    """Count the columns of numbers and texts that a type is stored in."""
    return sum(_parts(kind.field(place).type) for place in range(kind.num_fields)) if kind.num_fields else 1


def _with_dictionaries(metadata: Any) -> set[str]:
    """Return the columns whose values some part of the file lists once."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    chunks = [group.column(place) for group in groups for place in range(metadata.num_columns)]
    return {chunk.path_in_schema for chunk in chunks if any("DICTIONARY" in name for name in chunk.encodings)}
