"""Variances and standard deviations from three noisy whole numbers of one ε.

Let a value lie a steps above the lower bound and b below the upper one, a + b = K. Three sums over the records are
released: of a², of 2ab and of b². One record moves them by K² in all, whatever its value, so noise for K² on each pays
once. Together they are K² times the number of values; the first less the third is twice K times the sum around the
middle; the first and the third less the second are four times the sum of squares around it. What is shown, and its
interval, is a function of the three numbers (proofs/variances.md).

Where one record becomes another and every record of a public number N counts, the variance itself gets noise: the sum
of squares around the mean moves by less than K², whatever the values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import shown_above
from .._sampling import BitSource
from ..errors import BadInput
from ..noise import UniversalDistribution
from ..privacy import Privacy
from .confidence import assured_distance
from .counts import CountNodes, draw_link
from .means import Rated, assured_ends, distance_for, geometric_for, law_between_ends, places_for, public_records
from .protocol import ChainLink, ConfidenceStatement, longer
from .registry import MeasurementKind
from .sums import Grid, StaircaseNoise

Integers = NDArray[np.int64]

_LEAST_EXCESS = Fraction(1, 10**15)
_USUAL = Fraction(19, 20)
_ROUNDS = 4
"""How often an interval is drawn in by what the one before it leaves possible."""

_CELLS = 64
"""Into how many equal parts the means, and the variances, are cut for which the noise is worked out."""

_FOR_THE_MEAN = Fraction(1, 10)
"""Which part of the chance of a wrong interval is spent on where the mean may lie; it moves the upper end a little."""

_OUTWARD, _CANCELLED = 1e-9, 1e-12
"""By how much ends are moved outward, relatively and in squares of half of K, so that floats leave no variance out."""


_MOST_KNOWN = 1 << 16
"""Distances that are kept."""

_HALF = Fraction(1, 2)
"""By how much rounding moves a sum of squares."""


@dataclass(frozen=True, slots=True, eq=False)
class VarianceNodes:
    """How many values each cell has, and how far up they lie; private, and not shown by `repr`.

    Attributes
    ----------
    known : int64 array
        Records with a value.
    above, squares : int64 array
        The sums of the values' distances from the lower bound, in steps, and of their squares.
    records : int64 array or None
        How many records each cell has, where that is public.
    """

    known: Integers = field(repr=False)
    above: Integers = field(repr=False)
    squares: Integers = field(repr=False)
    records: Integers | None = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.known)

    def padded(self, size: int) -> VarianceNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        known, above, squares = (longer(values, size) for values in (self.known, self.above, self.squares))
        return VarianceNodes(known, above, squares, None if self.records is None else longer(self.records, size))


Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class _Region:
    """Which means and variances are possible, in halves of the distance between the bounds and squares of these.

    Attributes
    ----------
    low, high : float
        Of the mean, from the middle: at least −1, at most 1.
    least, most : float
        Of the variance: at least 0, at most 1.
    """

    low: float = -1.0
    high: float = 1.0
    least: float = 0.0
    most: float = 1.0

    @property
    def nearest(self) -> float:
        """How far from the middle the mean is at least."""
        return max(self.low, -self.high, 0.0)

    @property
    def farthest(self) -> float:
        """How far from the middle the mean is at most."""
        return max(-self.low, self.high)

    def coarser(self) -> _Region:
        """Return a region around it with ends of few values, so that distances are worked out for few."""
        half = _CELLS // 2
        return _Region(
            max(math.floor(self.low * half) / half, -1.0),
            min(math.ceil(self.high * half) / half, 1.0),
            max(math.floor(self.least * _CELLS) / _CELLS, 0.0),
            min(math.ceil(self.most * _CELLS) / _CELLS, 1.0),
        )

    def weights_of_mean(self) -> Triple:
        """Return how the three noises weigh at most in the sum of values less their mean, in halves of K by K²."""
        return (1 - self.low) / 4, self.farthest / 4, (1 + self.high) / 4

    def weights_of_variance(self) -> Triple:
        """Return the same for the sum of squares around the mean less their variance."""
        first = max(abs((1 - t) ** 2 - v) for t in (self.low, self.high) for v in (self.least, self.most))
        third = max(abs((1 + t) ** 2 - v) for t in (self.low, self.high) for v in (self.least, self.most))
        return first / 4, (1 - self.nearest**2 + self.most) / 4, third / 4


class _Tails:
    """What weighted noises stay within, in the unit of the moments; each distance is worked out once.

    Parameters
    ----------
    noise : UniversalDistribution
    span : int
        K.
    """

    def __init__(self, noise: UniversalDistribution, span: int) -> None:
        self._rated, self._square = Rated(noise.cells.privacy.ratio), span**2
        self._known: dict[tuple[Triple, Fraction], float] = {}

    def distance(self, weights: Triple, confidence: Fraction) -> float:
        """Return what noise that three numbers weigh so stays within this often."""
        key = weights, confidence
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            weighted = ((weight, self._rated) for weight in weights)
            self._known[key] = distance_for(float(1 - confidence), *weighted) * 4 / self._square
        return self._known[key]


@lru_cache(maxsize=16)
def _tails_of(noise: UniversalDistribution, span: int) -> _Tails:
    return _Tails(noise, span)


@dataclass(frozen=True, slots=True)
class VarianceFromEnds:
    """Three noisy sums, which a variance or its root is read off.

    Parameters
    ----------
    privacy : Privacy
        Of one step of a person.
    steps : Grid
    kept : int
        How many records of a person count at most.
    exchanged : bool
        Whether a step takes a person's records for another's.
    root : bool
        Whether the standard deviation is shown.

    References
    ----------
    proofs/variances.md.
    """

    privacy: Privacy
    steps: Grid
    kept: int = 1
    exchanged: bool = False
    root: bool = False

    def __post_init__(self) -> None:
        """Refuse what is too little for noise, before anything is read."""
        if self.noise.cells.privacy.ratio - 1 < _LEAST_EXCESS:
            rule = f"leaves less than 1e-15 for each of {self.sensitivity:,} squares of the step"
            raise BadInput("epsilon", rule, "choose a larger epsilon, or larger steps")

    @property
    def sensitivity(self) -> int:
        """By how much a step moves the three numbers at most, together."""
        return (2 if self.exchanged else 1) * self.kept * self.steps.span**2

    @property
    def noise(self) -> UniversalDistribution:
        """What each of the three numbers gets."""
        return geometric_for(self.privacy, self.sensitivity)

    @property
    def chained(self) -> Privacy:
        """Privacy of the link that the three noisy numbers are, of which answers are a reading."""
        return self.privacy

    def numbers(self, nodes: VarianceNodes) -> Integers:
        """Return the three numbers of each cell, shape (cells, 3)."""
        span = self.steps.span
        products = 2 * (span * nodes.above - nodes.squares)
        below = span**2 * nodes.known - 2 * span * nodes.above + nodes.squares
        return np.stack([nodes.squares, products, below], axis=1)

    def draw(
        self, nodes: VarianceNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> Integers:
        """Draw the three noisy numbers of every cell; equally many random words whatever they are, but for ties."""
        true, drawn = self.numbers(nodes), []
        for index in range(true.shape[1]):
            before = [ChainLink(link.privacy, link.values[:, index]) for link in links]
            drawn.append(draw_link(true[:, index], self.privacy, before, noise=self._of_one, source=source))
        return np.stack(drawn, axis=1)

    def _of_one(self, privacy: Privacy) -> Privacy:
        """Return what the noise of each number keeps for a shift by 1, if answers keep this."""
        return replace(self, privacy=privacy).noise.cells.privacy

    def show(self, drawn: list[Any], nodes: VarianceNodes) -> list[Any]:
        """Return variances, or their roots, as far as they may be, in as many places as noise leaves any meaning."""
        most = [None] * len(drawn) if nodes.records is None else nodes.records.tolist()[: len(drawn)]
        tails = self._tails
        return [self._shown(numbers, records, tails) for numbers, records in zip(drawn, most, strict=True)]

    def intervals(
        self, drawn: list[Any], nodes: VarianceNodes, confidence: Fraction = _USUAL
    ) -> list[tuple[float, float]]:
        """Return between what each answer lies, with this probability or a higher one, if any record has a value."""
        result, tails = [], self._tails
        for numbers, shown in zip(drawn, self.show(drawn, nodes), strict=True):
            low, high = _shown_ends(self.steps, self.root, *self._between(numbers, confidence, tails))
            result.append((min(low, shown), max(high, shown)))
        return result

    def ends(self, nodes: VarianceNodes) -> dict[str, Any]:
        """Return how many records there are, where that is public: no more have a value."""
        return public_records(nodes.records)

    def law(self, nodes: VarianceNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the law of the three noisy numbers, lumped beyond what at most `largest` values make them."""
        span = self.steps.span
        most = largest * span**2, largest * (span**2 // 2), largest * span**2
        first, second, third = (
            law_between_ends(self.noise, value, 0, end)
            for value, end in zip(self.numbers(nodes)[cell].tolist(), most, strict=True)
        )
        both = {(a, b): p * q for a, p in first.items() for b, q in second.items()}
        return {(*ab, c): p * q for ab, p in both.items() for c, q in third.items()}

    def expected_error(self) -> dict[str, Any]:
        """Return what the error, times the number of values, stays within in 95 % of cases.

        Of a variance at most, where all values are at one bound, and where values spread evenly between the bounds. Of
        a deviation the second alone: where all values are alike, its error falls with the root of their number.
        """
        size, half, tails = float(self.steps.size), self.steps.span / 2, self._tails
        at_bound, evenly = (
            tails.distance(region.weights_of_variance(), _USUAL) * half**2 * size**2
            for region in (_Region(1.0, 1.0, 0.0, 0.0), _Region(0.0, 0.0, 1 / 3, 1 / 3))
        )
        top = half * size
        if self.root:
            return {
                "spread_evenly_times_records": evenly / (2 * top / math.sqrt(3)),
                "all_alike_times_root_of_records": math.sqrt(at_bound),
                "within_95_percent_of_1000_records": min(math.sqrt(at_bound / 1000), top),
            }
        return {
            "within_95_percent_times_records": at_bound,
            "spread_evenly_times_records": evenly,
            "within_95_percent_of_1000_records": min(at_bound / 1000, top**2),
        }

    def chance_within(self, distance: int) -> None:
        """Return None: the error depends on the number of values, which is not published."""
        return

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: VarianceNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the ends of what the three numbers leave possible."""
        return assured_ends(self, drawn, nodes, confidence, "if any record has a value")

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = {name: shown_above(value) for name, value in self.expected_error().items()}
        evenly, thousand = error["spread_evenly_times_records"], error["within_95_percent_of_1000_records"]
        spread = "if values are spread evenly between the bounds"
        if self.root:
            alike = error["all_alike_times_root_of_records"]
            return (
                f"with N values, off by at most about {evenly}/N in 95 % of cases {spread}, and by {alike}/√N if all "
                f"values are equal ({thousand} for N = 1,000)"
            )
        return (
            f"off by at most about {error['within_95_percent_times_records']}/N in 95 % of cases if N records "
            f"have a value ({thousand} for N = 1,000), and by {evenly}/N {spread}"
        )

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        kept = {} if self.kept == 1 else {"kept": self.kept}
        divided = {"variance": "population", "shows": "root" if self.root else "variance"}
        return {"kind": MeasurementKind.VARIANCE_FROM_ENDS.value, "sensitivity": self.sensitivity, **kept, **divided}

    def _moments(self, numbers: Sequence[int]) -> Triple:
        """Return number, sum and sum of squares around the middle, in halves of K, that three numbers stand for."""
        first, second, third = (Fraction(number, self.steps.span**2) for number in numbers)
        return float(first + second + third), float(first - third), float(first - second + third)

    def _shown(self, numbers: Sequence[int], most: int | None, tails: _Tails) -> float:
        number, total, squares = self._moments(numbers)
        number = max(number if most is None else min(number, most), 1.0)
        mean = min(max(total / number, -1.0), 1.0)
        variance = min(max(squares / number - mean**2, 0.0), 1 - mean**2)
        off = tails.distance(_Region(mean, mean, variance, variance).coarser().weights_of_variance(), _USUAL) / number
        return _shown(self.steps, self.root, variance, off)

    def _between(self, numbers: Sequence[int], confidence: Fraction, tails: _Tails) -> tuple[float, float]:
        """Return between what the variance lies, in squares of half of K.

        A mean t is possible if the sum of values less t is at most a distance that its noise stays within, and with it
        a variance v if the sum of their squares less v is. Each region is worked out from the one before it.
        """
        number, total, squares = self._moments(numbers)
        region = _Region()
        if number <= 0:
            return region.least, region.most
        wrong = 1 - confidence
        of_mean, of_variance = 1 - wrong * _FOR_THE_MEAN, 1 - wrong * (1 - _FOR_THE_MEAN)
        mean = total / number
        for _ in range(_ROUNDS):
            coarse = region.coarser()
            near = tails.distance(coarse.weights_of_mean(), of_mean) / number + _CANCELLED
            low, high = max(mean - near, region.low), min(mean + near, region.high)
            if low > high:  # which says that the noise is larger than the distance: any set will do
                low = high = min(max(mean, region.low), region.high)
            region = _Region(low, high, region.least, min(region.most, 1 - max(low, -high, 0.0) ** 2))
            off = tails.distance(region.coarser().weights_of_variance(), of_variance) / number + _CANCELLED
            about = squares / number - mean**2
            nearest, farthest = max(low - mean, mean - high, 0.0), max(mean - low, high - mean)
            least = max(about + nearest**2 - off, region.least)
            most = min(about + farthest**2 + off, region.most)
            if least >= most:  # as above, or no width is left, which is none to round ends by
                most = least = min(max(about, region.least), region.most)
                return max(least - off, 0.0), min(most + off, 1.0)
            region = _Region(low, high, least, most)
        return region.least, region.most

    @property
    def _tails(self) -> _Tails:
        """What the noise stays within; get it once for all cells, for it is looked up by the noise."""
        return _tails_of(self.noise, self.steps.span)


def _shown(steps: Grid, root: bool, variance: float, off: float) -> float:
    """Return a variance, given in squares of half of K, or its root, in as many places as its error leaves meaning."""
    half, largest = float(steps.size) * steps.span / 2, _largest(steps, root)
    if root:
        deviation = math.sqrt(variance)
        value, doubt = deviation * half, off / max(2 * deviation, math.sqrt(off)) * half
    else:
        value, doubt = variance * half**2, off * half**2
    return min(max(round(value, places_for(doubt)), 0.0), largest)


def _shown_ends(steps: Grid, root: bool, least: float, most: float) -> tuple[float, float]:
    """Return the ends of an answer from those of a variance in squares of half of K, rounded outward.

    The root moves by at most as much as rounding moves each value, so ends are widened as roots.
    """
    half, rounding = float(steps.size) * steps.span / 2, float(steps.rounding)
    low = max(math.sqrt(max(least, 0.0)) * half * (1 - _OUTWARD) - rounding, 0.0)
    high = math.sqrt(max(most, 0.0)) * half * (1 + _OUTWARD) + rounding
    if not root:
        low, high = low**2, high**2
    places, largest = places_for((high - low) / 10), _largest(steps, root)
    unit = 10.0**places
    ends = round(math.floor(low * unit) / unit, places), round(math.ceil(high * unit) / unit, places)
    return min(max(ends[0], 0.0), largest), min(ends[1], largest)


def _largest(steps: Grid, root: bool) -> float:
    """Return the largest possible answer."""
    half = float(steps.upper - steps.lower) / 2
    return half if root else half**2


# Variances over records that all have a value, and whose number is public: noise on the variance itself.


@dataclass(frozen=True, slots=True)
class VarianceOfAll:
    """Adds staircase noise to the sum of squares around the mean, and divides by how many records there are.

    Parameters
    ----------
    noise : StaircaseNoise
        For as many squares of the step as an exchange moves that sum by, at most K².
    steps : Grid
    root : bool
        Whether the standard deviation is shown.

    References
    ----------
    proofs/variances.md.
    """

    noise: StaircaseNoise
    steps: Grid
    root: bool = False

    @property
    def privacy(self) -> Privacy:
        """What one step on a cell's graph may reveal."""
        return self.noise.privacy

    @property
    def chained(self) -> None:
        """None: such answers form no chain."""
        return

    def sums(self, nodes: VarianceNodes) -> CountNodes:
        """Return the sum of squares around the mean of each cell, in squares of the step, to the nearest whole one."""
        columns = (nodes.known.tolist(), nodes.above.tolist(), nodes.squares.tolist())
        around = [
            (2 * (n * squares - above**2) + n) // (2 * n) if n else 0
            for n, above, squares in zip(*columns, strict=True)
        ]
        values = np.array(around, dtype=np.int64)
        return CountNodes(values=values, lower=np.zeros_like(values), upper=None)

    def draw(
        self, nodes: VarianceNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> Integers:
        """Draw one noisy sum of squares per cell; see `show`."""
        return self.noise.draw(self.sums(nodes), links, source=source)

    def show(self, drawn: list[Any], nodes: VarianceNodes) -> list[Any]:
        """Return variances, or their roots, as far as they may be, in as many places as noise leaves any meaning."""
        off = self._scaled(Fraction(self.noise.expected_error()["within_95_percent"]) or Fraction(1, 2), 1)
        return [
            _shown(self.steps, self.root, self._scaled(total, number), off / max(number, 1))
            for total, number in zip(drawn, self._numbers(nodes), strict=False)
        ]

    def intervals(
        self, drawn: list[Any], nodes: VarianceNodes, confidence: Fraction = _USUAL
    ) -> list[tuple[float, float]]:
        """Return between what each answer lies, with this probability or a higher one, if there are any records."""
        within, result = assured_distance(self.noise, confidence), []
        for total, number, shown in zip(drawn, self._numbers(nodes), self.show(drawn, nodes), strict=False):
            least, most = 0.0, 1.0
            if within is not None and number:
                about, off = self._scaled(total, number), self._scaled(within + _HALF, number)
                least, most = about - off, min(about + off, 1.0)
            low, high = _shown_ends(self.steps, self.root, least, most)
            result.append((min(low, shown), max(high, shown)))
        return result

    def ends(self, nodes: VarianceNodes) -> dict[str, Any]:
        """Return how many records there are, by which sums are divided."""
        return public_records(nodes.records)

    def law(self, nodes: VarianceNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of the noisy sum, in squares of the step; `show` divides it."""
        return self.noise.law(self.sums(nodes), cell, largest * self.steps.span**2)

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error of a variance times the number of records, and the end of 95 % of cases.

        Of a deviation, what 95 % of cases stay within where values spread evenly, and where all are alike.
        """
        error, square = self.noise.expected_error(), float(self.steps.size) ** 2
        likely = (error["within_95_percent"] + 0.5) * square
        largest = _largest(self.steps, self.root)
        if self.root:
            return {
                "spread_evenly_times_records": likely / (2 * largest / math.sqrt(3)),
                "all_alike_times_root_of_records": math.sqrt(likely),
                "within_95_percent_of_1000_records": min(math.sqrt(likely / 1000), largest),
            }
        return {
            "mean_absolute_times_records": (error["mean_absolute"] + 0.5) * square,
            "within_95_percent_times_records": likely,
            "within_95_percent_of_1000_records": min(likely / 1000, largest),
        }

    def chance_within(self, distance: int) -> None:
        """Return None: how far off a variance may be depends on how many records there are."""
        return

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: VarianceNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the ends of variances that the noisy sums leave possible."""
        return assured_ends(self, drawn, nodes, confidence, "if there are any records")

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = {name: shown_above(value) for name, value in self.expected_error().items()}
        thousand = f"({error['within_95_percent_of_1000_records']} for N = 1,000)"
        if self.root:
            return (
                f"with N records, off by at most about {error['spread_evenly_times_records']}/N in 95 % of cases if "
                "values are spread evenly between the bounds, and by "
                f"{error['all_alike_times_root_of_records']}/√N if all values are equal {thousand}"
            )
        return (
            f"with N records, off by {error['mean_absolute_times_records']}/N on average, and by at most "
            f"{error['within_95_percent_times_records']}/N in 95 % of cases {thousand}"
        )

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        divided = {"variance": "population", "shows": "root" if self.root else "variance"}
        return {"kind": MeasurementKind.VARIANCE_OF_ALL.value, "noise": self.noise.to_document(), **divided}

    def _scaled(self, total: Fraction | int, number: int) -> float:
        """Return the variance that a sum of squares makes, in squares of half of K, between 0 and 1."""
        return float(min(max(Fraction(4 * total, self.steps.span**2 * max(number, 1)), Fraction(0)), Fraction(1)))

    def _numbers(self, nodes: VarianceNodes) -> list[int]:
        assert nodes.records is not None, "the number of records is public under the relation that this is for"
        result: list[int] = nodes.records.tolist()
        return result
