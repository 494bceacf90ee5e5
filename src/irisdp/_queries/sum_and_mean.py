"""sum, mean, variance and deviation COLUMN: sums and moments of a column's values between public bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, cast

import numpy as np

from .._exact import rational_text
from .._measurements import (
    CountNodes,
    MeanFromCentre,
    MeanFromEnds,
    MeanNodes,
    MeanOfAll,
    Measurement,
    NoisySums,
    StaircaseNoise,
    VarianceFromEnds,
    VarianceNodes,
    VarianceOfAll,
    noise_for,
)
from .._tables import Column, ColumnType, Condition, Table, quote_name
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Gaussian, Guarantee
from .categories import read_column
from .clipped_values import (
    MOST_STEPS,
    ClippedColumn,
    StepTotals,
    read_decimal,
    read_largest_weight,
    read_stepped,
    total_steps,
)
from .groups import Groups
from .privacy_units import ONE_RECORD, ColumnChoices, ContributionBounds, PrivacyUnit
from .query import Query, pure_pair
from .statistics import CountsByGroup


@dataclass(frozen=True, slots=True)
class _OfNumbers(ABC):
    """Questions about a column's values between public bounds, told in steps.

    Parameters
    ----------
    about : str
        Name of the column.
    stepped : ClippedColumn, optional
        Bound by `over`.
    contribution : ContributionBounds
        How many records one person has that count, and in how many groups.
    expression : str, optional
        The condition; a record for which it is not true is as one without a value, whatever that counts as.
    """

    about: str
    stepped: ClippedColumn | None = field(default=None, repr=False)
    contribution: ContributionBounds = ONE_RECORD
    expression: str | None = field(default=None, kw_only=True)

    name: ClassVar[str]
    weighted: ClassVar[bool] = False
    squared: ClassVar[bool] = False
    counts_weights: ClassVar[bool] = False
    categories: ClassVar[Groups | None] = None

    @classmethod
    def read(cls, words: Sequence[Any]) -> Self:
        """Read ``COLUMN [EXPR]``."""
        about, expression = read_column(words, cls.name, such_as="income", besides=", with lower= and upper=")
        return cls(about, expression=expression)

    def over(self, table: Table, choices: ColumnChoices) -> Self:
        """Read bounds and step for a table."""
        if not self.weighted:
            _refuse_weights(choices, self.name)
        totals = read_stepped(table, self.about, choices, self.name, counted=self.counts_weights)
        kept = choices.contribution
        asked = replace(self, about=totals.of.name, stepped=totals, contribution=kept)
        if asked.farthest > MOST_STEPS:
            rule = f"is so small that one person may move the {self.name} by more than {MOST_STEPS:,} steps"
            raise BadInput("step", rule, "give a larger step, nearer bounds, or a smaller at_most=")
        return asked

    @property
    @abstractmethod
    def farthest(self) -> int:
        """The most steps by which one person moves the published sums, under any relation."""

    @property
    def column(self) -> Column | None:
        """The column, with the kind its values are read as."""
        return None if self.stepped is None else self.stepped.of

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        told = {"query": self.name, "column": self.about}
        if self.stepped is None:
            return told
        weights = self.stepped.weights
        weighted = {} if weights is None else {"weight": weights.describe()}
        if self.stepped.lots is not None:
            weighted = {"weight": weighted["weight"].replace("times", "weighted by", 1)}
        return {**told, "between": self.stepped.describe(), **weighted}

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say what of the values does not count, or counts as another value."""
        return self._bound().leaves_out(covered=self.covers_rounding(relation))

    @abstractmethod
    def covers_rounding(self, relation: NeighbouringRelation) -> bool:
        """Tell whether the interval of an answer covers what rounding each value to the step can do."""

    @property
    def possible(self) -> tuple[Fraction, Fraction] | None:
        """The ends of what may be answered, where they do not depend on how many values there are."""
        return None

    def choices(self) -> dict[str, Any]:
        """Return bounds and step, and how values are read."""
        return self._bound().choices()

    def describe_values(self) -> list[str]:
        """Say how values are read."""
        return self._bound().describe_values()

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> StepTotals:
        """Add up the steps of each cell's values."""
        return total_steps(table, self._bound(), condition=condition, groups=groups, unit=unit, squared=self.squared)

    @property
    def every_record_counts(self) -> bool:
        """Whether no record is without a value that counts, so that under exchange their number is public."""
        return self._bound().missing is not None and self.expression is None

    def _bound(self) -> ClippedColumn:
        assert self.stepped is not None, "a plan binds the bounds before it asks anything else"
        return self.stepped


