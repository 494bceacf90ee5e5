"""The common scale of a batch: the least noise whose total fits the budget, by sums or exactly.

Question i has the share weight_i·λ. By basic composition λ may be what makes the costs add up to the budget. The exact
total of all releases is smaller for many questions, so a larger λ fits. The search compares the upper end of the
enclosure with the budget, so the chosen λ is proven to fit (proofs/batches.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from math import ceil, floor, fsum, gcd, inf, lcm, log, log10, sqrt
from typing import Any, Protocol

from .._exact import dyadic_below, rational_text, told_above
from .._measurements import GeometricNoise, PartitionSelection
from .._queries import independent_parts, steps_of_person
from ..accounting import EPSILON_DELTA, Charge, Cost, delta_above, total
from ..errors import BadInput
from ..privacy import Gaussian, Privacy
from .audiences import Audience
from .plans import Plan

# Kinds of noise that a batch chooses from: what answers at a share of the privacy, and what it adds to the total.
#
# To let a batch choose another kind, write a class that keeps `NoiseKind` in a file of its own, and let `choices` try
# it.


class NoiseKind(Protocol):
    """One way of answering a question of a batch at its share of the common scale.

    Attributes
    ----------
    name : str
        For people, and for the release file of the answers.
    adds_up : bool
        Whether each question has a cost (ε, δ) of its own, so that costs may simply be added.
    """

    @property
    def name(self) -> str:
        """For people."""

    @property
    def adds_up(self) -> bool:
        """Whether the `cost` of each plan bounds what its answers tell."""

    def allows(self, share: Fraction) -> bool:
        """Tell whether there is such noise at a share; if not at one, then at no larger, or at no smaller one."""
        ...

    def describe(self, scale: Fraction) -> str:
        """Say what a question's weight comes to at a scale, for people."""
        ...

    def at(self, planned: Plan, share: Fraction) -> Plan:
        """Return the plan with the noise that it has at this share: twice the share is about half the noise."""
        ...

    def items(self, planned: Plan) -> list[tuple[Any, int]]:
        """Return what a plan of `at` enters `irisdp.accounting.total` as, whichever way a neighbour moves.

        Each entry is a guarantee, a mechanism or a privacy-loss distribution
        (`irisdp.certify.PrivacyLossDistribution`), and how often it occurs. Raising the share never makes the total
        smaller.
        """
        ...


@dataclass(frozen=True, slots=True)
class OwnNoise:
    """Each question's own mechanism at ε = share: geometric noise for counts, depth mechanisms for yes or no.

    A selection of groups has the same ε as the answers. What a question was given as δ it keeps at every share.

    References
    ----------
    proofs/batches.md.
    """

    name: str = "geometric"
    adds_up: bool = True

    def allows(self, share: Fraction) -> bool:
        """Tell that there always is."""
        return True

    def describe(self, scale: Fraction) -> str:
        """Say what weights come to."""
        return weighted("ε", scale)

    def at(self, planned: Plan, share: Fraction) -> Plan:
        """Return the plan with each cell's mechanism, and the selection, at ε = share."""
        before = _pair_of(planned)
        mechanism = planned.query.mechanism(Privacy(epsilon=share, delta=before.delta), planned.asked.cell_relation)
        changed = replace(planned, audiences=(Audience(None, mechanism),), selector=selector_at(planned, share))
        return replace(changed, cost=changed.cost_in(EPSILON_DELTA))

    def items(self, planned: Plan) -> list[tuple[Any, int]]:
        """Return the guarantees of the cells that one neighbour moves, and of the selection."""
        return parts_of(planned)


def weighted(name: str, scale: Fraction) -> str:
    """Say what a question's weight comes to: exactly where that is short, else what it is at most.

    Examples
    --------
    >>> weighted("ε", Fraction(1, 4)), weighted("μ", Fraction(123456789, 370370369))
    ('ε = weight × 0.25', 'μ ≤ weight × 0.333334')
    """
    _, sign, most = told_above(name, scale).split(" ", 2)
    return f"{name} {sign} weight × {most}"


