"""The forms of the page Table: what the project file says of the table and its columns, and what a form changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._aliases import RELATIONS
from .._options import OPTIONS
from .._release import Change, ColumnSettings, TableSettings
from ..errors import BadInput
from .forms import Field

TYPES = (
    ("", "not declared"),
    ("integer", "integer: whole numbers"),
    ("number", "number"),
    ("text", "text"),
    ("boolean", "boolean: true or false"),
    ("date", "date"),
    ("timestamp", "timestamp: date and time"),
)
"""The types that may be declared, with words for people."""

# One column.

_NUMBERS: dict[str, tuple[str, ...]] = {"type": ("", "integer", "number")}
_DATES: dict[str, tuple[str, ...]] = {"type": ("", "date", "timestamp")}
_BLANK = 'Only if this column differs. Write a blank in double quotes: " ".'
_LIST_HELP = "Separate values with commas or lines. Put a value that holds a comma in double quotes."


def column_fields(column: ColumnSettings) -> tuple[Field, ...]:
    """Return the fields of one column."""
    return (*(_TYPE_FIELDS if column.takes_type else ()), *_WORD_FIELDS)


_TYPE_FIELDS = (
    Field(
        name="type",
        label="Type",
        kind="choice",
        choices=TYPES,
        help="Values that do not fit are read as missing, in every query.",
    ),
    Field(name="decimal", label="Decimal mark", when=_NUMBERS, example=".", help="Only if this column differs."),
    Field(name="thousands", label="Mark between thousands", when=_NUMBERS, help=_BLANK),
    Field(name="format", label="Date format", when=_DATES, example="%d.%m.%Y", help="Empty: as the whole table."),
    Field(
        name="missing",
        label="Codes for missing values",
        example="-9, 99",
        help="Separate several with commas. Empty: as the whole table.",
    ),
)
_WORD_FIELDS = (
    Field(name="label", label="Label", help="What readers of reports and charts see instead of the name."),
    Field(
        name="groups",
        label="Groups",
        kind="area",
        rows=4,
        help=f"Queries by this column use these groups if they name none. {_LIST_HELP} The project file is public: "
        "list what you know without the data.",
    ),
    Field(
        name="group_labels",
        label="Labels of groups",
        kind="area",
        rows=4,
        example="1 = Eighth grade or less",
        help="One a line: the value, an equals sign, and what readers see.",
    ),
    Field(
        name="categories",
        label="Categories",
        kind="area",
        rows=4,
        help=f"Queries about this column, such as a histogram, use these values if they name none. {_LIST_HELP}",
    ),
)


def column_values(column: ColumnSettings) -> dict[str, str]:
    """Return what the form of a column shows.

    Examples
    --------
    >>> column_values(ColumnSettings(name="town", groups=("Ely", "Wells, St Cuthbert")))["groups"]
    'Ely\\n"Wells, St Cuthbert"'
    """
    return {
        "type": column.type,
        **{key: _listed(column.spelling.get(key, ""), ",") for key in ("decimal", "thousands", "format", "missing")},
        "label": column.label,
        "groups": _listed(column.groups, "\n"),
        "group_labels": "\n".join(f"{_quoted(value, '=')} = {label}" for value, label in column.group_labels.items()),
        "categories": _listed(column.categories, "\n"),
    }


def column_changes(column: ColumnSettings, values: Mapping[str, str]) -> list[Change]:
    """Return what a form changes of a column; fields that are as they were change nothing.

    Raises
    ------
    BadInput
        Of the field that cannot be read.
    """
    before = column_values(column)
    given = {name: _line_ends(values.get(name, text)).strip() for name, text in before.items()}
    differing = {name for name, text in before.items() if given[name] != text}
    changes = []
    if differing & {"type", *_SPELLED}:
        changes.append(Change(("types", column.name), _declared(column, given, differing)))
    if "label" in differing:
        changes.append(Change(("labels", "columns", column.name), given["label"] or None))
    for name, known in (("groups", column.groups), ("categories", column.categories)):
        if name in differing:
            changes.append(Change((name, column.name), _values(given[name], known) or None))
    if "group_labels" in differing:
        changes += _label_changes(column, given["group_labels"])
    return changes


_SPELLED = ("decimal", "thousands", "format", "missing")


def _declared(column: ColumnSettings, given: Mapping[str, str], differing: set[str]) -> Any:
    """Return what the project file shall say of a type: its name alone if nothing else is declared."""
    if given["type"] not in dict(TYPES):
        raise BadInput("type", "is not one of the choices", "choose one of them")
    said: dict[str, Any] = {"type": given["type"]} if given["type"] else {}
    stands = {"decimal": _NUMBERS, "thousands": _NUMBERS, "format": _DATES}
    for key in _SPELLED:
        if given["type"] not in stands.get(key, {}).get("type", (given["type"],)) or not given[key]:
            continue
        kept = column.spelling.get(key)
        if key in differing:
            kept = _several(given[key]) if key == "missing" else _one(given[key])
        said[key] = kept
    return said["type"] if set(said) == {"type"} else said or None


def _label_changes(column: ColumnSettings, text: str) -> list[Change]:
    said: dict[str, str] = {}
    for line in filter(str.strip, text.split("\n")):
        value, sign, label = _parted(line)
        if not sign or not label or not (value or line.strip().startswith('""')):
            rule = f"has the line {line.strip()[:60]!r}, which is not a value, an equals sign and a label"
            raise BadInput("group_labels", rule, "write for example 1 = Eighth grade or less")
        if value in said:
            raise BadInput("group_labels", f"has two labels for {value[:60]!r}", "keep one of them")
        said[value] = label
    path = ("labels", "groups", column.name)
    gone = [Change((*path, value)) for value in column.group_labels if value not in said]
    return gone + [
        Change((*path, value), label) for value, label in said.items() if column.group_labels.get(value) != label
    ]


def _parted(line: str) -> tuple[str, str, str]:
    """Split a line at its first equals sign outside double quotes."""
    text = line.strip()
    if text.startswith('"'):
        value, quote, rest = _unquoted(text)
        rest = rest.strip()
        return (value, rest[:1] if quote and rest.startswith("=") else "", rest[1:].strip())
    value, sign, label = text.partition("=")
    return value.strip(), sign, label.strip()


def _unquoted(text: str) -> tuple[str, str, str]:
    """Return a text in double quotes, its last quote, and what comes behind."""
    place, value = 1, ""
    while place < len(text):
        if text[place] != '"':
            value += text[place]
        elif text[place + 1 : place + 2] == '"':
            value, place = value + '"', place + 1
        else:
            return value, '"', text[place + 1 :]
        place += 1
    return value, "", ""


# The types of many columns at once.

TYPE_OF = "type:"
"""Begins the names of fields in the list of columns, before the column's name."""
NEW, NEW_TYPE = "new", "new_type"
"""The fields of one more column, where the project file says which columns there are."""


