"""What a published number about a sample says of the population that the sample was drawn from.

A simple random sample of n of N members, without replacement, holds S members with a property, where S is
hypergeometric. The published count is S with noise. The interval holds every number K of members in the population
under which neither so large nor so small a published count is less likely than half of the error probability; so it
covers the sampling error and the noise together. Means use a bound for values between two ends instead
(proofs/population.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._exact import integer, percent_below, rational, rational_text
from .._frames import Tabular
from .._hooks import Drawable
from .._measurements import HIGH, LOW, first_where
from .._release import ReleaseFile, read_confidence, rows_of
from ..errors import BadInput
from ._joint_request import ShownCounts, shown_counts
from ._published_counts import NoisyCount, OtherNoisyCount, noise_masses
from ._released import answers_beside, read_release, sidecar_beside, stated

if TYPE_CHECKING:
    import pyarrow

_LARGEST = 10**15
_FLOAT_ERROR = 1e-9
"""More than the floats of a tail are off by, and than the terms left out are in all."""
_STEPS = 200
"""Bisections of a mean: more than a double has bits."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PopulationEstimates(Tabular, Drawable):
    """Intervals for a population, from published numbers about a simple random sample of it.

    Parameters
    ----------
    kind : {"counts", "means"}
    columns : tuple of str
        The group columns and `published`; then for counts `low` and `high` (members of the population) and `share_low`
        and `share_high` (of the population), for means `low` and `high`.
    rows : list of tuple
    population, sample : int
        N and n.
    confidence : Fraction
        A lower bound of the interval's confidence, of each row by itself.
    """

    kind: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    population: int
    sample: int
    confidence: Fraction

    def describe(self) -> str:
        """Return one sentence that states what the intervals cover, and under which assumption."""
        which = "number of members" if self.kind == "counts" else "mean"
        return (
            f"if the {self.sample:,} are a simple random sample of the {self.population:,}, each interval covers the "
            f"{which} in the population with probability at least {percent_below(self.confidence)} %, over sampling "
            "and noise; it does not cover non-response, or people whom the sample could not reach"
        )

    def to_arrow(self) -> pyarrow.Table:
        """Return the rows as an Arrow table."""
        import pyarrow

        columns = list(map(list, zip(*self.rows, strict=True))) or [[]] * len(self.columns)
        return pyarrow.table(columns, names=list(self.columns))

    def to_documents(self) -> list[dict[str, Any]]:
        """Return one JSON-ready object per row."""
        more = {"population": self.population, "sample": self.sample, "confidence": rational_text(self.confidence)}
        return [dict(zip(self.columns, row, strict=True)) | more for row in self.rows]

    def __str__(self) -> str:
        """Show the rows and the sentence."""
        from .._frames import text_table

        return f"{text_table(list(self.columns), self.rows)}\n{self.describe()}"

    def _summary(self) -> str:
        return f"{len(self.rows)} {self.kind}; {self.describe()}"


def read_population(release: Any, value: Any, *, population: Any, sample: Any, confidence: Any) -> PopulationEstimates:
    """Read published counts, or means, of a simple random sample.

    Parameters
    ----------
    release, value
        As for `irisdp.interpret`.
    population : int
        N, the members of the population.
    sample : int, optional
        n, the records of the sample, where that is public; for a mean, at most so many as have a value. Where records
        are exchanged, the release file may state it.
    confidence : number, optional
        Confidence level. [default: 0.95] For means it must be below the level c of the published interval. [default:
        2c − 1]

    Raises
    ------
    BadInput
        For other releases, and numbers that do not fit.
    """
    members = integer(population, "population", at_least=1, at_most=_LARGEST)
    file = stated(release)
    if isinstance(file, ReleaseFile) and file.query.get("query") == "mean":
        if value is not None:
            raise BadInput("value", "cannot be read alone: a mean needs its interval", "leave it out")
        if file.by or file.query.get("expression"):
            rule = "is for the mean of a whole sample: how many records a group or a condition has is not known"
            raise BadInput("population", rule, "publish the mean without groups and condition, or a count")
        return _means(release, file, members, _sample(sample, members), confidence)
    if isinstance(file, ReleaseFile) and _counts_values(file):
        rule = "is not for numbers of different values, which do not grow with the population as a count does"
        raise BadInput("population", rule, "publish a count of records, or of persons")
    deployed = read_release(release)
    if not isinstance(deployed, NoisyCount | OtherNoisyCount):
        rule = "is for counts and means, and this release holds something else"
        raise BadInput("population", rule, "leave it out")
    if isinstance(deployed, OtherNoisyCount) and (deployed.named or deployed.shared):
        rule = "is not for counts that name their groups, or of several records of a person"
        raise BadInput("population", rule, "publish counts of declared groups, and of persons")
    if deployed.selected:
        raise BadInput("population", "is not for groups that were selected", "declare the groups with groups=")
    shown = shown_counts(deployed, release, value)
    size = _sample(_stated_sample(shown, sample), members)
    sure = read_confidence(confidence, alone=True)
    return _counts(shown, members, size, sure)


