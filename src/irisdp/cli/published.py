"""What `publish` prints: a plan before it is carried out, and the answers after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..exact import told_above
from .answers import KNOWN_ELSEWHERE, PAID_BEFORE, show_answers
from .options import console, fact, say, short_path
from .spelling import in_options

if TYPE_CHECKING:
    from ..release import Plan, Publication
    from ..release.outlook import Outlook

__all__ = ["show_plan", "show_published", "show_takes"]

_NAMED = {"encoding": "NAME", "delta": "D", "at_most": "M"}
"""Options that notes on reading name."""
_NAMES = ("groups", "among")
"""Labels of lines that hold names as they were typed."""

_ANEW = (
    "this ledger has answered the question before, about other data; where the data is the same, it was under another"
    " secret: let all who ask share the file .tables.irisdp-secret, or pay each time"
)


def show_plan(planned: Plan, ledger: Path | str, outlook: Outlook | None, options: Mapping[str, str]) -> None:
    """Say what a question would cost and be answered like, from public facts; `options` are those of the command."""
    view = console()
    say(view, planned.line, style="bold")
    for heading, said in planned.describe():
        fact(heading, said if heading in _NAMES else in_options(said, _NAMED))
    for heading, said in (
        outlook.describe(short_path(ledger))
        if outlook
        else [("ledger", f"{short_path(ledger)}: will be created, {KNOWN_ELSEWHERE}")]
    ):
        fact(heading, in_options(said, options))
    print("  dry run: no record was read, nothing was spent")


def _show_rules(planned: Plan, *, notes_only: bool = False) -> None:
    """Say by which rules records are read, what stands for a person, and what is public; or warnings alone."""
    for heading, words in planned.describe_rules():
        if heading == "note" or not notes_only:
            fact(heading, in_options(words, _NAMED))


def show_takes(planned: Plan) -> None:
    """Say what the question is, and what the requested accuracy requires."""
    say(console(), planned.line, style="bold")
    for heading, said in planned.describe_within():
        fact(heading, in_options(said, _NAMED))


def show_published(published: Publication, *, titled: bool = False, verbose: bool = False) -> None:
    """Show answers, their intervals, their cost, what is left and which files were written.

    Parameters
    ----------
    published : Publication
    titled : bool
        Whether the question was shown before.
    verbose : bool
        Whether to show expected errors and the rules by which records are read as well.
    """
    from ..accounting import Cost

    view = console()
    planned = published.plan
    if not titled:
        say(view, planned.line, style="bold")
    show_answers(published)
    if published.repeated:
        fact("cost", "nothing: this question was answered before, and this is the same answer")
    elif published.cost == planned.cost:
        fact("cost", planned.describe_cost())
    elif isinstance(published.cost, Cost):
        new = f"only {told_above('ε', published.cost.epsilon)} is new"
        if published.cost.is_nothing:
            new = f"nothing is new: these are answers {PAID_BEFORE}"
        fact("cost", f"{planned.describe_cost()}, of which {new}")
    else:
        fact("cost", f"{planned.describe_cost()}; charged {published.cost}")
    if published.anew:
        fact("anew", _ANEW)
    if verbose:
        for error in planned.describe_error():
            fact("error", error)
        fact("optimal", planned.describe_optimality())
    for said in planned.describe_naming():
        fact("named", said)
    _show_rules(planned, notes_only=not verbose)
    fact("ledger", f"{short_path(published.ledger)}: {published.describe_budget()}")
    for line in published.describe_unlimited():
        fact("warning", in_options(line, {}))
    for path in published.out:
        fact("written", path)
