"""Exact draws whose cost says nothing."""

from ..facades import when_used
from ..renamed import renamed_names

with when_used(
    __name__,
    otherwise=renamed_names(
        __name__,
        {
            "HistogramMechanism": "irisdp.families.HistogramMechanism",
            "MinimaxRisk": "irisdp.families.MinimaxRisk",
            "PartitionMechanism": "irisdp.families.PartitionMechanism",
            "expected_changes": "irisdp.families.expected_changes",
            "minimax_risk": "irisdp.families.minimax_risk",
            "noise_risk": "irisdp.families.noise_risk",
            "release_column": "irisdp.families.release_column",
            "release_largest": "irisdp.families.release_largest",
        },
        gone={"draw_mechanism": "Mechanism.draw_positions", "draw_exponential": "Exponential.draw_positions"},
    ),
):
    from .bits import BitSource, OperatingSystemBits, ScriptedBits
    from .brackets import draw_brackets
    from .chains import coarsen, refine
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
    "coarsen",
    "draw",
    "draw_brackets",
    "draw_events",
    "draw_ranks",
    "law_of",
    "one_sided_geometric",
    "refine",
]
