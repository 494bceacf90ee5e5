"""Exact draws whose cost says nothing."""

from .bits import BitSource, OperatingSystemBits, ScriptedBits
from .exhaustion import DrawnLaw, law_of
from .geometric import add_geometric, clamped_geometric, one_sided_geometric
from .ranks import draw_ranks
from .tables import draw, draw_events

__all__ = [
    "BitSource",
    "DrawnLaw",
    "OperatingSystemBits",
    "ScriptedBits",
    "add_geometric",
    "clamped_geometric",
    "draw",
    "draw_events",
    "draw_ranks",
    "law_of",
    "one_sided_geometric",
]
