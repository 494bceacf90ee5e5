"""A Gaussian release, as an item of a total."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import checked, rational

__all__ = ["Gaussian"]

_LARGEST, _SMALLEST = 100, Fraction(1, 10**6)


@checked
@dataclass(frozen=True, slots=True)
class Gaussian:
    """A release with μ-Gaussian differential privacy, such as a count under Gaussian noise of deviation 1/μ.

    Parameters
    ----------
    mean : number or text
        μ, from 1e-6 to 100.

    References
    ----------
    [Dong2022], Definition 4.
    """

    mean: Any

    def __post_init__(self) -> None:
        """Hold an exact number."""
        mean = rational(self.mean, "mean")
        if not _SMALLEST <= mean <= _LARGEST:
            raise BadInput("mean", "must lie between 1e-6 and 100 (it is the mu of Gaussian DP)", "give for example 1")
        object.__setattr__(self, "mean", mean)
