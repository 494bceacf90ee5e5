"""What matters of a pair of distributions: how much mass has which likelihood ratio.

Under independent draws ratios and masses multiply, and equal ratios merge. So k draws from a small table have far fewer
than q^k different ratios, and repeated squaring finds them in about log k products.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import flint

from .arithmetic import Number

__all__ = ["LossDistribution", "TooMuchWork", "Work", "loss_distribution", "power", "product"]

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
    found: LossDistribution = {}
    for p, q in masses:
        if p > 0:
            ratio = p / q if q > 0 else None
            before = found.get(ratio)
            found[ratio] = (p, q) if before is None else (before[0] + p, before[1] + q)
    return found


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
