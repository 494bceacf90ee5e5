"""Products of loss distributions on a grid, rounded towards less privacy: for many draws and long numbers.

A loss is log(P/Q). Every loss is rounded up to a multiple of one width h: mass p of P at ratio ρ faces q = p/ρ of Q,
and afterwards p·e^(−kh) ≤ q with k = ⌈log(ρ)/h⌉. Every other rounding moves mass of P to a larger loss. Both only take
mass from Q, outcome by outcome, and Σ max(0, P − r·Q) only grows by that, for the outcomes of any number of draws as
well: the profile found is nowhere below the true one (proofs/dominating-pair.md).

Masses are whole multiples of 2^-192, and a product is one multiplication of polynomials over the integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import flint

from ..exact import ball, enclosure_of, log_above, log_below
from .arithmetic import Number, as_fraction, flint_rational
from .loss_distributions import LossDistribution
from .profile import Line

__all__ = ["RoundedLosses", "rounded_power"]

_BITS = 192
_ONE = 1 << _BITS
_CUT = 1 << _BITS - 128
"""A tail of less than 2^-128 is moved: the lower one up to the next loss, the upper one to the largest there is."""

_LOSSES = 1 << 15
"""About how many multiples of h the losses of all draws together span."""

_LARGEST_LOSS = 2_000
"""Beyond this, Q's part of a mass is left out: no ratio that is a promise of privacy gets there."""

_SMALLEST_WIDTH = Fraction(1, 1 << 60)


@dataclass(frozen=True, slots=True)
class RoundedLosses:
    """Masses of P by loss, as multiples of the grid.

    Parameters
    ----------
    first : int
        Loss of `masses[0]`, in grid widths.
    masses : polynomial over the integers
        Mass of P at the losses first, first + 1, …, in units of 2^-192.
    top, at_top : int
        The largest finite loss, and mass there besides.
    endless : int
        Mass that Q gives nothing to.
    """

    first: int
    masses: flint.fmpz_poly
    top: int
    at_top: int
    endless: int

    def times(self, other: RoundedLosses) -> RoundedLosses:
        """Return the losses of both together."""
        product = self.masses * other.masses
        whole = [int(mass) >> _BITS for mass in product.coeffs()]
        first, top = self.first + other.first, self.top + other.top
        endless = _ONE - (((_ONE - self.endless) * (_ONE - other.endless)) >> _BITS)
        whole, first = _without_lower_tail(whole, first)
        whole = _without_upper_tail(whole)
        # What rounding down and cutting took from the middle is at the largest loss.
        return RoundedLosses(first, flint.fmpz_poly(whole), top, _ONE - endless - sum(whole), endless)

    def to_the(self, times: int) -> RoundedLosses:
        """Return the losses of several draws, by repeated squaring."""
        result, factor = None, self
        while times:
            if times & 1:
                result = factor if result is None else result.times(factor)
            times >>= 1
            if times:
                factor = factor.times(factor)
        assert result is not None
        return result

    def lines(self, width: Fraction) -> list[Line]:
        """Return the lines C − r·S of the profile, from the largest loss to the smallest."""
        above, below = flint.fmpq(self.endless, _ONE), flint.fmpq(0)
        found: list[Line] = [(above, below)]
        losses = [(self.top, self.at_top)]
        losses += [(self.first + place, int(mass)) for place, mass in enumerate(self.masses.coeffs())][::-1]
        for loss, mass in losses:
            if mass:
                above, below = above + flint.fmpq(mass, _ONE), below + flint.fmpq(mass, _ONE) * _facing(loss, width)
                found.append((above, below))
        return found


def rounded_power(factors: list[LossDistribution], times: int) -> list[Line]:
    """Return the lines of the profile of independent pairs, each drawn several times; never below the true profile.

    The width h of the grid is W/32768, where W = s·min(times, 12·√times) is what the losses of all draws span, up to
    a chance of 2^-100, and s is the sum of the spans of the pairs. All draws together overstate a loss by less than
    h for each draw of each pair.
    """
    spans = [_span(factor) for factor in factors]
    reach = min(times, 12 * (isqrt(times) + 1))
    width = max(_dyadic_above(sum(spans, Fraction(0)) * reach / _LOSSES), _SMALLEST_WIDTH)
    result = None
    for factor in factors:
        drawn = _on_grid(factor, width).to_the(times)
        result = drawn if result is None else result.times(drawn)
    assert result is not None
    return result.lines(width)


def _on_grid(factor: LossDistribution, width: Fraction) -> RoundedLosses:
    """Round the losses of one pair up to multiples of the width."""
    by_loss: dict[int, int] = {}
    endless = 0
    for ratio, (p, _) in factor.items():
        if ratio is None:
            endless = -(-int(p.p) * _ONE // int(p.q))
        else:
            loss = log_above(as_fraction(ratio)) / width
            place = -(-loss.numerator // loss.denominator)
            by_loss[place] = by_loss.get(place, 0) + int(p.p) * _ONE // int(p.q)
    if not by_loss:
        return RoundedLosses(0, flint.fmpz_poly([]), 0, 0, _ONE)
    first, top = min(by_loss), max(by_loss)
    masses = [by_loss.get(place, 0) for place in range(first, top + 1)]
    endless = min(endless, _ONE - sum(masses))
    return RoundedLosses(first, flint.fmpz_poly(masses), top, _ONE - endless - sum(masses), endless)


def _without_lower_tail(masses: list[int], first: int) -> tuple[list[int], int]:
    taken, place = 0, 0
    while place < len(masses) - 1 and taken + masses[place] < _CUT:
        taken += masses[place]
        place += 1
    return [taken + masses[place], *masses[place + 1 :]] if masses else [], first + place


def _without_upper_tail(masses: list[int]) -> list[int]:
    taken, end = 0, len(masses)
    while end > 1 and taken + masses[end - 1] < _CUT:
        taken += masses[end - 1]
        end -= 1
    return masses[:end]


def _facing(loss: int, width: Fraction) -> Number:
    """Return a number at most e^(−loss·width), and within 2^-60 of its size; 0 beyond the largest loss."""
    exponent = -loss * width
    if exponent == 0 or exponent < -_LARGEST_LOSS:
        return flint.fmpq(exponent == 0)
    size = Fraction(2) ** int(exponent * Fraction(144269504, 10**8) - 2)
    return flint_rational(enclosure_of(lambda: ball(exponent).exp(), width=size / (1 << 60)).lower)


def _span(factor: LossDistribution) -> Fraction:
    ratios = [as_fraction(ratio) for ratio in factor if ratio is not None]
    return log_above(max(ratios)) - log_below(min(ratios)) if ratios else Fraction(0)


def _dyadic_above(value: Fraction) -> Fraction:
    """Round up to a power of two times 1, ..., 255, so that multiples stay short."""
    scale = 8 - (value.numerator.bit_length() - value.denominator.bit_length())
    shift = Fraction(2) ** scale
    return -(-(value * shift).numerator // (value * shift).denominator) / shift if value else Fraction(0)
