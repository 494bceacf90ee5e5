"""Design: the optimum for a goal, exactly private, with a proof that a reader can check."""

from .closed_forms import balanced_line, geometric, randomized_response
from .counts.consumer import consumer
from .databases.distance import distance
from .programs.goals import Goal
from .programs.repair import repair
from .programs.sealing import seal
from .programs.tailored import tailored
from .rainbows.binary import binary
from .rainbows.continuous import Continuous, continuous
from .rainbows.curves import curves, turning_points
from .rainbows.rainbow import rainbow
from .rainbows.witnesses import compare, compare_lexicographically
from .specs import KINDS, from_spec

__all__ = [
    "KINDS",
    "Continuous",
    "Goal",
    "balanced_line",
    "binary",
    "compare",
    "compare_lexicographically",
    "consumer",
    "continuous",
    "curves",
    "distance",
    "from_spec",
    "geometric",
    "rainbow",
    "randomized_response",
    "repair",
    "seal",
    "tailored",
    "turning_points",
]
