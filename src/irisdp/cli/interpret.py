"""`irisdp interpret RELEASE.json`: what a published count, or a name, says to one reader."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import BadInput
from ..exact import json_bytes, percent_below, read_json, short_above, short_below, short_text
from ..outputs import plan_outputs, write_outputs
from .interpret_choices import show_choices
from .interpret_together import show_interval, show_together
from .options import AsJson, Force, console, print_json

if TYPE_CHECKING:
    from ..reading import Estimates, Interpretation

__all__ = ["interpret_command"]

_MOST_SHOWN = 40
_WORTH_SAYING = 0.001


def interpret_command(
    release: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASE.json", help="Published answers, the .release.json beside them, or a mechanism."
        ),
    ],
    value: Annotated[
        str | None,
        typer.Option(metavar="V", help="The published answer to read; all in the file beside when left out."),
    ] = None,
    loss: Annotated[
        str,
        typer.Option(
            metavar="LOSS",
            help="What an error costs: absolute, squared, zero-one, pinball:LOW:HIGH (per unit too low, too high), "
            "threshold:K (only errors beyond K hurt), excess:K (by how much), or a table in a .json file.",
        ),
    ] = "absolute",
    at_least: Annotated[
        str | None,
        typer.Option(
            metavar="A", help="You know that the true count is at least this (of a winner: the number of records)."
        ),
    ] = None,
    at_most: Annotated[
        str | None,
        typer.Option(metavar="B", help="You know that it is at most this."),
    ] = None,
    lead: Annotated[
        str | None,
        typer.Option(
            metavar="L",
            help="Of a majority or a winner: you know that the largest is this many records ahead of all others.",
        ),
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            metavar="P.json", help="A list: your probabilities of the counts 0, 1, … Minimises the mean loss."
        ),
    ] = None,
    total: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=EXPR",
            help="A sum of cells with a row of its own: coast=north+south, or all=* for every cell. Repeat it. With "
            "--consistent it may be known: all=*=1200.",
        ),
    ] = None,
    consistent: Annotated[
        bool,
        typer.Option(
            "--consistent",
            help="Read all cells together: whole numbers that are possible, add up, and lie nearest to the answers.",
        ),
    ] = False,
    confidence: Annotated[
        str | None,
        typer.Option(metavar="C", help="How surely the truth lies between low and high; 0.95 unless given."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the readings, as they were drawn, to a .json file.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Read published counts as well as anyone can, and say how likely a yes, a no, a winner or a band is true.

    It takes what you know, needs nothing secret and costs nothing. The best rule may draw a reading at random: then
    each call draws anew, and says so.
    """
    from ..exact import numbers
    from ..reading import Estimates, Interpretation, JointInterpretation, interpret
    from ..reading.released import answers_beside, sidecar_beside

    sidecar = sidecar_beside(release)
    read = [
        ("the release", sidecar),
        ("the release", Path(release)),
        ("the published answers", answers_beside(sidecar)),
    ]
    read += [("the loss", Path(loss))] * loss.lower().endswith(".json")
    read += [] if prior is None else [("the prior", prior)]
    files = plan_outputs([] if out is None else [out], read, field="--out", force=force)
    try:
        found = interpret(
            sidecar,
            value,
            loss=loss,
            at_least=at_least,
            at_most=at_most,
            prior=None if prior is None else numbers(read_json(prior, "--prior"), "--prior"),
            lead=lead,
            total=total or None,
            consistent=consistent,
            confidence=confidence,
        )
    except BadInput as error:
        if error.field not in ("release", "mechanism") or release.name in error.rule:
            raise
        raise BadInput(release.name, error.rule, error.remedy) from None
    documents = found.to_documents()
    if isinstance(found, Estimates):
        write_outputs((file, json_bytes({"estimates": documents})) for file in files)
        if as_json:
            print_json({"estimates": documents})
        else:
            _show_estimates(found)
        return
    if value is not None and isinstance(found, Interpretation):
        documents = [documents[0] | {"posterior": found.posterior().to_document()}]
    document: dict[str, Any] = {"readings": documents} if value is None else documents[0]
    if isinstance(found, JointInterpretation):
        document = {"readings": documents, "consistent": found.consistent}
    write_outputs((file, json_bytes(document)) for file in files)
    if as_json:
        print_json(document)
    elif isinstance(found, JointInterpretation):
        show_together(found)
    elif not isinstance(found, Interpretation):
        show_choices(found)
    elif value is None:
        _show_all(found)
    else:
        _show_one(found)


