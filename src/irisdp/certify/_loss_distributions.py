"""What matters of a pair of distributions: how much mass has which likelihood ratio.

Under independent draws ratios and masses multiply, and equal ratios merge. So k draws from a small table have far fewer
than q^k different ratios, and repeated squaring finds them in about log k products.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, runtime_checkable

import flint

from .._exact import Enclosure, Number, as_fraction, ball, enclosure_of, float_above, log_above, rational
from ..errors import BadInput

LossDistribution = dict[Number | None, tuple[Number, Number]]
"""Likelihood ratio P/Q → (mass of P, mass of Q); None is infinity, where Q has no mass. Ratio 0 is left out."""

_MOST_RATIOS = 200_000
_MOST_WORK = 400_000
"""Products of two short numbers, those of 500 bits counting twice: about ten seconds."""


class TooMuchWork(Exception):
    """An exact product would take more than seconds."""


@dataclass(slots=True)
class Work:
    """What exact products have taken so far."""

    done: int = 0

    def add(self, first: LossDistribution, second: LossDistribution) -> None:
        """Count one product before it is made, or raise `TooMuchWork`."""
        self.done += len(first) * len(second) * (1 + (_bits(first) + _bits(second)) // 500)
        if self.done > _MOST_WORK:
            raise TooMuchWork


def loss_distribution(masses: Iterable[tuple[Number, Number]]) -> LossDistribution:
    """Gather the outputs of a pair of distributions by likelihood ratio."""
    result: LossDistribution = {}
    for p, q in masses:
        if p > 0:
            ratio = p / q if q > 0 else None
            before = result.get(ratio)
            result[ratio] = (p, q) if before is None else (before[0] + p, before[1] + q)
    return result


def product(factors: Sequence[LossDistribution], work: Work) -> LossDistribution:
    """Return the loss distribution of independent pairs together.

    Raises
    ------
    TooMuchWork
        When `work` is used up.
    """
    result: LossDistribution = {flint.fmpq(1): (flint.fmpq(1), flint.fmpq(1))}
    for factor in factors:
        work.add(result, factor)
        gathered: dict[object, tuple[Number | None, Number, Number]] = {}
        for ratio, (p, q) in result.items():
            for another, (p_too, q_too) in factor.items():
                together = None if ratio is None or another is None else ratio * another
                # Integers are hashed faster than rationals.
                key = None if together is None else (together.p, together.q)
                before = gathered.get(key)
                mass, facing = p * p_too, q * q_too
                if before is not None:
                    mass, facing = mass + before[1], facing + before[2]
                gathered[key] = (together, mass, facing)
        if len(gathered) > _MOST_RATIOS:
            raise TooMuchWork
        result = {ratio: (p, q) for ratio, p, q in gathered.values()}
    return result


def power(factor: LossDistribution, times: int, work: Work) -> LossDistribution:
    """Return the loss distribution of a pair drawn several times, by repeated squaring."""
    result = product([], work)
    while times:
        if times & 1:
            result = product([result, factor], work)
        times >>= 1
        if times:
            factor = product([factor, factor], work)
    return result


def _bits(distribution: LossDistribution) -> int:
    """Return how long the longest mass is."""
    return max((int(p.p).bit_length() + int(p.q).bit_length() for p, _ in distribution.values()), default=0)


# Convert exact losses for dp-accounting: round toward more loss while they are exact, and only then to floats.
#
# For a pair (P, Q) with losses L = log(P/Q) under P, δ at ε is the mean of max(0, 1 − e^(ε − L)) and the mass where Q
# has none. It only grows where mass of P moves to a larger loss and where masses are made larger, and so it does in
# every product. So losses go up to multiples of an interval h, and masses up to the next float. δ at ε of k draws lies
# between the true one at ε and the true one at ε − k·h, except for the rounding of dp-accounting's own floats.

_FINEST, _COARSEST = Fraction(1, 10**9), Fraction(10)

_MOST_PLACES = 10**7
"""From the smallest loss to the largest: dp-accounting holds a float for each."""

_HARDLY_ANY = Fraction(1, 10**12)
"""With less finite mass dp-accounting finds nothing to compose, and stops; it is then given more, at the loss 0."""


def losses_above(losses: LossDistribution, interval: Any) -> tuple[dict[int, float], float]:
    """Round losses up to multiples of an interval, and masses up to floats.

    Parameters
    ----------
    losses : LossDistribution
        Likelihood ratio → mass of P and of Q, exactly.
    interval : float
        h, from 1e-9 to 10.

    Returns
    -------
    dict of int to float, float
        Mass of P at the losses k·h, for no k below that of its true loss, as floats multiply; and its mass where the
        loss is infinite.

    Raises
    ------
    BadInput
        For an interval out of range, and one with which losses span more than ten million multiples.
    """
    given = rational(interval, "interval")
    if not _FINEST <= given <= _COARSEST:
        raise BadInput("interval", "must lie between 1e-9 and 10", "give for example 1e-4")
    step = float(given)
    gathered: defaultdict[int, Fraction] = defaultdict(Fraction)
    infinite = Fraction(0)
    for ratio, (mass, _) in losses.items():
        if ratio is None:
            infinite += as_fraction(mass)
        else:
            gathered[_place(log_above(as_fraction(ratio)), step)] += as_fraction(mass)
    if gathered and max(gathered) - min(gathered) > _MOST_PLACES:
        rule = f"is so fine that losses span more than {_MOST_PLACES:,} of it"
        raise BadInput("interval", rule, "give a larger one")
    if 1 - infinite < _HARDLY_ANY:
        gathered[0] += 1
    return {k: float_above(mass) for k, mass in sorted(gathered.items())}, float_above(infinite)


def accountant_of(remove: LossDistribution, add: LossDistribution | None = None, *, interval: Any) -> Any:
    """Return exact losses as a privacy loss distribution of dp-accounting, nowhere below them.

    Parameters
    ----------
    remove : LossDistribution
        Of P, the law with a record, over Q, the law without it; of both directions where `add` is left out.
    add : LossDistribution, optional
        Of the law without the record over the law with it.
    interval : float
        As for `losses_above`.

    Raises
    ------
    BadInput
        When dp-accounting is not installed, and as `losses_above` does.
    """
    try:
        library: Any = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError:
        raise BadInput("accountant", "dp-accounting is not installed", "pip install irisdp[accounting]") from None
    masses, infinite = losses_above(remove, interval)
    other = (None, None) if add is None else losses_above(add, interval)
    return library.PrivacyLossDistribution.create_from_rounded_probability(
        masses,
        infinite,
        float(rational(interval, "interval")),
        pessimistic_estimate=True,
        rounded_probability_mass_function_add=other[0],
        infinity_mass_add=other[1],
        symmetric=add is None,
    )


def _place(loss: Fraction, step: float) -> int:
    """Return the least k for which the float k·h is at least the loss."""
    k = int(-(-loss // Fraction(step)))
    while Fraction(k * step) < loss:  # the product of floats may have been rounded down
        k += 1
    return k


# Distributions of the privacy loss log(P/Q) under P, for dominating pairs (P, Q) of a release: exact, or as balls.
#
# One small protocol lets everything with a dominating pair enter a total: a guarantee, a finite mechanism, noise. The
# probability of an infinite loss is a separate exact number, and the distribution is that of the loss given that it is
# finite. For independent releases finite losses add up, and the probabilities that they are finite multiply.

_NARROW = Fraction(1, 1 << 160)
_NEAR = 1e-9
"""Far more than the error of a float."""


class LossAtom(NamedTuple):
    """One finite loss and its chance.

    Parameters
    ----------
    exact : Fraction or None
        The loss, where it is rational.
    loss, mass : arb
        Both as balls, at the working precision.
    """

    exact: Fraction | None
    loss: flint.arb
    mass: flint.arb


@runtime_checkable
class PrivacyLossDistribution(Protocol):
    """What a total needs to know of a pair (P, Q)."""

    @property
    def endless(self) -> Fraction:
        """Mass of P that Q gives nothing to."""

    def given_finite(self) -> PrivacyLossDistribution:
        """Return the law given that the loss is finite: releases that differ in δ alone are multiplied once."""

    def atoms(self) -> list[LossAtom]:
        """Return the finite losses and their chances given that the loss is finite, at the working precision."""


@dataclass(frozen=True, slots=True)
class TwoPointLaw:
    """The worst pair that (ε, δ)-privacy allows ([Kairouz2017]).

    All is revealed with probability δ; otherwise the pair is a binary randomised response at ε.

    A count that moves by one under two-sided geometric noise has no other losses than ±ε either, with the same
    probabilities e^ε/(1 + e^ε) and 1/(1 + e^ε). For accounting it is a randomised response (proofs/totals.md).

    Parameters
    ----------
    epsilon : Fraction
        At least 0; the loss itself, not the logarithm of a ratio that was rounded.
    endless : Fraction
        δ.
    """

    epsilon: Fraction
    endless: Fraction = Fraction(0)

    def given_finite(self) -> TwoPointLaw:
        """Leave δ out."""
        return TwoPointLaw(self.epsilon)

    def atoms(self) -> list[LossAtom]:
        """Return ±ε with their chances; 0 alone where ε is 0."""
        loss = ball(self.epsilon)
        if not self.epsilon:
            return [LossAtom(Fraction(0), loss, flint.arb(1))]
        low = 1 / (1 + loss.exp())
        return [LossAtom(self.epsilon, loss, 1 / (1 + (-loss).exp())), LossAtom(-self.epsilon, -loss, low)]


@dataclass(frozen=True, slots=True)
class FiniteLaw:
    """A pair over finitely many outcomes, by exact likelihood ratios.

    Parameters
    ----------
    ratios, masses : tuple of Fraction
        Ratios P/Q, all different and more than 0, and the mass of P at each given that Q has some.
    endless : Fraction
        Mass of P that Q gives nothing to.
    """

    ratios: tuple[Fraction, ...]
    masses: tuple[Fraction, ...]
    endless: Fraction = Fraction(0)

    def __hash__(self) -> int:
        """Return a hash of a few entries: totals look laws up often, and there may be hundreds of long ratios."""
        return hash((len(self.ratios), self.ratios[:1], self.masses[:1], self.masses[-1:], self.endless))

    def given_finite(self) -> FiniteLaw:
        """Leave the infinite loss out."""
        return FiniteLaw(self.ratios, self.masses)

    def atoms(self) -> list[LossAtom]:
        """Return the logarithms of the ratios: irrational, but for that of 1."""
        return [
            LossAtom(Fraction(0) if ratio == 1 else None, ball(ratio).log(), ball(mass))
            for ratio, mass in zip(self.ratios, self.masses, strict=True)
        ]


def finite_law(losses: LossDistribution) -> FiniteLaw:
    """Return the law of a finite pair's losses."""
    endless = as_fraction(losses[None][0]) if None in losses else Fraction(0)
    if endless == 1:
        return FiniteLaw((), (), endless)
    finite = {as_fraction(ratio): as_fraction(p) for ratio, (p, _) in losses.items() if ratio is not None}
    ratios = tuple(sorted(finite))
    return FiniteLaw(ratios, tuple(finite[ratio] / (1 - endless) for ratio in ratios), endless)


