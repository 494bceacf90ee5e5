"""Publishing a batch: all questions are read, drawn and charged in one transaction, or none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._exact import checked, told_exactly
from .._files import Output
from .._ledger import (
    ChargedAnswer,
    Ledger,
    LedgerEntry,
    TableVersion,
    check_ledger,
    check_neighbours,
    data_location,
    find_ledger,
    fingerprint_of_table,
    match_fingerprint,
    secret_key_file,
    unit_key,
)
from ..accounting import Charge
from ..errors import BadInput
from .answers import Answers
from .batch_plan import BatchPlan, plan_asked
from .dry_run import DryRun, foresee
from .labels import Labels
from .pipeline import GroupStatistics, decode_answers, draw_answers, read_statistics, release_document
from .plan_file import read_batch
from .progress import errors_after_charge, part_of, report_step
from .project import currency_with, give_limit, limit_to_set
from .publication import BatchPublication, Publication
from .release_file import Files, Released, drawn_by, pages, plan_files, plan_reports, provenance, sidecar, write_files


@checked
def batch(
    plan: Any,
    *,
    data: Any = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    report: str | os.PathLike[str] | None = None,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
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
        "ledger", "relation", "unit", "out", "report", "licence", "secret", "table", "encoding", "delimiter",
        "types", "engine", "master", "title" and "labels". A question may also say "categories", "bins",
        "select_groups", "delta", "selection_delta", "public_membership", "per_unit" and "confidence". All are as for
        `irisdp.publish`, paths too; the plan's ``"out": "answers.csv"`` becomes ``answers.1.csv``,
        ``answers.2.csv``, … for questions without one of their own (from ten questions on ``answers.01.csv``, …).
    data : path or frame
        Instead of the plan's "data".
    ledger : path, address or Ledger
        Instead of the plan's "ledger"; beside the data unless given.
    report : path
        Instead of the plan's "report": where to write one page (.html) of the whole batch, to hand over.
    title, labels
        As for `irisdp.publish`, before the plan's "title" and "labels" and those of the project file.
    force : bool
        Whether files that are there already may be replaced.

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
    asked = read_batch(plan, data=data, report=report, title=title, labels=labels)
    (dataset,) = asked.datasets
    before = fingerprint_of_table(data_location(dataset.data))
    planned = plan_asked(asked)
    where = _named(planned, ledger)
    promise = planned.promise()
    table = planned.plans[0].table
    book = find_ledger(table, where)
    files, reports = _plan_files(planned, book, force=force)
    _check_apart(planned, book, default=where is None)
    book.check(promise)
    project = planned.plans[0].project
    planned.cost_in(currency_with(book, limit_to_set(project, book)))  # before anything is read
    try:
        report_step(0)
        reading = TableVersion.begin(table, before)
        book, version, kept = match_fingerprint(
            table, reading.digest, book, dataset.options.get("secret"), default=where is None
        )
        book.check(promise, version)
        limit_to_set(project, book)  # refused before records are read
        key = unit_key(kept)
        cells = []
        for number, one in enumerate(planned.plans, start=1):
            with part_of(f"question {number} of {len(planned.plans)}"):
                report_step(1)
            cells.append(read_statistics(one, key))
        reading.check(table)
    finally:
        table.rest()
    give_limit(project, book)
    report_step(2)
    request = replace(
        planned.request(),
        fingerprint=version,
        draw=lambda _, cost: [_draw_all(planned, cells, promise.table, cost)],
        outputs={None: [str(file.path.absolute()) for file, *_ in files.values()]},
    )
    settled = book.charge(request)
    with errors_after_charge():
        return _handed_over(planned, cells, settled, files, reports, book)


def _handed_over(
    planned: BatchPlan,
    cells: Sequence[GroupStatistics],
    settled: ChargedAnswer,
    files: Mapping[int, tuple[Output, Output, Output]],
    reports: Sequence[Output],
    book: Ledger,
) -> BatchPublication:
    """Show and write down what is charged by now."""
    asked = planned.asked
    report_step(3)
    (entry,), (number,) = settled.entries, settled.ids
    drawn = dict(zip(planned.order, json.loads(entry.answers), strict=True))
    publications = []
    for place, (one, of_one) in enumerate(zip(planned.plans, cells, strict=True)):
        (audience,) = one.audiences
        own = Answers.from_bytes(drawn[place].encode())
        answers = decode_answers(one, audience, of_one.nodes, own)
        told = {"cost": entry.cost.to_document(), "questions": len(planned.plans), "question": place + 1}
        more = release_document(one, audience, of_one.nodes, own)
        beside = sidecar(one.body(audience), answers, number, more, provenance(settled), batch=told)
        publications.append(
            Publication(
                plan=one,
                answers_of={None: answers},
                repeated=settled.repeated,
                cost=entry.cost * 0,
                ledger=book.place,
                ids=(number,),
                out=(),
                sidecars={None: beside},
                in_batch=True,
            )
        )
    parts: list[Released] = []
    for place, found in enumerate(publications):
        path = files[place][0].path if place in files else None
        parts.append((found.sidecars[None], found.answers, path))
    written = write_files(
        tuple(files.values()),
        {place: publications[place].answers for place in files},
        {place: publications[place].sidecars[None] for place in files},
        asked.datasets[0].licence,
        pages(reports, [parts], _labels(planned)),
    )
    for place, planned_files in files.items():
        publications[place] = replace(publications[place], out=tuple(file.path for file in planned_files))
    for one in planned.plans:
        one.table.close()
    return BatchPublication(
        plan=planned,
        publications=tuple(publications),
        repeated=settled.repeated,
        cost=settled.charged,
        charged=entry.cost,
        ledger=book.place,
        id=number,
        pages=written[len(written) - len(reports) :],
    )


@checked
def foresee_batch(
    plan: Any,
    *,
    data: Any = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    report: str | os.PathLike[str] | None = None,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
) -> DryRun[BatchPlan]:
    """Check all that `irisdp.batch` would, and say what it would cost; reads no record, spends and creates nothing."""
    planned = plan_asked(read_batch(plan, data=data, report=report, title=title, labels=labels))
    where = _named(planned, ledger)
    book = find_ledger(planned.plans[0].table, where)
    _plan_files(planned, book, force=force)
    _check_apart(planned, book, default=where is None)
    check_neighbours(book, default=where is None)
    return DryRun(planned, book, foresee(book, planned.request(), planned.plans[0].project))


def _labels(planned: BatchPlan) -> Labels:
    """Return the labels of the page: the plan's, and where these say nothing the project's."""
    project = planned.plans[0].project
    return planned.asked.labels.over(None if project is None else project.labels)


def _named(planned: BatchPlan, ledger: Any) -> Any:
    """Return the ledger that was named, by the caller or the plan; None for the one beside the data."""
    return planned.asked.datasets[0].options.get("ledger") if ledger is None else ledger


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


def _plan_files(
    planned: BatchPlan, book: Ledger, *, force: bool
) -> tuple[dict[int, tuple[Output, Output, Output]], tuple[Output, ...]]:
    """Plan the files of the questions that have one, and the page, apart from all that is read and kept."""
    asked = planned.asked
    table = planned.plans[0].table
    data, read = table.location, [("the plan", asked.file)]
    read += [(what, file) for one in planned.plans for what, file in one.declared_in.items()]
    targets = {place: one.options["out"] for place, one in enumerate(asked.questions) if "out" in one.options}
    beside = secret_key_file(asked.datasets[0].options.get("secret"), table.path, book)

    def plan_some(places: Sequence[int]) -> Files:
        chosen = [targets[place] for place in places]
        return plan_files(chosen, data=data, read=read, ledger=book.path, keeper=beside, force=force)

    first: dict[Path, int] = {}
    for place, target in targets.items():
        with asked.questions[place].blamed():
            plan_some([place])
        other = first.setdefault(target, place)
        if other != place:
            rule = f"{target} is also that of question {other + 1}: they are one file"
            raise BadInput(f"question {place + 1}: out", rule, "choose names that differ")
    found = plan_some(list(targets))
    page = [] if asked.report is None else [asked.report]
    reports = plan_reports(page, found, data=data, read=read, ledger=book.path, keeper=beside, force=force)
    return dict(zip(targets, found, strict=True)), reports


def _check_apart(planned: BatchPlan, book: Ledger, *, default: bool) -> None:
    data = planned.plans[0].table.location
    check_ledger(book, data, {"the plan": planned.asked.file}, default=default)
    for one in planned.plans:
        check_ledger(book, data, one.declared_in, default=default)
