"""A linear program in exact numbers.

Every program here is in standard form: minimise cost·z subject to A z = right, z ≥ 0. Column N + k, beyond the N
columns of the program, is the artificial column of row k: the unit vector e_k, held at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
from numpy.typing import NDArray

from .sparse_solve import SparseRow

Floats = NDArray[np.float64]

Basis = tuple[int, ...]
"""As many columns as the program has rows, ascending; artificial columns are N, N + 1, …"""

_INFINITE = 1e12
"""Scaled bounds and costs beyond this never bind in floats."""


def as_fmpq(value: Fraction) -> flint.fmpq:
    """Convert to the number type of the exact kernels."""
    return flint.fmpq(value.numerator, value.denominator)


def as_fraction(value: flint.fmpq) -> Fraction:
    """Convert back to the number type of the public interface."""
    return Fraction(int(value.p), int(value.q))


def as_floats(numbers: Sequence[flint.fmpq], factor: flint.fmpq | int = 1) -> Floats:
    """Round rationals times a factor to floats, cut off where they are as good as infinite; for guesses only."""
    most = flint.fmpq(int(_INFINITE))
    return np.array([float(min(max(x * factor, -most), most)) if x else 0.0 for x in numbers])


def cut_off(lower: Floats) -> Floats:
    """Make lower bounds that `as_floats` cut off infinite."""
    return np.where(lower <= -_INFINITE, -np.inf, lower)


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Minimise cost·z subject to A z = right, z ≥ 0.

    Parameters
    ----------
    columns : list of N sparse columns
        Row → coefficient.
    cost : list of N rationals
    right : list of m rationals
    """

    columns: list[SparseRow]
    cost: list[flint.fmpq]
    right: list[flint.fmpq]

    def column(self, index: int) -> SparseRow:
        """Return a column, artificial ones included."""
        if index < len(self.columns):
            return self.columns[index]
        return {index - len(self.columns): flint.fmpq(1)}
