"""`irisdp report RELEASE.json -o FILE.html`: what was published, as one page to hand over."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Force, print_json

__all__ = ["report_command"]


def report_command(
    release: Annotated[
        list[Path],
        typer.Argument(
            metavar="RELEASE.json",
            help="The .release.json of published answers, the answers, or their data package; those of all questions "
            "of a batch make one page.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE.html", help="Where to write the page; it is printed if left out."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write what was published as one page: answers, cost in plain odds, errors, how to read and check them.

    It is made of the release and nothing else, loads nothing, and costs nothing.
    """
    from ..errors import BadInput
    from ..reports import report

    if as_json and out is None:
        raise BadInput("--json", "says what was written, and the page would be printed", "add -o FILE.html")
    made = report(release if len(release) > 1 else release[0], out=out, force=force)
    if as_json:
        print_json({"out": [str(out)]})
    elif out is None:
        sys.stdout.write(made)
    else:
        typer.echo(f"written {out}")
