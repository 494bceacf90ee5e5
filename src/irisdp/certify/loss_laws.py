"""Laws of the privacy loss log(P/Q) under P, for pairs (P, Q) that stand for a release: exact, or known as balls.

One small protocol, so that whatever has a pair of its own enters every total: a guarantee, a finite mechanism, noise.
The chance of an infinite loss stands apart, as an exact number, and the law is that of the finite ones given that the
loss is finite. For independent releases finite losses add up, and the chances that they are finite multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, runtime_checkable

import flint

from ..exact import Enclosure, ball, enclosure_of
from .arithmetic import as_fraction
from .loss_distributions import LossDistribution

__all__ = ["FiniteLaw", "LossAtom", "LossLaw", "TwoPointLaw", "finite_law", "largest_loss", "smallest_loss"]

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
class LossLaw(Protocol):
    """What a total needs to know of a pair (P, Q)."""

    @property
    def endless(self) -> Fraction:
        """Mass of P that Q gives nothing to."""

    def given_finite(self) -> LossLaw:
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


def largest_loss(law: LossLaw) -> Enclosure:
    """Enclose the largest finite loss; exact if it is rational, and 0 if no loss is finite."""
    ends = _ends(law, max)
    return Enclosure(max(end.lower for end in ends), max(end.upper for end in ends))


def smallest_loss(law: LossLaw) -> Enclosure:
    """Enclose the smallest finite loss; exact if it is rational, and 0 if no loss is finite."""
    ends = _ends(law, min)
    return Enclosure(min(end.lower for end in ends), min(end.upper for end in ends))


def _ends(law: LossLaw, end: Callable[[Iterable[Any]], Any]) -> list[Enclosure]:
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


def _loss_of(law: LossLaw, exact: Fraction | None, place: int) -> Enclosure:
    return (
        Enclosure.exactly(exact) if exact is not None else enclosure_of(lambda: law.atoms()[place].loss, width=_NARROW)
    )
