"""Arrays of integers as callers give them; a message never shows a value or a position."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput

__all__ = ["integers"]


def integers(values: Any, field: str, *, at_least: int, at_most: int) -> NDArray[np.int64]:
    """Read an array of integers in a range, of any shape.

    Raises
    ------
    BadInput
        For floats, booleans, masked or missing entries, integers beyond the range, and anything else.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(field, "must be an array of integers", "give integers in an even shape") from None
    if array.size == 0 and array.dtype == np.float64:  # what NumPy makes of an empty list
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or _is_masked(values):
        raise BadInput(field, f"must be an array of integers, not {_kind(values, array)}", "convert it to int64")
    if array.size and (array.min() < at_least or array.max() > at_most):
        raise BadInput(field, f"must lie between {at_least} and {at_most}", "bring every entry into that range")
    return array.astype(np.int64, copy=False)


def _is_masked(values: Any) -> bool:
    """Tell a masked array, of which there is none before NumPy's part for them is loaded; that takes a while."""
    return "numpy.ma" in sys.modules and np.ma.isMaskedArray(values)


def _kind(values: Any, array: NDArray[Any]) -> str:
    if _is_masked(values):
        return "one with masked entries"
    names = {"b": "booleans", "f": "floats", "c": "complex numbers", "U": "text", "O": "Python objects"}
    return names.get(array.dtype.kind, "this type")
