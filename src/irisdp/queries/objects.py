"""Columns of Python objects: text whose reading the question decides, one value at a time.

A value must not depend on its neighbours. pandas stores 1 as 1.0 in a column (or among categories) if another record
holds 2.5 or nothing. So every whole number is written without a fraction. A value without a usable text is null.
Examples are one whose `__str__` fails or returns no text, text with a lone surrogate (it has no UTF-8 form) or of more
than 10^6 bytes, and a whole number beyond 2^2048.
"""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Kind
from .total import LONGEST_TEXT

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

__all__ = ["object_kinds", "object_texts", "text_of"]

_LONGEST_INTEGER = 2048
"""Bits; beyond it no number is read as a double, and how many digits Python writes is a setting."""

_PIECE = 1 << 16


def object_kinds(frame: nw.DataFrame[Any]) -> dict[str, Kind]:
    """Return the columns that are read as text value by value, with their kinds; decided by the types alone.

    pandas categories take their type from the values, and so do objects; Python text may hold what Arrow refuses.
    """
    import narwhals as nw

    if frame.implementation.is_pandas_like():
        types = zip(frame.columns, frame.to_native().dtypes, strict=True)
        found = {name: _pandas_kind(dtype) for name, dtype in types}
        return {name: kind for name, kind in found.items() if kind is not None}
    return {name: Kind.UNTYPED for name, dtype in frame.schema.items() if dtype == nw.Object}


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
    """Return the text that a Python value is read as, whatever it does; None if it has none.

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


def _pandas_kind(dtype: Any) -> Kind | None:
    """Return the kind of a pandas type that is read value by value; None for those that go to Arrow as they are."""
    name = type(dtype).__name__
    if name == "StringDtype":
        return Kind.TEXT if dtype.storage == "python" else None
    if name in ("ArrowDtype", "PeriodDtype", "IntervalDtype"):
        return None
    plain = name != "SparseDtype" and getattr(dtype, "kind", "O") in "biufmM" and getattr(dtype, "itemsize", 8) <= 8
    return None if plain else Kind.UNTYPED
