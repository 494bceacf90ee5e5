"""Exact noise for integers: the law that is best for a guarantee, its probabilities, and draws from it."""

from ..facades import when_used

with when_used(__name__):
    from .gaussian import GaussianLaw, gaussian_law
    from .laws import bounded_delta, law
    from .protocol import NoiseLaw
    from .shape import ShapeLaw
    from .staircase import StaircaseLaw
    from .two_sided import geometric

__all__ = [
    "GaussianLaw",
    "NoiseLaw",
    "ShapeLaw",
    "StaircaseLaw",
    "bounded_delta",
    "gaussian_law",
    "geometric",
    "law",
]
