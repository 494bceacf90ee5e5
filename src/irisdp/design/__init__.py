"""Design: the optimum for a goal, exactly private, with a proof that a reader can check."""

from ..renamed import renamed_names
from .closed_forms import balanced_line, geometric, randomized_response
from .counts.consumer import consumer
from .counts.derivability import derivation, nearest_reading
from .counts.oblivious import oblivious
from .counts.universality import side_by_side
from .databases.distance import distance
from .databases.exponential import exponential, safe_exponential
from .databases.path_bounds import best_path_bound, path_bound
from .databases.relaxed import relaxations
from .programs.goals import Goal
from .programs.optimal_mechanism import optimal_mechanism
from .programs.repair import repair
from .programs.sealing import seal
from .rainbows.binary import binary
from .rainbows.continuous import Continuous, continuous
from .rainbows.curves import curves, turning_points
from .rainbows.rainbow import rainbow
from .rainbows.witnesses import compare, compare_lexicographically
from .readings.consumers import Consumer
from .readings.optimal import OptimalReading, optimal_reading
from .readings.value import loss_of_reading, posterior
from .specs import KINDS, from_spec

__all__ = [
    "KINDS",
    "Consumer",
    "Continuous",
    "Goal",
    "OptimalReading",
    "balanced_line",
    "best_path_bound",
    "binary",
    "compare",
    "compare_lexicographically",
    "consumer",
    "continuous",
    "curves",
    "derivation",
    "distance",
    "exponential",
    "from_spec",
    "geometric",
    "loss_of_reading",
    "nearest_reading",
    "oblivious",
    "optimal_mechanism",
    "optimal_reading",
    "path_bound",
    "posterior",
    "rainbow",
    "randomized_response",
    "relaxations",
    "repair",
    "safe_exponential",
    "seal",
    "side_by_side",
    "turning_points",
]

__getattr__ = renamed_names(__name__, {"tailored": "irisdp.design.optimal_mechanism"})
