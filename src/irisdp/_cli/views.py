"""`irisdp compare QUERY`: compute the errors of mechanisms under one guarantee."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from .._files import plan_outputs, write_outputs
from ..errors import BadInput
from .output import AsJson, Force, LabelsFile, Title, console, fact, print_json, say, short_path, show_table
from .progress_display import waiting
from .publish import FILE_OPTIONS, listed, with_options_of

if TYPE_CHECKING:
    from ..baselines import Comparison
    from ..reproduction import Reproduction


def compare_command(
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help="plurality | top K | ranking | count | at-least [K] | majority | median | quantile P"
            " | quantiles P1,P2,… | mean | variance | bounds",
        ),
    ],
    categories: Annotated[
        str | None, typer.Option(metavar="Q", help="Number of categories, or of ordered bins.")
    ] = None,
    n: Annotated[
        str | None,
        typer.Option("-n", "--n", metavar="N", help="Number of records: adds mean errors over all such tables."),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="ε of every mechanism.")] = None,
    ratio: Annotated[str | None, typer.Option(metavar="R", help="e^ε instead of ε, such as 2.")] = None,
    delta: Annotated[str, typer.Option(metavar="D", help="δ, for the mechanisms that use it.")] = "0",
    relation: Annotated[
        str, typer.Option(metavar="RELATION", help="Neighbouring relation: exchange or add-remove.")
    ] = "exchange",
    lead: Annotated[
        list[str] | None,
        typer.Option(metavar="L", help="Lead of the true answer, in records. Repeat, or list: 5,20."),
    ] = None,
    gaps: Annotated[
        list[str] | None,
        typer.Option(metavar="G1,G2,…", help="Distance of each category from the largest. Repeat to add."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PICTURE", help="Output file for a chart: .svg.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare the exact errors of Iris and of other mechanisms. Reads no data and spends nothing."""
    from ..baselines import compare, picture_path

    files = plan_outputs([] if output is None else [picture_path(output, "-o")], [], field="-o", force=force)
    with waiting("working the errors out"):
        comparison = compare(
            query[0],
            *query[1:],
            categories=categories,
            n=n,
            epsilon=epsilon,
            ratio=ratio,
            delta=delta,
            relation=cast(Any, relation),
            lead=None if not lead else _listed(lead, "lead"),
            gaps=None if not gaps else [_listed([gap], "gaps") for gap in gaps],
        )
    write_outputs((file, comparison.to_svg().encode()) for file in files)
    if as_json:
        print_json(comparison.to_document())
    else:
        _show_comparison(comparison, output)


def _listed(texts: list[str], field: str) -> list[str]:
    parts = [part.strip() for text in texts for part in text.split(",")]
    if not all(parts):
        raise BadInput(field, "must be whole numbers with commas between them", "write for example 5,20")
    return parts


def _show_comparison(comparison: Comparison, output: Path | None) -> None:

    view = console()
    say(view, f"{comparison.query}, {comparison.relation}, {comparison.privacy}")
    rows = []
    for one in comparison.mechanisms:
        name = f"{one.name} (this library)" if one.ours else one.name
        rows.append([name, one.runs_at, *(one.shown(objective) for objective in comparison.objectives)])
    show_table(("mechanism", "runs at", *(one.name for one in comparison.objectives)), rows)
    for objective in comparison.objectives:
        unit = "" if objective.unit == "probability" else f" ({objective.unit})"
        fact(objective.name, f"{objective.words}{unit}", width=12)
    for one in comparison.mechanisms:
        if one.ours:
            fact("claimed", f"{one.name}: {one.scope}", width=12)
    for words in dict.fromkeys((one.runs_at, one.why) for one in comparison.mechanisms):
        fact(words[0], words[1], width=12)
    for note in comparison.notes:
        fact("note", note, width=12)
    if output is not None:
        fact("picture", output, width=12)


@with_options_of((*FILE_OPTIONS, "unit", "partition"))
def explore_command(
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="A table to publish from, as irisdp publish takes it.")
    ] = None,
    *,
    port: Annotated[str, typer.Option(metavar="P", help="Port on 127.0.0.1; 0 chooses a free one.")] = "8715",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the browser.")] = False,
    project: Annotated[
        Path | None,
        typer.Option(help="Project file with settings for DATA. [default: NAME.iris.toml beside DATA]", metavar="FILE"),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger, as for irisdp publish. [default: beside DATA]", metavar="FILE")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            help="The plan to edit and to publish. [default: NAME.plan.toml beside DATA]", metavar="PLAN.toml"
        ),
    ] = None,
    **options: Any,
) -> None:
    """Serve the explorer on this machine only. With DATA, publish from that table in the browser.

    DATA is read when you press a button: to check it, or to publish. Without DATA the explorer reads no table.
    """
    from .._exact import integer
    from .._explorer import ServedTable, serve
    from .._tables import is_address, locate

    table = None
    given = {name: value for name, value in listed(options).items() if value}
    files: dict[str, Any] = {"project": project, "ledger": ledger, "plan": plan}
    if data is not None:
        if not is_address(data) and not locate(data).path.exists():
            raise BadInput("data", f"finds no file at {data!r}", "give the path of an existing file or folder")
        options = {name: value if value is True else str(value) for name, value in given.items()}
        files = {name: None if value is None else str(value) for name, value in files.items()}
        table = ServedTable(data=data, options=options, **files)
    elif given or any(value is not None for value in files.values()):
        name = next(iter((*given, *(name for name, value in files.items() if value is not None)))).replace("_", "-")
        raise BadInput(f"--{name}", "says how a table is read, and no table is named", "irisdp explore DATA")
    serve(port=integer(port, "port", at_least=0, at_most=65535), browser=not no_browser, table=table)