def largest_loss(law: PrivacyLossDistribution) -> Enclosure:
    """Enclose the largest finite loss; exact if it is rational, and 0 if no loss is finite."""
    ends = _ends(law, max)
    return Enclosure(max(end.lower for end in ends), max(end.upper for end in ends))


def smallest_loss(law: PrivacyLossDistribution) -> Enclosure:
    """Enclose the smallest finite loss; exact if it is rational, and 0 if no loss is finite."""
    ends = _ends(law, min)
    return Enclosure(min(end.lower for end in ends), min(end.upper for end in ends))


def _ends(law: PrivacyLossDistribution, end: Callable[[Iterable[Any]], Any]) -> list[Enclosure]:
    """Enclose every loss that may be at an end: floats tell the others from them."""
    if isinstance(law, FiniteLaw) and law.ratios:  # logarithms keep the order of ratios
        return [_logarithm(end(law.ratios))]
    atoms = law.atoms()
    if not atoms:
        return [Enclosure.exactly(Fraction(0))]
    near = [float(atom.loss) for atom in atoms]
    chosen = [place for place, loss in enumerate(near) if abs(loss - end(near)) <= _NEAR * (1 + abs(loss))]
    return [_loss_of(law, atoms[place].exact, place) for place in chosen]


def _logarithm(ratio: Fraction) -> Enclosure:
    if ratio == 1:
        return Enclosure.exactly(Fraction(0))
    return enclosure_of(lambda: ball(ratio).log(), width=_NARROW)


def _loss_of(law: PrivacyLossDistribution, exact: Fraction | None, place: int) -> Enclosure:
    return (
        Enclosure.exactly(exact) if exact is not None else enclosure_of(lambda: law.atoms()[place].loss, width=_NARROW)
    )
