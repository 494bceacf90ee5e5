"""Design: the optimum for a goal, exactly private, with a proof that a reader can check.

Beside the designers: curves of a design and comparisons of two, derivability, bounds for paths, repair of a matrix
that is nearly private. Consumers, their losses and the best post-processing are in `irisdp.consumers`.
"""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .._exact import progress_to
    from ._binary import binary
    from ._certified import certified
    from ._closed_forms import balanced_line, geometric, randomized_response
    from ._consumer_optimal import broken_adjacency, consumer, dominating_reading, side_by_side
    from ._continuous import Continuous, continuous
    from ._derivability import derivation, nearest_reading, oblivious
    from ._distance import distance, layered_distance, one_answer, relaxations
    from ._exponential_rate import exponential, safe_exponential
    from ._homogeneous import curves, turning_points
    from ._incomparable import compare, compare_lexicographically
    from ._levels import LevelChain, chain
    from ._optimal_mechanism import add_digest, optimal_mechanism
    from ._path_bounds import (
        best_path_bound,
        exponential_ratio,
        exponential_ratio_limit,
        middle_distance,
        middle_distance_bound,
        middle_distance_limit,
        path_bound,
        path_bound_limit,
    )
    from ._plurality import PluralityMechanism, plurality, winner
    from ._privacy_program import Goal
    from ._pull import UNIT
    from ._quantiles import (
        CappedRankTable,
        QuantileMechanism,
        RankError,
        ScoredBins,
        quantile,
        read_share,
        scored_quantile,
    )
    from ._rainbow import rainbow
    from ._rankings import OrderTable, order_table, ranking, top
    from ._repair import repair
    from ._score_weights import exponential_base, ladder
    from ._specs import KINDS, from_spec
    from ._sweeps import Sweep, sweep

__all__ = [
    "KINDS",
    "Continuous",
    "Goal",
    "LevelChain",
    "PluralityMechanism",
    "QuantileMechanism",
    "RankError",
    "Sweep",
    "add_digest",
    "balanced_line",
    "best_path_bound",
    "binary",
    "certified",
    "chain",
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
    "nearest_reading",
    "oblivious",
    "optimal_mechanism",
    "path_bound",
    "plurality",
    "progress_to",
    "quantile",
    "rainbow",
    "randomized_response",
    "ranking",
    "relaxations",
    "repair",
    "safe_exponential",
    "side_by_side",
    "sweep",
    "top",
    "turning_points",
    "winner",
]

exports(__name__)
