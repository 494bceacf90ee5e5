"""How `irisdp interpret` shows how likely published names are true."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ..exact.shown import so_many
from .options import console, fact, say, show_table

if TYPE_CHECKING:
    from ..reading.choices import ChoiceInterpretation

__all__ = ["show_choices"]

_MOST_SHOWN = 40
_PLACES = 10_000


def show_choices(found: ChoiceInterpretation) -> None:
    """Show each name with the probability that it is true, and what that rests on."""

    from ..reading.judgement import BASES

    say(console(), f"Published {so_many(len(found.answers), 'answer')}", style="bold")
    rows = (
        (*answer.key, answer.published, _rounded_down(answer.judgement.probability.lower), answer.reading)
        for answer in found.answers
    )
    show_table((*found.by, "published", "true with probability", "most likely true"), rows, most=_MOST_SHOWN)
    for basis in sorted({answer.judgement.basis for answer in found.answers}):
        fact(basis, BASES[basis])
    for note in sorted({answer.judgement.note for answer in found.answers if answer.judgement.note is not None}):
        fact("note", note)
    if found.answers:
        at_worst = min(answer.judgement.right_at_worst for answer in found.answers)
        fact("at worst", f"an answer of this release is right with probability {_rounded_down(at_worst)}")


def _rounded_down(probability: Fraction) -> str:
    return f"{probability * _PLACES // 1 / _PLACES:.4f}"
