"""How one consumer reads counts with other than geometric noise: from their cells, or from whole numbers.

A cell says all that its release says, and read well it serves every reader as well as any mechanism under the same
guarantee could. A whole number pools the cells of a unit, so it may say a little less (proofs/shape-noise.md).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import numpy as np

from .._exact import dyadic_above, dyadic_below, log_near
from ..consumers import Consumer, Loss, Tail, optimal_reading
from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Mechanism
from ..noise import UniversalDistribution
from ..privacy import Gaussian
from ._published_counts import Ends, NoisyCount, OtherNoisyCount, mechanism_of_noise, noise_of, outputs_of, slack
from ._remap import (
    BoundedRemap,
    Posterior,
    Remap,
    UnboundedRemap,
    bounded_rule,
    renumbered,
    unbounded_rule,
    whole_value,
)

# The best reading of a noisy count that may be anything, where the noise is that of a shape of privacy.
#
# Far from the least count all places look alike. The optimal post-processing moves the unit's whole number by one and
# the same s_k for all cells of the k-th kind in their unit, each kind by itself. What all shifts cost is one product
# of polynomials in whole numbers, rounded down and up (proofs/unbounded-counts.md, "Cells").

_BITS = 160
_ONE = 1 << _BITS
_SPARE = Fraction(1, _ONE << 16)
_LEFT_OUT = 130
"""Bits below which the mass beyond is summed as a series."""
_SHORT = 128
_FARTHEST = 1 << 15
"""Units on each side beyond which no shift is looked for."""


@dataclass(frozen=True, slots=True)
class Shifts:
    """By how much each kind of cell is best moved, and bounds on what that costs a reader of a count without a largest.

    Attributes
    ----------
    shifts : tuple of int
        One for each cell of a unit, or a single one for whole numbers.
    value, lower_bound : Fraction
        What it costs at most, and what no reading costs less than.
    face_value : Fraction
        Largest expected loss if the whole number is used unchanged.
    span : int
        How many units the noise reaches over.
    """

    shifts: tuple[int, ...]
    value: Fraction
    lower_bound: Fraction
    face_value: Fraction
    span: int


def best_shifts(noise: UniversalDistribution, loss: Loss, *, in_cells: bool) -> Shifts:
    """Return how a minimax reader of a count without a largest reads its cell, or the whole number that it is in.

    Raises
    ------
    BadInput
        For a table of losses, and where noise reaches so far that shifts cannot be compared.
    """
    if loss.low is None or loss.high is None:
        raise BadInput("loss", "is a table, which needs a largest count", "give at_most")
    first, last, low, high = _masses(noise)
    if not in_cells:
        low, high = ([[sum(line) for line in zip(*kind, strict=True)]] for kind in (low, high))
    reach = last - first
    unit = math.lcm(*(part.denominator for tail in (loss.low, loss.high) for part in _parts(tail)))
    costs = flint.fmpz_poly([int(_loss(loss, error) * unit) for error in range(-reach, reach + 1)])
    shifts, value, bound, face = [], Fraction(0), Fraction(0), Fraction(0)
    for least, most in zip(low, high, strict=True):
        # Coefficient last + reach + s of the product is Σ_q mass(q)·loss(q + s).
        at_least, at_most = (flint.fmpz_poly(part[::-1]) * costs for part in (least, most))
        tried = range(-last, -first + 1)
        best = min(tried, key=lambda s: (at_most[last + reach + s], abs(s)))
        shifts.append(best)
        bound += Fraction(min(int(at_least[last + reach + s]) for s in tried), _ONE * unit)
        value += Fraction(int(at_most[last + reach + best]), _ONE * unit) + _beyond(
            noise, loss, most, first, last, best
        )
        face += Fraction(int(at_most[last + reach]), _ONE * unit) + _beyond(noise, loss, most, first, last, 0)
    return Shifts(tuple(shifts), _short(value, up=True), _short(bound, up=False), _short(face, up=True), reach)


@lru_cache(maxsize=16)
def _masses(noise: UniversalDistribution) -> tuple[int, int, list[list[int]], list[list[int]]]:
    """Return the first and the last unit, and for each kind of cell its masses there, rounded down and up."""
    size = noise.atoms_per_unit
    first, last = (place // size for place in noise.support or (-size * _reach(noise), size * _reach(noise)))
    if last - first > 2 * _FARTHEST:
        rule = "is needed: this noise reaches very far"
        raise BadInput("at_most", rule, "give at_most=")
    cuts = [noise.below(place, width=_SPARE) for place in range(first * size, (last + 1) * size + 1)]
    down, up = [math.floor(cut.lower * _ONE) for cut in cuts], [math.ceil(cut.upper * _ONE) for cut in cuts]
    number = range(len(cuts) - 1)
    low = [max(0, down[place + 1] - up[place]) for place in number]
    high = [max(0, up[place + 1] - down[place]) for place in number]
    return first, last, [low[kind::size] for kind in range(size)], [high[kind::size] for kind in range(size)]


def _reach(noise: UniversalDistribution) -> int:
    """Return how many units of noise without an end are summed one by one: beyond all kinks and nearly all mass."""
    return noise.cells.reach + math.ceil(_LEFT_OUT * math.log(2) / log_near(noise.privacy.pairs[0].ratio))


def _beyond(
    noise: UniversalDistribution, loss: Loss, masses: Sequence[int], first: int, last: int, shift: int
) -> Fraction:
    """Bound what noise without an end costs beyond the units that were summed: masses fall by 1/r from unit to unit."""
    if noise.support is not None:
        return Fraction(0)
    assert loss.low is not None and loss.high is not None
    alpha = 1 / noise.privacy.pairs[0].ratio
    right = masses[-1] * _series(loss.high, last + shift, alpha)
    left = masses[0] * _series(loss.low, -first - shift, alpha)
    return (right + left) / _ONE


def _series(tail: Tail, start: int, alpha: Fraction) -> Fraction:
    """Bound Σ_{k ≥ 1} α^k·tail(start + k) from above by jump + slope·e + curvature·e², for a start ≥ 0."""
    none, one, two = alpha / (1 - alpha), alpha / (1 - alpha) ** 2, alpha * (1 + alpha) / (1 - alpha) ** 3
    return (
        (tail.jump + tail.slope * start + tail.curvature * start**2) * none
        + (tail.slope + 2 * tail.curvature * start) * one
        + tail.curvature * two
    )


def _short(value: Fraction, *, up: bool) -> Fraction:
    return (dyadic_above if up else dyadic_below)(value, _SHORT) if value > 0 else value


def _loss(loss: Loss, error: int) -> Fraction:
    return loss.at(0, error)


def _parts(tail: Tail) -> tuple[Fraction, ...]:
    return tail.jump, tail.slope, tail.curvature


_WIDTH = Fraction(1, 1 << 80)
_NEGLIGIBLE = 1e-18
"""Chances below which a count is left out of a posterior of noise without an end."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ShiftedRule(Remap):
    """The best reading of a count without a largest, or with a very large one: every kind of cell has its shift.

    Answers are put between the least and the largest count, which brings them no further from any truth.

    References
    ----------
    proofs/unbounded-counts.md, "Cells".
    """

    noise: UniversalDistribution
    in_cells: bool
    least: int
    most: int | None
    best: Shifts

    @property
    def face_value(self) -> Fraction:
        """Largest expected loss if the published value is used unchanged."""
        return self.best.face_value

    @property
    def universal(self) -> bool:
        """Whether no mechanism under the release's guarantee would serve the consumer better: where cells are read."""
        return self.in_cells

    @property
    def possible(self) -> tuple[int, int | None]:
        """The least and the largest count deemed possible, if there is a largest."""
        return self.least, self.most

    def released(self, value: Any) -> Hashable:
        """Return a published value, or a cell; refuse what is no whole number."""
        return whole_value(value)

    def at(self, value: Hashable) -> tuple[tuple[int, Fraction], ...]:
        """Return the answer to a published value, or to a cell: there is one."""
        assert isinstance(value, int)
        unit, kind = divmod(value, len(self.best.shifts))
        answer = max(unit + self.best.shifts[kind], self.least)
        return ((answer if self.most is None else min(answer, self.most), Fraction(1)),)

    def posterior(self, value: Hashable) -> Posterior:
        """Return the probabilities of the counts given a published value, or a cell, if all are alike before."""
        assert isinstance(value, int)
        size = self.noise.atoms_per_unit
        # From this cell on, so many of them, is what was published.
        start, width = (value, 1) if self.in_cells else (value * size, size)
        middle, reach = start // size, self.best.span + 2
        low, high = max(self.least, middle - reach), middle + reach
        high = high if self.most is None else min(high, self.most)
        if low > high:  # it lies beyond all that is possible
            low = high = self.least if middle < self.least else high
        below = self.noise.below
        chances = [
            float(below(place + width, width=_WIDTH)) - float(below(place, width=_WIDTH))
            for place in (start - count * size for count in range(low, high + 1))
        ]
        weights = np.array([chance if chance > _NEGLIGIBLE else 0.0 for chance in chances])
        if not weights.any():
            weights[0 if middle <= low else -1] = 1.0
        return Posterior(low, weights / weights.sum(), "all possible counts equally likely")


