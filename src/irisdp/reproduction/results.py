"""One item computed, compared with what is printed, and, if it is a misprint, shown to fail."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ..exact import short_text
from .items import Item
from .verdicts import shown, verdict_of

__all__ = ["Reproduced", "result_of"]


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
