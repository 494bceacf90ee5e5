"""`irisdp plot FILE -o PICTURE`: what a file holds, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..outputs import plan_outputs, write_outputs
from .options import AsJson, Force, LabelsFile, Title, print_json, say
from .progress import waiting

__all__ = ["plot_command"]


def plot_command(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A mechanism file, an answers file, a release file, or a ledger."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="PICTURE", help="Output file: .svg, .png or .html.")
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
    from .options import console

    planned = plan_outputs([picture_path(output, "-o")], [("the file", file)], field="-o", force=force)
    with waiting("drawing"):
        picture = plot(file, form=form, title=title, labels=labels)
    done = list(write_outputs((one, picture.to_bytes(one.path.suffix)) for one in planned))
    if as_json:
        print_json({"out": [str(path) for path in done], "description": picture.description})
        return
    for written in done:
        say(console(), f"written {written}: {picture.description}")
