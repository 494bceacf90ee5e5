"""The subject of a question: a line for people, and facts that decide when two questions are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._ledger import LedgerScope, Partition, pinned_columns
from .._queries import ContributionBounds, Groups, PerUnitRule, cell_relation, describe_unit
from .._tables import (
    SQL_TYPES,
    Column,
    ColumnType,
    Derivation,
    Note,
    Table,
    casts_to_whole,
    lineage,
    note_of_partition,
    readers_alike,
    used_lookups,
    written_as,
)
from ..graphs import NeighbouringRelation

if TYPE_CHECKING:
    from .._tables import Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalQuestion:
    """The question without its accuracy.

    Attributes
    ----------
    line : str
        For people.
    unit_rule : str or None
        What stands for a person, in one line; a part of the question.
    every_person : bool
        Whether the question counts persons, all of them, so that no record of a person is left out.
    cell_relation : NeighbouringRelation
        The relation whose graph a cell lives on.
    columns : tuple of (str, str)
        Each column that is used, and what it is read as, in words.
    rules : str
        How a text file is read: nothing is said of what is in it, so a wrong encoding is for people to notice.
    lookups : tuple of (mapping, str)
        Each public table that the question joins: its name and its facts for documents, and a line for people.
    notes : tuple of Note
        What the question reads otherwise than somebody may expect.
    facts : mapping
        JSON-ready; equal for all releases that can refine each other.
    chain : str or None
        Names the chain that releases are links of whose mechanism forms one; None where groups are selected.
    promise : LedgerScope
        What is taken for granted, of a table that is called by its file.
    readers : tuple of str
        What `reader` in the facts is with other releases of the engine that read the same.
    """

    line: str
    unit_rule: str | None
    every_person: bool
    cell_relation: NeighbouringRelation
    columns: tuple[tuple[str, str], ...]
    rules: str
    lookups: tuple[tuple[Mapping[str, Any], str], ...]
    notes: tuple[Note, ...]
    facts: Mapping[str, Any] = field(repr=False)
    chain: str | None = field(repr=False)
    promise: LedgerScope = field(repr=False)
    readers: tuple[str, ...] = field(default=(), repr=False)

    @property
    def reading(self) -> dict[str, str]:
        """How records are read, for documents; empty where there is nothing to say."""
        said = [*say_columns([self]), *self._rules(), *(note.fact for note in self.notes)]
        return {"reading": "; ".join(said)} if said else {}

    def describe_reading(self) -> list[str]:
        """Return lines for people about how a text file is read, and where this may differ from expectation."""
        return [*self._rules(), *map(str, self.notes)]

    @property
    def joined(self) -> dict[str, Any]:
        """The lookups, for documents, with their names; empty where there are none."""
        return {"lookups": [dict(document) for document, _ in self.lookups]} if self.lookups else {}

    def _rules(self) -> list[str]:
        return [*([self.rules] if self.rules else []), *(line for _, line in self.lookups)]

    def describe_unit(self) -> list[str]:
        """Say in a line for people what stands for a person, and for whom nothing does; none where records count."""
        if self.unit_rule is None:
            return []
        rule = f"each {self.promise.unit} counts once" if self.every_person else self.unit_rule
        return [f"{rule}; records without a value of {self.promise.unit} are left out"]


def canonical_question(
    *,
    table: Table,
    described: Mapping[str, str],
    choices: Mapping[str, Any],
    about: Sequence[Column],
    categories: Groups | None,
    condition: Condition | None,
    by: tuple[str, ...],
    groups: Groups | None,
    unit: str | None,
    per_unit: PerUnitRule | None,
    contribution: ContributionBounds,
    every_person: bool,
    relation: NeighbouringRelation,
    public_membership: bool,
    partition: Partition | None = None,
) -> CanonicalQuestion:
    """Describe a question: `described`, `choices`, `about`, `categories` are the query's own, others as in `Plan`."""
    rule = None if unit is None else describe_unit(unit, per_unit, contribution)
    if table.persons is not None:
        rule = f"one row for each {unit}, derived from all of its records"
    read = _columns(table, about, condition, by, unit)
    facts: dict[str, Any] = {
        "query": {**described} | ({"expression": condition.text} if condition else {}),
        "by": list(by),
        # Millions of keys would bloat every row of the ledger; their digest tells questions apart as well.
        "groups": None if groups is None else {"declared": len(groups), "sha256": groups.digest},
        **choices,
        "unit": unit,
        "relation": str(relation),
        "reader": table.reader,
        # Of a column of text, as it is read comes before as it is held.
        "columns": {column.name: str(column.kind) for column in reversed(read)},
    }
    computed = {column.name: column.derivation for column in read if column.derivation is not None}
    derived = {name: found.text for name, found in computed.items() if found.shown}
    facts |= {"derived": derived} if derived else {}
    noted = [note for found in computed.values() for note in found.notes]
    readings = list(_readings(table, about, categories, condition, by, groups, unit))
    documents = {
        name: table.types[name].document([kind for column, kind, _ in readings if column.name == name])
        for name in computed
        if name in table.types
    }
    types = {name: document for name, document in documents.items() if document}
    facts |= {"types": types} if types else {}
    facts |= {"text": table.text} if table.text else {}
    joined = [
        (lookup, lookup.document(names), lookup.describe(names)) for lookup, names in used_lookups(table.lookups, read)
    ]
    facts |= {"lookups": sorted((document for _, document, _ in joined), key=canonical)} if joined else {}
    if unit is not None:
        facts |= {"per_unit": per_unit and str(per_unit), "unit_rule": rule, **contribution.to_document()}
    facts |= {"public_membership": True} if public_membership else {}
    facts |= {} if partition is None else {"partition": {**partition.to_document(), **_read_part(table)}}
    # Which groups a selection names differs from draw to draw, so there is nothing to refine.
    links = groups is not None or not by
    return CanonicalQuestion(
        line=" ".join(_words(described, table, condition, by, unit, per_unit, contribution, read)),
        unit_rule=rule,
        every_person=every_person,
        cell_relation=cell_relation(
            relation, grouped=bool(by), public_membership=public_membership, several=contribution.several
        ),
        columns=_read_as(table, readings),
        rules=table.reading,
        lookups=tuple(({"name": lookup.name, **document}, line) for lookup, document, line in joined),
        notes=tuple(
            dict.fromkeys(
                [
                    *note_of_partition(table.location),
                    *(condition.notes if condition else ()),
                    *noted,
                    *(groups.notes if groups else ()),
                    *(categories.notes if categories else ()),
                    *_note_of_encoding(table, condition, computed.values(), groups, categories),
                ]
            )
        ),
        facts=facts,
        chain=hashlib.sha256(canonical(facts).encode()).hexdigest() if links else None,
        promise=LedgerScope(
            table=table.called,
            columns=pinned_columns(table, unit),
            relation=str(relation),
            unit=unit,
            public_columns=_public_columns(table, by, relation, partition, public_membership=public_membership),
            partition=partition,
        ),
        readers=_readers_alike(table, condition, read, unit, readings),
    )


