"""What a guarantee lets an adversary guess, in plain odds, for people to look at."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["even_odds", "right_guess"]

_PLACES = 100


def even_odds(apart: Fraction) -> str:
    """Say how often somebody guesses right which of two neighbours the table is, who thought it 50:50 before.

    Parameters
    ----------
    apart : Fraction
        The most that the probability of an event may differ between them: δ at ε = 0.

    Examples
    --------
    >>> even_odds(Fraction(1, 3))
    'a guess between two neighbours, 50:50 before, is right with probability 66.67 % at most'
    """
    return f"a guess between two neighbours, 50:50 before, is right with probability {right_guess(apart)} at most"


def right_guess(apart: Fraction) -> str:
    """Write how often such a guess is right at most, in per cent."""
    percent = math.ceil((1 + min(apart, Fraction(1))) / 2 * 100 * _PLACES) / _PLACES
    return f"{percent:g} %"
