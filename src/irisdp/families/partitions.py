"""Sorted counts (password-frequency lists) from the exponential mechanism over integer partitions, drawn exactly.

A sorted list y_1 ≥ y_2 ≥ … is released with probability proportional to β^Σ|y_i − x_i|. Its diagram is cut at the
largest square that fits into it: the rows through the square and the columns through it are sorted lists of their own,
at most √total of each, and given the square they are independent. So the dynamic program of `partition_sums` runs over
√total rows twice instead of over every part, and total · log(total) cells are enough for any list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import ball, checked, enclosure_of, integer
from ..mechanisms.exponential import rate_above
from ..privacy import Privacy
from ..sampling.bits import BitSource, system_bits
from ..sampling.inputs import integers
from .partition_cut import Cut, rows_below

__all__ = ["PartitionMechanism"]

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

    **Exactness and cost.** The law is exact, by the two paths described in `partition_sums`. Without a window the time
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
