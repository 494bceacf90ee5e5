"""Rényi divergences of a mechanism as floats: views for people, computed with enclosures and rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint

from ..errors import BadInput
from ..exact import ball, checked, rational, working_precision
from ..graphs import DatasetGraph
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument
from .subject import bare_subject

__all__ = ["RENYI_ACCURACY", "renyi_divergence"]

RENYI_ACCURACY = 2.0**-40
"""A divergence returned is at least the true one, and above it by at most this, relatively or absolutely."""

LARGEST_ORDER = 10_000

_BITS = 160


@checked
def renyi_divergence(
    subject: Mechanism | FactoredMechanism | MechanismDocument, order: Any, *, graph: DatasetGraph | None = None
) -> float:
    """Return the largest Rényi divergence between neighbours, in nats, in either direction.

    D_a(P‖Q) = log(Σ_v P_v^a · Q_v^(1−a)) / (a − 1); order 1 is Kullback and Leibler's, infinity the ε at δ = 0.

    Parameters
    ----------
    subject : Mechanism, FactoredMechanism or MechanismDocument
        A factored mechanism is expanded first.
    order : number, text or math.inf
        a > 0.
    graph : DatasetGraph, optional
        Which inputs are neighbours; the subject's own graph unless given.

    Returns
    -------
    float
        At least the true value and within `RENYI_ACCURACY` of it; infinity where a probability faces zero (a ≥ 1).

    Raises
    ------
    BadInput
        For an order that is not more than 0, or finite and too large.
    """
    infinite = isinstance(order, float) and order == math.inf
    a = Fraction(0) if infinite else rational(order, "order")
    if not infinite and not 0 < a <= LARGEST_ORDER:
        raise BadInput("order", f"must be more than 0, and at most {LARGEST_ORDER} unless infinite", "choose another")
    examined = bare_subject(subject, graph)
    rows, pairs, largest = examined.document.rows, examined.row_pairs(), 0.0
    with working_precision(_precision(a)):
        for i, j in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
            for first, second in ((rows[i], rows[j]), (rows[j], rows[i])):
                divergence = _maximum(first, second) if infinite else _of_order(first, second, a)
                if divergence is None:
                    return math.inf
                largest = max(largest, _above(divergence))
    return largest


def _of_order(first: Sequence[Fraction], second: Sequence[Fraction], order: Fraction) -> flint.arb | None:
    faced = [(p, q) for p, q in zip(first, second, strict=True) if p > 0 and q > 0]
    if not faced or (order >= 1 and any(p > 0 and q == 0 for p, q in zip(first, second, strict=True))):
        return None
    if order == 1:
        return sum((ball(p) * ball(p / q).log() for p, q in faced), start=flint.arb(0))
    total = sum((ball(p) * ((ball(order) - 1) * ball(p / q).log()).exp() for p, q in faced), start=flint.arb(0))
    return total.log() / (ball(order) - 1)


def _maximum(first: Sequence[Fraction], second: Sequence[Fraction]) -> flint.arb | None:
    if any(p > 0 and q == 0 for p, q in zip(first, second, strict=True)):
        return None
    return ball(max(p / q for p, q in zip(first, second, strict=True) if q > 0)).log()


def _above(value: flint.arb) -> float:
    """Round up to a float: one step above the nearest float to the ball's upper end."""
    return max(0.0, math.nextafter(float(value.upper()), math.inf))


def _precision(order: Fraction) -> int:
    """Return enough bits to survive the division by a − 1 near order 1."""
    apart = abs(order - 1)
    return _BITS + (max(0, apart.denominator.bit_length() - apart.numerator.bit_length()) if apart else 0)
