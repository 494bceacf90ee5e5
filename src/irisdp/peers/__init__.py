"""What other mechanisms answer, exactly: laws to compare with, not to publish with."""

from .counts import DiscreteGaussian, GeometricCount, PeerNoise, RoundedLaplace, RoundedStaircase, discrete_gaussian
from .decisions import ComparedCounts, ExponentialSide, GeometricSide, LaplaceSide, PeerDecision, ToldAlone
from .quantiles import rank_scores, records_off
from .rates import Powers, Rate, as_fraction, enclose_closely
from .winners import ExponentialScore, GeometricMaximum, LaplaceMaximum, PeerWinner, PermutedFlips

__all__ = [
    "ComparedCounts",
    "DiscreteGaussian",
    "ExponentialScore",
    "ExponentialSide",
    "GeometricCount",
    "GeometricMaximum",
    "GeometricSide",
    "LaplaceMaximum",
    "LaplaceSide",
    "PeerDecision",
    "PeerNoise",
    "PeerWinner",
    "PermutedFlips",
    "Powers",
    "Rate",
    "RoundedLaplace",
    "RoundedStaircase",
    "ToldAlone",
    "as_fraction",
    "discrete_gaussian",
    "enclose_closely",
    "rank_scores",
    "records_off",
]
