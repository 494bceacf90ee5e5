"""Products of loss laws on a grid, every rounding in one direction: for many releases and long numbers.

For a pair (P, Q) with losses L = log(P/Q) under P, δ at ε is the mean of max(0, 1 − e^(ε − L)); for independent pairs L
is a sum. It only grows if mass of P moves to a larger loss, or a mass (p, q) is spread to two losses around its own
that keep both sums. It only falls if mass is dropped or moves to a smaller loss, or masses are merged with both sums
kept. All this is inherited by products (proofs/totals.md). Hence

- *upward*: a mass between two places of the grid is spread to both, and what rounding took counts at the largest loss;
- *downward*: a mass goes down to a place. The loss of P by that lifts masses further down, at most to the place where
  it came from. The rest, and the rounding, is dropped.

Masses are whole multiples of 2^-bits, and a product is one multiplication of polynomials over the integers.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import flint

from .._exact import Number, as_fraction, ball, enclosure_of, flint_rational, log_above, log_below, working_precision
from ._loss_distributions import LossAtom, LossDistribution, PrivacyLossDistribution, finite_law
from ._privacy_profile import Line

# Put one loss distribution on a grid, rounded in one direction.
#
# A mass of P at loss ℓ faces q = p·e^(−ℓ) of Q. Both roundings keep Q's side of the mass they move. So one can only
# raise δ, and the other only lower it (proofs/totals.md).

Masses = dict[int, flint.arb]
"""Place of the grid → mass of P there."""


def spread_up(atoms: Sequence[LossAtom], anchor: Fraction, width: Fraction) -> Masses:
    """Return masses on the grid whose δ is nowhere below the true one, with the same sum of P.

    The sum of Q is the same too, but for masses too near to a place to tell on which side, which go up to the next one.
    A mass between two places goes to both. The upper one gets the share (1 − e^(−u))/(1 − e^(−h)), where u is its
    distance above the lower one, and h the width.
    """
    result: Masses = {}
    cell = 1 - (-ball(width)).exp()
    for atom in atoms:
        below, above = _places(atom, anchor, width)
        share = flint.arb(1)
        if above - below == 1:  # otherwise on a place, or too near to one to tell: all goes up
            share = (1 - (ball(anchor + below * width) - atom.loss).exp()) / cell
            result[below] = result.get(below, flint.arb(0)) + atom.mass * (1 - share)
        result[above] = result.get(above, flint.arb(0)) + atom.mass * share
    return result


def drawn_down(atoms: Sequence[LossAtom], anchor: Fraction, width: Fraction) -> Masses:
    """Return masses on the grid whose δ is nowhere above the true one.

    From the largest loss down, a mass between two places goes to the lower one. The loss of P by that is a credit. It
    lifts the next masses to the place above them, and then at most to the place where the credit came from. Both
    together draw mass together. A credit that nothing is left for is dropped.
    """
    result: Masses = {}
    credit, source = flint.arb(0), 0

    def put(place: int, mass: flint.arb) -> None:
        result[place] = result.get(place, flint.arb(0)) + mass

    for place, inside, p, q in _cells(atoms, anchor, width):
        # Q's mass at a place faces this much of P there.
        here, base = ball(anchor + place * width).exp(), place
        lifted = p
        if inside:
            above = here * ball(width).exp()
            cost, base, lifted = q * above - p, place + 1, q * above
            if not credit >= cost:
                share = (credit / cost).lower() if cost > 0 else flint.arb(0)
                put(place + 1, share * lifted)
                put(place, (1 - share) * q * here)
                credit, source = _certain((1 - share) * (p - q * here)), place
                continue
            credit = _certain(credit - cost)
        if credit > 0 and source > base:
            rise = ball((source - base) * width).exp() - 1
            part = credit / rise
            if part < lifted:
                put(base, lifted - part)
                put(source, part * (1 + rise))
                credit = flint.arb(0)
                continue
            if part > lifted:
                put(source, lifted * (1 + rise))
                credit = _certain(credit - lifted * rise)
                continue
        put(base, lifted)
    return result


def _cells(
    atoms: Sequence[LossAtom], anchor: Fraction, width: Fraction
) -> Iterator[tuple[int, bool, flint.arb, flint.arb]]:
    """Yield (place, whether above it, P, Q) from the largest loss down, what lies between two places drawn together."""
    gathered: dict[tuple[int, bool], tuple[flint.arb, flint.arb]] = {}
    for atom in atoms:
        below, above = _places(atom, anchor, width)
        facing = atom.mass * (-atom.loss).exp()
        p = atom.mass
        if above - below > 1:  # too near to a place to tell: down by one place, which only lowers δ
            p = facing * ball(anchor + below * width).exp()
        before = gathered.get((below, above - below == 1), (flint.arb(0), flint.arb(0)))
        gathered[below, above - below == 1] = before[0] + p, before[1] + facing
    for place, inside in sorted(gathered, reverse=True):
        yield place, inside, *gathered[place, inside]


def _places(atom: LossAtom, anchor: Fraction, width: Fraction) -> tuple[int, int]:
    """Return the places around a loss: equal where it is on one, and two apart where balls cannot tell."""
    if atom.exact is not None:
        steps = (atom.exact - anchor) / width
        return steps.numerator // steps.denominator, -(-steps.numerator // steps.denominator)
    number = (atom.loss - ball(anchor)) / ball(width)
    return int(number.lower().floor().unique_fmpz()), int(number.upper().ceil().unique_fmpz())


def _certain(credit: flint.arb) -> flint.arb:
    """Return the least that a credit can be, and never less than nothing."""
    least = credit.lower()
    return least if least > 0 else flint.arb(0)


_BITS = 192
_SPARE_BITS = 24
"""A tail of less than 2^(24 − bits) is cut off."""

_LOSSES = 1 << 15
"""About how many multiples of h the losses of all draws together span."""

_LARGEST_LOSS = 2_000
"""Beyond this, Q's part of a mass is left out: no ratio of a guarantee gets there."""

