"""Exact losses handed to dp-accounting: rounded toward more loss while they are exact, and floats only then.

For a pair (P, Q) with losses L = log(P/Q) under P, δ at ε is the mean of max(0, 1 − e^(ε − L)) and the mass where Q has
none. It only grows where mass of P moves to a larger loss and where masses are made larger, and so it does in every
product. So losses go up to multiples of an interval h, and masses up to the next float. δ at ε of k draws lies between
the true one at ε and the true one at ε − k·h, except for the rounding of dp-accounting's own floats.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import float_above, log_above, rational
from .arithmetic import as_fraction
from .loss_distributions import LossDistribution

__all__ = ["accountant_of", "losses_above"]

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
