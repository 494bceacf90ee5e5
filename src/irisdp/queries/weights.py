"""--weight COL --weight-upper W: each value of a sum times its record's weight, a number from 0 to W.

Value and weight are doubles, each clamped to its public bounds before they are multiplied. Their product is clamped
once more, to the range that the bounds allow. So no record, whatever its weight, moves a sum by more than that.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..cells import Steps
from ..errors import BadInput
from ..exact import rational_text
from .choices import Choices
from .columns import Column, Kind, find_column
from .decimals import read_decimal
from .table import Table

__all__ = ["Weights", "clamped", "read_weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """By what each value is multiplied; all of it public.

    Attributes
    ----------
    of : Column
        Whose numbers are the weights; a record without one adds nothing.
    most : Fraction
        W; a larger weight counts as this, one below 0 as 0.
    lower, upper : Fraction
        Between what values count, before they are multiplied.
    missing : Fraction or None
        What value a record counts with that has none; None where it adds nothing.
    """

    of: Column
    most: Fraction
    lower: Fraction
    upper: Fraction
    missing: Fraction | None = None

    def steps(self, size: Fraction) -> Steps:
        """Return the possible contributions of a record: whole steps, outward, around 0 and all products."""
        least = math.floor(min(self.lower, Fraction(0)) * self.most / size)
        return Steps(least, math.ceil(max(self.upper, Fraction(0)) * self.most / size), size)

    def product(self, value: str, weight: str) -> str:
        """Write value times weight, of two columns of doubles; null where there is nothing to add."""
        held = clamped(value, self.lower, self.upper, otherwise=self.missing)
        return f"({held}) * ({clamped(weight, Fraction(0), self.most)})"

    def choices(self) -> dict[str, Any]:
        """Return the bounds of values and weights, JSON-ready."""
        return {
            "lower": rational_text(self.lower),
            "upper": rational_text(self.upper),
            "missing": None if self.missing is None else rational_text(self.missing),
            "weight": {"column": self.of.name, "lower": "0", "upper": rational_text(self.most)},
        }

    def describe(self) -> str:
        """Say in a few words by what values are multiplied."""
        return f"times {self.of.name} from 0 to {rational_text(self.most)}"


def read_weights(table: Table, choices: Choices, query: str) -> Weights | None:
    """Read the weights of a question whose bounds are given; None where it has none.

    Raises
    ------
    BadInput
        For a weight without a bound or a bound without a weight, a bound that is not above 0, and columns that are not
        there or hold no numbers.
    """
    if choices.weight is None:
        if choices.weight_upper is not None:
            raise BadInput(
                "weight_upper", "bounds weights, and there are none", "give weight= as well, or leave it out"
            )
        return None
    column = find_column(choices.weight, table.named, "weight")
    if column.kind not in (Kind.UNTYPED, Kind.INTEGER, Kind.NUMBER):
        raise BadInput("weight", f"is a column of numbers, and {column.name} is {column.kind}", "name another column")
    if choices.weight_upper is None:
        rule = "is missing; taken from the data, it would reveal who is in it"
        raise BadInput("weight_upper", rule, "give the largest weight that may count, such as 10")
    most = read_decimal(choices.weight_upper, "weight_upper")
    if most <= 0:
        raise BadInput("weight_upper", "must be above 0", "give the largest weight that may count, such as 10")
    lower, upper = (read_decimal(getattr(choices, name), name) for name in ("lower", "upper"))
    if lower >= upper:
        raise BadInput("lower", "must be below upper=", "give the least and the largest value that may count")
    missing = None if choices.missing is None else read_decimal(choices.missing, "missing")
    if missing is not None and not lower <= missing <= upper:
        raise BadInput("missing", "must lie between the bounds", f"give for example {rational_text(lower)}")
    return Weights(column, most, lower, upper, missing)


_LARGEST = Fraction(sys.float_info.max)
"""An infinite number is larger."""


def clamped(value: str, lower: Fraction, upper: Fraction, *, otherwise: Fraction | None = None) -> str:
    """Write a double between two bounds; what is null, or infinite, is null, or counts as something else."""
    least, most, largest = (_double(number) for number in (lower, upper, _LARGEST))
    held = f"CASE WHEN {value} <= {least} THEN {least} WHEN {value} >= {most} THEN {most} ELSE {value} END"
    without = "" if otherwise is None else f" ELSE {_double(otherwise)}"
    return f"CASE WHEN ABS({value}) <= {largest} THEN {held}{without} END"


def _double(number: Fraction) -> str:
    return f"CAST('{float(number)!r}' AS DOUBLE)"
