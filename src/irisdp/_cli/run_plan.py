"""`irisdp run PLAN.toml`: the questions of a plan, one after the other, each charged by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._exact import so_many, told_below
from ..errors import BadInput
from .command_facts import LogFile, log_to
from .commands import error_in_options, in_options
from .output import (
    KNOWN_ELSEWHERE,
    PAID_BEFORE,
    AnotherLedger,
    AsJson,
    Force,
    LabelsFile,
    MaxCharge,
    Title,
    console,
    fact,
    print_json,
    say,
    short_path,
    show_table,
    show_what_is_charged,
)
from .progress_display import progress

if TYPE_CHECKING:
    from .._release import Answered, Case, Expected, LedgerOutlook, RunOutlook, RunPublication


def run_command(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN.toml",
            help="The plan: [datasets.NAME] with the data and its settings, and [[questions]] with the options of "
            "irisdp publish. Paths start at the folder of the plan.",
        ),
    ],
    title: Title = None,
    labels: LabelsFile = None,
    force: Force = False,
    max_charge: MaxCharge = None,
    another_ledger: AnotherLedger = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the cost of each question and of all. Spends nothing.",
        ),
    ] = False,
    schema: Annotated[
        Path | None,
        typer.Option(
            help="With --dry-run: a JSON file, {column: type}. No table and no ledger is opened.", metavar="FILE"
        ),
    ] = None,
    log_file: LogFile = None,
    as_json: AsJson = False,
) -> None:
    """Publish the questions of a plan file in order. Answered questions are free, so a stopped run can resume.

    Iris checks the whole plan before it spends anything. It updates files that earlier runs of the plan wrote, and
    overwrites other files with --force only.
    """
    from .._release import dry_run_plan, run

    log_to(log_file)
    if schema is not None and not dry_run:
        raise BadInput("schema", "stands in for the data, which a release needs", "add --dry-run, or leave it out")
    asked: dict[str, Any] = {"title": title, "labels": labels, "force": force}
    asked |= {"max_charge": max_charge, "another_ledger": another_ledger}
    if dry_run:
        foreseen = dry_run_plan(plan, **asked, schema=schema)
        if as_json:
            status = 0 if foreseen.refusal is None else foreseen.refusal.exit_status
            print_json(error_in_options(foreseen.to_document(), _OPTIONS), status=status)
        else:
            _show_outlook(foreseen)
        if foreseen.refusal is not None:
            raise typer.Exit(foreseen.refusal.exit_status)
        return
    with progress(quiet=as_json):
        published = run(plan, **asked)
    with show_what_is_charged(published.out):
        if as_json:
            print_json(published.to_document())
        else:
            _show(published)


_OPTIONS = {"force": "", "dry_run": "", "max_charge": "E[,D]", "another_ledger": ""}


def _show_outlook(foreseen: RunOutlook) -> None:
    from .._release import IF_UNCHANGED

    view = console()
    for one in foreseen.questions:
        title = f"{one.number}. {one.plan.line}" + (f" ({one.name})" if one.name else "")
        say(view, title, style="bold")
        fact("cost", one.plan.describe_cost())
        for error in one.plan.describe_error():
            fact("error", error)
        for said in one.plan.describe_charges():
            fact("charge", said)
        for heading, said in _becomes(one):
            fact(heading, in_options(said, _OPTIONS))
        for said in one.plan.describe_unlisted():
            fact("note", said)
        for path in one.out:
            fact("out", short_path(path))
    answered = sum((one.expected or one.unchanged).repeated for one in foreseen.questions)
    since = "" if foreseen.is_known else f" {IF_UNCHANGED}"
    number = len(foreseen.questions)
    told = so_many(number, "question") + (f", of which {answered} answered and free{since}" if answered else "")
    say(view, told, style="bold")
    for ledger in foreseen.ledgers:
        for heading, said in _stands(ledger, is_new=foreseen.is_without_data):
            fact(heading, in_options(said, _OPTIONS))
    for said in _composed(foreseen):
        fact("partitions", said)
    refusal = foreseen.refusal or foreseen.refusal_if_changed
    if refusal is not None:
        from .._release import refusal_condition as when_refused

        when = "" if foreseen.refusal else when_refused(refusal)
        said = in_options(f"would be refused{when}: {refusal}", _OPTIONS)
        fact("refused", said)
    what = "no table was opened" if foreseen.is_without_data else "no record was read"
    print(f"  dry run: {what}, nothing was spent")


def _becomes(one: Expected) -> list[tuple[str, str]]:
    from .._release import IF_UNCHANGED

    same, other, since = one.unchanged, one.changed, IF_UNCHANGED
    if one.expected is not None:
        if one.expected.repeated:
            return [("new", "nothing since the file has not changed: this was answered before, and is free")]
        return _charge(one.expected, one)
    if same.repeated and other.repeated:
        return [("new", "nothing: a question before asks the same")]
    if same.repeated:
        return [("new", f"nothing {since}: this was answered before, and is free")]
    if same.refusal is None and same.cost != other.cost:
        return [("new", f"{same.cost.as_new()} {since}")]
    return _charge(other, one)


def _charge(case: Case, one: Expected) -> list[tuple[str, str]]:
    if case.cost == one.plan.cost:
        return []
    said = (
        "that is what is new after the questions before"
        if type(case.cost) is type(one.plan.cost)
        else ("that is what its ledger counts")
    )
    return [("charge", f"{case.cost.as_charged()}: {said}")]


def _composed(foreseen: RunOutlook) -> list[str]:
    """Say how the charges of partitions make up a total; nothing where no question is about a partition."""
    divided = [one.plan for one in foreseen.questions if one.plan.table.part is not None]
    said = {
        f"charges for different partitions add up, as one {plan.unit} may be in each"
        if plan.unit is not None
        else "of the charges for different partitions the largest counts"
        for plan in divided
    }
    return sorted(said)


def _stands(ledger: LedgerOutlook, *, is_new: bool) -> list[tuple[str, str]]:
    from .._ledger import say_unlimited
    from .._release import IF_UNCHANGED

    left = "no limit is set" if ledger.left is None else f"left {ledger.left.told(told_below)}"
    made = "" if ledger.there else f", will be created, {KNOWN_ELSEWHERE}"
    made = ", not opened; this is the charge of a first run" if is_new else made
    total = ledger.changed if ledger.expected is None else ledger.expected
    lines = [("ledger", f"{short_path(ledger.ledger)}: {left}{made}"), ("total", str(total))]
    lines += [("warning", line) for line in say_unlimited(ledger.unlimited, ledger.currency)]
    if ledger.expected is None and ledger.unchanged != ledger.changed:
        lines.append(("new", f"{ledger.unchanged.as_new()} {IF_UNCHANGED}"))
    return lines


def _show(published: RunPublication) -> None:

    rows = []
    for question in published.questions:
        found = question.publication
        charged = "nothing" if found.repeated else found.cost.as_charged()
        files = ", ".join(path.name for path in found.out if not path.name.endswith(_BESIDE))
        rows.append((question.number, question.title, _answer(question), charged, files))
    show_table(("", "question", "answer", "charged", "files"), rows, title=published.file.name, sparse=True)
    free = sum(found.repeated for found in published)
    if free:
        fact("free", f"{free} of {len(published)}: answered before, and these are the same answers")
    coarser = sum(found.cost.is_nothing and not found.repeated for found in published)
    if coarser:
        fact("free", f"{coarser} of {len(published)}: new answers {PAID_BEFORE}")
    for line in {said: None for found in published for said in found.plan.describe_unlisted()}:
        fact("note", line)
    for line in {said: None for found in published for said in found.describe_unlimited()}:
        fact("warning", in_options(line, {}))
    for line in published.describe_budgets():
        fact("ledger", line)


_BESIDE = (".release.json", ".datapackage.json")


def _answer(one: Answered) -> str:
    """Show an answer that is one, and how many there are else."""
    told = [
        str(answer.values[0]) if len(answer.values) == 1 and not answer.by else so_many(len(answer.values), "answer")
        for answer in one.publication.answers_of.values()
    ]
    names = [name for name in one.publication.answers_of if name is not None]
    return ", ".join(f"{name}: {said}" for name, said in zip(names, told, strict=True)) if names else told[0]
