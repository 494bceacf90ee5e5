"""The page Table: what is declared of the table, forms that change it, and a check of its records.

Only `irisdp explore DATA` has this page. Names of columns come from the header or schema, and all else from the project
file. Records are read by the check alone, once its button is pressed. What it shows depends on single records, so only
the browser that was opened with the one-time address can see it (`security.py`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from .._child_processes import Phase
from .._exact import so_many
from .._html import Html, element, joined
from .._options import OPTIONS, WRITTEN
from .._release import ColumnSettings, TableSettings, check_data, save_settings, table_settings
from ..errors import BadInput, IrisError
from .form_errors import FormFault, all_in_words, check_form, in_labels
from .forms import Field, Tool, read_values
from .jobs import Job, Stopped
from .pages import filled_in, room_content, show_result, wrong_note
from .results import Answer, Fact, Hint, Result, ResultTable, Values, command_line
from .stateful_pages import Handler, Visit
from .table_form import (
    FILE_LABELS,
    column_changes,
    column_fields,
    column_values,
    suggested,
    table_changes,
    table_fields,
    table_values,
    type_changes,
)
from .table_views import (
    SHOWN,
    address_of_column,
    columns_view,
    edit_view,
    faults_of_project,
    kind_in_words,
    parts_of_page,
)
from .workspace import ServedTable

# What other processes do: open the table, and change the project file.


def read_settings(values: Values, say: Phase) -> TableSettings:
    """Return what is declared of the table; no record is read."""
    say("reading the names of the columns")
    return table_settings(**of_served(values))


def change_settings(values: Values, say: Phase) -> TableSettings:
    """Change the project file as a form says, and return what is declared then.

    Raises
    ------
    BadInput, ScopeRefused
        As `save_settings`, and of the field that cannot be read.
    """
    say("changing the project file")
    served, given = of_served(values), json.loads(values["given"])
    settings = table_settings(**served)
    if settings.version != values["version"]:
        raise BadInput(
            "project",
            "was changed meanwhile by somebody else, or in another window",
            "look at what it says now, and save again",
        )
    if values["form"] == "column":
        column = settings.column(values["column"])
        if column is None:
            raise BadInput("column", f"{values['column'][:60]!r} is not there any more", "go back to the columns")
        changes = column_changes(column, given)
    elif values["form"] == "types":
        changes = type_changes(settings.columns, given)
    else:
        changes = table_changes(settings, given)
    return save_settings(served.pop("data"), changes, values["version"], **served)


def of_served(values: Values) -> dict[str, Any]:
    """Return what `served_values` was given, as arguments of `table_settings`."""
    return {
        "data": values["data"],
        "project": values["project"] or None,
        "ledger": values["ledger"] or None,
        "options": json.loads(values["options"]),
    }


def served_values(served: ServedTable, **more: str) -> dict[str, str]:
    """Return a table as text, for work in another process; the time makes each visit look at the files again."""
    return {
        "data": served.data,
        "project": served.project or "",
        "ledger": served.ledger or "",
        "options": json.dumps(_options(served)),
        "asked": str(time.time_ns()),
        **more,
    }


def _options(served: ServedTable) -> dict[str, Any]:
    """Return the options that the explorer was started with and that say how the table and its ledger are found."""
    told = {name: served.told[name] for name in _OF_SESSION if name in served.told}
    return {name: value for name, value in {**served.options, **told}.items() if value}


_OF_SESSION = ("relation", "unit", "lookup", "on", "engine", "master", "secret", "another_ledger")


class TablePage:
    """The page.

    Parameters
    ----------
    served : ServedTable
    """

    name = "table"
    title = "Table"
    summary = "The columns of your table, their types and labels, and which values Iris cannot read."
    private = True

    def __init__(self, served: ServedTable) -> None:
        self._served = served
        self._check = check_tool(served)

    def handlers(self) -> dict[tuple[str, str], Handler]:
        """Return the addresses of the page."""
        answers: dict[tuple[str, str], Handler] = {
            ("GET", "/table"): self._columns,
            ("GET", "/table/types"): self._columns,
            ("POST", "/table/types"): self._save_types,
            ("GET", "/table/column"): self._column,
            ("POST", "/table/column"): self._save_column,
            ("GET", "/table/settings"): self._whole,
            ("POST", "/table/settings"): self._save_whole,
            ("GET", "/table/suggested"): self._whole,
            ("POST", "/table/suggested"): self._suggested,
            ("GET", "/table/check"): self._check_form,
            ("POST", "/table/check"): self._check_now,
        }
        return {address: partial(self._or_why_not, handler) for address, handler in answers.items()}

    async def _or_why_not(self, handler: Handler, visit: Visit) -> Response:
        """Answer, or say what is wrong with the project file or the table."""
        try:
            return await handler(visit)
        except IrisError as error:
            return self._page(visit, "", wrong_note(str(error)), status=_status(error))

    def _page(self, visit: Visit, at: str, *content: Html, title: str = "", status: int = 200) -> Response:
        return visit.page(title or self.title, parts_of_page(at), *content, at=self.name, status=status)

    # What is declared.

    async def _settings(self, visit: Visit) -> TableSettings:
        """Read what is declared of the table in another process; raises as `table_settings`, and `Stopped`."""
        settings: TableSettings = await visit.planned(read_settings, self._values())
        return settings

    def _values(self, **more: str) -> dict[str, str]:
        return served_values(self._served, **more)

    async def _columns(
        self,
        visit: Visit,
        *,
        wrong: Html | None = None,
        chosen: Mapping[str, str] | None = None,
        first: str = "",
        status: int = 200,
    ) -> Response:
        settings = await self._settings(visit)
        first = first or visit.request.query_params.get("from", "")
        start = int(first) // SHOWN * SHOWN if first.isascii() and first.isdigit() and len(first) < 9 else 0
        saved = "saved" in visit.request.query_params and wrong is None
        options = {name: str(value) for name, value in _options(self._served).items()}
        view = columns_view(self._served.data, settings, options, first=start, saved=saved, chosen=chosen or {})
        return self._page(visit, "table", wrong or joined(), view, status=status)

    async def _save_types(self, visit: Visit) -> Response:
        given = await visit.form()
        first, version = given.pop("first", "0"), given.pop("version", "")
        values = self._values(form="types", given=json.dumps(given), version=version)
        try:
            await visit.planned(change_settings, values)
        except IrisError as error:
            note = wrong_note(str(error))
            return await self._columns(visit, wrong=note, chosen=given, first=first, status=_status(error))
        return visit.go(f"table?saved=yes{f'&from={first}' if first.isascii() and first.isdigit() else ''}")

    # One column.

    async def _column(self, visit: Visit) -> Response:
        name = visit.request.query_params.get("name", "")
        return self._column_page(visit, await self._settings(visit), name)

    def _column_page(
        self,
        visit: Visit,
        settings: TableSettings,
        name: str,
        given: Mapping[str, str] | None = None,
        faults: tuple[FormFault, ...] = (),
        note: str = "",
        status: int = 200,
    ) -> Response:
        column = settings.column(name)
        if column is None:
            raise HTTPException(404, "the table has no such column now")
        values = {**column_values(column), **(given or {})}
        view = edit_view(
            column_fields(column),
            values,
            settings,
            visit.frame,
            action=address_of_column(name),
            faults=faults,
            note=note,
        )
        lead = element("p", _about(column), class_="lead")
        back = element("p", element("a", "All columns", href="table"), class_="after")
        return self._page(visit, "", lead, view, back, title=f"Column {name}", status=status)

    async def _save_column(self, visit: Visit) -> Response:
        given = await visit.form()
        name, version = visit.request.query_params.get("name", ""), given.pop("version", "")
        values = self._values(form="column", column=name, given=json.dumps(given), version=version)
        try:
            await visit.planned(change_settings, values)
        except IrisError as error:
            settings = await self._settings(visit)
            column = settings.column(name)
            fields = () if column is None else column_fields(column)
            return self._column_page(visit, settings, name, given, _faults(fields, given, error), status=_status(error))
        return visit.go("table?saved=yes")

    # The table as a whole.

    async def _whole(self, visit: Visit) -> Response:
        return self._whole_page(visit, await self._settings(visit))

    def _whole_page(
        self,
        visit: Visit,
        settings: TableSettings,
        given: Mapping[str, str] | None = None,
        faults: tuple[FormFault, ...] = (),
        note: str = "",
        status: int = 200,
    ) -> Response:
        values = {**table_values(settings), **(given or {})}
        lead = element("p", f"All queries about {self._served.data} use these settings. {_PUBLIC}", class_="lead")
        view = edit_view(
            table_fields(settings),
            values,
            settings,
            visit.frame,
            action="table/settings",
            faults=faults,
            note=note,
        )
        return self._page(visit, "table/settings", lead, view, status=status)

    async def _save_whole(self, visit: Visit) -> Response:
        given = await visit.form()
        values = self._values(form="table", given=json.dumps(given), version=given.pop("version", ""))
        try:
            await visit.planned(change_settings, values)
        except IrisError as error:
            settings = await self._settings(visit)
            faults = _faults(table_fields(settings), {**table_values(settings), **given}, error)
            return self._whole_page(visit, settings, given, faults, status=_status(error))
        return visit.go("table?saved=yes")

    # The check of the records, and what it suggests.

    async def _check_form(self, visit: Visit) -> Response:
        values = read_values(self._check.fields, visit.request.query_params)
        note = filled_in(f"No record was read yet. Press “{self._check.submit}” to read them.")
        return self._checked(visit, values, note)

    async def _check_now(self, visit: Visit) -> Response:
        values = read_values(self._check.fields, await visit.form())
        try:
            check_form(self._check.fields, values)
        except BadInput as error:
            return self._checked(visit, values, joined(), all_in_words(self._check.fields, values, error), 400)
        # The time makes each press of the button a new check: the file may have changed since the last one.
        return visit.go(visit.start(self.name, check, {**values, **hidden_values(self._served)}))

    async def finished(self, job: Job, visit: Visit) -> Response:
        """Show what a check has found."""
        values = read_values(self._check.fields, job.values)
        try:
            return self._checked(visit, values, show_result(self._check, values, job.result(), visit.store))
        except BadInput as error:
            return self._checked(visit, values, joined(), all_in_words(self._check.fields, values, error), 400)
        except Stopped as ended:
            return self._checked(visit, values, wrong_note(str(ended)))
        except IrisError as error:
            return self._checked(visit, values, wrong_note(str(error)), status=422)

    def _checked(
        self, visit: Visit, values: Values, result: Html, wrong: tuple[FormFault, ...] = (), status: int = 200
    ) -> Response:
        content = room_content(self._check, values, result, wrong=wrong, frame=visit.frame)
        return self._page(visit, "table/check", content, status=status)

    async def _suggested(self, visit: Visit) -> Response:
        """Fill in a form with what the check suggests; nothing is saved by this."""
        given = await visit.form()
        settings = await self._settings(visit)
        name = given.pop("column", "")
        if name:
            return self._column_page(visit, settings, name, {"type": given.get("type", "")}, note=_SUGGESTED)
        codes = table_values(settings).get("missing_codes", "")
        if codes and given.get("missing_codes"):
            given["missing_codes"] = f"{codes},{given['missing_codes']}"
        known = {field.name for field in table_fields(settings)}
        filled = {option: value for option, value in given.items() if option in known}
        return self._whole_page(visit, settings, filled, note=_SUGGESTED)


_PUBLIC = "The project file keeps these settings. It is public, as is every value in it."
_SUGGESTED = (
    "The check suggests what is filled in here, by a look at the records. Save it only if these values may be public, "
    "as the project file is."
)


def _about(column: ColumnSettings) -> str:
    return f"In the table: {kind_in_words(column)}. {_PUBLIC}"


def _faults(fields: tuple[Field, ...], values: Values, error: IrisError) -> tuple[FormFault, ...]:
    if isinstance(error, BadInput):
        return faults_of_project(fields, values, error)
    return (FormFault(None, "", in_labels(str(error), fields, values)),)


def _status(error: IrisError) -> int:
    return 400 if isinstance(error, BadInput) else 200 if isinstance(error, Stopped) else 422


# The check: a form of options for one look, which are not saved.

FOR_YOU = (
    "For you, not for publication: this page depends on single records. Nothing was written and nothing was spent."
)

_LABELS = {"unit": "Column that identifies a person"} | {
    name: label
    for name, label in FILE_LABELS.items()
    if name not in ("no_header", "columns", "row_names", "sheet", "codes")
}
"""The options with a field; the others come from the command line and the project file."""
_HIDDEN = "served:"
"""Begins the names of values that come from the command line and have no field."""


def check_tool(served: ServedTable) -> Tool:
    """Return the form of the check of one table."""
    return Tool(
        name="table/check",
        title="Check this table",
        summary="",
        introduction=f"Check {served.data} before you publish from it. The result is for you and not for publication. "
        "Where a field is empty, the project file applies, if there is one.",
        fields=tuple(_field(name, label, served.options.get(name)) for name, label in _LABELS.items()),
        answer=_filled_in_first,
        submit="Check this table",
        posts=True,
        private=True,
    )


def _filled_in_first(values: Values) -> Answer:
    return Hint("Press the button of the form.")


def hidden_values(served: ServedTable) -> dict[str, str]:
    """Return what the check is given besides the fields of its form; the time makes each press a new check."""
    options = {f"{_HIDDEN}{name}": value for name, value in served.options.items() if name not in _LABELS and value}
    told = {"data": served.data, "project": served.project or "", "pressed": str(time.time_ns())}
    return {**options, **{f"{_HIDDEN}{name}": value for name, value in told.items()}}


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
    names = sorted((each.name for each in found.columns), key=len, reverse=True)
    faults = tuple(_fault(warning, names, values) for warning in found.warnings)
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
            *((ResultTable("Faults", ("what to do", ""), faults),) if faults else ()),
            ResultTable("Columns", ("column", "read as", "empty", "unreadable", "examples"), tuple(columns)),
        ),
        command=_command(data, project, options),
        python=_python(data, project, options),
    )


def _fault(warning: str, names: Sequence[str], values: Values) -> tuple[str, Html]:
    """Return a fault in the words of the form, and a button for each choice that takes it into a form."""
    choices = suggested(warning)
    buttons = [
        element(
            "form",
            [element("input", type="hidden", name=name, value=value) for name, value in option.items()],
            element("button", "Take into the form", type="submit", class_="plain"),
            method="post",
            action="table/suggested",
            class_="cancel",
            aria_label=f"Take into the form: {' '.join(option.values())}",
        )
        for option in choices
    ]
    about = next((name for name in names if warning.startswith((f"{name} ", f"{name}: "))), None)
    if not choices and about is not None:
        buttons.append(element("a", "Open the column", href=address_of_column(about)))
    return in_labels(warning, _fields_of(values), values), joined(buttons)


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
