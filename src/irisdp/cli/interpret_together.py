"""How `irisdp interpret` shows intervals, and cells that were read together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..exact import percent_below
from .options import console, fact, show_table

if TYPE_CHECKING:
    from ..reading import JointInterpretation

__all__ = ["show_interval", "show_together"]

_MOST_SHOWN = 40


def show_interval(bases: Collection[str], confidence: Fraction, *, number: int) -> None:
    """Say what the intervals of so many answers guarantee."""
    from ..reading.intervals import RESTS_ON

    for basis in sorted(bases):
        if basis == "known":
            continue
        sure = (
            f"{'' if number == 1 else 'each '}holds the truth with probability at least {percent_below(confidence)} %"
        )
        fact("interval", f"{sure}, {RESTS_ON[basis]}")


def show_together(found: JointInterpretation) -> None:
    """Show cells, and below them totals, with what they are read as."""

    view = console()
    cells = [row for row in found.rows if row.total is None]
    totals = [row for row in found.rows if row.total is not None]
    view.print(f"[bold]published counts: {len(cells)}, totals: {len(totals)}[/bold]")
    names = (*found.by, *(["total"] if totals else []), "published", "best guess", "low", "high")
    dots = [["…"] * len(names)] if len(cells) > _MOST_SHOWN else []
    show_table(
        names, [*(_row(row, totals) for row in cells[:_MOST_SHOWN]), *dots, *(_row(row, totals) for row in totals)]
    )
    show_interval({row.interval.basis for row in found.rows}, found.confidence, number=len(found.rows))
    if found.consistent:
        said = "the best guesses are the possible whole numbers nearest to the published ones that add up"
        fact("guess", f"{said}; another way to adjust them may err less")
    else:
        said = "each group by itself; a total is the sum of the published counts, moved to the nearest possible count"
        fact("guess", said)


def _row(row: Any, totals: Sequence[Any]) -> list[Any]:
    named = [] if not totals else ["" if row.total is None else row.total]
    key = ["" if row.total is not None else part for part in row.key]
    return [*key, *named, row.published, row.reading, row.interval.low, row.interval.high]