def _readers_alike(
    table: Table,
    condition: Condition | None,
    read: Sequence[Column],
    unit: str | None,
    readings: Iterable[tuple[Column, ColumnType, bool]],
) -> tuple[str, ...]:
    """Return what would read the same, by other releases of the engine; none where that is not certain."""
    readers = readers_alike(table.reader)
    person = None if unit is None else table.column(unit, "unit")
    if not readers or table.lookups or table.persons is not None or (person is not None and person.kind.is_opaque):
        return ()
    names = {each.name for column in read for each in lineage(column)}
    texts = {column.name for column in table.held if column.kind in (ColumnType.UNTYPED, ColumnType.TEXT)}
    if not names & texts:
        return readers
    statements = [condition.sql("duckdb")] if condition else []
    statements += [table.part.where.sql("duckdb")] if table.part is not None and table.part.where is not None else []
    statements += [written_as(column, kind) for column, kind, _ in readings if kind in SQL_TYPES]
    # Other columns cast nothing, and writing their SQL would load its parser.
    cast = [column for column in read if column.derivation is not None or column.name in table.types]
    statements += [column.reference.sql("duckdb") for column in cast]
    return () if casts_to_whole(statements) else readers


def _public_columns(
    table: Table,
    by: tuple[str, ...],
    relation: NeighbouringRelation,
    partition: Partition | None,
    *,
    public_membership: bool,
) -> list[str]:
    """List what neighbours keep of the record they exchange: its group, if that is public, and its partition."""
    named = _table_columns(table, by) if public_membership else []
    if partition is not None and relation == NeighbouringRelation.EXCHANGE:
        named = list(dict.fromkeys([*named, partition.public]))
    return named


