"""What the works behind this library print, recomputed: values, examples, tables, figures, theorems."""

from .items import WORKS, Item
from .registry import ITEMS, find_items
from .results import Reproduced
from .running import Reproduction, reproduce

__all__ = ["ITEMS", "WORKS", "Item", "Reproduced", "Reproduction", "find_items", "reproduce"]
