"""How `irisdp interpret` shows how likely published names are true."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from .options import console

if TYPE_CHECKING:
    from ..reading.choices import ChoiceInterpretation

__all__ = ["show_choices"]

_MOST_SHOWN = 40
_PLACES = 10_000


def show_choices(found: ChoiceInterpretation) -> None:
    """Show each name with the probability that it is true, and what that rests on."""
    from rich.markup import escape
    from rich.table import Table

    from ..reading.judgement import BASES
    from ..release.group_names import printable

    view = console()
    view.print(f"[bold]published names: {len(found.answers)}[/bold]")
    table = Table(*map(escape, found.by), "published", "true with probability", "most likely true")
    for number, answer in enumerate(found.answers):
        if number == _MOST_SHOWN:
            table.add_row(*["…"] * (len(found.by) + 3))
            break
        likely = _rounded_down(answer.judgement.probability.lower)
        parts = (*answer.key, answer.published, likely, answer.reading)
        table.add_row(*(escape(printable(part)) for part in parts))
    view.print(table)
    for basis in sorted({answer.judgement.basis for answer in found.answers}):
        view.print(f"  {basis:<9} {BASES[basis]}")
    for note in sorted({answer.judgement.note for answer in found.answers if answer.judgement.note is not None}):
        view.print(f"  note      {note}")
    if found.answers:
        at_worst = min(answer.judgement.right_at_worst for answer in found.answers)
        view.print(f"  at worst  an answer of this release is right with probability {_rounded_down(at_worst)}")


def _rounded_down(probability: Fraction) -> str:
    return f"{probability * _PLACES // 1 / _PLACES:.4f}"
