"""Sums over the geometric mechanism in linear time, with a bound on every rounding.

The weight α^|i−z| of a count i under a released z, times a polynomial that starts somewhere, is a *tail*:

    f(i) = α^|i−z| · p(i − t)  for i ≥ t,  0 before        (a right-hand tail; a left-hand one is its mirror image)

Beyond the kink at z a tail is a *run*, α^(i−s)·Σ_j c_j C(i−s, j) for i ≥ s, or its mirror image. A tail that starts
left of z is three runs: one forward from z, one backward from z − 1, and one backward from t − 1 taken off again. Runs
are summed, and summed against, by first-order recurrences, so no matrix is ever built. Nothing here is exact, but
everything can be enclosed: a sum of non-negative terms has a small relative error, and a sum with signs an error of
that share of the sum of the absolute values, which the same recurrences give (proofs/reading-certificate.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from ..exact import ball, working_precision

__all__ = ["DEGREES", "UNDERFLOW", "UNIT", "Floats", "GeometricKernel", "Integers", "Runs", "alpha_powers", "binomial"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNIT = 2.0**-53
"""Largest relative error of one float operation."""

UNDERFLOW = 2.0**-700
"""More than everything that numbers below the range of floats may add up to (proofs/reading-certificate.md)."""

DEGREES = 3
"""Coefficients of a polynomial, on C(k, 0), C(k, 1), C(k, 2): losses up to the squared."""

_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Runs:
    """K runs, each belonging to a column.

    Parameters
    ----------
    column : array of K integers
        Which column the run is part of.
    backward : array of K booleans
        Whether it runs towards smaller counts.
    position : array of K integers
        Where it starts, in 0..n.
    coefficients : array, DEGREES × K
        On C(k, j), k the distance from the start.
    """

    column: Integers
    backward: NDArray[np.bool_]
    position: Integers
    coefficients: Floats

    def mirrored(self, n: int) -> Runs:
        """Reflect 0..n."""
        return Runs(self.column, ~self.backward, n - self.position, self.coefficients)

    def joined(self, other: Runs) -> Runs:
        """Take the runs of both, for the same columns."""
        return Runs(
            np.concatenate((self.column, other.column)),
            np.concatenate((self.backward, other.backward)),
            np.concatenate((self.position, other.position)),
            np.concatenate((self.coefficients, other.coefficients), axis=1),
        )


class GeometricKernel:
    """The geometric mechanism G_{n,α} on 0..n as an operator.

    Parameters
    ----------
    n : int
        Largest count.
    ratio : Fraction
        1/α ≥ 1, exact.
    """

    def __init__(self, n: int, ratio: Fraction) -> None:
        self.n = n
        self.powers = alpha_powers(ratio, n + 1)
        alpha = float(1 / ratio)
        self.scale = np.full(n + 1, float((ratio - 1) / (ratio + 1)))
        self.scale[[0, n]] = 1 / (1 + alpha) if n else 1.0

    def relative_error(self, terms: int) -> float:
        """Bound the relative error of a sum of non-negative tails in which at most `terms` runs start at one place.

        Each doubling step of a recurrence costs four roundings, three recurrences are nested, and everything else,
        with what differences of coefficients lose, fewer than two hundred (proofs/reading-certificate.md, 4).
        """
        return (250 + 12 * ceil(log2(self.n + 2)) + terms) * UNIT

    def rows(self) -> Floats:
        """Return the whole matrix, inputs × released values; for small n."""
        counts = np.arange(self.n + 1)
        matrix: Floats = self.powers[abs(counts[:, None] - counts)] * self.scale
        return matrix

    def column(self, z: int) -> Floats:
        """Return the probabilities of one released value under every count."""
        column: Floats = self.powers[abs(np.arange(self.n + 1) - z)] * self.scale[z]
        return column

    def right_tails(self, z: Integers, start: Integers, coefficients: Floats) -> Runs:
        """Split right-hand tails, one per column, into runs.

        Parameters
        ----------
        z : array of C integers
            Released values.
        start : array of C integers
            Where the tails start; may lie outside 0..n.
        coefficients : array, DEGREES × C
            Of p, on C(i − t, j).
        """
        column = np.arange(len(z))
        ahead = np.maximum(z - start, 0)
        amplitude = self.powers[np.clip(start - z, 0, self.n)]
        parts = [(column, np.maximum(start, z), amplitude * _shifted(coefficients, ahead), False)]
        (early,) = np.nonzero(ahead)
        if len(early):
            gap, inner = ahead[early], coefficients[:, early]
            parts.append((early, z[early] - 1, self.powers[1] * _reversed(inner, gap - 1), True))
            cut = -self.powers[np.minimum(gap + 1, self.n + 1)] * _reversed(inner, np.full_like(gap, -1))
            parts.append((early, start[early] - 1, cut, True))
        runs = Runs(
            np.concatenate([part[0] for part in parts]),
            np.concatenate([np.full(len(part[0]), part[3]) for part in parts]),
            np.concatenate([part[1] for part in parts]),
            np.concatenate([part[2] for part in parts], axis=1),
        )
        return _kept(runs, self.n)

    def left_tails(self, z: Integers, start: Integers, coefficients: Floats) -> Runs:
        """Split left-hand tails, α^|i−z|·p(t − i) for i ≤ t, into runs."""
        return self.right_tails(self.n - z, self.n - start, coefficients).mirrored(self.n)

    def spread(self, runs: Runs, weights: Floats) -> Floats:
        """Return Σ_c weights_c · column_c, a value per count."""
        total = np.zeros(self.n + 1)
        for backward in (False, True):
            chosen = runs.backward == backward
            position = self.n - runs.position[chosen] if backward else runs.position[chosen]
            load = runs.coefficients[:, chosen] * weights[runs.column[chosen]]
            found = np.zeros(self.n + 1)
            for j in reversed(range(DEGREES)):
                # C(k, j) α^k is the (j+1)-fold sum of α^k, moved by j: Horner's rule for recurrences.
                moved = np.concatenate(([0.0], self.powers[1] * found[:-1]))
                if load[j].any() or moved.any():
                    found = self._accumulated(moved + np.bincount(position, load[j], self.n + 1))
            total += found[::-1] if backward else found
        return total

    def states(self, weights: Floats) -> tuple[Floats, Floats]:
        """Prepare sums against runs: Σ_k C(k, j) α^k weights_{s±k}, for runs forward and backward, DEGREES × (n+1)."""
        return self._ahead(weights[::-1])[:, ::-1], self._ahead(weights)

    def collect(self, runs: Runs, states: tuple[Floats, Floats], columns: int) -> Floats:
        """Return Σ_i weights_i · column_c(i) for every column."""
        forward, backward = states
        found = np.where(
            runs.backward,
            np.einsum("jk,jk->k", runs.coefficients, backward[:, runs.position]),
            np.einsum("jk,jk->k", runs.coefficients, forward[:, runs.position]),
        )
        return np.bincount(runs.column, found, columns).astype(np.float64)

    def _ahead(self, values: Floats) -> Floats:
        found = np.zeros((DEGREES, self.n + 1))
        summed = values
        for j in range(DEGREES):
            summed = self._accumulated(summed)
            found[j, j:] = self.powers[min(j, self.n)] * summed[: self.n + 1 - j]
        return found

    def _accumulated(self, values: Floats) -> Floats:
        """Return Σ_k α^k values_{i−k}, by doubling the reach of the sum."""
        result, reach = values.copy(), 1
        while reach <= self.n and self.powers[reach] > 0:
            result[reach:] += self.powers[reach] * result[:-reach]
            reach *= 2
        return result


def alpha_powers(ratio: Fraction, most: int) -> Floats:
    """Return α^k for k = 0..most, each within a few units of its last place."""
    with working_precision(96):
        base = 1 / ball(ratio)
        low = np.array([float(base**k) for k in range(min(_BLOCK, most + 1))])
        high = np.array([float(base**k) for k in range(0, most + 1, _BLOCK)])
    return np.outer(high, low).ravel()[: most + 1] if most >= _BLOCK else low


def binomial(k: Integers, j: int) -> Floats:
    """Return C(k, j) for j ≤ 2 and any integers k."""
    whole = k.astype(np.float64)
    return (np.ones(k.shape), whole, whole * (whole - 1) / 2)[j]


def _shifted(coefficients: Floats, by: Integers) -> Floats:
    """Return the coefficients of p(k + by)."""
    c0, c1, c2 = coefficients
    return np.stack((c0 + c1 * binomial(by, 1) + c2 * binomial(by, 2), c1 + c2 * binomial(by, 1), c2))


def _reversed(coefficients: Floats, at: Integers) -> Floats:
    """Return the coefficients of p(at − k)."""
    c0, c1, c2 = coefficients
    return np.stack((c0 + c1 * binomial(at, 1) + c2 * binomial(at, 2), -c1 + c2 * binomial(1 - at, 1), c2))


def _kept(runs: Runs, n: int) -> Runs:
    """Leave out runs that start beyond the end they run to."""
    inside = (runs.position >= 0) & (runs.position <= n)
    if inside.all():
        return runs
    return Runs(runs.column[inside], runs.backward[inside], runs.position[inside], runs.coefficients[:, inside])
