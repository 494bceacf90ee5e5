"""--lower L --upper U --step S: a column's numbers in equal steps between public bounds, and their statistics.

A value is read as a double, as everywhere; beyond a bound it counts as the bound, between them as the nearest multiple
of the step, half-way up. A value that is not a finite number adds nothing. So one record, whatever it holds, adds
from 0 to K steps above the lower bound, or nothing at all. The number of values beyond the bounds is never published.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._exact import meant_decimal, rational, rational_text
from .._measurements import Grid
from .._tables import Column, ColumnType, Table, find_column, integers_of
from ..errors import BadInput
from .privacy_units import ColumnChoices, PrivacyUnit, columns_read, records_statement
from .statistics import CountsByGroup, counted

if TYPE_CHECKING:
    from .._tables import Condition

# Read public numbers of a question, such as bounds and steps: decimals of a few places, kept exactly.

_MOST_PLACES = 12
_SUCH_AS = "give for example 1000, 0.5 or 0.01"
_LARGEST_DECIMAL = 10**15
"""Of a bound: differences of doubles between bounds, and products of two, stay finite, and the engine refuses no record
for its value."""


def read_decimal(value: Any, name: str) -> Fraction:
    """Read a number that can be written in a few decimal places."""
    try:
        number = rational(value, name)
    except BadInput as error:  # which quotients, and how many places, is said here
        meant = meant_decimal(value) if isinstance(value, str) else None
        raise BadInput(name, error.rule, _SUCH_AS if meant is None else error.remedy) from None
    if number * 10**_MOST_PLACES % 1:
        rule = f"must be a decimal number of at most {_MOST_PLACES} places"
        raise BadInput(name, rule, _SUCH_AS)
    if abs(number) > _LARGEST_DECIMAL:
        raise BadInput(
            name, f"must lie between -{_LARGEST_DECIMAL:,} and {_LARGEST_DECIMAL:,}", "give a number nearer to 0"
        )
    return number


# --weight COL --weight-upper W multiplies each value of a sum by its record's weight, a number from 0 to W.
#
# Value and weight are doubles, each clamped to its public bounds before they are multiplied. Their product is clamped
# once more, to the range that the bounds allow. So no record, whatever its weight, moves a sum by more than that.


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

    def steps(self, size: Fraction) -> Grid:
        """Return the possible contributions of a record: whole steps, outward, around 0 and all products."""
        least = math.floor(min(self.lower, Fraction(0)) * self.most / size)
        return Grid(least, math.ceil(max(self.upper, Fraction(0)) * self.most / size), size)

    def product(self, value: str, weight: str) -> str:
        """Write value times weight, of two columns of doubles; null where there is nothing to add."""
        return f"({self.held(value)}) * ({clamped(weight, Fraction(0), self.most)})"

    def held(self, value: str) -> str:
        """Write a value between its bounds; null where no value counts."""
        return clamped(value, self.lower, self.upper, otherwise=self.missing)

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


def read_weights(table: Table, choices: ColumnChoices, query: str) -> Weights | None:
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
    if column.kind not in (ColumnType.UNTYPED, ColumnType.INTEGER, ColumnType.NUMBER):
        raise BadInput("weight", f"is a column of numbers, and {column.name} is {column.kind}", "name another column")
    most = read_largest_weight(choices.weight_upper)
    lower, upper = (read_decimal(getattr(choices, name), name) for name in ("lower", "upper"))
    if lower >= upper:
        raise BadInput("lower", "must be below upper=", "give the least and the largest value that may count")
    missing = None if choices.missing is None else read_decimal(choices.missing, "missing")
    if missing is not None and not lower <= missing <= upper:
        raise BadInput("missing", "must lie between the bounds", f"give for example {rational_text(lower)}")
    return Weights(column, most, lower, upper, missing)


def read_largest_weight(value: Any) -> Fraction:
    """Read the public bound of weights."""
    if value is None:
        rule = "is missing; taken from the data, it would reveal who is in it"
        raise BadInput("weight_upper", rule, "give the largest weight that may count, such as 10")
    most = read_decimal(value, "weight_upper")
    if most <= 0:
        raise BadInput("weight_upper", "must be above 0", "give the largest weight that may count, such as 10")
    return most


_LARGEST_WEIGHT = Fraction(sys.float_info.max)
"""An infinite number is larger."""


def clamped(value: str, lower: Fraction, upper: Fraction, *, otherwise: Fraction | None = None) -> str:
    """Write a double between two bounds; what is null, or infinite, is null, or counts as something else."""
    least, most, largest = (_double(number) for number in (lower, upper, _LARGEST_WEIGHT))
    held = f"CASE WHEN {value} <= {least} THEN {least} WHEN {value} >= {most} THEN {most} ELSE {value} END"
    without = "" if otherwise is None else f" ELSE {_double(otherwise)}"
    return f"CASE WHEN ABS({value}) <= {largest} THEN {held}{without} END"


def _double(number: Fraction) -> str:
    return f"CAST('{float(number)!r}' AS DOUBLE)"


MOST_STEPS = 1 << 30
"""The most by which one person may move an answer: 2^32 records then fit in 64 bits, and noise has a distribution."""

_FARTHEST = 1 << 49
"""Of a bound from 0, in steps: a double then tells the middle between two multiples from either."""


@dataclass(frozen=True, slots=True)
class ClippedColumn:
    """A column in steps; all of it public.

    Attributes
    ----------
    of : Column
        Whose values they are.
    steps : Steps
    missing : int or None
        Steps above the lower bound that a record without a number counts as. None if it counts as nothing, and with
        weights, which define this value themselves.
    weights : Weights or None
        With them the steps are those of values times weights, unless there are `lots`.
    lots : int or None
        Into how many equal parts the largest weight is cut, of a weighted mean: each weight is rounded to a number of
        them, and its value counts so many times.
    """

    of: Column
    steps: Grid
    missing: int | None = None
    weights: Weights | None = None
    lots: int | None = None

    def choices(self) -> dict[str, Any]:
        """Return bounds and step, and the rule by which values are read, JSON-ready."""
        told = {**self.steps.to_document(), "missing": self._counted, "values": _RULE}
        if self.weights is None:
            return told
        if self.lots is not None:
            return {**told, **self.weights.choices(), "weight_parts": self.lots, "values": _COUNTED}
        return {**told, **self.weights.choices(), "values": _WEIGHTED}

    @property
    def lot(self) -> Fraction | None:
        """The weight that counts as one value; None where weights are not counted so."""
        return None if self.weights is None or self.lots is None else self.weights.most / self.lots

    def describe(self) -> str:
        """Say bounds and step in a few words."""
        told = self.choices()
        by = "" if told["step"] == "1" else f" in steps of {told['step']}"
        return f"from {told['lower']} to {told['upper']}{by}"

    def describe_values(self) -> list[str]:
        """Say by which rule values are read."""
        counted = self.choices()["missing"]
        without = "is left out" if counted is None else f"counts as {counted}"
        missing = f"a record without a number in {self.of.name} {without}"
        if self.weights is None:
            return [f"a value of {self.of.name} {_BOUNDED}; {_ROUNDED}; {_FINITE}", missing]
        weight, total = self.weights.of.name, self.steps.to_document()
        if self.lot is not None:
            return [
                f"a value of {self.of.name} {_BOUNDED}; {_ROUNDED}; {_FINITE}",
                missing,
                f"a weight of {weight} {_BOUNDED}; other weights are rounded to the nearest multiple of "
                f"{rational_text(self.lot)}; a record without a weight is left out",
            ]
        product = (
            f"a value times its weight adds from {total['lower']} to {total['upper']}; without a weight it adds nothing"
        )
        rounded = "products are rounded to the nearest step, halves up"
        return [f"a value of {self.of.name} or a weight of {weight} {_BOUNDED}; {rounded}; {_FINITE}", missing, product]

    def leaves_out(self, *, covered: bool) -> list[str]:
        """Say what of the values does not count, or counts as another value; `covered` says that rounding is."""
        bounds, rounded = self.choices(), self.steps.rounding
        result = [f"values beyond {bounds['lower']} and {bounds['upper']} count as the bound"]
        if rounded and not covered:
            half = rational_text(self.steps.size / 2)
            result.append(f"rounding to multiples of {bounds['step']} changes each value by up to {half}")
        if self.lot is not None and self.lot != 1:
            result.append(f"weights are rounded to multiples of {rational_text(self.lot)}")
        missing = bounds["missing"]
        result.append("records without a number are left out" if missing is None else f"others count as {missing}")
        return result

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns whose numbers count: of values, and of weights."""
        return (self.of,) if self.weights is None else (self.of, self.weights.of)

    @property
    def _counted(self) -> str | None:
        """What a record without a number counts as, as exact text."""
        missing = self.missing
        return None if missing is None else rational_text(self.steps.lower + missing * self.steps.size)


