"""Exact draws whose cost says nothing."""

from .bits import BitSource, OperatingSystemBits, ScriptedBits
from .chains import coarsen, refine
from .databases.hamming import expected_changes, release_column
from .databases.histograms import HistogramMechanism
from .databases.partitions import PartitionMechanism
from .databases.sorting import MinimaxRisk, minimax_risk, noise_risk, release_largest
from .exhaustion import DrawnLaw, law_of
from .exponential import draw_exponential
from .geometric import add_geometric, clamped_geometric, one_sided_geometric
from .mechanisms import draw_mechanism
from .ranks import draw_ranks
from .tables import draw, draw_events

__all__ = [
    "BitSource",
    "DrawnLaw",
    "HistogramMechanism",
    "MinimaxRisk",
    "OperatingSystemBits",
    "PartitionMechanism",
    "ScriptedBits",
    "add_geometric",
    "clamped_geometric",
    "coarsen",
    "draw",
    "draw_events",
    "draw_exponential",
    "draw_mechanism",
    "draw_ranks",
    "expected_changes",
    "law_of",
    "minimax_risk",
    "noise_risk",
    "one_sided_geometric",
    "refine",
    "release_column",
    "release_largest",
]
