"""Arrow columns made total: every value in a form that no engine can fail on, decided by the column's type alone.

A type is schema and public; a value is not. So each type has one rule, and a value outside of it is null. Examples are
text that is not UTF-8 or longer than 10^6 bytes, and an instant outside the years 1 to 9999. Instants are UTC, whatever
zone they are shown in. Durations and times of day, which engines check, become plain numbers; of lists and structs only
whether there is one is left. Checks are vectorised: a clean column costs one pass, and the pieces of an unclean one are
looked at value by value.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import ColumnType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import narwhals as nw
    import pyarrow as pa


# Convert between NumPy, Python and Arrow without pandas. PyArrow would import pandas to inspect an object, which takes
# longer than counting ten million records.

FEW = 4096
"""Values at most that are handled one by one: to load Arrow's functions takes longer than a small release."""

_MOST_ARRAY_BYTES = 2**31 - 1
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
    if len(content) > _MOST_ARRAY_BYTES:
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


def rows_of(column: pa.ChunkedArray, kind: ColumnType, rows: NDArray[np.int64]) -> pa.ChunkedArray:
    """Return rows of a column of that kind without nulls, such as `array_of_kind` makes, in the order given."""
    import pyarrow as pa

    if kind is ColumnType.INTEGER:
        return pa.chunked_array([whole_numbers(integers_of(column)[rows])])
    if max(len(rows), len(column)) > FEW:
        return column.take(whole_numbers(rows))
    values = column.to_pylist()
    return pa.chunked_array([array_of_kind([values[row] for row in rows.tolist()], kind)])


def array_of_kind(values: Sequence[Any], kind: ColumnType) -> pa.Array:
    """Return values that `values.read_value` has read, none of them missing, as an Arrow array of their kind."""
    import pyarrow as pa

    if kind is ColumnType.TEXT:
        together = "".join(values)
        parts = values if together.isascii() else [value.encode() for value in values]
        ends = np.zeros(len(values) + 1, dtype=np.int32)
        np.cumsum(np.fromiter(map(len, parts), dtype=np.int32, count=len(values)), out=ends[1:])
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(together.encode())]
        return pa.Array.from_buffers(pa.string(), len(values), buffers)
    if kind is ColumnType.BOOLEAN:
        return _fixed(pa.uint8(), np.array(values, dtype=np.uint8)).cast(pa.bool_())
    if kind is ColumnType.NUMBER:
        return _fixed(pa.float64(), np.array(values, dtype=np.float64))
    if kind is ColumnType.DATE:
        return _fixed(pa.timestamp("us"), np.array(values, dtype="datetime64[us]").view(np.int64))
    return whole_numbers(np.array(values, dtype=np.int64))


def _fixed(kind: pa.DataType, values: NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


LONGEST_TEXT = 10**6
"""Bytes (UTF-8) of the longest text or binary value; a longer one is null. Public, and the same for every table."""

_DAYS = (-719_162, 2_932_897)
"""From 0001-01-01 to 10000-01-01, which is no longer in, in days since 1970."""

_PIECE = 1 << 16
_MOST_VALUE_BYTES = 1 << 26
"""Of text at once, where a few texts are many."""
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6}


def kind_of_type(kind: pa.DataType) -> ColumnType:
    """Map an Arrow type to a kind; a dictionary has the kind of what it lists."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return kind_of_type(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        inner = kind_of_type(kind.storage_type)
        plain = kind.extension_name == "arrow.json" or inner is ColumnType.NESTED
        return inner if plain else ColumnType.OTHER
    for holds, result in (
        (types.is_boolean, ColumnType.BOOLEAN),
        (types.is_integer, ColumnType.INTEGER),
        (types.is_floating, ColumnType.NUMBER),
        (types.is_decimal, ColumnType.NUMBER),
        (_is_text, ColumnType.TEXT),
        (types.is_date, ColumnType.DATE),
        (types.is_timestamp, ColumnType.DATE),
        (_is_flat, ColumnType.OTHER),
    ):
        if holds(kind):
            return result
    return ColumnType.NESTED


def type_name(kind: pa.DataType) -> str:
    """Return what an Arrow type is called, for messages."""
    return str(getattr(kind, "extension_name", kind))


def is_safe(kind: pa.DataType) -> bool:
    """Tell whether DuckDB reads every value of a type from Parquet, and as `total_column` does but for the years.

    Not floats: the statistics in a file leave NaN out, and an engine that believes them decides by one record's value
    whether it looks for another's NaN.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_timestamp(kind):
        return bool(kind.tz is None and kind.unit == "us")
    return bool(types.is_boolean(kind) or types.is_integer(kind) or types.is_date32(kind))


