"""How `irisdp interpret` shows how likely published names are true."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from .options import console, fact, say, show_table

if TYPE_CHECKING:
    from ..reading.choices import ChoiceInterpretation

__all__ = ["show_choices"]

_MOST_SHOWN = 40
_PLACES = 10_000


def show_choices(found: ChoiceInterpretation) -> None:
    """Show each name with the least probability that it is right, and what that rests on."""

    from ..reading.judgement import BASES

    bases = sorted({answer.judgement.basis for answer in found.answers})
    say(console(), found.describe(), style="bold")
    if found.by or len(found.answers) != 1 or bases != ["worst"]:
        rows = (
            (*answer.key, answer.published, _rounded_down(answer.judgement.probability.lower), answer.reading)
            for answer in found.answers
        )
        show_table((*found.by, "published", "probability", "most likely right"), rows, most=_MOST_SHOWN)
    for basis in bases:
        fact("holds", BASES[basis])
    for note in sorted({answer.judgement.note for answer in found.answers if answer.judgement.note is not None}):
        fact("note", note)
    if found.answers and bases != ["worst"]:
        at_worst = min(answer.judgement.right_at_worst for answer in found.answers)
        fact("at worst", f"an answer of this release is right with probability {_rounded_down(at_worst)}")
    if bases == ["worst"]:
        fact("analysts", "--lead, --at-least, --at-most or --prior uses what you know about the table")


def _rounded_down(probability: Fraction) -> str:
    return f"{probability * _PLACES // 1 / _PLACES:.4f}"
