"""What other mechanisms answer, exactly: laws to compare with, not to publish with."""

from .counts import DiscreteGaussian, GeometricCount, PeerNoise, RoundedLaplace, RoundedStaircase, discrete_gaussian
from .decisions import ComparedCounts, ExponentialSide, GeometricSide, LaplaceSide, PeerDecision, ToldAlone
from .orders import JointExponential, PeeledExponential, PeerOrder, SortedNoise
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
    "JointExponential",
    "LaplaceMaximum",
    "LaplaceSide",
    "PeeledExponential",
    "PeerDecision",
    "PeerNoise",
    "PeerOrder",
    "PeerWinner",
    "PermutedFlips",
    "Powers",
    "Rate",
    "RoundedLaplace",
    "RoundedStaircase",
    "SortedNoise",
    "ToldAlone",
    "as_fraction",
    "discrete_gaussian",
    "enclose_closely",
    "rank_scores",
    "records_off",
]
