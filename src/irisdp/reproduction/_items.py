"""What is reproduced: a printed value or statement, what computes it here, and where they differ, why that is so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

# Commands that readers can type, as documents and pages show them.

ALONE = "Each item is recomputed alone by `irisdp reproduce --paper WORK --only ITEM`."


def command_of(work: str, name: str) -> str:
    """Return the command that recomputes one item alone."""
    return f'irisdp reproduce --paper {work} --only "{name}"'


WORKS = {
    "DOliveira2021": "Differential privacy for binary functions via randomized graph colorings [DOliveira2021]",
    "Gu2023": "Generalized rainbow differential privacy, the first version [Gu2023]",
    "Gu2024": "Generalized rainbow differential privacy, the second version [Gu2024]",
    "Gupte2010": "Universally optimal privacy mechanisms for minimax agents [Gupte2010]",
    "Alda2017": "On the optimality of the exponential mechanism [Alda2017]",
}
"""The works that are reproduced, by their keys in docs/references.md."""


@dataclass(frozen=True, slots=True)
class Holds:
    """Whether a printed statement or formula holds, and what was found, in words."""

    holds: bool
    found: str


Computed: TypeAlias = "Fraction | int | Sequence[Fraction | int | None] | Holds | None"
"""Numbers, exactly (None is infinity), to set beside printed ones; or whether what is printed holds."""


@dataclass(frozen=True, slots=True)
class Fault:
    """How what is printed fails, as a number that may not be above another.

    Attributes
    ----------
    what : str
        What the numbers are, such as "δ that the printed rows need".
    found, allowed : Fraction
        It fails where `found` is above `allowed`.
    """

    what: str
    found: Fraction
    allowed: Fraction

    @property
    def fails(self) -> bool:
        """Whether what is printed fails."""
        return self.found > self.allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One printed value, table row, figure, example or theorem.

    Attributes
    ----------
    work : str
        A key of `WORKS`.
    name : str
        Where it stands, such as "Example 3, R_1"; different for every item of a work.
    printed : str
        What is printed: numbers with commas between them where numbers are computed, else the statement in few words.
    compute : callable
        Computes it with this library.
    proof : str
        The page of the repository that proves what is computed.
    note : str
        What is to be known besides.
    misprint : str or None
        Why what is printed does not hold, in one sentence; None where it does.
    fault : callable or None
        For a misprint, computes how what is printed fails.
    """

    work: str
    name: str
    printed: str
    compute: Callable[[], Computed]
    proof: str
    note: str = ""
    misprint: str | None = None
    fault: Callable[[], Fault] | None = None

    @property
    def command(self) -> str:
        """The command that recomputes this item alone."""
        return command_of(self.work, self.name)


def compared(cases: int, wrong: int, what: str) -> Holds:
    """Say that what is printed equals what is computed in so many cases, exactly."""
    if wrong:
        return Holds(False, f"{wrong:,} of {cases:,} {what} differ")
    return Holds(True, f"equal in all of {cases:,} {what}")


def all_equal(pairs: Sequence[tuple[Fraction, Fraction]], what: str) -> Holds:
    """Compare pairs of numbers that should be equal, exactly."""
    return compared(len(pairs), sum(one != other for one, other in pairs), what)


def holds_at(cases: int, wrong: int, what: str) -> Holds:
    """Say that a statement holds in so many cases, of which each was decided exactly."""
    if wrong:
        return Holds(False, f"fails at {wrong:,} of {cases:,} {what}")
    return Holds(True, f"holds at all of {cases:,} {what}")
