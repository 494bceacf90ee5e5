"""Sorted counts (password-frequency lists) from the exponential mechanism over integer partitions, drawn exactly.

A sorted list y_1 ≥ y_2 ≥ … is released with probability proportional to β^Σ|y_i − x_i|. Its diagram is cut at the
largest square that fits into it: the rows through the square and the columns through it are sorted lists of their own,
at most √total of each, and given the square they are independent. So the dynamic program of `_partition_sums` runs over
√total rows twice instead of over every part, and total · log(total) cells suffice for any list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, Protocol

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import ball, checked, enclosure_of, integer, working_precision
from .._sampling import BitSource, Bracket, integers, resolve, system_bits
from ..errors import BadInput
from ..privacy import Privacy
from ._exponential import rate_above
from ._partition_sums import Strip, TailRow, exact_rows, float_rows, strip_of

# Sum and draw the parts of a sorted list's diagram on both sides of the largest square that fits into it.

_GUARD_BITS = 64


class Space(Protocol):
    """Which lists may be released, and what a unit of distance costs: see `PartitionMechanism`."""

    @property
    def total(self) -> int:
        """Bound on i·y_i."""

    @property
    def parts(self) -> int | None:
        """Bound on the number of entries."""

    @property
    def step(self) -> Fraction:
        """β."""

    @property
    def window(self) -> int | None:
        """Bound on the distance of every row and column through the square from its target."""


@dataclass(frozen=True, slots=True)
class DiagramSide:
    """The rows through the square, or the columns through it."""

    strip: Strip
    step: Fraction
    rows: Sequence[TailRow]
    slack: Fraction

    @classmethod
    def of(cls, space: Space, targets: NDArray[np.int64], caps: NDArray[np.int64], floats: bool) -> DiagramSide:
        """Sum over one side; without floats, only the exact law can be had."""
        strip = strip_of(targets, caps, space.window)
        reach = space.total if space.window is None else min(space.total, 2 * space.window)
        rows, slack = float_rows(strip, space.step, reach) if floats else ([], Fraction(0))
        return cls(strip, space.step, rows, slack)

    def draw(self, square: int, bits: BitSource) -> NDArray[np.int64]:
        """Draw the rows from the bottom of the square upward: given the one below, a row needs one word."""
        values = np.empty(square, dtype=np.int64)
        value = square
        for row in reversed(range(square)):
            word = int(bits.words(1)[0])
            start = max(value, self.strip.first[row])
            drawn = self._decide(row, start, word, bits.word_bits)
            if drawn is None:
                drawn = resolve(word, self._bracket(row, start), bits, first=start, last=self.strip.last[row])
            values[row] = value = drawn
        return values

    def law(self, square: int, power: Callable[[int], Fraction]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        """Yield every choice of rows and its probability, given the square."""

        @cache
        def tail(row: int, least: int) -> tuple[int, list[Fraction]]:
            return list(exact_rows(self.strip, row + 1, least, power))[-1]

        def extend(row: int, above: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
            if row < 0:
                yield (), Fraction(1)
                return
            first, sums = tail(row, above)
            for value, (here, beyond) in enumerate(zip(sums, [*sums[1:], Fraction(0)], strict=True), first):
                for rest, share in extend(row - 1, value):
                    yield (*rest, value), (here - beyond) / sums[0] * share

        yield from extend(square - 1, square)

    def _decide(self, row: int, start: int, word: int, word_bits: int) -> int | None:
        """Return the v with G(v) ≥ (1 − U)·G(start) > G(v + 1) if the floats are certain of it for all U of a word."""
        tail = self.rows[row]
        sums = tail.sums[start - tail.first :]
        if not len(sums):
            return None
        scale = 1 << word_bits
        upper, lower = scale - word, scale - word - 1  # (1 − U)·scale lies in (lower, upper]
        found = max(len(sums) - int(np.searchsorted(sums[::-1], (1 - word / scale) * sums[0])), 1) - 1
        least, most = Fraction(float(sums[0])) * (1 - self.slack), Fraction(float(sums[0])) * (1 + self.slack)
        if found and Fraction(float(sums[found])) * (1 - self.slack) * scale < upper * most:
            return None
        further = float(sums[found + 1]) if found + 1 < len(sums) else tail.beyond
        return start + found if Fraction(further) * (1 + self.slack) * scale <= lower * least else None

    def _bracket(self, row: int, start: int) -> Bracket:
        """Bracket P(row < v) = 1 − G(v)/G(start) to any number of bits."""

        @lru_cache(maxsize=1)
        def sums(bits: int) -> list[flint.arb]:
            base = ball(self.step)
            return list(exact_rows(self.strip, row + 1, start, base.__pow__))[-1][1]

        def bracket(value: int, bits: int) -> tuple[int, int]:
            with working_precision(bits + _GUARD_BITS):
                return _integers_around(1 - sums(bits)[value - start] / sums(bits)[0], bits)

        return bracket


@dataclass(frozen=True, slots=True)
class Cut:
    """A list's diagram, seen by its rows and by its columns, and what the squares between them cost.

    Attributes
    ----------
    costs : tuple of int
        For each side d of the square, the power of β that the rows and columns leave out.
    """

    sides: tuple[DiagramSide, DiagramSide]
    costs: tuple[int, ...]

    @classmethod
    def of(cls, space: Space, counts: NDArray[np.int64], *, floats: bool = True) -> Cut:
        """Cut the diagram of a sorted list without zeros; without floats, only the exact law can be had."""
        total, parts = space.total, space.parts
        largest = math.isqrt(total) if parts is None else min(math.isqrt(total), parts)
        index = np.arange(1, largest + 1)
        caps = total // np.maximum(index, 1)
        rows = np.zeros(largest, dtype=np.int64)
        rows[: len(counts)] = counts[:largest]
        columns = len(counts) - np.searchsorted(counts[::-1], index)
        sides = (
            DiagramSide.of(space, rows, caps, floats),
            DiagramSide.of(space, columns, caps if parts is None else np.minimum(caps, parts), floats),
        )
        squares = min(len(sides[0].strip), len(sides[1].strip))
        before = np.concatenate(([0], np.cumsum(counts)))
        d = np.arange(squares + 1)
        # Rows and columns both pay for a cell of the square that the list lacks; neither for one it has beyond both.
        reach = np.minimum(len(counts) - np.searchsorted(counts[::-1], d), d)
        lacking = d * (d - reach) - (before[np.minimum(d, len(counts))] - before[reach])
        reach = np.maximum(len(counts) - np.searchsorted(counts[::-1], d + 1), d)
        beyond = before[np.minimum(reach, len(counts))] - before[np.minimum(d, len(counts))] - d * (reach - d)
        raised = sum(np.array([0, *side.strip.raised[:squares]]) for side in sides)
        return cls(sides, tuple((beyond - lacking + raised).tolist()))

    def draw_square(self, bits: BitSource) -> int:
        """Draw the side of the square."""
        word = int(bits.words(1)[0])
        last = len(self.costs) - 1
        decided = self._decide(word, bits.word_bits)
        return resolve(word, self._bracket(), bits, first=0, last=last) if decided is None else decided

    def weights(self, power: Callable[[int], Any]) -> list[Any]:
        """Return the sum of the weights of all lists with a square of each size, up to a common factor."""
        heads = []
        for side in self.sides:
            sums = exact_rows(side.strip, len(self.costs) - 1, 0, power)
            heads.append([power(0), *(row[0] for _, row in sums)])
        least = min(self.costs)
        return [power(cost - least) * a * b for cost, a, b in zip(self.costs, *heads, strict=True)]

    def _decide(self, word: int, word_bits: int) -> int | None:
        """Return the square if the floats are certain of it."""
        if any(math.isinf(row.whole[1]) for side in self.sides for row in side.rows):
            return None
        with working_precision(128):
            least, most = self._bounds(0), self._bounds(1)
            unit = max(least, key=lambda weight: weight.mid())
            slack = 1 + 3 * ball(max(side.slack for side in self.sides))  # both sides are off by their slack
            below = [_integers_around(weight / unit / slack, 96)[0] for weight in least]
            above = [_integers_around(weight / unit * slack, 96)[1] for weight in most]
        low, high = list(accumulate(below, initial=0)), list(accumulate(above, initial=0))
        scale = 1 << word_bits
        for square in range(len(below)):
            # P(less) = S/(S + rest) grows with S and falls with the rest.
            reached = high[square] * scale <= word * (high[square] + low[-1] - low[square])
            ended = low[square + 1] * scale >= (word + 1) * (low[square + 1] + high[-1] - high[square + 1])
            if reached and ended:
                return square
        return None

    def _bounds(self, end: int) -> list[flint.arb]:
        """Bound every square's weight from below (end 0) or above (end 1), but for rounding errors."""
        base, cheapest, two = ball(self.sides[0].step), min(self.costs), flint.arb(2)
        weights = [base ** (cost - cheapest) for cost in self.costs]
        for side in self.sides:
            for square, row in enumerate(side.rows[: len(weights) - 1], 1):
                weights[square] *= flint.arb(row.whole[end]) * two**row.exponent
        return weights

    def _bracket(self) -> Bracket:
        """Bracket P(square < d) to any number of bits."""

        @lru_cache(maxsize=1)
        def sums(bits: int) -> list[flint.arb]:
            return list(accumulate(self.weights(ball(self.sides[0].step).__pow__), initial=flint.arb(0)))

        def bracket(square: int, bits: int) -> tuple[int, int]:
            with working_precision(bits + _GUARD_BITS):
                return _integers_around(sums(bits)[square] / sums(bits)[-1], bits)

        return bracket


