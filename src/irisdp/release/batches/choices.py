"""Which kinds of noise a batch tries: for all its counts alike, or other noise for the heavy ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ..plans import Plan
from .gaussian_counts import GaussianCounts
from .noise_kinds import NoiseKind, OwnNoise

__all__ = ["Kinds", "choices"]

Kinds = tuple[NoiseKind, ...]
"""A kind for each question."""

_MOST_CUTS = 2
"""How many sets of heavy counts are tried with noise of their own: each takes as long as a batch without them."""

_FEWEST = 3
"""Counts from which on Gaussian noise is tried: at the usual δ it pays from about a dozen on."""

_MOST_HEAVY = 11
"""Heavy counts up to which other noise is tried for them. At ε = 1 and δ = 1e-6 twelve alike are better off with
Gaussian noise; at a far smaller δ more may not be, and then all keep geometric noise or none does."""


def choices(plans: Sequence[Plan], weights: Sequence[Fraction]) -> Iterator[Kinds]:
    """Yield the kinds to try; those of one weight have one kind.

    Staircase noise is not offered: where one record moves a count by one, it equals geometric noise.
    """
    own, gaussian = OwnNoise(), GaussianCounts()
    yield (own,) * len(plans)
    counts = [place for place, planned in enumerate(plans) if planned.audiences[0].mechanism.chained]
    if len(counts) < _FEWEST:
        return
    heavy = sorted({weights[place] for place in counts}, reverse=True)
    for cut in [None, *heavy[: min(_MOST_CUTS, len(heavy) - 1)]]:
        light = {place for place in counts if cut is None or weights[place] < cut}
        if len(counts) - len(light) > _MOST_HEAVY:
            return
        yield tuple(gaussian if place in light else own for place in range(len(plans)))
