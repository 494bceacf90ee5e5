"""`irisdp compare QUERY`: compute the errors of mechanisms under one guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..errors import BadInput
from ..outputs import plan_outputs, write_outputs
from .options import AsJson, Force, console, fact, print_json, say, show_table
from .progress import waiting

if TYPE_CHECKING:
    from ..comparison import Comparison

__all__ = ["compare_command"]


def compare_command(
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY", help="plurality | top K | ranking | count | at-least [K] | majority | median | quantile P"
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
    from ..comparison import compare
    from ..comparison.comparisons import picture_path

    files = plan_outputs([] if output is None else [picture_path(output, "-o")], [], field="-o", force=force)
    with waiting("working the errors out"):
        found = compare(
            query[0],
            *query[1:],
            categories=categories,
            n=n,
            epsilon=epsilon,
            ratio=ratio,
            delta=delta,
            relation=cast(Any, relation),
            lead=None if not lead else _listed(lead, "lead"),
            gaps=None if not gaps else [_listed([one], "gaps") for one in gaps],
        )
    write_outputs((file, found.to_svg().encode()) for file in files)
    if as_json:
        print_json(found.to_document())
    else:
        _show(found, output)


def _listed(texts: list[str], field: str) -> list[str]:
    parts = [part.strip() for text in texts for part in text.split(",")]
    if not all(parts):
        raise BadInput(field, "must be whole numbers with commas between them", "write for example 5,20")
    return parts


def _show(found: Comparison, output: Path | None) -> None:

    view = console()
    say(view, f"{found.query}, {found.relation}, {found.privacy}")
    rows = []
    for one in found.mechanisms:
        name = f"{one.name} (this library)" if one.ours else one.name
        rows.append([name, one.runs_at, *(one.shown(objective) for objective in found.objectives)])
    show_table(("mechanism", "runs at", *(one.name for one in found.objectives)), rows)
    for objective in found.objectives:
        unit = "" if objective.unit == "probability" else f" ({objective.unit})"
        fact(objective.name, f"{objective.words}{unit}", width=12)
    for one in found.mechanisms:
        if one.ours:
            fact("claimed", f"{one.name}: {one.scope}", width=12)
    for words in dict.fromkeys((one.runs_at, one.why) for one in found.mechanisms):
        fact(words[0], words[1], width=12)
    for note in found.notes:
        fact("note", note, width=12)
    if output is not None:
        fact("picture", output, width=12)
