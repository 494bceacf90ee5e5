"""Questions whose answer about a cell is a list: it is shown entry by entry, and a column numbers the entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import BadInput

__all__ = ["AnswersLists", "check_list", "entry_of"]


class AnswersLists(ABC):
    """A query that answers with lists.

    Attributes
    ----------
    entry : str
        What one entry is called, and the column that numbers them from 1.
    """

    __slots__ = ()

    entry: ClassVar[str]

    @abstractmethod
    def check_cells(self, *, by: Sequence[str], selected: bool, unit: str | None) -> None:
        """Refuse cells about which no list can be answered; from public facts alone."""


def entry_of(query: Any) -> str | None:
    """Return what one entry of a query's answers is called; None where an answer is no list."""
    return query.entry if isinstance(query, AnswersLists) else None


def check_list(query: Any, *, by: Sequence[str], selected: bool, unit: str | None) -> None:
    """Refuse what a query that answers with lists cannot be asked of; other queries pass."""
    if not isinstance(query, AnswersLists):
        return
    if query.entry in by:
        rule = f"names the column {query.entry!r}, as the numbers of the answers' entries are called"
        raise BadInput("by", rule, "rename it in the data")
    query.check_cells(by=by, selected=selected, unit=unit)
