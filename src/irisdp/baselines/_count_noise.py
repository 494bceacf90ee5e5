"""Noise for a count, as other libraries add it, in whole numbers: exact errors.

One record changes a count by 1 under either relation, so that each noise keeps all of ε at the scale 1/ε.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import flint

from .._exact import Enclosure, ball, working_precision
from ..errors import BadInput
from ..noise import UniversalDistribution, law
from ._comparison import Comparison, ComparisonParameters, Objective
from ._rates import Number, Powers, Rate, enclose_closely

_WIDEST = 3_000
"""Largest deviation of a discrete Gaussian that is worked out."""

_GUARD = 40


class BaselineNoise(ABC):
    """A noise distribution on the whole numbers, symmetric around 0."""

    __slots__ = ()

    name: ClassVar[str]

    @abstractmethod
    def tail(self, least: int) -> Enclosure:
        """Return P(Z ≥ least), least from 1 up."""

    @abstractmethod
    def mean(self, power: int) -> Enclosure:
        """Return the mean of |Z| or Z²: of |Z|^power."""

    def miss(self) -> Enclosure:
        """Return the probability that the noise is not 0."""
        once = self.tail(1)
        return Enclosure(2 * once.lower, 2 * once.upper)

    def clamped(self, largest: int) -> Enclosure:
        """Return the mean error of a noisy count that is clamped to 0..n, counts 0..n all alike.

        A count i is then off by Σ P(Z ≥ k) over k ≤ n − i, and over k ≤ i: in all n + 1 − k counts for each k, twice.
        """
        tails = [self.tail(least) for least in range(1, largest + 1)]
        low, high = (
            sum((2 * (largest - index) * end for index, end in enumerate(ends)), start=Fraction(0)) / (largest + 1)
            for ends in ([tail.lower for tail in tails], [tail.upper for tail in tails])
        )
        return Enclosure(low, high)


@dataclass(frozen=True, slots=True)
class _Decaying(BaselineNoise):
    """Noise that is z with chance c·α^|z| for z other than 0.

    Parameters
    ----------
    ratio : Fraction
        r; α = 1/r.
    """

    ratio: Fraction

    root: ClassVar[int] = 2
    """1 where c is a formula in α, 2 where it is one in √α."""

    @abstractmethod
    def weight(self, powers: Powers) -> Number:
        """Work out c."""

    def tail(self, least: int) -> Enclosure:
        """Return P(Z ≥ least): c·α^least/(1 − α)."""

        def formula(powers: Powers) -> Number:
            return self.weight(powers) * powers(self.root * least) / (1 - powers(self.root))

        return Rate(self.ratio, self.root).enclose(formula, 0)

    def mean(self, power: int) -> Enclosure:
        """Return the mean of |Z|^power: 2c·Σ z^power·α^z."""

        def formula(powers: Powers) -> Number:
            alpha = powers(self.root)
            sums = alpha / (1 - alpha) ** 2 if power == 1 else alpha * (1 + alpha) / (1 - alpha) ** 3
            return 2 * self.weight(powers) * sums

        return Rate(self.ratio, self.root).enclose(formula, 0)


@dataclass(frozen=True, slots=True)
class GeometricCount(_Decaying):
    """Two-sided geometric noise.

    References
    ----------
    [Ghosh2012].
    """

    name: ClassVar[str] = "geometric noise"
    root: ClassVar[int] = 1

    def weight(self, powers: Powers) -> Number:
        """Work out c = (1 − α)/(1 + α)."""
        return (1 - powers.base) / (1 + powers.base)


@dataclass(frozen=True, slots=True)
class RoundedLaplace(_Decaying):
    """Laplace noise, rounded to the nearest whole number.

    References
    ----------
    [Dwork2006].
    """

    name: ClassVar[str] = "Laplace noise, rounded"

    def weight(self, powers: Powers) -> Number:
        """Work out c = (α^−½ − α^½)/2: from z − ½ to z + ½."""
        return (1 / powers.base - powers.base) / 2


@dataclass(frozen=True, slots=True)
class RoundedStaircase(_Decaying):
    """Staircase noise on the reals with the step that is best for |z|, 1/(1 + √r), rounded to the nearest whole number.

    References
    ----------
    [Geng2016].
    """

    name: ClassVar[str] = "staircase noise, rounded"

    def weight(self, powers: Powers) -> Number:
        """Work out c from the level a near 0, which lasts γ, and aα, which lasts 1 − γ > ½, from there to 1."""
        half, alpha = powers.base, powers(2)
        step = half / (1 + half)
        level = (1 - alpha) / (2 * (step + alpha * (1 - step)))
        # From z − ½ to z lies the second half of a stretch, all of it below the step; beyond z the first half of one.
        return level / 2 + level * (step + alpha * (1 - 2 * step) / 2)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(BaselineNoise):
    """The Gaussian on the whole numbers: z with a chance proportional to exp(−z²/2σ²).

    Parameters
    ----------
    variance : Fraction
        σ².

    References
    ----------
    [Canonne2020].
    """

    variance: Fraction

    name: ClassVar[str] = "discrete Gaussian noise"

    def tail(self, least: int) -> Enclosure:
        """Return P(Z ≥ least)."""
        return enclose_closely(lambda: self._sum(0, least) / self._total())

    def mean(self, power: int) -> Enclosure:
        """Return the mean of |Z|^power."""
        return enclose_closely(lambda: 2 * self._sum(power, 1) / self._total())

    def delta(self, ratio: Fraction) -> Enclosure:
        """Return the smallest δ at a ratio: P(Z ≥ k) − r·P(Z ≥ k + 1), k the first with p(k) > r·p(k + 1)."""
        first = self._first(ratio)
        return enclose_closely(lambda: (self._sum(0, first) - ball(ratio) * self._sum(0, first + 1)) / self._total())

    def _first(self, ratio: Fraction) -> int:
        """Return the first k with k + ½ > σ²·log r."""
        bits = 64
        while True:
            with working_precision(bits):
                first = (ball(self.variance) * ball(ratio).log() - flint.arb("0.5")).floor().unique_fmpz()
            if first is not None:
                return int(first) + 1
            bits *= 2

    def _total(self) -> flint.arb:
        return 1 + 2 * self._sum(0, 1)

    def _sum(self, power: int, least: int) -> flint.arb:
        """Enclose Σ z^power·exp(−z²/2σ²) from `least` up, by its first terms and a bound on the rest."""
        scale = 1 / (2 * ball(self.variance))
        reach = int((2 * float(self.variance) * (flint.ctx.prec + _GUARD)) ** 0.5) + 2
        last = max(reach, least + 1)
        total = sum((z**power * (-scale * z * z).exp() for z in range(least, last + 1)), start=flint.arb(0))
        # Beyond, weights fall at least by `fall` a step, and (Z + k)² ≤ Z²(1 + k)²: Σ (1 + k)²·fall^k ≤ 2/(1 − fall)³.
        fall = (-scale * (2 * last + 1)).exp()
        rest = last**2 * (-scale * last * last).exp() * 2 / (1 - fall) ** 3
        return total + flint.arb(0, rest)


@lru_cache(maxsize=64)
def discrete_gaussian(ratio: Fraction, delta: Fraction) -> DiscreteGaussian:
    """Return the discrete Gaussian with the least variance that keeps (ε,δ), rounded up to four digits.

    Parameters
    ----------
    ratio, delta : Fraction
        Above 1, and above 0.

    Returns
    -------
    DiscreteGaussian
        Its δ at this ε, worked out as a sum, is at most `delta`.

    References
    ----------
    [Canonne2020], Theorem 7.
    """
    low, high = Fraction(1, 16), Fraction(1)
    while DiscreteGaussian(high).delta(ratio).upper > delta:
        low, high = high, 4 * high
        if high > _WIDEST**2:
            raise BadInput("epsilon", f"needs a discrete Gaussian wider than {_WIDEST:,}", "choose a larger epsilon")
    while high - low > high / 100_000:
        middle = (low + high) / 2
        if DiscreteGaussian(middle).delta(ratio).upper > delta:
            low = middle
        else:
            high = middle
    variance = _four_digits_above(high)
    while DiscreteGaussian(variance).delta(ratio).upper > delta:
        variance = _four_digits_above(variance * (1 + Fraction(1, 2_000)))
    return DiscreteGaussian(variance)


def _four_digits_above(value: Fraction) -> Fraction:
    unit = Fraction(10) ** (len(str(int(value))) - 4) if value >= 1 else Fraction(1, 10**4)
    return -(-value // unit) * unit


# `count`: noise for a number of records, this library's and others'.

_MOST_COUNTS = 2_000

_UNIVERSAL = (
    "read well, no private mechanism{without} on counts 0..n loses less, for any n and any loss that never falls on"
    " either side of the true count"
)

_ABSOLUTE = Objective("absolute", "mean size of the error", "records")
_SQUARED = Objective("squared", "mean square of the error", "records²")
_MISS = Objective("wrong", "probability that the count is not the true one", "probability")

_WHY = "a record moves the count by 1, whatever the relation: the scale is 1/ε"


@dataclass(frozen=True, slots=True)
class _Universal(BaselineNoise):
    """This library's noise for ε and δ, rounded to whole numbers."""

    made: UniversalDistribution

    name = "universal noise for ε and δ"

    def tail(self, least: int) -> Enclosure:
        """Return P(Z ≥ least)."""
        below = self.made.below(least * self.made.atoms_per_unit)
        return Enclosure(1 - below.upper, 1 - below.lower)

    def miss(self) -> Enclosure:
        """Return the probability that the noise is not 0."""
        within = [self.made.enclose(cell) for cell in range(self.made.atoms_per_unit)]
        low, high = (sum((getattr(one, end) for one in within), start=Fraction(0)) for end in ("lower", "upper"))
        return Enclosure(1 - high, 1 - low)

    def mean(self, power: int) -> Enclosure:
        """Return the mean of |Z|^power."""
        return self.made.expected("absolute" if power == 1 else "squared")


