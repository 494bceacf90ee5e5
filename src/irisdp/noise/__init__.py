"""Exact noise for integers: the law that is best for a guarantee, its probabilities, and draws from it."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._distribution import DEFAULT_WIDTH, NoiseDistribution
    from ._optimal import LARGEST_BOUND, bounded_delta, geometric, law, root_of
    from ._rounded_gaussian import GaussianLaw, gaussian_law
    from ._staircase import StaircaseLaw, stretches_within
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
