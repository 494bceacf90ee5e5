"""`irisdp report RELEASE.json -o FILE.html`: what was published, as one page to hand over."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Force, LabelsFile, Title, print_json

__all__ = ["report_command"]


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
    from ..errors import BadInput
    from ..reports import report

    if as_json and out is None:
        raise BadInput("--json", "says what was written, and the page would be printed", "add -o FILE.html")
    made = report(release if len(release) > 1 else release[0], title=title, labels=labels, out=out, force=force)
    if as_json:
        print_json({"out": [str(out)]})
    elif out is None:
        sys.stdout.write(made)
    else:
        typer.echo(f"written {out}")
