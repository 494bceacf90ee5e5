"""The page Table: check the data owner's table for faults, once its button is pressed.

Only `irisdp explore DATA` has this page. What it shows depends on single records, so only the browser that was opened
with the one-time address can see it (`security.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from .._child_processes import Phase
from .._exact import so_many
from .._options import OPTIONS, WRITTEN
from .._release import check_data
from .dispatch import read_table
from .form_errors import in_labels
from .forms import Field, Tool
from .results import Answer, Fact, Result, ResultTable, Values, command_line
from .workspace import ServedTable

FOR_YOU = (
    "For you, not for publication: this page depends on single records. Nothing was written and nothing was spent."
)

_LABELS = {
    "unit": "Column that identifies a person",
    "encoding": "Encoding",
    "delimiter": "Delimiter",
    "decimal": "Decimal mark",
    "thousands": "Mark between thousands",
    "date_format": "Date format",
    "missing_codes": "Codes for missing values",
    "skip_rows": "Lines above the header",
    "header_rows": "Header rows",
    "footer_rows": "Rows at the end that are no records",
    "comment": "Mark of comment records",
}
"""The options with a field; the others come from the command line and the project file."""
_HIDDEN = "served:"
"""Begins the names of values that come from the command line and have no field."""


def table_page(served: ServedTable) -> Tool:
    """Return the page for one table."""
    hidden = {f"{_HIDDEN}{name}": value for name, value in served.options.items() if name not in _LABELS and value}

    def start(values: Values) -> Answer:
        # The time makes each press of the button a new check: the file may have changed since the last one.
        told = {"data": served.data, "project": served.project or "", "pressed": str(time.time_ns())}
        return read_table("table", check, {**values, **hidden, **{f"{_HIDDEN}{name}": told[name] for name in told}})

    return Tool(
        name="table",
        title="Table",
        summary="Which records and values of your table Iris cannot read, and the options that help.",
        introduction=f"Check {served.data} before you publish from it. The result is for you and not for publication. "
        "Where a field is empty, the project file applies, if there is one.",
        fields=tuple(_field(name, label, served.options.get(name)) for name, label in _LABELS.items()),
        answer=start,
        submit="Check this table",
        posts=True,
        private=True,
    )


def _field(name: str, label: str, value: Any) -> Field:
    option = next(option for option in OPTIONS if option.name == name)
    return Field(name=name, label=label, default=str(value or ""), help=_HELP.get(name) or option.help)


_HELP = {"unit": "Leave empty if each record is a person.", "missing_codes": "Separate several with commas: -9,99."}


def check(values: Values, say: Phase) -> Result:
    """Check the table, and word the result.

    Raises
    ------
    BadInput
        As `check_data`.
    """
    say("reading the table")
    served = {name.removeprefix(_HIDDEN): value for name, value in values.items() if name.startswith(_HIDDEN)}
    data, project = served.pop("data"), served.pop("project") or None
    del served["pressed"]
    options: dict[str, Any] = {**served, **{name: values[name] for name in _LABELS if values[name]}}
    found = check_data(data, project=project, **options)
    columns = [
        (each.name, each.read_as, f"{each.empty:,}", f"{each.unreadable:,}", ", ".join(each.examples))
        for each in found.columns
    ]
    faults = tuple(in_labels(warning, _fields_of(values), values) for warning in found.warnings)
    return Result(
        headline=f"{so_many(len(faults), 'fault')} found in {so_many(found.records, 'record')}"
        if faults
        else f"None of the faults that Iris looks for in {so_many(found.records, 'record')}",
        verdict="bad" if faults else "good",
        facts=(
            Fact("Who may see this", FOR_YOU),
            Fact("Records with too few fields", f"{found.short:,}"),
            Fact("Records with too many fields", f"{found.long:,}"),
            Fact("Values not in the encoding", f"{found.undecodable:,}", "they are read as missing"),
        ),
        tables=(
            *((ResultTable("Faults", ("what to do",), tuple((fault,) for fault in faults)),) if faults else ()),
            ResultTable("Columns", ("column", "read as", "empty", "unreadable", "examples"), tuple(columns)),
        ),
        command=_command(data, project, options),
        python=_python(data, project, options),
    )


def _fields_of(values: Values) -> tuple[Field, ...]:
    return tuple(Field(name=name, label=label) for name, label in _LABELS.items() if name in values)


def _command(data: str, project: str | None, options: Mapping[str, Any]) -> str:
    words = ["irisdp", "check", data, *([] if project is None else ["--project", project])]
    for name in (*WRITTEN, "types", "unit"):
        spelt, value = f"--{name.replace('_', '-')}", options.get(name)
        words += [spelt] if value is True else [f"{spelt}={value}"] if value else []
    return command_line(words)


def _python(data: str, project: str | None, options: Mapping[str, Any]) -> str:
    given = {**({} if project is None else {"project": project}), **options}
    arguments = "".join(f", {name}={value!r}" for name, value in given.items())
    return f"import irisdp\n\nprint(irisdp.Session({data!r}{arguments}).check().to_document())"
