"""Verdicts: whether what is computed is what is printed, rounds to it, or shows it to be a misprint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from .._exact import rational, rational_text, short_text
from ._items import Computed, Holds, Item

VERDICTS = ("agrees", "rounded", "misprint", "unexplained")
"""The last one for a difference of which no reason is known, or a reason where there is no difference: a defect."""

_INFINITE = "∞"
_LONGEST = 24
"""Letters of a number that is written out; longer ones are shown to twelve digits."""


def verdict_of(printed: str, computed: Computed, *, explained: bool) -> str:
    """Compare what is printed with what is computed.

    Parameters
    ----------
    printed : str
        Numbers with commas between them, where numbers are computed.
    computed : Computed
    explained : bool
        Whether a reason is known why they differ.

    Returns
    -------
    str
        One of `VERDICTS`. A decimal is "rounded" where the computed number is at most half a unit of its last digit
        away; all else that is not equal differs.

    Examples
    --------
    >>> from fractions import Fraction
    >>> verdict_of("0.25", Fraction(83, 325), explained=False), verdict_of("0.2553", Fraction(83, 325), explained=True)
    ('unexplained', 'misprint')
    """
    verdict = _holds(computed) if isinstance(computed, Holds) else _compared(_parts(printed), listed(computed))
    if verdict == "differs":
        return "misprint" if explained else "unexplained"
    return "unexplained" if explained else verdict


def shown(computed: Computed) -> str:
    """Write what is computed: exactly where that is short, else to twelve digits."""
    if isinstance(computed, Holds):
        return computed.found
    return ", ".join(_text(number) for number in listed(computed))


def listed(computed: Computed) -> Sequence[Fraction | int | None]:
    """Return the numbers as a sequence, also where there is one."""
    if isinstance(computed, Holds):
        return ()
    return [computed] if computed is None or isinstance(computed, Fraction | int) else computed


def _holds(computed: Holds) -> str:
    return "agrees" if computed.holds else "differs"


def _parts(printed: str) -> list[str]:
    return [part.strip() for part in printed.split(",")]


def _compared(printed: Sequence[str], computed: Sequence[Fraction | int | None]) -> str:
    if len(printed) != len(computed):
        return "differs"
    verdicts = {_one(text, number) for text, number in zip(printed, computed, strict=True)}
    return next(one for one in ("differs", "rounded", "agrees") if one in verdicts)


def _one(text: str, number: Fraction | int | None) -> str:
    if number is None or text == _INFINITE:
        return "agrees" if number is None and text == _INFINITE else "differs"
    stated, unit = _read(text)
    if stated == number:
        return "agrees"
    return "rounded" if 2 * abs(stated - number) <= unit else "differs"


def _read(text: str) -> tuple[Fraction, Fraction]:
    """Return a printed number and the unit of its last digit; a quotient has none."""
    above, _, below = text.partition("/")
    stated = rational(above, "printed") / (rational(below, "printed") if below else 1)
    whole, point, digits = text.partition(".")
    return stated, Fraction(1, 10 ** len(digits)) if point and not below and whole else Fraction(0)


def _text(number: Fraction | int | None) -> str:
    if number is None:
        return _INFINITE
    exact = rational_text(Fraction(number))
    return exact if len(exact) <= _LONGEST else f"{float(number):.12g}"


@dataclass(frozen=True, slots=True)
class Reproduced:
    """An item beside what was computed.

    Attributes
    ----------
    item : Item
    ours : str
        What was computed, exactly where that is short.
    verdict : {"agrees", "rounded", "misprint", "unexplained"}
        The last one for a defect of this library or of its registry: a difference without a reason, a reason without a
        difference, or a misprint that was not shown to fail.
    note : str
        The reason of a misprint, or what is to be known besides.
    control : str
        Of a misprint: how what is printed fails, as two numbers; else empty.
    """

    item: Item
    ours: str
    verdict: str
    note: str
    control: str = ""

    def to_document(self) -> dict[str, str]:
        """Return it JSON-ready."""
        return {
            "paper": self.item.work,
            "item": self.item.name,
            "printed": self.item.printed,
            "ours": self.ours,
            "verdict": self.verdict,
            "note": self.note,
            "control": self.control,
            "proof": self.item.proof,
            "command": self.item.command,
        }


@cache
def result_of(item: Item) -> Reproduced:
    """Compute one item and compare it with what is printed.

    A misprint is one only if what is printed is shown to fail as well. An item is computed once in a process.
    """
    computed = item.compute()
    verdict = verdict_of(item.printed, computed, explained=item.misprint is not None)
    if item.misprint is None:
        return Reproduced(item, shown(computed), verdict, item.note)
    fault = None if item.fault is None else item.fault()
    if fault is None or not fault.fails:
        return Reproduced(item, shown(computed), "unexplained", item.misprint)
    said = f"{fault.what}: {short_text(fault.found)}, where {short_text(fault.allowed)} is allowed"
    note = f"{item.misprint} {item.note}".strip()
    return Reproduced(item, shown(computed), verdict, note, said)
