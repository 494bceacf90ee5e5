"""`irisdp interpret RELEASE.json`: what a published count, or a name, says to one reader."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._exact import json_bytes, percent_below, read_json, short_above, short_below, short_text
from .._files import plan_outputs, write_outputs
from ..errors import BadInput
from .output import AsJson, Force, console, fact, print_json, say, show_table

if TYPE_CHECKING:
    from ..interpretation import (
        ChoiceInterpretation,
        Estimates,
        Interpretation,
        JointInterpretation,
        PopulationEstimates,
    )


# Show the probabilities of published names.

_MOST_SHOWN = 40
_PLACES = 10_000


def show_choices(interpretation: ChoiceInterpretation) -> None:
    """Show each name with the least probability that it is right, and what that rests on."""

    from ..interpretation import BASES

    bases = sorted({answer.judgement.basis for answer in interpretation.answers})
    say(console(), interpretation.describe(), style="bold")
    if interpretation.by or len(interpretation.answers) != 1 or bases != ["worst"]:
        rows = (
            (*answer.key, answer.published, _rounded_down(answer.judgement.probability.lower), answer.reading)
            for answer in interpretation.answers
        )
        show_table((*interpretation.by, "published", "probability", "most likely right"), rows, most=_MOST_SHOWN)
    for basis in bases:
        fact("holds", BASES[basis])
    for note in sorted(
        {answer.judgement.note for answer in interpretation.answers if answer.judgement.note is not None}
    ):
        fact("note", note)
    if interpretation.answers and bases != ["worst"]:
        at_worst = min(answer.judgement.right_at_worst for answer in interpretation.answers)
        fact("at worst", f"an answer of this release is right with probability {_rounded_down(at_worst)}")
    if bases == ["worst"]:
        fact("analysts", "--lead, --at-least, --at-most or --prior uses what you know about the table")


def _rounded_down(probability: Fraction) -> str:
    return f"{probability * _PLACES // 1 / _PLACES:.4f}"


# Show intervals, and groups that were interpreted together.


def show_interval(bases: Collection[str], confidence: Fraction, *, number: int) -> None:
    """Say what the intervals of so many answers guarantee."""
    from ..interpretation import RESTS_ON

    for basis in sorted(bases):
        if basis == "known":
            continue
        sure = (
            f"{'' if number == 1 else 'each '}holds the truth with probability at least {percent_below(confidence)} %"
        )
        fact("interval", f"{sure}, {RESTS_ON[basis]}")


def show_together(interpretation: JointInterpretation) -> None:
    """Show cells, and below them totals, with what they are read as."""

    view = console()
    cells = [row for row in interpretation.rows if row.total is None]
    totals = [row for row in interpretation.rows if row.total is not None]
    view.print(f"[bold]published counts: {len(cells)}, totals: {len(totals)}[/bold]")
    names = (*interpretation.by, *(["total"] if totals else []), "published", "best guess", "low", "high")
    dots = [["…"] * len(names)] if len(cells) > _MOST_SHOWN else []
    show_table(
        names, [*(_row(row, totals) for row in cells[:_MOST_SHOWN]), *dots, *(_row(row, totals) for row in totals)]
    )
    show_interval(
        {row.interval.basis for row in interpretation.rows}, interpretation.confidence, number=len(interpretation.rows)
    )
    if interpretation.consistent:
        said = "the best guesses are the possible whole numbers nearest to the published ones that add up"
        fact("guess", f"{said}; another way to adjust them may err less")
    else:
        said = "each group by itself; a total is the sum of the published counts, moved to the nearest possible count"
        fact("guess", said)


def _row(row: Any, totals: Sequence[Any]) -> list[Any]:
    named = [] if not totals else ["" if row.total is None else row.total]
    key = ["" if row.total is not None else part for part in row.key]
    return [*key, *named, row.published, row.reading, row.interval.low, row.interval.high]


_WORTH_SAYING = 0.001


def interpret_command(
    release: Annotated[
        Path,
        typer.Argument(metavar="RELEASE.json", help="A release file, the answers file, or a mechanism file."),
    ],
    value: Annotated[
        str | None,
        typer.Option(metavar="V", help="One published answer. [default: all answers of the file]"),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="LOSS",
            help="Loss of an error: absolute, squared, zero-one, pinball:LOW:HIGH, threshold:K, excess:K, or a table "
            "in a .json file. [default: absolute]",
        ),
    ] = None,
    at_least: Annotated[
        str | None,
        typer.Option(metavar="A", help="Known lower bound of the true count (for a winner: of the number of records)."),
    ] = None,
    at_most: Annotated[
        str | None,
        typer.Option(metavar="B", help="Known upper bound of the true count."),
    ] = None,
    lead: Annotated[
        str | None,
        typer.Option(
            metavar="L",
            help="Known lead of the largest category over all others, in records.",
        ),
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(metavar="P.json", help="JSON list of your probabilities of the counts 0, 1, …"),
    ] = None,
    total: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=EXPR",
            help="Add a total: coast=north+south, or all=*. With --consistent it may be known: all=*=1200. "
            "Repeat to add.",
        ),
    ] = None,
    consistent: Annotated[
        bool,
        typer.Option(
            "--consistent",
            help="Adjust all answers to the nearest whole numbers that add up.",
        ),
    ] = False,
    confidence: Annotated[
        str | None,
        typer.Option(metavar="C", help="Confidence level of the intervals. [default: 0.95]"),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Members of the population that the records are a simple random sample of. Shows intervals for the "
            "population, from counts or means.",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(metavar="n", help="With --population: records in the sample (of a mean: with a value)."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the results to a .json file.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Explain published answers: intervals, totals, best guesses, and how likely a yes or a winner is true.

    Uses what you know about the table, and costs nothing. With --loss, --at-least, --at-most or --prior it also shows
    the best guess for you. A best guess may be drawn at random; the output then says so.
    """
    from .._exact import numbers
    from ..interpretation import (
        Estimates,
        Interpretation,
        JointInterpretation,
        PopulationEstimates,
        answers_beside,
        interpret,
        left_out_of,
        sidecar_beside,
    )

    _refuse_report(release)
    for_analysts = any(given is not None for given in (loss, at_least, at_most, prior))
    loss = "absolute" if loss is None else loss
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
        interpretation = interpret(
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
            population=population,
            sample=sample,
        )
    except BadInput as error:
        if error.field not in ("release", "mechanism") or release.name in error.rule:
            raise
        raise BadInput(release.name, error.rule, error.remedy) from None
    documents = interpretation.to_documents()
    left_out = left_out_of(sidecar)
    if value is not None and isinstance(interpretation, Interpretation):
        documents = [documents[0] | {"posterior": interpretation.posterior().to_document()}]
    estimated = isinstance(interpretation, Estimates | PopulationEstimates)
    named = "estimates" if estimated else "readings"
    document: dict[str, Any] = {named: documents} if value is None else documents[0]
    document |= {"consistent": interpretation.consistent} if isinstance(interpretation, JointInterpretation) else {}
    document |= {"left_out": list(left_out)} if left_out else {}
    write_outputs((file, json_bytes(document)) for file in files)
    if as_json:
        print_json(document)
        return
    if isinstance(interpretation, PopulationEstimates):
        _show_population(interpretation)
    elif isinstance(interpretation, Estimates):
        _show_estimates(interpretation)
    elif isinstance(interpretation, JointInterpretation):
        show_together(interpretation)
    elif not isinstance(interpretation, Interpretation):
        show_choices(interpretation)
    elif value is None:
        _show_all(interpretation, for_analysts=for_analysts)
    else:
        _show_one(interpretation)
    if left_out:
        fact("note", f"no interval above covers what the release changes: {'; '.join(left_out)}")


