"""The largest count with the baseline mechanisms: their exact distributions.

Counts stand by how far each is behind the largest. A category's chance is worked out from powers of α = r^(−1/root).
Where records are added or removed one count moves by 1, the others stay, and each mechanism here keeps ε at α = 1/r;
where a record is exchanged one count rises and another falls, their difference moves by 2, and ε is kept at r^(−1/2).
No smaller α keeps it for counts of any size (docs/theory.md#peers).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import comb
from typing import ClassVar

import flint

from ..exact import Enclosure
from .rates import Number, Powers, Rate, as_fraction, enclose_closely, polynomial

__all__ = ["ExponentialScore", "GeometricMaximum", "LaplaceMaximum", "PeerWinner", "PermutedFlips"]


@dataclass(frozen=True, slots=True)
class PeerWinner(ABC):
    """A mechanism that names the largest of several counts.

    Parameters
    ----------
    rate : Rate
        What one record weighs.
    """

    rate: Rate

    name: ClassVar[str]
    known_as: ClassVar[str]
    rational: ClassVar[bool] = True
    """Whether chances are rational in α."""

    @abstractmethod
    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named.

        Parameters
        ----------
        gaps : sequence of int
            How many records each category has fewer than the largest.
        place : int
            Which category.
        powers : Powers
            Of α.
        """

    @property
    def exact(self) -> flint.fmpq | None:
        """α, where every chance is a fraction."""
        return self.rate.exact if self.rational else None

    def row(self, gaps: Sequence[int]) -> tuple[Enclosure, ...]:
        """Return the chance of each category: fractions where they are, else intervals."""
        return tuple(self._enclosed(gaps, place) for place in range(len(gaps)))

    def wrong(self, gaps: Sequence[int]) -> Enclosure:
        """Return the probability that none of the largest is named."""
        exact = self._exact_at(gaps)
        if exact is not None:
            return Enclosure.exactly(as_fraction(self.miss(gaps, Powers(exact))))
        return enclose_closely(lambda: self.miss(gaps, self.rate.powers())).clamp(Fraction(0), Fraction(1))

    def miss(self, gaps: Sequence[int], powers: Powers) -> Number:
        """Work out the probability that none of the largest is named."""
        tops = [place for place, gap in enumerate(gaps) if gap == 0]
        return 1 - len(tops) * self.chance(gaps, tops[0], powers)

    def _exact_at(self, gaps: Sequence[int]) -> flint.fmpq | None:
        return self.rate.exact_up_to(sum(gaps)) if self.rational else None

    def _enclosed(self, gaps: Sequence[int], place: int) -> Enclosure:
        exact = self._exact_at(gaps)
        if exact is not None:
            return Enclosure.exactly(as_fraction(self.chance(gaps, place, Powers(exact))))
        found = enclose_closely(lambda: self.chance(gaps, place, self.rate.powers()))
        return found.clamp(Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True)
class ExponentialScore(PeerWinner):
    """The exponential mechanism with the counts as scores: a chance proportional to α^gap.

    References
    ----------
    [McSherry2007].
    """

    name: ClassVar[str] = "exponential mechanism"
    known_as: ClassVar[str] = "report noisy max with Gumbel noise"

    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named."""
        return powers(gaps[place]) / sum((powers(gap) for gap in gaps), start=0 * powers.base)


@dataclass(frozen=True, slots=True)
class PermutedFlips(PeerWinner):
    """Permute and flip: in random order, the first category that is accepted, each with a chance of α^gap.

    References
    ----------
    [McKenna2020]; [Ding2021], where it is the largest count with one-sided exponential noise.
    """

    name: ClassVar[str] = "permute and flip"
    known_as: ClassVar[str] = "report noisy max with exponential noise"

    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named: ∫ Π (1 − α^gap·x) dx over [0, 1] of the others."""
        others = polynomial([powers.base**0])
        for rank, gap in enumerate(gaps):
            if rank != place:
                others *= polynomial([powers.base**0, -powers(gap)])
        return powers(gaps[place]) * others.integral()(powers.base**0)


