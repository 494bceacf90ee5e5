"""Exact draws from one row whose probabilities are enclosed as closely as asked, however small they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..exact import integer
from .bits import BitSource, system_bits
from .thresholds import ThresholdTable, chunks, open_cell
from .ties import resolve

__all__ = ["draw_brackets"]


def draw_brackets(
    enclose: Callable[[int], Sequence[tuple[int, int]]], outputs: int, count: int, *, source: BitSource | None = None
) -> NDArray[np.int64]:
    """Draw `count` independent answers from one row.

    Parameters
    ----------
    enclose : callable
        From a number of bits b to a pair (low, high) for each output: low ≤ 2^b·(probability of an earlier output) ≤
        high. More bits must narrow each pair as far as asked.
    outputs : int
        How many outputs there are.
    count : int
        How many draws.

    Returns
    -------
    array of int64, shape (count,)
        Positions of outputs, with exactly the row's probabilities: sums are enclosed to 64 bits, and further where a
        draw needs more.

    Examples
    --------
    >>> draw_brackets(lambda bits: [(0, 0), (1 << bits, 1 << bits)], 2, 3).tolist()
    [0, 0, 0]
    """
    bits = system_bits(source)
    drawn = np.empty(integer(count, "count", at_least=0), dtype=np.int64)
    brackets = lru_cache(maxsize=2)(enclose)
    cells = [open_cell(*bracket) for bracket in brackets(64)[1:]]
    table = ThresholdTable.from_cells(np.array(cells, dtype=np.uint64).reshape(1, len(cells), 2)).at(bits.word_bits)
    for part in chunks(len(drawn)):
        words = bits.words(part.stop - part.start)
        drawn[part], ties = table.count_reached(words)
        for tie in ties.tolist():
            drawn[part.start + tie] = resolve(
                int(words[tie]), lambda answer, precision: brackets(precision)[answer], bits, first=0, last=outputs - 1
            )
    return drawn
