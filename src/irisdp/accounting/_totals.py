"""The exact total of releases fixed in advance, as an enclosure: adding up ε wastes a third of the budget and more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import fsum, gcd, lcm, prod
from typing import Any

import flint

from .._exact import (
    Enclosure,
    as_fraction,
    ball,
    checked,
    decimal_above,
    dyadic_above,
    dyadic_below,
    ends,
    flint_rational,
    rational,
    rational_text,
    working_precision,
)
from ..certify import PrivacyLossDistribution, RoundedLosses, TwoPointLaw, largest_loss, product_on_grid, smallest_loss
from ..errors import BadInput
from ._events import Laws, read_items
from ._gaussian_losses import GaussianSide

# Compute δ and ε from a product of losses on a grid.
#
# δ(ε) is the sum of mass·max(0, 1 − e^(ε − loss)). Between two grid points it is S − e^ε·W, where S is the mass above
# and W the mass of Q on the same losses. As a function of e^ε it is convex, so each of these lines lies nowhere above
# it.


@dataclass(frozen=True, slots=True)
class _Piece:
    """Between two places, δ = above − facing·e^(ε − loss of the first), in units of the masses.

    Parameters
    ----------
    place, following : int
        The larger one, and the next one whose loss is above 0; None where there is none.
    at_end : arb
        δ at the following one's loss, or at 0.
    """

    place: int
    following: int | None
    above: flint.arb
    facing: flint.arb
    at_end: flint.arb


def delta_of(losses: RoundedLosses, width: Fraction, epsilon: Fraction) -> Enclosure:
    """Enclose δ at an ε ≥ 0 for the losses on the grid, given that the loss is finite."""
    lowest = (epsilon - losses.anchor) / width  # places above it count
    with working_precision(losses.bits + 64):
        for piece in _pieces(losses, width):
            if piece.place <= lowest:
                break
            if piece.following is None or piece.following <= lowest:
                loss = losses.anchor + piece.place * width
                delta = piece.above - piece.facing * ball(epsilon - loss).exp()
                return ends(delta / (1 << losses.bits)).clamp(Fraction(0), Fraction(1))
    return Enclosure.exactly(Fraction(0))


def epsilon_bound(losses: RoundedLosses, width: Fraction, delta: flint.arb) -> Fraction:
    """Return a bound of the least ε ≥ 0 at which the losses on the grid have at most this δ, on their side of it.

    Parameters
    ----------
    delta : arb
        More than 0, given that the loss is finite.

    Returns
    -------
    Fraction
        Upward at least that ε, downward at most.
    """
    with working_precision(losses.bits + 64):
        wanted = delta * (1 << losses.bits)
        for piece in _pieces(losses, width):
            if piece.at_end <= wanted if losses.upward else not piece.at_end > wanted:
                continue
            loss = losses.anchor + piece.place * width
            end = Fraction(0) if piece.following is None else max(Fraction(0), losses.anchor + piece.following * width)
            crossing = ((piece.above - wanted) / piece.facing).log()
            if not crossing.is_finite():
                return loss if losses.upward else end
            bound = ends(crossing).upper if losses.upward else ends(crossing).lower
            return max(end, min(loss, loss + bound))
    return Fraction(0)


def _pieces(losses: RoundedLosses, width: Fraction) -> Iterator[_Piece]:
    """Yield the pieces of the curve above ε = 0, from the largest loss down."""
    above = facing = flint.arb(0)
    before: int | None = None
    step, zero = (-ball(width)).exp(), -losses.anchor / width
    for place, mass in losses.falling():
        if place <= zero:
            break
        if before is not None:
            faced = facing * (step if before - place == 1 else ball((place - before) * width).exp())
            yield _Piece(before, place, above, facing, above - faced)
            facing = faced
        above, facing, before = above + mass, facing + mass, place
    if before is not None:
        loss = losses.anchor + before * width
        yield _Piece(before, None, above, facing, above - facing * ball(-loss).exp())


@checked
def total(items: Any, *, delta: Any, grid: Any = None) -> tuple[Fraction, Fraction]:
    """Enclose the least ε such that releases fixed in advance are (ε, δ)-private together.

    Parameters
    ----------
    items : list
        The releases, each with independent draws, under one neighbouring relation and none chosen in the light of
        another's answer. An item is a `Privacy`, `Gaussian(mu)`, a mechanism with its graph, a noise distribution
        (which counts as its guarantee `privacy`), a privacy-loss distribution
        (`irisdp.certify.PrivacyLossDistribution`), or a pair (item, times). The order does not matter.
    delta : number or text
        δ of the whole, in [0, 1).
    grid : number or text, optional
        Losses are rounded to multiples of it. By default it holds every ε exactly if one grid of at most a few
        ten thousand places does, and otherwise has about that many.

    Returns
    -------
    tuple of Fraction
        (lower, upper). Charge `upper`: all releases together are (upper, δ)-private. For guarantees that one grid
        holds the two differ by less than 10^-30 of their size.

    Raises
    ------
    BadInput
        For an empty list, an invalid item, a number of times below 1, or a grid of more than two million places. Also
        for a δ outside [0, 1), or smaller than the δ that every ε leaves.

    Notes
    -----
    A `Privacy` represents every release with this guarantee, at its charged ε. Its worst case is a randomised response
    after a coin that reveals all with probability δ, which no other release with the guarantee exceeds in any total
    [Kairouz2017]. Geometric noise at ε is exactly that with δ = 0. So `lower` is a bound for all releases known only by
    their guarantees: some have no smaller total.

    A mechanism enters `upper` by its dominating pair [Zhu2022]. `lower` takes one pair of neighbours for all mechanisms
    with the same inputs, and a separate one for the others. It holds for mechanisms with the same inputs even if all
    are asked about one input, and where inputs differ, for the worst questions. The two may be apart for a mechanism
    that no single pair of neighbours dominates; for draws on one input `irisdp.certify.compose` may then be sharper.

    If a later ε may depend on earlier answers, this is no bound.

    References
    ----------
    [Kairouz2017], Theorem 3.3; rounding, scope and both directions: proofs/totals.md.
    `tests/oracles/test_totals.py` compares with all products of losses.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> lower, upper = total([(Privacy(epsilon="0.1"), 60)], delta="1e-6")
    >>> f"{float(lower):.6f} {float(upper):.6f}"
    '3.545389 3.545389'
    """
    wanted = _read_delta(delta)
    lower, upper = _both(items, grid)
    return lower.least_epsilon(wanted), upper.least_epsilon(wanted)


@checked
def delta(items: Any, *, epsilon: Any, grid: Any = None) -> tuple[Fraction, Fraction]:
    """Enclose the least δ such that releases fixed in advance are (ε, δ)-private together.

    Parameters
    ----------
    items : list
        As for `irisdp.accounting.total`.
    epsilon : number or text
        ε of the whole, at least 0.
    grid : number or text, optional
        As for `irisdp.accounting.total`.

    Returns
    -------
    tuple of Fraction
        (lower, upper), each in [0, 1]: all releases together are (ε, upper)-private.

    Raises
    ------
    BadInput
        As `irisdp.accounting.total`, and for a negative ε.

    References
    ----------
    As for `irisdp.accounting.total`, where it is also said what the two bounds are about.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> lower, upper = delta([(Privacy(epsilon="0.1"), 60)], epsilon="3.5")
    >>> f"{float(lower):.6e} {float(upper):.6e}"
    '1.364929e-06 1.364929e-06'
    """
    wanted = _read_epsilon(epsilon)
    lower, upper = _both(items, grid)
    return lower.delta_at(wanted), upper.delta_at(wanted)


@checked
def delta_above(items: Any, *, epsilon: Any) -> Fraction:
    """Return a δ for which releases fixed in advance are (ε, δ)-private together.

    The upper end of `delta`, in less time: the bound from below is not worked out. Where no one grid holds all losses
    the two may round them to different grids; either holds.

    Parameters
    ----------
    items : list
        As for `irisdp.accounting.total`.
    epsilon : number or text
        Of the whole.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> float(delta_above([(Privacy(epsilon="0.1"), 60)], epsilon="3.546")) < 1e-6
    True
    """
    return pessimistic_distribution(items).delta_at(_read_epsilon(epsilon))


def _read_epsilon(epsilon: Any) -> Fraction:
    wanted = rational(epsilon, "epsilon")
    if wanted < 0:
        raise BadInput("epsilon", "must not be negative", "give a number that is at least 0")
    return wanted


def _read_delta(delta: Any) -> Fraction:
    wanted = rational(delta, "delta")
    if not 0 <= wanted < 1:
        raise BadInput("delta", "must be at least 0 and below 1", "give a small probability such as 1e-6")
    return wanted


def _both(items: Any, grid: Any) -> tuple[TotalBound, TotalBound] | tuple[GaussianSide, GaussianSide]:
    """Read what is released; the checks of mechanisms are loaded here, so that costs alone are loaded fast."""
    return both_sides(items, grid)


# Compute both bounds of a total: the distributions, the grid, and the product of losses of each.

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
class TotalBound:
    """One of the two bounds of a total: what its laws say before any of them is rounded."""

    laws: Counter[PrivacyLossDistribution]
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
        """Round a number in [0, 1] to this side; a short exact one stays unchanged."""
        if isinstance(value, flint.fmpq) and int(value.q).bit_length() <= _LONGEST_KEPT:
            return as_fraction(value)
        with working_precision(_MOST_BITS):
            held = ends(flint.arb(value)).clamp(Fraction(0), Fraction(1))
        return min(Fraction(1), dyadic_above(held.upper, _KEPT)) if self.upward else dyadic_below(held.lower, _KEPT)


def both_sides(items: Any, grid: Any) -> tuple[TotalBound, TotalBound] | tuple[GaussianSide, GaussianSide]:
    """Read what is released, and choose the grids of both bounds; Gaussian releases alone need none."""
    laws = read_items(items)
    if not laws.above:
        return GaussianSide(laws.square, upward=False), GaussianSide(laws.square, upward=True)
    width = _width(laws, grid)
    guarantees = all(isinstance(law, TwoPointLaw) for law in laws.below)
    lower = TotalBound(laws.below, width if guarantees else width * _SHORTER, upward=False)
    upper = TotalBound(laws.above, width, upward=True)
    if guarantees and all((2 * epsilon / width).denominator == 1 for epsilon in laws.promised):
        upper.products = lower.products  # on the grid as they are: the two only differ in what becomes of the rest
    return lower, upper


def pessimistic_distribution(items: Any) -> TotalBound | GaussianSide:
    """Read what is released, and choose the grid of the bound from above."""
    laws = read_items(items, below=False)
    if not laws.above:
        return GaussianSide(laws.square, upward=True)
    return TotalBound(laws.above, _width(laws, None), upward=True)


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
    remaining = list(numbers)
    scale = lcm(*(number.denominator for number in remaining))
    return Fraction(gcd(*(int(number * scale) for number in remaining)), scale)


def _bits_for(value: flint.arb) -> int:
    """Return how fine masses must be, that their rounding hardly shows beside a number: a multiple of 64."""
    size = ends(value).lower
    small = max(0, size.denominator.bit_length() - size.numerator.bit_length()) if size > 0 else _MOST_BITS
    return min(_MOST_BITS, max(_BITS, -(-(_MARGIN + small) // 64) * 64))
