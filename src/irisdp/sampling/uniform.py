"""Uniform integers, exact and in bulk: floor(U · size), from one word each but for ties."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .bits import BitSource
from .ties import bracket_rational, resolve

__all__ = ["LARGEST_SIZE", "draw_uniform"]

LARGEST_SIZE = 1 << 32
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)
_LAST, _ONE = np.uint64((1 << 64) - 1), np.uint64(1)


def draw_uniform(count: int, size: int | NDArray[np.int64], source: BitSource) -> NDArray[np.int64]:
    """Draw `count` independent integers, uniform on 0 … size − 1, for a size up to 2^32, or one for each of them.

    A word w leaves U · size in [w·size, (w + 1)·size)/2^64. If no integer lies inside, the draw is decided; else, with
    probability at most size/2^64, it is a tie.
    """
    words = source.words(count)
    if source.word_bits == 64:
        factor = np.asarray(size, dtype=np.uint64)
        high, low = words >> _HALF, words & _LOW
        drawn = ((high * factor + (low * factor >> _HALF)) >> _HALF).astype(np.int64)
        ties = np.flatnonzero(words * factor > _LAST - factor + _ONE)
    else:  # a script: let `resolve` decide them all
        drawn, ties = np.zeros(count, dtype=np.int64), np.arange(count)
    for tie in ties.tolist():
        own = size if isinstance(size, int) else int(size[tie])
        drawn[tie] = resolve(int(words[tie]), partial(_bracket, own), source, first=0, last=own - 1)
    return drawn


def _bracket(size: int, outcome: int, bits: int) -> tuple[int, int]:
    return bracket_rational(Fraction(outcome, size), bits)
