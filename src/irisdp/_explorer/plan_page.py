"""The page Plan: the questions of a plan, and how they share a budget; what each costs follows while one edits.

No record is read. The draft is in memory until it is saved or published.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from .._html import Content, Html, element, joined
from .._release import ColumnSettings, TableSettings
from ..errors import BadInput, IrisError, Refusal
from .draft import Draft, DraftQuestion, with_shares_told
from .form_errors import FormFault, all_in_words, in_words
from .forms import Field, read_values, show_field
from .jobs import Job, Stopped
from .outlook import PlanOutlook, QuestionOutlook, in_form_words, plan_outlook
from .pages import fact_list, faults_note, filled_in, take_away, text_table, wrong_note
from .question_form import FIELDS, prefilled, question_of, with_columns
from .results import Fact, Result, ResultFile, ResultTable, command_line
from .stateful_pages import Handler, Visit
from .table import read_settings, served_values
from .workspace import Workspace

_BUDGET = Field(
    name="budget",
    label="Budget of new questions",
    unit="ε",
    kind="number",
    default="1",
    low=0.05,
    high=10,
    logarithmic=True,
    help="On top of what the ledger has spent. Smaller is more private. The shares below divide it.",
)


_RARE = {
    field.name: field.default
    for field in FIELDS
    if field.name
    in (
        *("weight", "weight_upper", "persons", "at_most", "groups_per_unit", "per_unit", "person", "per_person_upper"),
        *("delta", "confidence", "title", "out", "report", "more"),
    )
}
"""Fields that most questions leave as they are, with their defaults: they stand behind a heading."""


def _share(one: DraftQuestion, number: int) -> Field:
    return Field(
        name=f"share-{one.key}",
        label=f"Share of question {number}",
        kind="number",
        default="1",
        low=0.1,
        high=10,
        logarithmic=True,
    )


class PlanPage:
    """The page.

    Parameters
    ----------
    workspace : Workspace
    """

    name = "plan"
    title = "Plan"
    summary = "Write down your questions, divide a privacy budget among them, and see cost, error and risk at once."
    private = False

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def handlers(self) -> dict[tuple[str, str], Handler]:
        """Return the addresses of the page."""
        one = "/plan/questions/{key}"
        return {
            ("GET", "/plan"): self._show,
            ("POST", "/plan"): self._edit,
            ("POST", "/plan/outlook"): self._part,
            ("GET", one): self._open,
            ("POST", one): self._keep,
            ("POST", f"{one}/outlook"): self._preview,
        }

    async def _part(self, visit: Visit) -> Response:
        self._take(await visit.form())
        outlook, wrong = await self._weighed(visit)
        return visit.part(wrong or self._told(outlook, visit))

    async def _open(self, visit: Visit) -> Response:
        one = self._found(visit)
        return await self._question(visit, one, read_values(FIELDS, one.values if one else {}), sent=False)

    async def _preview(self, visit: Visit) -> Response:
        values = read_values(FIELDS, await visit.form())
        one = self._found(visit)
        said, faults = await self._previewed(visit, one, values)
        frame = replace(visit.frame, here=_address(one))
        return visit.part(faults_note(faults, frame) if faults else said)

    async def finished(self, job: Job, visit: Visit) -> Response:
        """Show the plan; the page starts no jobs."""
        return visit.go("plan")

    async def outlook(self, visit: Visit, draft: Draft | None = None, *, looked_at: int = 0) -> PlanOutlook:
        """Return what the draft would cost; see `plan_outlook`."""
        # The ledger and the data may have changed since the same draft was weighed.
        asked = {"looked_at": str(looked_at), "asked": str(time.time_ns())}
        outlook: PlanOutlook = await visit.planned(plan_outlook, self._workspace.outlook_values(draft) | asked)
        if draft is None:
            self._workspace.known = outlook.known
        return outlook

    # The plan.

    async def _show(self, visit: Visit, note: Html | None = None) -> Response:
        self._workspace.settle(visit.has_published)
        outlook, wrong = await self._weighed(visit)
        if wrong is not None:
            return visit.page(self.title, self._lead(), note, self._form(outlook), _result(wrong), at=self.name)
        told = self._told(outlook, visit)
        page = element("div", self._form(outlook), _result(told), class_="room")
        return visit.page(self.title, self._lead(), note, page, at=self.name)

    async def _weighed(self, visit: Visit) -> tuple[PlanOutlook, Html | None]:
        """Return the outlook, or what is wrong with the plan as a whole."""
        try:
            return await self.outlook(visit), None
        except BadInput as error:
            return PlanOutlook(), wrong_note(in_words(self._fields(), {}, error).line)
        except (Refusal, Stopped) as refusal:
            return PlanOutlook(), wrong_note(str(refusal))

    def _lead(self) -> Html:
        where = self._workspace.served.name
        return element(
            "p",
            f"Questions about {where}. Costs and errors follow from public facts: no record is read. Nothing is "
            "published before you press the button of the page Publish.",
            class_="lead",
        )

    def _fields(self) -> tuple[Field, ...]:
        shares = (_share(one, number) for number, one in enumerate(self._workspace.draft.questions, 1) if one.shares)
        return (_BUDGET, *shares)

    def _form(self, outlook: PlanOutlook) -> Html:
        draft = self._workspace.draft
        told = {one.key: one for one in outlook.questions}
        listed = [self._card(one, number, told.get(one.key)) for number, one in enumerate(draft.questions, 1)]
        history = self._workspace.history
        wrong = outlook.wrong
        values = {"budget": draft.budget}
        return element(
            "form",
            show_field(_BUDGET, values, f"{wrong.rule}; {wrong.remedy}" if wrong and wrong.field == "budget" else None),
            element(
                "div",
                element("button", "Show costs", type="submit", name="do", value="show"),
                element("a", "Add a question", href="plan/questions/new", class_="button"),
                class_="submit",
            ),
            element(
                "div",
                _button("Undo", "undo", disabled=not history.undoes, hint=history.undoes),
                _button("Redo", "redo", disabled=not history.redoes, hint=history.redoes),
                _button("Save the plan", "save"),
                class_="small",
            ),
            element("ol", listed, class_="questions"),
            element("p", element("a", "Add a question", href="plan/questions/new")) if len(listed) > 4 else None,
            method="post",
            action="plan",
            data_live="plan/outlook",
            aria_label="Plan",
            novalidate=True,
        )

    def _card(self, one: DraftQuestion, number: int, told: QuestionOutlook | None) -> Html:
        name = one.values.get("name", "").strip()
        line = told.line if told is not None and told.line else _words(one.values)
        field = _share(one, number)
        return element(
            "li",
            element("h2", f"{number}. {name or line}"),
            element("p", line, class_="help") if name else None,
            show_field(field, {field.name: one.share}, None)
            if one.shares
            else element("p", _own_accuracy(one.values), class_="help"),
            element("p", str(told.wrong), class_="wrong") if told is not None and told.wrong else None,
            element(
                "div",
                element("a", "Edit", href=f"plan/questions/{one.key}", aria_label=f"Edit question {number}"),
                _button("Copy", f"copy-{one.key}", label=f"Copy question {number}"),
                _button("Up", f"up-{one.key}", label=f"Move question {number} up", disabled=number == 1),
                _button("Delete", f"delete-{one.key}", label=f"Delete question {number}"),
                class_="small",
            ),
        )

    def _take(self, given: Mapping[str, str]) -> None:
        """Take the budget and the shares of a form; those of questions that are gone are not looked at."""
        draft = self._workspace.draft
        shares = {one.key: given[f"share-{one.key}"] for one in draft.questions if f"share-{one.key}" in given}
        changed = draft.with_shares(given.get("budget", draft.budget).strip(), shares)
        before = {0: draft.budget, **{one.key: one.share for one in draft.questions}}
        after = {0: changed.budget, **{one.key: one.share for one in changed.questions}}
        moved = [key for key in before if before[key] != after[key]]
        # A slider sends many values on its way: one undo takes all of them back, and nothing else.
        self._workspace.history.edit(
            changed, "the budget" if moved == [0] else "the shares", merge=f"of {moved[0]}" if len(moved) == 1 else None
        )

    async def _edit(self, visit: Visit) -> Response:
        given = await visit.form()
        history = self._workspace.history
        what, _, key = given.get("do", "").partition("-")
        if what not in ("undo", "redo"):
            self._take(given)
        if what == "save":
            return await self._save(visit)
        one = self._workspace.draft.question(int(key)) if key.isdecimal() and len(key) < 10 else None
        if what == "undo":
            history.undo()
        elif what == "redo":
            history.redo()
        elif one is not None and what in ("copy", "up", "delete"):
            draft = self._workspace.draft
            if what == "copy":
                draft = draft.with_copy(one.key)
            else:
                draft = draft.moved_up(one.key) if what == "up" else draft.without(one.key)
            history.edit(draft, {"copy": "the copy", "up": "the move", "delete": "the deletion"}[what])
        return visit.go("plan")

    async def _save(self, visit: Visit) -> Response:
        if self._workspace.running(visit.has_published) is not None:
            return await self._show(visit, wrong_note("Not saved: a run is going on. Save after it."))
        outlook, wrong = await self._weighed(visit)
        if wrong is None and not outlook.text:
            wrong = wrong_note("There is nothing to save yet: add a question that makes sense.")
        if wrong is None and any(one.wrong for one in outlook.questions):
            wrong = wrong_note("Not saved: mend the questions that are marked first.")
        if wrong is None:
            try:
                exact = {one.key: one.exact for one in outlook.questions if one.exact}
                self._workspace.save(with_shares_told(outlook.text, self._workspace.draft, exact))
            except BadInput as error:
                wrong = wrong_note(str(error))
        note = wrong or filled_in(f"Saved: {self._workspace.path}")
        return await self._show(visit, note)

    # What the outlook says.

    def _told(self, outlook: PlanOutlook, visit: Visit) -> Html:
        if outlook.wrong is not None:
            label = next((one.label for one in self._fields() if one.name == outlook.wrong.field), "Budget")
            return wrong_note(f"{label}: {outlook.wrong.rule}; {outlook.wrong.remedy}")
        if not outlook.questions:
            return filled_in("Add a question: its cost, error and risk will be shown here.")
        wrongs = [f"Question {one.number}: {one.wrong}" for one in outlook.questions if one.wrong]
        note = wrong_note("; ".join(wrongs)) if wrongs else None
        if not outlook.text:
            return joined(note)
        return joined(
            note,
            element("h2", "Result", class_="unseen"),
            element("p", self._headline(outlook), class_="headline", role="status"),
            element("p", outlook.refused, class_="wrong-note") if outlook.refused else None,
            fact_list(ledger_facts(outlook)),
            text_table(_table(outlook)),
            [element("p", warning, class_="note") for warning in outlook.warnings],
            element("p", element("a", "Go to Publish", href="publish", class_="button")) if not wrongs else None,
            self._away(outlook, visit),
        )

    @staticmethod
    def _headline(outlook: PlanOutlook) -> str:
        if outlook.refused:
            return f"All questions cost {outlook.total}: that would be refused."
        return f"All questions cost {outlook.total}. Publishing now charges {outlook.charge}."

    def _away(self, outlook: PlanOutlook, visit: Visit) -> Html:
        name = self._workspace.path.name
        file = ResultFile(name, outlook.text.encode(), "application/toml")
        notes = [
            *(() if self._workspace.keeps_comments else ("Saving replaces the plan file; its comments are not kept.",)),
            *(
                ()
                if self._workspace.is_saved(outlook.text)
                else (f"{name} does not say this yet: save or publish it.",)
            ),
        ]
        made = Result(
            headline="",
            files=(file,),
            command=command_line(["irisdp", "run", name]),
            python=f"import irisdp\n\npublished = irisdp.run({name!r})\nprint(published.to_document())",
        )
        return joined([element("p", note, class_="note") for note in notes], take_away(made, visit.store))

    # One question.

    def _found(self, visit: Visit) -> DraftQuestion | None:
        key = visit.request.path_params["key"]
        if key == "new":
            return None
        one = self._workspace.draft.question(int(key)) if key.isdecimal() and len(key) < 10 else None
        if one is None:
            raise HTTPException(404, "this question is no longer in the plan")
        return one

    async def _question(
        self, visit: Visit, one: DraftQuestion | None, values: Mapping[str, str], *, sent: bool
    ) -> Response:
        """Show the form of a question; once it was sent, mistakes are shown beside its fields."""
        declared = await self._declared(visit)
        lists = {name: {each.name: getattr(each, name) for each in declared} for name in ("groups", "categories")}
        values = prefilled(values, lists)
        said, faults = await self._previewed(visit, one, values)
        if faults and not sent:
            said = filled_in("Fill in the form: cost, error and risk will be shown here.")
        wrong = faults if sent else ()
        shown = {
            each.name: show_field(
                each, values, "; ".join(_beside(fault, each) for fault in wrong if _beside(fault, each)) or None
            )
            for each in with_columns([each.name for each in declared if each.kind])
        }
        said_rarely = any(values[name] != default for name, default in _RARE.items()) or any(
            fault.field is not None and fault.field.name in _RARE for fault in wrong
        )
        at = _address(one)
        form = element(
            "form",
            [content for name, content in shown.items() if name not in _RARE],
            element(
                "details",
                element("summary", "More: persons, weights, δ, files"),
                [shown[name] for name in _RARE],
                class_="rare",
                open=said_rarely,
            ),
            element(
                "div",
                element("button", "Add to the plan" if one is None else "Keep", type="submit", name="do", value="keep"),
                element("button", "Show cost", type="submit", name="do", value="show", class_="plain"),
                element("a", "Back to the plan", href="plan"),
                class_="submit",
            ),
            method="post",
            action=at,
            data_live=f"{at}/outlook",
            aria_label="Question",
            novalidate=True,
        )
        title = "New question" if one is None else f"Question {self._number(one)}"
        lead = element("p", "What is asked, of whom, and how accurately. No record is read.", class_="lead")
        note = faults_note(wrong, visit.frame) if wrong else None
        return visit.page(title, lead, note, element("div", form, _result(said), class_="room"), at=self.name)

    async def _declared(self, visit: Visit) -> tuple[ColumnSettings, ...]:
        """Return the columns of the table and what its project file says of each; none where that cannot be read."""
        try:
            settings: TableSettings = await visit.planned(read_settings, served_values(self._workspace.served))
        except (IrisError, Stopped):  # the outlook says it
            return ()
        return settings.columns

    def _number(self, one: DraftQuestion) -> int:
        return next(n for n, each in enumerate(self._workspace.draft.questions, 1) if each.key == one.key)

    async def _keep(self, visit: Visit) -> Response:
        one, given = self._found(visit), await visit.form()
        values = read_values(FIELDS, given)
        _, faults = await self._previewed(visit, one, values)
        if given.get("do") == "show" or faults:
            return await self._question(visit, one, values, sent=True)
        self._workspace.history.edit(
            self._workspace.draft.with_question(values, None if one is None else one.key),
            "the new question" if one is None else "the edit of a question",
        )
        return visit.go("plan")

    async def _previewed(
        self, visit: Visit, one: DraftQuestion | None, values: Mapping[str, str]
    ) -> tuple[Html, tuple[FormFault, ...]]:
        """Return what a question would cost within the plan, and what is wrong with it."""
        try:
            question_of(values)
            draft = self._workspace.draft
            key = draft.next_key if one is None else one.key
            outlook = await self.outlook(
                visit, draft.with_question(values, None if one is None else key), looked_at=key
            )
            told = next((each for each in outlook.questions if each.key == key), None)
            if outlook.wrong is not None:
                return wrong_note(f"The plan: {outlook.wrong}"), ()
            if told is None or told.wrong is not None:
                assert told is not None and told.wrong is not None
                raise BadInput(told.wrong.field, told.wrong.rule, told.wrong.remedy)
        except BadInput as error:
            return Html(""), tuple(_in_form_words(fault) for fault in all_in_words(FIELDS, values, error))
        except (Refusal, Stopped) as refusal:
            return wrong_note(str(refusal)), ()
        return _of_question(told, outlook), ()


def _beside(fault: FormFault, field: Field) -> str:
    return fault.beside if fault.field is not None and fault.field.name == field.name else ""


def _in_form_words(fault: FormFault) -> FormFault:
    return fault._replace(beside=in_form_words(fault.beside), line=in_form_words(fault.line))


def _address(one: DraftQuestion | None) -> str:
    return f"plan/questions/{'new' if one is None else one.key}"


def _of_question(told: QuestionOutlook, outlook: PlanOutlook) -> Html:
    facts = [
        Fact("Asks", told.line),
        *(Fact(f"{heading[:1].upper()}{heading[1:]}", text) for heading, text in told.lines),
        Fact("Charge", told.charge),
        Fact("Whole plan", outlook.total),
    ]
    levels = ResultTable("Errors at other ε", told.levels[0], told.levels[1:]) if told.levels else None
    return joined(
        element("h2", "Result", class_="unseen"),
        element("p", f"Costs {told.cost}: {told.error[0]}.", class_="headline", role="status"),
        element("p", outlook.refused, class_="wrong-note") if outlook.refused else None,
        fact_list(facts),
        text_table(levels) if levels is not None else None,
    )


def ledger_facts(outlook: PlanOutlook) -> list[Fact]:
    """Say where the ledger stands, before and after."""
    facts = [
        Fact("Ledger", Path(outlook.ledger).name, outlook.ledger),
        Fact("Spent before", outlook.before, outlook.left_before and f"left {outlook.left_before}"),
        Fact("Spent after", outlook.after, outlook.left_after and f"left {outlook.left_after}"),
        Fact("Limit", outlook.limit or "none is set", "" if outlook.limit else "set one in the page Ledger"),
    ]
    return [*facts, Fact("Risk", outlook.risk, "by all that the ledger will have charged")]


def _table(outlook: PlanOutlook) -> ResultTable:
    rows = tuple(
        (str(one.number), one.title, one.cost, "; ".join(one.error), one.risk, one.charge)
        for one in outlook.questions
        if one.wrong is None
    )
    return ResultTable("Questions", ("", "question", "cost", "error", "risk", "charge"), rows)


def _result(content: Content) -> Html:
    return element("section", content, id="result", aria_label="Result")


def _button(text: str, does: str, *, label: str = "", disabled: bool = False, hint: str = "") -> Html:
    said = label or (f"{text} {hint}" if hint else None)
    return element(
        "button", text, type="submit", name="do", value=does, class_="plain", aria_label=said, disabled=disabled
    )


def _words(values: Mapping[str, str]) -> str:
    return " ".join(filter(None, (values["query"], values.get("column", ""), values.get("condition", ""))))


def _own_accuracy(values: Mapping[str, str]) -> str:
    if values["accuracy"] == "within":
        return f"Its error decides its ε: at most {values.get('within', '')}."
    return f"ε of its own: {values.get('epsilon', '')}."