def _read_part(table: Table) -> dict[str, Any]:
    """Return how a record says which partition it belongs to; nothing where its folder or file does."""
    part = table.part
    if part is None or part.where is None:
        return {}
    declared = table.types.get(part.column)
    read = {} if declared is None else {"type": declared.document([kind for _, kind in part.where.readings])}
    return {"where": part.where.text, **{name: value for name, value in read.items() if value}}


_EXACT = "text (exact spelling)"


def say_columns(questions: Iterable[CanonicalQuestion]) -> list[str]:
    """Say in one line what the columns of some questions are read as; nothing where they read none."""
    read: dict[str, dict[str, None]] = {}
    for question in questions:
        for name, kind in question.columns:
            read.setdefault(name, {})[kind] = None
    if not read:
        return []
    said = ", ".join(f"{name} as {' and as '.join(kinds)}" for name, kinds in read.items())
    texts = all(kind in (ColumnType.TEXT, _EXACT) for kinds in read.values() for kind in kinds)
    return [said if texts else f"{said}; values that do not fit are null"]


def _readings(
    table: Table,
    about: Sequence[Column],
    categories: Groups | None,
    condition: Condition | None,
    by: tuple[str, ...],
    groups: Groups | None,
    unit: str | None,
) -> Iterable[tuple[Column, ColumnType, bool]]:
    """Yield the table's columns that a question uses, what each is read as, and whether by its exact spelling."""
    declared = [*(groups.columns if groups else ()), *(categories.columns if categories else ())]
    grouped = () if groups else tuple(table.column(name, "by") for name in by)
    # What is added up is a number, and what has bins is read as their edges are, of which the derived column tells.
    summed = (
        []
        if categories
        else [(each, ColumnType.NUMBER if each.kind is ColumnType.UNTYPED else each.kind) for each in about]
    )
    read = [*((each, each.kind) for each in (*declared, *grouped)), *summed]
    read += [(table.column(name, "by"), kind) for name, kind in (condition.readings if condition else ())]
    read += [] if unit is None else [(table.column(unit, "unit"), ColumnType.UNTYPED)]
    for column, kind in read:
        for found, as_, exact in _origins(column, kind):
            yield found, as_, exact or (found is column and kind is ColumnType.TEXT and column in declared)


def _origins(column: Column, kind: ColumnType) -> Iterator[tuple[Column, ColumnType, bool]]:
    """Yield the columns that a column is computed of, each with what it is read as, and whether by its exact spelling.

    A column that the table holds comes itself, and so does one that a lookup joins, before its key.
    """
    computed = column.derivation
    if computed is None or not computed.shown or computed.joined:
        yield column, kind, False
    if computed is None:
        return
    sources = {source.name: source for source in computed.columns}
    for name, as_ in computed.readings:
        if computed.joined:
            yield sources[name], as_, as_ is ColumnType.TEXT
        else:
            yield from _origins(sources[name], as_)


