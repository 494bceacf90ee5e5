"""Powers of α = 1/r as integers over one scale, bracketed where they would be too long: the geometric mechanism's rows.

G_{n,α} has α^i·a/(a+b) and α^(n−i)·a/(a+b) at its ends and α^|z−i|·(a−b)/(a+b) between, for r = a/b. Exact powers have
n·log2(a) bits; beyond `LONGEST` they are kept in fixed point, rounded down and up, so that bounds stay bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import flint

from .arithmetic import Number

__all__ = ["GeometricPowers"]

LONGEST = 20_000
"""Bits up to which powers are exact. Part of the certificate's definition: the stand-alone verifier does the same."""

FIXED_POINT = 512
"""Bits after the point beyond that."""


class GeometricPowers:
    """The geometric mechanism on 0..n at a ratio, ready for sums over its rows and columns.

    Parameters
    ----------
    n : int
        Largest count.
    ratio : Fraction
        r ≥ 1.
    up : bool
        Round the powers up where they are not exact; down otherwise.
    """

    def __init__(self, n: int, ratio: Fraction, *, up: bool) -> None:
        a, b = ratio.numerator, ratio.denominator
        powers = [flint.fmpz(1)]
        if n * a.bit_length() <= LONGEST:
            scale = flint.fmpz(a) ** n
            powers = [flint.fmpz(b) ** d * flint.fmpz(a) ** (n - d) for d in range(n + 1)]
        else:
            scale = powers[0] = flint.fmpz(1) << FIXED_POINT
            for _ in range(n):
                powers.append(-(-powers[-1] * b // a) if up else powers[-1] * b // a)
        self.n, self.powers = n, powers
        self.end = flint.fmpq(a, a + b) / scale if n else flint.fmpq(1)
        self.inner = flint.fmpq(a - b, a + b) / scale

    def factor(self, z: int) -> Number:
        """Return what every power in column z is multiplied with."""
        return self.end if z in (0, self.n) else self.inner

    def expected(self, i: int, at_release: Sequence[Number]) -> Number:
        """Return Σ_z G_{i,z}·c_z for c ≥ 0."""
        inner = sum((self.powers[abs(z - i)] * at_release[z] for z in range(1, self.n)), start=flint.fmpq(0))
        ends = sum((self.powers[abs(z - i)] * at_release[z] for z in {0, self.n}), start=flint.fmpq(0))
        return self.end * ends + self.inner * inner

    def row(self, i: int) -> tuple[Number, ...]:
        """Return one row; exact only where the powers are."""
        return tuple(self.factor(z) * self.powers[abs(z - i)] for z in range(self.n + 1))
