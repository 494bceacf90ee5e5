"""Yes or no with the baseline mechanisms: their probability of error, by distance from the other answer.

A question is a line of positions: yes from 1 up, no from 0 down; a record moves the position by at most `stride`. A
position is *away* from the other answer by position − 1, or by −position. For `at-least K` the position is the count
less K − 1, and the stride is 1; for `majority` it is yes less no, and the stride is 1 where records are added or
removed, 2 where they are exchanged. At the rate α = r^(−1/stride) a position keeps ε.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..exact import Enclosure
from .rates import Number, Powers, Rate, as_fraction, enclose_closely

__all__ = ["ComparedCounts", "ExponentialSide", "GeometricSide", "LaplaceSide", "PeerDecision", "ToldAlone"]


@dataclass(frozen=True, slots=True)
class PeerDecision(ABC):
    """A mechanism that says yes or no, and treats the two alike.

    Parameters
    ----------
    ratio : Fraction
        r.
    stride : int
        By how much a record moves the position.
    """

    ratio: Fraction
    stride: int

    name: ClassVar[str]
    halvings: ClassVar[int] = 1
    """1 where the error is a formula in α, 2 where it is one in √α."""

    def wrong(self, away: int) -> Enclosure:
        """Return the probability of the wrong answer at positions that are so far away from the other."""
        rate = Rate(self.ratio, self.halvings * self.stride)
        exact = rate.exact_up_to(2 * away + 2)
        if exact is not None:
            return Enclosure.exactly(as_fraction(self.miss(away, Powers(exact))))
        return enclose_closely(lambda: self.miss(away, rate.powers())).clamp(Fraction(0), Fraction(1))

    @abstractmethod
    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability of the wrong answer from powers of α, or of √α."""


@dataclass(frozen=True, slots=True)
class GeometricSide(PeerDecision):
    """Add two-sided geometric noise to the position, and say on which side it comes to lie.

    References
    ----------
    [Ghosh2012].
    """

    name: ClassVar[str] = "threshold of a count with geometric noise"

    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability that noise reaches the other side."""
        return powers(away + 1) / (1 + powers.base)


@dataclass(frozen=True, slots=True)
class LaplaceSide(PeerDecision):
    """Add Laplace noise to the position, and say on which side of the middle between the answers it comes to lie.

    References
    ----------
    [Dwork2014].
    """

    name: ClassVar[str] = "threshold of a count with Laplace noise"
    halvings: ClassVar[int] = 2

    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability that noise reaches the other side: half of α^(away + ½)."""
        return powers(2 * away + 1) / 2


@dataclass(frozen=True, slots=True)
class ExponentialSide(PeerDecision):
    """The exponential mechanism with the distance from the middle between the answers as the score of yes, 0 of no.

    Only one score moves, and always one way, so that the odds, which move by the factor r, may be all of ε.

    References
    ----------
    [McSherry2007].
    """

    name: ClassVar[str] = "exponential mechanism"
    halvings: ClassVar[int] = 2

    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability of the answer with the smaller score."""
        odds = powers(2 * away + 1)
        return odds / (1 + odds)


@dataclass(frozen=True, slots=True)
class ComparedCounts(PeerDecision):
    """Add two-sided geometric noise to the two counts, and say whether the first is larger.

    Where a record is added, one count rises, and either noise may keep all of ε; where it is exchanged, both change.

    References
    ----------
    [Dwork2014], Claim 3.9, for Laplace noise.
    """

    name: ClassVar[str] = "the larger of two counts with geometric noise"

    def miss(self, away: int, powers: Powers) -> Number:
        """Work out the probability that the difference of two noises reaches the other side.

        The difference is k with chance ((1 − α)/(1 + α))²·α^k·(k + b) for k ≥ 0, b = (1 + α²)/(1 − α²).
        """
        alpha, least = powers.base, away + 1
        middle = (1 + alpha**2) / (1 - alpha**2)
        tail = (least + middle) / (1 - alpha) + alpha / (1 - alpha) ** 2
        return ((1 - alpha) / (1 + alpha)) ** 2 * powers(least) * tail


@dataclass(frozen=True, slots=True)
class ToldAlone:
    """Randomised response about the answer alone: it does not look at how far away the other is.

    Parameters
    ----------
    ratio, delta : Fraction

    References
    ----------
    [Warner1965].
    """

    ratio: Fraction
    delta: Fraction

    name: ClassVar[str] = "randomised response about the answer"

    def wrong(self, away: int) -> Enclosure:
        """Return the probability of the wrong answer, (1 − δ)/(1 + r)."""
        return Enclosure.exactly((1 - self.delta) / (1 + self.ratio))
