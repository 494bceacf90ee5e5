"""δ and ε read off a product of losses on a grid.

δ(ε) is the sum of mass·max(0, 1 − e^(ε − loss)). Between two places it is S − e^ε·W, where S is the mass above and W
the mass of Q on the same losses. As a function of e^ε it is convex, so each of these lines lies nowhere above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import flint

from ..certify.rounded_losses import RoundedLosses
from ..exact import Enclosure, ball, ends, working_precision

__all__ = ["delta_of", "epsilon_bound"]


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
                found = piece.above - piece.facing * ball(epsilon - loss).exp()
                return ends(found / (1 << losses.bits)).clamp(Fraction(0), Fraction(1))
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