def _counts_values(file: ReleaseFile) -> bool:
    """Tell whether a release counts different values that are no persons."""
    asked = file.query
    return asked.get("query") == "count-distinct" and (file.unit is None or asked.get("column") != file.unit)


def _stated_sample(shown: ShownCounts, sample: Any) -> Any:
    """Return the size of the sample that the release states, where it is public; else what was given."""
    ends = None if shown.by else shown.ends_of(0)
    if ends is None:
        return sample
    if sample is not None and integer(sample, "sample", at_least=1, at_most=_LARGEST) != ends[1]:
        raise BadInput("sample", f"is {sample}, and the release is of {ends[1]:,}", "leave it out")
    return ends[1]


def _sample(sample: Any, members: int) -> int:
    if sample is None:
        rule = "is missing: how many records, or persons, the sample has, which the release does not state"
        raise BadInput("sample", rule, "give it if it is public, or publish under exchange, where it is")
    size = integer(sample, "sample", at_least=1, at_most=_LARGEST)
    if size > members:
        raise BadInput("population", f"must have at least as many members as the sample, {size}", "check both numbers")
    return size


def _counts(shown: ShownCounts, members: int, size: int, sure: Fraction) -> PopulationEstimates:
    assert isinstance(shown.deployed, NoisyCount | OtherNoisyCount)
    noise = noise_masses(shown.deployed)
    if noise is None:
        raise BadInput("population", "needs noise of at most 65,536 to either side", "publish with a larger epsilon")
    wrong = float((1 - sure) / 2)
    rows = []
    for key, published in zip(shown.keys, shown.values, strict=True):
        low, high = count_in_population(int(str(published)), members, size, noise, wrong)
        rows.append((*key, published, low, high, low / members, high / members))
    columns = (*shown.by, "published", "low", "high", "share_low", "share_high")
    return PopulationEstimates(
        kind="counts", columns=columns, rows=rows, population=members, sample=size, confidence=sure
    )


def count_in_population(
    published: int, members: int, size: int, noise: Sequence[float], wrong: float
) -> tuple[int, int]:
    """Return ends of K, the members with a property, from a noisy count of them in a sample.

    Parameters
    ----------
    published : int
        As it was shown, between 0 and the size of the sample or as it was drawn.
    members, size : int
        N and n.
    noise : sequence of float
        P(Z = −m), …, P(Z = m), which are alike on both sides.
    wrong : float
        The probability that K is below the interval, and that it is above.

    Examples
    --------
    >>> count_in_population(60, 100, 100, [1.0], 0.025), count_in_population(60, 10**9, 100, [1.0], 0.025)
    ((60, 60), (497209155, 696705227))
    """
    masses = np.asarray(noise)
    beyond = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])  # P(Z ≥ −m), …, P(Z ≥ m + 1)

    def least(answer: int) -> int:
        """Return the least K under which as large a count is likely enough."""
        if answer <= 0:  # what is below 0 is shown as 0
            return 0
        return first_where(lambda k: k >= members or _at_least(answer, k, members, size, beyond) > wrong)

    low = least(published)
    return low, max(low, members - least(size - published))  # the members without the property, whose noise is −Z


def _at_least(answer: int, inside: int, members: int, size: int, beyond: NDArray[np.float64]) -> float:
    """Bound P(S + Z ≥ answer) from above, if `inside` of the members have the property."""
    first, chances = _hypergeometric(inside, members, size)
    reach = (len(beyond) - 2) // 2
    needed = answer - first - np.arange(len(chances)) + reach
    return float(chances @ beyond[np.clip(needed, 0, len(beyond) - 1)]) + _FLOAT_ERROR


