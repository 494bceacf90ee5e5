"""What is declared of a table: its columns from the header or schema, and all else from its project file.

No record is read. Where the first line of a text file may be a record, the columns are not named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from .._aliases import own_names
from .._ledger import Ledger, check_declared, choose_ledger, data_location
from .._options import STRUCTURE, WRITTEN
from .._tables import (
    HOW_TO_OPEN,
    NO_HEADER,
    ColumnType,
    Table,
    explaining_index,
    is_json_lines,
    names_are_public,
    open_table,
)
from ..errors import BadInput, IrisError
from .project import ENDING, Project, apply_project, limit_to_set, read_document
from .project_edits import Change, ProjectText, save_project

OF_TABLE = ("unit", "relation", "at_most", "limit", *WRITTEN)
"""Settings of a project file that are not about one column, as far as forms show them; and the title of its labels."""
SPELLING = ("decimal", "thousands", "format", "missing")
"""What a project file may say of how one column is written, beside its type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSettings:
    """One column, and what the project file says of it; all of it public.

    Attributes
    ----------
    name : str
    kind : str
        What the table holds, in words; empty for a name that the project has and the table does not.
    takes_type : bool
        Whether a type can be declared: only of columns of text.
    type : str
        The declared type; empty if none is declared.
    spelling : mapping
        The keys `SPELLING` that are declared.
    label : str
    groups, categories : tuple
    group_labels : mapping
        From values, as text, to their labels.
    """

    name: str
    kind: str = ""
    takes_type: bool = False
    type: str = ""
    spelling: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    groups: tuple[Any, ...] = ()
    group_labels: Mapping[str, str] = field(default_factory=dict)
    categories: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """What is declared of a table; all of it public.

    Attributes
    ----------
    place : Path or None
        The project file, which need not be there; None where there is no folder to keep it in.
    version : str
        Names what the project file holds, for `save_settings`.
    columns : tuple of ColumnSettings
        Those of the table, and then other names that the project file has. Empty if the table cannot be opened.
    settings : mapping
        What the project file says, by the names `OF_TABLE` and `title`.
    others : tuple of str
        What else it says.
    ledger : Path, str or None
        Where the ledger lies, or will lie; None if that is not known.
    problem : str
        Why the table cannot be opened or its columns cannot be named; empty if they can.
    contradiction : str
        What the ledger refuses of the settings; empty if nothing.
    format_options : tuple of str
        Of `WRITTEN`, those that can say how the file is written; none of files that say it themselves.
    names_columns : bool
        Whether types say which columns there are, as they do of JSON lines.
    """

    place: Path | None
    version: str
    columns: tuple[ColumnSettings, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    ledger: Path | str | None = None
    problem: str = ""
    contradiction: str = ""
    format_options: tuple[str, ...] = ()
    names_columns: bool = False

    @property
    def is_there(self) -> bool:
        """Whether the project file is there."""
        return self.version != _NONE

    def column(self, name: str) -> ColumnSettings | None:
        """Return the column of a name; None if there is no such column."""
        return next((column for column in self.columns if column.name == name), None)


_NONE = ProjectText(Path(), None).version


def table_settings(
    data: Any, *, project: Any = None, ledger: Any = None, options: Mapping[str, Any] | None = None
) -> TableSettings:
    """Return what is declared of a table.

    Parameters
    ----------
    data : path or address
    project, ledger : path, optional
        As for `irisdp.Session`.
    options : mapping, optional
        Options of `irisdp.Session` that say how the table is read and where its ledger is; they go before the project
        file.

    Raises
    ------
    BadInput
        Where the project file cannot be read.
    """
    place = _place(data, project)
    text = None if place is None else ProjectText.at(place)
    said = {} if text is None or text.content is None else read_document(place, content=text.content)[1]
    opened = _opened(data, None if text is None else text.project(), ledger, options or {})
    raw = _as_written(text)
    format_options, names_columns = _kind_of_file(data)
    return TableSettings(
        place=place,
        version=_NONE if text is None else text.version,
        columns=tuple(_columns(opened.table, raw)),
        settings=_of_table(raw),
        others=tuple(name for name in said if name not in (*OF_TABLE, "types", "categories", "groups", "labels")),
        ledger=None if opened.book is None else opened.book.place,
        problem=opened.problem,
        contradiction=opened.contradiction,
        format_options=format_options,
        names_columns=names_columns,
    )


def save_settings(
    data: Any,
    changes: Sequence[Change],
    version: str,
    *,
    project: Any = None,
    ledger: Any = None,
    options: Mapping[str, Any] | None = None,
) -> TableSettings:
    """Change the project file of a table, and return what is declared then.

    Parameters
    ----------
    data, project, ledger, options
        As for `table_settings`.
    changes : sequence of Change
    version : str
        The version of the project file that the changes were made for.

    Raises
    ------
    BadInput, ScopeRefused
        If the file would be no project file, if the table could not be opened with it, if the ledger contradicts it, or
        if the file was changed meanwhile. The file is then as it was.
    """
    place = _place(data, project)
    if place is None:
        rule = "has no place: a table on a server has no folder to keep it in"
        raise BadInput("project", rule, "name a project file when you start the explorer")
    before = ProjectText.at(place)
    if before.version != version:
        rule = f"{place.name} was changed meanwhile by somebody else, or in another window"
        raise BadInput("project", rule, "open this page again, and make the change there")
    after = before.changed(changes)
    then, now = (_opened(data, text.project(), ledger, options or {}) for text in (after, before))
    # What was wrong before does not keep anybody from mending something else.
    if then.error is not None and not now.problem:
        raise then.error
    if then.refusal is not None and then.contradiction != now.contradiction:
        raise then.refusal
    save_project(before, after)
    return table_settings(data, project=project, ledger=ledger, options=options)


def ledger_of(
    data: Any, *, project: Any = None, ledger: Any = None, options: Mapping[str, Any] | None = None
) -> tuple[Ledger, Project | None]:
    """Return the ledger of a table, which need not be there yet, and the table's project; no record is read.

    Parameters
    ----------
    data, project, ledger, options
        As for `table_settings`.

    Raises
    ------
    BadInput
        Where the table cannot be opened and no ledger is named.
    """
    place = _place(data, project)
    text = None if place is None else ProjectText.at(place)
    found = None if text is None else text.project()
    if ledger is not None:
        return Ledger(ledger), found
    opened = _opened(data, found, None, options or {})
    if opened.book is None:
        assert opened.error is not None
        raise opened.error
    return opened.book, found


def _place(data: Any, project: Any) -> Path | None:
    if project is not None:
        return Path(project)
    location = data_location(data)
    return None if location is None else location.beside(ENDING)


# Open a table as questions would, without a record of it, and compare it with its ledger.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    table: Table | None = None
    book: Ledger | None = None
    error: IrisError | None = None
    """Why the table cannot be opened."""
    refusal: IrisError | None = None
    """What the ledger refuses."""
    hidden: bool = False

    @property
    def problem(self) -> str:
        if self.hidden:
            return f"The columns are not named here: {NO_HEADER}."
        return "" if self.error is None else str(self.error)

    @property
    def contradiction(self) -> str:
        return "" if self.refusal is None else str(self.refusal)


def _opened(data: Any, project: Project | None, ledger: Any, options: Mapping[str, Any]) -> _Opened:
    try:
        asked = {name: value for name, value in options.items() if name not in ("secret", "another_ledger")}
        told = apply_project(project, None, {"unit": None, "relation": None, **asked})
        with told.blamed(), explaining_index(data):
            how = cast(dict[str, Any], {name: told.options.get(name) for name in HOW_TO_OPEN})
            table = open_table(data, **how)
            public = names_are_public(table.columns)
            if public:
                _check_named(table, told.project, told.options.get("unit"))
        declared = None if project is None else project.declared_ledger
        secret, another = options.get("secret"), bool(options.get("another_ledger"))
        choice = choose_ledger(table, ledger, secret, declared=declared, another=another)
    except IrisError as error:
        return _Opened(error=error)
    book = choice.book
    if not public:  # what the ledger refuses would name the columns
        return _Opened(book=book, hidden=True)
    try:
        choice.check(book)
        relation, unit = told.options.get("relation"), told.options.get("unit")
        with book.store.reading() as rows:
            check_declared(rows, book.store.name, table, unit=unit, relation=relation)
        limit_to_set(project, book)
    except IrisError as error:
        return _Opened(table=table, book=book, refusal=error)
    return _Opened(table=table, book=book)


def _check_named(table: Table, project: Project | None, unit: str | None) -> None:
    """Refuse a unit, groups and categories of columns that the table does not have."""
    if unit is not None:
        table.column(unit, "unit")
    if project is None:
        return
    for section, columns in (("categories", project.categories), ("groups", project.groups)):
        for name in columns:
            try:
                table.column(name, section)
            except BadInput as error:
                raise BadInput("project", f"in {project.name}, {section} {error.rule}", error.remedy) from None


# What a project file says, in its own spelling.


def _as_written(text: ProjectText | None) -> dict[str, Any]:
    import tomllib

    if text is None or text.content is None:
        return {}
    read = own_names(tomllib.loads(text.content.decode("utf-8-sig"), parse_float=_Number))
    return {key.replace("-", "_"): value for key, value in read.items()}


class _Number(str):
    """A number with a point, in its own spelling."""


def _of_table(raw: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: raw[name] for name in OF_TABLE if name in raw}
    title = raw.get("labels", {}).get("title")
    return said if title is None else {**said, "title": title}


def _columns(table: Table | None, raw: Mapping[str, Any]) -> Iterator[ColumnSettings]:
    if table is None:
        return
    labels = raw.get("labels", {})
    sections = {
        "types": raw.get("types", {}),
        "groups": raw.get("groups", {}),
        "categories": raw.get("categories", {}),
        "labels": labels.get("columns", {}),
        "group_labels": labels.get("groups", {}),
    }
    known: dict[str, str] = {}
    for column in table.held:
        known[column.name.casefold()] = column.name
        untyped = column.kind is ColumnType.UNTYPED
        yield _column(column.name, column.described_kind, sections, takes_type=untyped)
    for section in sections.values():
        for name in section:
            if name.casefold() not in known:
                known[name.casefold()] = name
                yield _column(name, "", sections, takes_type=True)


def _column(name: str, kind: str, sections: Mapping[str, Any], *, takes_type: bool) -> ColumnSettings:
    def of(section: str, default: Any) -> Any:
        return next((said for key, said in sections[section].items() if key.casefold() == name.casefold()), default)

    declared = of("types", {})
    declared = {"type": declared} if isinstance(declared, str) else own_names(declared, _KEYS)
    return ColumnSettings(
        name=name,
        kind=kind,
        takes_type=takes_type,
        type=declared.get("type", ""),
        spelling={key: declared[key] for key in SPELLING if key in declared},
        label=of("labels", ""),
        groups=tuple(of("groups", ())),
        group_labels=of("group_labels", {}),
        categories=tuple(of("categories", ())),
    )


_KEYS = {"date_format": "format", "missing_codes": "missing"}


def _kind_of_file(data: Any) -> tuple[tuple[str, ...], bool]:
    """Return the options that say how the table is written, and whether its types name its columns."""
    location = data_location(data)
    if location is None or location.inner:
        return (), False
    ending = location.path.suffix.lower()
    if is_json_lines(location.path) or ending == ".parquet":
        return (), ending != ".parquet"
    left_out = {
        ".xlsx": ("encoding", "delimiter", "codes", "comment", "row_names"),
        ".dta": ("encoding", "delimiter", *(name for name in STRUCTURE if name != "codes")),
    }
    left_out |= dict.fromkeys((".sav", ".zsav"), left_out[".dta"])
    return tuple(name for name in WRITTEN if name not in left_out.get(ending, ("codes", "sheet"))), False