@dataclass(frozen=True, slots=True)
class _TwoSided(PeerWinner):
    """The largest count with noise on both sides, which falls by α a record.

    The law of the largest is added up over stretches of the sum on each of which every factor is one formula: cut where
    the own noise, or that which another category needs to come level, changes its sign.
    """

    def chance(self, gaps: Sequence[int], place: int, powers: Powers) -> Number:
        """Work out the chance that one category is named."""
        # By how much the own count is ahead of each other; its noise x is enough against noise up to x + ahead.
        ahead = [gap - gaps[place] for rank, gap in enumerate(gaps) if rank != place]
        cuts = sorted({0, *(-lead for lead in ahead)})
        stretches = [(None, cuts[0]), *pairwise(cuts), (cuts[-1], None)]
        total = 0 * powers.base
        for low, high in stretches:
            # At a cut itself noise counts as positive; a stretch ends before the next.
            above = [lead for lead in ahead if low is not None and low + lead >= 0]
            below = [lead for lead in ahead if low is None or low + lead < 0]
            total += self._stretch(low, high, above, below, powers)
        return total

    @abstractmethod
    def _stretch(self, low: int | None, high: int | None, above: list[int], below: list[int], powers: Powers) -> Number:
        """Work out the chance of winning with own noise from low up to below high.

        Parameters
        ----------
        low, high : int or None
            None for no end.
        above, below : list of int
            By how much the own count is ahead of others: those against whom noise of either sign, and those against
            whom only noise below 0, is beaten here.
        """


@dataclass(frozen=True, slots=True)
class LaplaceMaximum(_TwoSided):
    """Report noisy max with Laplace noise, which falls by α a record.

    References
    ----------
    [Dwork2014], Claim 3.9.
    """

    name: ClassVar[str] = "noisy max, Laplace noise"
    known_as: ClassVar[str] = "report noisy max with Laplace noise"
    rational: ClassVar[bool] = False

    def _stretch(self, low: int | None, high: int | None, above: list[int], below: list[int], powers: Powers) -> Number:
        # With v = α^x every factor is 1 − ½α^lead·v or ½α^−lead/v, and the own density is ½v or ½/v times dv/v.
        terms = polynomial([1 + 0 * powers.base])
        for lead in above:
            terms *= polynomial([1 + 0 * powers.base, -powers(lead) / 2])
        scale = 1 + 0 * powers.base
        for lead in below:
            scale *= powers(-lead) / 2
        lowest = (1 if low is not None and low >= 0 else -1) - len(below)
        total = 0 * powers.base
        for place, term in enumerate(terms.coeffs()):
            exponent = lowest + place
            if exponent == 0:
                assert low is not None
                assert high is not None
                total += term * (low - high) * powers.base.log()
                continue
            start = 0 if low is None else powers(exponent * low)
            end = 0 if high is None else powers(exponent * high)
            total += term * (start - end) / exponent
        return total * scale / 2


@dataclass(frozen=True, slots=True)
class GeometricMaximum(_TwoSided):
    """Report noisy max with two-sided geometric noise, which falls by α a record; of equal sums one at random.

    It is also what comes of publishing every count with that noise, and naming the largest.

    References
    ----------
    [Dwork2014], Claim 3.9, for Laplace noise; docs/theory.md#peers.
    """

    name: ClassVar[str] = "noisy max, geometric noise"
    known_as: ClassVar[str] = "report noisy max with discrete Laplace noise; the largest of a noisy histogram"

    def _stretch(self, low: int | None, high: int | None, above: list[int], below: list[int], powers: Powers) -> Number:
        # Of equal sums the one with the largest uniform number wins. With the own one t, τ = 1 − t(1 − α) and X = α^x,
        # another is beaten with a chance of 1 − κ·α^lead·X·τ or κ·α^−lead·(1 + α − τ)/X, κ = 1/(1 + α).
        alpha = powers.base
        terms = polynomial([1 + 0 * alpha])
        for lead in above:
            terms *= polynomial([1 + 0 * alpha, -powers(lead) / (1 + alpha)])
        scale = 1 / (1 + alpha)
        for lead in below:
            scale *= powers(-lead) / (1 + alpha)
        lowest = (1 if low is not None and low >= 0 else -1) - len(below)
        total = 0 * alpha
        for place, term in enumerate(terms.coeffs()):
            moment = powers.keep((place, len(below)), partial(_moment, place, len(below), powers))
            total += term * moment * _sum_of_powers(lowest + place, low, high, powers)
        return total * scale


def _moment(one: int, other: int, powers: Powers) -> Number:
    """Work out ∫ τ^one·(1 + α − τ)^other dτ over [α, 1]."""
    total = 0 * powers.base
    for place in range(other + 1):
        power = one + place + 1
        weight = (-1) ** place * comb(other, place)
        total += weight * (1 + powers.base) ** (other - place) * (1 - powers(power)) / power
    return total


def _sum_of_powers(exponent: int, low: int | None, high: int | None, powers: Powers) -> Number:
    """Return the sum of α^(exponent·x) over whole x from low to below high."""
    if exponent == 0:
        assert low is not None
        assert high is not None
        return (high - low) + 0 * powers.base
    start = 0 if low is None else powers(exponent * low)
    end = 0 if high is None else powers(exponent * high)
    return (start - end) / (1 - powers(exponent))