def _show_estimates(found: Estimates) -> None:
    from rich.markup import escape
    from rich.table import Table

    from ..release.group_names import printable

    view = console()
    view.print(f"[bold]published {found.kind}: {len(found.rows)}[/bold]")
    table = Table(*map(escape, found.columns))
    for number, row in enumerate(found.rows):
        if number == _MOST_SHOWN:
            table.add_row(*["…"] * len(row))
            break
        shown = (short_text(part, 4) if isinstance(part, Fraction) else printable(part) for part in row)
        table.add_row(*map(escape, shown))
    view.print(table)
    view.print(f"  truth     {found.describe()}")


def _show_one(found: Interpretation) -> None:
    from rich.markup import escape

    from ..reading.intervals import RESTS_ON
    from ..release.group_names import printable

    view = console()
    answer = found.answers[0]
    view.print(f"[bold]{escape(printable(answer.published))} published[/bold], read for {found.loss.name} loss")
    view.print(f"  reading   {answer.reading}{_coin(found)}")
    _show_loss(found)
    if answer.interval.basis == "noise":
        low, high = answer.interval.low, answer.interval.high
        sure = percent_below(found.confidence)
        view.print(
            f"  interval  {low} to {high} with probability at least {sure} %, {RESTS_ON['noise']}", soft_wrap=True
        )
    low, high = found.posterior().interval(float(found.confidence))
    assumed = "under your prior" if found.bayesian else "if all possible counts were equally likely before"
    view.print(f"  truth     {low} to {high} with probability at least {percent_below(found.confidence)} %, {assumed}")


def _coin(found: Interpretation) -> str:
    chances = found.answers[0].chances
    if len(chances) == 1:
        return ""
    likely = [(value, p) for value, p in chances if p >= _WORTH_SAYING]
    drawn = ", ".join(f"{value} with probability {short_text(p)}" for value, p in likely)
    left_out = 1 - sum((p for _, p in likely), Fraction(0))
    return f", drawn from {drawn}" + (f", others with {short_text(left_out)} in all" if left_out else "")


def _show_all(found: Interpretation) -> None:
    from rich.markup import escape
    from rich.table import Table

    from ..release.group_names import printable

    view = console()
    view.print(f"[bold]published counts: {len(found.answers)}[/bold], read for {found.loss.name} loss")
    table = Table(*map(escape, found.by), "published", "reading", "low", "high")
    for number, answer in enumerate(found.answers):
        if number == _MOST_SHOWN:
            table.add_row(*["…"] * (len(found.by) + 4))
            break
        ends = (answer.interval.low, answer.interval.high)
        table.add_row(*(escape(printable(part)) for part in (*answer.key, answer.published, answer.reading, *ends)))
    view.print(table)
    show_interval({answer.interval.basis for answer in found.answers}, found.confidence)
    if any(len(answer.chances) > 1 for answer in found.answers):
        note = "readings are drawn at random, anew with each call; --out keeps them, --json says how likely each was"
        view.print(f"  drawn     {note}", soft_wrap=True)
    if found.answers and len({id(answer.rule) for answer in found.answers}) == 1:
        _show_loss(found)


def _show_loss(found: Interpretation) -> None:
    view = console()
    rule = found.answers[0].rule
    low, high = rule.possible
    known = f"for counts {low} to {high}" if high is not None else f"for counts from {low} on"
    kind = "under your prior" if found.bayesian else "at worst"
    view.print(f"  loss      {short_above(rule.value)} {kind}, {known}; no reading has less than {_bound(rule)}")
    if found.named:
        note = "groups were named by these counts: losses are of groups chosen beforehand, none where one is not named"
        view.print(f"  note      {note}")
    if not rule.universal or found.shared:
        view.print("  note      a mechanism made for this loss might serve better: universality is not guaranteed here")
    if rule.face_value is not None:
        view.print(f"  saved     {_saved(rule.value, rule.face_value)}")


def _saved(value: Fraction, face_value: Fraction) -> str:
    share = 1 - value / face_value if face_value else Fraction(0)
    if share < _WORTH_SAYING:
        return f"less than 0.1 %: taking it as it is costs {short_below(face_value)}"
    return f"{short_below(100 * share, 3)}% of the {short_below(face_value)} that taking it as it is costs"


def _bound(rule: Any) -> str:
    return "that" if rule.lower_bound == rule.value else short_below(rule.lower_bound)
