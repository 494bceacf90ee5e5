"""`irisdp init DATA`: a project file to fill in, from the names of the columns alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .output import AsJson, Force, fact, print_json, short_path
from .publish import FILE_OPTIONS, listed, with_options_of


@with_options_of(FILE_OPTIONS)
def init_command(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A .csv, .tsv, .jsonl, .parquet, .xlsx, .dta or .sav file, or a folder."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Output file. [default: NAME.iris.toml beside DATA]", metavar="FILE"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Read all records, and write the types that fit all values of a column.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Write a project file template: the settings for all questions about a table, as comments to fill in.

    Iris writes it from the header, the schema or the declared types. It reads no record without --check.
    """
    from .._release import init_project

    written = init_project(data, out=out, force=force, check=check, **listed(options))
    if as_json:
        print_json({"written": str(written)})
        return
    fact("written", short_path(written))
    fact("read", "all records, to choose types" if check else "the names of the columns; no record")
    fact("next", "fill it in: who is one person, the limit, types, categories and groups")
