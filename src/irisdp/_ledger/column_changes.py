"""The columns of a ledger's table change: the owner records it as one line of the history, and every charge stays.

A ledger adds up what releases reveal of a record, whatever its columns were at the time. So a table that gets a column
stays in its ledger (docs/decisions/ledger-scope.md). The columns that say who is a neighbour of whom stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._frames import InOneLine
from .._tables import Table
from ..errors import BadInput, Refusal
from .entries import LOSS, keep_facts, pin, pinned_facts
from .history import fixed_columns, record, same_column, with_columns
from .migration import begin
from .same_records import names_column
from .scope import check_scope
from .store import LedgerTransaction


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnChange(InOneLine):
    """How a table's columns differ from those that its ledger knows; all of it public.

    Attributes
    ----------
    added, dropped : mapping
        The kind of each column that is new, and of each that is gone.
    changed : mapping
        By column, its spelling and kind before and now, where these differ.
    same : str or None
        The earlier data, or the partitions of it, whose answers stay valid: it holds the same records in all other
        columns.
    others : tuple of str
        Partitions that hold other records than before.
    """

    added: Mapping[str, str]
    dropped: Mapping[str, str]
    changed: Mapping[str, tuple[str, str]]
    same: str | None = None
    others: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_none(self) -> bool:
        """Whether the columns are those that the ledger knows."""
        return not (self.added or self.dropped or self.changed)

    def _summary(self) -> str:
        return "; ".join(f"{what} {words}" for what, words in self.describe())

    def describe(self) -> list[tuple[str, str]]:
        """Say in lines for people what changes, each with its heading."""
        lines = [
            (what, ", ".join(f"{name} ({kind})" for name, kind in columns.items()))
            for what, columns in (("added", self.added), ("dropped", self.dropped))
            if columns
        ]
        if self.changed:
            changes = (f"{name} from {before} to {now}" for name, (before, now) in self.changed.items())
            lines.append(("changed", ", ".join(changes)))
        if self.is_none:
            lines.append(("columns", "those that the ledger knows"))
        if self.same is not None:
            lines.append(("answers", f"about {self.same} stay valid for questions that use no added or changed column"))
        if self.others:
            lines.append(("anew", f"questions about {', '.join(self.others)}, which holds other records than before"))
        return lines

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "added": dict(self.added),
            "dropped": dict(self.dropped),
            "changed": {name: list(kinds) for name, kinds in self.changed.items()},
            "same_records": self.same,
            **({"other_records": list(self.others)} if self.others else {}),
        }


def pinned_columns(table: Table, unit: str | None) -> dict[str, str]:
    """Return the kinds of all columns as the table holds them, and of the unit as it is read.

    A declared type is a way to read one record, so releases with and without it speak of the same neighbours; but that
    of the unit says which records are one person's (docs/decisions/text-files.md).
    """
    kinds = {column.name: column.kind.name.lower() for column in table.held}
    declared = None if unit is None else table.types.get(table.column(unit, "unit").name)
    if declared is None or declared.type in (None, "text"):
        return kinds
    # Codes for missing persons leave persons out, and make no two of them one.
    person = declared.document((), codes=False)
    text = json.dumps(person, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return kinds | {str(unit): person if isinstance(person, str) else text}


def check_declared(rows: LedgerTransaction, name: str, table: Table, *, unit: str | None, relation: str | None) -> None:
    """Refuse settings of a table that its ledger contradicts: columns, and unit and relation if they are declared.

    Raises
    ------
    ScopeRefused
        As for a release.
    """
    asked: dict[str, Any] = {"columns": pinned_columns(table, unit)}
    asked |= {} if unit is None else {"unit": unit}
    asked |= {} if relation is None else {"relation": relation}
    check_scope(pinned_facts(rows, name), asked, name)


def compare_columns(rows: LedgerTransaction, name: str, table: Table) -> ColumnChange:
    """Compare columns with those that are pinned.

    Raises
    ------
    BadInput
        Where no columns are pinned yet.
    Refusal
        For a change that cannot be recorded.
    """
    pinned = pinned_facts(rows, name)
    if "columns" not in pinned:
        rule = f"{name} knows no columns yet: the first release pins them"
        raise BadInput("columns", rule, "publish something first")
    unit = pinned.get("unit")
    held = {column.name: "" for column in table.held}
    before = pinned["columns"]
    now = pinned_columns(table, None if unit is None or same_column(unit, held) is None else unit)
    change = ColumnChange(
        added={each: kind for each, kind in now.items() if same_column(each, before) is None},
        dropped={each: kind for each, kind in before.items() if same_column(each, now) is None},
        changed={
            each: (_told(each, there, before), _told(each, each, now))
            for each in now
            if (there := same_column(each, before)) is not None and (there, before[there]) != (each, now[each])
        },
        columns=now,
    )
    _check_fixed(pinned, change, name)
    _check_dropped(rows, change, name)
    return change


def _told(name: str, spelt: str, kinds: Mapping[str, str]) -> str:
    return kinds[spelt] if spelt == name else f"{spelt} ({kinds[spelt]})"


def _check_fixed(pinned: Mapping[str, Any], change: ColumnChange, name: str) -> None:
    """Refuse to drop or change a column that says who is a neighbour of whom."""
    for column in fixed_columns(pinned, change.columns):
        what = "is a public column"
        if column == pinned.get("unit"):
            what = "is the column of persons"
        elif column == pinned.get("partition", {}).get("column"):
            what = "divides the table into partitions"
        how = "does not have it" if same_column(column, change.columns) is None else "holds it as another type"
        raise Refusal(
            f"{column} {what} in {name}, which says what the ledger protects, and the data {how}. Keep it as it was",
            columns=[column],
        )


def _check_dropped(rows: LedgerTransaction, change: ColumnChange, name: str) -> None:
    """Refuse to drop a column that a release may have asked about."""
    if not change.dropped:
        return
    if rows.find("SELECT 1 FROM settlement WHERE fingerprint = ? LIMIT 1", (LOSS,)):
        raise Refusal(
            f"{name} was restored from a backup and does not know all its questions, so that a column which the data"
            f" does not have may be one of theirs: {', '.join(change.dropped)}. Keep it in the table, without values",
            columns=list(change.dropped),
        )
    for number, question in rows.find("SELECT id, question FROM settlement ORDER BY id"):
        for column in change.dropped:
            if names_column(str(question), column):
                line = rows.find("SELECT id FROM release WHERE settlement = ? ORDER BY id LIMIT 1", (number,))
                release = f"release #{line[0][0]}" if line else "a release"
                raise Refusal(
                    f"the data has no column {column}, and {release} of {name} asked about it, or about a text that"
                    " looks like its name. Keep it in the table, without values if need be",
                    columns=[column],
                )


def record_columns(rows: LedgerTransaction, name: str, table: Table, same: Sequence[list[Any]]) -> None:
    """Add the line to the history, and pin the columns; nothing where nothing changes.

    Parameters
    ----------
    same : sequence
        Versions of the data, each with how it is the same as an earlier one (`same_records`).
    """
    begin(rows, name)
    pin(rows, name, {})  # brings a ledger of version 0.1 to today's format
    change, facts = compare_columns(rows, name, table), pinned_facts(rows, name)
    known = facts.get("same_records", {})
    new = [[version, of] for version, of in same if _is_new(known, version, of)]
    if change.is_none and not new:
        return
    keep_facts(rows, with_columns(facts, change.columns, new))
    record(rows, "columns", {"columns": dict(change.columns), "same": new})


def _is_new(known: Mapping[str, Any], version: str, of: Mapping[str, Any]) -> bool:
    """Tell whether nothing is recorded yet of a version.

    Raises
    ------
    BadInput
        Where the version is known for another one, or the earlier one for this one.
    """
    if known.get(version) == of:
        return False
    earlier = [of["version"]]
    while (before := known.get(earlier[-1])) is not None and before["version"] not in earlier:
        earlier.append(before["version"])
    if version in known or version in earlier:
        raise BadInput("was", "is not what the ledger knows this data for", "leave was= out: its answers are found")
    return True
