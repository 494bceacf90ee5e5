"""The common scale of a batch: the least noise whose total fits the budget, by sums or exactly.

Question i has the share weight_i·λ. By basic composition λ may be what makes the costs add up to the budget. The exact
total of all releases is smaller for many questions, so a larger λ fits. The search compares the upper end of the
enclosure with the budget, so the chosen λ is proven to fit (proofs/batches.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import fsum, gcd, inf, lcm
from typing import Any

from ...accounting import EPSILON_DELTA, Charge, Cost, delta_above, total
from ...errors import BadInput
from ...exact import dyadic_below, rational_text
from ...privacy import Privacy
from ..plans import Plan
from .choices import Kinds, choices
from .largest_scale import LargestScale

__all__ = ["Composition", "compose_questions"]

_DIGITS, _FEW_DIGITS = 5, 3
"""Significant digits of a scale that was searched: the noise is at most 1/10,000 above the least; fewer to compare."""
_WORTHWHILE = Fraction(101, 100)
"""By how much the exact total must lessen the noise, to be worth the budget's δ: sums leave it unspent."""
_LARGEST_SHARE = 1000
"""Largest ε that one question's guarantee may have."""
_SCALE_BITS = 256
_SMALL_STEP = Fraction(1, 10**25)
_MOST_DOUBLED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """How the questions of a batch share its budget; public facts alone.

    Parameters
    ----------
    kinds : tuple of NoiseKind
        What noise each question has.
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
        The charge: the budget's ε, and the budget's δ or, if costs are added up, the sum of the questions' own δ.
    """

    kinds: Kinds
    scale: Fraction
    plans: tuple[Plan, ...]
    exact: bool
    sums: Cost | None
    lower: Fraction
    upper: Fraction
    cost: Cost

    @property
    def noise(self) -> list[str]:
        """The kinds of noise by name, each once."""
        return sorted({kind.name for kind in self.kinds}, reverse=True)


def compose_questions(
    plans: Sequence[Plan], weights: Sequence[Fraction], budget: Cost, tried: Iterable[Kinds] | None = None
) -> Composition:
    """Find the kinds of noise and the scale with the least stated error that fit a budget.

    Parameters
    ----------
    plans : sequence of Plan
        The questions, at whatever privacy; their mechanisms' δ and the selections' are kept.
    weights : sequence of Fraction
        Above 0, one for each.
    budget : Cost
        ε above 0.
    tried : iterable of tuples of NoiseKind
        A kind for each question, as often as wished; `choices` unless given. Of those with the least stated error the
        first is taken; one that by a first trial hardly states less is passed over.

    Returns
    -------
    Composition
        All answers together are private at its `cost`, which fits in the budget (proofs/batches.md, claim 2). A scale
        larger by more than 1/10,000 would not fit; where the exact total is not used, this tolerance is 1 %.

    Raises
    ------
    BadInput
        Where the questions' own δ are more than the budget's.
    """
    tried = choices(plans, weights) if tried is None else tried
    # Only proportions matter: whole weights without a common divisor, so that other spellings find the same shares.
    unit = _common_divisor(weights)
    every = [_Scales(kinds, plans, [weight / unit for weight in weights], budget) for kinds in tried]
    best, least = every[0], inf
    for scales in every if len(every) > 1 else ():
        if least < inf and not scales.may_be_less(least):
            continue
        scale = scales.largest(_FEW_DIGITS)
        if scale is not None and (error := scales.stated_error(scale)) < least:
            best, least = scales, error
    found = best.best()
    return replace(found, scale=found.scale / unit)


