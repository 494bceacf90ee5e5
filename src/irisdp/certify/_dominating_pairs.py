"""One pair of distributions that dominates a mechanism in every composition.

The largest δ over edges, as a function of the ratio, is not the profile of any one edge: no one edge's distributions
may be composed in its place. But it is convex and falls from 1 to its limit. Every such function is the profile of some
pair of distributions, which is then at least as distinguishable as every edge at every ratio. Such a pair dominates in
every composition, adaptive ones too (proofs/dominating-pair.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._exact import checked, flint_rational, integer
from ._loss_distributions import LossDistribution, TooMuchWork, Work, accountant_of, loss_distribution, power
from ._loss_grids import rounded_power
from ._privacy_profile import PrivacyProfile, lines_of_pair, profile_of_lines

MOST_DRAWS = 10**6
"""Draws that may be composed; the bound of so many is loose."""


@dataclass(frozen=True, slots=True)
class DominatingPair:
    """Two distributions (P, Q) at least as distinguishable, at every ratio, as any two neighbours; exact.

    Parameters
    ----------
    upper, lower : tuple of Fraction
        P and Q over the same few outcomes.
    """

    upper: tuple[Fraction, ...]
    lower: tuple[Fraction, ...]

    @checked
    def composed(self, times: int) -> PrivacyProfile:
        """Return the profile of the pair drawn several times: an upper bound for adaptive composition.

        Exact for the pair where that takes seconds; otherwise `exact` is False and losses are rounded up, as
        `irisdp.certify._loss_grids` says.
        """
        times = integer(times, "times", at_least=1, at_most=MOST_DRAWS)
        try:
            return profile_of_lines(lines_of_pair(power(self.losses(), times, Work()).values()))
        except TooMuchWork:
            return profile_of_lines(rounded_power([self.losses()], times), exact=False)

    def losses(self) -> LossDistribution:
        """Return how much mass has which likelihood ratio."""
        masses = [(flint_rational(p), flint_rational(q)) for p, q in zip(self.upper, self.lower, strict=True)]
        return loss_distribution(masses)

    @checked
    def accountant(self, times: int, *, interval: float = 1e-4) -> Any:
        """Return the pair drawn several times as a privacy loss distribution of dp-accounting.

        Parameters
        ----------
        times : int
            How many draws; thousands are fine.
        interval : float
            Losses are rounded up to multiples of this, and masses up to floats, so that δ is overstated: at ε it is at
            most the true δ at ε − times·interval. The floats of dp-accounting itself leave an error near 1e-12 that no
            rounding direction guards.

        Returns
        -------
        PrivacyLossDistribution
            Ask it `get_delta_for_epsilon` or `get_epsilon_for_delta`. The pair is returned in one direction, which is
            enough for both: it is at least as distinguishable as any two neighbours either way round.

        Raises
        ------
        BadInput
            When dp-accounting is not installed (`pip install irisdp[accounting]`), and for an interval out of range.
        """
        single = accountant_of(self.losses(), interval=interval)
        return single.self_compose(integer(times, "times", at_least=1))


@checked
def dominating_pair(profile: PrivacyProfile) -> DominatingPair:
    """Return the pair whose profile is exactly the one given.

    Parameters
    ----------
    profile : PrivacyProfile
        Of a mechanism on its graph, so a maximum over edges and both directions.

    Notes
    -----
    Where the slope of the profile changes by m at ratio t, Q has mass m and P has t·m. P has the profile's limit where
    Q has nothing, and Q has the rest where P has nothing (proofs/dominating-pair.md).
    """
    ratios, deltas = profile.ratios, profile.deltas
    slopes = [(deltas[k + 1] - deltas[k]) / (ratios[k + 1] - ratios[k]) for k in range(len(ratios) - 1)] + [Fraction(0)]
    lower = [1 + slopes[0], Fraction(0)]
    upper = [Fraction(0), profile.unbounded]
    for ratio, before, after in zip(ratios[1:], slopes, slopes[1:], strict=False):
        lower.append(after - before)
        upper.append(ratio * (after - before))
    kept = [(p, q) for p, q in zip(upper, lower, strict=True) if p or q]
    return DominatingPair(tuple(p for p, _ in kept), tuple(q for _, q in kept))