def type_changes(columns: Sequence[ColumnSettings], values: Mapping[str, str]) -> list[Change]:
    """Return what a list of types changes; a column keeps what else is declared of it.

    Raises
    ------
    BadInput
        For a type that there is not.
    """
    changes: list[Change] = []
    if name := values.get(NEW, "").strip():
        if any(column.name.casefold() == name.casefold() for column in columns):
            raise BadInput("name", f"{name[:60]!r} is a column already", "choose its type in the list")
        changes += column_changes(ColumnSettings(name=name, takes_type=True), {"type": values.get(NEW_TYPE) or "text"})
    for column in columns:
        given = values.get(TYPE_OF + column.name, column.type)
        if column.takes_type and given != column.type:
            changes += column_changes(column, {**column_values(column), "type": given})
    return changes


# The table as a whole.

_RELATIONS = (
    ("", "not declared: each query decides"),
    ("add-remove", "add-remove: one record more or less (unbounded)"),
    ("exchange", "exchange: one record replaced (bounded)"),
)
_SWITCH = (("", "no"), ("true", "yes"))
FILE_LABELS = {
    "encoding": "Encoding",
    "delimiter": "Delimiter",
    "decimal": "Decimal mark",
    "thousands": "Mark between thousands",
    "date_format": "Date format",
    "missing_codes": "Codes for missing values",
    "skip_rows": "Lines above the header",
    "header_rows": "Header rows",
    "footer_rows": "Rows at the end that are no records",
    "no_header": "The file has no header",
    "columns": "Names of the columns",
    "row_names": "Each record begins with a row name",
    "comment": "Mark of comment records",
    "codes": "Keep the codes of a .dta or .sav file",
    "sheet": "Sheet of an .xlsx workbook",
}
"""Options that say how a file is written, as forms call them."""
_HELP = {
    "missing_codes": "Separate several with commas: -9,99.",
    "columns": "Separate them with commas.",
    "thousands": 'Write a blank in double quotes: " ". Empty for none.',
    "delimiter": "Empty for a comma, or a tab in .tsv files.",
}
_COUNTS = ("at_most", "skip_rows", "header_rows", "footer_rows")
_SWITCHES = ("no_header", "row_names", "codes")
_LISTS = ("missing_codes", "columns")


def table_fields(settings: TableSettings) -> tuple[Field, ...]:
    """Return the fields of the settings of a whole table."""
    names = [(column.name, column.name) for column in settings.columns if column.kind]
    unit = Field(
        name="unit",
        label="Column that identifies a person",
        kind="choice" if names else "text",
        choices=(("", "none: each record is a person"), *names) if names else (),
        help="The privacy unit. Choose none if each record is a person.",
    )
    return (
        unit,
        Field(name="relation", label="Neighbouring tables", kind="choice", choices=_RELATIONS),
        Field(
            name="at_most",
            label="Records of each person that count",
            help="For queries that do not say how many records of a person count.",
        ),
        Field(
            name="limit",
            label="Limit of the ledger",
            example="1,1e-6",
            help="The most that may ever be spent: ε, or ε and δ with a comma between; or mu=1, or rho=1/2.",
        ),
        Field(name="title", label="Title of reports and charts"),
        *_format_fields(settings.format_options),
    )


