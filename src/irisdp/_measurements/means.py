"""Means from two noisy whole numbers of one ε: how far values lie from both bounds, or from the middle, and how many.

If records are added or removed, two noisy sums are released: of the values' distances from the lower bound, and from
the upper one. A record moves them by K steps in all, whatever its value, so noise for K steps on both pays once. Their
sum is K times the number of values, and their difference is twice the sum around the middle. If a record becomes
another, the sum around the middle and the number are released, each with the noise that an exchange allows. What is
shown, and its interval, is a function of the two numbers (proofs/sums-and-means.md).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .._exact import log_near, rational_text, shown_above
from .._sampling import BitSource
from ..errors import BadInput
from ..noise import UniversalDistribution, law
from ..privacy import Privacy
from .confidence import assured_distance, promised
from .counts import CountNodes, draw_link
from .protocol import HIGH, LOW, ChainLink, ConfidenceStatement, longer
from .registry import MeasurementKind
from .sums import Grid, StaircaseNoise

# Bound the error of a weighted sum of two geometric noises, for intervals around means.
#
# A geometric noise Z of parameter α = e^(−λ) and a Laplace variable X of rate λ can be drawn together. They have one
# sign, and their magnitudes are never further apart than `slack`. The tail of a weighted sum of two Laplace variables
# has a closed form (proofs/sums-and-means.md, claim 5).

_ROUNDING = 1e-9
"""By how much, relatively, distances are raised, so that floats lower none."""


@dataclass(frozen=True, slots=True)
class Rated:
    """The rate of a geometric noise, and how far its magnitude is from that of a Laplace variable of that rate.

    Parameters
    ----------
    ratio : Fraction
        1/α, above 1.
    """

    ratio: Fraction

    @property
    def rate(self) -> float:
        """λ = log(1/α)."""
        return log_near(self.ratio)

    @property
    def slack(self) -> float:
        """Return max(c, 1 − c) with e^(λc) = 2/(1 + α)."""
        shift = -math.log1p(-float((self.ratio - 1) / (2 * self.ratio))) / self.rate
        return max(shift, 1 - shift)


def distance_for(wrong: float, *weighted: tuple[float, Rated]) -> float:
    """Return a distance that a weighted sum of two or three noises exceeds with at most this probability.

    Parameters
    ----------
    wrong : float
        Above 0 and below 1.
    *weighted : tuple of (float, Rated)
        The weights, of which one at least is not 0, and the noises, which are independent.
    """
    scales = sorted((abs(weight) / noise.rate for weight, noise in weighted), reverse=True)
    large, *others = scales
    small = [scale / large for scale in others]
    low, high = 0.0, 1.0
    while _tail(high, *small) > wrong:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(middle, *small) > wrong else (low, middle)
    slack = sum(abs(weight) * noise.slack for weight, noise in weighted)
    return (high * large + slack) * (1 + _ROUNDING)


def chance_beyond(distance: float, *weighted: tuple[float, Rated]) -> float:
    """Return a bound of the probability that such a sum exceeds a distance: 1 where it is within what is rounded."""
    slack = sum(abs(weight) * noise.slack for weight, noise in weighted)
    left = distance / (1 + _ROUNDING) - slack
    if left <= 0:
        return 1.0
    large, *others = sorted((abs(weight) / noise.rate for weight, noise in weighted), reverse=True)
    return min(_tail(left / large, *(scale / large for scale in others)), 1.0)


def _tail(distance: float, small: float, least: float = 0.0) -> float:
    """Return P(|X + small·Y + least·Z| > distance) of Laplace variables of scale 1, or more; 0 ≤ least ≤ small ≤ 1."""
    if least:
        return _tail_of_three(distance, small, least)
    if small == 0:
        return math.exp(-distance)
    if 1 - small < 1e-4:  # the tail grows with `small`, so that of equal scales bounds it
        return (1 + distance / 2) * math.exp(-distance)
    other = small**2 * math.exp(-distance / small)
    return (math.exp(-distance) - other) / (1 - small**2)


_APART, _CANCELLED = 1e-3, 1e-9
"""How far scales are moved apart, relatively, and more than floats lose of a tail of scales that far apart."""


def _tail_of_three(distance: float, small: float, least: float) -> float:
    """Return a bound of the same with three scales, which grows with each of them.

    Scales that are nearly equal are raised until they are apart. Where floats leave nothing of so small a tail, that
    of three equal scales bounds it.
    """
    equal = (1 + distance * (5 + distance) / 8) * math.exp(-distance)
    small = max(small, least * (1 + _APART))
    scales = max(1.0, small * (1 + _APART)), small, least
    apart = 0.0
    for scale in scales:
        share = math.prod(scale**2 / ((scale - other) * (scale + other)) for other in scales if other != scale)
        apart += share * math.exp(-distance / scale)
    return min(equal, apart + _CANCELLED)


Integers = NDArray[np.int64]

_LEAST_EXCESS = Fraction(1, 10**15)
_USUAL = Fraction(19, 20)
_ROUNDS = 4
"""How often an interval is drawn in by what the one before it leaves possible."""

_CENTRES = 64
"""Of how many distances from the middle, equally far apart, that of the noise is worked out."""

_DIGITS = 12
"""Decimal places of a mean that are shown at most."""


@dataclass(frozen=True, slots=True, eq=False)
class MeanNodes:
    """How many values each cell has, and how far they lie above the lower bound; private, and not shown by `repr`.

    Attributes
    ----------
    known : int64 array
        Records with a value.
    above : int64 array
        The sum of the values' distances from the lower bound, in steps.
    records : int64 array or None
        How many records each cell has, where that is public.
    """

    known: Integers = field(repr=False)
    above: Integers = field(repr=False)
    records: Integers | None = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.known)

    def padded(self, size: int) -> MeanNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        records = None if self.records is None else longer(self.records, size)
        return MeanNodes(longer(self.known, size), longer(self.above, size), records)


@dataclass(frozen=True, slots=True)
class NoisyMeans(ABC):
    """What both ways have in common.

    Parameters
    ----------
    privacy : Privacy
        Of one step of a person.
    steps : Steps
    kept : int
        How many records of a person count at most; with weights, as how many values they count.
    lot : Fraction, optional
        With weights: the weight that counts as one value.
    """

    privacy: Privacy
    steps: Grid
    kept: int = 1
    lot: Fraction | None = None

    kind: ClassVar[str]
    cut_off: ClassVar[bool] = False
    """Whether the noisy number may be cut off at the number of records, as far as that is public."""

    def __post_init__(self) -> None:
        """Refuse what is too little for noise, before anything is read."""
        if min(noise.cells.privacy.ratio for noise in self.noises) - 1 < _LEAST_EXCESS:
            rule = f"leaves less than 1e-15 for each of {self.steps.span:,} steps"
            raise BadInput("epsilon", rule, "choose a larger epsilon, or larger steps")

    @property
    @abstractmethod
    def noises(self) -> tuple[UniversalDistribution, UniversalDistribution]:
        """What the two numbers get."""

    @abstractmethod
    def numbers(self, nodes: MeanNodes) -> Integers:
        """Return the two numbers of each cell, shape (cells, 2)."""

    @abstractmethod
    def reach(self, largest: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return between what the two numbers lie, for at most so many values."""

    @abstractmethod
    def total_and_number(self, pair: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Return the sum around the middle, in steps, and the number of values, that two numbers stand for."""

    @abstractmethod
    def weights(self, centre: float) -> tuple[float, float]:
        """Return how a mean so many steps from the middle weighs the two noises: together they make its error."""

    @abstractmethod
    def weights_of_number(self) -> tuple[float, float]:
        """Return how the number of values weighs the two noises."""

    @property
    def chained(self) -> Privacy:
        """Privacy of the link that the two noisy numbers are, of which answers are a reading."""
        return self.privacy

    def draw(self, nodes: MeanNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None) -> Integers:
        """Draw the two noisy numbers of every cell; equally many random words whatever they are, but for ties."""
        true = self.numbers(nodes)
        drawn = []
        for index in range(true.shape[1]):
            before = [ChainLink(link.privacy, link.values[:, index]) for link in links]
            noise = partial(self._of_one, index)
            drawn.append(draw_link(true[:, index], self.privacy, before, noise=noise, source=source))
        return np.stack(drawn, axis=1)

    def _of_one(self, index: int, privacy: Privacy) -> Privacy:
        """Return what the noise of one of the two numbers keeps for a shift by 1, if answers keep this."""
        return replace(self, privacy=privacy).noises[index].cells.privacy

    def show(self, drawn: list[Any], nodes: MeanNodes) -> list[Any]:
        """Return means between the bounds, in as many decimal places as noise leaves any meaning."""
        return [self._rounded(pair, most) for pair, most in zip(drawn, self._most(drawn, nodes), strict=True)]

    def intervals(self, drawn: list[Any], nodes: MeanNodes, confidence: Fraction = _USUAL) -> list[tuple[float, float]]:
        """Return between what each mean lies, with this probability or a higher one, if any record has a value."""
        result = []
        for pair, shown in zip(drawn, self.show(drawn, nodes), strict=True):
            low, high = map(self._unit, self._between(pair, confidence))
            result.append(shown_ends(self.steps, min(low, shown), max(high, shown)))
        return result

    def ends(self, nodes: MeanNodes) -> dict[str, Any]:
        """Return how many records there are, where that is public: no more have a value."""
        return public_records(nodes.records)

    def law(self, nodes: MeanNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the law of the two noisy numbers, lumped beyond what at most `largest` values make them."""
        true, most = self.numbers(nodes)[cell].tolist(), 1 if self.lot is None else self.kept
        first, second = (
            law_between_ends(noise, value, *between)
            for noise, value, between in zip(self.noises, true, self.reach(largest * most), strict=True)
        )
        return {(a, b): p * q for a, p in first.items() for b, q in second.items()}

    def expected_error(self) -> dict[str, Any]:
        """Return what the error, times the number of values, stays within, wherever between the bounds the mean is.

        At the bounds it is that much; in the middle less.
        """
        size, span = float(self.steps.size), self.steps.span
        at_bound, in_middle = (self._distance(t, _USUAL) * size for t in (span / 2, 0.0))
        if self.lot is not None:
            off = at_bound * float(self.lot)
            return {
                "within_95_percent_times_weight": off,
                "within_95_percent_of_weight_1000": min(off / 1000, float(self.steps.upper - self.steps.lower)),
            }
        return {
            "within_95_percent_times_records": at_bound,
            "in_the_middle": in_middle,
            "within_95_percent_of_1000_records": min(at_bound / 1000, float(self.steps.upper - self.steps.lower)),
        }

    def chance_within(self, distance: int) -> None:
        """Return None: the error of a mean depends on the number of values, which is not published."""
        return

    def chance_with(self, distance: Fraction, number: int) -> float:
        """Bound from below the chance that a mean is off by at most a distance, where at least so many have a value.

        Whatever the values are, and before the mean is rounded for display (proofs/sums-and-means.md, claim 11).
        """
        steps = float(distance / self.steps.size)
        rates = [Rated(noise.cells.privacy.ratio) for noise in self.noises]
        chances = [
            part * chance_beyond(far, *zip(weights, rates, strict=True))
            for part, far, weights in (
                (1, steps * number, self.weights(self.steps.span / 2)),
                (0.5, number - 1.0, self.weights_of_number()),
                # Where the noisy number is cut off at a public one, of a mean that the total alone moves.
                (0.5 * self.cut_off, steps * number, self.weights(0.0)),
            )
        ]
        return max(1 - sum(chances) * (1 + _ROUNDING), 0.0)

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: MeanNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the ends of means that the two numbers leave possible."""
        return assured_ends(self, drawn, nodes, confidence, "if any record has a value")

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        if self.lot is not None:
            likely, thousand = map(shown_above, error.values())
            return (
                f"off by at most about {likely}/W in 95 % of cases if the weights of records with a value add up to "
                f"W ({thousand} for W = 1,000)"
            )
        likely, thousand, middle = (
            shown_above(error[name])
            for name in ("within_95_percent_times_records", "within_95_percent_of_1000_records", "in_the_middle")
        )
        return (
            f"off by at most about {likely}/N in 95 % of cases if N records have a value ({thousand} for N = 1,000), "
            f"and by {middle}/N if the mean is half-way between the bounds"
        )

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        lot = {} if self.lot is None else {"weight_of_one": rational_text(self.lot)}
        return {"kind": self.kind, **({} if self.kept == 1 else {"kept": self.kept}), **lot}

    def _most(self, drawn: list[Any], nodes: MeanNodes) -> list[int | None]:
        return [None] * len(drawn) if nodes.records is None else nodes.records.tolist()[: len(drawn)]

    def _rounded(self, pair: Sequence[int], most: int | None) -> float:
        total, number = self.total_and_number(pair)
        number = max(number, Fraction(1)) if most is None else max(min(number, Fraction(most)), Fraction(1))
        off = self._distance(self.steps.span / 2, _USUAL) * float(self.steps.size / number)
        return shown_mean(self.steps, Fraction(self.steps.span, 2) + total / number, off)

    def _between(self, pair: Sequence[int], confidence: Fraction) -> tuple[float, float]:
        """Return between how many steps from the middle the mean lies.

        A mean t is possible if |total − t·number| is at most a distance that the noise, as t weighs it, stays within:
        first the largest such distance, then that of the means which are left.
        """
        half = self.steps.span / 2
        total, number = map(float, self.total_and_number(pair))
        low, high = -half, half
        for _ in range(_ROUNDS):
            centre = min(math.ceil(max(-low, high) / half * _CENTRES) / _CENTRES, 1) * half
            distance = self._distance(centre, confidence)
            if number <= 0:
                break
            narrower = max((total - distance) / number, -half), min((total + distance) / number, half)
            if narrower[0] > narrower[1]:  # which says that the noise is larger than the distance: any set will do
                reach = min(distance / number, 2 * half)
                return (-half, reach - half) if total < 0 else (half - reach, half)
            low, high = narrower
        return low, high

    def _distance(self, centre: float, confidence: Fraction) -> float:
        return _distance(self, abs(centre), confidence)

    def _unit(self, centre: float) -> float:
        return float((self.steps.lower + self.steps.upper) / 2) + centre * float(self.steps.size)


class MeanFromEnds(NoisyMeans):
    """The distances from both bounds: for records that come and go."""

    __slots__ = ()

    kind: ClassVar[str] = MeasurementKind.MEAN_FROM_ENDS.value

    @property
    def noises(self) -> tuple[UniversalDistribution, UniversalDistribution]:
        """Noise for K steps, on both."""
        both = geometric_for(self.privacy, self.kept * self.steps.span)
        return both, both

    def numbers(self, nodes: MeanNodes) -> Integers:
        """Return how far values lie above the lower bound, and below the upper one."""
        return np.stack([nodes.above, nodes.known * self.steps.span - nodes.above], axis=1)

    def reach(self, largest: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the least and the largest distances."""
        return (0, largest * self.steps.span), (0, largest * self.steps.span)

    def total_and_number(self, pair: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Return half the difference, and the sum by K."""
        return Fraction(pair[0] - pair[1], 2), Fraction(pair[0] + pair[1], self.steps.span)

    def weights(self, centre: float) -> tuple[float, float]:
        """Return the shares of K that lie above and below the mean."""
        share = centre / self.steps.span
        return 0.5 - share, 0.5 + share

    def weights_of_number(self) -> tuple[float, float]:
        """Return that both ends weigh as one K-th."""
        return 1 / self.steps.span, 1 / self.steps.span


class MeanFromCentre(NoisyMeans):
    """The sum around the middle, doubled, and the number: for records that become others."""

    __slots__ = ()

    kind: ClassVar[str] = MeasurementKind.MEAN_FROM_CENTRE.value
    cut_off: ClassVar[bool] = True

    @property
    def noises(self) -> tuple[UniversalDistribution, UniversalDistribution]:
        """Noise for the 2K that a value moves the first by, and for two times the 1 that none moves the second by."""
        return geometric_for(self.privacy, 2 * self.kept * self.steps.span), geometric_for(self.privacy, 2 * self.kept)

    def numbers(self, nodes: MeanNodes) -> Integers:
        """Return how far values lie above the lower bound less how far below the upper one, and how many they are."""
        return np.stack([nodes.above - (nodes.known * self.steps.span - nodes.above), nodes.known], axis=1)

    def reach(self, largest: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the least and the largest numbers."""
        return (-largest * self.steps.span, largest * self.steps.span), (0, largest)

    def total_and_number(self, pair: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Return half the first, and the second."""
        return Fraction(pair[0], 2), Fraction(pair[1])

    def weights(self, centre: float) -> tuple[float, float]:
        """Return one half, and the distance from the middle."""
        return 0.5, centre

    def weights_of_number(self) -> tuple[float, float]:
        """Return that the second number is that of the values."""
        return 0.0, 1.0


class _HasIntervals(Protocol):
    @property
    def steps(self) -> Grid: ...

    def intervals(self, drawn: list[Any], nodes: Any, confidence: Fraction) -> list[tuple[float, float]]: ...


def assured_ends(
    mechanism: _HasIntervals, drawn: list[Any], nodes: Any, confidence: Fraction, where: str
) -> ConfidenceStatement:
    """Return the ends of a mechanism's intervals as columns, and in which case they hold."""
    intervals = mechanism.intervals(drawn, nodes, confidence)
    columns: dict[str, list[Any]] = {LOW: [low for low, _ in intervals], HIGH: [high for _, high in intervals]}
    return ConfidenceStatement(columns, f"{promised(confidence, mechanism.steps.covered)}, {where}", confidence)


def public_records(numbers: Integers | None) -> dict[str, Any]:
    """Return how many records there are, where that is public."""
    if numbers is None:
        return {}
    records = numbers.tolist()
    return {"records": records[0] if len(set(records)) == 1 else records}


def shown_mean(steps: Grid, above: Fraction, off: float) -> float:
    """Return a mean that lies so many steps above the lower bound in the form for display, given its largest error.

    Between the bounds, and in as many decimal places as give two digits of what it is off by.
    """
    mean = round(min(max(steps.lower + above * steps.size, steps.lower), steps.upper), places_for(off))
    return float(min(max(mean, steps.lower), steps.upper))


def shown_ends(steps: Grid, low: float, high: float) -> tuple[float, float]:
    """Return an interval of a mean, widened by the rounding of the values and rounded outward, between the bounds.

    Decimal places are as many as add a thousandth to the width of the interval.
    """
    low, high = low - float(steps.rounding), high + float(steps.rounding)
    places = places_for((high - low) / 10) if high > low else _DIGITS
    unit = 10.0**places
    lower, upper = float(steps.lower), float(steps.upper)
    ends = math.floor(low * unit) / unit, math.ceil(high * unit) / unit
    return max(round(ends[0], places), lower), min(round(ends[1], places), upper)


def places_for(off: float) -> int:
    return min(max(math.ceil(2 - math.log10(off)), 0), _DIGITS)


@lru_cache(maxsize=4096)
def _distance(mechanism: NoisyMeans, centre: float, confidence: Fraction) -> float:
    """Return a distance that the noise, as a mean so far from the middle weighs it, stays within so often."""
    one, other = mechanism.weights(centre)
    rates = [Rated(noise.cells.privacy.ratio) for noise in mechanism.noises]
    return distance_for(float(1 - confidence), (one, rates[0]), (other, rates[1]))


@lru_cache(maxsize=64)
def geometric_for(privacy: Privacy, sensitivity: int) -> UniversalDistribution:
    distribution = law("geometric", privacy, sensitivity)
    assert isinstance(distribution, UniversalDistribution)
    return distribution


def law_between_ends(noise: UniversalDistribution, value: int, low: int, high: int) -> dict[int, Fraction]:
    """Return the exact law of a noisy number, lumped beyond what the number may be: there all ratios stay."""
    cuts = [Fraction(0), *(noise.below_exactly(z - value) for z in range(low + 1, high + 1)), Fraction(1)]
    return {low + index: after - before for index, (before, after) in enumerate(pairwise(cuts))}


# Means over records that all have a value, and whose number is public: a noisy sum, by that number.


@dataclass(frozen=True, slots=True)
class MeanOfAll:
    """Adds staircase noise to how far values lie above the lower bound, and divides by how many records there are.

    Parameters
    ----------
    noise : StaircaseNoise
        For as many steps as an exchange moves the sum by.
    steps : Steps

    References
    ----------
    proofs/sums-and-means.md.
    """

    noise: StaircaseNoise
    steps: Grid

    @property
    def privacy(self) -> Privacy:
        """What one step on a cell's graph may reveal."""
        return self.noise.privacy

    @property
    def chained(self) -> None:
        """None: such answers form no chain."""
        return

    def draw(
        self, nodes: MeanNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Draw one noisy sum of steps per cell; see `show`."""
        return self.noise.draw(_sums(nodes), links, source=source)

    def show(self, drawn: list[Any], nodes: MeanNodes) -> list[Any]:
        """Return means between the bounds; half-way between them where nobody is."""
        off = Fraction(self.noise.expected_error()["within_95_percent"]) or Fraction(1, 2)
        return [
            shown_mean(self.steps, self._above(total, number), float(off * self.steps.size) / max(number, 1))
            for total, number in zip(drawn, _numbers(nodes), strict=False)
        ]

    def intervals(self, drawn: list[Any], nodes: MeanNodes, confidence: Fraction = _USUAL) -> list[tuple[float, float]]:
        """Return between what each mean lies, with this probability or a higher one, if there are any records."""
        within = assured_distance(self.noise, confidence)
        lower, upper = float(self.steps.lower), float(self.steps.upper)
        result = []
        for total, number, shown in zip(drawn, _numbers(nodes), self.show(drawn, nodes), strict=False):
            low, high = lower, upper
            if within is not None and number:
                ends = (self._above(total + side * within, number) * self.steps.size for side in (-1, 1))
                low, high = (
                    float(min(max(self.steps.lower + end, self.steps.lower), self.steps.upper)) for end in ends
                )
            result.append(shown_ends(self.steps, min(low, shown), max(high, shown)))
        return result

    def ends(self, nodes: MeanNodes) -> dict[str, Any]:
        """Return how many records there are, by which sums are divided."""
        return public_records(nodes.records)

    def law(self, nodes: MeanNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of the noisy sum, in steps; `show` divides it."""
        return self.noise.law(_sums(nodes), cell, largest * self.steps.span)

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error times the number of records, and what that stays within in 95 % of cases."""
        error = self.noise.expected_error()
        return {
            "mean_absolute_times_records": float(Fraction(error["mean_absolute"]) * self.steps.size),
            "within_95_percent_times_records": float(error["within_95_percent"] * self.steps.size),
        }

    def chance_within(self, distance: int) -> None:
        """Return None: how far off a mean may be depends on how many records there are."""
        return

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: MeanNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the ends of means that the noisy sums leave possible."""
        return assured_ends(self, drawn, nodes, confidence, "if there are any records")

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        return (
            f"off by {shown_above(error['mean_absolute_times_records'])}/N on average, by at most "
            f"{shown_above(error['within_95_percent_times_records'])}/N in 95 % of cases, where there are N records"
        )

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {"kind": MeasurementKind.MEAN_OF_ALL.value, "noise": self.noise.to_document()}

    def _above(self, total: int, number: int) -> Fraction:
        """Return how many steps the mean lies above the lower bound."""
        return Fraction(total, number) if number else Fraction(self.steps.span, 2)


def _sums(nodes: MeanNodes) -> CountNodes:
    return CountNodes(values=nodes.above, lower=np.zeros_like(nodes.above), upper=None)


def _numbers(nodes: MeanNodes) -> list[int]:
    assert nodes.records is not None, "the number of records is public under the relation that this is for"
    result: list[int] = nodes.records.tolist()
    return result
