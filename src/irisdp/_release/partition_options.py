"""Which partition of a growing table a question is about: read from an option, a project file or a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from .._aliases import did_you_mean
from .._calendar import PERIOD_KINDS, period_before, periods_between
from .._exact import kind_of
from .._ledger import Partition, check_protected, check_spelling
from .._tables import Table, TablePart, hive_values, open_table
from ..errors import BadInput, ScopeRefused
from ..graphs import NeighbouringRelation

EACH, WHOLE = "each", "whole"
"""Words in place of a value: every partition by itself, and the table undivided."""
MOST_PARTITIONS = 10_000
_LONGEST = 100
_KEYS = ("column", "period", "value", "values", "from", "until", "file")
_FILE = "file:"
"""Before a column: all of the table is that partition, as the caller says, and the table has no such column."""
_EXAMPLE = 'write for example partition="month=2024-01", or "visited by month=2024-01" for a column of dates'


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """What divides a table into partitions; public.

    Attributes
    ----------
    column : str
        A hive column, a column of the records, or a name for what each file holds.
    period : str or None
        Of a column of dates, the calendar period that is one partition.
    values : tuple of str
        The partitions to publish; empty for all that there are.
    first, last : str or None
        Instead, the first and the last period. [default of the last: the one before today's]
    """

    column: str
    period: str | None = None
    values: tuple[str, ...] = ()
    first: str | None = None
    last: str | None = None

    def part(self, value: str) -> TablePart:
        """Return one partition."""
        return TablePart(self.column, value, self.period)

    def option(self, value: str) -> dict[str, str]:
        """Return the option by which one partition is asked about."""
        said = {"column": self.column, "value": value}
        return said if self.period is None else {**said, "period": self.period}

    def __str__(self) -> str:
        """Say by what the table is divided."""
        return self.column if self.period is None else f"{self.period} of {self.column}"

    def listed(self, data: Any) -> tuple[str, ...]:
        """List the partitions of a table, in order; reads no record.

        Raises
        ------
        BadInput
            Where nothing says which there are, and where two values may be one partition.
        """
        values = self.values
        if not values and self.first is not None:
            last = period_before(self.period or "", datetime.now(UTC).date()) if self.last is None else self.last
            if self.last is None and self.first > last:
                rule = f"begins with {self.first}, which is not over"
                raise BadInput("partition", rule, f'add the last one, such as until = "{self.first}"')
            values = tuple(periods_between(self.period or "", self.first, last, MOST_PARTITIONS, "partition"))
        elif not values and self.period is None:
            values = tuple(hive_values(data, self.column))
        if not values:
            _check_there(data)
            if self.period is not None:
                example = PERIOD_KINDS[self.period].example
                shown = f'{{column = "{self.column}", period = "{self.period}", from = "{example}"}}'
                remedy = f"say which is the first one, such as partition = {shown}"
            else:
                remedy = 'list them, such as values = ["2024-01", "2024-02"], or keep the data in folders COLUMN=VALUE/'
            raise BadInput("partition", f"does not say which partitions by {self} there are", remedy)
        for index, value in enumerate(values):
            try:
                check_spelling(values[:index], value, where="the table")
            except ScopeRefused as refusal:
                raise BadInput("partition", str(refusal), "write each partition in one way") from None
        return values


def _check_there(data: Any) -> None:
    """Refuse data that is not there, in the words in which all commands do."""
    if isinstance(data, Path) and not data.exists():
        open_table(data)


def read_division(value: Any) -> Division | TablePart:
    """Read what divides a table, as project and plan files say it; with a value, it is one partition.

    Raises
    ------
    BadInput
        For anything else.
    """
    if isinstance(value, str):
        head, equals, last = value.partition("=")
        column, by, period = head.strip().rpartition(" by ")
        said: dict[str, Any] = {"column": column, "period": period} if by else {"column": head.strip()}
        said |= {"value": last} if equals else {}
        if said["column"].startswith(_FILE):
            said |= {"column": said["column"].removeprefix(_FILE), "file": True}
    elif isinstance(value, Mapping):
        said = dict(value)
    else:
        raise BadInput("partition", f"must be text or names with values, not {kind_of(value)}", _EXAMPLE)
    unknown = next((str(key) for key in said if key not in _KEYS), None)
    if unknown is not None:
        remedy = did_you_mean(unknown, _KEYS) or f"choose from {', '.join(_KEYS)}"
        raise BadInput("partition", f"has {unknown[:_LONGEST]!r}, which is no part of it", remedy)
    texts: dict[str, str] = {
        key: _text(said[key]) for key in ("column", "period", "value", "from", "until") if key in said
    }
    if "column" not in texts:
        raise BadInput("partition", "does not say by which column", _EXAMPLE)
    divided = texts.get("period")
    if divided is not None and divided not in PERIOD_KINDS:
        remedy = did_you_mean(divided, PERIOD_KINDS) or f"choose from {', '.join(PERIOD_KINDS)}"
        raise BadInput("partition", f"has the period {divided!r}, which there is not", remedy)
    _check_together(said, divided)
    if "value" in texts:
        return TablePart(texts["column"], texts["value"], divided, is_declared=said.get("file") is True)
    listed = said.get("values", [])
    if not isinstance(listed, Sequence) or isinstance(listed, str) or len(listed) > MOST_PARTITIONS:
        raise BadInput("partition", "must list its values", 'write for example values = ["2024-01", "2024-02"]')
    return Division(
        column=texts["column"],
        period=divided,
        values=tuple(map(_text, listed)),
        first=texts.get("from"),
        last=texts.get("until"),
    )


def _check_together(said: Mapping[str, Any], period: str | None) -> None:
    """Refuse members that say one thing twice, or that need another."""
    ways = [key for key in ("value", "values", "from") if key in said]
    if len(ways) > 1:
        raise BadInput("partition", f"has both {' and '.join(ways)}", "leave one of them out")
    if said.get("file", True) is not True or ("file" in said and ("value" not in said or period is not None)):
        raise BadInput("partition", "declares a file without its value", "write for example file:month=2024-01")
    if "until" in said and "from" not in said:
        raise BadInput("partition", "has until without from", "add the first period")
    if "from" in said and period is None:
        raise BadInput("partition", "has from, and no calendar period", 'add for example period = "month"')


def _text(value: Any) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.strip() or not text.isprintable() or len(text) > _LONGEST:
        raise BadInput("partition", "must be a short text on one line", _EXAMPLE)
    return text.strip()


class Divided(Protocol):
    """What says how a table is divided: a project."""

    @property
    def partition(self) -> Division | None:
        """What divides the table; None if nothing does."""
        ...


def read_partition(value: Any, project: Divided | None) -> TablePart | None:
    """Read which partition a question is about; None for the whole table.

    Parameters
    ----------
    value : text or mapping, optional
        ``"month=2024-01"``, ``"visited by month=2024-01"``, or a mapping of column, period and value. Where a project
        says what divides the table, the value alone. ``"whole"`` for the undivided table.
    project : Project, optional
        What may say what divides the table.

    Raises
    ------
    BadInput
        For anything else, and where a project divides the table and nothing is chosen.
    """
    known = None if project is None else project.partition
    if value is None and known is not None:
        rule = f"is missing, and the project divides the table by {known}"
        raise BadInput("partition", rule, f"name one, such as {_example(known)}, or the whole table: {WHOLE}")
    if value is None or value == WHOLE:
        return None
    if value == EACH:
        rule = "asks for every partition, and this publishes one answer"
        raise BadInput("partition", rule, "publish it with a plan (irisdp run), or name one partition")
    if known is not None and isinstance(value, str | int) and "=" not in str(value):
        return known.part(_text(value))
    found = read_division(value)
    if isinstance(found, Division):
        raise BadInput("partition", "names no value, or no column", _EXAMPLE)
    return found


def _example(known: Division) -> str:
    if known.period is not None:
        return PERIOD_KINDS[known.period].example
    return known.values[0] if known.values else f"{known.column}=VALUE"


def divided_by(value: Any, known: Division | None) -> Division | None:
    """Return what divides a table whose every partition a plan asks about; None where it asks about one, or all of it.

    Parameters
    ----------
    value : text or mapping, optional
        As a plan says it: a column, a mapping without a value, or ``"each"`` for what the project says.
    known : Division, optional
        What the project says.

    Raises
    ------
    BadInput
        For what is no partition, and for "each" where no project says what divides the table.
    """
    if value is None or value == WHOLE:
        return None
    if value == EACH or (known is not None and value == known.column):
        if known is None:
            raise BadInput("partition", "does not say by which column", 'write for example partition = "month"')
        return known
    if known is not None and isinstance(value, str) and "=" not in value:
        return None
    found = read_division(value)
    return found if isinstance(found, Division) else None


def partition_of(table: Table, relation: NeighbouringRelation, options: Mapping[str, Any]) -> Partition | None:
    """Return the partition that a table is, as the ledger charges it; None for the whole table.

    Raises
    ------
    BadInput
        Where no charge of a partition bounds anything.
    """
    part = table.part
    if part is None:
        return None
    partition = Partition(part.column, part.value, part.period, part.reading)
    check_protected(partition.by(), str(relation), options.get("unit"), (partition.public,))
    return partition


def check_declared(table: Table, ledger: Any, name: str | None) -> None:
    """Refuse a whole file as a partition, unless the table and the ledger are named that all partitions share.

    Raises
    ------
    BadInput
        Else each file would have a ledger of its own beside it, and the same people several budgets.
    """
    part = table.part
    if part is None or not part.is_declared or (ledger is not None and name is not None):
        return
    what = "the frame" if table.location is None else table.location.path.name
    rule = f"takes all of {what} for {part}, and its other partitions are not known"
    raise BadInput("partition", rule, "name what all its partitions share: table='visits', ledger='visits.ledger'")


def in_file_name(value: str) -> str:
    """Write a partition's value as a part of a file's name."""
    return quote(value, safe="-_. ")