_SMALLEST_WIDTH = Fraction(1, 1 << 60)


@dataclass(frozen=True, slots=True)
class RoundedLosses:
    """Masses of P by loss, on a grid: a bound from above or from below, given that the loss is finite.

    Parameters
    ----------
    anchor : Fraction
        Loss of place 0.
    first : int
        Place of `masses[0]`.
    masses : polynomial over the integers
        Mass of P at the places first, first + 1, …, in units of 2^-bits; together at most 1.
    top : int
        The place of the largest finite loss; upward, all mass that is nowhere else is there.
    bits : int
        How fine masses are.
    upward : bool
        Whether δ is nowhere below the true one, or nowhere above.
    """

    anchor: Fraction
    first: int
    masses: flint.fmpz_poly
    top: int
    bits: int
    upward: bool

    @property
    def at_top(self) -> int:
        """Mass at the largest loss that is not among the masses: upward what rounding took, downward nothing."""
        return (1 << self.bits) - int(self.masses(1)) if self.upward else 0

    def times(self, other: RoundedLosses) -> RoundedLosses:
        """Return the losses of both together."""
        masses, first = (self.masses * other.masses) // (1 << self.bits), self.first + other.first
        masses, cut = _without_tails(masses, 1 << _SPARE_BITS)
        top = self.top + other.top
        return RoundedLosses(self.anchor + other.anchor, first + cut, masses, top, self.bits, self.upward)

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

    def falling(self) -> Iterator[tuple[int, int]]:
        """Yield places and masses, from the largest loss to the smallest; masses of 0 are left out."""
        extra, end = self.at_top, self.first + self.masses.length() - 1
        if extra and self.top > end:
            yield self.top, extra
            extra = 0
        for place, coefficient in zip(range(end, self.first - 1, -1), reversed(self.masses.coeffs()), strict=True):
            mass = int(coefficient) + (extra if place == self.top else 0)
            if mass:
                yield place, mass

    def lines(self, width: Fraction, endless: Fraction) -> list[Line]:
        """Return the lines C − r·S of the profile, from the largest loss to the smallest."""
        above, below, finite = flint_rational(endless), flint.fmpq(0), flint_rational(1 - endless)
        result: list[Line] = [(above, below)]
        for place, mass in self.falling():
            share = finite * flint.fmpq(mass, 1 << self.bits)
            above, below = above + share, below + share * _facing(self.anchor + place * width)
            result.append((above, below))
        return result


def product_on_grid(
    laws: Mapping[PrivacyLossDistribution, int], width: Fraction, *, bits: int, upward: bool
) -> RoundedLosses:
    """Return the losses of independent releases together, each so many times, rounded in one direction.

    Parameters
    ----------
    laws : mapping from PrivacyLossDistribution to int
        At least one, each with a finite loss; their infinite losses are not looked at.
    width : Fraction
        Of the grid, more than 0.
    """
    together: Counter[PrivacyLossDistribution] = Counter()
    for law, times in laws.items():
        together[law.given_finite()] += times
    drawn = [on_grid(law, width, bits=bits, upward=upward).to_the(times) for law, times in together.items()]
    # The shortest two first, so that long polynomials are multiplied seldom; whatever order they came in.
    drawn.sort(key=lambda one: (one.masses.length(), one.anchor, one.first, one.masses.coeffs()))
    waiting = [(one.masses.length(), number, one) for number, one in enumerate(drawn)]
    heapq.heapify(waiting)
    for number in range(len(drawn), 2 * len(drawn) - 1):
        (_, _, one), (_, _, other) = heapq.heappop(waiting), heapq.heappop(waiting)
        both = one.times(other)
        heapq.heappush(waiting, (both.masses.length(), number, both))
    return waiting[0][2]


