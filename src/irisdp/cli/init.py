"""`irisdp init DATA`: a project file to fill in, from the names of the columns alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Force, console, print_json, say, short_path

__all__ = ["init_command"]


def init_command(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A .csv, .tsv, .jsonl or .parquet file, or a folder.")],
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
            help="A JSON file that says what columns of a text file are read as, as for publish; the project then says "
            "so. JSON lines (.jsonl) need it: only it says which columns they have.",
            metavar="FILE",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write it, instead of beside the data.", metavar="FILE")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a project file: what commands take for granted about a table, all of it comments, to be filled in.

    It is written from the header, the schema or the declared types alone: no record is read, and no value of one is in
    it.
    """
    from ..release.projects import init_project

    written = init_project(data, encoding=encoding, delimiter=delimiter, types=types, out=out, force=force)
    if as_json:
        print_json({"written": str(written)})
        return
    view = console()
    say(view, f"  written   {short_path(written)}")
    say(view, "  read      the names of the columns; no record")
    say(view, "  next      fill it in: who is one person, the limit, types, categories and groups")
