"""Several quantiles of one column at one charge: each is read off the same noisy counts of the bins.

A record is in one bin, so noise on the counts of all bins costs what noise on one costs, and as many quantiles as
anyone likes follow from them. Each bin's count could be published as well (`histogram`): the quantiles say less.

With C_j records up to bin j of n records, and p the quantile, let D_j = C_j − p·n. The right bin is the first with
D_j ≥ 0. In noisy counts D_j gets (1 − p) times the noise of the bins up to j, less p times that of the later ones
(proofs/several-quantiles.md).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, rational_text
from .._sampling import BitSource, add_geometric
from ..mechanisms import geometric_row
from ..privacy import Privacy
from .confidence import least_distance, promised
from .protocol import FIRST, LAST, ChainLink, ConfidenceStatement, records
from .quantiles import BinNodes, edges_beside
from .registry import MeasurementKind

Integers = NDArray[np.int64]
_LIKELY = Fraction(19, 20)

# The tails of the noise in D_j: of a weighted sum of two sums of geometric noises, in floats that never say too little.

_LOST = 1e-12
"""More than floats, and what lies beyond the arrays below, change in a probability."""
_LONGEST = 1 << 19
"""Of those arrays; where the noise is wider, a bound of its tail is taken."""


@dataclass(frozen=True, slots=True)
class RankNoise:
    """The noise of D_j, times the denominator b of p = a/b: (b − a)·A − a·B, a whole number.

    Parameters
    ----------
    ratio : Fraction
        1/α of the noise of each count.
    bins : int
    share : Fraction
        p.
    """

    ratio: Fraction
    bins: int
    share: Fraction

    def beyond(self, upto: int, distance: int) -> float:
        """Return a bound of the probability that the noise of D_j is above a distance ≥ 0; j = `upto` from 1.

        It is as probable that the noise is below minus that distance.
        """
        a, b = self.share.numerator, self.share.denominator
        first, second = _sum_of(self.ratio, upto), _sum_of(self.ratio, self.bins - upto)
        if first is None or second is None:
            return self._bounded(upto, distance)
        if b == a:
            return min(second.above(distance // a) + _LOST, 1.0)
        if distance > (b - a) * first.reach + a * second.reach:
            return _LOST
        places = np.arange(-second.reach, second.reach + 1)
        needed = (distance + a * places) // (b - a)  # A must be above it
        return min(float(second.masses @ first.all_above(needed)) + _LOST, 1.0)

    def _bounded(self, upto: int, distance: int) -> float:
        """Return Chernoff's bound: the least over some rates of the moment that it needs."""
        a, b = float(self.share), float(self.share.denominator)
        alpha, far = 1 / float(self.ratio), distance / b
        if alpha >= 1:
            return 1.0
        fastest = -math.log(alpha) / max(a, 1 - a)
        best = 1.0
        for part in range(1, 64):
            rate = fastest * part / 64
            moments = upto * _log_moment(alpha, rate * (1 - a)) + (self.bins - upto) * _log_moment(alpha, rate * a)
            best = min(best, math.exp(min(moments - rate * far, 0.0)))
        return best


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """A sum of geometric noises: its probabilities from −reach to reach, and those of being above each of these."""

    reach: int
    masses: NDArray[np.float64]
    tails: NDArray[np.float64]

    def above(self, place: int) -> float:
        """Return the probability of more than a number."""
        return float(self.all_above(np.array([place]))[0])

    def all_above(self, places: Integers) -> NDArray[np.float64]:
        """Return the probabilities of more than each of some numbers."""
        within = np.clip(places, -self.reach - 1, self.reach) + self.reach + 1
        found: NDArray[np.float64] = self.tails[within]
        return found


@lru_cache(maxsize=256)
def _sum_of(ratio: Fraction, number: int) -> _Sum | None:
    """Return the distribution of a sum of so many noises, by its characteristic function; None if it is too wide."""
    if number == 0:
        return _Sum(0, np.ones(1), np.array([1.0, 0.0]))
    alpha = max(float(1 / ratio), sys.float_info.min)  # with a larger one, the noise reaches further
    reach = _reach(alpha, number)
    if reach is None:
        return None
    size = 1 << (2 * reach + 1).bit_length()
    turns = np.cos(2 * np.pi * np.arange(size) / size)
    spectrum = ((1 - alpha) ** 2 / (1 - 2 * alpha * turns + alpha**2)) ** number
    wrapped = np.maximum(np.fft.ifft(spectrum).real, 0)
    masses = np.concatenate([wrapped[-reach:], wrapped[: reach + 1]])
    tails = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
    return _Sum(reach, masses, np.minimum(tails, 1.0))


def _reach(alpha: float, number: int) -> int | None:
    """Return how far a sum of noises reaches but for far less than `_LOST`, by Chernoff's bound."""
    if alpha >= 1:
        return None
    best = math.inf
    for part in range(1, 32):
        rate = -math.log(alpha) * part / 32
        best = min(best, (number * _log_moment(alpha, rate) - math.log(_LOST / 100)) / rate)
    return None if best > _LONGEST else math.ceil(best) + 1


def _log_moment(alpha: float, rate: float) -> float:
    """Return log E e^(rate·Z) of geometric noise."""
    up, down = alpha * math.exp(rate), alpha * math.exp(-rate)
    return math.inf if up >= 1 else 2 * math.log1p(-alpha) - math.log1p(-up) - math.log1p(-down)


