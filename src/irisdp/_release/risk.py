"""What a release may tell about one person, in plain words: how far an adversary's even odds can move.

Consider an attacker who knows everything but one bit, whether somebody is in the table, and believes 50:50. If the
release is (ε, 0)-private for that bit and r = e^ε, the posterior is at most r/(1 + r), because odds are multiplied by a
likelihood ratio. With δ the release reveals at most as much as one that reveals all with probability δ and otherwise
satisfies (ε, 0). This is the dominating pair of (ε, δ) ([Kairouz2017]; proofs/dominating-pair.md). That bounds how
often the adversary guesses right, and no single answer: some may be more telling than r, and more often than δ, if each
by little.

Who guesses between two laws is right with probability (1 + t)/2 at most, t their distance in total variation. Under
ρ-zCDP t ≤ √(ρ/2) and t ≤ √(1 − e^-ρ) (proofs/filters.md, claim 7).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import flint

from .._exact import ball, enclosure_of, float_above, rational_text, short_above
from ..accounting import Charge, ConcentratedCost, Cost, GaussianCost
from ..graphs import NeighbouringRelation

MUCH = Fraction(1, 1000)
"""A δ above it is called much."""

_WIDTH = Fraction(1, 10**30)
_SHOWN, _PLACES = 3, 2
"""Significant digits of what is left to certainty, and places of a per cent, at least."""
_MOST_PLACES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """How sure an adversary may get who thinks 50:50, at worst.

    Attributes
    ----------
    asks : str
        What the adversary thinks 50:50 of.
    posterior : Fraction or None
        How sure at most after any answer, rounded up; None under a δ or in μ, where single answers are not bounded.
    outright : Fraction
        δ: the release is no more telling than one that tells all with this probability, and else keeps (ε, 0).
    guess : Fraction
        With which probability the adversary then guesses right at most, on average over answers; rounded up.
    """

    asks: str
    posterior: Fraction | None
    outright: Fraction
    guess: Fraction

    def describe(self) -> str:
        """Say it in one line."""
        who = f"an adversary who thinks it 50:50 {self.asks}"
        if self.posterior is None:
            return f"{who} guesses right with probability {self.percent} at most"
        return f"{who} ends at most {self.percent} sure"

    @property
    def percent(self) -> str:
        """The same bound as a number alone."""
        return _percent(self.guess if self.posterior is None else self.posterior)

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "prior": 0.5,
            "asks": self.asks,
            "posterior_at_most": None if self.posterior is None else float_above(self.posterior),
            "told_outright": rational_text(self.outright),
            "guess_at_most": float_above(self.guess),
            "says": self.describe(),
        }


def delta_means(delta: Fraction, does: str = "gives one person away") -> str:
    """Say what a δ means: answers that a neighbouring table cannot give have no more than its probability.

    Parameters
    ----------
    delta : Fraction
        Above 0: P(S) ≤ e^ε·P′(S) + δ, which is δ where P′(S) is 0.
    does : str
        What such an answer does; of tables it tells who is in one, or what they say.

    Examples
    --------
    >>> delta_means(Fraction(1, 3))
    'with probability up to 33.34 % an answer gives one person away for certain, however small ε is: that is much'
    """
    much = delta > MUCH
    share = f"{short_above(100 * delta, 4)} %" if much else short_above(delta)
    said = f"with probability up to {share} an answer {does} for certain, however small ε is"
    return f"{said}: that is much" if much else said


def risk_of(cost: Charge, relation: NeighbouringRelation, unit: str | None) -> Risk:
    """Return what a release at a cost may tell about one person.

    Parameters
    ----------
    cost : Charge
        Of the whole release.
    relation : NeighbouringRelation
        The neighbouring relation.
    unit : str or None
        The column that names the privacy unit of a record; None if every record counts as one person.
    """
    if relation == NeighbouringRelation.ADD_REMOVE:
        asks = "that you are in the table" if unit is not None else "that your record is in the table"
    else:
        asks = "which of two persons you are" if unit is not None else "which of two records is yours"
    if isinstance(cost, Cost):
        spared = _below(lambda: 1 / (1 + ball(cost.epsilon).exp()))
        guess = 1 - (1 - cost.delta) * spared
        return Risk(asks=asks, posterior=None if cost.delta else 1 - spared, outright=cost.delta, guess=guess)
    if isinstance(cost, ConcentratedCost):
        rho = cost.rho
        guess = 1 - max(_below(lambda: (1 - _by_pinsker(rho)) / 2), _below(lambda: (1 - _by_affinity(rho)) / 2))
    else:
        assert isinstance(cost, GaussianCost), "costs are in ε and δ, in μ or in ρ"
        guess = 1 - _below(lambda: _beyond(ball(cost.mu_squared).sqrt() / 2))
    return Risk(asks=asks, posterior=None, outright=Fraction(0), guess=guess)


def _below(chance: Callable[[], flint.arb]) -> Fraction:
    """Return a small probability, rounded down."""
    return max(Fraction(0), enclosure_of(chance, width=_WIDTH).lower)


def _by_pinsker(rho: Fraction) -> flint.arb:
    """Bound the total variation between neighbours from the Kullback-Leibler divergence, which is at most ρ."""
    return (ball(rho) / 2).sqrt()


def _by_affinity(rho: Fraction) -> flint.arb:
    """Bound the total variation between neighbours from their affinity Σ √(P·Q), which is at least e^(-ρ/2)."""
    return (1 - ball(-rho).exp()).sqrt()


def _beyond(x: flint.arb) -> flint.arb:
    """Return P(X > x) of a standard normal X."""
    return (x / flint.arb(2).sqrt()).erfc() / 2


def _percent(probability: Fraction) -> str:
    """Write a probability in per cent, rounded up: to hundredths, or to three digits of what is left to certainty.

    Examples
    --------
    >>> _percent(Fraction(731058578, 10**9)), _percent(Fraction(9999546, 10**7)), _percent(Fraction(1))
    ('73.11 %', '99.99546 %', '100 %')
    """
    left = 100 * (1 - probability)
    places = _PLACES
    while 0 < left * 10**places < 10 ** (_SHOWN - 1) and places < _MOST_PLACES:
        places += 1
    return f"{rational_text(100 - Fraction(floor(left * 10**places), 10**places))} %"
