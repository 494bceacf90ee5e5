"""The common scale of a batch: the least noise whose total fits the budget, by sums or exactly.

Question i has the share weight_i·λ. By basic composition λ may be what makes the costs add up to the budget. The exact
total of all releases is smaller for many questions, so a larger λ fits: it is searched with the upper end of the
enclosure, so that what is taken was shown to fit (proofs/batches.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import floor, fsum, log10

from ...accounting import Cost, total
from ...errors import BadInput
from ...exact import dyadic_below, rational_text
from ..planning import Plan
from .noise_kinds import KINDS, NoiseKind

__all__ = ["Composition", "compose_questions"]

_DIGITS = 5
"""Significant digits of a scale that was searched: the noise is at most 1/10,000 above the least."""
_WORTHWHILE = Fraction(101, 100)
"""By how much the exact total must lessen the noise, to be worth the budget's δ: sums leave it unspent."""
_LARGEST_SHARE = 1000
"""Largest ε that one question's guarantee may have."""
_SCALE_BITS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """How the questions of a batch share its budget; public facts alone.

    Parameters
    ----------
    kind : NoiseKind
        What noise there is.
    scale : Fraction
        λ: question i has the share weight_i·λ.
    plans : tuple of Plan
        The questions with their mechanisms at these shares.
    exact : bool
        Whether the exact total was needed to see that they fit; else their costs, added up, do.
    sums : Cost or None
        The costs added up, where each question has one.
    lower, upper : Fraction
        The exact total ε at the budget's δ lies between them.
    cost : Cost
        What is charged: the budget's ε; and its δ, or, where sums do, the questions' own.
    """

    kind: NoiseKind
    scale: Fraction
    plans: tuple[Plan, ...]
    exact: bool
    sums: Cost | None
    lower: Fraction
    upper: Fraction
    cost: Cost


def compose_questions(
    plans: Sequence[Plan], weights: Sequence[Fraction], budget: Cost, kinds: Sequence[NoiseKind] = KINDS
) -> Composition:
    """Find the kind of noise and the scale with the least stated error that fit a budget.

    Parameters
    ----------
    plans : sequence of Plan
        The questions, at whatever privacy; their mechanisms' δ and the selections' are kept.
    weights : sequence of Fraction
        Above 0, one for each.
    budget : Cost
        ε above 0.

    Returns
    -------
    Composition
        All answers together are private at its `cost`, which fits in the budget (proofs/batches.md, claim 2); of the
        scales that do, a larger one would be at most 1/10,000 larger, or 1 % where the exact total is not used.

    Raises
    ------
    BadInput
        Where the questions' own δ are more than the budget's.
    """
    found = [_Scales(kind, plans, weights, budget).best() for kind in kinds]
    return min(found, key=lambda composition: _stated_error(composition, weights))


@dataclass(frozen=True, slots=True)
class _Scales:
    """The scales at which questions with one kind of noise fit a budget."""

    kind: NoiseKind
    plans: Sequence[Plan]
    weights: Sequence[Fraction]
    budget: Cost

    def best(self) -> Composition:
        """Return the largest scale that is shown to fit."""
        by_sums = self._by_sums()
        scale = by_sums
        if self.budget.delta or not self.kind.adds_up:
            scale = self._by_total(by_sums)
        exact = not self.kind.adds_up or scale >= by_sums * _WORTHWHILE
        scale = scale if exact else by_sums
        plans = self._at(scale)
        sums = _sum(plans) if self.kind.adds_up else None
        lower, upper = self._total(plans)
        delta = self.budget.delta if exact or sums is None else sums.delta
        return Composition(
            kind=self.kind,
            scale=scale,
            plans=plans,
            exact=exact,
            sums=sums,
            lower=lower,
            upper=upper,
            cost=Cost(self.budget.epsilon, delta),
        )

    def _at(self, scale: Fraction) -> tuple[Plan, ...]:
        return tuple(
            self.kind.at(planned, weight * scale) for planned, weight in zip(self.plans, self.weights, strict=True)
        )

    def _by_sums(self) -> Fraction:
        """Return the scale at which costs add up to the budget's ε: they are proportional to it."""
        reference = self.budget.epsilon / sum(self.weights)
        if not self.kind.adds_up:
            return reference
        spent = _sum(self._at(reference))
        scale = reference * self.budget.epsilon / spent.epsilon
        if max(scale.numerator.bit_length(), scale.denominator.bit_length()) > _SCALE_BITS:
            scale = dyadic_below(scale, _SCALE_BITS)
        own = _sum(self._at(scale)).delta
        if own > self.budget.delta:
            raise BadInput(
                "budget: delta",
                f"is {rational_text(self.budget.delta)}, and the questions' own add up to {rational_text(own)}",
                "give the budget a larger delta, or the questions smaller ones",
            )
        return scale

    def _by_total(self, start: Fraction) -> Fraction:
        """Return the largest scale, of few digits, whose exact total fits; not below a `start` that fits by sums.

        Raising the scale never makes the total smaller, so halving finds it; whatever is returned was tried itself.
        """
        step = Fraction(10) ** (_magnitude(start) - _DIGITS)
        fits = start // step
        if not self.kind.adds_up:
            fits = next(least for least in (fits >> halved for halved in count()) if self._fits(least * step))
        above = 2 * fits
        while self._fits(above * step):
            fits, above = above, 2 * above
        while above - fits > 1:
            middle = (fits + above) // 2
            if self._fits(middle * step):
                fits = middle
            else:
                above = middle
        return max(start, fits * step) if self.kind.adds_up else fits * step

    def _fits(self, scale: Fraction) -> bool:
        if max(self.weights) * scale > _LARGEST_SHARE:
            return False
        plans = self._at(scale)
        if self.kind.adds_up:
            dearest = max(_pair(planned).epsilon for planned in plans)
            if dearest > _LARGEST_SHARE or _sum(plans).delta > self.budget.delta:
                return False
        return self._total(plans)[1] <= self.budget.epsilon

    def _total(self, plans: Sequence[Plan]) -> tuple[Fraction, Fraction]:
        items = [item for planned in plans for item in self.kind.items(planned)]
        return total(items, delta=self.budget.delta)


def _sum(plans: Sequence[Plan]) -> Cost:
    return sum(map(_pair, plans), Cost())


def _pair(planned: Plan) -> Cost:
    """Return what a question costs in ε and δ, which is what the budget of a batch counts."""
    cost = planned.cost
    assert isinstance(cost, Cost)
    return cost


def _magnitude(value: Fraction) -> int:
    """Return how many digits stand before the point, less than 0 for zeros after it."""
    return floor(log10(value.numerator) - log10(value.denominator)) + 1


def _stated_error(composition: Composition, weights: Sequence[Fraction]) -> float:
    """Return the mean errors that are stated, each by its weight: a question of twice the weight has half the error."""
    errors = [planned.audiences[0].mechanism.expected_error() for planned in composition.plans]
    return fsum(
        float(weight) * error["mean_absolute"]
        for weight, error in zip(weights, errors, strict=True)
        if error.get("mean_absolute") is not None
    )
