"""The page Ledger: what was spent and on what, the limits, and forms that set them and check the history.

All of it is public: the ledger holds questions, charges and published answers, and no record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from .._child_processes import Phase
from .._exact import json_bytes, so_many, told_below
from .._html import Html, element, joined
from .._ledger import HEADINGS, Ledger, ledger_facts, named_limit, release_cells
from .._release import Project, ledger_of
from ..errors import BadInput, IrisError, Refusal
from .form_errors import FormFault, all_in_words, in_labels
from .forms import Field, show_field
from .jobs import Job, Stopped
from .pages import faults_note, filled_in, show_parts, wrong_note
from .results import Fact, Result, ResultFile, ResultTable, Values, command_line
from .stateful_pages import Handler, Visit
from .table import of_served, served_values
from .workspace import ServedTable

_MOST_ROWS = 200
_WORDS = {"spent": "Spent", "limit": "Limit", "left": "Left", "rate": "At this rate", "privacy": "What it protects"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerView:
    """A ledger as the page shows it.

    Attributes
    ----------
    name : str
    is_there : bool
    result : Result or None
        Where it stands; None for a ledger that is not there yet.
    has_limit : bool
    promised : str
        The limit that the project file sets, in words; empty if it sets none.
    """

    name: str
    is_there: bool
    result: Result | None
    has_limit: bool
    promised: str


# What another process does: read the ledger, set a limit, check the history.


def read_ledger(values: Values, say: Phase) -> LedgerView:
    """Return what a ledger holds."""
    say("reading the ledger")
    book, project = _ledger(values)
    promised = "" if project is None or project.limit is None else project.limit.told(told_below)
    place = str(book.place)
    if not book.store.exists():
        return LedgerView(name=place, is_there=False, result=None, has_limit=False, promised=promised)
    document = book.to_document()
    return LedgerView(
        name=place,
        is_there=True,
        result=_result(book, document),
        has_limit=document["limit"] is not None,
        promised=promised,
    )


def set_limit(values: Values, say: Phase) -> str:
    """Set the limit of a ledger, or of one audience; return what was set, in words.

    Raises
    ------
    BadInput, ScopeRefused
        As `Ledger.set_limit`, and where the project file sets another limit.
    """
    say("setting the limit")
    book, project = _ledger(values)
    text, audience = values["limit"].strip(), values["audience"].strip() or None
    if not text:
        raise BadInput("limit", "is missing", "write for example 1,1e-6")
    limit = named_limit(text)
    if project is not None and audience is None:
        project.keeps_limit(limit)
    book.restrict(limit, audience=audience)
    whose = f"The limit of {audience}" if audience else "The limit"
    return f"{whose} is now {limit.told(told_below)}."


def verify_history(values: Values, say: Phase) -> str:
    """Check the history of a ledger; return its head in words.

    Raises
    ------
    BadInput
        Where the head is not one.
    Refusal
        Where the ledger was tampered with.
    """
    say("checking the history")
    book, _ = _ledger(values)
    head = values["head"].strip() or None
    if head is not None and (len(head) != 64 or set(head) - set("0123456789abcdef")):
        raise BadInput("head", "must be the 64 letters and digits that an earlier check printed", "copy all of them")
    found = book.verify(head)
    if found.problems:
        more = f", and {len(found.problems) - 1} more" if len(found.problems) > 1 else ""
        raise Refusal(f"{book.store.name} was tampered with: {found.problems[0]}{more}. Restore it from a backup")
    if not found.lines:
        return "The history has no line yet. The next change begins it."
    return f"The history holds: {so_many(found.lines, 'line')}. Its head is {found.head}"


def _ledger(values: Values) -> tuple[Ledger, Project | None]:
    return ledger_of(**of_served(values))


def _result(book: Ledger, document: Mapping[str, Any]) -> Result:
    from ..plots import ledger_picture

    facts = dict(document)
    lines = ledger_facts(facts, remedies=False)
    headline = "; ".join(f"{_WORDS[name].lower()} {text}" for name, text in lines if name in ("spent", "left"))
    numbers = list(document["spent"])
    columns = ("id", "date", "table", "query", "groups", "audience", *(HEADINGS[each] for each in numbers), "files", "")
    releases = document["releases"]
    rows = tuple(tuple(release_cells(each, numbers)) for each in reversed(releases[-_MOST_ROWS:]))
    more = f", the newest {_MOST_ROWS} of {len(releases):,}" if len(releases) > _MOST_ROWS else ", the newest first"
    place = str(book.place)
    return Result(
        headline=headline[:1].upper() + headline[1:],
        facts=tuple(Fact(_WORDS.get(name, name.capitalize()), text) for name, text in lines),
        pictures=(ledger_picture(book),) if releases else (),
        tables=(_without_empty(ResultTable(f"Releases{more}", columns, rows)),) if rows else (),
        files=(ResultFile("ledger.json", json_bytes(facts)),),
        command=command_line(["irisdp", "ledger", place]),
        python=f"import irisdp\n\nprint(irisdp.Ledger({place!r}).to_document())",
        notes=() if rows else ("Nothing was released yet.",),
    )


def _without_empty(table: ResultTable) -> ResultTable:
    """Leave out columns without a value, and the table's name if it is one in all rows."""
    cells = list(zip(*table.rows, strict=True))
    kept = [
        place
        for place, name in enumerate(table.columns)
        if any(cells[place]) and (name != "table" or len(set(cells[place])) > 1)
    ]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return ResultTable(table.caption, tuple(table.columns[place] for place in kept), rows)