@dataclass(slots=True)
class _Scales:
    """The scales at which questions with some kinds of noise fit a budget; what was tried is kept."""

    kinds: Kinds
    plans: Sequence[Plan]
    weights: Sequence[Fraction]
    budget: Cost
    search: LargestScale = field(init=False)
    by_sums: Fraction = field(init=False)

    def __post_init__(self) -> None:
        """Work out the scale at which costs add up to the budget."""
        self.search = LargestScale(self._needed, self.budget.delta)
        self.by_sums = self._by_sums()

    @property
    def adds_up(self) -> bool:
        """Whether each question has a cost of its own, so that costs may simply be added."""
        return all(kind.adds_up for kind in self.kinds)

    def largest(self, digits: int) -> Fraction | None:
        """Return the largest scale of so many digits that is shown to fit; None where no noise of these kinds does."""
        found = None
        if self._spare() and (start := self._start()) is not None:
            found = self.search.find(start, digits)
        if not self.adds_up:
            return found
        return self.by_sums if found is None or found < self.by_sums * _WORTHWHILE else found

    def may_be_less(self, error: float) -> bool:
        """Tell, by one trial, whether these kinds may state less than an error: it is nearly inverse to the scale."""
        if self.adds_up:
            return True
        start = self._start() if error > 0 and self._spare() else None
        if start is None:
            return False
        return self.search.tries(start * Fraction(self.stated_error(start) / error), _FEW_DIGITS)

    def best(self) -> Composition:
        """Return what the largest scale makes of the questions, which must have one."""
        scale = self.largest(_DIGITS)
        assert scale is not None
        exact = not self.adds_up or scale != self.by_sums
        plans = self._at(scale)
        lower, upper = total(self._items(plans), delta=self.budget.delta)
        sums = _sum(plans) if self.adds_up else None
        return Composition(
            kinds=self.kinds,
            scale=scale,
            plans=plans if self.adds_up else self._priced(plans),
            exact=exact,
            sums=sums,
            lower=lower,
            upper=min(upper, self.budget.epsilon),  # the scale was shown to fit
            cost=Cost(self.budget.epsilon, self.budget.delta if exact or sums is None else sums.delta),
        )

    def stated_error(self, scale: Fraction) -> float:
        """Return the mean errors stated, each by its weight: a question of twice the weight has half the error."""
        errors = [planned.audiences[0].mechanism.expected_error() for planned in self._at(scale)]
        return fsum(
            float(weight) * error["mean_absolute"]
            for weight, error in zip(self.weights, errors, strict=True)
            if error.get("mean_absolute") is not None
        )

    def _at(self, scale: Fraction) -> tuple[Plan, ...]:
        return tuple(
            kind.at(planned, weight * scale)
            for kind, planned, weight in zip(self.kinds, self.plans, self.weights, strict=True)
        )

    def _priced(self, plans: Sequence[Plan]) -> tuple[Plan, ...]:
        """Say what each question would cost alone, at the budget's δ where it has no ε of its own."""
        known: dict[Any, Charge] = {}  # most questions of a batch are alike

        def priced(planned: Plan) -> Plan:
            planned = replace(planned, charged_at=self.budget.delta)
            guarantee = planned.audiences[0].mechanism.privacy
            alike = guarantee, planned.selector, bool(planned.by), planned.public_membership
            if alike not in known:
                known[alike] = planned.cost_in(EPSILON_DELTA)
            return replace(planned, cost=known[alike])

        return tuple(
            planned if kind.adds_up else priced(planned) for kind, planned in zip(self.kinds, plans, strict=True)
        )

    def _by_sums(self) -> Fraction:
        """Return the scale at which costs add up to the budget's ε: they are proportional to it."""
        reference = self.budget.epsilon / sum(self.weights)
        if not self.adds_up:
            return reference
        spent = _sum(self._at(reference))
        scale = reference * self.budget.epsilon / spent.epsilon
        if max(scale.numerator.bit_length(), scale.denominator.bit_length()) > _SCALE_BITS:
            scale = dyadic_below(scale, _SCALE_BITS)
        step = _SMALL_STEP  # what a mean costs is rounded up, so that costs are not quite proportional to the scale
        while _sum(self._at(scale)).epsilon > self.budget.epsilon:
            scale, step = dyadic_below(scale * (1 - step), _SCALE_BITS), 4 * step
        own = _sum(self._at(scale)).delta
        if own > self.budget.delta:
            raise BadInput(
                "budget: delta",
                f"is {rational_text(self.budget.delta)}, and the questions' own add up to {rational_text(own)}",
                "give the budget a larger delta, or the questions smaller ones",
            )
        return scale

    def _spare(self) -> bool:
        """Tell whether there is any δ for a total: Gaussian noise needs some beside the questions' own."""
        if self.adds_up:
            return bool(self.budget.delta)
        parts = self._items(self._at(self.by_sums)) if self._allows(self.by_sums) else []
        own = sum((part.delta * times for part, times in parts if isinstance(part, Privacy)), start=Fraction(0))
        return own < self.budget.delta

    def _start(self) -> Fraction | None:
        """Return a scale near that of sums for which there is noise of these kinds."""
        for doubled in range(_MOST_DOUBLED):
            for scale in (self.by_sums / (1 << doubled), self.by_sums * (1 << doubled)):
                if self._allows(scale):
                    return scale
        return None

    def _needed(self, scale: Fraction) -> Fraction | None:
        """Return the δ that a scale needs at the budget's ε, rounded up; None where there is no such noise."""
        if max(self.weights) * scale > _LARGEST_SHARE or not self._allows(scale):
            return None
        plans = self._at(scale)
        if self.adds_up:
            dearest = max(_pair(planned).epsilon for planned in plans)
            if dearest > _LARGEST_SHARE or _sum(plans).delta > self.budget.delta:
                return None
        return delta_above(self._items(plans), epsilon=self.budget.epsilon)

    def _allows(self, scale: Fraction) -> bool:
        return scale > 0 and all(
            kind.allows(weight * scale) for kind, weight in zip(self.kinds, self.weights, strict=True)
        )

    def _items(self, plans: Sequence[Plan]) -> list[tuple[Any, int]]:
        return [item for kind, planned in zip(self.kinds, plans, strict=True) for item in kind.items(planned)]


def _common_divisor(weights: Sequence[Fraction]) -> Fraction:
    below = lcm(*(weight.denominator for weight in weights))
    return Fraction(gcd(*(int(weight * below) for weight in weights)), below)


def _sum(plans: Sequence[Plan]) -> Cost:
    return sum(map(_pair, plans), Cost())


def _pair(planned: Plan) -> Cost:
    """Return what a question costs in ε and δ, which is what the budget of a batch counts."""
    cost = planned.cost
    assert isinstance(cost, Cost)
    return cost
