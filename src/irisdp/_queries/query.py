"""What a query is: a question about each cell of a table, and everything that depends on which question it is.

A query knows how it is written, which statistics it needs, which node of a small graph they put a cell on, and which
mechanism answers about such nodes. To add one, write a class in a file of its own and a row in `_queries/registry.py`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, cast

from .._measurements import Measurement, MeasurementInput
from .._tables import Column, Table
from ..errors import BadInput
from ..privacy import Guarantee, Privacy, as_pairs
from .statistics import CountsByGroup, Statistics, count_records

if TYPE_CHECKING:
    from .._measurements import DecisionDistances
    from .._tables import Condition
    from ..graphs import NeighbouringRelation
    from .groups import Groups
    from .privacy_units import ColumnChoices, PrivacyUnit


class AnswersLists(ABC):
    """A query that answers with lists.

    Attributes
    ----------
    entry : str
        What one entry is called, and the column that numbers them from 1.
    """

    __slots__ = ()

    entry: ClassVar[str]

    @property
    def entries(self) -> Sequence[Any] | None:
        """What numbers the entries; None where they are numbered from 1."""
        return None

    @abstractmethod
    def check_cells(self, *, by: Sequence[str], selected: bool, unit: str | None) -> None:
        """Refuse cells about which no list can be answered; from public facts alone."""


def entry_of(query: Any) -> str | None:
    """Return what one entry of a query's answers is called; None where an answer is no list."""
    return query.entry if isinstance(query, AnswersLists) else None


def entries_of(query: Any) -> Sequence[Any] | None:
    """Return what numbers the entries of a query's answers; None where they are numbered from 1."""
    return query.entries if isinstance(query, AnswersLists) else None


def check_list(query: Any, *, by: Sequence[str], selected: bool, unit: str | None) -> None:
    """Refuse what a query that answers with lists cannot be asked of; other queries pass."""
    if not isinstance(query, AnswersLists):
        return
    if query.entry in by:
        rule = f"names the column {query.entry!r}, as the numbers of the answers' entries are called"
        raise BadInput("by", rule, "rename it in the data")
    query.check_cells(by=by, selected=selected, unit=unit)


NodesT = TypeVar("NodesT", bound=MeasurementInput)

_MOST_SHOWN = 200


class Query(Protocol[NodesT]):
    """A question about each cell of a table.

    Attributes
    ----------
    name : str
        What it is called; `_queries/registry.py` says how it is written.
    exchange_steps : int
        Steps on a cell's add-remove graph that exchanging one of its records takes at most: a factor of the cost.
    """

    name: ClassVar[str]

    @property
    def exchange_steps(self) -> int:
        """A factor of the cost."""
        ...

    @classmethod
    def read(cls, words: Sequence[Any]) -> Self:
        """Read what follows the name; refuse what makes no sense."""
        ...

    @property
    def expression(self) -> str | None:
        """The condition, as written."""
        ...

    @property
    def column(self) -> Column | None:
        """The column it is about, with the kind its values are read as; None for questions about whole records."""
        ...

    @property
    def categories(self) -> Groups | None:
        """The declared values of that column; None where it needs none."""
        ...

    def over(self, table: Table, choices: ColumnChoices) -> Self:
        """Read the public choices of the question for a table, from its schema; refuse those it has no use for."""
        ...

    def describe(self) -> dict[str, str]:
        """Return the public description, but for the condition, for the ledger and the release."""
        ...

    def describe_values(self) -> list[str]:
        """Say how values of its column are read, where that needs saying: nobody looks whether they can be."""
        ...

    def choices(self) -> dict[str, Any]:
        """Return the public choices that belong to the question, JSON-ready; equal for equal questions."""
        ...

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> Statistics:
        """Read all that the nodes depend on, per cell; nothing else of the table is looked at."""
        ...

    def nodes(self, statistics: Statistics, relation: NeighbouringRelation) -> NodesT:
        """Return each cell's node on the graph of `relation` (see `neighbours.cell_relation`).

        The query is a morphism to that graph: a neighbour's cell is at most one step away.
        """
        ...

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[NodesT]:
        """Return what answers about a cell's nodes on the graph of `relation`, under a guarantee for one step."""
        ...


class CountsRecords:
    """Queries whose node depends on how many records are in a cell, and for how many the condition is true or false."""

    __slots__ = ()

    name: ClassVar[str]
    column: ClassVar[Column | None] = None
    categories: ClassVar[Groups | None] = None

    def over(self, table: Table, choices: ColumnChoices) -> Self:
        """Return the question unchanged, for any table."""
        choices.refuse_all_but(self.name)
        return self

    def describe_values(self) -> list[str]:
        """Return nothing: a condition says how it reads columns."""
        return []

    def choices(self) -> dict[str, Any]:
        """Return nothing: no choice belongs to it."""
        return {}

    def statistics(
        self, table: Table, *, condition: Condition | None, groups: CountsByGroup | None, unit: PrivacyUnit | None
    ) -> Statistics:
        """Count the records of each cell."""
        return count_records(table, condition=condition, groups=groups, unit=unit)


