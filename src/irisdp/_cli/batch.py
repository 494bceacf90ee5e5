"""`irisdp batch PLAN.json`: several questions, charged as one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Refusal
from .command_facts import LogFile, log_to
from .commands import error_in_options, in_options
from .output import (
    KNOWN_ELSEWHERE,
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
    show_answers,
    show_what_is_charged,
)
from .progress_display import progress

if TYPE_CHECKING:
    from .._release import BatchPlan, BatchPublication, DryRun


def batch_command(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN.json",
            help="The plan: data, budget and questions. Its fields are those of the option names with underscores; "
            "each question has a weight, and twice the weight means half the noise. Paths start at the current "
            "folder.",
        ),
    ],
    report: Annotated[
        Path | None,
        typer.Option(help="Write an .html page that explains all answers to readers.", metavar="FILE"),
    ] = None,
    title: Title = None,
    labels: LabelsFile = None,
    force: Force = False,
    max_charge: MaxCharge = None,
    another_ledger: AnotherLedger = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show errors, the sum and the exact total. Spends nothing.",
        ),
    ] = False,
    log_file: LogFile = None,
    as_json: AsJson = False,
) -> None:
    """Publish several questions as one charge, with the least noise that fits the budget."""
    from .._release import batch, dry_run_batch

    log_to(log_file)
    asked: dict[str, Any] = {"report": report, "title": title, "labels": labels, "force": force}
    asked |= {"max_charge": max_charge, "another_ledger": another_ledger}
    if dry_run:
        foreseen = dry_run_batch(plan, **asked)
        refused = foreseen.outlook is not None and foreseen.outlook.refused
        if as_json:
            outlook = foreseen.outlook and error_in_options(foreseen.outlook.to_document(), {})
            document = {**foreseen.plan.to_document(), "dry_run": True, "ledger": outlook}
            print_json(document, status=Refusal.exit_status if refused else 0)
        else:
            _show_plan(foreseen)
        if refused:
            raise typer.Exit(Refusal.exit_status)
        return
    with progress(quiet=as_json):
        published = batch(plan, **asked)
    with show_what_is_charged(published.out):
        if as_json:
            print_json(published.to_document())
        else:
            _show(published)


def _show_plan(foreseen: DryRun[BatchPlan]) -> None:
    from .._release import in_keys

    planned, view = foreseen.plan, console()
    for number, plan in enumerate(planned.plans, start=1):
        say(view, f"{number}. {plan.line}", style="bold")
        for error in plan.describe_error():
            fact("error", error)
        for said in plan.describe_naming():
            fact("named", said)
        for groups in plan.describe_groups():
            fact("groups", groups)
        for categories in plan.describe_categories():
            fact("among", categories)
    _show_cost(planned)
    for heading, said in (
        foreseen.outlook.describe(short_path(foreseen.ledger.place))
        if foreseen.outlook
        else [("ledger", f"{short_path(foreseen.ledger.place)}: will be created, {KNOWN_ELSEWHERE}")]
    ):
        fact(heading, in_options(in_keys(said, _PRICES), {}))
    print("  dry run: no record was read, nothing was spent")


_PRICES = ("epsilon", "delta", "mu")


def _show_cost(planned: BatchPlan, *, repeated: bool = False) -> None:
    """Say what all costs and by which rules it is read; of what is repeated it was said that it costs nothing."""

    one = planned.plans[0]
    public = {line: None for each in planned.plans for line in each.describe_public()}  # each once, in their order
    notes = {line: None for each in planned.plans for line in each.describe_unlisted()}
    said = [
        *(("note", line) for line in notes),
        *(line for line in planned.describe_cost() if not (repeated and line[0] == "cost")),
        *(("project", line) for line in one.describe_project()),
    ]
    said += [("read", reading) for reading in planned.describe_reading()]
    said += [("unit", rule) for rule in _unit_rules(planned)]
    for heading, words in [*said, *(("public", line) for line in public)]:
        fact(heading, words)


def _unit_rules(planned: BatchPlan) -> list[str]:
    """Describe the privacy unit, and name the questions if it differs between them."""
    numbers: dict[str, list[str]] = {}
    for number, each in enumerate(planned.plans, start=1):
        for rule in each.asked.describe_unit():
            numbers.setdefault(rule, []).append(str(number))
    if len(numbers) < 2:
        return list(numbers)
    return [f"{rule} (question {', '.join(asked)})" for rule, asked in numbers.items()]


def _show(published: BatchPublication) -> None:
    view = console()
    for number, publication in enumerate(published, start=1):
        say(view, f"{number}. {publication.plan.line}", style="bold")
        show_answers(publication)
        for error in publication.plan.describe_error():
            fact("error", error)
        for said in publication.plan.describe_naming():
            fact("named", said)
        for path in publication.out:
            fact("written", str(path))
    for path in published.pages:
        fact("written", str(path))
    if published.repeated:
        fact("cost", "nothing: all this was answered before, and these are the same answers")
        fact("before", f"{published.charged}: what line {published.id} of the ledger was charged")
    elif type(published.cost) is not type(published.plan.cost):
        fact("charged", f"{published.cost}: that is what this ledger counts")
    _show_cost(published.plan, repeated=published.repeated)
    fact("ledger", f"{short_path(published.ledger)}: {published.describe_budget()}")