def selector_at(planned: Plan, share: Fraction) -> PartitionSelection | None:
    """Return the selection of groups, if there is one, at ε = share and its own δ."""
    if planned.selector is None:
        return None
    return replace(planned.selector, privacy=Privacy(epsilon=share, delta=planned.selector.privacy.delta))


def parts_of(planned: Plan) -> list[tuple[Any, int]]:
    """Return the guarantees of the cells that one neighbour moves, and of the selection, and how often each occurs."""
    return list(
        independent_parts(
            planned.audiences[0].mechanism.privacy,
            planned.relation,
            grouped=bool(planned.by),
            public_membership=planned.public_membership,
            exchange_steps=planned.query.exchange_steps,
            record_steps=steps_of_person(planned.query),
            selection=planned.selector.privacy if planned.selector else None,
        )
    )


def _pair_of(planned: Plan) -> Privacy:
    """Return the pair that each cell keeps: batches plan every question at one."""
    privacy = planned.audiences[0].mechanism.privacy
    assert isinstance(privacy, Privacy)
    return privacy


# The largest scale that fits, on decimals of few digits, with few trials: where to try next is guessed in floats.
#
# δ at the budget's ε is near that of a normal law whose deviation grows with the scale, so that √log(1/δ) is nearly a
# straight line over 1/scale. Nothing rests on that: whatever is returned was tried itself, and so was the next
# decimal.

_GUESSES = 12
"""Trials after which the middle is taken, so that a bad guess cannot make the search long."""

_FARTHEST = 8