@dataclass(frozen=True, slots=True)
class NoisyQuantiles:
    """Counts every bin with noise, and names the bin of each quantile.

    Parameters
    ----------
    noise : Privacy
        What the noise on each count keeps for a step of that count.
    privacy : Privacy
        What that comes to for a step on the cell's graph.
    shares : tuple of Fraction
        The quantiles, ascending.
    names : tuple of text
        The bins, in order.
    edges : tuple
        What lies between them.

    References
    ----------
    proofs/several-quantiles.md.
    """

    noise: Privacy
    privacy: Privacy
    shares: tuple[Fraction, ...]
    names: tuple[str, ...]
    edges: tuple[Any, ...]

    @property
    def chained(self) -> None:
        """None: such answers form no chain."""
        return

    def draw(self, nodes: BinNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None) -> Integers:
        """Draw the noisy counts of every cell; equally many random words whatever they are, but for ties."""
        return add_geometric(nodes.counts, self.noise, source=source)

    def show(self, drawn: list[Any], nodes: BinNodes) -> list[Any]:
        """Name the bin of every quantile; what is shown already stays."""
        return [counts if isinstance(counts[0], str) else self._named(counts) for counts in drawn]

    def ends(self, nodes: BinNodes) -> dict[str, Any]:
        """Return nothing: names have no ends."""
        return {}

    def law(self, nodes: BinNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the law of the noisy counts, lumped as those of counts are; `show` names bins."""
        rows = [geometric_row(int(count), largest, self.noise.ratio) for count in nodes.counts[cell]]
        return {
            tuple(place for place, _ in parts): math.prod((chance for _, chance in parts), start=Fraction(1))
            for parts in product(*(enumerate(row) for row in rows))
        }

    def expected_error(self) -> dict[str, Any]:
        """Return how many records a quantile's rank and the named bin are apart, in 95 % and 99 % of cases."""
        return {f"apart_within_{percent}_percent": least_distance(self, Fraction(percent, 100)) for percent in (95, 99)}

    def chance_within(self, distance: int) -> Enclosure:
        """Bound the chance that a named bin is at most so many records from the quantile's rank, whatever the data.

        It is where no D_j has noise beyond the distance: a union bound over the bins.
        """
        chance = min(self._kept(share, distance) for share in self.shares)
        return Enclosure(Fraction(max(chance, 0.0)), Fraction(1))

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: BinNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the edges of the bins, and the first and the last bin that the noisy counts leave possible."""
        columns: dict[str, list[Any]] = edges_beside(shown, self.names, self.edges)
        ends = [[self._possible(counts, index, confidence) for index in range(len(self.shares))] for counts in drawn]
        for place, name in enumerate((FIRST, LAST)):
            columns[name] = [[self.names[each[place]] for each in entries] for entries in ends]
        return ConfidenceStatement(columns, promised(confidence), confidence)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        likely, sure = (error[f"apart_within_{percent}_percent"] for percent in (95, 99))
        if likely is None:
            return "pure noise"
        text = f"for any data, a published bin is at most {records(likely)} from its quantile's rank in 95 % of cases"
        return text + ("" if sure is None else f", {records(sure)} in 99 %")

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {
            "kind": MeasurementKind.NOISY_QUANTILES.value,
            "quantiles": [rational_text(share) for share in self.shares],
            "bins": list(self.names),
        }

    def _noisy(self, counts: Sequence[int], share: Fraction) -> list[int]:
        """Return the noisy D_j times the denominator of p, for all bins but the last; n is at least 0."""
        a, b = share.numerator, share.denominator
        total = max(sum(counts), 0)
        sums, result = 0, []
        for count in counts[:-1]:
            sums += count
            result.append(b * sums - a * total)
        return result

    def _named(self, counts: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.names[self._place(counts, share)] for share in self.shares)

    def _place(self, counts: Sequence[int], share: Fraction) -> int:
        """Return as many bins as seem to end before the quantile: that never falls with p."""
        return sum(noisy < 0 for noisy in self._noisy(counts, share))

    def _possible(self, counts: Sequence[int], index: int, confidence: Fraction) -> tuple[int, int]:
        """Return the first and the last bin that may be right: others would take improbable noise."""
        share, wrong = self.shares[index], float(1 - confidence) / 2
        noise, total = RankNoise(self.noise.ratio, len(self.names), share), sum(counts)
        a, b = share.numerator, share.denominator
        possible, sums, begins = [], 0, True
        for place, count in enumerate(counts):
            sums += count
            apart = b * sums - a * total
            last = place == len(counts) - 1
            # Right, D_j is not below 0: a noisy one below it is noise beyond that.
            ends = last or apart >= 0 or noise.beyond(place + 1, -apart - 1) > wrong
            if begins and ends:
                possible.append(place)
            # The one before it is below 0: a noisy one from 0 on is noise beyond that.
            begins = last or apart < 0 or noise.beyond(place + 1, apart) > wrong
        shown = self._place(counts, share)
        return min([*possible, shown]), max([*possible, shown])

    def _kept(self, share: Fraction, distance: int) -> float:
        return 1 - _beyond(RankNoise(self.noise.ratio, len(self.names), share), distance)


@lru_cache(maxsize=4096)
def _beyond(noise: RankNoise, distance: int) -> float:
    """Return a bound of the probability that any D_j has noise beyond a distance, on either side.

    Where the noisy number of records is below 0 it is taken as 0: then the true number is below that noise.
    """
    scaled = distance * noise.share.denominator
    of_total = noise.beyond(0 if 2 * noise.share >= 1 else noise.bins, scaled)
    return of_total + sum(2 * noise.beyond(upto, scaled) for upto in range(1, noise.bins))