def _format_fields(options: Sequence[str]) -> tuple[Field, ...]:
    usual = {option.name: option.help for option in OPTIONS}
    return tuple(
        Field(
            name=name,
            label=label,
            kind="choice" if name in _SWITCHES else "text",
            choices=_SWITCH if name in _SWITCHES else (),
            help=_HELP.get(name, "" if name in _SWITCHES else usual[name]),
            when={"no_header": ("true",)} if name == "columns" else {},
        )
        for name, label in FILE_LABELS.items()
        if name in options
    )


def table_values(settings: TableSettings) -> dict[str, str]:
    """Return what the form of a whole table shows."""
    said = settings.settings
    values = {field.name: _listed(said.get(field.name, ""), ",") for field in table_fields(settings)}
    unit = next((each.name for each in settings.columns if each.name.casefold() == values["unit"].casefold()), "")
    return {**values, "unit": unit or values["unit"], "relation": RELATIONS.get(values["relation"], values["relation"])}


def table_changes(settings: TableSettings, values: Mapping[str, str]) -> list[Change]:
    """Return what a form changes of the settings of a whole table.

    Raises
    ------
    BadInput
        Of the field that cannot be read.
    """
    changes = []
    for name, before in table_values(settings).items():
        text = _line_ends(values.get(name, before)).strip()
        if text == before:
            continue
        path = ("labels", "title") if name == "title" else (name,)
        changes.append(Change(path, _of_table(name, text) if text else None))
    return changes


def _of_table(name: str, text: str) -> Any:
    if name in _COUNTS:
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise BadInput(name, f"must be a whole number, not {text[:40]!r}", "write for example 1")
        return int(text)
    if name in _SWITCHES:
        return True
    return _several(text) if name in _LISTS else _one(text)


# What a check of the records suggests.

_OPTION = re.compile(rf"\b({'|'.join(('unit', *FILE_LABELS))})=('[^']*'|\"[^\"]*\"|[^\s,;:]+)")
_TYPE = re.compile(r'types=… with \{"([^"]*)": "([a-z]+)"\}')


def suggested(warning: str) -> list[dict[str, str]]:
    """Return what a fault suggests, each a choice: values of the form of the whole table, or a column and its type.

    Examples
    --------
    >>> suggested("pay holds '1.234,5': say decimal=',' and thousands='.'")
    [{'decimal': ',', 'thousands': '.'}]
    >>> suggested("born holds dates: say date_format='%d/%m/%Y' or date_format='%m/%d/%Y'")
    [{'date_format': '%d/%m/%Y'}, {'date_format': '%m/%d/%Y'}]
    >>> suggested('id has leading zeros: say types=… with {"id": "text"}')
    [{'column': 'id', 'type': 'text'}]
    >>> suggested("the first line may be a record. If it is one, say no_header=True, columns=…; else rename them.")
    []
    """
    match = _TYPE.search(warning)
    if match is not None:
        return [{"column": match[1], "type": match[2]}]
    found = [(name, _of_option(text)) for name, text in _OPTION.findall(warning)]
    if not found or re.search(r"\w=…", warning):
        return []
    several = len({name for name, _ in found}) < len(found)
    return [{name: value} for name, value in found] if several else [dict(found)]


def _of_option(text: str) -> str:
    """Return what a form shows for an option that a message writes as Python does."""
    if text[0] in "'\"" and text[-1] == text[0] and len(text) > 1:
        return _listed(text[1:-1].replace("\\t", "\t"), "\n") if text.count('"') < 3 else text[1:-1]
    return {"True": "true"}.get(text.rstrip("."), text.rstrip("."))


# Values as text, and back: in double quotes where blanks, commas or quotes belong to them.

_PART = re.compile(r'(?:^|[,\n])[^\S\n]*("(?:[^"]|"")*"|[^,\n]*)')


def _listed(value: Any, between: str) -> str:
    """Write a value, or a list of values, as a field shows it."""
    if isinstance(value, list | tuple):
        return between.join(_quoted(each, ",") for each in value)
    return "" if value in ("", None) else _quoted(value, "\n")


def _quoted(value: Any, mark: str) -> str:
    text = _plain(value)
    odd = not text or text != text.strip() or any(each in text for each in (mark, '"', "\n", "\r"))
    return '"' + text.replace('"', '""') + '"' if odd else text


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _one(text: str) -> str:
    """Read one value back."""
    return _unquoted(text)[0] if text.startswith('"') and _unquoted(text)[1:] == ('"', "") else text


def _several(text: str) -> list[str]:
    """Read several values back, which are separated by commas or lines."""
    return [_one(part.strip()) for part in _PART.findall(_line_ends(text)) if part.strip()]


def _values(text: str, known: Sequence[Any]) -> list[Any]:
    """Read a list of values back; those that are there already stay as they are written there."""
    there = {_plain(value): value for value in known}
    return [there.get(value, value) for value in dict.fromkeys(_several(text))]


def _line_ends(text: str) -> str:
    """Return a text with the line ends that the page had: browsers send others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