@dataclass(frozen=True, slots=True)
class Sum(_OfNumbers):
    """The sum of values; a record without one adds nothing.

    Adding or removing a record moves it by at most the farther bound's distance from 0. Exchanging one moves it by at
    most the distance between the bounds, or between 0 and them if 0 lies outside (proofs/sums-and-means.md).
    """

    name: ClassVar[str] = "sum"
    weighted: ClassVar[bool] = True

    @property
    def farthest(self) -> int:
        """So many as the largest exchange of one value, or of several."""
        return self.contribution.records * self._bound().steps.widest

    @property
    def exchange_steps(self) -> int:
        """Two where a value below 0 may become one above: both may be as far from 0 as one that comes or goes."""
        steps = self._bound().steps
        return 2 if steps.least < 0 < steps.most else 1

    def covers_rounding(self, relation: NeighbouringRelation) -> bool:
        """Return True where it is public how many values are rounded: each moves the sum."""
        return relation == NeighbouringRelation.EXCHANGE

    def nodes(self, statistics: StepTotals, relation: NeighbouringRelation) -> CountNodes:
        """Return the sums in steps; under exchange with their ends, which the public number of records gives."""
        steps, exchange = self._bound().steps, relation == NeighbouringRelation.EXCHANGE
        least, most = steps.least, steps.most
        if not self.every_record_counts:
            least, most = min(least, 0), max(most, 0)
        return CountNodes(
            values=statistics.above + steps.least * statistics.known,
            lower=least * statistics.total if exchange else np.zeros_like(statistics.total),
            upper=most * statistics.total if exchange else None,
            records=statistics.total if exchange and steps.rounding else None,
        )

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[CountNodes]:
        """Return the noise that is better for what a step moves the sums by: the staircase, in one cell."""
        kept, steps = self.contribution, self._bound().steps
        moved = kept.records * steps.farthest
        if kept.exchanged:  # some of a person's values may turn into nothing, whatever a missing one counts as
            moved = kept.records * steps.widest
        elif relation == NeighbouringRelation.EXCHANGE:  # where every record counts, none may
            moved = steps.span if self.every_record_counts else steps.widest
        guarantee = privacy if isinstance(privacy, Gaussian) else pure_pair(privacy, self.name)
        return NoisySums(noise_for(guarantee, each=moved, total=moved, cells=kept.cells), steps)


@dataclass(frozen=True, slots=True)
class Mean(_OfNumbers):
    """The mean of the values of those records that have one, from two noisy numbers (proofs/sums-and-means.md).

    With weights, a record counts as so many records of its value as its weight has parts of the largest one.
    """

    name: ClassVar[str] = "mean"
    weighted: ClassVar[bool] = True
    counts_weights: ClassVar[bool] = True
    exchange_steps: ClassVar[int] = 2

    @property
    def possible(self) -> tuple[Fraction, Fraction]:
        """The bounds."""
        return self._bound().steps.lower, self._bound().steps.upper

    @property
    def farthest(self) -> int:
        """So many as the largest exchange."""
        return 2 * self.most_values * self._bound().steps.span

    @property
    def most_values(self) -> int:
        """How many values one person has at most."""
        return self.contribution.records * (self._bound().lots or 1)

    def covers_rounding(self, relation: NeighbouringRelation) -> bool:
        """Return True: a mean moves by no more than one value does."""
        return True

    def nodes(self, statistics: StepTotals, relation: NeighbouringRelation) -> MeanNodes:
        """Return how many values there are and how far up they lie."""
        public = statistics.total if relation == NeighbouringRelation.EXCHANGE and self._bound().lots is None else None
        return MeanNodes(statistics.known, statistics.above, public)

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[MeanNodes]:
        """Return what is nearest for a step of the relation; where every one of a public number counts, one number."""
        pair, kept, steps = pure_pair(privacy, self.name), self.contribution, self._bound().steps
        if relation == NeighbouringRelation.EXCHANGE and self.every_record_counts and self._bound().lots is None:
            return MeanOfAll(StaircaseNoise(pair, steps.span), steps)
        exchanged = kept.exchanged or relation == NeighbouringRelation.EXCHANGE
        return (MeanFromCentre if exchanged else MeanFromEnds)(pair, steps, self.most_values, self._bound().lot)


