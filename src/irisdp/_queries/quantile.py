"""median COLUMN, quantile P COLUMN and quantiles P1,P2,… COLUMN: which of the declared bins holds it, or each?"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, cast

from .._exact import entries, rational_text
from .._measurements import BinNodes, Measurement, NoisyQuantiles, QuantileBin
from .._tables import Column, ColumnType, Condition, Table
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Guarantee, Privacy, halved
from .categories import MOST_CATEGORIES, CategoryCounts, count_categories, read_column
from .derived_columns import Bins, read_bins
from .groups import Groups
from .privacy_units import ONE_RECORD, ColumnChoices, ContributionBounds, PrivacyUnit
from .query import AnswersByRecord, AnswersLists, as_asked, left_out, pure_pair, split_number
from .statistics import CountsByGroup


@dataclass(frozen=True, slots=True)
class AboutBins(ABC):
    """The bin that holds a quantile p: the first up to whose end there are p·n of the n records that have a value.

    One bin is right. A record without a value, or for which the condition is not true, is in no bin. Adding or removing
    a record, exchanging it for another, and exchanging it for one without a value are each one step of the graph of a
    cell's relation (proofs/quantiles.md). On the graph of added and removed records an exchange is two steps.

    Parameters
    ----------
    about : str
        Name of the column.
    bins : Bins, optional
        Bound by `over`.
    expression : str, optional
        The condition.
    """

    about: str
    bins: Bins | None = field(default=None, repr=False)
    expression: str | None = field(default=None, kw_only=True)

    name: ClassVar[str]
    exchange_steps: ClassVar[int] = 2

    def over(self, table: Table, choices: ColumnChoices) -> Self:
        """Read the bins for a table, whose records are not looked at."""
        choices.refuse_all_but(self.name, "bins")
        if choices.bins is None:
            rule = "is missing; taken from the data, it would reveal who is in it"
            raise BadInput("bins", rule, "give the edges between bins, such as bins='0,18,65'")
        bins = read_bins(table, self.about, choices.bins)
        if len(bins.names) > MOST_CATEGORIES:
            rule = f"make {len(bins.names)} bins, and at most {MOST_CATEGORIES} are possible"
            raise BadInput("bins", rule, "give fewer, wider bins")
        found = replace(self, about=bins.of.name, bins=bins)
        return replace(found, contribution=choices.contribution) if isinstance(found, AnswersByRecord) else found

    @property
    def column(self) -> Column | None:
        """The column, with the kind its values are read as."""
        return None if self.bins is None else self.bins.of

    @property
    def categories(self) -> Groups | None:
        """The bins, as a column of their names."""
        return None if self.bins is None else self.bins.groups

    def describe_values(self) -> list[str]:
        """Say what is in no bin: nobody looks whether an untyped column holds numbers."""
        own = self._bound().of
        loose = own.kind is ColumnType.UNTYPED
        return [f"a value of {own.name} that is not such a number or date is in no bin"] if loose else []

    def leaves_out(self, relation: NeighbouringRelation) -> list[str]:
        """Say which records are in no bin."""
        return [left_out(self.about)]

    def choices(self) -> dict[str, Any]:
        """Return the bins by their names, which say where their edges are."""
        return {"bins": list(self._bound().names)}

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> CategoryCounts:
        """Count the records of each cell by bin."""
        bound = self._bound()
        return count_categories(bound.within(table), bound.groups, condition=condition, groups=groups, unit=unit)

    def nodes(self, statistics: CategoryCounts, relation: NeighbouringRelation) -> BinNodes:
        """Return the counts in the order of the bins: their offsets are the node, under either relation."""
        return BinNodes(self._bound().names, statistics.counts)

    @abstractmethod
    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[BinNodes]:
        """Return what names the bin, or bins."""

    def _bound(self) -> Bins:
        assert self.bins is not None, "a plan binds the bins before it asks anything else"
        return self.bins


@dataclass(frozen=True, slots=True)
class HoldsQuantile(AboutBins, AnswersByRecord):
    """One quantile, by the mechanism that is nearest to its rank on the data that are hardest.

    Parameters
    ----------
    about, bins, expression
        As of any question about bins.
    contribution : ContributionBounds
        How many records one person has that count, and in how many groups.
    """

    contribution: ContributionBounds = field(default=ONE_RECORD, kw_only=True)

    @property
    @abstractmethod
    def share(self) -> Fraction:
        """p, above 0 and at most 1."""

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[BinNodes]:
        """Return the mechanism that `design.quantile` chooses, at the ε of the guarantee."""
        from ..design import quantile  # which loads what solves programs

        bins = self._bound()
        pair = self.of_one_record(privacy)
        return QuantileBin(quantile(len(bins.names), pair, self.share, relation.value), bins.names, bins.edges)


@dataclass(frozen=True, slots=True)
class Median(HoldsQuantile):
    """The bin that holds the median."""

    name: ClassVar[str] = "median"

    @classmethod
    def read(cls, words: Sequence[Any]) -> Median:
        """Read ``COLUMN [EXPR]``."""
        about, expression = read_column(words, cls.name, such_as="age")
        return cls(about, expression=expression)

    @property
    def share(self) -> Fraction:
        """One half."""
        return Fraction(1, 2)

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "column": self.about}


@dataclass(frozen=True, slots=True)
class Quantile(HoldsQuantile):
    """The bin that holds another quantile.

    Parameters
    ----------
    about, bins
        As of a median.
    part : Fraction
        p, above 0 and at most 1, with a denominator of at most 10^6.
    """

    part: Fraction = Fraction(1, 2)

    name: ClassVar[str] = "quantile"

    @classmethod
    def read(cls, words: Sequence[Any]) -> Quantile:
        """Read ``P COLUMN [EXPR]``."""
        from ..design import read_share  # which loads what solves programs

        words = split_number(words)
        if len(words) < 2:
            example = as_asked(cls.name, "0.9", "age")
            raise BadInput("query", f"{cls.name} needs a number P and a column", f"write for example {example}")
        part = read_share(words[0])
        about, expression = read_column(words[1:], f"{cls.name} {rational_text(part)}", such_as="age")
        return cls(about, expression=expression, part=part)

    @property
    def share(self) -> Fraction:
        """What was asked for."""
        return self.part

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "share": rational_text(self.part), "column": self.about}


_MOST_QUANTILES = 99
_MOST_SELECTED = 16
"""Bins where groups are selected: numbers are drawn for groups that nobody is in, too (`cells.padding`)."""


@dataclass(frozen=True, slots=True)
class Quantiles(AboutBins, AnswersLists):
    """The bins that hold several quantiles, all read off the same noisy counts of the bins.

    Parameters
    ----------
    about, bins
        As of a median.
    parts : tuple of Fraction
        The quantiles, ascending: each above 0 and at most 1, with a denominator of at most 10^6.
    """

    parts: tuple[Fraction, ...] = ()

    name: ClassVar[str] = "quantiles"
    entry: ClassVar[str] = "quantile"

    @classmethod
    def read(cls, words: Sequence[Any]) -> Quantiles:
        """Read ``P1,P2,… COLUMN [EXPR]``."""
        from ..design import read_share  # which loads what solves programs

        words = list(words)
        if words and isinstance(words[0], str):
            words = [*re.split(r"(?<=[^,\s])\s+(?!,)", words[0].strip(), maxsplit=1), *words[1:]]
        if len(words) < 2:
            example = as_asked(cls.name, "0.25,0.5,0.75", "age")
            raise BadInput("query", f"{cls.name} needs numbers P1,P2,… and a column", f"write for example {example}")
        listed = words[0].split(",") if isinstance(words[0], str) else entries(words[0]) or [words[0]]
        parts = tuple(sorted(read_share(part.strip() if isinstance(part, str) else part) for part in listed))
        if len(set(parts)) < len(parts):
            raise BadInput("quantile", "is listed twice", "list each quantile once")
        if len(parts) > _MOST_QUANTILES:
            raise BadInput("quantile", f"lists more than {_MOST_QUANTILES} quantiles", "ask for fewer")
        about, expression = read_column(words[1:], f"{cls.name} {_listed(parts)}", such_as="age")
        return cls(about, expression=expression, parts=parts)

    @property
    def entries(self) -> tuple[float, ...]:
        """The quantiles, as they number the answers."""
        return tuple(float(part) for part in self.parts)

    def check_cells(self, *, by: Sequence[str], selected: bool, unit: str | None) -> None:
        """Refuse to select groups, for more numbers than can be drawn for every group there might be."""
        if selected and len(self._bound().names) > _MOST_SELECTED:
            rule = f"cannot be with more than {_MOST_SELECTED} bins: those of groups that nobody is in are counted too"
            raise BadInput("select_groups", rule, "declare the groups, or give fewer bins")

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "shares": _listed(self.parts), "column": self.about}

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[BinNodes]:
        """Return noise on every bin's count at the ε of the guarantee: half of it, where an exchange moves two."""
        bins, pair = self._bound(), pure_pair(privacy, self.name)
        noise = cast(Privacy, halved(pair)) if relation == NeighbouringRelation.EXCHANGE else pair
        return NoisyQuantiles(noise, pair, self.parts, bins.names, bins.edges)


def _listed(parts: Sequence[Fraction]) -> str:
    return ",".join(map(rational_text, parts))