def plot_command(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A mechanism file, an answers file, a release file, or a ledger."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="PICTURE", help="Output file: .svg, .png, .pdf or .html.")
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--form", metavar="FORM", help="Kind of picture of a mechanism: heat-map, bars, trade-off or profile."
        ),
    ] = None,
    title: Title = None,
    labels: LabelsFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Draw a mechanism, published answers or a ledger. Reads no table and costs nothing."""
    from ..plots import picture_path, plot

    planned = plan_outputs([picture_path(output, "-o")], [("the file", file)], field="-o", force=force)
    with waiting("drawing"):
        picture = plot(file, form=form, title=title, labels=labels)
    done = list(write_outputs((one, picture.to_bytes(one.path.suffix)) for one in planned))
    if as_json:
        print_json({"out": [str(path) for path in done], "description": picture.description})
        return
    for written in done:
        say(console(), f"written {written}: {picture.description}")


def report_command(
    release: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE.json",
            help="A release file, answers file or data package. Several files of one batch make one page.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE.html", help="Output file. [default: standard output]"),
    ] = None,
    title: Title = None,
    labels: LabelsFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page about a release: answers, cost in plain odds, errors, how to read and check them.

    The page is made from the release and answers files only, loads nothing from the network, and costs nothing.
    """
    from .._views.reports import report

    if as_json and out is None:
        raise BadInput("--json", "says what was written, and the page would be printed", "add -o FILE.html")
    made = report(release if len(release) > 1 else release[0], title=title, labels=labels, out=out, force=force)
    if as_json:
        print_json({"out": [str(out)]})
    elif out is None:
        sys.stdout.write(made)
    else:
        typer.echo(f"written {out}")


# Recompute published numbers (`irisdp reproduce`).

MOST_ROWS = 60
"""Items that are shown one by one; of more, the number of each verdict."""

_FAILED = 1


def reproduce_command(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Output folder for reproduce.json and index.html.")
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="ITEM", help="Only items whose name contains ITEM.")] = None,
    work: Annotated[str | None, typer.Option("--paper", metavar="P", help="Only this work, such as Gu2024.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Recompute the numbers that the works behind Iris print. Status 1 if a difference has no known reason."""
    from ..reproduction import reproduce

    with waiting("recomputing"):
        reproduction = reproduce(out=out, only=only, work=work, force=force)
    if as_json:
        print_json(reproduction.to_document())
    else:
        _show_reproduction(reproduction)
    return 0 if reproduction.holds else _FAILED


def _show_reproduction(reproduction: Reproduction) -> None:
    from ..reproduction import WORKS

    view = console()
    view.print(_items(reproduction) if len(reproduction.results) <= MOST_ROWS else _counts(reproduction))
    for result in reproduction.results:
        if result.verdict not in ("agrees", "rounded"):
            fact(result.verdict, f"{result.item.work}, {result.item.name}: {result.note}", width=12)
    if len(reproduction.results) == 1 and reproduction.results[0].control:
        fact("shown by", reproduction.results[0].control, width=12)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in reproduction.counts.items())
    works, number = len({result.item.work for result in reproduction.results}), len(reproduction.results)
    fact("together", f"{number} item{'' if number == 1 else 's'} of {works} of {len(WORKS)} works: {counts}", width=12)
    for path in reproduction.written:
        fact("written", short_path(path.resolve()), width=12)
    if number > MOST_ROWS and not reproduction.written:
        fact("each item", "is shown with --paper, written with --out DIR, and printed with --json", width=12)


def _items(reproduction: Reproduction) -> Any:
    from rich.table import Table
    from rich.text import Text

    listed = Table("work", "item", "printed", "computed here", "verdict")
    for result in reproduction.results:
        told = (result.item.work, result.item.name, result.item.printed, result.ours, result.verdict)
        listed.add_row(*map(Text, told))  # [0 : D − 1] is text, and no markup
    return listed


def _counts(reproduction: Reproduction) -> Any:
    from rich.table import Table

    listed = Table("work", *reproduction.counts, "all")
    for work in dict.fromkeys(result.item.work for result in reproduction.results):
        verdicts = [result.verdict for result in reproduction.results if result.item.work == work]
        listed.add_row(work, *(str(verdicts.count(count)) for count in reproduction.counts), str(len(verdicts)))
    return listed
