"""apply MECH.json [EXPR or COLUMN]: the answer of a designed mechanism about each cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..cells import CellMechanism, DesignedAnswers, PlacedNodes
from ..errors import BadInput
from ..graphs import Gaps, Path, SortedHistograms
from ..privacy import Guarantee
from .bins import Bins, read_bins
from .categories import CategoryCounts, count_categories, read_categories
from .choices import Choices
from .columns import Column
from .expression import Condition
from .groups import Groups
from .mechanism_files import CheckedFile, check_private, read_checked
from .neighbours import Relation
from .persons import Unit
from .query import as_asked, check_expression, check_one_condition
from .statistics import Cells, Statistics, count_records
from .table import Table

__all__ = ["Apply", "apply_words"]

_IN_ONE_TEXT = re.compile(r"(?P<file>.+?\.json)\s+(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL)


def apply_words(words: Sequence[str]) -> list[str]:
    """Return the file, and what it is applied to, of words that may hold both in one text."""
    found = _IN_ONE_TEXT.fullmatch(words[0].strip()) if len(words) == 1 else None
    return list(words) if found is None else [found["file"], found["rest"]]


@dataclass(frozen=True, slots=True)
class Apply:
    """What a mechanism file answers about each cell, where its graph is a family of counts.

    - A *path* 0..n: the number of records for which a condition is true (of all without one), at most n. Both relations
      move it by one step at most.
    - *Histograms* of N records: how many have each declared category and, last, how many have none of them. Only under
      exchange, where N is public; without the last one a record might be in no histogram.
    - *Sorted histograms*: the same numbers, largest first.
    - *Gaps*: how far each declared category is behind the largest, at most the cap. Under exchange a record may also
      come to be in no category, or the other way: that the file is private under such moves is checked, too.

    proofs/designed-answers.md.

    Parameters
    ----------
    checked : CheckedFile
        The mechanism, as it was read and checked.
    file : Path
        Where it was read.
    expression : str, optional
        SQL condition, for a path.
    about : str, optional
        Name of the column, for the other families.
    categories : Groups, optional
        Bound by `over`.
    bins : Bins, optional
        Bound by `over`, where categories are bins.
    """

    checked: CheckedFile
    file: FilePath = field(compare=False)
    expression: str | None = None
    about: str | None = None
    categories: Groups | None = field(default=None, repr=False)
    bins: Bins | None = field(default=None, repr=False)

    name: ClassVar[str] = "apply"

    @property
    def exchange_steps(self) -> int:
        """Steps on a cell's add-remove graph that exchanging a record takes: of gaps two, where two counts move."""
        return 2 if isinstance(self.checked.family, Gaps) else 1

    @classmethod
    def read(cls, words: Sequence[Any]) -> Apply:
        """Read ``MECH.json [EXPR or COLUMN]``."""
        parts = list(words)
        if not parts or not isinstance(parts[0], str) or not parts[0].strip():
            raise BadInput("mechanism", "is missing for apply", f"write for example {cls._example()}")
        parts = apply_words(parts)
        checked, others = read_checked(parts[0].strip()), parts[1:]
        file = FilePath(parts[0].strip())
        if isinstance(checked.family, Path):
            check_one_condition(others, cls.name)
            expression = others[0] if others else None
            check_expression(expression, cls.name, "MECH.json", needed=False)
            return cls(checked, file, expression)
        if len(others) != 1 or not isinstance(others[0], str) or not others[0].strip():
            rule = "needs one column for a mechanism about categories"
            raise BadInput("query", f"apply {rule}", f"write for example {as_asked(cls.name, 'MECH.json', 'party')}")
        return cls(checked, file, None, others[0].strip())

    def over(self, table: Table, choices: Choices) -> Apply:
        """Choose the categories for a table, as many as the mechanism's graph allows."""
        if self.about is None:
            choices.refuse_all_but("apply to a count")
            return self
        binned = None
        if choices.bins is not None:
            choices.refuse_all_but("apply with bins", "bins")
            binned = read_bins(table, self.about, choices.bins)
        found = binned.groups if binned else read_categories(table, self.about, choices.categories, self.name)
        family = self.checked.family
        assert not isinstance(family, Path)
        room = family.categories if isinstance(family, Gaps) else family.types - 1
        if len(found) != room:
            rest = "" if isinstance(family, Gaps) else ": its last type counts the records that have none of them"
            field_name = "bins" if binned else "categories"
            raise BadInput(
                field_name, f"must be {room} for this mechanism, not {len(found)}{rest}", "declare that many"
            )
        return replace(self, about=found.columns[0].name, categories=found, bins=binned)

    @property
    def column(self) -> Column | None:
        """The column, with the kind its values are read as; None for a count."""
        return None if self.categories is None else self.categories.columns[0]

    def describe(self) -> dict[str, str]:
        """Return the public description: the mechanism by its digest, never by a name that somebody gave it."""
        about = {} if self.about is None else {"column": self.about}
        return {"query": self.name, "mechanism": self.checked.digest[:16], **about}

    def describe_values(self) -> list[str]:
        """Return nothing: a condition says how it reads columns, and what is no declared category is in none."""
        return []

    def choices(self) -> dict[str, Any]:
        """Return which categories there are, and in which order: the mechanism tells them apart by their places."""
        if self.categories is None:
            return {}
        found = self.categories
        binned = {} if self.bins is None else {"bins": [str(edge) for edge in self.bins.edges]}
        return {
            "categories": {"declared": len(found), "sha256": found.digest, "order": found.shown.tolist()},
            **binned,
        }

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: Cells | None, unit: Unit | None
    ) -> Statistics | _Sized:
        """Count the records of each cell, and those in each category."""
        if self.categories is None:
            return count_records(table, condition=condition, groups=groups, unit=unit)
        within = self.bins.within(table) if self.bins is not None else table
        found = count_categories(within, self.categories, groups=groups, unit=unit)
        if isinstance(self.checked.family, Gaps):
            return _Sized(found, None)
        return _Sized(found, count_records(table, groups=groups, unit=unit).total)

    def nodes(self, statistics: Statistics | _Sized, relation: Relation) -> PlacedNodes:
        """Return where each cell is among the mechanism's inputs."""
        family = self.checked.family
        if isinstance(statistics, Statistics):
            assert isinstance(family, Path)
            return PlacedNodes(np.minimum(statistics.yes, family.n - 1))
        assert self.categories is not None
        assert not isinstance(family, Path)
        counts = statistics.categories.counts[:, self.categories.shown]
        if isinstance(family, Gaps):
            gaps = counts.max(axis=1, keepdims=True) - counts
            return PlacedNodes(family.ranks(np.minimum(gaps, family.largest)))
        assert statistics.total is not None
        if (statistics.total != family.total).any():
            rule = f"is for {family.total} records, and that is not how many there are, which is taken as public"
            raise BadInput("mechanism", rule, "design one for that many")
        rest = statistics.total - counts.sum(axis=1)
        counts = np.concatenate([counts, rest[:, np.newaxis]], axis=1)
        if isinstance(family, SortedHistograms):
            counts = -np.sort(-counts, axis=1)
        return PlacedNodes(family.ranks(counts))

    def mechanism(self, privacy: Guarantee, relation: Relation) -> CellMechanism[PlacedNodes]:
        """Return the mechanism itself, if it is one for the cells' relation; its privacy is its own."""
        _check_relation(self.checked, relation)
        found = self.checked
        return DesignedAnswers(found.mechanism, found.names, self._categories(), found.description(), found.proven())

    def _categories(self) -> tuple[str, ...] | None:
        """Return the categories in the order declared, where the answers are their places."""
        found = self.checked
        if self.categories is None or not isinstance(found.family, Gaps) or found.names is None:
            return None
        if set(found.names) != set(range(found.family.categories)):
            return None
        names = self.categories.names
        return tuple(str(names[row]) for row in self.categories.shown.tolist())

    @classmethod
    def _example(cls) -> str:
        return as_asked(cls.name, "MECH.json", "age > 64")


@dataclass(frozen=True, slots=True, eq=False)
class _Sized:
    """Records by category, and how many there are in all where that matters; private, and not shown by `repr`."""

    categories: CategoryCounts = field(repr=False)
    total: NDArray[np.int64] | None = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.categories)


def _check_relation(checked: CheckedFile, relation: Relation) -> None:
    """Refuse a mechanism for another relation than the cells'; the map to its graph would be no morphism."""
    family = checked.family
    if isinstance(family, Path):
        return
    if isinstance(family, Gaps):
        if family.relation != relation.value:
            rule = f"is for neighbours by {family.relation}, and those of each cell are by {relation.value}"
            raise BadInput("mechanism", rule, "design one for that relation, or ask with the other relation=")
        if relation is Relation.EXCHANGE:  # a record may come to be in no category
            check_private(checked.mechanism, Gaps(family.categories, family.largest, "add-remove"))
        return
    if relation is not Relation.EXCHANGE:
        rule = "is for a public number of records, which neighbours by add-remove have not in common"
        raise BadInput(
            "mechanism", rule, "ask with relation='exchange', and without groups unless membership is public"
        )