def _refuse_report(release: Path) -> None:
    if release.suffix.lower() in (".html", ".htm"):
        raise BadInput(release.name, "is a report for people", "give the answers file, or its .release.json")


def _show_estimates(estimates: Estimates) -> None:

    view = console()
    view.print(f"[bold]published {estimates.kind}: {len(estimates.rows)}[/bold]")
    rows = ([short_text(part, 4) if isinstance(part, Fraction) else part for part in row] for row in estimates.rows)
    show_table(estimates.columns, rows, most=_MOST_SHOWN)
    fact("truth", estimates.describe())


def _show_population(estimates: PopulationEstimates) -> None:
    say(console(), f"population of {estimates.population:,}, sample of {estimates.sample:,}", style="bold")
    rows = ([short_text(Fraction(part), 4) if isinstance(part, float) else part for part in row]
            for row in estimates.rows)  # fmt: skip
    show_table(estimates.columns, rows, most=_MOST_SHOWN)
    fact("interval", estimates.describe())


def _show_one(interpretation: Interpretation) -> None:
    from ..interpretation import RESTS_ON

    answer = interpretation.answers[0]
    say(console(), interpretation.describe(), style="bold")
    show_interval({answer.interval.basis}, interpretation.confidence, number=1)
    print("For analysts")
    fact("guess", f"{answer.reading} is the best for {interpretation.loss.name} loss{_coin(interpretation)}")
    _show_loss(interpretation)
    if answer.interval.basis == "noise":
        low, high = interpretation.posterior().interval(float(interpretation.confidence))
        fact("posterior", f"{low} to {high} with {percent_below(interpretation.confidence)} %, {RESTS_ON['uniform']}")


