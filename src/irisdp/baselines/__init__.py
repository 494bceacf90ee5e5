"""Exact errors of this library's mechanisms beside those of others."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._compare import QUESTIONS, ComparableQuery, compare
    from ._comparison import Compared, Comparison, Objective, picture_path
    from ._count_noise import (
        BaselineNoise,
        DiscreteGaussian,
        GeometricCount,
        RoundedLaplace,
        RoundedStaircase,
        discrete_gaussian,
    )
    from ._largest import BaselineArgmax, ExponentialScore, GeometricMaximum, LaplaceMaximum, PermutedFlips
    from ._order import JointExponential, PeeledExponential, PeerOrder, SortedNoise
    from ._quantile_scores import rank_scores, records_off
    from ._rates import Powers, Rate, as_fraction, enclose_closely
    from ._yes_no import ComparedCounts, ExponentialSide, GeometricSide, LaplaceSide, PeerDecision, ToldAlone

__all__ = [
    "BaselineArgmax",
    "BaselineNoise",
    "ComparableQuery",
    "Compared",
    "ComparedCounts",
    "Comparison",
    "DiscreteGaussian",
    "ExponentialScore",
    "ExponentialSide",
    "GeometricCount",
    "GeometricMaximum",
    "GeometricSide",
    "JointExponential",
    "LaplaceMaximum",
    "LaplaceSide",
    "Objective",
    "PeeledExponential",
    "PeerDecision",
    "PeerOrder",
    "PermutedFlips",
    "Powers",
    "Rate",
    "RoundedLaplace",
    "RoundedStaircase",
    "SortedNoise",
    "ToldAlone",
    "compare",
    "enclose_closely",
    "rank_scores",
]

exports(__name__)
