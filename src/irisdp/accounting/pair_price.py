"""What answers about cells cost in ε and δ: pairs as they are, other guarantees at a δ that was chosen for them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..privacy import Gaussian, Guarantee
from .charge import charged_epsilon, charged_pair
from .cost import Cost

__all__ = ["pair_price"]


def pair_price(guarantee: Guarantee, steps: Sequence[int], delta: Fraction = Fraction(0)) -> Cost:
    """Return what independent answers cost, each with the guarantee for one step, if each cell moves by its steps.

    Parameters
    ----------
    guarantee : Privacy or Gaussian
        A single pair is charged unchanged. k steps of it are charged as a group: kε, and δ(1 + r + … + r^(k−1)). Of
        several pairs the first is, unless a δ says at which point. Gaussian answers are charged as one, which is
        √(Σk²)·μ-GDP.
    steps : sequence of int
        One for each cell that moves.
    delta : Fraction
        The point of the curve that is charged where there is more than a pair; 0 stands for none.

    Raises
    ------
    BadInput
        For Gaussian privacy without a δ, and where no ε goes with the δ.
    """
    if isinstance(guarantee, Gaussian):
        square = guarantee.mu**2 * sum(step**2 for step in steps)
        return Cost(charged_epsilon(square, delta), delta)
    pair = charged_pair(guarantee, delta)
    return Cost(
        sum(steps) * pair.epsilon,
        sum((pair.delta * pair.ratio**step for each in steps for step in range(each)), start=Fraction(0)),
    )
