"""Tables of chances kept on disk, which take seconds to find and are checked on every edge whenever they are read.

A table is kept in a file under a name that says what it is for. Anyone who can write there can make answers worse, but
not less private. It holds nothing of any data.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .._files import open_regular
from ..graphs import Graph
from ._pull import Pulled, private_on_every_edge

CACHE = "IRISDP_CACHE"
"""The environment variable that names the folder of kept tables; left out, one for caches in the user's home."""

_SPARE_BYTES = 1 << 12
"""What a file of a table holds besides its chances, at most; and no other array of it is larger."""

Found = tuple[Pulled | None, str]
"""A table and the rule by which it was found, or none."""


def kept_table(
    asked: str, graph: Graph, answers: int, ratio: Fraction, find: Callable[[], Found]
) -> tuple[Pulled, str] | None:
    """Read a table, or find and keep it.

    Parameters
    ----------
    asked : text
        What it is for, in full: names its file.
    graph : Graph
    answers : int
    ratio : Fraction
        r = e^ε.
    find : callable
        Returns rows that were checked, or None, and the rule by which they were found.

    Returns
    -------
    tuple of (Pulled, text) or None
        Private at the ratio on every edge, which was checked in whole numbers, however it was come by.
    """
    folder = _folder()
    file = None if folder is None else folder / f"{hashlib.sha256(asked.encode()).hexdigest()}.npz"
    kept = None if file is None else _read(file, graph, answers, ratio)
    if kept is None:
        rows, rule = find()
        if rows is None:
            return None
        kept = rows, rule
        if file is not None:
            _keep(file, rows, rule)
    return kept


def _folder() -> Path | None:
    """Return the folder of kept tables, which need not be there; None where nobody says where the home is."""
    given = os.environ.get(CACHE)
    if given:
        return Path(given)
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"))
    return home / "irisdp" if home.is_absolute() else None


def _read(file: Path, graph: Graph, answers: int, ratio: Fraction) -> tuple[Pulled, str] | None:
    """Read a table that was kept, if it is one for this graph and private on every edge of it."""
    shape = graph.number_of_nodes, answers
    try:
        text = _regular(file, 8 * shape[0] * shape[1] + _SPARE_BYTES)
        with np.load(io.BytesIO(text), allow_pickle=False) as kept:
            if _stated_shape(kept, "weights") != shape or _stated_shape(kept, "rule") != ():
                return None
            weights, rule = kept["weights"], str(kept["rule"])
    except Exception:  # whatever is wrong with the file, be it planted, the table is found anew
        return None
    if (
        weights.dtype != np.int64
        or rule not in ("pull", "linear program")
        or not private_on_every_edge(graph, weights, ratio)
    ):
        return None
    return Pulled(weights), rule


def _regular(file: Path, most: int) -> bytes:
    """Return what is in a regular file of at most so many bytes; a pipe in its place makes nobody wait."""
    with open_regular(file) as stream:
        if os.fstat(stream.fileno()).st_size > most:
            raise OSError
        return stream.read(most + 1)


def _stated_shape(kept: Any, name: str) -> tuple[int, ...]:
    """Return the shape that an array of the file is said to have, before anything is made in that size."""
    with kept.zip.open(f"{name}.npy") as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = read(stream)
        if kind.itemsize > _SPARE_BYTES:
            raise ValueError
        return tuple(shape)


def _keep(file: Path, found: Pulled, rule: str) -> None:
    """Keep a table, readable by its user alone and whole or not at all; a folder that cannot be written is none."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as draft:
            name = Path(draft.name)
            try:
                np.savez(draft, weights=found.weights, rule=np.array(rule))
                draft.close()
                name.replace(file)
            finally:
                name.unlink(missing_ok=True)
    except OSError:
        return
