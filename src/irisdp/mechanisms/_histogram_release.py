"""Histograms with a public total from the exponential mechanism, drawn exactly without listing them.

A histogram y of N records is released with probability proportional to β^Σ|y_t − x_t|. With

    W_t(s) = Σ β^(|y_t − x_t| + … + |y_T − x_T|)   over y_t + … + y_T = s

the counts are drawn one after another: given what is left, y_t = v with probability ∝ β^|v − x_t| · W_(t+1)(left − v).
Each W is a convolution of the next with powers of β, and those take log N additions of shifted arrays, by doubling, all
of positive terms: so floats carry rigorous bounds, and where they leave a draw open, balls decide it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import ball, checked, integer, working_precision
from .._sampling import BitSource, integers, resolve, system_bits
from ..errors import BadInput
from ..privacy import Privacy
from ._exponential import rate_above
from ._partition_sums import power_table

_MOST_CELLS = 25_000_000
_FLOOR = 2.0**-900
_GUARD_BITS = 64

Array = NDArray[Any]
"""Floats of shape (2, N + 1), bounds from below and from above; or exact numbers of shape (1, N + 1)."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramMechanism:
    """The exponential mechanism over histograms of `total` records in `types` types, with score −½Σ|y_t − x_t|.

    Parameters
    ----------
    total : int
        N, public: neighbours exchange one record.
    types : int
        T, public; (N + 1)·T is at most 25 million.
    privacy : Privacy
        The ratio. An exchange moves the score by at most 1, so half of ε goes into the exponent: β² ≥ r^(−1/2). On
        small graphs `irisdp.design.exponential` finds the largest exponent that is safe.

    Notes
    -----
    The number of arithmetic operations and of random words, T − 1, depends on N, T and what is released alone, but for
    ties, of probability about (N + 120·T)·2^-51 a word.

    References
    ----------
    [Alda2017], Example 1; proofs/histograms.md; `tests/laws/test_histograms.py` shows the law for all
    small histograms.

    Examples
    --------
    >>> released = HistogramMechanism(total=20, types=3, privacy=Privacy(epsilon=1)).draw([9, 9, 2])
    >>> int(released.sum()), len(released)
    (20, 3)
    """

    total: int
    types: int
    privacy: Privacy
    step: Fraction = field(init=False)

    def __post_init__(self) -> None:
        """Check the sizes and fix β."""
        total = integer(self.total, "total", at_least=0)
        types = integer(self.types, "types", at_least=1)
        if (total + 1) * types > _MOST_CELLS:
            raise BadInput("total", f"times types is more than {_MOST_CELLS}", "choose fewer records or fewer types")
        for name, value in (("total", total), ("types", types), ("step", rate_above(self.privacy, Fraction(4)))):
            object.__setattr__(self, name, value)

    @checked
    def draw(self, counts: Any, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw one histogram.

        Parameters
        ----------
        counts : array of int, shape (types,)
            The true histogram; sums to the total.

        Returns
        -------
        array of int64, shape (types,)
            Sums to the total.
        """
        bits = system_bits(source)
        targets = self._targets(counts)
        powers = power_table(self.step, self.total)
        sums = self._sums(targets, powers, self._start(0.0, 1.0, bounds=2))
        left, drawn = self.total, np.zeros(self.types, dtype=np.int64)
        for index, target in enumerate(targets[:-1]):
            word = int(bits.words(1)[0])
            weights = _weights(target, left, sums[index + 1], powers)
            value = self._decide(word, bits.word_bits, np.cumsum(_outward(weights), axis=1))
            if value is None:
                value = resolve(word, self._bracket(targets[index:], left), bits, first=0, last=left)
            drawn[index] = value
            left -= value
        drawn[-1] = left
        return drawn

    @checked
    def law(self, counts: Any) -> dict[tuple[int, ...], Fraction]:
        """Return the exact law of `draw`, count after count as it draws them; for a few thousand histograms."""
        targets = self._targets(counts)
        powers = np.array([self.step**k for k in range(self.total + 1)], dtype=object)
        sums = self._sums(targets, powers, self._start(Fraction(0), Fraction(1)))
        law: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
        for index, target in enumerate(targets):
            longer: dict[tuple[int, ...], Fraction] = {}
            for begun, share in law.items():
                left = self.total - sum(begun)
                weights = _weights(target, left, sums[index + 1], powers)[0]
                total = sum(weights)
                longer |= {(*begun, value): share * weight / total for value, weight in enumerate(weights) if weight}
            law = longer
        return law

    def _targets(self, counts: Any) -> list[int]:
        given = integers(counts, "counts", at_least=0, at_most=self.total).ravel()
        if len(given) != self.types or given.sum() != self.total:
            raise BadInput("counts", "must be one count per type and sum to the total", "count every record once")
        targets: list[int] = given.tolist()
        return targets

    def _start(self, zero: Any, one: Any, bounds: int = 1) -> Array:
        """Return W_(T+1): 1 where nothing is left, else 0."""
        start = np.full((bounds, self.total + 1), zero, dtype=np.float64 if bounds == 2 else object)
        start[:, 0] = one
        return start

    def _sums(self, targets: list[int], powers: Array, start: Array) -> list[Array]:
        """Return W_1, …, W_(T+1), each up to a common factor."""
        sums = [start]
        for target in reversed(targets[1:]):
            sums.append(_normalised(_convolved(sums[-1], target, powers)))
        return [start, *sums[::-1]]  # nothing is drawn from W_1

    def _decide(self, word: int, word_bits: int, sums: NDArray[np.float64]) -> int | None:
        """Return the count if the bounds are certain of it for all U that begin with the word."""
        # N additions of this sum, and in each of T convolutions at most 24 doublings with 8 roundings each.
        slack = Fraction(4 * (self.total + 120 * self.types), 1 << 53)
        low, high = Fraction(float(sums[0, -1])) * (1 - slack), Fraction(float(sums[1, -1])) * (1 + slack)
        scale = 1 << word_bits
        value = int(np.searchsorted(sums[0], (word + 0.5) / scale * sums[0, -1], side="right"))
        if value == sums.shape[1] or not low:
            return None
        if value and Fraction(float(sums[1, value - 1])) * (1 + slack) * scale > word * low:
            return None
        ended = value + 1 == sums.shape[1] or Fraction(float(sums[0, value])) * (1 - slack) * scale >= (word + 1) * high
        return value if ended else None

    def _bracket(self, targets: list[int], left: int) -> Callable[[int, int], tuple[int, int]]:
        """Bracket P(count < v) to any number of bits, for the first of some targets and what is left."""

        @lru_cache(maxsize=1)
        def sums(bits: int) -> Array:
            step = ball(self.step)
            powers = np.array([step**k for k in range(self.total + 1)], dtype=object)
            following = self._sums(targets, powers, self._start(step * 0, step**0))[1]
            return np.cumsum(_weights(targets[0], left, following, powers)[0])

        def bracket(value: int, bits: int) -> tuple[int, int]:
            with working_precision(bits + _GUARD_BITS):
                share = sums(bits)[value - 1] / sums(bits)[-1] * ball(Fraction(1 << bits))
                return int(share.lower().floor().unique_fmpz()), int(share.upper().ceil().unique_fmpz())

        return bracket


def _weights(target: int, left: int, following: Array, powers: Array) -> Array:
    """Return the weight of every count from 0 to what is left."""
    weights: Array = following[:, left::-1] * powers[np.abs(np.arange(left + 1) - target)]
    return weights


def _convolved(following: Array, target: int, powers: Array) -> Array:
    """Return Σ_y β^|y − target| · following(s − y) for every s."""
    above, reach = following, 1
    while reach < following.shape[1]:  # above(m) = Σ β^k following(m − k) over k < reach
        above = _plus_shifted(above, powers[reach] * above, reach)
        reach *= 2
    # below(s) = Σ β^(n − i) following(s − i) over i < n, for n the leading binary digits of the target. Every target is
    # given as many digits, and both ways to go on are computed, so that the work does not depend on it.
    below, one, n = following * 0, powers[1] * following if len(powers) > 1 else following, 0
    for digit in format(target, f"0{(len(powers) - 1).bit_length()}b"):
        below, n = _plus_shifted(powers[n] * below, below, n), 2 * n
        longer = _plus_shifted(powers[n] * one, below, 1)
        below, n = (longer, n + 1) if digit == "1" else (below, n)
    return _plus_shifted(below, above, target)


def _plus_shifted(base: Array, shifted: Array, by: int) -> Array:
    """Return base(s) + shifted(s − by), with 0 where there is nothing."""
    result = base.copy()
    if by < shifted.shape[1]:
        result[:, by:] = result[:, by:] + shifted[:, : shifted.shape[1] - by]
    return result


def _normalised(sums: Array) -> Array:
    """Scale floats to a maximum near 1; leave exact numbers as they are."""
    return _outward(sums * 2.0 ** -int(np.frexp(sums[0].max())[1])) if sums.dtype == np.float64 else sums


def _outward(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round outward what might have underflowed; what underflowed in larger cells is less than their slack."""
    sums[0, sums[0] < _FLOOR] = 0
    np.maximum(sums[1], _FLOOR, out=sums[1])
    return sums
