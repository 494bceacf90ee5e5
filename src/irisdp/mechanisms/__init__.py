"""Exact draws from mechanisms over whole families of databases: columns, histograms, partitions, sorted lists."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._depth_mechanism import INFINITE_DEPTH, DepthMechanism, balanced_line, line_mechanism
    from ._exponential import Exponential, sensitivity
    from ._exponential import rate_above as rate_above
    from ._factored import FactoredMechanism, Reading
    from ._file_format import (
        ALL_PRIVATE,
        FORMAT,
        SAME_ROWS,
        StatedObjective,
        guarantee_from_document,
        privacy_from_document,
        privacy_to_document,
    )
    from ._file_format import MOST_DRAWS as MOST_DRAWS
    from ._file_format import too_deep as too_deep
    from ._file_format import too_many_events as too_many_events
    from ._geometric import geometric, geometric_row
    from ._histogram_release import HistogramMechanism
    from ._mechanism import Mechanism, Row, check_distribution
    from ._mechanism_file import MechanismDocument, load, read_document
    from ._noisy_max import (
        LARGEST_CATEGORIES as LARGEST_CATEGORIES,
    )
    from ._noisy_max import (
        LARGEST_PULL as LARGEST_PULL,
    )
    from ._noisy_max import (
        NoisyLargest as NoisyLargest,
    )
    from ._noisy_max import (
        PermuteAndFlip as PermuteAndFlip,
    )
    from ._noisy_max import (
        Pull as Pull,
    )
    from ._noisy_max import (
        PulledChances as PulledChances,
    )
    from ._noisy_max import (
        Winner as Winner,
    )
    from ._noisy_max import (
        none_accepted_before as none_accepted_before,
    )
    from ._noisy_max import (
        pull as pull,
    )
    from ._noisy_max import (
        read_gaps as read_gaps,
    )
    from ._partitions import PartitionMechanism
    from ._randomized_response import (
        balanced_truth,
        binary_randomized_response,
        expected_changes,
        randomized_response,
        release_column,
    )
    from ._sorted_counts import MinimaxRisk, minimax_risk, noise_risk, release_largest
    from ._sorted_counts import fall_together as fall_together
    from ._sorted_counts import sizes_of as sizes_of

__all__ = [
    "ALL_PRIVATE",
    "FORMAT",
    "INFINITE_DEPTH",
    "SAME_ROWS",
    "DepthMechanism",
    "Exponential",
    "FactoredMechanism",
    "HistogramMechanism",
    "Mechanism",
    "MechanismDocument",
    "MinimaxRisk",
    "PartitionMechanism",
    "Reading",
    "Row",
    "StatedObjective",
    "balanced_line",
    "balanced_truth",
    "binary_randomized_response",
    "check_distribution",
    "expected_changes",
    "geometric",
    "geometric_row",
    "guarantee_from_document",
    "line_mechanism",
    "load",
    "minimax_risk",
    "noise_risk",
    "privacy_from_document",
    "privacy_to_document",
    "randomized_response",
    "read_document",
    "release_column",
    "release_largest",
    "sensitivity",
]

exports(__name__)
