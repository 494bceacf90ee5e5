"""`irisdp batch PLAN.json`: several questions, charged as one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import Refusal
from .answers import KNOWN_ELSEWHERE, show_answers
from .options import AsJson, Force, console, print_json, say, short_path
from .progress import progress
from .spelling import error_in_options, in_options
from .terminal import show_what_is_charged

if TYPE_CHECKING:
    from ..release import BatchPlan, BatchPublication
    from ..release.batches.publishing import BatchOutlook

__all__ = ["batch_command"]


def batch_command(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN.json",
            help='{"data": "survey.csv", "budget": {"epsilon": 1, "delta": "1e-6"}, "questions": [{"query": "count", '
            '"expression": "age > 64", "by": "town", "groups": "A,B", "weight": 1, "out": "old.csv"}, …]}; also '
            '"ledger", "relation", "unit", "out", "report", "licence", "secret", "table", "encoding", "delimiter", '
            '"types", "engine", "master"; of questions "per_unit", "categories", "bins", "select_groups", "delta", '
            '"selection_delta", "public_membership", "confidence". "groups" may be a list; K stands in '
            '"query": "at-least 100"; the budget\'s delta may be left out. Without "out" answers are '
            "shown and kept in the ledger. Paths count from the current folder. Twice the weight is half the noise.",
        ),
    ],
    report: Annotated[
        Path | None,
        typer.Option(help="Write a page of the whole batch to hand over, too: .html.", metavar="FILE"),
    ] = None,
    force: Force = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show errors, the total by sums and the exact total; spend nothing. Status 1 if it would be refused.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish several questions as one charge, with the least noise whose exact total fits the budget."""
    from ..release.batches import batch
    from ..release.batches.publishing import foresee_batch

    if dry_run:
        foreseen = foresee_batch(plan, report=report, force=force)
        if as_json:
            outlook = foreseen.outlook and error_in_options(foreseen.outlook.to_document(), {})
            print_json({**foreseen.plan.to_document(), "dry_run": True, "ledger": outlook})
        else:
            _show_plan(foreseen)
        if foreseen.outlook is not None and foreseen.outlook.refused:
            raise typer.Exit(Refusal.exit_status)
        return
    with progress(quiet=as_json):
        published = batch(plan, report=report, force=force)
    with show_what_is_charged():
        if as_json:
            print_json(published.to_document())
        else:
            _show(published)


def _show_plan(foreseen: BatchOutlook) -> None:
    from rich.markup import escape

    from ..release.batches.wording import in_keys

    planned, view = foreseen.plan, console()
    for number, one in enumerate(planned.plans, start=1):
        view.print(f"[bold]{number}. {escape(one.line)}[/bold]")
        for error in one.describe_error():
            view.print(f"  error     {escape(error)}", soft_wrap=True)
        for said in one.describe_naming():
            say(view, f"  named     {said}")
        for groups in one.describe_groups():
            say(view, f"  groups    {groups}")
        for categories in one.describe_categories():
            say(view, f"  among     {categories}")
    _show_cost(planned)
    for heading, said in (
        foreseen.outlook.describe(short_path(foreseen.ledger.place))
        if foreseen.outlook
        else [("ledger", f"{short_path(foreseen.ledger.place)}: is made by the first release, {KNOWN_ELSEWHERE}")]
    ):
        view.print(f"  {heading:<9} {escape(in_options(in_keys(said, _PRICES), {}))}", soft_wrap=True)
    view.print("  dry run: no record was read, nothing was spent")


_PRICES = ("epsilon", "delta", "mu")


def _show_cost(planned: BatchPlan, *, repeated: bool = False) -> None:
    """Say what all costs and by which rules it is read; of what is repeated it was said that it costs nothing."""
    from rich.markup import escape

    one = planned.plans[0]
    public = {line: None for each in planned.plans for line in each.describe_public()}  # each once, in their order
    notes = {line: None for each in planned.plans for line in each.describe_unlisted()}
    said = [
        *(("note", line) for line in notes),
        *(line for line in planned.describe_cost() if not (repeated and line[0] == "cost")),
        *(("project", line) for line in one.describe_project()),
    ]
    said += [*(("read", reading) for reading in one.describe_reading())]
    said += [("unit", rule) for rule in _unit_rules(planned)]
    for heading, words in [*said, *(("public", line) for line in public)]:
        console().print(f"  {heading:<9} {escape(words)}", soft_wrap=True)


def _unit_rules(planned: BatchPlan) -> list[str]:
    """Say what stands for a person; where that differs, of which questions."""
    numbers: dict[str, list[str]] = {}
    for number, each in enumerate(planned.plans, start=1):
        for rule in each.asked.describe_unit():
            numbers.setdefault(rule, []).append(str(number))
    if len(numbers) < 2:
        return list(numbers)
    return [f"{rule} (question {', '.join(asked)})" for rule, asked in numbers.items()]


def _show(published: BatchPublication) -> None:
    from rich.markup import escape

    view = console()
    for number, found in enumerate(published, start=1):
        view.print(f"[bold]{number}. {escape(found.plan.line)}[/bold]")
        show_answers(found)
        for error in found.plan.describe_error():
            view.print(f"  error     {escape(error)}", soft_wrap=True)
        for said in found.plan.describe_naming():
            say(view, f"  named     {said}")
        for path in found.out:
            view.print(f"  written   {escape(str(path))}", soft_wrap=True)
    for path in published.pages:
        view.print(f"  written   {escape(str(path))}", soft_wrap=True)
    if published.repeated:
        view.print("  cost      nothing: all this was answered before, and these are the same answers")
        view.print(f"  before    {published.charged}: what line {published.id} of the ledger was charged")
    elif type(published.cost) is not type(published.plan.cost):
        view.print(f"  charged   {published.cost}: that is what this ledger counts")
    _show_cost(published.plan, repeated=published.repeated)
    view.print(
        f"  ledger    {escape(short_path(published.ledger))}: {escape(published.describe_budget())}", soft_wrap=True
    )
