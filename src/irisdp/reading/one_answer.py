"""What every reading of one published answer says: of which group, and what was published."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from ..tabular import InOneLine

__all__ = ["ReadOne"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReadOne(InOneLine):
    """One published answer.

    Parameters
    ----------
    key : tuple
        Its group; empty where there are no groups.
    published : hashable
        What was published.
    """

    key: tuple[Any, ...]
    published: Hashable

    def _published(self) -> str:
        group = f"{', '.join(map(str, self.key))}: " if self.key else ""
        return f"{group}{self.published} published"
