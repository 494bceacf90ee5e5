"""bounds COLUMN: between which powers of two do values lie, for --lower and --upper of other questions?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, cast

from .._measurements import EDGES_OF_POWERS, LARGEST_POWER, LEAST_POWER, BinNodes, Measurement, NoisyBounds
from .._tables import ColumnType, Table
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Guarantee, Privacy, halved
from .categories import read_column
from .derived_columns import read_bins
from .privacy_units import ColumnChoices
from .quantile import AboutBins
from .query import AnswersLists, left_out, pure_pair

_MOST_SELECTED = 16


def power_edges() -> tuple[Fraction, ...]:
    """Return the edges of the bins."""
    return EDGES_OF_POWERS


@dataclass(frozen=True, slots=True)
class Bounds(AboutBins, AnswersLists):
    """A lower and an upper bound for the values of a column, both powers of two, their negatives or 0.

    A record without a value is in no bin. They are no smallest and largest value, and some values may lie beyond.
    """

    name: ClassVar[str] = "bounds"
    entry: ClassVar[str] = "bound"

    @classmethod
    def read(cls, words: Sequence[Any]) -> Bounds:
        """Read ``COLUMN [EXPR]``."""
        about, expression = read_column(words, cls.name, such_as="income")
        return cls(about, expression=expression)

    def over(self, table: Table, choices: ColumnChoices) -> Bounds:
        """Bind the bins to a table's column of numbers."""
        choices.refuse_all_but(self.name)
        column = table.column(self.about, "query")
        if column.kind not in (ColumnType.UNTYPED, ColumnType.INTEGER, ColumnType.NUMBER):
            rule = f"{self.name} is of numbers, and {column.name} is {column.kind}"
            raise BadInput("query", rule, "name another column")
        bins = read_bins(table, self.about, list(power_edges()))
        return replace(self, about=bins.of.name, bins=bins)

    @property
    def entries(self) -> tuple[str, str]:
        """What the two answers are."""
        return "lower", "upper"

    @property
    def categories(self) -> None:
        """None: the bins are the same for every table."""
        return

    @property
    def widest(self) -> tuple[Fraction, Fraction]:
        """The bounds where no bin stands out."""
        edges = power_edges()
        return edges[0], edges[-1]

    def check_cells(self, *, by: Sequence[str], selected: bool, unit: str | None) -> None:
        """Refuse to select groups, for more numbers than can be drawn for every group there might be."""
        if selected and len(power_edges()) >= _MOST_SELECTED:
            rule = "is not for bounds, whose bins of groups that nobody is in are counted too"
            raise BadInput("select_groups", rule, "declare the groups")

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "column": self.about}

    def choices(self) -> dict[str, Any]:
        """Return which powers there are."""
        return {"powers_of_two": [LEAST_POWER, LARGEST_POWER]}

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say what bounds are for, what they are not, and which records count."""
        use = "give them as the lower and upper bound of a sum or mean; they are no smallest and largest value"
        return [use, left_out(self.about)]

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[BinNodes]:
        """Return noise on every bin's count at the ε of the guarantee: half of it, where an exchange moves two."""
        pair = pure_pair(privacy, self.name)
        noise = cast(Privacy, halved(pair)) if relation == NeighbouringRelation.EXCHANGE else pair
        return NoisyBounds(noise, pair, power_edges())
