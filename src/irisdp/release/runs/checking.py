"""All that a plan asks, checked before anything is read or spent: each question by itself, and all of them together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import BadInput
from ...outputs import Output, plan_outputs
from ..options import PlanOptions, options_of
from ..places import check_ledger, data_location, keeper, names_of_data, stamp
from ..planning import plan
from ..preparing import Prepared, planned_files, prepare
from ..projects import find_project
from ..written import read_and_kept
from .reading import AskedDataset, AskedQuestion, AskedRun
from .record import Record

__all__ = ["Records", "planned_again", "planned_page", "prepare_all", "records_of"]

Records = Mapping[str, Record]
"""By the names of datasets."""

_FILES = ("ledger", "project", "secret", "types")
"""Options of a dataset that may name a file."""


def records_of(asked: AskedRun) -> Records:
    """Return for each dataset the record of what runs of the plan wrote of its answers."""
    return {dataset.name: Record(asked.file, _keeper(dataset)) for dataset in asked.datasets}


def _keeper(dataset: AskedDataset) -> str | os.PathLike[str] | None:
    """Return beside what the secret lies: as `places.keeper` has it, for a table that need not be there."""
    secret, ledger = dataset.options.get("secret"), dataset.options.get("ledger")
    if secret is not None:
        return Path(secret)
    if isinstance(dataset.data, Path):
        return dataset.data
    location = data_location(dataset.data)
    if location is not None:
        return location.path
    return ledger if isinstance(ledger, Path) else None


def prepare_all(asked: AskedRun, records: Records, *, force: bool) -> list[Prepared]:
    """Check every question as `irisdp.publish` does before it reads a record, and that none is in another's way.

    Raises
    ------
    BadInput, PromiseRefused
        Naming the question, or the dataset.
    """
    projects = {}
    for question in asked.questions:
        dataset = question.dataset
        if dataset.name not in projects:
            with question.blamed():  # read once, for all questions
                projects[dataset.name] = find_project(dataset.data, dataset.options.get("project"))
    ready = []
    for question in asked.questions:
        dataset = question.dataset
        options = {**question.options, "project": projects[dataset.name]}
        with question.blamed():
            before = stamp(data_location(dataset.data))
            planned = plan(dataset.data, *question.words, **options_of(PlanOptions, options))
            one = prepare(planned, before, options, force or records[dataset.name].wrote)
            check_ledger(one.book, one.planned.table.location, {"the plan": asked.file}, default=False)
            ready.append(one)
    _check_apart(asked, ready)
    planned_page(asked, records, force=force)
    return ready


def planned_page(asked: AskedRun, records: Records, *, force: bool) -> tuple[Output, ...]:
    """Check where the page of the whole plan goes, if it has one; that it is apart from all else was checked."""
    if asked.report is None:
        return ()
    may_replace = force or records[asked.questions[0].dataset.name].wrote
    return plan_outputs([asked.report], [], field="report", force=may_replace)


def planned_again(question: AskedQuestion, ready: Prepared, record: Record, *, force: bool) -> Prepared:
    """Check once more where answers go: since all was checked, other questions were answered, which may take long."""
    files, reports = planned_files(
        ready.planned,
        ledger=ready.book,
        secret=ready.secret,
        out=question.options.get("out"),
        report=question.options.get("report"),
        force=force or record.wrote,
    )
    return replace(ready, files=files, reports=reports)


def _check_apart(asked: AskedRun, ready: Sequence[Prepared]) -> None:
    """Refuse an output that another question reads, keeps or writes, or that is the plan."""
    read: dict[tuple[str, str], tuple[str, str | Path]] = {}
    for one in ready:
        table, declared = one.planned.table, one.planned.declared_in.items()
        kept = keeper(one.secret, table.path, one.book)
        for role, path in read_and_kept(table.location, [("the plan", asked.file), *declared], one.book.path, kept):
            read[role, str(path)] = role, Path(path)
    inputs = [*read.values(), *_named_only(asked)]
    page = [] if asked.report is None else [asked.report]
    try:
        plan_outputs([*page, *(one.path for own in ready for one in own.outputs)], inputs, field="out", force=True)
    except BadInput:  # now it takes longer, and says of which
        for question, own in zip(asked.questions, ready, strict=True):
            for output in own.outputs:
                with question.blamed():
                    plan_outputs([output.path], inputs, field=output.field, force=True)
            inputs += [(f"what {question.label} writes", output.path) for output in own.outputs]
        plan_outputs(page, inputs, field="report", force=True)
        raise


def _named_only(asked: AskedRun) -> list[tuple[str, str | Path]]:
    """Return the files of datasets that no question is about: they are somebody's tables and ledgers all the same."""
    asked_about = {question.dataset.name for question in asked.questions}
    return [
        (f"{key} of dataset {dataset.name}", path)
        for dataset in asked.datasets
        if dataset.name not in asked_about
        for key, path in (
            *names_of_data(data_location(dataset.data)),
            ("the data", dataset.data),
            *((key, dataset.options.get(key)) for key in _FILES),
        )
        if isinstance(path, str | Path) and "://" not in str(path)
    ]