def on_grid(law: PrivacyLossDistribution, width: Fraction, *, bits: int, upward: bool) -> RoundedLosses:
    """Round the finite losses of one pair to places of a grid, in one direction.

    Where all losses are rational and differ by multiples of the width, the grid is shifted to hold them exactly.
    """
    with working_precision(bits + 64):
        atoms = law.atoms()
        exact = [atom.exact for atom in atoms if atom.exact is not None]
        together = len(exact) == len(atoms) and all(((loss - exact[0]) / width).denominator == 1 for loss in exact)
        anchor = exact[0] % width if together else Fraction(0)
        if not upward and not together and len(exact) == len(atoms):
            # Both ends are drawn in by less than half a width, since the grid is centred between them.
            steps = (max(exact) - min(exact)) / width
            anchor = (max(exact) + min(exact) - (steps.numerator // steps.denominator) * width) / 2
        masses: Masses = (spread_up if upward else drawn_down)(atoms, anchor, width)
        whole = {place: int((mass.lower() * (1 << bits)).floor().unique_fmpz()) for place, mass in masses.items()}
    first, top = min(whole), max(whole)
    listed = [max(0, whole.get(place, 0)) for place in range(first, top + 1)]
    return RoundedLosses(anchor, first, flint.fmpz_poly(listed), top, bits, upward)


def rounded_power(factors: Sequence[LossDistribution], times: int) -> list[Line]:
    """Return the lines of the profile of independent pairs, each drawn several times; never below the true profile.

    The width h of the grid is W/32768, where W = s·min(times, 12·√times) covers the losses of all draws, up to a
    probability of 2^-100. Here s is the sum of the spans of the pairs. All draws together overstate a loss by less than
    h for each draw of each pair, and as a rule by far less: by about h² for each.
    """
    spans = [_span(factor) for factor in factors]
    reach = min(times, 12 * (isqrt(times) + 1))
    width = max(_dyadic_above(sum(spans, Fraction(0)) * reach / _LOSSES), _SMALLEST_WIDTH)
    finite, laws = Fraction(1), []
    for factor in factors:
        lost = as_fraction(factor[None][0]) if None in factor else Fraction(0)
        if lost == 1:
            return [(flint.fmpq(1), flint.fmpq(0))]
        finite = _power_below(finite * _power_below(1 - lost, times), 1)
        laws.append(finite_law(factor))
    drawn = [on_grid(law, width, bits=_BITS, upward=True).to_the(times) for law in laws]
    result = drawn[0]
    for one in drawn[1:]:
        result = result.times(one)
    return result.lines(width, 1 - finite)


def _power_below(value: Fraction, times: int) -> Fraction:
    """Return a multiple of 2^-192 that is at most a power of a number in [0, 1], by repeated squaring."""
    result, factor = 1 << _BITS, (value.numerator << _BITS) // value.denominator
    while times:
        if times & 1:
            result = result * factor >> _BITS
        times >>= 1
        factor = factor * factor >> _BITS
    return Fraction(result, 1 << _BITS)


def _without_tails(masses: flint.fmpz_poly, cut: int) -> tuple[flint.fmpz_poly, int]:
    """Cut off both ends while they hold less than `cut`, and say how many places went at the lower one."""
    end, taken = masses.length(), 0
    while end > 1 and (taken := taken + int(masses[end - 1])) < cut:
        end -= 1
    place, taken = 0, 0
    while place < end - 1 and (taken := taken + int(masses[place])) < cut:
        place += 1
    if end < masses.length():
        masses = masses.truncate(end)
    return (masses.right_shift(place) if place else masses), place


def _facing(loss: Fraction) -> Number:
    """Return a number at most e^(−loss), and within 2^-60 of its size; 0 beyond the largest loss."""
    if loss == 0 or loss > _LARGEST_LOSS:
        return flint.fmpq(loss == 0)
    size = Fraction(2) ** int(-loss * Fraction(144269504, 10**8) - 2)
    return flint_rational(enclosure_of(lambda: ball(-loss).exp(), width=size / (1 << 60)).lower)


def _span(factor: LossDistribution) -> Fraction:
    ratios = [as_fraction(ratio) for ratio in factor if ratio is not None]
    return log_above(max(ratios)) - log_below(min(ratios)) if ratios else Fraction(0)


def _dyadic_above(value: Fraction) -> Fraction:
    """Round up to a power of two times 1, ..., 255, so that multiples stay short."""
    scale = 8 - (value.numerator.bit_length() - value.denominator.bit_length())
    shift = Fraction(2) ** scale
    return -(-(value * shift).numerator // (value * shift).denominator) / shift if value else Fraction(0)
