"""`irisdp reproduce`: what the works behind this library print, recomputed and set beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, Force, console, print_json, say, short_path
from .progress import waiting

if TYPE_CHECKING:
    from ..reproduction import Reproduction

__all__ = ["reproduce_command"]

MOST_ROWS = 60
"""Items that are shown one by one; of more, the number of each verdict."""

_FAILED = 1


def reproduce_command(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write reproduce.json and a page, index.html, here.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="ITEM", help="Only this item, or items whose names hold it.")
    ] = None,
    work: Annotated[
        str | None, typer.Option("--paper", metavar="P", help="Only this work, such as Gu2024 or Alda2017.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Recompute what is printed; status 1 where a difference has no known reason. Reads no data, spends nothing."""
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
            say(view, f"  {result.verdict:<12} {result.item.work}, {result.item.name}: {result.note}")
    if len(found.results) == 1 and found.results[0].control:
        say(view, f"  {'shown by':<12} {found.results[0].control}")
    counts = ", ".join(f"{number} {verdict}" for verdict, number in found.counts.items())
    works, number = len({result.item.work for result in found.results}), len(found.results)
    say(
        view, f"  {'together':<12} {number} item{'' if number == 1 else 's'} of {works} of {len(WORKS)} works: {counts}"
    )
    for path in found.written:
        say(view, f"  {'written':<12} {short_path(path.resolve())}")
    if number > MOST_ROWS and not found.written:
        say(view, f"  {'each item':<12} is shown with --paper, written with --out DIR, and printed with --json")


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
