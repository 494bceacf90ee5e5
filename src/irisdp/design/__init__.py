"""Design: the optimum for a goal, exactly private, with a proof that a reader can check."""

from .binary import binary
from .closed_forms import balanced_line, geometric, randomized_response
from .consumer import consumer
from .continuous import Continuous, continuous
from .distance import distance
from .goals import Goal
from .homogeneous_curves import curves, turning_points
from .rainbow import rainbow
from .repair import repair
from .sealing import seal
from .specs import KINDS, from_spec
from .tailored import tailored
from .witnesses import compare, compare_lexicographically

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
