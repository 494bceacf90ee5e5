"""Exact draws from finite tables of rational probabilities."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import integer, rational
from ..errors import BadInput
from .bits import BitSource, system_bits
from .thresholds import ThresholdTable, bracket_rational, chunks, open_cell, resolve


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


# Check arrays of integers from callers. A message never shows a value or a position.


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


def draw(rows: Sequence[Sequence[Fraction]], index: Any, *, source: BitSource | None = None) -> NDArray[np.int64]:
    """Draw one output for each row number.

    Parameters
    ----------
    rows : sequence of sequences of Fraction, shape (m, q)
        Distinct rows; each is non-negative and sums to exactly 1.
    index : array of int
        Row number of each draw, in [0, m), in any shape.
    source : BitSource, optional
        Source of random bits. [default: the operating system]

    Returns
    -------
    array of int64, the shape of `index`
        Output numbers in [0, q). Draws are independent and their probabilities are exactly the rows' entries.

    Raises
    ------
    BadInput
        If a row is no distribution, rows differ in length, or `index` holds anything but row numbers.

    Notes
    -----
    One word a draw and ⌈log2 q⌉ comparisons, whatever the word and the row; a further word only in a tie, which
    has probability at most q/2^64. `tests/laws/test_sampling_exhaustion.py` proves the law by trying every word.

    Examples
    --------
    >>> draw([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]], [0, 1, 1]).tolist()
    [0, 1, 1]
    """
    bits = system_bits(source)
    sums = [_cumulative_sums(row) for row in rows]
    if len({len(row) for row in sums}) != 1:
        raise BadInput("rows", "must be at least one row, all of the same length", "give a matrix of probabilities")
    cells = [[open_cell(*bracket_rational(c, 64)) for c in row] for row in sums]
    shaped = np.array(cells, dtype=np.uint64).reshape(len(sums), len(sums[0]), 2)
    table = ThresholdTable.from_cells(shaped).at(bits.word_bits)
    numbers = integers(index, "index", at_least=0, at_most=len(sums) - 1)
    flat, drawn = numbers.ravel(), np.empty(numbers.size, dtype=np.int64)
    for part in chunks(len(flat)):
        words = bits.words(part.stop - part.start)
        drawn[part], ties = table.count_reached(words, flat[part])
        for tie in ties.tolist():
            place = part.start + tie
            drawn[place] = resolve(
                int(words[tie]), partial(_bracket, sums[flat[place]]), bits, first=0, last=len(sums[0])
            )
    return drawn.reshape(numbers.shape)


def draw_events(probabilities: Sequence[Fraction], index: Any, *, source: BitSource | None = None) -> NDArray[np.bool_]:
    """Draw for each entry of `index` whether an event of that probability happens.

    Parameters
    ----------
    probabilities : sequence of Fraction
        Distinct probabilities in [0, 1].
    index : array of int
        Which probability each event has, in any shape.

    Returns
    -------
    array of bool, the shape of `index`
        Independent, each true with exactly its probability.
    """
    exact = [rational(value, "probabilities") for value in probabilities]
    happens: NDArray[np.bool_] = draw([[value, 1 - value] for value in exact], index, source=source) == 0
    return happens


def _cumulative_sums(row: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return c_1 … c_{q−1}, added over a common denominator, which is quicker than adding fractions."""
    entries = [rational(entry, "rows") for entry in row]
    denominator = math.lcm(*(entry.denominator for entry in entries))
    sums = list(accumulate(entry.numerator * (denominator // entry.denominator) for entry in entries))
    if any(entry < 0 for entry in entries) or not sums or sums[-1] != denominator:
        raise BadInput("rows", "must each be non-negative and sum to exactly 1", "give exact fractions")
    return tuple(Fraction(partial_sum, denominator) for partial_sum in sums[:-1])


def _bracket(sums: Sequence[Fraction], output: int, bits: int) -> tuple[int, int]:
    return bracket_rational(sums[output - 1], bits)
