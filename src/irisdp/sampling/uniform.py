"""Uniform integers, exact and in bulk: floor(U · size), from one word each but for ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .bits import BitSource
from .ties import bracket_rational, resolve

__all__ = ["LARGEST_SIZE", "draw_uniform"]

LARGEST_SIZE = 1 << 32
_HALF, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)


def draw_uniform(count: int, size: int, source: BitSource) -> NDArray[np.int64]:
    """Draw `count` independent integers, uniform on 0 … size − 1, for a size up to 2^32.

    A word w leaves U · size in [w·size, (w + 1)·size)/2^64. If no integer lies inside, the draw is decided; else, with
    probability at most size/2^64, it is a tie.
    """
    words = source.words(count)
    if source.word_bits == 64:
        factor = np.uint64(size)
        high, low = words >> _HALF, words & _LOW
        drawn = ((high * factor + (low * factor >> _HALF)) >> _HALF).astype(np.int64)
        ties = np.flatnonzero(words * factor > np.uint64((1 << 64) - size))
    else:  # a script: let `resolve` decide them all
        drawn, ties = np.zeros(count, dtype=np.int64), np.arange(count)
    for tie in ties.tolist():
        drawn[tie] = resolve(
            int(words[tie]),
            lambda outcome, bits: bracket_rational(Fraction(outcome, size), bits),
            source,
            first=0,
            last=size - 1,
        )
    return drawn