def total_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with every value total; its type depends on the column's type alone."""
    import pyarrow as pa

    if not column.num_chunks:
        return pa.chunked_array([_total(pa.nulls(0, column.type))])
    return pa.chunked_array([_total(chunk) for chunk in column.chunks])


def total_stream(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatchReader:
    """Return a stream of batches with every value total, whose types follow from the schema's.

    A batch may hold dictionaries where the schema says text; it is parted so that no piece unpacks to very much.
    """
    import pyarrow as pa

    names = schema.names
    types = [_total(pa.nulls(0, field.type)).type for field in schema]

    def made() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for piece in _pieces(batch):
                columns = map(_total, piece.columns)
                plain = [
                    column if column.type == kind else column.cast(kind)
                    for column, kind in zip(columns, types, strict=True)
                ]
                yield pa.record_batch(plain, names=names)

    return pa.RecordBatchReader.from_batches(pa.schema(list(zip(names, types, strict=True))), made())


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Part a batch where its dictionaries' texts, repeated, would fill too much memory."""
    import pyarrow as pa

    held = np.zeros(batch.num_rows, dtype=np.int64)
    for column in batch.columns:
        kind = column.type
        if pa.types.is_dictionary(kind) and (_is_text(kind.value_type) or _is_binary(kind.value_type)):
            import pyarrow.compute as pc

            sizes = pc.min_element_wise(pc.binary_length(column.dictionary).cast(pa.int64()), LONGEST_TEXT)
            held += pc.fill_null(sizes.take(column.indices), 0).to_numpy(zero_copy_only=False)
    filled = np.cumsum(held)
    start = 0
    while start < batch.num_rows:
        before = filled[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(filled, before + _MOST_VALUE_BYTES, side="right")))
        yield batch.slice(start, end - start)
        start = end


def _total(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    kind, types = array.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _total(array.storage)
    if types.is_run_end_encoded(kind):
        import pyarrow.compute as pc

        return _total(pc.run_end_decode(array))
    if types.is_dictionary(kind):
        # The few values are made total before they are many (and, repeated, may fill more than 2 GiB).
        listed = _total(array.dictionary)
        return (listed.cast(pa.large_string()) if types.is_string(listed.type) else listed).take(array.indices)
    for holds, rule in _rules():
        if holds(kind):
            return rule(array)
    import pyarrow.compute as pc

    return pc.if_else(array.is_valid(), pa.scalar(True), pa.scalar(None, pa.bool_()))


def _rules() -> list[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array]]]:
    import pyarrow as pa

    types = pa.types
    return [
        (types.is_null, lambda array: pa.nulls(len(array), pa.int8())),
        (types.is_boolean, lambda array: array),
        (types.is_integer, lambda array: array),
        (types.is_float16, lambda array: array.cast(pa.float32())),
        (types.is_floating, lambda array: array),
        # Exact as text, and read from there; DuckDB has no decimals this wide.
        (types.is_decimal256, lambda array: array.cast(pa.string())),
        (types.is_decimal128, _decimals),
        (types.is_decimal, lambda array: array.cast(pa.decimal128(38, array.type.scale))),
        (_is_text, _texts),
        (_is_binary, _short),
        (types.is_date32, _dates),
        (types.is_date64, lambda array: _instants(array.view(pa.int64()), "ms")),
        (types.is_timestamp, lambda array: _instants(array.view(pa.int64()), array.type.unit)),
        (types.is_time32, lambda array: array.view(pa.int32())),
        (types.is_time64, lambda array: array.view(pa.int64())),
        (types.is_duration, lambda array: array.view(pa.int64())),
        (types.is_interval, _interval),
    ]


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    import pyarrow as pa

    types = pa.types
    is_binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(is_binary or types.is_fixed_size_binary(kind))


