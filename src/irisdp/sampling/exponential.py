"""Exact draws from exponential mechanisms, however small their probabilities are."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..exact import integer
from ..mechanisms.exponential import Exponential
from .bits import BitSource, system_bits
from .thresholds import ThresholdTable, chunks, open_cell
from .ties import resolve

__all__ = ["draw_exponential"]


def draw_exponential(
    mechanism: Exponential, position: int, count: int, *, source: BitSource | None = None
) -> NDArray[np.int64]:
    """Draw `count` independent answers to one input.

    Parameters
    ----------
    mechanism : Exponential
        `irisdp.design.safe_exponential` makes one that is private.
    position : int
        Which input, by its position.
    count : int
        How many draws.

    Returns
    -------
    array of int64, shape (count,)
        Positions in `mechanism.outputs`, with exactly the mechanism's probabilities: cumulative sums are enclosed to 64
        bits, and further where a draw needs more.

    Examples
    --------
    >>> from irisdp.mechanisms.exponential import Exponential
    >>> draw_exponential(Exponential.of([[0, 1, 10**6]], "1/3"), 0, 3).tolist()
    [2, 2, 2]
    """
    bits = system_bits(source)
    position = integer(position, "position", at_least=0, at_most=len(mechanism.levels) - 1)
    drawn = np.empty(integer(count, "count", at_least=0), dtype=np.int64)
    brackets = lru_cache(maxsize=2)(lambda precision: mechanism.brackets(position, precision))
    cells = [open_cell(*bracket) for bracket in brackets(64)[1:]]
    table = ThresholdTable.from_cells(np.array(cells, dtype=np.uint64).reshape(1, len(cells), 2)).at(bits.word_bits)
    for part in chunks(len(drawn)):
        words = bits.words(part.stop - part.start)
        drawn[part], ties = table.count_reached(words)
        for tie in ties.tolist():
            drawn[part.start + tie] = resolve(
                int(words[tie]),
                lambda answer, precision: brackets(precision)[answer],
                bits,
                first=0,
                last=len(mechanism.outputs) - 1,
            )
    return drawn
