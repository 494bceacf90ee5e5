"""A table to ask about: columns that are public, records that never leave the engine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._options import SPELLED, WRITTEN
from ..errors import BadInput
from .column_types import Declared, load_types, read_types, typed
from .columns import READER, Column, ColumnType, find_column, is_unknown_column, list_names
from .engine import guarded, over, quote_name
from .locations import Location
from .spellings import PLAIN, read_spelling

if TYPE_CHECKING:
    import pyarrow as pa

    from .kept_records import HeldRecords, KeptRecords
    from .lookups import Lookup
    from .parts import TablePart
    from .person_rows import PersonRows


class _Door:
    """All that a table has of its source: whatever copies, pickles or takes a table apart is left outside."""

    __slots__ = ("_behind",)

    def __init__(self, source: Any) -> None:
        self._behind = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)

    def close(self) -> None:
        self.rest()
        self._behind = self._closed()

    def rest(self) -> None:
        getattr(self._behind, "rest", _nothing)()

    def _closed(self) -> _Closed:
        behind = self._behind
        location, name = (getattr(behind, about, None) for about in ("location", "name"))
        return _Closed(behind.engine, location, behind.ordered, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Door, (self._closed(),)

    def __repr__(self) -> str:
        return "…"


@dataclass(frozen=True, slots=True)
class _Closed:
    """Where records were read, once they were: the name of the engine, place and name if there are, and the order."""

    engine: str
    location: Location | None
    ordered: bool
    name: str | None

    def digest(self) -> bytes:
        raise _gone()

    def run(self, statement: str, names: Sequence[str], declared: Any) -> Any:
        raise _gone()


def _nothing() -> None:
    pass


def _gone() -> BadInput:
    return BadInput("data", "is not carried along by copies and publications", "open it again")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of records, opened but not read. Copies, pickles and dictionaries made of it hold no record.

    Attributes
    ----------
    columns : tuple of Column
        Names and kinds, as questions find them; public.
    derived : tuple of Column
        Columns that a question computes of those: found by name as they are, and no part of what the table holds.
    text : dict
        How a text file is written, where that is not as usual; public, and part of every question.
    reading : str
        How a text file is read, in words for people; empty for other tables.
    types : mapping
        What is declared of columns of a text file, by their names: type and spelling; public.
    persons : PersonRows or None
        How one row is derived for each person, where the rows of a question are persons; public.
    lookups : tuple of Lookup
        Public tables whose columns are joined to the records; no part of what the table holds.
    part : TablePart or None
        Which partition of a larger table this is, if it is one; public.
    kept : KeptRecords or None
        Records of persons that were chosen for several questions; see `kept_records.py`.
    """

    columns: tuple[Column, ...]
    _source: Any = field(repr=False)
    text: dict[str, Any] = field(default_factory=dict)
    reading: str = ""
    derived: tuple[Column, ...] = ()
    types: Mapping[str, Declared] = field(default_factory=dict)
    persons: PersonRows | None = None
    lookups: tuple[Lookup, ...] = ()
    part: TablePart | None = None
    kept: KeptRecords | None = None

    def __post_init__(self) -> None:
        """Shut the source in."""
        if not isinstance(self._source, _Door):
            object.__setattr__(self, "_source", _Door(self._source))

    def close(self) -> None:
        """Let go of the records, for all who hold this table: what stays is names, kinds, and what read it."""
        self._source.close()

    def rest(self) -> None:
        """Let go of the moment that is read: a table on a server is held still from the first look at its records."""
        self._source.rest()

    def read_with(self, other: Table) -> Table:
        """Return the table, reading the records that another one of the same data reads, of the same moment.

        What a question derives stays its own: two questions may give one name to two expressions.

        Raises
        ------
        BadInput
            Where the two have other columns, or read them otherwise: then the data was altered between their openings.
        """
        if (self.columns, self.text, self.types) != (other.columns, other.text, other.types):
            raise BadInput("data", "was altered while it was looked at", "ask again; nothing was spent")
        return replace(self, _source=other._source)

    def hold(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> HeldRecords | None:
        """Run a statement over `data` and hold what it finds; None where the source cannot hold anything.

        Raises
        ------
        BadInput
            Where the engine fails, for want of memory for example.
        """
        hold = getattr(self._source, "hold", None)
        if hold is None:
            return None
        rule, remedy = "could not be read to the end by its engine", "check that it is intact"
        held: HeldRecords = guarded(lambda: hold(statement, names, declared), rule, remedy)
        return held

    def reading_kept(self, kept: KeptRecords, held: HeldRecords) -> Table:
        """Return the table, of which some records are held."""
        from .kept_records import PartlyHeld

        return replace(self, _source=PartlyHeld(self._source._behind, held, kept), kept=kept)

    def without_records(self) -> Table:
        """Return the table as it would be without records; nothing of it can be read, and its digest is no version."""
        from .no_records import NoRecords

        return replace(self, _source=NoRecords())

    @property
    def path(self) -> Path | None:
        """The file, all links followed; None where the table is no file."""
        return None if self.location is None else self.location.path

    @property
    def location(self) -> Location | None:
        """Where the table lies, and what it is called there; None where it is a frame."""
        found = getattr(self._source, "location", None)
        return found if isinstance(found, Location) else None

    @property
    def called(self) -> str | None:
        """What the table is called: by its place, or by its server; None where it is a frame."""
        name = getattr(self._source, "name", None) if self.location is None else self.location.name
        return name if isinstance(name, str) else None

    @property
    def held(self) -> tuple[Column, ...]:
        """The columns as the table holds them: those of a text file are untyped, whatever is declared."""
        return tuple(source for column in self.columns for source in column.sources)

    @property
    def row_columns(self) -> tuple[Column, ...]:
        """The columns of the rows that a question counts: of records, or of persons."""
        return self.of_records if self.persons is None else self.persons.columns

    @property
    def of_records(self) -> tuple[Column, ...]:
        """The columns of a record: the table's own, and those that lookups join to it."""
        return (*self.columns, *(column for lookup in self.lookups for column in lookup.columns))

    @property
    def named(self) -> tuple[Column, ...]:
        """All columns that a question can name: those of the rows, and those derived of them."""
        return (*self.row_columns, *self.derived)

    def per_person(self, aggregates: Any, unit: str) -> Table:
        """Return the table with one row for each person, as `read_person_rows` reads it; the records stay."""
        from .person_rows import read_person_rows

        return replace(self, persons=read_person_rows(aggregates, self.column(unit, "unit"), self.of_records))

    def within(self, part: TablePart) -> Table:
        """Return the part of the table that is one partition: files of a folder, records, or what is declared to be.

        Raises
        ------
        BadInput
            For a column that there is not, or that cannot divide it, and a value that it cannot have.
        """
        from .parts import records_of

        named, location = part.column.casefold(), self.location
        column = next((each for each in self.columns if each.name.casefold() == named), None)
        if part.is_declared:
            if column is not None:
                rule = f"says that all of the table is {part.column} {part.value}, and {column.name} is a column of it"
                raise BadInput("partition", rule, f"write {column.name}={part.value}")
            return replace(self, part=replace(part, reading="files"))
        if location is not None and location.part and location.part[0].casefold() == named:  # files of a folder
            return replace(self, part=replace(part, column=location.part[0], reading="folders"))
        if column is None:
            names = list_names([each.name for each in self.columns], 10)
            days = '; a column of dates is divided by a period, as in "day by month=2026-01"'
            raise BadInput(
                "partition",
                f"names the column {part.column!r}, which the data does not have",
                f"choose from {names}{days}",
            )
        read_by = self._source._behind, self.types.get(column.name), self.text
        source, only = records_of(self._source, column, part, self.columns, self.held, read_by)
        return replace(self, _source=source, part=only)

    def deriving(self, columns: Sequence[Column]) -> Table:
        """Return the table with derived columns to be found in it; its records and its digest stay as they are."""
        return replace(self, derived=(*self.derived, *columns))

    def column(self, name: str, field: str) -> Column:
        """Return the column of that name, or raise `BadInput` for the field that named it."""
        # Whose record it is, the table says: a person is hashed by what it holds, whatever is asked.
        if field == "unit":
            self._refuse_joined(name)
        column = find_column(name, self.columns if field == "unit" else self.named, field)
        if field == "unit" and column.kind is ColumnType.NESTED:
            raise BadInput(
                "unit", f"is {column.name}, which is {column.described_kind}", "name people by text or by numbers"
            )
        return column

    def _refuse_joined(self, unit: str) -> None:
        """Refuse a unit that a lookup joins: the ledger fixes who is one person, and another lookup would change it."""
        for lookup in self.lookups:
            if any(column.name.casefold() == str(unit).casefold() for column in lookup.columns):
                rule = f"is {unit}, which comes from the lookup {lookup.name}"
                raise BadInput("unit", rule, f"name a column of the data, such as {lookup.key.name}")

    @property
    def place(self) -> str:
        """SQL for the place of a record in the order in which the table is read."""
        return f"data.{quote_name(self._place)}" if self.lookups and self.persons is None else "ROW_NUMBER() OVER ()"

    @property
    def _place(self) -> str:
        """A name that no column has, for what numbers records before a join, which keeps no order."""
        taken, name = {column.name.casefold() for column in self.of_records}, "place"
        while name in taken:
            name += "_"
        return name

    @property
    def encoding(self) -> str | None:
        """The encoding that a text file is read in; None for other tables."""
        return getattr(getattr(self._source, "form", None), "encoding", None)

    @property
    def ordered(self) -> bool:
        """Whether records have an order, which is part of what the table is recognised by; public."""
        return bool(self._source.ordered)

    @property
    def reader(self) -> str:
        """The engine that reads the records, and the version of this layer's rules; public, and part of a question."""
        return f"{READER} {self._source.engine}"

    def digest(self) -> bytes:
        """Return a digest of content and kinds: tables that any question could tell apart have different digests.

        Files and eager frames are digested byte by byte (BLAKE2b); in relations and Spark, which have no order, each
        record's readable values are (SHA-256), and then the sorted digests. A digest of private data is private: it
        goes into a ledger only under a key.
        """
        digest: bytes = guarded(self._source.digest, "could not be digested by its engine", "check that it can be read")
        return digest

    def run(self, statement: str, columns: Sequence[Column], *, placed: bool = False, **declared: pa.Table) -> pa.Table:
        """Run a statement of this layer over `data` and the relations declared, by name; the result is private.

        The statement finds columns that lookups join in `data`, and, if `placed`, what `place` names.

        Raises
        ------
        BadInput
            When the engine fails; the message holds nothing of what the engine said.
        """
        from .lookups import held_names

        if self.persons is not None:
            columns = self.persons.sources
        names = held_names(columns)
        if not names:  # every statement needs some column, if only to count records
            plain = [column for column in self.held if not column.kind.is_opaque]
            names = [(plain or list(self.held))[0].name]
        if self.lookups:
            statement, more = self._joined(statement, columns, names, placed=placed)
            declared |= more
        elif self.persons is not None:
            statement = self.persons.over(statement)
        return guarded(
            lambda: self._source.run(statement, names, declared),
            "could not be read to the end by its engine",
            "check that it is intact and, for very large tables, that memory suffices",
        )

    def _joined(
        self, statement: str, columns: Sequence[Column], names: Sequence[str], *, placed: bool
    ) -> tuple[str, dict[str, pa.Table]]:
        """Return a statement over `data` with the lookups it uses, and their relations."""
        from .lookups import join, relations, used_lookups

        used = used_lookups(self.lookups, columns)
        if self.persons is not None:
            return self.persons.over(statement, f"({join(used)}) AS data" if used else "data"), relations(used)
        if not used and not placed:
            return statement, {}
        rows = f"WITH data AS ({join(used, names, place=self._place if placed else None)})"
        return over(rows, statement), relations(used)


HOW_TO_OPEN = (*WRITTEN, "types", "engine", "master", "lookup", "on")
"""The arguments of `open_table`."""


def open_table(
    data: Any,
    *,
    types: Any = None,
    engine: str | None = None,
    master: str | None = None,
    any_names: bool = False,
    lookup: Any = None,
    on: Any = None,
    part: TablePart | None = None,
    **written: Any,
) -> Table:
    """Open DATA.

    Parameters
    ----------
    data : path or frame
        A .csv, .tsv or .jsonl file, perhaps compressed (.csv.gz, .csv.zst), a .parquet file, or a folder of these, a
        .xlsx, .dta, .sav or .zsav file. Or
        an address of a table (sqlite:///FILE#TABLE, postgresql://HOST/DATABASE#TABLE). Or any frame that Narwhals
        knows: pandas, Polars (eager or lazy), PyArrow, a DuckDB relation, a PySpark DataFrame.
    types : mapping or path, optional
        What columns of a text file are read as, and all columns of JSON lines; see `column_types.py`.
    engine, master : str, optional
        What reads a Parquet file or folder, and on which cluster; see `spark_files.py`.
    any_names : bool
        Whether to open a text file whose header has names that cannot be those of columns, for its owner to look at.
    lookup, on : optional
        Public tables to join, and the key of each; see `lookups.py`.
    part : TablePart, optional
        Which partition of the table to open; see `parts.py`.
    **written
        How a text file is written: the options `WRITTEN` of `text_files.py`.

    Raises
    ------
    BadInput
        For anything else, and what cannot be read; the message holds nothing of the records.
    """
    if engine is not None or master is not None:
        from .spark_files import check_engine

        check_engine(engine, master)
    if lookup is None and on is None:
        return _open(data, types, engine, master, written, any_names=any_names, part=part)
    from .lookups import bind_lookups, read_raw_lookups, split_types

    raw = read_raw_lookups(lookup, on, data)
    own, joined = split_types(load_types(types), raw)
    table = _open(data, own or None, engine, master, written, any_names=any_names, part=part)
    lookups, declared = bind_lookups(raw, table.columns, joined)
    return replace(table, lookups=lookups, types={**table.types, **declared})


def _open(
    data: Any,
    types: Any,
    engine: str | None,
    master: str | None,
    written: dict[str, Any],
    *,
    any_names: bool,
    part: TablePart | None,
) -> Table:
    if isinstance(data, str | os.PathLike):
        from .sources import open_file

        source: Any
        columns, source = open_file(os.fsdecode(data), written, types, any_names=any_names)
        if part is not None and hasattr(source, "keys"):
            from .parts import part_of_folder

            source = part_of_folder(source, part)
        if engine == "spark":
            from .spark_files import open_with_spark

            columns, source = open_with_spark(columns, source, master)
        usual = read_spelling({name: written.get(name) for name in SPELLED})
        declared = read_types(types, columns, usual, held=getattr(source, "types", {}))
        if engine == "spark" and any(each.spelling != PLAIN for each in declared.values()):
            raise BadInput("types", "declares how text is written, which Spark does not read", "leave the engine out")
        table = Table(typed(columns, declared), source, source.form_facts, source.reading, types=declared)
        return table if part is None else table.within(part)
    from .dataframes import open_frame
    from .text_files import refuse_form

    refuse_form(written, types)
    if engine is not None:
        raise BadInput("engine", "is for files: a frame is read by what holds it", "leave it out")
    columns, frame_source = open_frame(data)
    table = Table(tuple(columns), frame_source)
    return table if part is None else table.within(part)


@contextmanager
def explaining_index(data: Any) -> Iterator[None]:
    """Say of a column that a question names and pandas keeps as the index how to make it a column.

    Raises
    ------
    BadInput
        What is raised inside, with that remedy where it applies.
    """
    try:
        yield
    except BadInput as error:
        if is_unknown_column(error) and (name := _asked_of_index(data, error)) is not None:
            rule = f"names the column {name!r}, which is the index of the frame and no column"
            raise BadInput(error.field, rule, "ask frame.reset_index() instead") from None
        raise


def _asked_of_index(data: Any, error: BadInput) -> str | None:
    """Return the level of a frame's index that an error about an unknown column names."""
    import narwhals as nw

    if not nw.dependencies.is_pandas_like_dataframe(data):
        return None
    levels = list(data.index.names)
    # As reset_index() names levels without a name.
    named = [f"level_{index}" if len(levels) > 1 else "index" for index in range(len(levels))]
    levels_asked = [other if level is None else level for level, other in zip(levels, named, strict=True)]
    rule = error.rule.casefold()
    return next((name for name in levels_asked if isinstance(name, str) and f" {name!r},".casefold() in rule), None)