def _is_flat(kind: pa.DataType) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_null(kind)
        or _is_binary(kind)
        or types.is_time(kind)
        or types.is_duration(kind)
        or types.is_interval(kind)
    )


def _texts(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    short = _short(array)
    if _is_valid(short):
        return short
    pieces = [short.slice(start, _PIECE) for start in range(0, len(short), _PIECE)]
    return pa.concat_arrays([piece if _is_valid(piece) else _decodable(piece) for piece in pieces])


def _short(array: pa.Array) -> pa.Array:
    """Return text or binary values without those that are too long."""
    import pyarrow as pa

    if pa.types.is_string_view(array.type):
        array = pa.array(array.cast(pa.binary_view()).cast(pa.large_binary())).view(pa.large_string())
    elif pa.types.is_binary_view(array.type):
        array = array.cast(pa.large_binary())
    if _longest(array) <= LONGEST_TEXT:
        return array
    import pyarrow.compute as pc

    return pc.if_else(pc.less_equal(pc.binary_length(array), LONGEST_TEXT), array, pa.scalar(None, array.type))


def _longest(array: pa.Array) -> int:
    """Return how many bytes the longest value has, or what stands where one is missing."""
    import pyarrow as pa

    if pa.types.is_fixed_size_binary(array.type):
        return int(array.type.byte_width)
    if not len(array):
        return 0
    large = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    ends = np.frombuffer(array.buffers()[1], dtype=np.int64 if large else np.int32)
    return int(np.diff(ends[array.offset : array.offset + len(array) + 1]).max())


def _is_valid(array: pa.Array) -> bool:
    import pyarrow as pa

    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _decodable(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    large = pa.types.is_large_string(array.type)
    decoded: list[str | None] = []
    for value in array.view(pa.large_binary() if large else pa.binary()).to_pylist():
        try:
            decoded.append(None if value is None else value.decode())
        except UnicodeDecodeError:
            decoded.append(None)
    return pa.array(decoded, array.type)


def _decimals(array: pa.Array) -> pa.Array:
    """Return decimals without those of more digits than their type has: engines keep fewer bytes for these types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(array):
        return array
    words = np.frombuffer(array.buffers()[1], dtype="<u8")[2 * array.offset : 2 * (array.offset + len(array))]
    low, high = words[0::2], words[1::2].view("<i8")
    bound = 10**array.type.precision
    (top, top_low), (bottom, bottom_low) = divmod(bound, 1 << 64), divmod(-bound, 1 << 64)
    below = (high < top) | ((high == top) & (low < np.uint64(top_low)))
    above = (high > bottom) | ((high == bottom) & (low > np.uint64(bottom_low)))
    inside = below & above
    return array if inside.all() else pc.if_else(truths(inside), array, pa.scalar(None, array.type))


def _dates(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    return _within(array.view(pa.int32()), *_DAYS).view(pa.date32())


def _instants(since: pa.Array, unit: str) -> pa.Array:
    import pyarrow as pa

    if unit == "ns":  # the first and last of 64 bits are an engine's infinities
        return _within(since, -(2**63) + 2, 2**63 - 1).view(pa.timestamp("ns"))
    scale = 86_400 * _PER_SECOND[unit]
    return _within(since, _DAYS[0] * scale, _DAYS[1] * scale).view(pa.timestamp(unit)).cast(pa.timestamp("us"))


def _within(values: pa.Array, low: int, end: int) -> pa.Array:
    """Return whole numbers with those outside low ≤ x < end made null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    least, most = pc.min_max(values).values()
    if least.as_py() is None or (least.as_py() >= low and most.as_py() < end):
        return values
    inside = pc.and_(
        pc.greater_equal(values, pa.scalar(low, values.type)), pc.less(values, pa.scalar(end, values.type))
    )
    return pc.if_else(inside, values, pa.scalar(None, values.type))


def _interval(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(
        pa.binary(16), len(array), array.buffers(), null_count=array.null_count, offset=array.offset
    )


# Convert columns of Python objects to text, one value at a time.
#
# A value must not depend on its neighbours. pandas stores 1 as 1.0 in a column (or among categories) if another record
# holds 2.5 or nothing. So every whole number is written without a fraction. A value without a usable text is null.
# Examples are a value whose `__str__` fails or returns no text, text with a lone surrogate (it has no UTF-8 form) or of
# more than 10^6 bytes, and a whole number beyond 2^2048.

_LONGEST_INTEGER = 2048
"""Bits; beyond it no number is read as a double, and how many digits Python writes is a setting."""


def object_kinds(frame: nw.DataFrame[Any]) -> dict[str, ColumnType]:
    """Return the columns that are read as text value by value, with their kinds; decided by the types alone.

    pandas categories take their type from the values, and so do objects; Python text may hold what Arrow refuses.
    """
    import narwhals as nw

    if frame.implementation.is_pandas_like():
        types = zip(frame.columns, frame.to_native().dtypes, strict=True)
        kinds = {name: _pandas_kind(dtype) for name, dtype in types}
        return {name: kind for name, kind in kinds.items() if kind is not None}
    return {name: ColumnType.UNTYPED for name, dtype in frame.schema.items() if dtype == nw.Object}


def object_texts(values: nw.Series[Any]) -> pa.ChunkedArray:
    """Return the texts of a column's values, null where a value is missing or has no usable text."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(values.dtype, nw.Categorical | nw.Enum) and values.implementation.is_pandas_like():
        codes = values.to_native().cat
        listed = nw.from_native(codes.categories.to_series(), series_only=True)
        texts = object_texts(listed).combine_chunks()
        places = pa.array(codes.codes.to_numpy(), mask=(codes.codes < 0).to_numpy())
        return pa.chunked_array([texts.take(places)])
    listing = values.to_list()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a record warns of would be shown
        pieces = [
            pa.array(
                [
                    value if type(value) is str and len(value) <= LONGEST_TEXT and value.isascii() else text_of(value)
                    for value in listing[start : start + _PIECE]
                ],
                pa.large_string(),
            )
            for start in range(0, len(listing), _PIECE)
        ]
    return pa.chunked_array(pieces, pa.large_string())


def text_of(value: Any) -> str | None:
    """Return the text of a Python value, whatever its methods do; None if it has none.

    Examples
    --------
    >>> text_of(1.0), text_of(2.5), text_of(10**5000)
    ('1', '2.5', None)
    """
    try:
        if _is_missing(value) or (isinstance(value, int) and int.bit_length(value) > _LONGEST_INTEGER):
            return None
        if isinstance(value, float | np.floating) and float(value).is_integer() and abs(float(value)) < 2.0**63:
            return str(int(value))
        written = str.encode(str(value))
    except (Exception, SystemExit):
        return None
    return written.decode() if len(written) <= LONGEST_TEXT else None


def _is_missing(value: Any) -> bool:
    """Tell whether a value is none: None, NaN of any sort, NaT, or NA; asking pandas would fail on some values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _pandas_kind(dtype: Any) -> ColumnType | None:
    """Return the kind of a pandas type that is read value by value; None for those that go to Arrow as they are."""
    name = type(dtype).__name__
    if name == "StringDtype":
        return ColumnType.TEXT if dtype.storage == "python" else None
    if name in ("ArrowDtype", "PeriodDtype", "IntervalDtype"):
        return None
    plain = name != "SparseDtype" and getattr(dtype, "kind", "O") in "biufmM" and getattr(dtype, "itemsize", 8) <= 8
    return None if plain else ColumnType.UNTYPED
