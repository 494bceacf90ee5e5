"""How `irisdp interpret` shows intervals, and cells that were read together."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import TYPE_CHECKING

from ..exact import percent_below
from .options import console

if TYPE_CHECKING:
    from ..reading import JointInterpretation

__all__ = ["show_interval", "show_together"]

_MOST_SHOWN = 40


def show_interval(bases: Collection[str], confidence: Fraction) -> None:
    """Say what the ends beside readings promise."""
    from ..reading.intervals import RESTS_ON

    for basis in sorted(bases):
        if basis == "known":
            continue
        sure = f"lies between low and high with probability at least {percent_below(confidence)} %"
        console().print(f"  interval  each truth {sure}, {RESTS_ON[basis]}", soft_wrap=True)


def show_together(found: JointInterpretation) -> None:
    """Show cells, and below them totals, with what they are read as."""
    from rich.markup import escape
    from rich.table import Table

    from ..release.group_names import printable

    view = console()
    cells = [row for row in found.rows if row.total is None]
    totals = [row for row in found.rows if row.total is not None]
    view.print(f"[bold]published counts: {len(cells)}, totals: {len(totals)}[/bold]")
    table = Table(*map(escape, found.by), *(["total"] if totals else []), "published", "reading", "low", "high")
    width = len(found.by) + bool(totals) + 4
    for row in [*cells[:_MOST_SHOWN], *([None] if len(cells) > _MOST_SHOWN else []), *totals]:
        if row is None:
            table.add_row(*["…"] * width)
            continue
        named = [] if not totals else ["" if row.total is None else row.total]
        key = ["" if row.total is not None else part for part in row.key]
        parts = (*key, *named, row.published, row.reading, row.interval.low, row.interval.high)
        table.add_row(*(escape(printable(part)) for part in parts))
    view.print(table)
    show_interval({row.interval.basis for row in found.rows}, found.confidence)
    if found.consistent:
        said = "the whole numbers nearest to what was published that are possible and add up; no promise that no other"
        view.print(f"  reading   {said} reader errs less", soft_wrap=True)
    else:
        said = "each cell by itself; a total is the sum of what was published, put between what is possible"
        view.print(f"  reading   {said}", soft_wrap=True)