_BOUNDED = "beyond a bound counts as the bound"
_ROUNDED = "other values are rounded to the nearest step, halves up"
_FINITE = "infinite values are not numbers; Iris does not show how many values are beyond a bound"

# Ledgers hold these texts as parts of questions: with other words, the same question would be charged again.

_RULE = (
    "beyond a bound counts as the bound, others as the nearest step, half-way up; an infinite one is no number; "
    "how many are beyond is not told"
)
_PRODUCT = (
    "beyond a bound counts as the bound; their product as the nearest step, half-way up; an infinite one is no number; "
    "how many are beyond is not told"
)
_WEIGHTED = f"or weight {_PRODUCT}"
_COUNTED = "beyond a bound counts as the bound, others as the nearest part of the largest weight"
_LOTS = 1024
"""Parts of the largest weight, of a weighted mean, unless weights are whole numbers: finer ones cost nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class StepTotals:
    """The statistics of each cell; private, and not shown by `repr`.

    Attributes
    ----------
    total : int64 array
        Records in the cell.
    known : int64 array
        Those with a value.
    above : int64 array
        The steps from the lower bound up to each value, added up.
    squares : int64 array or None
        The squares of these steps, added up, where a question needs them.
    """

    total: NDArray[np.int64] = field(repr=False)
    known: NDArray[np.int64] = field(repr=False)
    above: NDArray[np.int64] = field(repr=False)
    squares: NDArray[np.int64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.total)


def read_stepped(
    table: Table, about: str, choices: ColumnChoices, query: str, *, counted: bool = False
) -> ClippedColumn:
    """Read bounds and step for a column.

    Parameters
    ----------
    table : Table
        Whose column; no record is read.
    about : str
        A column of numbers, or an untyped one (CSV), which is read as numbers.
    choices : ColumnChoices
        With `lower` and `upper`, a `step`, and what a `missing` value counts as. If the column is known or declared to
        hold whole numbers, the step is 1 by default; otherwise it is required.
    query : str
        For messages.
    counted : bool
        Whether weights are counted, and no products.

    Raises
    ------
    BadInput
        For a column of another kind, and bounds and steps that are missing, no decimal numbers, or do not fit.
    """
    choices.refuse_all_but(query, "lower", "upper", "step", "missing", "weight", "weight_upper")
    column = find_column(about, table.named, "query")
    if column.kind not in (ColumnType.UNTYPED, ColumnType.INTEGER, ColumnType.NUMBER):
        raise BadInput("query", f"{query} is of numbers, and {column.name} is {column.kind}", "name another column")
    for name in ("lower", "upper"):
        if getattr(choices, name) is None:
            rule = "is missing; taken from the data, it would reveal who is in it"
            raise BadInput(name, rule, "give lower= and upper=, between which values count, such as 0 and 200000")
    weights = read_weights(table, choices, query)
    whole = column.kind is ColumnType.INTEGER and (counted or weights is None or weights.of.kind is ColumnType.INTEGER)
    size = _read_size(choices, query, column=column.name, whole=whole)
    if weights is not None and not counted:
        steps = _checked(weights.steps(size))
        return ClippedColumn(column, steps if whole and size.numerator == 1 else steps.rounds(), weights=weights)
    steps = _read_steps(choices, size)
    if not (whole and size.numerator == 1):
        steps = steps.rounds()
    if weights is not None:
        whole_weights = weights.of.kind is ColumnType.INTEGER and weights.most.denominator == 1
        lots = int(weights.most) if whole_weights and weights.most <= _LOTS else _LOTS
        return ClippedColumn(column, steps, weights=weights, lots=lots)
    return ClippedColumn(column, steps, None if choices.missing is None else _read_missing(choices.missing, steps))


def total_steps(
    table: Table,
    stepped: ClippedColumn,
    *,
    condition: Condition | None = None,
    groups: CountsByGroup | None = None,
    unit: PrivacyUnit | None = None,
    squared: bool = False,
) -> StepTotals:
    """Count each cell's records and values, and add up their steps, in one pass of the engine.

    Parameters
    ----------
    table : Table
        What is counted.
    stepped : ClippedColumn
        Read for it.
    condition, groups, unit
        As for `count_records`. A record for which a condition is not true adds nothing, whatever a missing value counts
        as, but it is one of the cell's records.
    squared : bool
        Whether squares are added up as well: of steps whose squares are within `MOST_STEPS`.

    Returns
    -------
    StepTotals
        Adding or removing a record (of a person, with `unit`, each kept record) changes one cell at most. It changes
        the total by one; if the record has a value, it also changes the known number by one, the steps above by some
        a from 0 to K, and the squares by a².
    """
    cells = 1 if groups is None else len(groups)
    totals = StepTotals(*(np.zeros(cells, dtype=np.int64) for _ in range(4 if squared else 3)))
    if not cells:
        return totals
    numbers = [replace(column, kind=ColumnType.NUMBER) for column in stepped.columns]
    keys = (*(() if groups is None else groups.columns), *numbers)
    value, *weight = (f"k{index}" for index in range(len(keys) - len(numbers), len(keys)))
    added, lots, number = value, "", "COUNT(steps)"
    if stepped.weights is not None and stepped.lots is not None:
        added, lots = stepped.weights.held(value), f", {_lots(stepped, *weight)} AS lots"
    elif stepped.weights is not None:
        added = stepped.weights.product(value, *weight)
    added = added if condition is None else f"CASE WHEN answer THEN {added} END"
    valued = (
        f"weighed AS (SELECT records.*, {added} AS added{lots} FROM records), "
        f"valued AS (SELECT weighed.*, {_above('added', stepped.steps)} AS steps FROM weighed)"
    )
    # Whatever rounding did: no record adds less than 0 steps, or more than there are.
    span = stepped.steps.span
    held = f"CASE WHEN steps < 0 THEN 0 WHEN steps > {span} THEN {span} ELSE steps END"
    if lots:
        number = "CAST(COALESCE(SUM(CASE WHEN NOT steps IS NULL THEN lots END), 0) AS BIGINT)"
        held = f"lots * ({held})"
    counts = {"total": "COUNT(*)", "known": number, "above": f"CAST(COALESCE(SUM({held}), 0) AS BIGINT)"}
    asked = np.zeros(cells, dtype=np.int64)
    if squared:
        counts["squares"] = f"CAST(COALESCE(SUM(({held}) * ({held})), 0) AS BIGINT)"
    if condition is not None:
        counts["asked"] = "COUNT(CASE WHEN answer THEN 1 END)"
    records = records_statement(table, condition, keys, unit, carried=len(numbers))
    found = table.run(
        f"{records}, {valued} {counted(counts, groups, records='valued')}",
        columns_read(table, condition, keys, unit),
        **({} if groups is None else {"groups": groups.arrow()}),
    )
    position = integers_of(found.column("position"))
    for name in counts:
        array = asked if name == "asked" else getattr(totals, name)
        array[position] = integers_of(found.column(name))
    if stepped.missing is None:
        return totals
    asked = totals.total if condition is None else asked
    counted_as = stepped.missing * (asked - totals.known)
    squares = None if totals.squares is None else totals.squares + stepped.missing * counted_as
    return StepTotals(totals.total, asked, totals.above + counted_as, squares)


def _lots(stepped: ClippedColumn, weight: str) -> str:
    """Write as how many parts of the largest weight a weight counts: from 0 to all, or null."""
    assert stepped.weights is not None and stepped.lot is not None
    parts = f"FLOOR(({clamped(weight, Fraction(0), stepped.weights.most)}) / {_double(stepped.lot)} + {_double(_HALF)})"
    lots = f"CAST({parts} AS BIGINT)"
    return f"CASE WHEN {lots} < 0 THEN 0 WHEN {lots} > {stepped.lots} THEN {stepped.lots} ELSE {lots} END"


_HALF = Fraction(1, 2)


def _read_size(choices: ColumnChoices, query: str, *, column: str, whole: bool) -> Fraction:
    """Read the step; `whole` says that the values are known to be whole numbers."""
    if choices.step is None and not whole:
        rule = f"is missing: {query} rounds each value to a multiple of the step, and {column} may hold fractions"
        fine = rational_text(_fine_step(choices))
        remedy = f"give step={fine}, for example, or step=1 if all values are whole numbers"
        raise BadInput("step", rule, remedy)
    size = Fraction(1) if choices.step is None else read_decimal(choices.step, "step")
    if size <= 0:
        raise BadInput("step", "must be above 0", "give for example 1, or 0.01")
    return size


def _fine_step(choices: ColumnChoices) -> Fraction:
    """Return a power of ten of which the bounds are multiples, at most a thousandth of the distance between them."""
    lower, upper = (read_decimal(getattr(choices, name), name) for name in ("lower", "upper"))
    size = Fraction(1, 100)
    while size > (upper - lower) / 1000 > 0 or lower % size or upper % size:
        size /= 10
    farthest = 2 * choices.contribution.records * max(abs(lower), abs(upper), upper - lower)
    while farthest / size > MOST_STEPS:
        size *= 10
    return size


def _read_steps(choices: ColumnChoices, size: Fraction) -> Grid:
    bounds = []
    for name in ("lower", "upper"):
        bound = read_decimal(getattr(choices, name), name)
        whole, rest = divmod(bound, size)
        if rest:
            near = " or ".join(rational_text(place * size) for place in (whole, whole + 1))
            rule = f"must be a multiple of the step, which is {rational_text(size)}"
            raise BadInput(name, rule, f"give {near}, or another step")
        bounds.append(int(whole))
    least, most = bounds
    if least >= most:
        raise BadInput("lower", "must be below upper=", "give the least and the largest value that may count")
    return _checked(Grid(least, most, size))


def _checked(steps: Grid) -> Grid:
    """Refuse more steps than there is noise for, or than doubles distinguish."""
    if steps.span > MOST_STEPS or steps.farthest > _FARTHEST:
        rule = f"is so small that more than {MOST_STEPS:,} steps lie between the bounds, or bounds too far from 0"
        raise BadInput("step", rule, "give a larger step, or nearer bounds")
    return steps


def _read_missing(value: Any, steps: Grid) -> int:
    """Return how many steps above the lower bound a missing value counts as."""
    place, rest = divmod(read_decimal(value, "missing"), steps.size)
    if rest or not steps.least <= place <= steps.most:
        rule = f"must be a multiple of the step, {rational_text(steps.size)}, between the bounds"
        raise BadInput("missing", rule, f"give for example {rational_text(steps.lower)}")
    return int(place) - steps.least


def _above(value: str, steps: Grid) -> str:
    """Write how many steps a double lies above the lower bound; null for none: comparisons with it hold nowhere.

    Engines agree on every part of it, as IEEE 754 says what comparing, subtracting, dividing and adding give.
    """
    lower, upper, size, half, largest = (
        f"CAST('{float(number)!r}' AS DOUBLE)"
        for number in (steps.lower, steps.upper, steps.size, 0.5, sys.float_info.max)
    )
    return (
        f"CASE WHEN ABS({value}) <= {largest} THEN CASE WHEN {value} <= {lower} THEN 0 WHEN {value} >= {upper} "
        f"THEN {steps.span} ELSE CAST(FLOOR(({value} - {lower}) / {size} + {half}) AS BIGINT) END END"
    )
