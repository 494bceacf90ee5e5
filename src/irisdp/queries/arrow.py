"""Between NumPy, Python and Arrow without pandas, which pyarrow would import to look at what it is given.

That import takes longer than counting ten million records, and nothing here has to do with pandas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import Kind

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FEW", "array_of_kind", "integers_of", "rows_of", "text_schema", "texts", "truths", "whole_numbers"]

FEW = 4096
"""Values at most that are handled one by one: to load Arrow's functions takes longer than a small release."""

_MOST_BYTES = 2**31 - 1
"""In an array of text that is not large."""


def whole_numbers(values: NDArray[np.int64], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return 64-bit integers as an Arrow array, without a copy, null where they are missing."""
    import pyarrow as pa

    known = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    whole = pa.py_buffer(np.ascontiguousarray(values, dtype=np.int64))
    return pa.Array.from_buffers(pa.int64(), len(values), [known, whole])


def truths(values: NDArray[np.bool_]) -> pa.Array:
    """Return truth values as an Arrow array."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(np.packbits(values, bitorder="little"))])


def text_schema(names: Sequence[str]) -> pa.Schema:
    """Return the schema of columns of text."""
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in names])


def texts(values: Sequence[str | None]) -> pa.Array:
    """Return text as an Arrow array, null where it is missing, or no Unicode (half a character)."""
    import pyarrow as pa

    try:
        encoded = [None if value is None else value.encode() for value in values]
    except UnicodeEncodeError:
        encoded = [_encoded(value) for value in values]
    ends = np.cumsum([0, *(0 if value is None else len(value) for value in encoded)], dtype=np.int64)
    known = np.packbits(np.array([value is not None for value in encoded], dtype=np.bool_), bitorder="little")
    content = b"".join(value for value in encoded if value is not None)
    if len(content) > _MOST_BYTES:
        raise pa.ArrowInvalid("more text than an array holds")
    buffers = [pa.py_buffer(known), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def _encoded(value: str | None) -> bytes | None:
    try:
        return None if value is None else value.encode()
    except UnicodeEncodeError:
        return None


def integers_of(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return a column of 64-bit integers without nulls as a NumPy array."""
    chunks = [np.from_dlpack(chunk) for chunk in column.chunks if len(chunk)]
    return np.concatenate(chunks) if chunks else np.zeros(0, dtype=np.int64)


def rows_of(column: pa.ChunkedArray, kind: Kind, rows: NDArray[np.int64]) -> pa.ChunkedArray:
    """Return rows of a column of that kind without nulls, such as `array_of_kind` makes, in the order given."""
    import pyarrow as pa

    if kind is Kind.INTEGER:
        return pa.chunked_array([whole_numbers(integers_of(column)[rows])])
    if max(len(rows), len(column)) > FEW:
        return column.take(whole_numbers(rows))
    values = column.to_pylist()
    return pa.chunked_array([array_of_kind([values[row] for row in rows.tolist()], kind)])


def array_of_kind(values: Sequence[Any], kind: Kind) -> pa.Array:
    """Return values that `values.read_value` has read, none of them missing, as an Arrow array of their kind."""
    import pyarrow as pa

    if kind is Kind.TEXT:
        together = "".join(values)
        parts = values if together.isascii() else [value.encode() for value in values]
        ends = np.zeros(len(values) + 1, dtype=np.int32)
        np.cumsum(np.fromiter(map(len, parts), dtype=np.int32, count=len(values)), out=ends[1:])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(together.encode())]
        return pa.Array.from_buffers(pa.string(), len(values), buffers)
    if kind is Kind.BOOLEAN:
        return _fixed(pa.uint8(), np.array(values, dtype=np.uint8)).cast(pa.bool_())
    if kind is Kind.NUMBER:
        return _fixed(pa.float64(), np.array(values, dtype=np.float64))
    if kind is Kind.DATE:
        return _fixed(pa.timestamp("us"), np.array(values, dtype="datetime64[us]").view(np.int64))
    return whole_numbers(np.array(values, dtype=np.int64))


def _fixed(kind: pa.DataType, values: NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
