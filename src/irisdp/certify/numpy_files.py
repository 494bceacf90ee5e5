"""Matrices in files as NumPy writes them (.npy): nothing is allocated, or looked at, that the file does not hold.

A header of a hundred bytes may declare any number of rows, so it is never trusted. Its length is compared with the file
and its table with the data behind it. A table that does not hold real numbers is refused before it is read. Nothing
that is pickled is ever opened.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput
from ..exact import open_regular, so_many

__all__ = ["MOST_CELLS", "check_cells", "read_npy"]

MOST_CELLS = 25_000_000
"""Numbers in one table from a file, 5,000 × 5,000: as exact fractions they take some gigabytes."""

_MAGIC = b"\x93NUMPY"
_LENGTHS = {1: 2, 2: 4, 3: 4}
"""Bytes in which each version of the format says how long its header is."""
_LONGEST_HEADER = 10_000
"""Bytes; a plain table's has 118."""


def read_npy(path: Path) -> np.ndarray[Any, Any]:
    """Read a table of real numbers, of any order of bytes and of rows.

    Raises
    ------
    BadInput
        For a file that cannot be read, has another form or is shorter than it says. Also for a table that does not hold
        real numbers, has no rows or columns, or has more than `MOST_CELLS`.
    """
    try:
        declared = _declared(path)
    except FileNotFoundError:
        raise BadInput("mechanism", f"there is no file {path}", "check the path") from None
    except Exception:  # whatever NumPy and Python's parser have to say of it
        declared = None
    if declared is None:
        raise BadInput("mechanism", f"{path} is not a NumPy array of numbers", "save it with numpy.save")
    if declared.ndim != 2 or declared.dtype.kind not in "iuf":
        raise BadInput("mechanism", "must be a two-dimensional array of real numbers", "give one row per input")
    rows, columns = declared.shape
    if not rows or not columns:
        rule = f"is a table of {so_many(rows, 'row')} and {so_many(columns, 'column')}"
        raise BadInput("mechanism", rule, "give one row per input, and one column per output")
    check_cells(declared.size, "mechanism")
    return np.array(declared)


def check_cells(cells: int, field: str) -> None:
    """Refuse a table too large to be held as fractions."""
    if cells > MOST_CELLS:
        raise BadInput(field, f"has more than {MOST_CELLS:,} numbers", "give equal rows once, in a mechanism file")


def _declared(path: Path) -> np.ndarray[Any, Any] | None:
    """Return what a file declares, mapped and not read; None for what is no array, or longer than its file."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(len(_MAGIC) + 2)
        width = _LENGTHS.get(start[len(_MAGIC)]) if len(start) == len(_MAGIC) + 2 else None
        if not start.startswith(_MAGIC) or width is None:
            return None
        header = int.from_bytes(file.read(width), "little")
    if header > min(_LONGEST_HEADER, size):
        return None
    with warnings.catch_warnings(action="ignore"):  # of Python 2's integers, and of what is odd in the header
        found = np.load(path, mmap_mode="r", allow_pickle=False, max_header_size=_LONGEST_HEADER)
    sound = isinstance(found, np.ndarray) and min(found.shape, default=0) >= 0 and found.nbytes <= size
    return found if sound else None
