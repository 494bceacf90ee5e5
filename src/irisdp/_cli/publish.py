"""`irisdp publish DATA QUERY [EXPR]`: the main job."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._exact import told_above
from ..errors import BadInput, Refusal
from .commands import error_in_options, in_options
from .output import (
    KNOWN_ELSEWHERE,
    PAID_BEFORE,
    AsJson,
    Force,
    LabelsFile,
    Title,
    Verbose,
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
    from .._release import Outlook, Plan, Publication


# Print the plan of `publish` before it runs, and the answers afterwards.

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
    """Describe how records are read, the privacy unit, and what is public; or only warnings."""
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


_QUERY_HELP = 'A query of the list below. EXPR is a SQL condition in quotes: "age > 64".'


def publish_command(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A .csv, .tsv, .jsonl or .parquet file, a folder, or an address.")
    ],
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY [EXPR]",
            help=_QUERY_HELP,
        ),
    ],
    where: Annotated[str | None, typer.Option(help="The condition EXPR, as an option.", metavar="EXPR")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Group columns, or NAME = EXPRESSION; separate with commas, or repeat.", metavar="COL,…"),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            help="The groups: values separated by commas, or a CSV file. Repeat to add.",
            metavar="FILE|V1,V2,…",
        ),
    ] = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(
            help="The categories that may be answered, or a CSV file. Repeat to add.",
            metavar="FILE|V1,V2,…",
        ),
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            help="Edges between bins (histogram, median, quantile). Repeat to add.",
            metavar="E1,E2,…",
        ),
    ] = None,
    lower: Annotated[
        str | None, typer.Option(help="Lower bound for values (sum, mean); smaller values count as L.", metavar="L")
    ] = None,
    upper: Annotated[
        str | None, typer.Option(help="Upper bound for values (sum, mean); larger values count as U.", metavar="U")
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(help="Round values to multiples of S (sum, mean).", metavar="S"),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(help="Value of records without a number (sum, mean). [default: left out]", metavar="V"),
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Multiply each value by this column (sum).", metavar="COL")] = None,
    weight_upper: Annotated[
        str | None, typer.Option(help="Upper bound for weights; larger weights count as W.", metavar="W")
    ] = None,
    select_groups: Annotated[
        bool, typer.Option("--select-groups", help="Discover the groups privately instead of listing them.")
    ] = False,
    selection_epsilon: Annotated[
        str | None,
        typer.Option(help="ε for discovering groups. [default: as --epsilon]", metavar="E"),
    ] = None,
    selection_delta: Annotated[
        str | None,
        typer.Option(help="δ for discovering groups. [default: all of --delta]", metavar="D"),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Privacy parameter ε of each answer: smaller is more private.", metavar="E")
    ] = None,
    ratio: Annotated[str | None, typer.Option(help="e^ε instead of ε, as an exact number.", metavar="R")] = None,
    mu: Annotated[
        str | None,
        typer.Option(help="μ of Gaussian differential privacy instead of ε.", metavar="M"),
    ] = None,
    privacy: Annotated[
        str | None,
        typer.Option(help="Any guarantee as JSON: several pairs, Gaussian or zCDP.", metavar="JSON"),
    ] = None,
    delta: Annotated[
        str, typer.Option(help="Privacy parameter δ; with --mu, the δ at which it is charged.", metavar="D")
    ] = "0",
    within: Annotated[
        str | None,
        typer.Option(
            help="Find the least ε with error at most K; with --epsilon, the least δ for noise that never exceeds K.",
            metavar="K",
        ),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(help="Confidence level for --within and for intervals. [default: 0.95]", metavar="C"),
    ] = None,
    audience: Annotated[
        list[str] | None,
        typer.Option(
            help="An audience of a count and its ε. Repeat for each audience.",
            metavar="NAME=E",
        ),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(
            help="Neighbouring tables: one record more or less (add-remove, unbounded), or one record replaced "
            "(exchange, replace-one, bounded). [default: add-remove]",
            metavar="RELATION",
        ),
    ] = None,
    public_membership: Annotated[
        bool, typer.Option("--public-membership", help="With exchange: who is in which group is public.")
    ] = False,
    unit: Annotated[
        str | None,
        typer.Option(help="The privacy unit (--privacy-unit): the column that identifies a person.", metavar="COL"),
    ] = None,
    per_unit: Annotated[
        str | None,
        typer.Option("--per-unit", help="Ask whether any, or all, of a person's records meet EXPR.", metavar="any|all"),
    ] = None,
    at_most: Annotated[
        str | None,
        typer.Option(
            "--at-most", help="Max contributions (--max-contributions): keep M records of each person.", metavar="M"
        ),
    ] = None,
    groups_per_unit: Annotated[
        str | None,
        typer.Option(
            "--groups-per-unit",
            help="Max partitions (--max-partitions): keep each person's records in G groups.",
            metavar="G",
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            help="The ledger: a file, or postgresql://USER@HOST/DB?schema=NAME. [default: beside DATA]",
            metavar="FILE",
        ),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of a text file. [default: utf-8]", metavar="NAME")
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="Delimiter of a text file. [default: comma; tab for .tsv]", metavar="CHARACTER"),
    ] = None,
    types: Annotated[
        Path | None,
        typer.Option(
            help="JSON file with the types of columns: integer, number, text, boolean, date, timestamp.",
            metavar="FILE",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="Engine that reads Parquet files. [default: duckdb]", metavar="duckdb|spark"),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(help="Address of the Spark cluster, such as spark://host:7077.", metavar="URL"),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(
            help="Project file with settings for DATA. [default: NAME.iris.toml beside DATA]",
            metavar="FILE",
        ),
    ] = None,
    secret: Annotated[
        Path | None,
        typer.Option(
            help="Keep the fingerprint secret beside this file instead of beside DATA.",
            metavar="FILE",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="Name of the table in the ledger. [default: the file's name]", metavar="NAME"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the answers to .csv, .parquet or .json.", metavar="FILE")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write an .html page that explains the answers to readers.", metavar="FILE")
    ] = None,
    title: Title = None,
    labels: LabelsFile = None,
    licence: Annotated[
        str | None,
        typer.Option(help="Licence of the answers: a name such as CC-BY-4.0, or an address.", metavar="NAME|URL"),
    ] = None,
    force: Force = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show cost and expected error. Reads no record and spends nothing.",
        ),
    ] = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Publish private answers to one question and charge them to a ledger."""
    from .._release import plan, publish

    options: dict[str, Any] = {
        "where": where,
        "by": ",".join(by) if by else None,
        "groups": _declared(groups, "--groups"),
        "categories": _declared(categories, "--categories"),
        "bins": ",".join(bins) if bins else None,
        "lower": lower,
        "upper": upper,
        "step": step,
        "missing": missing,
        "weight": weight,
        "weight_upper": weight_upper,
        "select_groups": select_groups,
        "selection_epsilon": selection_epsilon,
        "selection_delta": selection_delta,
        "epsilon": epsilon,
        "ratio": ratio,
        "mu": mu,
        "privacy": privacy,
        "delta": delta,
        "within": within,
        "confidence": confidence,
        "audience": audience or None,
        "relation": relation,
        "public_membership": public_membership,
        "unit": unit,
        "per_unit": per_unit,
        "at_most": at_most,
        "groups_per_unit": groups_per_unit,
        "encoding": encoding,
        "delimiter": delimiter,
        "types": types,
        "engine": engine,
        "master": master,
        "project": project,
    }
    kept: dict[str, Any] = {"ledger": ledger, "secret": secret, "table": table, "out": out, "report": report}
    kept |= {"title": title, "labels": labels, "licence": licence, "force": force}
    if dry_run:
        from .._release import foresee_question

        found = foresee_question(data, *query, **{**options, **kept})
        planned, outlook = found.plan, found.outlook
        if as_json:
            foreseen = outlook and error_in_options(outlook.to_document(), _OPTIONS)
            print_json({**planned.to_document(), **planned.expectations(), "dry_run": True, "ledger": foreseen})
        else:
            show_plan(planned, found.ledger.place, outlook, _OPTIONS)
        if outlook is not None and outlook.refused:
            raise typer.Exit(Refusal.exit_status)
        return
    foretold = within is not None and not as_json
    if foretold:  # said before it is spent
        show_takes(plan(data, *query, **options))
    with progress(quiet=as_json):
        published = publish(data, *query, **{**options, **kept})
    with show_what_is_charged(published.out):
        if as_json:
            print_json(published.to_document())
        else:
            show_published(published, titled=foretold, verbose=verbose)


_OPTIONS = dict.fromkeys(inspect.signature(publish_command).parameters, "VALUE")


def _declared(values: list[str] | None, option: str) -> str | None:
    """Return groups or categories as one list of values, or the one file that declares them."""
    from .._queries import groups_file

    if values and len(values) > 1 and any(groups_file(part) for part in values):
        raise BadInput(option, "is repeated, and one is a file", "give one file, or values")
    return ",".join(values) if values else None