@dataclass(frozen=True, slots=True)
class Variance(_OfNumbers):
    """The population variance of the values of those records that have one: their mean squared distance from the mean.

    From three noisy numbers, or from one where every record of a public number counts (proofs/variances.md).
    """

    name: ClassVar[str] = "variance"
    squared: ClassVar[bool] = True
    root: ClassVar[bool] = False
    exchange_steps: ClassVar[int] = 2

    @property
    def possible(self) -> tuple[Fraction, Fraction]:
        """From 0, where all values are alike, to where one half of them lies at either bound."""
        half = (self._bound().steps.upper - self._bound().steps.lower) / 2
        return Fraction(0), half if self.root else half**2

    @property
    def farthest(self) -> int:
        """So many squares of the step as the largest exchange."""
        return 2 * self.contribution.records * self._bound().steps.span ** 2

    def covers_rounding(self, relation: NeighbouringRelation) -> bool:
        """Return True: a deviation moves by no more than one value does."""
        return True

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say what of the values does not count, and by what squares are divided."""
        divided = "a population variance: the squares are divided by the number of values, not by one less"
        return [*super(Variance, self).leaves_out(relation), f"the root of {divided}" if self.root else divided]

    def nodes(self, statistics: StepTotals, relation: NeighbouringRelation) -> VarianceNodes:
        """Return how many values there are, how far up they lie, and the squares of that."""
        assert statistics.squares is not None
        public = statistics.total if relation == NeighbouringRelation.EXCHANGE else None
        return VarianceNodes(statistics.known, statistics.above, statistics.squares, public)

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[VarianceNodes]:
        """Return what is nearest for a step of the relation; where every one of a public number counts, one number."""
        pair, kept, steps = pure_pair(privacy, self.name), self.contribution, self._bound().steps
        if relation == NeighbouringRelation.EXCHANGE and self.every_record_counts:
            return VarianceOfAll(StaircaseNoise(pair, steps.span**2), steps, self.root)
        exchanged = kept.exchanged or relation == NeighbouringRelation.EXCHANGE
        return VarianceFromEnds(pair, steps, kept.records, exchanged=exchanged, root=self.root)


@dataclass(frozen=True, slots=True)
class Deviation(Variance):
    """The population standard deviation: the root of the variance."""

    name: ClassVar[str] = "deviation"
    root: ClassVar[bool] = True


def weighted_count(question: Query[Any], options: Mapping[str, Any]) -> tuple[Query[Any], dict[str, Any]]:
    """Return the sum that a count with weights is, and its options: of the weights, from 0 to the largest.

    A condition stays. The default step is the largest power of ten that is at most a thousandth of the largest
    weight, and of which that is a multiple.
    """
    if options.get("weight") is None:
        raise BadInput("weight_upper", "bounds weights, and there are none", "give weight= as well, or leave it out")
    if not isinstance(options["weight"], str):
        raise BadInput("weight", f"must be text, not {type(options['weight']).__name__}", "name a column of numbers")
    most = read_largest_weight(options.get("weight_upper"))
    for bound in ("lower", "upper"):
        if options.get(bound) is not None:
            raise BadInput(bound, "is not for weights", "leave it out: they count from 0 to weight_upper=")
    size = Fraction(1)
    while size > most / 1000 or most % size:
        size /= 10
    step = size if options.get("step") is None else read_decimal(options["step"], "step")
    if step > 0 and most % step:
        rule = f"must divide the largest weight, {rational_text(most)}"
        raise BadInput("step", rule, f"give step={rational_text(size)}, or leave it out")
    own = {"weight": None, "weight_upper": None, "lower": 0, "upper": most, "step": step}
    asked = Sum(options["weight"].strip(), expression=question.expression)
    return cast(Query[Any], asked), {**options, **own}


def _refuse_weights(choices: ColumnChoices, query: str) -> None:
    for option in ("weight", "weight_upper"):
        if getattr(choices, option) is not None:
            rule = f"is not for {query}, but for sum, mean and count"
            raise BadInput(option, rule, "leave it out, or ask one of those")


def total_per_person(
    table: Table, asked: Any, unit: str, options: Mapping[str, Any]
) -> tuple[Table, Query[Any], dict[str, Any]]:
    """Return a sum as that of each person's total, from 0 to `per_person_upper`.

    Parameters
    ----------
    table : Table
        Of records, with the column that the sum is of (`find_subject`).
    asked : Query
        A sum; its condition says which records count.
    unit : str
        The column that identifies a person.
    options : mapping
        With `per_person_upper`; `lower` and `upper` are bounds of each value before it is added, if given.

    Returns
    -------
    tuple of (Table, Query, dict)
        The table by persons, the sum of their totals, and the options that change.
    """
    if asked.name != "sum":
        raise BadInput("per_person_upper", f"is not for {asked.name}, but for sum", "leave it out")
    for name in ("missing", "weight", "weight_upper"):
        if options.get(name) is not None:
            rule = "is about single values, and per_person_upper= bounds the total of a person"
            raise BadInput(name, rule, "leave one of the two out")
    column = table.column(asked.about, "query")
    if column.kind not in (ColumnType.UNTYPED, ColumnType.INTEGER, ColumnType.NUMBER):
        raise BadInput("query", f"sum is of numbers, and {column.name} is {column.kind}", "name another column")
    computed = column.derivation if column in table.derived else None
    value = quote_name(column.name) if computed is None else f"({computed.text})"
    lower, upper = options.get("lower"), options.get("upper")
    if (lower is None) != (upper is None):
        missing = "lower" if lower is None else "upper"
        raise BadInput(missing, "is missing beside the other bound of a value", "give both, or neither")
    if lower is not None:
        least, most = (rational_text(read_decimal(bound, name)) for name, bound in (("lower", lower), ("upper", upper)))
        value = f"CASE WHEN {value} <= {least} THEN {least} WHEN {value} >= {most} THEN {most} ELSE {value} END"
    where = "" if asked.expression is None else f" FILTER (WHERE {asked.expression})"
    name = f"{column.name}_per_person"
    while name.casefold() in {other.name.casefold() for other in table.of_records}:
        name += "_"
    persons = replace(table, derived=()).per_person(f"{quote_name(name)} = SUM({value}){where}", unit)
    bounds = {"lower": 0, "upper": options["per_person_upper"]}
    return persons, cast(Query[Any], Sum(name)), {**bounds, "per_person_upper": None}
