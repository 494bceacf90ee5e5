"""What `publish` prints: a plan before it is carried out, and the answers after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..exact import told_above
from .answers import KNOWN_ELSEWHERE, PAID_BEFORE, show_answers
from .expectations import show_expectations, show_within
from .options import console, say, short_path
from .spelling import in_options

if TYPE_CHECKING:
    from ..release import Plan, Publication
    from ..release.outlook import Outlook

__all__ = ["show_plan", "show_published", "show_takes"]

_ANEW = (
    "this ledger has answered the question before, about other data; where the data is the same, it was under another"
    " secret: let all who ask share the file .tables.irisdp-secret, or pay each time"
)


def show_plan(planned: Plan, ledger: Path | str, outlook: Outlook | None, options: Mapping[str, str]) -> None:
    """Say what a question would cost and be answered like, from public facts; `options` are those of the command."""
    view = console()
    say(view, planned.line, style="bold")
    view.print(f"  cost      {planned.describe_cost()}", soft_wrap=True)
    for error in planned.describe_error():
        view.print(f"  error     {error}", soft_wrap=True)
    show_expectations(planned)
    for said in planned.describe_naming():
        say(view, f"  named     {said}")
    for groups in planned.describe_groups():
        say(view, f"  groups    {groups}")
    for categories in planned.describe_categories():
        say(view, f"  among     {categories}")
    _show_rules(planned)
    for heading, said in (
        outlook.describe(short_path(ledger))
        if outlook
        else [("ledger", f"{short_path(ledger)}: is made by the first release, {KNOWN_ELSEWHERE}")]
    ):
        say(view, f"  {heading:<9} {in_options(said, options)}")
    view.print("  dry run: no record was read, nothing was spent")


def _show_rules(planned: Plan) -> None:
    """Say by which rules records are read, what stands for a person, and what is public."""
    for heading, words in planned.describe_rules():
        say(console(), f"  {heading:<9} {words}")


def show_takes(planned: Plan) -> None:
    """Say what is asked, and what the error that was asked for takes."""
    say(console(), planned.line, style="bold")
    show_within(planned)


def show_published(published: Publication, *, titled: bool = False) -> None:
    """Show answers, what they cost, by which rules they were read, and where they are; `titled` says what is asked."""
    from ..accounting import Cost

    view = console()
    planned = published.plan
    if not titled:
        say(view, planned.line, style="bold")
    show_answers(published)
    if published.repeated:
        view.print("  cost      nothing: this question was answered before, and this is the same answer")
    elif published.cost == planned.cost:
        view.print(f"  cost      {planned.describe_cost()}", soft_wrap=True)
    elif isinstance(published.cost, Cost):
        new = f"only {told_above('ε', published.cost.epsilon)} is new"
        if published.cost.is_nothing:
            new = f"nothing is new: these are answers {PAID_BEFORE}"
        view.print(f"  cost      {planned.describe_cost()}, of which {new}", soft_wrap=True)
    else:
        view.print(f"  cost      {planned.describe_cost()}; charged {published.cost}", soft_wrap=True)
    if published.anew:
        view.print(f"  anew      {_ANEW}", soft_wrap=True)
    for error in planned.describe_error():
        view.print(f"  error     {error}", soft_wrap=True)
    for said in planned.describe_naming():
        say(view, f"  named     {said}")
    _show_rules(planned)
    say(view, f"  ledger    {short_path(published.ledger)}: {published.describe_budget()}")
    for path in published.out:
        say(view, f"  written   {path}")