def _coin(interpretation: Interpretation) -> str:
    chances = interpretation.answers[0].chances
    if len(chances) == 1:
        return ""
    likely = [(value, p) for value, p in chances if p >= _WORTH_SAYING]
    drawn = ", ".join(f"{value} with probability {short_text(p)}" for value, p in likely)
    left_out = 1 - sum((p for _, p in likely), Fraction(0))
    return f", drawn at random: {drawn}" + (f", others with {short_text(left_out)} in all" if left_out else "")


def _show_all(interpretation: Interpretation, *, for_analysts: bool) -> None:
    say(console(), interpretation.describe(), style="bold")
    guess = ["best guess"] if for_analysts else []
    rows = (
        [
            *(*answer.key, answer.published, answer.interval.low, answer.interval.high),
            *([answer.reading] if for_analysts else []),
        ]
        for answer in interpretation.answers
    )
    if interpretation.by or len(interpretation.answers) != 1 or for_analysts:
        show_table((*interpretation.by, "published", "low", "high", *guess), rows, most=_MOST_SHOWN)
    show_interval(
        {answer.interval.basis for answer in interpretation.answers},
        interpretation.confidence,
        number=len(interpretation.answers),
    )
    if not for_analysts:
        if interpretation.named:
            fact("note", "groups were named by these counts: an interval holds given that its group is named")
        fact("analysts", "--loss, --at-least, --at-most or --prior shows the best guess for your loss and knowledge")
        return
    print(f"For analysts: the best guess for {interpretation.loss.name} loss")
    if any(len(answer.chances) > 1 for answer in interpretation.answers):
        note = "best guesses are drawn at random, again with each call; --out keeps them, --json has the probabilities"
        fact("drawn", note)
    if interpretation.answers and len({id(answer.rule) for answer in interpretation.answers}) == 1:
        _show_loss(interpretation)


def _show_loss(interpretation: Interpretation) -> None:
    rule = interpretation.answers[0].rule
    low, high = rule.possible
    known = f"for counts {low} to {high}" if high is not None else f"for counts from {low} on"
    kind = "under your prior" if interpretation.bayesian else "at worst"
    fact("loss", f"{short_above(rule.value)} {kind}, {known}; no guess has less than {_bound(rule)}")
    if interpretation.named:
        note = "groups were named by these counts: losses are of groups chosen beforehand, none where one is not named"
        fact("note", note)
    if not rule.universal or interpretation.shared:
        fact("note", "a mechanism made for this loss might serve better: universality is not guaranteed here")
    if rule.face_value is not None:
        fact("saved", _saved(rule.value, rule.face_value))


def _saved(value: Fraction, face_value: Fraction) -> str:
    share = 1 - value / face_value if face_value else Fraction(0)
    if share < _WORTH_SAYING:
        return f"less than 0.1 % of the loss of the published count, {short_below(face_value)}"
    return f"{short_below(100 * share, 3)} % of the loss of the published count, {short_below(face_value)}"


def _bound(rule: Any) -> str:
    return "that" if rule.lower_bound == rule.value else short_below(rule.lower_bound)