Rule = BoundedRemap | UnboundedRemap | ShiftedRule


def rule_with_ends(
    deployed: NoisyCount | OtherNoisyCount | Mechanism | FactoredMechanism, ends: Ends, consumer: Consumer
) -> Rule:
    """Find a consumer's best reading of a release whose counts have a largest one, whatever its noise."""
    if not isinstance(deployed, OtherNoisyCount):
        return bounded_rule(deployed, ends, consumer)
    counts = consumer.considered
    if ends is not None and not ends[0] <= counts[0] <= counts[-1] <= ends[1]:
        raise BadInput("side_information", f"must lie from {ends[0]} to {ends[1]}", "leave out other counts")
    wide = _wide_rule(deployed, ends, consumer)
    return _matrix_rule(deployed, ends, consumer) if wide is None else wide


def rule_without_end(deployed: NoisyCount | OtherNoisyCount, loss: Loss, least: int) -> Rule:
    """Find a minimax consumer's best reading of a count that may be arbitrarily large."""
    if not isinstance(deployed, OtherNoisyCount):
        return unbounded_rule(deployed.privacy, loss, least)
    noise = noise_of(deployed.guarantee)
    if not isinstance(noise, UniversalDistribution):
        rule = "is needed: counts with this noise are read among finitely many"
        raise BadInput("at_most", rule, "give at_most=")
    in_cells = deployed.cells is not None
    best = best_shifts(noise, loss, in_cells=in_cells)
    return ShiftedRule(noise=noise, in_cells=in_cells, least=least, most=None, best=best)