@dataclass(slots=True)
class LargestScale:
    """A search that can be made finer: what was tried is kept.

    Parameters
    ----------
    delta_at : callable
        The δ that a scale needs; None where there is no such noise. It never falls as the scale grows.
    allowed : Fraction
        The δ that there is, above 0.
    """

    delta_at: Callable[[Fraction], Fraction | None]
    allowed: Fraction
    fits: Fraction | None = None
    fails: Fraction | None = None
    seen: list[tuple[float, float]] = field(default_factory=list)

    def tries(self, start: Fraction, digits: int) -> bool:
        """Tell whether a scale fits, cut to so many digits."""
        step = Fraction(10) ** (_magnitude(start) - digits)
        scale = max(1, start // step) * step
        self._try(scale)
        return self.fits == scale

    def find(self, start: Fraction, digits: int) -> Fraction | None:
        """Return the largest decimal of so many digits that fits; None if no scale within a factor of about 100 fits.

        Searched again with more digits, it begins where it ended.
        """
        step = Fraction(10) ** (_magnitude(start) - digits)
        if self.fits is None and self.fails is None:
            self.tries(start, digits)
        for trial in count():
            low = None if self.fits is None else floor(self.fits / step)
            high = None if self.fails is None else ceil(self.fails / step)
            if high is not None and high - (low or 0) <= 1:
                break
            self._try(self._next(low, high, float(step), guess=trial < _GUESSES) * step)
        if self.fits is not None and _magnitude(self.fits) < _magnitude(start):
            return self.find(self.fits, digits)
        return self.fits

    def _try(self, scale: Fraction) -> None:
        needed = self.delta_at(scale)
        if needed is not None and needed <= self.allowed:
            self.fits = scale if self.fits is None else max(scale, self.fits)
        else:
            self.fails = scale if self.fails is None else min(scale, self.fails)
        if needed is not None and 0 < needed < 1:
            self.seen.append((1 / float(scale), _height(needed)))

    def _next(self, low: int | None, high: int | None, step: float, *, guess: bool) -> int:
        """Return where to try next, strictly between what fits and what does not."""
        least = (high or 0) // _FARTHEST if low is None else low + 1
        most = _FARTHEST * (low or 1) if high is None else high - 1
        middle = (least + most) // 2 if low is not None and high is not None else 2 * low if low else (high or 2) // 2
        candidate = self._guess() if guess else None
        place = middle if candidate is None else floor(candidate / step)
        return max(1, least, min(place, most))

    def _guess(self) -> float | None:
        """Return where the line through the last two trials has the height of the allowed δ."""
        if not self.seen:
            return None
        wanted = _height(self.allowed)
        (here, up), (there, high) = self.seen[-1], self.seen[-2] if len(self.seen) > 1 else (0.0, 0.0)
        if up == high:
            return None
        inverse = here + (wanted - up) * (there - here) / (high - up)
        return 1 / inverse if 0 < inverse < inf else None


def _height(delta: Fraction) -> float:
    """Return √log(1/δ)."""
    return sqrt(max(0.0, log(delta.denominator) - log(delta.numerator)))


def _magnitude(value: Fraction) -> int:
    """Return how many digits stand before the point, less than 0 for zeros after it."""
    return floor(log10(value.numerator) - log10(value.denominator)) + 1


# Gaussian noise for the counts of a batch: of many releases it tells less than geometric noise of the same size.

_AS_LARGE = Fraction(4, 5)
"""μ = 4/5 of the share: with it the mean error is near that of geometric noise at ε = share, 1/share."""

_SMALLEST, _LARGEST = Fraction(1, 8000), Fraction(20)
"""μ for which there is such noise."""


@dataclass(frozen=True, slots=True)
class GaussianCounts:
    """Counts with Gaussian noise of μ = 4/5·share, rounded to whole numbers; alone they add up in closed form.

    A selection of groups has ε = share, as with any other noise.

    References
    ----------
    proofs/batches.md, claim 3; [Dong2022], Corollary 2.
    """

    name: str = "gaussian"
    adds_up: bool = False

    def allows(self, share: Fraction) -> bool:
        """Tell whether there is such noise."""
        return _SMALLEST <= _AS_LARGE * share <= _LARGEST

    def describe(self, scale: Fraction) -> str:
        """Say what weights come to."""
        return f"{weighted('μ', _AS_LARGE * scale)} (Gaussian noise)"

    def at(self, planned: Plan, share: Fraction) -> Plan:
        """Return the plan with Gaussian noise in each cell; it has no ε of its own, so what it costs stays open."""
        mechanism = planned.query.mechanism(Gaussian(_AS_LARGE * share), planned.asked.cell_relation)
        return replace(
            planned, audiences=(Audience(None, mechanism),), selector=selector_at(planned, share), cost=Cost()
        )

    def items(self, planned: Plan) -> list[tuple[Any, int]]:
        """Return the guarantees of the cells that one neighbour moves, and of the selection."""
        return parts_of(planned)


# Which kinds of noise a batch tries: for all its counts alike, or other noise for the heavy ones.

Kinds = tuple[NoiseKind, ...]
"""A kind for each question."""

_MOST_CUTS = 2
"""How many sets of heavy counts are tried with noise of their own: each takes as long as a batch without them."""

_FEWEST = 3
"""Counts from which on Gaussian noise is tried: at the usual δ it pays from about a dozen on."""

_MOST_HEAVY = 11
"""Heavy counts up to which other noise is tried for them. At ε = 1 and δ = 1e-6 twelve alike are better off with
Gaussian noise; at a far smaller δ more may not be, and then all keep geometric noise or none does."""


def choices(plans: Sequence[Plan], weights: Sequence[Fraction]) -> Iterator[Kinds]:
    """Yield the kinds to try; those of one weight have one kind.

    Staircase noise is not offered: where one record moves a count by one, it equals geometric noise.
    """
    own, gaussian = OwnNoise(), GaussianCounts()
    yield (own,) * len(plans)
    counts = [
        place for place, planned in enumerate(plans) if isinstance(planned.audiences[0].mechanism, GeometricNoise)
    ]
    if len(counts) < _FEWEST:
        return
    heavy = sorted({weights[place] for place in counts}, reverse=True)
    for cut in [None, *heavy[: min(_MOST_CUTS, len(heavy) - 1)]]:
        light = {place for place in counts if cut is None or weights[place] < cut}
        if len(counts) - len(light) > _MOST_HEAVY:
            return
        yield tuple(gaussian if place in light else own for place in range(len(plans)))


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
        A kind for each question, as often as wished. [default: `choices`] Of those with the least stated error the
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
    composition = best.best()
    return replace(composition, scale=composition.scale / unit)


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
        result = None
        if self._spare() and (start := self._start()) is not None:
            result = self.search.find(start, digits)
        if not self.adds_up:
            return result
        return self.by_sums if result is None or result < self.by_sums * _WORTHWHILE else result

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