def rows_below(square: int, columns: Any) -> NDArray[np.int64]:
    """Return the rows below the square that the columns through it leave, largest first."""
    columns = np.asarray(columns, dtype=np.int64)
    rows = np.arange(square + 1, columns.max(initial=square) + 1)
    return len(columns) - np.searchsorted(columns[::-1], rows)


def _integers_around(number: flint.arb, bits: int) -> tuple[int, int]:
    scaled = number * flint.arb(2) ** bits
    return int(scaled.lower().floor().unique_fmpz()), int(scaled.upper().ceil().unique_fmpz())


_LARGEST_EXACT = 10**7
_LARGEST_TOTAL = 10**9
_MOST_CELLS = 10**8
_SENSITIVITY = {"add-remove": 1, "exchange": 2}


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMechanism:
    """The exponential mechanism over sorted lists of counts, with score −Σ|y_i − x_i|.

    Parameters
    ----------
    total : int
        A public bound N on the sum of the counts; at most 10^7, or 10^9 with δ > 0.
    privacy : Privacy
        Of the release under `relation`. With δ > 0 only lists within a window of the true one are released; the window
        is the smallest whose δ, `window_delta`, is proved to be at most this one.
    parts : int, optional
        Release the `parts` largest counts only; all of them if left out.
    relation : {"exchange", "add-remove"}
        Neighbours: one record changes its type, or comes or goes. The counts then move by at most 2 or 1 in all.

    Notes
    -----
    **What may be released.** Every sorted list with i · y_i ≤ N for all i: partitions of N, of smaller numbers, and
    lists that sum to more, as (N, N/2, N/3, …). This set depends on N alone, as privacy needs. If N is the exact number
    of records, partitions of exactly N would do, with a smaller error; they are not offered, as a fixed sum ties all
    entries together, exact sums would need a table for every sum, and drawing until the sum is right would take a time
    that tells of the data. So a list released need not sum to N. That costs little where ε²·N is large, and a factor of
    two or three in the error where it is below 30: `docs/databases.md` has the figures.

    **Privacy.** With Δ the sensitivity of the score, β^(2Δ) ≥ 1/r, so the release is (ε, δ)-private: a neighbour
    changes the weight of every list, and the sum of all weights, by a factor of at most β^−Δ. Sorting moves counts no
    further apart, and neither does leaving out all but the largest.

    **Exactness and cost.** The distribution is exact, by the two paths in `_partition_sums`. Without a window the time
    depends on N alone, with one also on how far the list reaches; the number of random words is 1 + 2·(side of the
    square released). Ties, of probability about N·2^-51 a word, take longer: seconds at 10^6, minutes at 10^7. So do
    all draws from lists so flat, under so small an ε, that the sums span more than the 1,860 binary orders of magnitude
    that floats allow; that was seen above a total of 10^6 only.

    References
    ----------
    [Alda2017], Example 2 and §6; `proofs/exponential-partitions.md` proves the cut, the window and
    its δ; `tests/laws/test_partitions.py` shows the law for all lists of at most 12 records.

    Examples
    --------
    >>> mechanism = PartitionMechanism(total=20, privacy=Privacy(epsilon=1))
    >>> released = mechanism.draw([9, 4, 4, 2, 1])
    >>> bool((released[:-1] >= released[1:]).all())
    True
    """

    total: int
    privacy: Privacy
    parts: int | None = None
    relation: str = "exchange"
    step: Fraction = field(init=False)
    window: int | None = field(init=False)

    def __post_init__(self) -> None:
        """Check the parameters; fix β and the window."""
        largest = _LARGEST_TOTAL if self.privacy.delta else _LARGEST_EXACT
        total = integer(self.total, "total", at_least=0, at_most=largest)
        parts = None if self.parts is None else integer(self.parts, "parts", at_least=1)
        if self.relation not in _SENSITIVITY:
            raise BadInput("relation", "must be exchange or add-remove", "choose one of the two")
        step = rate_above(self.privacy, Fraction(2 * _SENSITIVITY[self.relation]))
        for name, value in (("total", total), ("parts", parts), ("step", step)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "window", self._window())
        wide = self.window is None or math.isqrt(total) * self.window > _MOST_CELLS
        if total > _LARGEST_EXACT and wide:
            raise BadInput(
                "total", "is too large for this epsilon and delta", f"take at most {_LARGEST_EXACT} or more δ"
            )

    @property
    def window_delta(self) -> Fraction:
        """The δ that the window costs, proved for every list: 0 without a window."""
        return Fraction(0) if self.window is None else self._delta_of(self.window)

    @checked
    def draw(self, counts: Any, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw one sorted list.

        Parameters
        ----------
        counts : array of int
            The true counts, at least 0, in any order; they sum to at most `total`.

        Returns
        -------
        array of int64
            The counts released, largest first, without zeros.
        """
        bits = system_bits(source)
        cut = Cut.of(self, self._sorted(counts))
        square = cut.draw_square(bits)
        rows, columns = (side.draw(square, bits) for side in cut.sides)
        return np.concatenate((rows, rows_below(square, columns))).astype(np.int64)

    @checked
    def law(self, counts: Any) -> dict[tuple[int, ...], Fraction]:
        """Return the exact law of `draw`, one list after another as it draws them; for totals up to about 20."""
        cut = Cut.of(self, self._sorted(counts), floats=False)
        weights = cut.weights(self.step.__pow__)
        total = sum(weights)
        law: dict[tuple[int, ...], Fraction] = {}
        for square, weight in enumerate(weights):
            rest = [
                (rows_below(square, columns).tolist(), share * weight / total)
                for columns, share in cut.sides[1].law(square, self.step.__pow__)
            ]
            for rows, share in cut.sides[0].law(square, self.step.__pow__):
                law |= {(*rows, *below): share * other for below, other in rest}
        return law

    def _sorted(self, counts: Any) -> NDArray[np.int64]:
        given = np.sort(integers(counts, "counts", at_least=0, at_most=self.total).ravel())[::-1]
        if given.sum() > self.total:
            raise BadInput("counts", "must sum to at most the total", "give a larger public bound as total")
        return given[given > 0][: self.parts]

    def _window(self) -> int | None:
        """Return the smallest window that δ allows, or None where the whole range is not larger."""
        if self.privacy.delta == 0 or self.step == 1:
            return None
        low, high = 0, self.total
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._delta_of(middle) <= self.privacy.delta else (middle + 1, high)
        return None if low == self.total else low

    def _delta_of(self, window: int) -> Fraction:
        """Bound δ = (1 + r)·η, with η = 4⌊√N⌋·β^(window + 1)/(1 − β) the mass that any list may have outside."""
        tail = enclosure_of(lambda: ball(self.step) ** (window + 1), width=self.privacy.delta / (1 << 64)).upper
        return (1 + self.privacy.ratio) * 4 * math.isqrt(self.total) * tail / (1 - self.step)
