"""One loss law on a grid, rounded in a direction: spread to the places around, or drawn down to them.

A mass of P at loss ℓ faces q = p·e^(−ℓ) of Q. Both roundings keep Q's side of the mass they move. So each can only
raise δ, or only lower it (proofs/totals.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import flint

from ..exact import ball
from .loss_laws import LossAtom

__all__ = ["Masses", "drawn_down", "spread_up"]

Masses = dict[int, flint.arb]
"""Place of the grid → mass of P there."""


def spread_up(atoms: Sequence[LossAtom], anchor: Fraction, width: Fraction) -> Masses:
    """Return masses on the grid whose δ is nowhere below the true one, with the same sum of P.

    The sum of Q is the same too, but for masses too near to a place to tell on which side, which go up to the next one.
    A mass between two places goes to both. The upper one gets the share (1 − e^(−u))/(1 − e^(−h)), where u is its
    distance above the lower one, and h the width.
    """
    found: Masses = {}
    cell = 1 - (-ball(width)).exp()
    for atom in atoms:
        below, above = _places(atom, anchor, width)
        share = flint.arb(1)
        if above - below == 1:  # otherwise on a place, or too near to one to tell: all goes up
            share = (1 - (ball(anchor + below * width) - atom.loss).exp()) / cell
            found[below] = found.get(below, flint.arb(0)) + atom.mass * (1 - share)
        found[above] = found.get(above, flint.arb(0)) + atom.mass * share
    return found


def drawn_down(atoms: Sequence[LossAtom], anchor: Fraction, width: Fraction) -> Masses:
    """Return masses on the grid whose δ is nowhere above the true one.

    From the largest loss down, a mass between two places goes to the lower one. The loss of P by that is a credit. It
    lifts the next masses to the place above them, and then at most to the place where the credit came from. Both
    together draw mass together. A credit that nothing is left for is dropped.
    """
    found: Masses = {}
    credit, source = flint.arb(0), 0

    def put(place: int, mass: flint.arb) -> None:
        found[place] = found.get(place, flint.arb(0)) + mass

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
    return found


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
