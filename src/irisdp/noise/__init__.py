"""Exact noise for integers: the law that is best for a guarantee, its probabilities, and draws from it."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._distribution import NoiseDistribution
    from ._optimal import LARGEST_BOUND as LARGEST_BOUND
    from ._optimal import bounded_delta, geometric, law
    from ._optimal import root_of as root_of
    from ._rounded_gaussian import GaussianLaw, gaussian_law
    from ._staircase import StaircaseLaw
    from ._staircase import stretches_within as stretches_within
    from ._universal import UniversalDistribution

__all__ = [
    "GaussianLaw",
    "NoiseDistribution",
    "StaircaseLaw",
    "UniversalDistribution",
    "bounded_delta",
    "gaussian_law",
    "geometric",
    "law",
]

exports(__name__)
