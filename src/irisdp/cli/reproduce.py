"""`irisdp reproduce`: what the works behind this library print, recomputed and set beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Force, console, fact, print_json, short_path
from .progress import waiting

if TYPE_CHECKING:
    from ..reproduction import Reproduction

__all__ = ["reproduce_command"]

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
        found = reproduce(out=out, only=only, work=work, force=force)
    if as_json:
        print_json(found.to_document())
    else:
        _show(found)
    return 0 if found.holds else _FAILED


def _show(found: Reproduction) -> None:
    from ..reproduction import WORKS

    view = console()
    view.print(_items(found) if len(found.results) <= MOST_ROWS else _counts(found))
    for result in found.results:
        if result.verdict not in ("agrees", "rounded"):
            fact(result.verdict, f"{result.item.work}, {result.item.name}: {result.note}", width=12)
    if len(found.results) == 1 and found.results[0].control:
        fact("shown by", found.results[0].control, width=12)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in found.counts.items())
    works, number = len({result.item.work for result in found.results}), len(found.results)
    fact("together", f"{number} item{'' if number == 1 else 's'} of {works} of {len(WORKS)} works: {counts}", width=12)
    for path in found.written:
        fact("written", short_path(path.resolve()), width=12)
    if number > MOST_ROWS and not found.written:
        fact("each item", "is shown with --paper, written with --out DIR, and printed with --json", width=12)


def _items(found: Reproduction) -> Any:
    from rich.table import Table
    from rich.text import Text

    listed = Table("work", "item", "printed", "computed here", "verdict")
    for result in found.results:
        told = (result.item.work, result.item.name, result.item.printed, result.ours, result.verdict)
        listed.add_row(*map(Text, told))  # [0 : D − 1] is text, and no markup
    return listed


def _counts(found: Reproduction) -> Any:
    from rich.table import Table

    listed = Table("work", *found.counts, "all")
    for work in dict.fromkeys(result.item.work for result in found.results):
        verdicts = [result.verdict for result in found.results if result.item.work == work]
        listed.add_row(work, *(str(verdicts.count(one)) for one in found.counts), str(len(verdicts)))
    return listed