class YesOrNo(CountsRecords):
    """Queries that answer yes or no, from the depth of the truth: the balanced optimum treats the two alike."""

    __slots__ = ()

    classes: ClassVar[tuple[str, str]] = ("yes", "no")

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[DecisionDistances]:
        """Return the optimum on a line with balanced boundary rows; of either graph only the depth matters."""
        from .._measurements import DecisionMeasurement as DepthClasses  # no other kind of query has a use for depths
        from ..mechanisms import balanced_line

        return DepthClasses(balanced_line(as_pairs(privacy), outputs=self.classes), privacy)


def columns_about(query: Query[Any]) -> tuple[Column, ...]:
    """Return the columns a question is about, each with the kind its values are read as: a weighted sum has two."""
    stepped = getattr(query, "stepped", None)  # of sums and means alone
    if stepped is not None:
        return cast(tuple[Column, ...], stepped.columns)
    return () if query.column is None else (query.column,)


def as_asked(query: str, *words: str | int) -> str:
    """Write a question as a caller of Python asks it; the command line spells it in its own way.

    Examples
    --------
    >>> as_asked("at-least", 100, "age > 64")
    'publish(data, "at-least", 100, "age > 64")'
    """
    return f"publish({', '.join(['data', *(json.dumps(word, ensure_ascii=False) for word in (query, *words))])})"


def left_out(column: str, *, undeclared: bool = False) -> str:
    """Say which records an answer leaves out: those without a value of a column, or with none that was declared."""
    return (
        f"leaves out records whose {column} is not declared" if undeclared else f"leaves out records without {column}"
    )


def check_expression(expression: str | None, query: str, *between: str | int, needed: bool) -> None:
    """Refuse a query without the condition it is about, and a condition that is no text.

    What stands between the query's name and the condition is for the remedy.
    """
    if expression is None and not needed:
        return
    if not isinstance(expression, str) or not expression.strip():
        rule = "is missing" if expression is None else "must be a SQL condition"
        remedy = f"write for example {as_asked(query, *between, 'age > 64')}"
        raise BadInput("expression", f"{rule} for {query}", remedy)


def check_one_condition(words: Sequence[Any], query: str) -> None:
    """Refuse a condition that a shell or a caller took apart, and show how to quote it."""
    if len(words) <= 1:
        return
    whole = " ".join(map(str, words)) if all(isinstance(word, str | int | float) for word in words) else ""
    plain = whole.isprintable() and 0 < len(whole) <= _MOST_SHOWN and '"' not in whole
    raise BadInput(
        "query",
        f"{query} takes one condition, and it is in several words",
        f'write a whole condition, such as "{whole if plain else "age > 64"}"',
    )


def pure_pair(privacy: Guarantee, query: str) -> Privacy:
    """Return the one pair with δ = 0 that implies a guarantee: of several pairs, with the least ε.

    Raises
    ------
    BadInput
        For Gaussian privacy: no ε above 0 implies it.
    """
    if not isinstance(privacy, Privacy):
        raise BadInput("privacy", f"is not for {query}, whose mechanism keeps an ε", "give epsilon=")
    return Privacy(ratio=min(pair.ratio for pair in privacy.pairs))


def split_number(words: Sequence[Any]) -> list[Any]:
    """Return the words with the number that the first begins with as a word of its own."""
    if not words or not isinstance(words[0], str):
        return list(words)
    first, _, rest = words[0].strip().partition(" ")
    return [first, *([rest.strip()] if rest.strip() else []), *words[1:]]


def steps_of_person(query: Any) -> int:
    """Return how many steps of one record a person may take, where a mechanism is made for steps of one record.

    1 where a person has one record, or where the mechanism is made for persons. Its guarantee is then a share, and what
    it costs is that of so many steps (proofs/many-records.md, claim 8).
    """
    contribution = getattr(query, "contribution", None)
    if not isinstance(query, AnswersByRecord) or contribution is None:
        return 1
    return int(contribution.records) * (2 if contribution.exchanged else 1)


class AnswersByRecord:
    """Queries whose mechanisms are made for steps of one record, and answer about several records by group privacy."""

    __slots__ = ()

    name: ClassVar[str]

    def of_one_record(self, privacy: Guarantee) -> Privacy:
        """Return the pure guarantee of one record under which a person's records together keep a guarantee."""
        steps, pair = steps_of_person(self), pure_pair(privacy, self.name)
        if steps == 1:
            return pair
        from .._measurements import share_of  # which loads noise

        return share_of(pair, steps)
