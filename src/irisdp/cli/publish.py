"""`irisdp publish DATA QUERY [EXPR]`: the main job."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from ..catalogue import FORMS
from ..errors import BadInput, Refusal
from .expectations import expectations
from .options import AsJson, Force, print_json
from .progress import progress
from .published import show_plan, show_published, show_takes
from .spelling import error_in_options
from .terminal import show_what_is_charged

__all__ = ["publish_command"]

_QUERY_HELP = " | ".join(form.usage for form in FORMS) + '; EXPR is a SQL condition in quotes: "age > 64".'


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
    by: Annotated[
        list[str] | None,
        typer.Option(help="Group columns, or NAME = EXPRESSION, separated by commas; adds up.", metavar="COL,…"),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            help="The groups: v1,v2,… (adds up; odd ones in double quotes) or one CSV file with the group columns.",
            metavar="FILE|V1,V2,…",
        ),
    ] = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(
            help="The values a question about a column may be answered with: v1,v2,… (adds up) or one CSV file.",
            metavar="FILE|V1,V2,…",
        ),
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            help="For histogram, median and quantile: the edges between bins of a column of numbers or dates; adds up.",
            metavar="E1,E2,…",
        ),
    ] = None,
    lower: Annotated[
        str | None, typer.Option(help="For sum and mean: below it a value counts as this.", metavar="L")
    ] = None,
    upper: Annotated[
        str | None, typer.Option(help="For sum and mean: above it a value counts as this.", metavar="U")
    ] = None,
    step: Annotated[
        str | None, typer.Option(help="For sum and mean: values count in multiples of it; 1 unless given.", metavar="S")
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(help="For sum and mean: what a record without a number counts as; else as nothing.", metavar="V"),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="For sum: a column of numbers that values are multiplied by.", metavar="COL")
    ] = None,
    weight_upper: Annotated[
        str | None, typer.Option(help="With --weight: weights count from 0 to this.", metavar="W")
    ] = None,
    select_groups: Annotated[
        bool, typer.Option("--select-groups", help="Select the groups privately instead of declaring them.")
    ] = False,
    selection_epsilon: Annotated[
        str | None,
        typer.Option(help="ε of a selection apart from the answers; as --epsilon unless given.", metavar="E"),
    ] = None,
    selection_delta: Annotated[
        str | None,
        typer.Option(help="δ of a selection apart from the answers; all of --delta unless given.", metavar="D"),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="ε of each cell's mechanism: the smaller, the more private.", metavar="E")
    ] = None,
    ratio: Annotated[str | None, typer.Option(help="e^ε instead of ε, as an exact number.", metavar="R")] = None,
    mu: Annotated[
        str | None,
        typer.Option(
            help="μ of Gaussian privacy instead of ε; a ledger of ε and δ charges it at --delta.", metavar="M"
        ),
    ] = None,
    privacy: Annotated[
        str | None,
        typer.Option(help="Any guarantee instead of ε, as JSON: several pairs, gaussian or zcdp.", metavar="JSON"),
    ] = None,
    delta: Annotated[
        str, typer.Option(help="δ of each cell's mechanism; with --mu, where it is charged.", metavar="D")
    ] = "0",
    within: Annotated[
        str | None,
        typer.Option(
            help="Find the least ε that keeps each answer's error within K; with --epsilon, noise that ends at K "
            "at the least δ, which may be large: --delta D refuses more than D.",
            metavar="K",
        ),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(help="How probably it does, and the ends beside a number hold; 0.95 unless given.", metavar="C"),
    ] = None,
    audience: Annotated[
        list[str] | None,
        typer.Option(
            help="An audience of a count and its ε; repeat it. No coalition learns more than its best.",
            metavar="NAME=E",
        ),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(
            help="What neighbours are: add or remove one record (unless given), or exchange one.",
            metavar="add-remove|exchange",
        ),
    ] = None,
    public_membership: Annotated[
        bool, typer.Option("--public-membership", help="Under exchange: who is in which group is public.")
    ] = False,
    unit: Annotated[
        str | None, typer.Option(help="The column that says whose record it is; one is kept of each.", metavar="COL")
    ] = None,
    per_unit: Annotated[
        str | None,
        typer.Option("--per-unit", help="Ask the condition of any, or all, of a person's records.", metavar="any|all"),
    ] = None,
    at_most: Annotated[
        str | None,
        typer.Option("--at-most", help="With --unit: how many records are kept of each; 1 unless given.", metavar="M"),
    ] = None,
    groups_per_unit: Annotated[
        str | None,
        typer.Option("--groups-per-unit", help="With --at-most: in how many groups they may lie.", metavar="G"),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            help="The budget's file, or postgresql://USER@HOST/DATABASE?schema=NAME; beside the data unless given.",
            metavar="FILE",
        ),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="How a text file is encoded; utf-8 unless given.", metavar="NAME")
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="What separates its values; a comma, or a tab in .tsv, unless given.", metavar="CHARACTER"),
    ] = None,
    types: Annotated[
        Path | None,
        typer.Option(
            help='A JSON file that says what columns of a text file are read as: {"age": "integer", "born": "date"}; '
            "also number, text, boolean, timestamp.",
            metavar="FILE",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="What reads a .parquet file or a folder: DuckDB on this machine unless given.", metavar="duckdb|spark"
        ),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(help="With --engine spark: the address of a cluster, as spark://host:7077.", metavar="URL"),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(
            help="A project file, as irisdp init writes it; NAME.iris.toml beside the data unless given.",
            metavar="FILE",
        ),
    ] = None,
    secret: Annotated[
        Path | None,
        typer.Option(
            help="Keep the fingerprints' secret beside this file (beside a folder, not in it), not beside the data.",
            metavar="FILE",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="What the ledger calls the table; the name of its file unless given.", metavar="NAME"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the answers: .csv, .parquet or .json.", metavar="FILE")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page to hand over, too: .html.", metavar="FILE")] = None,
    licence: Annotated[
        str | None,
        typer.Option(help="On which terms the answers may be used: CC-BY-4.0, or an address.", metavar="NAME|URL"),
    ] = None,
    force: Force = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show cost and expected error from public facts; spend nothing. Status 1 if it would be refused.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish the best private answer per group, drawn exactly and charged to a budget on disk."""
    from ..release import plan, publish

    options: dict[str, Any] = {
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
    if dry_run:
        from ..release.datapackage import read_licence
        from ..release.outlook import foresee
        from ..release.places import check_ledger, check_neighbours, find_ledger
        from ..release.preparing import planned_files
        from ..release.projects import limit_to_set

        read_licence(licence, out)
        planned = plan(data, *query, **options)
        book = find_ledger(planned.table, ledger)
        planned_files(planned, ledger=book, secret=secret, out=out, report=report, force=force)
        check_ledger(book, planned.table.location, planned.declared_in, default=ledger is None)
        check_neighbours(book, default=ledger is None)
        outlook = foresee(
            book,
            planned.asked.promise.named(table),
            question=planned.question(),
            price=planned.price.after,
            tells=planned.tells,
            limit=limit_to_set(planned.project, book),
        )
        if as_json:
            foreseen = outlook and error_in_options(outlook.to_document(), _OPTIONS)
            print_json({**planned.to_document(), **expectations(planned), "dry_run": True, "ledger": foreseen})
        else:
            show_plan(planned, book.place, outlook, _OPTIONS)
        if outlook is not None and outlook.refused:
            raise typer.Exit(Refusal.exit_status)
        return
    foretold = within is not None and not as_json
    if foretold:  # said before it is spent
        show_takes(plan(data, *query, **options))
    with progress(quiet=as_json):
        options |= {"ledger": ledger, "secret": secret, "table": table, "out": out, "report": report}
        options |= {"licence": licence, "force": force}
        published = publish(data, *query, **options)
    with show_what_is_charged():
        if as_json:
            print_json(published.to_document())
        else:
            show_published(published, titled=foretold)


_OPTIONS = dict.fromkeys(inspect.signature(publish_command).parameters, "VALUE")


def _declared(values: list[str] | None, option: str) -> str | None:
    """Return groups or categories as one list of values, or the one file that declares them."""
    from ..queries import groups_file

    if values and len(values) > 1 and any(groups_file(part) for part in values):
        raise BadInput(option, "is repeated, and one is a file", "give one file, or values")
    return ",".join(values) if values else None
