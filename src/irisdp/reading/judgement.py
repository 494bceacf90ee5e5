"""What a reader may believe of a published name, and what every rule that judges names does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import Enclosure

__all__ = ["BASES", "CERTAIN", "IMPOSSIBLE", "ChoiceRule", "Judgement", "sure"]

BASES = {
    "worst": "whatever the table is, if it fits what you know",
    "uniform": "if all tables that fit what you know were equally likely before",
    "prior": "under your prior",
    "known": "as what you know decides it",
    "certain": "as this release cannot be wrong",
}
"""What a probability rests on, and how that is said."""

_MOST_SHOWN, _LONGEST_SHOWN = 10, 40

CERTAIN, IMPOSSIBLE = Enclosure.exactly(Fraction(1)), Enclosure.exactly(Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one published name says.

    Parameters
    ----------
    reading : hashable
        The name that is most likely true.
    probability : Enclosure
        Probability that the published name is true. With a prior it is the probability given the published name.
        Without one it is the probability of a right answer in the worst of the tables.
    basis : str
        One of `BASES`.
    right_at_worst : Fraction
        How likely an answer of this release is right at least, whatever the table, of those that fit what is known.
    posterior : mapping, optional
        The probability of each name that it is true, given what was published; of a tie all that are level are true.
    note : str, optional
        Why it rests on the worst of the tables although more is known of them.
    """

    reading: Hashable
    probability: Enclosure
    basis: str
    right_at_worst: Fraction
    posterior: Mapping[Hashable, Enclosure] | None
    note: str | None = None


class ChoiceRule(ABC):
    """How one reader judges the names that a release publishes."""

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> tuple[Hashable, ...]:
        """All that can be published."""

    @abstractmethod
    def judge(self, name: Hashable) -> Judgement:
        """Say how likely a published name is true."""

    def released(self, value: Any, field: str = "value") -> Hashable:
        """Return a value as the release names it; refuse what it cannot have published."""
        # Files write every name as text, so a number or a truth value is known by its text too.
        found = [name for name in self.names if str(name) == str(value)]
        if len(found) != 1:
            shown = ", ".join(str(name)[:_LONGEST_SHOWN] for name in self.names[:_MOST_SHOWN]) + (
                ", …" if len(self.names) > _MOST_SHOWN else ""
            )
            raise BadInput(field, "is no answer of this release", f"its answers are {shown}")
        return found[0]


def sure(name: Hashable, truth: Hashable, names: tuple[Hashable, ...], basis: str, at_worst: Fraction) -> Judgement:
    """Judge a name where it is known which is true."""
    return Judgement(
        reading=truth,
        probability=CERTAIN if name == truth else IMPOSSIBLE,
        basis=basis,
        right_at_worst=at_worst,
        posterior={one: CERTAIN if one == truth else IMPOSSIBLE for one in names},
    )
