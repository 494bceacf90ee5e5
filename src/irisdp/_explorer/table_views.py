"""What the page Table shows: columns with their types, and the forms of one column and of the whole table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlencode

from .._exact import so_many
from .._html import Content, Html, element, joined
from .._release import ColumnSettings, TableSettings
from ..errors import BadInput
from .form_errors import FormFault, in_labels, in_words
from .forms import Field, show_field
from .pages import fact_list, faults_note, filled_in, wrong_note
from .results import Fact
from .stateful_pages import Frame
from .table_form import NEW, NEW_TYPE, TYPE_OF, TYPES, table_fields, table_values

SHOWN = 50
"""Columns on one page."""
PARTS = (("table", "Columns"), ("table/settings", "Whole table"), ("table/check", "Check records"))
"""The parts of the page, by their addresses."""


def parts_of_page(at: str) -> Html:
    """Return the way to the other parts of the page."""
    links = [
        element("li", element("a", title, href=address, aria_current="page" if address == at else None))
        for address, title in PARTS
    ]
    return element("nav", element("ul", links), class_="parts", aria_label="Parts of this page")


# The columns.


def columns_view(
    data: str,
    settings: TableSettings,
    options: Mapping[str, str],
    *,
    first: int,
    saved: bool,
    chosen: Mapping[str, str],
) -> Html:
    """Show the columns of a table and the types that are declared, which can be chosen here.

    Parameters
    ----------
    data : str
    settings : TableSettings
    options : mapping
        Those of the command line.
    first : int
        The number of the first column that is shown, from 0.
    saved : bool
        Whether the project file was just saved.
    chosen : mapping
        What was chosen in a form that could not be saved.
    """
    note = filled_in(f"Saved in {_name(settings)}.") if saved else None
    about = fact_list(_facts(data, settings, options))
    if settings.problem and not settings.names_columns:
        return joined(note, _problem(settings), about)
    shown = settings.columns[first : first + SHOWN]
    rows = [_column_row(column, number, chosen) for number, column in enumerate(shown, first + 1)]
    form = element(
        "form",
        _hidden(version=settings.version, first=str(first)),
        element("ul", rows, class_="columns") if rows else None,
        _new_column(chosen) if settings.names_columns else None,
        element("p", element("button", "Save types", type="submit"), class_="submit") if _is_kept(settings) else None,
        method="post",
        action="table/types",
        aria_label="Types of columns",
    )
    return joined(
        note,
        wrong_note(_in_words(settings.contradiction, settings)) if settings.contradiction else None,
        about,
        element("h2", so_many(len(settings.columns), "column")),
        element("p", _HOW, class_="note"),
        form,
        _pages(settings, first),
    )


_HOW = (
    "Each query reads a column without a declared type as it needs it. Open a column for its label, groups and date "
    "format."
)


def _facts(data: str, settings: TableSettings, options: Mapping[str, str]) -> list[Fact]:
    said = settings.settings
    unit, relation = said.get("unit"), said.get("relation")
    facts = [
        Fact("Data", data, "Only the names of the columns were read, and no record."),
        Fact("Project file", _name(settings), "" if settings.is_there else _missing(settings)),
        Fact("Privacy unit", str(unit) if unit else "not declared: each record counts as a person"),
    ]
    facts += [Fact("Neighbouring tables", str(relation))] if relation else []
    facts += [Fact("Ledger", str(settings.ledger))] if settings.ledger else []
    if settings.others:
        facts.append(Fact("Also in the project file", ", ".join(settings.others), "Edit the file to change these."))
    if options:
        text = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in options.items())
        facts.append(
            Fact("Started with", text, "These options go before the project file until you stop the explorer.")
        )
    return facts


def _missing(settings: TableSettings) -> str:
    if settings.place is None:
        return "A table on a server has no folder to keep it in: start the explorer with --project FILE."
    return "Iris makes it when you save."


def _name(settings: TableSettings) -> str:
    return "none" if settings.place is None else Path(settings.place).name


def _is_kept(settings: TableSettings) -> bool:
    return settings.place is not None


def _problem(settings: TableSettings) -> Html:
    way = element("a", "Say how the file is written", href="table/settings", class_="button")
    return joined(
        wrong_note(_in_words(settings.problem, settings)), element("p", way) if settings.format_options else None
    )


def _in_words(text: str, settings: TableSettings) -> str:
    return in_labels(text, table_fields(settings), table_values(settings))


def _column_row(column: ColumnSettings, number: int, chosen: Mapping[str, str]) -> Html:
    named, about = f"type-{number}", f"about-{number}"
    type_now = chosen.get(TYPE_OF + column.name, column.type)
    told = [
        kind_in_words(column),
        *([f"label “{column.label}”"] if column.label else []),
        *([so_many(len(column.groups), "group")] if column.groups else []),
        *([f"{len(column.categories)} categories"] if column.categories else []),
        *([f"{key} {value}" for key, value in column.spelling.items()] if column.spelling else []),
    ]
    options = [element("option", words, value=key, selected=key == type_now) for key, words in _choices(type_now)]
    choice = joined(
        element("label", f"Type of {column.name}", for_=named, class_="unseen"),
        element("select", options, id=named, name=TYPE_OF + column.name, aria_describedby=about),
    )
    return element(
        "li",
        element(
            "div",
            element("a", column.name, href=address_of_column(column.name)),
            element("p", "; ".join(told), class_="help", id=about),
        ),
        choice if column.takes_type else element("p", "The file has its type.", class_="help"),
    )


def kind_in_words(column: ColumnSettings) -> str:
    """Say what the table holds in a column."""
    return {"": "not a column of the table", "untyped": "the file gives no type"}.get(column.kind, column.kind)


def _new_column(chosen: Mapping[str, str]) -> Html:
    """Ask for one more column, where the project file says which columns there are."""
    help = "JSON lines have the columns that are declared here, and no others."
    return joined(
        show_field(Field(name=NEW, label="Another column", help=help), chosen, None),
        show_field(Field(name=NEW_TYPE, label="Its type", kind="choice", choices=TYPES[1:]), chosen, None),
    )


def _choices(there: str) -> tuple[tuple[str, str], ...]:
    return TYPES if there in dict(TYPES) else (*TYPES, (there, there))


def address_of_column(name: str) -> str:
    """Return the address of the form of a column."""
    return f"table/column?{urlencode({'name': name})}"


def _pages(settings: TableSettings, first: int) -> Html | None:
    count = len(settings.columns)
    if count <= SHOWN:
        return None
    links: list[Content] = []
    for start in range(0, count, SHOWN):
        text = f"{start + 1} to {min(start + SHOWN, count)}"
        link = element("a", text, href=f"table?from={start}", aria_current="page" if start == first else None)
        links.append(element("li", link))
    return element("nav", element("ul", links), class_="parts", aria_label="More columns")


# Forms of one column, and of the whole table.


def edit_view(
    fields: Sequence[Field],
    values: Mapping[str, str],
    settings: TableSettings,
    frame: Frame,
    *,
    action: str,
    faults: Sequence[FormFault] = (),
    note: str = "",
) -> Html:
    """Show a form that changes the project file.

    Parameters
    ----------
    fields, values
    settings : TableSettings
    frame : Frame
    action : str
        Where the form is sent.
    faults : sequence of FormFault
        What is wrong with it.
    note : str
        What to say above it.
    """
    shown = [
        show_field(
            field,
            values,
            "; ".join(fault.beside for fault in faults if fault.field and fault.field.name == field.name) or None,
        )
        for field in fields
    ]
    form = element(
        "form",
        _hidden(version=settings.version),
        shown,
        element("div", element("button", f"Save in {_name(settings)}", type="submit"), class_="submit"),
        method="post",
        action=action,
        aria_label="Settings",
        novalidate=True,
    )
    return joined(
        faults_note(faults, frame) if faults else None,
        filled_in(note) if note else None,
        form if _is_kept(settings) else wrong_note(_missing(settings)),
    )


def _hidden(**values: str) -> list[Html]:
    return [element("input", type="hidden", name=name, value=value) for name, value in values.items()]


# What is wrong, in the words of a form: a project file is refused as a whole.

_OF_PROJECT = re.compile(r"in (?:[^,]|,(?! ))+, (\w+) (.*)", re.DOTALL)
_OF_COLUMN = {"types": "type", "labels": "label", "groups": "groups", "categories": "categories"}
_OF_SPELLING = re.compile(r"gives .* a (decimal|thousands|format|missing)\b")


def faults_of_project(fields: tuple[Field, ...], values: Mapping[str, str], error: BadInput) -> tuple[FormFault, ...]:
    """Return what is wrong with a form of which the project file was refused."""
    match = _OF_PROJECT.fullmatch(error.rule) if error.field == "project" else None
    if match is not None:
        section, rule = match.groups()
        spelling = _OF_SPELLING.match(rule) if section == "types" else None
        name = spelling[1] if spelling else _OF_COLUMN.get(section, section)
        if section == "labels" and any(field.name == "title" for field in fields):
            name = "title"
        if any(field.name == name for field in fields):
            error = BadInput(name, rule, error.remedy)
    return (in_words(fields, values, error),)