# The page.

_LIMIT = Field(
    name="limit",
    label="Limit",
    example="1,1e-6",
    help="ε, or ε and δ with a comma between; or mu=1, or rho=1/2. The first limit fixes what the ledger counts in.",
)
_OF_LEDGER = (_LIMIT,)
_OF_AUDIENCE = (
    Field(name="audience", label="Audience", example="press", help="The name that questions give as their audience."),
    Field(
        name="audience_limit",
        also=("limit",),
        label="Limit of this audience",
        example="1/2",
        help="Within the limit of the ledger. It counts the answers of this audience, and those for everybody.",
    ),
)
_HEAD = (
    Field(
        name="head",
        label="Head",
        help="Of an earlier check, if you kept one: then lines that were removed since are found, too.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """What was sent by one of the forms, and what was wrong with it."""

    form: str
    values: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[FormFault, ...] = ()
    refusal: str = ""
    done: str = ""


class LedgerPage:
    """The page.

    Parameters
    ----------
    served : ServedTable
    """

    name = "ledger"
    title = "Ledger"
    summary = "What was spent and what is left, for everybody and for each audience. Set limits, check the history."
    private = False

    def __init__(self, served: ServedTable) -> None:
        self._served = served
        self._done = ""

    def handlers(self) -> dict[tuple[str, str], Handler]:
        """Return the addresses of the page."""
        return {
            ("GET", "/ledger"): self._show,
            ("GET", "/ledger/limit"): self._show,
            ("POST", "/ledger/limit"): self._limit,
            ("GET", "/ledger/audience"): self._show,
            ("POST", "/ledger/audience"): self._limit_audience,
            ("GET", "/ledger/verify"): self._show,
            ("POST", "/ledger/verify"): self._verify,
        }

    async def finished(self, job: Job, visit: Visit) -> Response:
        """Show the ledger; the page starts no jobs."""
        return visit.go("ledger")

    def _values(self, **more: str) -> dict[str, str]:
        return served_values(self._served, **more)

    async def _show(self, visit: Visit, sent: _Sent | None = None, status: int = 200) -> Response:
        if sent is None:
            sent, self._done = _Sent(form="", done=self._done), ""
        try:
            view: LedgerView = await visit.planned(read_ledger, self._values())
        except IrisError as error:
            refusal = wrong_note(sent.refusal) if sent.refusal else None
            return visit.page(self.title, refusal, wrong_note(str(error)), at=self.name, status=status)
        return visit.page(
            self.title,
            faults_note(sent.faults, visit.frame) if sent.faults else None,
            wrong_note(sent.refusal) if sent.refusal else None,
            filled_in(sent.done) if sent.done else None,
            element(
                "p", f"The ledger is {view.name}. It holds charges and published answers, no record.", class_="lead"
            ),
            self._standing(view, visit),
            self._forms(view, sent),
            at=self.name,
            status=status,
        )

    @staticmethod
    def _standing(view: LedgerView, visit: Visit) -> Html:
        if view.result is None:
            limit = f" The project file sets its limit: {view.promised}." if view.promised else ""
            return filled_in(f"It is not there yet: the first limit or the first release makes it.{limit}")
        return show_parts(view.result, visit.store)

    @staticmethod
    def _forms(view: LedgerView, sent: _Sent) -> Html:
        def form(name: str, title: str, fields: tuple[Field, ...], button: str) -> Html:
            here = sent.form == name
            values = sent.values if here else {}
            shown = [show_field(each, values, _beside(each, sent) if here else None) for each in fields]
            return element(
                "form",
                element("h3", title),
                shown,
                element("p", element("button", button, type="submit"), class_="submit"),
                method="post",
                action=f"ledger/{name}",
                aria_label=title,
                novalidate=True,
            )

        promised = f"The project file sets the limit: {view.promised}. Change it there first." if view.promised else ""
        audience = (
            form("audience", "Limit an audience", _OF_AUDIENCE, "Set this limit")
            if view.has_limit
            else element("p", "Audiences get limits once the ledger has one.", class_="note")
        )
        return joined(
            element("h2", "Change"),
            element("p", promised, class_="note") if promised else None,
            element(
                "div",
                form("limit", "Limit the ledger", _OF_LEDGER, "Set the limit"),
                audience,
                form("verify", "Check the history", _HEAD, "Check the history") if view.is_there else None,
                class_="forms",
            ),
        )

    async def _limit(self, visit: Visit) -> Response:
        given = await visit.form()
        values = self._values(limit=given.get("limit", ""), audience="")
        return await self._change(visit, "limit", _OF_LEDGER, given, values)

    async def _limit_audience(self, visit: Visit) -> Response:
        given = await visit.form()
        audience = given.get("audience", "").strip()
        if not audience:
            missing = all_in_words(_OF_AUDIENCE, given, BadInput("audience", "is missing", "write for example press"))
            return await self._show(visit, _Sent(form="audience", values=given, faults=missing), 400)
        values = self._values(limit=given.get("audience_limit", ""), audience=audience)
        return await self._change(visit, "audience", _OF_AUDIENCE, given, values)

    async def _change(
        self, visit: Visit, form: str, fields: tuple[Field, ...], given: Mapping[str, str], values: Values
    ) -> Response:
        try:
            self._done = await visit.planned(set_limit, values)
        except IrisError as error:
            return await self._show(visit, *_wrong(form, fields, given, error))
        return visit.go("ledger")

    async def _verify(self, visit: Visit) -> Response:
        given = await visit.form()
        try:
            done = await visit.planned(verify_history, self._values(head=given.get("head", "")))
        except IrisError as error:
            return await self._show(visit, *_wrong("verify", _HEAD, given, error))
        return await self._show(visit, _Sent(form="verify", done=done))


def _beside(field: Field, sent: _Sent) -> str | None:
    said = [fault.beside for fault in sent.faults if fault.field and fault.field.name == field.name]
    return "; ".join(said) or None


def _wrong(form: str, fields: tuple[Field, ...], given: Mapping[str, str], error: IrisError) -> tuple[_Sent, int]:
    if isinstance(error, BadInput):
        return _Sent(form=form, values=given, faults=all_in_words(fields, given, error)), 400
    status = 200 if isinstance(error, Stopped) else 422
    return _Sent(form=form, values=given, refusal=in_labels(str(error), fields, given)), status
