"""Mechanisms: matrices and their files, and exact draws of columns, histograms, partitions and sorted counts."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._depth_mechanism import INFINITE_DEPTH, DepthMechanism, balanced_line, line_mechanism
    from ._exponential import Exponential, ExponentialMechanism, rate_above, sensitivity
    from ._factored import FactoredMechanism, Reading, geometric, geometric_row
    from ._file_format import (
        ALL_PRIVATE,
        CONSTRAINED,
        FORMAT,
        MOST_DRAWS,
        SAME_ROWS,
        StatedObjective,
        guarantee_from_document,
        privacy_from_document,
        privacy_to_document,
        too_deep,
        too_many_events,
    )
    from ._histogram_release import HistogramMechanism
    from ._mechanism import Mechanism, Row, check_distribution
    from ._mechanism_file import MechanismDocument, load, read_document
    from ._noisy_max import (
        LARGEST_CATEGORIES,
        LARGEST_PULL,
        NoisyLargest,
        PermuteAndFlip,
        Pull,
        PulledChances,
        Winner,
        none_accepted_before,
        pull,
        read_gaps,
    )
    from ._partitions import PartitionMechanism
    from ._randomized_response import (
        balanced_truth,
        binary_randomized_response,
        expected_changes,
        randomized_response,
        release_column,
    )
    from ._sorted_counts import MinimaxRisk, fall_together, minimax_risk, noise_risk, release_largest, sizes_of

__all__ = [
    "ALL_PRIVATE",
    "CONSTRAINED",
    "FORMAT",
    "INFINITE_DEPTH",
    "SAME_ROWS",
    "DepthMechanism",
    "Exponential",
    "ExponentialMechanism",
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
