"""histogram COLUMN: how many records are in each bin, or of each declared category? A count by one more column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from .._measurements import CountNodes, Measurement
from .._tables import Table
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Guarantee
from .categories import read_column
from .count import Count
from .derived_columns import Bins, read_bins
from .groups import CATEGORIES, Groups, read_groups
from .privacy_units import ONE_RECORD, ColumnChoices, ContributionBounds
from .query import CountsRecords, left_out
from .statistics import Statistics


@dataclass(frozen=True, slots=True)
class Histogram(CountsRecords):
    """The number of records in each bin of a column, or of each declared category of it.

    A record is in one bin, or in none, so bins are groups like any others. Bound to a table, the question is the count
    by the group columns and the bin, and a plan splits the groups for it (`part_groups`).

    Parameters
    ----------
    about : str
        Name of the column.
    parts : Groups, optional
        The bins or categories, of one column that may be derived; bound by `over`.
    contribution : ContributionBounds, optional
        How many records one person has that count, and in how many cells.
    bins : Bins, optional
        The bins, where the parts are bins.
    expression : str, optional
        The condition.
    """

    about: str
    parts: Groups | None = field(default=None, repr=False)
    contribution: ContributionBounds = ONE_RECORD
    bins: Bins | None = field(default=None, repr=False)
    expression: str | None = field(default=None, kw_only=True)

    name: ClassVar[str] = "histogram"
    exchange_steps: ClassVar[int] = 1

    @classmethod
    def read(cls, words: Sequence[Any]) -> Histogram:
        """Read ``COLUMN [EXPR]``."""
        about, expression = read_column(words, cls.name, such_as="age")
        return cls(about, expression=expression)

    def over(self, table: Table, choices: ColumnChoices) -> Histogram:
        """Read the bins, or the categories, for a table."""
        choices.refuse_all_but(self.name, "categories", "bins")
        column = table.column(self.about, "query").name
        categories, bins = choices.categories, choices.bins
        if (categories is None) == (bins is None):
            rule = "are missing for histogram; taken from the data, they would reveal who is in it"
            if bins is not None:
                rule = "cannot be given with categories="
            raise BadInput("bins", rule, "give one of the two, bins='0,18,65' or categories='v1,v2,…'")
        made = None if bins is None else read_bins(table, column, bins)
        groups = read_groups(table, column, categories, CATEGORIES) if made is None else made.groups
        return replace(self, about=column, parts=groups, contribution=choices.contribution, bins=made)

    def describe(self) -> dict[str, str]:
        """Return the public description: bound to a table, that of the count which it is."""
        return {"query": self.name, "column": self.about} if self.parts is None else Count().describe()

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say which records are in no bin, or of no declared category."""
        return [left_out(self.about, undeclared=self.bins is None)]

    def nodes(self, statistics: Statistics, relation: NeighbouringRelation) -> CountNodes:
        """Return the counts and the ends of their paths."""
        return Count().nodes(statistics, relation)

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[CountNodes]:
        """Return the noise of a count."""
        return Count(contribution=self.contribution).mechanism(privacy, relation)


def part_groups(
    table: Table, groups: Groups | None, parts: Groups, *, select_groups: bool, public_membership: bool
) -> tuple[Table, tuple[str, ...], Groups]:
    """Part every group into bins or categories: the cells of a histogram.

    Parameters
    ----------
    table : Table
        What is counted.
    groups : Groups or None
        The declared groups; None for the whole table.
    parts : Groups
        Of one column, in the order in which people see them.
    select_groups, public_membership : bool
        As for `irisdp.publish`.

    Returns
    -------
    tuple of (Table, tuple of str, Groups)
        The table that provides the bin's column; the names of all group columns, the bin's last; and every group with
        every part, sorted by key, in the order of display.

    Raises
    ------
    BadInput
        Where groups are selected, where it is public who is in which group (a record may change its bin), or where the
        table is grouped by the column already.
    """
    (column,) = parts.columns
    if select_groups:
        raise BadInput("select_groups", "cannot select the groups of a histogram", "declare them with groups=")
    if public_membership:
        rule = "cannot be used with a histogram, because a record may change its bin"
        raise BadInput("public_membership", rule, "leave it out, or ask count with by=")
    if groups is not None and column.name in {grouped.name for grouped in groups.columns}:
        raise BadInput("by", f"names {column.name!r}, which the histogram is of", "leave it out of by=")
    within = table if column.derivation is None or column in table.derived else table.deriving([column])
    cells = parts.by_key() if groups is None else groups.by_key().parted(parts.by_key())
    return within, tuple(column.name for column in cells.columns), cells
