"""Bits from a seed, for experiments that others repeat. Never for a release: who knows the seed knows the noise.

No package that publishes or charges names these bits (`tests/unit/test_simulations.py`). Only `simulate` makes them.
"""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._exact import entries, integer
from ..errors import BadInput

_BLOCK = 1 << 13
"""Words of one block."""

LARGEST_SEED = (1 << 128) - 1

MOST_SIMULATED = 10**8
"""Draws of one call."""


class SimulatedBits:
    """64-bit words that a seed decides: SHAKE-256 of the seed and the number of the block, as little-endian integers.

    The same on every machine, whatever the version of Python or NumPy, and however the words are asked for.

    Parameters
    ----------
    seed : int
        From 0 to 2^128 − 1.
    """

    __slots__ = ("_block", "_left", "_seed")

    word_bits: ClassVar[int] = 64

    def __init__(self, seed: Any) -> None:
        self._seed = integer(seed, "seed", at_least=0, at_most=LARGEST_SEED)
        self._block = 0
        self._left = np.zeros(0, dtype=np.uint64)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` words."""
        parts = [self._left]
        found = len(self._left)
        while found < count:
            name = f"irisdp simulation 1, seed {self._seed}, block {self._block}"
            data = hashlib.shake_256(name.encode()).digest(8 * _BLOCK)
            parts.append(np.frombuffer(data, dtype="<u8").astype(np.uint64, copy=False))
            self._block += 1
            found += _BLOCK
        words = np.concatenate(parts)
        self._left = words[count:]
        return words[:count]


def shape_of_draws(size: Any, rows: int = 1) -> tuple[int, ...]:
    """Read how many draws are asked for, as a number or as a shape; `rows` times so many are limited to 10^8."""
    listed = entries(size)
    lengths = [size] if listed is None else listed
    shape = tuple(integer(length, "size", at_least=0, at_most=MOST_SIMULATED) for length in lengths)
    total = rows
    for length in shape:
        total *= length
    if total > MOST_SIMULATED:
        raise BadInput("size", f"asks for more than {MOST_SIMULATED:,} draws", "simulate in parts, each with its seed")
    return shape
