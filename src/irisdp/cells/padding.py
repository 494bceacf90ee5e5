"""How many random bytes a selection reads: as many as for a public number of keys, not for those that there are.

A key that nobody else has would show in the number of bytes read, if each key read its own. So draws are made for cells
that nobody is in, too: for 2^20 keys in all or, beyond, for the next power of two. An observer who can count the bytes
then learns whether there are more keys than 2^20, than 2^21, …, and nothing else (SECURITY.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST_DRAWS", "longer", "padded_size"]

FEWEST_DRAWS = 1 << 20
"""Keys that are drawn for at least: 8 MiB of random bytes to select, and as much for each digit of an answer."""


def padded_size(count: int) -> int:
    """Return for how many keys to draw where there are `count`."""
    return max(FEWEST_DRAWS, 1 << max(count - 1, 0).bit_length())


def longer(values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return values with as many zeros after them as make `size`."""
    return np.concatenate([values, np.zeros(size - len(values), dtype=np.int64)])
