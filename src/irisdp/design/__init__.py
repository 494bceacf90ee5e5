"""Design: the optimum for a goal, exactly private, with a proof that a reader can check.

Here are the designers. Other names live in subpackages: `irisdp.design.rainbows` (curves, comparing designs),
`irisdp.design.counts` (derivability, universality), `irisdp.design.databases` (bounds), `irisdp.design.programs`
(repair, digests). Consumers, their losses and the best post-processing are in `irisdp.consumers`.
"""

from ..renamed import renamed_names
from .closed_forms import balanced_line, geometric, randomized_response
from .counts.consumer import consumer
from .counts.oblivious import oblivious
from .databases.distance import distance
from .databases.exponential import exponential, safe_exponential
from .programs.goals import Goal
from .programs.optimal_mechanism import optimal_mechanism
from .quantiles import Quantile, quantile
from .rainbows.binary import binary
from .rainbows.continuous import Continuous, continuous
from .rainbows.rainbow import rainbow
from .specs import KINDS, from_spec
from .winners import Plurality, plurality, ranking, top

__all__ = [
    "KINDS",
    "Continuous",
    "Goal",
    "Plurality",
    "Quantile",
    "balanced_line",
    "binary",
    "consumer",
    "continuous",
    "distance",
    "exponential",
    "from_spec",
    "geometric",
    "oblivious",
    "optimal_mechanism",
    "plurality",
    "quantile",
    "rainbow",
    "randomized_response",
    "ranking",
    "safe_exponential",
    "top",
]

__getattr__ = renamed_names(
    __name__,
    {
        "Consumer": "irisdp.consumers.Consumer",
        "OptimalReading": "irisdp.consumers.OptimalReading",
        "best_path_bound": "irisdp.design.databases.best_path_bound",
        "compare": "irisdp.design.rainbows.compare",
        "compare_lexicographically": "irisdp.design.rainbows.compare_lexicographically",
        "curves": "irisdp.design.rainbows.curves",
        "derivation": "irisdp.design.counts.derivation",
        "loss_of_reading": "irisdp.consumers.loss_of_reading",
        "nearest_reading": "irisdp.design.counts.nearest_reading",
        "optimal_reading": "irisdp.consumers.optimal_reading",
        "path_bound": "irisdp.design.databases.path_bound",
        "posterior": "irisdp.consumers.posterior",
        "relaxations": "irisdp.design.databases.relaxations",
        "repair": "irisdp.design.programs.repair",
        "seal": "irisdp.design.programs.add_digest",
        "side_by_side": "irisdp.design.counts.side_by_side",
        "tailored": "irisdp.design.optimal_mechanism",
        "turning_points": "irisdp.design.rainbows.turning_points",
    },
)
