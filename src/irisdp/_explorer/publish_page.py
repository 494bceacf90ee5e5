"""The page Publish: what one press will charge, in words; the press; and what was published.

A form that was shown once leads to one job, however often it arrives: a double click, a reload and the back button
charge nothing more. The press allows the charge that the form shows, and no larger one.
"""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from .._child_processes import CANCELLED
from .._html import Html, element, joined
from ..errors import IrisError
from .jobs import Job, Stopped
from .outlook import PlanOutlook
from .pages import fact_list, filled_in, text_table, wrong_note
from .plan_page import PlanPage, ledger_facts
from .publishing import Published, publish_plan
from .results import ResultTable
from .stateful_pages import Handler, Visit
from .workspace import Workspace

_SAFE = (
    "Nothing is charged twice: a second press, a reload or a stopped run charges no question again while the data "
    "stays the same. Close the page if you like; the run goes on."
)

_CHANGED = (
    "The plan, the project file, the header of the data or the ledger has changed since that form was shown. Nothing "
    "was charged by this press."
)


class PublishPage:
    """The page.

    Parameters
    ----------
    workspace : Workspace
    plan : PlanPage
        What it publishes.
    """

    name = "publish"
    title = "Publish"
    summary = "See what will be charged, publish the plan with one press, and find the ledger before and after."
    private = True

    def __init__(self, workspace: Workspace, plan: PlanPage) -> None:
        self._workspace, self._plan = workspace, plan

    def handlers(self) -> dict[tuple[str, str], Handler]:
        """Return the addresses of the page."""
        return {("GET", "/publish"): self._show, ("POST", "/publish"): self._press}

    async def _show(self, visit: Visit, note: Html | None = None) -> Response:
        self._workspace.settle(visit.has_published)
        running = self._workspace.running(visit.has_published)
        if running is not None:
            way = element("p", element("a", "Go to the run", href=running, class_="button"))
            return self._page(visit, filled_in("A run is going on. What comes next can be published after it."), way)
        plan = element("p", element("a", "Go to Plan", href="plan", class_="button"))
        try:
            outlook = await self._plan.outlook(visit)
        except IrisError as error:
            return self._page(visit, note, wrong_note(str(error)), plan)
        return self._page(visit, note, self._offer(outlook))

    def _page(self, visit: Visit, *content: Html | None, status: int = 200) -> Response:
        return visit.page(self.title, *content, at=self.name, status=status)

    def _offer(self, outlook: PlanOutlook) -> Html:
        plan = element("a", "Go to Plan", href="plan", class_="button")
        if not outlook.questions:
            return joined(filled_in("The plan has no question yet."), element("p", plan))
        if outlook.wrong is not None or not outlook.text or any(one.wrong for one in outlook.questions):
            return joined(wrong_note("The plan is not ready: it has mistakes that are marked there."), plan)
        told = joined(fact_list(ledger_facts(outlook)), self._questions(outlook))
        warnings = [element("p", warning, class_="note") for warning in outlook.warnings]
        if outlook.refused:
            ledger = element("a", "Go to Ledger", href="ledger", class_="button")
            return joined(wrong_note(outlook.refused), told, warnings, element("p", plan, " ", ledger))
        old = sum(one.is_free for one in outlook.questions)
        new, before = len(outlook.questions) - old, f", {old} more are free," if old else ""
        form = element(
            "form",
            element("input", type="hidden", name="offer", value=self._workspace.offer(_shown(outlook))),
            element("p", element("button", f"Publish: charge {outlook.charge}", type="submit")),
            element("p", _SAFE, class_="help"),
            method="post",
            action="publish",
            class_="press",
            aria_label="Publish",
            data_once=True,
        )
        return joined(
            element(
                "p",
                f"One press publishes {_so_many(new, 'new ')}{before} and charges {outlook.charge} to "
                f"{Path(outlook.ledger).name}.",
                class_="headline",
                role="status",
            ),
            form,
            told,
            warnings,
        )

    @staticmethod
    def _questions(outlook: PlanOutlook) -> Html:
        rows = tuple(
            (str(one.number), one.title, "; ".join(one.error), one.charge, one.out) for one in outlook.questions
        )
        return text_table(ResultTable("What is published", ("", "question", "error", "charge", "answers"), rows))

    async def _press(self, visit: Visit) -> Response:
        """Start the job of a form, or lead to the one that it has started."""
        offer = (await visit.form()).get("offer", "")
        job = self._job(offer, visit)
        if job is not None:
            return visit.go(job if visit.is_kept(job) else "results")
        shown = self._workspace.taken(offer)
        if shown is None:
            return await self._show(visit, filled_in("That form was from before. Nothing was charged by this press."))
        try:
            outlook = await self._plan.outlook(visit)
        except IrisError:  # which the page says
            return await self._show(visit)
        text, most, agreement = shown
        if (outlook.text, outlook.agreement) != (text, agreement):
            return await self._show(visit, filled_in(_CHANGED))
        job = self._job(offer, visit)  # another press may have come while this one waited
        if job is None:
            values = {"path": str(self._workspace.path), "text": text, "known": self._workspace.digests}
            values |= {"most": most, "agreement": agreement, "offer": offer}
            job = visit.start(self.name, publish_plan, values)
            self._workspace.started(offer, job, text, {one.key: one.exact for one in outlook.questions})
        return visit.go(job)

    def _job(self, offer: str, visit: Visit) -> str | None:
        """Return the address of the run that a form has started, or of the one that goes on."""
        return self._workspace.job_of(offer) or self._workspace.running(visit.has_published)

    async def finished(self, job: Job, visit: Visit) -> Response:
        """Show what a press has published."""
        self._workspace.settle(visit.has_published)
        try:
            published: Published = job.result()
        except Stopped as ended:
            why = "Cancelled" if ended.reason == CANCELLED else f"{str(ended)[:1].upper()}{str(ended)[1:]}"
            said = (
                f"{why}. What was charged is in the ledger, and its answers are "
                "kept: publish again to write them, which charges them nothing again."
            )
            return self._page(visit, wrong_note(said), _ways())
        except IrisError as error:
            return self._page(visit, wrong_note(str(error)), _ways())
        if published.stopped:
            return self._page(visit, wrong_note(published.stopped), _ways())
        return self._page(visit, _told(published), _ways())


def _shown(outlook: PlanOutlook) -> tuple[str, str, str]:
    return outlook.text, outlook.most, outlook.agreement


def _told(published: Published) -> Html:
    return joined(
        element(
            "p",
            f"Published: {_so_many(len(published.rows))}; new: {published.new}.",
            class_="headline good",
            role="status",
        ),
        [element("p", line) for line in published.ledger],
        text_table(ResultTable("What was charged", ("", "question", "charged"), published.rows)),
    )


def _ways() -> Html:
    return element(
        "p",
        element("a", "See the results", href="results", class_="button"),
        " ",
        element("a", "Back to the plan", href="plan", class_="button"),
    )


def _so_many(number: int, kind: str = "") -> str:
    return f"one {kind}question" if number == 1 else f"{number or 'no'} {kind}questions"
