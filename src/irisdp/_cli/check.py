"""`irisdp check DATA`: faults of a table and the options that mend them, for the data owner's eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._exact import so_many
from .._options import OPTIONS
from .commands import in_options
from .output import AsJson, console, fact, print_json, say, show_table
from .publish import FILE_OPTIONS, listed, with_options_of

_TAKEN = (*FILE_OPTIONS, "unit", "lookup", "on")
_PRIVATE = "For you, not for publication: what follows depends on single records. No ledger, file or log was written."


@with_options_of(_TAKEN)
def check_command(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="A .csv, .tsv, .jsonl, .parquet, .xlsx, .dta or .sav file, a folder, or an address."
        ),
    ],
    *,
    project: Annotated[
        Path | None,
        typer.Option(help="Project file with settings for DATA. [default: NAME.iris.toml beside DATA]", metavar="FILE"),
    ] = None,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Show the data owner which records and values Iris cannot read, and the options that help.

    The result depends on single records, so do not publish it. Iris opens no ledger and writes no file.
    """
    from .._release import check_data

    found = check_data(data, project=project, **listed(options))
    warnings = [in_options(warning, _OPTIONS) for warning in found.warnings]
    if as_json:
        print_json({**found.to_document(), "warnings": warnings})
        return
    view = console()
    say(view, _PRIVATE, style="bold")
    fact("records", f"{found.records:,}, of which {found.short:,} with too few fields and {found.long:,} with too many")
    if found.undecodable:
        verb = "is" if found.undecodable == 1 else "are"
        fact("encoding", f"{so_many(found.undecodable, 'value')} {verb} not in the encoding, and null")
    rows = [
        (each.name, each.read_as, f"{each.empty:,}", f"{each.unreadable:,}", ", ".join(each.examples))
        for each in found.columns
    ]
    show_table(["column", "read as", "empty", "unreadable", "examples"], rows)
    for warning in warnings:
        fact("check", warning)
    if not warnings:
        fact("check", "found none of the faults it looks for; see the table above")


_OPTIONS = {option.name: option.metavar for option in OPTIONS}
"""Also those of other commands, which a remedy may name."""
