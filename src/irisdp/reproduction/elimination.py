"""Small matrices of fractions by elimination: determinants, products, and one matrix as a multiple of another."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import flint

from ..linprog.program import as_fmpq, as_fraction

__all__ = ["derived", "determinant", "times"]

Table = Sequence[Sequence[Fraction]]


def _matrix(rows: Table) -> flint.fmpq_mat:
    return flint.fmpq_mat([[as_fmpq(x) for x in row] for row in rows])


def _rows(matrix: flint.fmpq_mat) -> list[list[Fraction]]:
    return [[as_fraction(x) for x in row] for row in matrix.tolist()]


def determinant(rows: Table) -> Fraction:
    """Return the determinant."""
    return as_fraction(_matrix(rows).det())


def times(one: Table, other: Table) -> list[list[Fraction]]:
    """Return the product."""
    return _rows(_matrix(one) * _matrix(other))


def derived(deployed: Table, target: Table) -> list[list[Fraction]]:
    """Return T with target = deployed·T."""
    return _rows(_matrix(deployed).inv() * _matrix(target))
