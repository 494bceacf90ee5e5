"""Both bounds of a total: the laws, the grid, and the product of losses of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import fsum, gcd, lcm, prod
from typing import Any

import flint

from ..certify.arithmetic import as_fraction, flint_rational
from ..certify.loss_laws import LossLaw, TwoPointLaw, largest_loss, smallest_loss
from ..certify.rounded_losses import RoundedLosses, product_on_grid
from ..errors import BadInput
from ..exact import ball, decimal_above, dyadic_above, dyadic_below, ends, rational, rational_text, working_precision
from .bounds import delta_of, epsilon_bound
from .gaussian_sides import GaussianSide
from .items import Laws, read_items

__all__ = ["Side", "both_sides", "upper_side"]

_BITS = 192
_MOST_BITS = 1 << 13
_MARGIN = 150
"""Bits beyond those of δ, so that the masses' rounding stays below 10^-30 of it in ever so many products."""

_KEPT = 160
"""Significant bits of what is returned."""

_LOSSES = 1 << 15
_MOST_LOSSES = 1 << 21
"""How many places of the grid losses should take, and how many they may."""

_SPREAD = 13.4
_LONGEST_CHANCE = 1 << 22
_LONGEST_KEPT = 1 << 12
"""Bits up to which the chance of an infinite loss is computed exactly, and returned so."""

_SHORTER = Fraction((1 << 96) - 1, 1 << 96)
"""From below, ratios e^ε that were rounded down must not miss their place on the grid: its places lie closer to 0."""


