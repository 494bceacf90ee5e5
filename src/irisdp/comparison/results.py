"""What is compared: mechanisms and objectives, and the errors of each, all of them certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..exact import Enclosure, short_text

__all__ = ["Compared", "Objective"]

_FOUR_DIGITS = Fraction(1, 10_000)
_NOTHING = Fraction(1, 10**50)


@dataclass(frozen=True, slots=True)
class Objective:
    """What is compared.

    Attributes
    ----------
    name : str
        A short word, the key in JSON.
    words : str
        What it is the value of.
    unit : str
        "probability", or what an error is counted in.
    """

    name: str
    words: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One mechanism.

    Attributes
    ----------
    name, known_as : str
        What it is called, here and elsewhere.
    ours : bool
        Whether this library would answer with it.
    runs_at : str
        The ε at which a unit of its score, or of its noise, is set.
    why : str
        Why that is the fair one.
    scope : str
        What is claimed of its errors, and among which mechanisms.
    errors : mapping
        From an objective's name to an interval that holds the error; a point where it is a known fraction.
    """

    name: str
    known_as: str = ""
    ours: bool = False
    runs_at: str
    why: str
    scope: str = "nothing is claimed"
    errors: Mapping[str, Enclosure]

    def shown(self, objective: Objective) -> str:
        """Write an error for people, to four digits; where it is next to nothing, what it is below."""
        found = self.errors[objective.name]
        if found.upper > 0 and (found.width > found.lower * _FOUR_DIGITS or found.upper < _NOTHING):
            return f"< {short_text(max(found.upper, _NOTHING), 1)}"
        return short_text((found.lower + found.upper) / 2, 4)
