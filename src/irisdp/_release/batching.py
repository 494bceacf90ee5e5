"""Publishing a batch: all questions are read, drawn and charged in one transaction, or none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._events import events_of
from .._exact import checked, told_exactly
from .._files import Output
from .._ledger import (
    Ledger,
    LedgerEntry,
    check_known,
    check_ledger,
    data_location,
    fingerprint_of_table,
    secret_key_file,
    stamp_of_part,
)
from ..accounting import Charge
from ..errors import BadInput
from .answers import Answers
from .batch_plan import BatchPlan, plan_asked
from .dated_names import kept_if_dated
from .dry_run import DryRun, simulate_charge
from .output_files import Files, pages, plan_files, plan_reports, write_files
from .partition_options import check_declared
from .pipeline import (
    CheckedQuestion,
    Executed,
    GroupStatistics,
    draw_answers,
    execute,
    ledger_of,
    read_max_charge,
    shown_of,
)
from .plan_file import PlanFile, read_batch
from .progress import errors_after_charge, report_step
from .publication import BatchPublication, Publication
from .release_file import drawn_by, provenance


@checked
@events_of("batch")
def batch(
    plan: Any,
    *,
    data: Any = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    report: str | os.PathLike[str] | None = None,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
    max_charge: Any = None,
    another_ledger: bool = False,
) -> BatchPublication:
    """Publish several questions as one charge: the noise of all is the least whose exact total fits the budget.

    The noise of question i has ε = weight_i·λ, so a larger weight means less noise. λ is the largest scale, to
    1/10,000, for which all answers together keep the budget. The total comes from `irisdp.accounting.total`, or from
    sums where these are hardly worse. Many counts have Gaussian noise, of μ = 4/5·weight_i·λ, where that is less.
    Asking the same plan of the same data again returns the same answers and costs nothing.

    Parameters
    ----------
    plan : path or mapping
        A JSON file, or what stands in one: ``{"data": …, "budget": {"epsilon": 1, "delta": "1e-6"}, "questions":
        [{"query": "count", "expression": …, "by": …, "groups": …, "weight": 1, "out": …}, …]}``, and optionally
        "ledger", "relation", "unit", "out", "report", "licence", "secret", "table", "types", "engine", "master",
        "title", "labels", and how a text file is written ("encoding", "delimiter", "decimal", "skip_rows", …). A
        question may also say "categories", "bins", "select_groups", "delta", "selection_delta", "public_membership",
        "per_unit" and "confidence". All are as for `irisdp.publish`, paths too; the plan's ``"out": "answers.csv"``
        becomes ``answers.1.csv``, ``answers.2.csv``, … for questions without one of their own (from ten questions on
        ``answers.01.csv``, …).
    data : path or frame
        Instead of the plan's "data".
    ledger : path, address or Ledger
        Instead of the plan's "ledger". [default: next to the data]
    report : path
        Instead of the plan's "report": where to write one page (.html) of the whole batch, to hand over.
    title, labels
        As for `irisdp.publish`, before the plan's "title" and "labels" and those of the project file.
    force : bool
        Whether files that are there already may be replaced.
    max_charge : number, text or sequence, optional
        As for `irisdp.publish`, for the whole batch.
    another_ledger : bool
        As for `irisdp.publish`, instead of the plan's "another_ledger".

    Returns
    -------
    BatchPublication
        All answers together are (ε,δ)-differentially private at its `cost`: proofs/batches.md, and
        tests/oracles/test_end_to_end_batches.py for every tiny table.

    Raises
    ------
    BadInput
        As `irisdp.publish`; what is wrong with a question names it, counted from 1. Nothing is spent.
    NotShown
        As `irisdp.publish`: what was charged is in the ledger, and asking again costs nothing.
    ScopeRefused, BudgetRefused
        As `irisdp.publish`, for all questions together: nothing was drawn or spent.

    Examples
    --------
    >>> import pathlib, tempfile, pyarrow
    >>> survey = pyarrow.table({"age": [70, 30, 81], "town": ["Ely", "Ely", "York"]})
    >>> questions = [{"query": "count", "expression": f"age > {age}"} for age in range(40)]
    >>> asked = {"budget": {"epsilon": 1, "delta": "1e-6"}, "questions": questions}
    >>> found = batch(asked, data=survey, ledger=pathlib.Path(tempfile.mkdtemp(), "survey.ledger"))
    >>> found.cost
    Cost(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
    >>> len(found)
    40
    """
    planned, ready = _checked(
        plan, ledger, force, max_charge, another_ledger, data=data, report=report, title=title, labels=labels
    )
    table = ready.request.promise.table
    done = execute(ready, lambda cells, _, cost: [_draw_all(planned, cells, table, cost)])
    with errors_after_charge():
        return _handed_over(planned, ready, done)


def _checked(
    plan: Any,
    ledger: str | os.PathLike[str] | Ledger | None,
    force: bool,
    max_charge: Any,
    another_ledger: bool,
    **told: Any,
) -> tuple[BatchPlan, CheckedQuestion]:
    """Check all that `batch` checks before it reads a record."""
    asked = read_batch(plan, **told)
    (dataset,) = asked.datasets
    before = fingerprint_of_table(data_location(dataset.data))
    planned = plan_asked(asked)
    given: dict[str, Any] = {} if ledger is None else {"ledger": ledger}
    given |= {"another_ledger": True} if another_ledger else {}
    request, first = planned.request(), planned.plans[0]
    before = stamp_of_part(before, first.table.location)
    choice = ledger_of(first, {**dataset.options, **given})
    check_declared(first.table, None if choice.default else choice.book, dataset.options.get("table"))
    book = choice.book
    files, reports = _plan_files(planned, book, force=force)
    for declared in ({"the plan": asked.file}, *(one.declared_in for one in planned.plans)):
        check_ledger(book, first.table.location, declared, default=choice.default)
    choice.check(book)
    check_known(first.table, book, dataset.options.get("secret"), default=choice.default)
    ready = CheckedQuestion(
        plans=planned.plans,
        request=replace(request, outputs={None: [str(file.path.absolute()) for file, *_ in files]}),
        choice=choice,
        files=files,
        reports=reports,
        labels=asked.labels.over(None if first.project is None else first.project.labels),
        licence=dataset.licence,
        secret=dataset.options.get("secret"),
        stamp=before,
        max_charge=read_max_charge(max_charge),
    )
    return planned, ready


def _handed_over(planned: BatchPlan, ready: CheckedQuestion, done: Executed) -> BatchPublication:
    """Show and write down what is charged by now."""
    report_step(3)
    settled = done.charged
    (entry,), (number,) = settled.entries, settled.ids
    drawn = dict(zip(planned.order, json.loads(entry.answers), strict=True))
    files = dict(zip(_written(planned.asked), ready.files, strict=True))
    publications, parts = [], []
    cells = [None] * len(planned.plans) if done.cells is None else [each.nodes for each in done.cells]
    for place, (one, nodes) in enumerate(zip(planned.plans, cells, strict=True)):
        (audience,) = one.audiences
        own = Answers.from_bytes(drawn[place].encode())
        told = {"cost": entry.cost.to_document(), "questions": len(planned.plans), "question": place + 1}
        answers, beside = shown_of(one, audience, nodes, own, number, provenance(settled), batch=told)
        paths = [file.path for file in files.get(place, ())]
        parts.append((beside, answers, paths[0] if paths else None))
        publications.append(
            Publication(
                plan=one,
                answers_of={None: answers},
                repeated=settled.repeated,
                cost=entry.cost * 0,
                ledger=done.book.place,
                ids=(number,),
                out=tuple(paths),
                sidecars={None: beside},
                in_batch=True,
            )
        )
    written = write_files(
        ready.files,
        {place: publications[place].answers for place in files},
        {place: publications[place].sidecars[None] for place in files},
        ready.licence,
        pages(ready.reports, [parts], ready.labels),
    )
    for one in planned.plans:
        one.table.close()
    return BatchPublication(
        plan=planned,
        publications=tuple(publications),
        repeated=settled.repeated,
        cost=settled.charged,
        charged=entry.cost,
        ledger=done.book.place,
        id=number,
        pages=written[len(written) - len(ready.reports) :],
        anew=done.anew,
    )


def _written(asked: PlanFile) -> list[int]:
    """Return the places of the questions whose answers go to files."""
    return [index for index, question in enumerate(asked.questions) if "out" in question.options]


@checked
def dry_run_batch(
    plan: Any,
    *,
    data: Any = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    report: str | os.PathLike[str] | None = None,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
    max_charge: Any = None,
    another_ledger: bool = False,
) -> DryRun[BatchPlan]:
    """Check all that `irisdp.batch` would, and say what it would cost; reads no record, spends and creates nothing."""
    planned, ready = _checked(
        plan, ledger, force, max_charge, another_ledger, data=data, report=report, title=title, labels=labels
    )
    return DryRun(planned, ready.book, simulate_charge(ready))


def _draw_all(planned: BatchPlan, cells: Sequence[GroupStatistics], table: str | None, cost: Charge) -> LedgerEntry:
    """Draw all questions, each afresh: a batch refines no earlier release, and none refines it."""
    drawn = []
    for place in planned.order:
        (entry,) = draw_answers(planned.plans[place], cells[place], (), table, cost)
        drawn.append(entry.answers.decode())
    answers = json.dumps(drawn, ensure_ascii=False, separators=(",", ":")).encode()
    details = drawn_by(table) | (
        {} if type(cost) is type(planned.cost) else {"guarantee": planned.cost.told(told_exactly)}
    )
    return LedgerEntry(cost=cost, answers=answers, details=json.dumps(details, ensure_ascii=False))


def _plan_files(planned: BatchPlan, book: Ledger, *, force: bool) -> tuple[Files, tuple[Output, ...]]:
    """Plan the files of the questions that have one, and the page, apart from all that is read and kept."""
    asked = planned.asked
    table = planned.plans[0].table
    own = kept_if_dated("{date}" if asked.is_dated else None, force)
    data, read = table.location, [("the plan", asked.file)]
    read += [(what, file) for plan in planned.plans for what, file in plan.declared_in.items()]
    targets = {place: asked.questions[place].options["out"] for place in _written(asked)}
    beside = secret_key_file(asked.datasets[0].options.get("secret"), table.path, book)

    def plan_some(places: Sequence[int]) -> Files:
        chosen = [targets[place] for place in places]
        return plan_files(chosen, data=data, read=read, ledger=book.path, keeper=beside, force=own)

    first: dict[Path, int] = {}
    for place, target in targets.items():
        with asked.questions[place].blamed():
            plan_some([place])
        other = first.setdefault(target, place)
        if other != place:
            rule = f"{target} is also that of question {other + 1}: they are one file"
            raise BadInput(f"question {place + 1}: out", rule, "choose names that differ")
    planned_files = plan_some(list(targets))
    page = [] if asked.report is None else [asked.report]
    reports = plan_reports(page, planned_files, data=data, read=read, ledger=book.path, keeper=beside, force=own)
    return planned_files, reports