@dataclass(slots=True)
class Side:
    """One of the two bounds of a total: what its laws say before any of them is rounded."""

    laws: Counter[LossLaw]
    width: Fraction
    upward: bool
    products: dict[int, RoundedLosses] = field(default_factory=dict)

    def least_epsilon(self, delta: Fraction) -> Fraction:
        """Return the bound of ε at a δ.

        Raises
        ------
        BadInput
            For a δ smaller than the chance of an infinite loss.
        """
        with working_precision(_MOST_BITS):
            finite = self._finite()
            spare = flint_rational(delta) - (1 - finite)
            missing = spare < 0 if isinstance(spare, flint.fmpq) else not spare > 0
        if missing:
            raise BadInput(
                "delta", f"must be at least {self._least_delta(finite)}: no epsilon avoids that", "raise delta"
            )
        if spare == 0:
            return self._largest_loss()
        with working_precision(_MOST_BITS):
            wanted = flint.arb(spare) / flint.arb(finite)
        found = epsilon_bound(self._product(_bits_for(wanted)), self.width, wanted)
        if not self.upward:
            return dyadic_below(found, _KEPT)
        return min(dyadic_above(found, _KEPT), self._largest_loss())

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return the bound of δ at an ε."""
        finite, bits = self._finite(), _BITS
        if epsilon >= self._largest_loss() or any(law.endless == 1 for law in self.laws):
            return self._rounded(1 - finite)
        while True:
            of_finite = delta_of(self._product(bits), self.width, epsilon)
            with working_precision(bits + 64):
                chance = ball(of_finite.upper if self.upward else of_finite.lower)
                found = chance + (1 - flint.arb(finite)) * (1 - chance)
            needed = _bits_for(found) if found > 0 else 2 * bits
            if needed <= bits or bits == _MOST_BITS:
                return self._rounded(found)
            bits = min(needed, _MOST_BITS)

    def _finite(self) -> Any:
        """Return the chance that no loss is infinite: exact, or a ball where it is long."""
        chances = [(1 - law.endless, times) for law, times in self.laws.items() if law.endless]
        if sum(chance.denominator.bit_length() * times for chance, times in chances) <= _LONGEST_CHANCE:
            return prod((flint_rational(chance) ** times for chance, times in chances), start=flint.fmpq(1))
        with working_precision(_MOST_BITS):
            return prod((ball(chance) ** times for chance, times in chances), start=flint.arb(1))

    def _largest_loss(self) -> Fraction:
        """Return the largest finite loss of all together, rounded to this side."""
        ends_ = [(largest_loss(law), times) for law, times in self.laws.items()]
        return sum((times * (end.upper if self.upward else end.lower) for end, times in ends_), start=Fraction(0))

    def _least_delta(self, finite: Any) -> str:
        """Write the chance of an infinite loss, rounded up to twelve digits."""
        chance = self._rounded(1 - finite)
        zeros = len(str(chance.denominator)) - len(str(chance.numerator))
        return rational_text(decimal_above(chance, 12 + zeros))

    def _product(self, bits: int) -> RoundedLosses:
        if bits not in self.products:
            self.products[bits] = product_on_grid(self.laws, self.width, bits=bits, upward=self.upward)
        return replace(self.products[bits], upward=self.upward)

    def _rounded(self, value: Any) -> Fraction:
        """Round a number in [0, 1] to this side; a short exact one stays as it is."""
        if isinstance(value, flint.fmpq) and int(value.q).bit_length() <= _LONGEST_KEPT:
            return as_fraction(value)
        with working_precision(_MOST_BITS):
            held = ends(flint.arb(value)).clamp(Fraction(0), Fraction(1))
        return min(Fraction(1), dyadic_above(held.upper, _KEPT)) if self.upward else dyadic_below(held.lower, _KEPT)


def both_sides(items: Any, grid: Any) -> tuple[Side, Side] | tuple[GaussianSide, GaussianSide]:
    """Read what is released, and choose the grids of both bounds; Gaussian releases alone need none."""
    laws = read_items(items)
    if not laws.above:
        return GaussianSide(laws.square, upward=False), GaussianSide(laws.square, upward=True)
    width = _width(laws, grid)
    guarantees = all(isinstance(law, TwoPointLaw) for law in laws.below)
    lower = Side(laws.below, width if guarantees else width * _SHORTER, upward=False)
    upper = Side(laws.above, width, upward=True)
    if guarantees and all((2 * epsilon / width).denominator == 1 for epsilon in laws.promised):
        upper.products = lower.products  # on the grid as they are: the two only differ in what becomes of the rest
    return lower, upper


def upper_side(items: Any) -> Side | GaussianSide:
    """Read what is released, and choose the grid of the bound from above."""
    laws = read_items(items, below=False)
    if not laws.above:
        return GaussianSide(laws.square, upward=True)
    return Side(laws.above, _width(laws, None), upward=True)


def _width(laws: Laws, grid: Any) -> Fraction:
    """Return the width of the grid: the one given, or one that holds every ε, or one with a usual number of places."""
    spans = [
        (float(largest_loss(law).upper - smallest_loss(law).lower), times)
        for law, times in (*laws.above.items(), *(laws.below or laws.above).items())
    ]
    # Up to a chance of 2^-128 a sum stays within 6.7·√(Σ span²) of its mean.
    most, usual = fsum(span * times for span, times in spans), fsum(span**2 * times for span, times in spans)
    together = Fraction(min(most, _SPREAD * usual**0.5))
    guarantees = all(isinstance(law, TwoPointLaw) for law in laws.above)
    # The two losses of a guarantee are 2ε apart, and its grid is shifted to them; that of other losses is not.
    common = _common_divisor(laws.promised) * (2 if guarantees else 1)
    if grid is not None:
        width = rational(grid, "grid")
        if width <= 0:
            raise BadInput("grid", "must be more than 0", "write a width such as 1e-4")
        if together / width > _MOST_LOSSES:
            raise BadInput("grid", f"has more than {_MOST_LOSSES:,} places for these losses", "choose a wider one")
        return common if guarantees and common and (common / width).denominator == 1 else width
    if not together:
        return Fraction(1)
    if common and together / common <= 4 * _LOSSES:
        return common if guarantees else common / max(1, int(2 * _LOSSES * common / together))
    return dyadic_above(together / (2 * _LOSSES), 8)


def _common_divisor(numbers: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all are multiples; 0 if all are 0."""
    found = list(numbers)
    scale = lcm(*(number.denominator for number in found))
    return Fraction(gcd(*(int(number * scale) for number in found)), scale)


def _bits_for(value: flint.arb) -> int:
    """Return how fine masses must be, that their rounding hardly shows beside a number: a multiple of 64."""
    size = ends(value).lower
    small = max(0, size.denominator.bit_length() - size.numerator.bit_length()) if size > 0 else _MOST_BITS
    return min(_MOST_BITS, max(_BITS, -(-(_MARGIN + small) // 64) * 64))
