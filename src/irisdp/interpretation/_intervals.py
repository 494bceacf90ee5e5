"""Between which counts the truth lies, beside each reading, and what that statement rests on.

For noise that is added to counts these are the intervals in published files. With the given confidence, over the noise,
the truth lies between the ends, whatever it is. What a reader knows is put in: ends that are moved to the nearest count
that is possible hold whenever they did, if what the reader knows is true. A reader with a prior gets a credible
interval under it. For a mechanism that was given as rows, the interval is credible under a uniform prior on all
possible counts.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

from .._measurements import GeometricNoise, assured_distance, named_ends
from ..mechanisms import FactoredMechanism, Mechanism
from ..noise import DEFAULT_WIDTH, UniversalDistribution
from ._published_counts import NoiseChances, NoisyCount, OtherNoisyCount, noise_of
from ._remap_other_noise import Rule

RESTS_ON = {
    "noise": "over the noise, whatever the truth is",
    "uniform": "if all possible counts were equally likely before",
    "prior": "under your prior",
    "known": "as it is public",
}
"""What an interval rests on, and how that is said."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Ends of a true count.

    Parameters
    ----------
    low, high : int
        The least and the largest count.
    basis : str
        One of `RESTS_ON`: whether it holds over the noise, for any truth, or given the answer, under a prior.
    """

    low: int
    high: int
    basis: str


def noise_distance(deployed: NoisyCount | OtherNoisyCount, confidence: Fraction) -> int | None:
    """Return the least distance that noise, in whole numbers, surely stays within so often; None for pure noise."""
    if isinstance(deployed, NoisyCount):
        return assured_distance(GeometricNoise(deployed.privacy), confidence)
    return assured_distance(NoiseChances(noise_of(deployed.guarantee), DEFAULT_WIDTH), confidence)


def interval_of(
    deployed: NoisyCount | OtherNoisyCount | Mechanism | FactoredMechanism,
    rule: Rule,
    published: Hashable,
    cell: int | None,
    confidence: Fraction,
    *,
    bayesian: bool,
) -> Interval:
    """Return the ends beside one reading.

    Parameters
    ----------
    deployed
        What made the answer.
    rule : Rule
        How it is read: it knows which counts are possible.
    published, cell
        The answer as it was shown, and the cell that it was drawn in, if that is known.
    confidence : Fraction
        How surely the truth lies between the ends.
    bayesian : bool
        Whether the reader has a prior.
    """
    if bayesian or not isinstance(deployed, NoisyCount | OtherNoisyCount):
        interval = rule.posterior(published if cell is None else cell).interval(float(confidence))
        return Interval(*interval, "prior" if bayesian else "uniform")
    assert isinstance(published, int)
    least, most = rule.possible
    if isinstance(deployed, OtherNoisyCount) and deployed.named:
        return put_between(*_named(deployed, published, cell, confidence), least, most)
    distance = noise_distance(deployed, confidence)
    if distance is None:  # pure noise, of counts that have ends
        return Interval(least, published if most is None else most, "noise")
    return put_between(published - distance, published + distance, least, most)


def put_between(low: int, high: int, least: int, most: int | None) -> Interval:
    """Move the ends of noise to the nearest counts that are possible."""
    low, high = max(low, least), max(high, least)
    return Interval(low, high, "noise") if most is None else Interval(min(low, most), min(high, most), "noise")


def _named(deployed: OtherNoisyCount, published: int, cell: int | None, confidence: Fraction) -> tuple[int, int]:
    """Allow for the group's being named; of a number without its cell, take all cells that are shown as it."""
    noise = noise_of(deployed.guarantee)
    assert isinstance(noise, UniversalDistribution)
    assert noise.support is not None
    last, size = noise.support[1], noise.atoms_per_unit
    found = named_ends(noise, last, split=deployed.split, confidence=confidence)
    if cell is not None:
        return found.of(cell)
    cells = range(published * size, (published + 1) * size)
    ends = [found.of(one) for one in cells if deployed.split or one > last] or [(0, 0)]
    return min(low for low, _ in ends), max(high for _, high in ends)
