"""What the works behind this library print, recomputed: values, examples, tables, figures, theorems."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._items import WORKS, Item
    from ._reproduce import ITEMS, Reproduction, find_items, reproduce
    from ._verdicts import Reproduced

__all__ = ["ITEMS", "WORKS", "Item", "Reproduced", "Reproduction", "find_items", "reproduce"]

exports(__name__)