@lru_cache(maxsize=4096)
def _hypergeometric(inside: int, members: int, size: int) -> tuple[int, NDArray[np.float64]]:
    """Return the first of the outcomes within 12 deviations and 40 of the mode, and the probability of each."""
    lowest, highest = max(0, size - (members - inside)), min(size, inside)
    share = inside / members
    spread = math.sqrt(max(size * share * (1 - share) * (members - size) / max(members - 1, 1), 0.0))
    mode = min(highest, max(lowest, (size + 1) * (inside + 1) // (members + 2)))
    reach = int(12 * spread + 40)
    low, high = max(lowest, mode - reach), min(highest, mode + reach)
    others = members - inside - size
    up = np.arange(mode, high, dtype=np.float64)
    down = np.arange(mode, low, -1, dtype=np.float64)
    rising = np.cumprod((inside - up) * (size - up) / ((up + 1) * (others + up + 1)))
    sinking = np.cumprod(down * (others + down) / ((inside - down + 1) * (size - down + 1)))
    weights = np.concatenate([sinking[::-1], [1.0], rising])
    return low, weights / weights.sum()


# Means of values between two bounds.


def _means(release: Any, file: ReleaseFile, members: int, size: int, confidence: Any) -> PopulationEstimates:
    published = file.confidence
    lower, upper = (rational(file.stored.get(name), "release") for name in ("lower", "upper"))
    if published is None or lower >= upper:
        raise BadInput("release", "states no interval of its means", "give the files that publish wrote")
    sure = 2 * published - 1 if confidence is None else read_confidence(confidence, alone=True)
    if not 0 < sure < published:
        rule = f"must be below {rational_text(published)}, the confidence of the published interval"
        wider = rational_text((1 + sure) / 2) if sure < 1 else "0.99"
        remedy = f"publish the mean again with confidence={wider}, which is free, and interpret that"
        raise BadInput("confidence", rule, remedy)
    names, listed = _published_rows(release)
    places = [names.index(name) if name in names else None for name in ("answer", LOW, HIGH)]
    if None in places:
        raise BadInput("release", "has answers without an interval", "give the files that publish wrote")
    answer, low, high = (place for place in places if place is not None)
    wrong = float((published - sure) / 2)
    rows = []
    for row in listed:
        ends = mean_in_population(float(row[low]), float(row[high]), float(lower), float(upper), size, wrong)
        rows.append((*row[:answer], float(row[answer]), *ends))
    columns = (*names[:answer], "published", "low", "high")
    return PopulationEstimates(
        kind="means", columns=columns, rows=rows, population=members, sample=size, confidence=sure
    )


def _published_rows(release: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    table = getattr(release, "to_arrow", None)
    if table is not None:
        arrow = table()
        return arrow.column_names, list(zip(*(column.to_pylist() for column in arrow.columns), strict=True))
    names, rows = rows_of(answers_beside(sidecar_beside(release)))
    return list(names), [tuple(row) for row in rows]


def mean_in_population(
    low: float, high: float, lower: float, upper: float, size: int, wrong: float
) -> tuple[float, float]:
    """Return ends of a population's mean, from ends of a sample's mean.

    By Hoeffding's inequality a sample of n values between 0 and 1 has a mean of m or more, where the population's is
    μ < m, with probability at most exp(−n·D(m, μ)), with D the relative entropy of two coins; also without replacement
    [Hoeffding1963].

    Examples
    --------
    >>> [round(end, 3) for end in mean_in_population(0.5, 0.5, 0, 1, 1000, 0.025)]
    [0.457, 0.543]
    """
    span = upper - lower
    below, above = (min(1.0, max(0.0, (end - lower) / span)) for end in (low, high))
    enough = math.log(1 / wrong) / size

    def least(mean: float) -> float:
        """Return the least mean of a population under which so large a mean of the sample is likely enough."""
        left, right = 0.0, mean
        for _ in range(_STEPS):
            middle = (left + right) / 2
            left, right = (middle, right) if _entropy(mean, middle) > enough else (left, middle)
        return left

    return lower + span * least(below) * (1 - 1e-12), lower + span * (1 - least(1 - above) * (1 - 1e-12))


def _entropy(mean: float, other: float) -> float:
    """Return the relative entropy of a coin with one probability and a coin with another."""
    if other <= 0:
        return 0.0 if mean <= 0 else math.inf
    if other >= 1:
        return 0.0 if mean >= 1 else math.inf
    first = mean * math.log(mean / other) if mean > 0 else 0.0
    second = (1 - mean) * math.log((1 - mean) / (1 - other)) if mean < 1 else 0.0
    return first + second
