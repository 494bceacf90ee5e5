"""Exact draws whose cost says nothing."""

from .bits import BitSource, OperatingSystemBits, ScriptedBits
from .chains import coarsen, refine
from .exhaustion import DrawnLaw, law_of
from .geometric import add_geometric, clamped_geometric, one_sided_geometric
from .mechanisms import draw_mechanism
from .ranks import draw_ranks
from .tables import draw, draw_events

__all__ = [
    "BitSource",
    "DrawnLaw",
    "OperatingSystemBits",
    "ScriptedBits",
    "add_geometric",
    "clamped_geometric",
    "coarsen",
    "draw",
    "draw_events",
    "draw_mechanism",
    "draw_ranks",
    "law_of",
    "one_sided_geometric",
    "refine",
]
