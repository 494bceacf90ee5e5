"""Several releases of one count that add up to the most accurate of them and no more.

Unbounded two-sided geometric noise with α can be made coarser: G_β = T∘G_α for β ≥ α, where T keeps the value with
probability w = (α/β)·(1−β)²/(1−α)² and otherwise adds fresh noise with β. A chain of releases, each made from the one
before, tells any coalition no more than its most accurate member. `coarsen` takes a step down the chain; `refine` draws
a missing link, given the links on both sides, from exactly the law it has in the chain (proofs/audiences.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, ball, enclosure_of
from ..errors import BadInput
from ..privacy import Privacy
from .bits import BitSource, system_bits
from .geometric_noise import LARGEST_VALUE, add_geometric, one_sided_geometric
from .tables import draw_events, integers
from .thresholds import ThresholdTable, bracket_enclosed, open_cell, resolve

Integers = NDArray[np.int64]

PARTS = 5
"""Parts of a bridge."""


def kept_probability(accurate: Privacy, coarse: Privacy) -> Fraction:
    """Return w = (α/β)·(1−β)²/(1−α)², the probability that coarsening keeps a value; α = 1/ratio of `accurate`."""
    alpha, beta = 1 / accurate.ratio, 1 / coarse.ratio
    if alpha > beta:
        raise BadInput("audiences", "can only be made coarser in order", "go from larger to smaller epsilon")
    return Fraction(1) if alpha == beta else alpha / beta * (1 - beta) ** 2 / (1 - alpha) ** 2


def coarsen(values: Any, accurate: Privacy, coarse: Privacy, *, source: BitSource | None = None) -> Integers:
    """Make counts with noise of `accurate` into counts with noise of `coarse`, seeing nothing but them.

    Parameters
    ----------
    values : array of int
        Released counts, unbounded, in any shape.
    accurate, coarse : Privacy
        The ratio of `coarse` is at most that of `accurate`; δ is not used.

    Returns
    -------
    array of int64
        Each is its value with probability `kept_probability`, else its value plus fresh noise, exactly.

    References
    ----------
    [Gupte2010], Algorithm 1; docs/theory.md#counts; proofs/audiences.md.
    """
    bits = system_bits(source)
    numbers = integers(values, "values", at_least=-LARGEST_VALUE, at_most=LARGEST_VALUE)
    kept = draw_events([kept_probability(accurate, coarse)], np.zeros(numbers.shape, dtype=np.int64), source=bits)
    # Noise is drawn for every cell, kept or not: the work is the same.
    return np.where(kept, numbers, add_geometric(numbers, coarse, source=bits))


def refine(
    finer: Any,
    coarser: Any,
    target: Privacy,
    *,
    finer_privacy: Privacy | None,
    coarser_privacy: Privacy,
    source: BitSource | None = None,
) -> Integers:
    """Draw the link of a chain between two given ones, from its exact law given both.

    Parameters
    ----------
    finer : array of int
        The next more accurate link, or the true counts.
    coarser : array of int, the same shape
        The next coarser link, as it was released.
    target : Privacy
        Of the link to be drawn; its ratio lies between the two others'.
    finer_privacy : Privacy or None
        Of the finer link; None for the true counts.
    coarser_privacy : Privacy
        Of the coarser link.

    Returns
    -------
    array of int64, the same shape
        Together with what was released before, distributed as a chain that was drawn at once.

    Notes
    -----
    The law given both ends is a mixture of five simple ones (`Bridge`). Every cell draws the part, a geometric step and
    a step modulo the gap, whichever it then uses. Steps are cut off at 2^62, which they reach with probability below
    e^-4000.
    """
    bits = system_bits(source)
    start = integers(finer, "finer", at_least=-LARGEST_VALUE, at_most=LARGEST_VALUE)
    end = integers(coarser, "coarser", at_least=-LARGEST_VALUE, at_most=LARGEST_VALUE)
    if target.ratio == coarser_privacy.ratio:
        return end
    if finer_privacy is not None and target.ratio == finer_privacy.ratio:
        return start
    gaps = np.abs(end - start)
    parts = _draw_parts(gaps.ravel(), target, finer_privacy, coarser_privacy, bits).reshape(gaps.shape)
    beyond = one_sided_geometric(gaps.size, Privacy(ratio=target.ratio * coarser_privacy.ratio), source=bits)
    within = one_sided_geometric(gaps.size, Privacy(ratio=target.ratio / coarser_privacy.ratio), source=bits)
    beyond, within = beyond.reshape(gaps.shape), within.reshape(gaps.shape)
    # A geometric variable modulo d + 1 is the same one cut off at d.
    steps = np.choose(parts, [-1 - beyond, np.zeros_like(gaps), within % (gaps + 1), gaps, gaps + 1 + beyond])
    links: Integers = np.where(end >= start, start + steps, start - steps)
    return links


def _draw_parts(gaps: Integers, target: Privacy, finer: Privacy | None, coarser: Privacy, bits: BitSource) -> Integers:
    """Draw which part of its bridge each cell uses."""
    distinct, rows = np.unique(gaps, return_inverse=True)
    bridges = [Bridge.between(gap, target, finer, coarser) for gap in distinct.tolist()]
    cells = [[open_cell(*bridge.bracket(part, 64)) for part in range(1, PARTS)] for bridge in bridges]
    shaped = np.array(cells, dtype=np.uint64).reshape(len(bridges), PARTS - 1, 2)
    table = ThresholdTable.from_cells(shaped).at(bits.word_bits)
    words = bits.words(len(gaps))
    parts, ties = table.count_reached(words, rows)
    for tie in ties.tolist():
        parts[tie] = resolve(int(words[tie]), bridges[rows[tie]].bracket, bits, first=0, last=PARTS - 1)
    return parts


@dataclass(frozen=True, slots=True)
class Bridge:
    """The law of a link k = link − finer given d = coarser − finer ≥ 0, as a mixture of five parts.

    P(k) is proportional to A(k)·B(k) with A(k) = w·[k = 0] + a·γ^|k| and B(k) = v·[k = d] + b·β^|d−k|, where γ belongs
    to the link and β to the coarser one (from the true counts w = 0). In order the parts are: k < 0, geometric with γβ;
    k = 0 where the finer link was kept; 0 ≤ k ≤ d, geometric with γ/β cut off at d; k = d where the coarser link is
    kept; k > d, geometric with γβ.
    """

    gap: int
    gamma: Fraction
    beta: Fraction
    stay: Fraction
    leave: Fraction
    arrive: Fraction
    spread: Fraction

    @classmethod
    def between(cls, gap: int, target: Privacy, finer: Privacy | None, coarser: Privacy) -> Bridge:
        """Return the law for a gap d ≥ 0."""
        stay = Fraction(0) if finer is None else kept_probability(finer, target)
        arrive = kept_probability(target, coarser)
        gamma, beta = 1 / target.ratio, 1 / coarser.ratio
        leave = (1 - stay) * (1 - gamma) / (1 + gamma)
        spread = (1 - arrive) * (1 - beta) / (1 + beta)
        return cls(gap, gamma, beta, stay, leave, arrive, spread)

    def bracket(self, part: int, bits: int) -> tuple[int, int]:
        """Return integers around P(part number < part)·2^bits."""
        return bracket_enclosed(partial(self.enclose, part), bits)

    def enclose(self, part: int, width: Fraction) -> Enclosure:
        """Enclose P(part number < part), for 0 ≤ part ≤ 5."""
        return enclosure_of(lambda: self._weight(part) / self._weight(PARTS), width=width)

    def _weight(self, part: int) -> flint.arb:
        """Sum the weights of the parts before one."""
        gamma, beta, d = ball(self.gamma), ball(self.beta), self.gap
        outside, tilt = ball(self.gamma * self.beta / (1 - self.gamma * self.beta)), ball(self.gamma / self.beta)
        spread_out = ball(self.leave * self.spread)
        weights = [
            spread_out * beta**d * outside,
            ball(self.stay) * (ball(self.spread) * beta**d + (ball(self.arrive) if d == 0 else 0)),
            spread_out * beta**d * (1 - tilt ** (d + 1)) / (1 - tilt),
            ball(self.arrive * self.leave) * gamma**d,
            spread_out * gamma**d * outside,
        ]
        return sum(weights[:part], flint.arb(0))