def shown_in_cells(deployed: OtherNoisyCount, values: Sequence[Any], *, as_drawn: bool) -> list[int]:
    """Return the whole numbers that cells are shown as; refuse answers that are others, unless cells are all there is.

    Raises
    ------
    BadInput
        Where the answers beside the cells are not those that they were shown as: rows moved, or came from elsewhere.
    """
    noise, cells = noise_of(deployed.guarantee), deployed.cells or ()
    assert isinstance(noise, UniversalDistribution)
    shown = noise.whole(list(cells)).tolist() if cells else []
    if len(deployed.ends) in (1, len(shown)):
        ends = [deployed.ends_of(row) for row in range(len(shown))]
        shown = [z if end is None else min(max(z, end[0]), end[1]) for z, end in zip(shown, ends, strict=True)]
    if not as_drawn and shown != list(values):
        rule = "says in which cells answers lie, and they are not the answers beside it, in the same order"
        raise BadInput("release", rule, "give the files as publish wrote them, or the answers alone, as a frame")
    return shown


def _matrix_rule(deployed: OtherNoisyCount, ends: Ends, consumer: Consumer) -> BoundedRemap:
    """Read finitely many counts, as a matrix; its rounding widens value and bound."""
    counts, in_cells = consumer.considered, deployed.cells is not None
    table = consumer.loss.entries is not None  # which fixes how counts are numbered
    first, last = (0, consumer.n) if table else (counts[0], counts[-1])
    made = mechanism_of_noise(deployed.guarantee, first, last, ends, in_cells=in_cells)
    reader = consumer if table else renumbered(consumer, first, last)
    remap, wide = optimal_reading(made, reader), slack(made, reader)
    remap = replace(remap, value=remap.value + wide, lower_bound=remap.lower_bound - wide)
    low, high = made.outputs[0], made.outputs[-1]
    assert isinstance(low, int)
    assert isinstance(high, int)
    gaussian = deployed.guarantee if isinstance(deployed.guarantee, Gaussian) and ends is None else None
    return BoundedRemap(
        deployed=made,
        first=first,
        ends=None if in_cells else ends,
        best=remap,
        face_value=_face_value(deployed, ends, consumer),
        window=(low - first, high - first),
        gaussian=gaussian,
        serves_all=in_cells,
    )


def _face_value(deployed: OtherNoisyCount, ends: Ends, consumer: Consumer) -> Fraction | None:
    """Return what taking the whole number as it is costs at most; None where that is not worked out."""
    noise = noise_of(deployed.guarantee)
    if ends is not None or consumer.loss.entries is not None or not isinstance(noise, UniversalDistribution):
        return None
    try:
        return best_shifts(noise, consumer.loss, in_cells=False).face_value
    except BadInput:  # the noise reaches too far for that
        return None


def _wide_rule(deployed: OtherNoisyCount, ends: Ends, consumer: Consumer) -> ShiftedRule | None:
    """Read too many possible counts for a matrix like a count without ends; None where that cannot be, or need not.

    The bound is that of a reader for whom all of them are equally likely, which only the cells count for that none but
    possible counts can have made.
    """
    counts, noise, in_cells = consumer.considered, noise_of(deployed.guarantee), deployed.cells is not None
    span = counts[-1] - counts[0]
    if outputs_of(deployed.guarantee, counts[0], counts[-1], ends, in_cells=in_cells) is not None:
        return None
    plain = consumer.prior is None and consumer.loss.entries is None and len(counts) > span
    if not plain or not isinstance(noise, UniversalDistribution) or (ends is not None and not in_cells):
        return None
    best = best_shifts(noise, consumer.loss, in_cells=in_cells)
    inner = max(Fraction(0), 1 - Fraction(best.span, span + 1))
    return ShiftedRule(
        noise=noise,
        in_cells=in_cells,
        least=counts[0],
        most=counts[-1],
        best=replace(best, lower_bound=best.lower_bound * inner),
    )
