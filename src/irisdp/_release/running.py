"""Running a plan: all is checked and weighed, and then one question after the other is read, drawn and charged."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._events import events_of, report_event
from .._exact import checked
from .._files import Output
from .._hooks import call_hook
from .._ledger import Ledger, TableVersion, match_fingerprint, same_audience
from ..accounting import Charge
from ..errors import BadInput, NotShown, Refusal, place_of
from .dry_run import Accounts
from .output_files import Released, write_files
from .pipeline import CheckedQuestion, publish_checked, read_max_charge
from .plan_file import PlanFile, read_run
from .progress import errors_after_charge, part_of, report_step
from .publication import Answered, RunPublication
from .run_checks import Records, agreement_of, planned_again, planned_pages, prepare_all, readers_of, records_of
from .shared_records import PlanReading, SharedRecords


@checked
@events_of("run")
def run(
    plan: str | os.PathLike[str],
    *,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
    max_charge: Any = None,
    another_ledger: bool = False,
) -> RunPublication:
    """Publish the questions of a plan, in order, each charged by itself; what was answered before is free.

    Everything is checked before anything is spent: all questions, where their answers go, and that all charges together
    fit in what is left. Each question is then charged in one transaction and its answer recorded. After an interruption
    the same call continues. Charged questions are answered from the ledger, so in the end answers and ledger equal
    those of an uninterrupted run.

    Parameters
    ----------
    plan : path
        A TOML file. ``[datasets.NAME]`` holds data and the other settings of a table and its ledger, as for
        `irisdp.publish`. Each ``[[questions]]`` holds a query, an expression and its options. At the top, ``report``
        asks for one page of all answers. Relative paths count from the plan's own folder. docs/howto/plans.md.
    title : str, optional
        The heading of the page of all questions.
    labels : path or mapping, optional
        As for `irisdp.publish`, before the plan's ``[labels]`` and those of project files.
    force : bool
        Whether files that are there already may be replaced. Files written by earlier runs of this plan may be replaced
        without it, if they are unchanged.
    max_charge : number, text or sequence, optional
        The most that all questions together may be charged to any one ledger, written as a limit: ``1``, ``"1,1e-6"``
        or ``"rho=1/2"``; 0 for what is free alone. The plan is refused above it.
    another_ledger : bool
        As for `irisdp.publish`, for all datasets. A plan can set it for one.

    Returns
    -------
    RunPublication
        Each question's answers are private at its cost, as `irisdp.publish` says; all together at the sum that the
        ledger holds.

    Raises
    ------
    BadInput
        For anything that does not make sense, naming the question or the dataset. Nothing is spent.
    ScopeRefused, BudgetRefused
        If a question is outside the scope of a ledger or project, or the questions together exceed the remaining
        budget. Nothing is spent.
    NotShown
        Where a question stopped the run after others were charged; they are in the ledger, and running the plan again
        costs nothing for them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "survey.csv").write_text("age,town\\n70,Ely\\n30,Ely\\n81,York\\n")
    >>> _ = (folder / "plan.toml").write_text('''
    ... [datasets.survey]
    ... data = "survey.csv"
    ... [[questions]]
    ... query = "count"
    ... expression = "age > 64"
    ... epsilon = 0.5
    ... ''')
    >>> len(run(folder / "plan.toml"))
    1
    >>> run(folder / "plan.toml").repeated
    True
    """
    asked = read_run(plan, title=title, labels=labels)
    return _run(asked, force=force, most=read_max_charge(max_charge), another=another_ledger)


@checked
@events_of("run")
def run_as_shown(plan: str | os.PathLike[str], *, max_charge: Any, agreement: str) -> RunPublication:
    """Publish as `run` does, if the plan asks what a dry run has shown.

    Parameters
    ----------
    plan, max_charge
        As for `run`.
    agreement : str
        Of the dry run: `RunOutlook.agreement`.

    Raises
    ------
    Refusal
        As `run`, and where the project file, the header of the data or the ledger has changed since.
    """
    return _run(read_run(plan), force=False, most=read_max_charge(max_charge), another=False, agreement=agreement)


def _run(
    asked: PlanFile, *, force: bool, most: Charge | None, another: bool, agreement: str | None = None
) -> RunPublication:
    records = records_of(asked)
    ready = prepare_all(asked, records, force=force, another=another)
    if agreement is not None and agreement_of(ready) != agreement:
        raise Refusal(
            "the questions, who is protected or which ledger is charged changed since they were shown, by the project "
            "file or the data; nothing was spent; look at the plan again"
        )
    readings = _weighed(asked, ready, most, as_shown=agreement is not None)
    done: list[Answered] = []
    last = {question.dataset.name: question.number for question in asked.questions}
    with contextlib.ExitStack() as held:
        for reading in readings.values():
            held.enter_context(reading.shared)
        for question, one in zip(asked.questions, ready, strict=True):
            number, name = question.number, question.dataset.name
            with part_of(f"question {number} of {len(ready)}"), _going_on(done), question.blamed():
                report_event("run", "question", number=number, of=len(ready), name=question.name)
                again = planned_again(question, one, records[name], force=force)
                publication = publish_checked(again, readings[name], records[name].note)
            done.append(Answered(number=number, name=question.name, dataset=name, publication=publication))
            if number == last[name]:  # one dataset's records at a time take memory, if the plan is in their order
                readings[name].shared.close()
    with _going_on(done):
        planned = planned_pages(asked, ready, records, force=force)
    with errors_after_charge():
        pages = _written_pages(asked, planned, records, done, ready)
    return RunPublication(file=asked.path, questions=tuple(done), pages=pages)


def _written_pages(
    asked: PlanFile,
    planned: Sequence[Output],
    records: Records,
    done: Sequence[Answered],
    ready: Sequence[CheckedQuestion],
) -> tuple[Path, ...]:
    """Write a page of all that was published to each reader: a function of the sidecars and the answers.

    An audience's page holds its own answers and those for everybody, and says nothing of other questions.
    """
    if not planned:
        return ()
    record = records[asked.questions[0].dataset.name]
    title = asked.labels.own_title or asked.labels.title

    def page(reader: str | None) -> bytes:
        shown = [
            (part, one.name, question.labels)
            for one, question in zip(done, ready, strict=True)
            if (part := _part_for(reader, one, has_files="out" in asked.questions[one.number - 1].options)) is not None
        ]
        parts, names, labels = zip(*shown, strict=True)
        content: bytes = call_hook("page", parts, labels, asked.path.stem, names, title=title)
        return content

    contents = ((output, page(reader)) for output, reader in zip(planned, readers_of(asked, ready), strict=True))
    delivered = [path for one in done for path in one.publication.out]
    return write_files((), {}, {}, None, contents, record.note, delivered)


def _part_for(reader: str | None, one: Answered, *, has_files: bool) -> Released | None:
    """Return what a question published to a reader, or to everybody; None where that is nothing."""
    published = one.publication
    for place, (name, answers) in enumerate(published.answers_of.items()):
        if same_audience(name) in (None, same_audience(reader)):
            return published.sidecars[name], answers, published.out[3 * place] if has_files else None
    return None


def _weighed(
    asked: PlanFile, ready: Sequence[CheckedQuestion], most: Charge | None, *, as_shown: bool
) -> dict[str, PlanReading]:
    """Begin to read each dataset, and refuse the plan where its new questions do not fit in what is left.

    If `as_shown`, also where the data turns out to be known to another ledger than the one that was shown.

    Two datasets may hold the same data: by the time that the second is asked about, the first one's ledger knows it.
    """
    readings: dict[str, PlanReading] = {}
    foreseen: dict[Ledger, set[str]] = {}
    known: dict[str, tuple[Ledger, str]] = {}
    with Accounts() as accounts:
        for question, one in zip(asked.questions, ready, strict=True):
            name = question.dataset.name
            with question.blamed():
                if name not in readings:
                    report_step(0)
                    readings[name] = PlanReading(TableVersion.begin(one.planned.table, one.stamp), SharedRecords())
                    digest = readings[name].version.digest
                    book, version, _ = match_fingerprint(
                        one.planned.table,
                        digest,
                        one.book,
                        one.secret,
                        named=one.request.promise.table,
                        default=one.default,
                        foreseen=foreseen,
                    )
                    if as_shown and book.place != one.book.place:
                        raise Refusal(
                            f"{book.store.name} knows this data, and {one.book.store.name} was shown; nothing was "
                            f"spent; name {book.store.name} as the ledger of the plan"
                        )
                    known[name] = book, version
                    foreseen.setdefault(book, set()).add(version)
                book, version = known[name]
                if not accounts.of(book).weigh(question, one, version).repeated:
                    readings[name].shared.plans += one.plans
        refusal = accounts.refusal(most)
    if refusal is not None:
        raise refusal
    return readings


@contextlib.contextmanager
def _going_on(done: Sequence[Answered]) -> Iterator[None]:
    """Say of what stops a run after others were charged that these are kept.

    A refusal, bad input and whatever else ends a command mean that nothing was spent, and here something was.
    """
    try:
        yield
    except NotShown:
        raise
    except Exception as error:
        if all(one.publication.repeated for one in done):
            raise
        if isinstance(error, BadInput | Refusal):
            said, more = str(error).removesuffix("; nothing was spent"), ""
        else:  # what it says can hold private values
            said, more = f"internal error ({place_of(error)}) in a later question", "; please report it"
        kept = "what was asked before is charged and kept, and free when the plan is run again"
        raise NotShown(f"{said}; {kept}{more}") from None