def _read_as(table: Table, read: Iterable[tuple[Column, ColumnType, bool]]) -> tuple[tuple[str, str], ...]:
    """Say of each column what it is read as; public facts decide."""
    readings: dict[tuple[str, str], None] = {}
    texts: dict[str, str] = {}  # of columns that are read by their exact spelling, which says more
    for column, kind, exact in read:
        readings[column.name, _word(table, column, kind, exact=exact)] = None
        if exact:
            texts[column.name] = _word(table, column, kind)
    return tuple((name, word) for name, word in readings if word != texts.get(name))


def _word(table: Table, column: Column, kind: ColumnType, *, exact: bool = False) -> str:
    """Say what a column is read as: what its schema or a declared type says, else what the question takes it for."""
    if column.kind.is_opaque:
        return "it is held"
    declared = table.types.get(column.name)
    known = kind if column.kind is ColumnType.UNTYPED else column.kind
    known = ColumnType.TEXT if known is ColumnType.UNTYPED else known
    word = _EXACT if exact else declared.type if declared and declared.type else str(known)
    spelt = declared.describe(known) if declared else ""
    return f"{word} {spelt}" if spelt else word


def _note_of_encoding(
    table: Table,
    condition: Condition | None,
    computed: Iterable[Derivation],
    groups: Groups | None,
    categories: Groups | None,
) -> list[Note]:
    """Say of declared names with letters beyond ASCII which encoding they are looked for in; no record is looked at."""
    if table.encoding != "utf-8":
        return []
    named = [*(groups.texts if groups else ()), *(categories.texts if categories else ())]
    named += [*(condition.texts if condition else ()), *(text for each in computed for text in each.texts)]
    other = next((name for name in named if not name.isascii()), None)
    if other is None:
        return []
    remedy = "if the file is written in another encoding, name it, as in encoding=windows-1252"
    return [Note(f"with {json.dumps(other[:40], ensure_ascii=False)} as UTF-8", remedy, beside_answer=True)]


def canonical(document: Any) -> str:
    """Write JSON in the one form in which equal documents are equal text."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _words(
    described: Mapping[str, str],
    table: Table,
    condition: Condition | None,
    by: tuple[str, ...],
    unit: str | None,
    per_unit: PerUnitRule | None,
    contribution: ContributionBounds,
    read: Sequence[Column],
) -> list[str]:
    computed = {column.name: _shown(column) for column in table.derived}
    words = [computed.get(word, word) if key == "column" else word for key, word in described.items()]
    if condition is not None:
        words.append(f"where {condition.shown}" if "column" in described else condition.shown)
    if by:
        words.append(f"by {', '.join(_shown(table.column(name, 'by')) for name in by)}")
    if table.part is not None:
        words.append(f"in {table.part}")
    if unit is not None:
        records = "all records" if per_unit is PerUnitRule.ALL else "any record"
        words.append(f"per {unit}" if per_unit is None else f"for {records} per {unit}")
        rows = () if table.persons is None else table.persons.columns
        shown = [_shown(column) for column in dict.fromkeys(read) if column in rows and column.name not in by]
        words += [f"({', '.join(shown)})"] if shown else []
    if contribution.several:
        words.append(f"at most {contribution.records} each")
    return words


def _table_columns(table: Table, by: tuple[str, ...]) -> list[str]:
    """List the columns that the groups come from: of an expression, whoever keeps its columns keeps its value."""
    return list(
        dict.fromkeys(
            found.name for name in by for found in lineage(table.column(name, "by")) if found.derivation is None
        )
    )


def _shown(column: Column) -> str:
    computed = column.derivation is not None and column.derivation.shown
    return f"{column.name} = {computed}" if computed else column.name


def _columns(
    table: Table, about: Sequence[Column], condition: Condition | None, by: tuple[str, ...], unit: str | None
) -> list[Column]:
    """Return the columns that the question reads; their kinds decide what their values mean.

    A derived column comes with those it is computed of.
    """
    named = [table.column(name, "by") for name in by]
    person = [] if unit is None else [table.column(unit, "unit")]
    read = [*(condition.columns if condition else ()), *about, *named, *person]
    return [each for column in read for each in lineage(column)]
