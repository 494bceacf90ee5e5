"""Commands that can be typed: they stand in documents and pages as they are."""

from __future__ import annotations

__all__ = ["ALONE", "command_of"]

ALONE = "Each item is recomputed alone by `irisdp reproduce --paper WORK --only ITEM`."


def command_of(work: str, name: str) -> str:
    """Return the command that recomputes one item alone."""
    return f'irisdp reproduce --paper {work} --only "{name}"'