def compare_counts(asked: ComparisonParameters) -> Comparison:
    """Compare by how much noisy counts are off."""
    if asked.words:
        raise BadInput("count", "takes no condition here", "leave it out: no data is read")
    privacy, n = asked.privacy, asked.records
    if n is not None and n > _MOST_COUNTS:
        raise BadInput("n", f"must be at most {_MOST_COUNTS:,} for a mean over counts", "give a smaller n, or none")
    ratio, delta, notes = privacy.ratio, privacy.delta, []
    climbs = "it climbs from one count to the next as fast as {} allow"
    ours: dict[str, Any] = {"ours": True, "runs_at": "ε a record", "why": climbs.format("ε") + "s"}
    contenders: list[tuple[dict[str, Any], BaselineNoise]] = [
        (
            ours | {"name": "geometric noise", "scope": _UNIVERSAL.format(without=" without δ" if delta else "")},
            GeometricCount(ratio),
        )
    ]
    if delta > 0:
        made = law("universal", privacy)
        assert isinstance(made, UniversalDistribution)
        universal = _Universal(made)
        contenders.append(
            (
                {
                    "name": universal.name,
                    "ours": True,
                    "runs_at": "ε and δ a record",
                    "why": climbs.format("ε and δ"),
                    "scope": _UNIVERSAL.format(without=""),
                },
                universal,
            )
        )
    for peer in (RoundedStaircase(ratio), RoundedLaplace(ratio)):
        contenders.append(({"name": peer.name, "runs_at": "ε a record", "why": _WHY}, peer))
    if delta > 0:
        gaussian = discrete_gaussian(ratio, delta)
        words = {
            "name": gaussian.name,
            "runs_at": f"σ² = {float(gaussian.variance):.4g}",
            "why": "the least variance whose exact δ at this ε is at most the δ asked for, rounded up to four digits",
        }
        contenders.append((words, gaussian))
        notes.append("δ is used by universal and by Gaussian noise; the others keep ε alone")
    else:
        notes.append("discrete Gaussian noise needs a δ above 0")
    columns = {
        _ABSOLUTE: [one.mean(1) for _, one in contenders],
        _SQUARED: [one.mean(2) for _, one in contenders],
        _MISS: [one.miss() for _, one in contenders],
    }
    if n is not None:
        clamped = f"mean size of the error, clamped to 0..{n:,}, over counts 0 to {n:,}, each alike"
        columns[Objective("clamped", clamped, "records")] = [one.clamped(n) for _, one in contenders]
    return Comparison.of("count", {"n": n}, asked, [words for words, _ in contenders], columns, notes)
