"""The registry: every item that is reproduced, in the order in which it is printed, work by work."""

from __future__ import annotations

import difflib

from ..errors import BadInput
from . import (
    colouring_theorems,
    colourings,
    count_audiences,
    count_theorems,
    counts,
    databases,
    first_rainbows,
    long_paths,
    rainbows,
)
from .items import WORKS, Item

__all__ = ["ITEMS", "find_items"]

ITEMS: tuple[Item, ...] = (
    *colourings.ITEMS,
    *colouring_theorems.ITEMS,
    *first_rainbows.ITEMS,
    *rainbows.ITEMS,
    *counts.ITEMS,
    *count_audiences.ITEMS,
    *count_theorems.ITEMS,
    *databases.ITEMS,
    *long_paths.ITEMS,
)
"""To add one, write an `Item` in the file of its work; the tests run all of them."""


def find_items(work: str | None = None, name: str | None = None) -> tuple[Item, ...]:
    """Return the items of a work, and of these the one of a name, or else those whose names hold it.

    Raises
    ------
    BadInput
        For a work, or a name, that no item has.
    """
    found = ITEMS
    if work is not None:
        keys = {key.lower(): key for key in WORKS}
        if work.lower() not in keys:
            raise BadInput("work", f"is not a work that Iris reproduces, {work}", f"choose from {', '.join(WORKS)}")
        found = tuple(item for item in ITEMS if item.work == keys[work.lower()])
    if name is None:
        return found
    if not name.strip():
        raise BadInput("only", "is empty", "name an item, or leave it out")
    wanted = name.casefold()
    exactly = tuple(item for item in found if item.name.casefold() == wanted)
    chosen = exactly or tuple(item for item in found if wanted in item.name.casefold())
    if not chosen:
        near = difflib.get_close_matches(name, [item.name for item in found])
        remedy = f"did you mean {' or '.join(near)}?" if near else "irisdp reproduce lists all"
        raise BadInput("only", f"is in the name of no item, {name}", remedy)
    return chosen
