"""Exact draws from mechanisms over whole families of databases: columns, histograms, partitions, sorted lists."""

from ..facades import when_used

with when_used(__name__):
    from .hamming import expected_changes, release_column
    from .histograms import HistogramMechanism
    from .partitions import PartitionMechanism
    from .sorting import MinimaxRisk, minimax_risk, noise_risk, release_largest

__all__ = [
    "HistogramMechanism",
    "MinimaxRisk",
    "PartitionMechanism",
    "expected_changes",
    "minimax_risk",
    "noise_risk",
    "release_column",
    "release_largest",
]
