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

from ..errors import BadInput
from ..exact import Enclosure, ball, enclosure_of
from ..privacy import Privacy
from .bits import BitSource, system_bits
from .geometric import LARGEST_VALUE, add_geometric
from .inputs import integers
from .tables import draw_events
from .ties import bracket_enclosed, resolve

__all__ = ["Bridge", "coarsen", "kept_probability", "refine"]

Integers = NDArray[np.int64]


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
    Minimax-agents paper, Algorithm 1; theory §5; proofs/audiences.md.
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
    One word a cell, and arithmetic that depends on the distance of the two links: 10^4 cells take some seconds. Only
    the published numbers are exact; the time is not claimed to be the same for every cell.
    """
    if target.ratio == coarser_privacy.ratio:
        return integers(coarser, "coarser", at_least=-LARGEST_VALUE, at_most=LARGEST_VALUE)
    if finer_privacy is not None and target.ratio == finer_privacy.ratio:
        return integers(finer, "finer", at_least=-LARGEST_VALUE, at_most=LARGEST_VALUE)
    bits = system_bits(source)
    start = integers(finer, "finer", at_least=-LARGEST_VALUE, at_most=LARGEST_VALUE)
    outcome = integers(coarser, "coarser", at_least=-LARGEST_VALUE, at_most=LARGEST_VALUE)
    gaps = (outcome - start).ravel()
    words = bits.words(len(gaps))
    moved = np.empty(len(gaps), dtype=np.int64)
    for place, (gap, word) in enumerate(zip(gaps.tolist(), words.tolist(), strict=True)):
        bridge = Bridge.between(abs(gap), target, finer_privacy, coarser_privacy)
        step = resolve(word, bridge.bracket, bits, first=None, last=None)
        moved[place] = step if gap >= 0 else -step
    return start + moved.reshape(start.shape)


@dataclass(frozen=True, slots=True)
class Bridge:
    """The law of a link k = link − finer given d = coarser − finer ≥ 0.

    P(k) is proportional to A(k)·B(k) with A(k) = w·[k = 0] + a·γ^|k| and B(k) = v·[k = d] + b·β^|d−k|, where γ belongs
    to the link and β to the coarser one. From the true counts w = 0.
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
        return cls(
            gap,
            gamma,
            beta,
            stay,
            (1 - stay) * (1 - gamma) / (1 + gamma),
            arrive,
            (1 - arrive) * (1 - beta) / (1 + beta),
        )

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around P(k < outcome)·2^bits."""
        return bracket_enclosed(partial(self.enclose, outcome), bits)

    def enclose(self, outcome: int, width: Fraction) -> Enclosure:
        """Enclose P(k < outcome)."""
        return enclosure_of(lambda: self._below(outcome) / self._below(None), width=width)

    def _below(self, outcome: int | None) -> flint.arb:
        """Sum A(k)·B(k) over k < outcome, or over all k."""
        gamma, beta, d = ball(self.gamma), ball(self.beta), self.gap
        both, tilt = gamma * beta, gamma / beta
        total = flint.arb(0)
        # k = −j with j ≥ 1 and k < outcome, that is j > −outcome: β^d·(γβ)^j
        first = 1 if outcome is None or outcome > 0 else 1 - outcome
        total += beta**d * both**first / (1 - both)
        # 0 ≤ k ≤ d and k < outcome: β^d·(γ/β)^k
        count = d + 1 if outcome is None else min(max(outcome, 0), d + 1)
        total += beta**d * (1 - tilt**count) / (1 - tilt)
        # k = d + j with j ≥ 1 and k < outcome: γ^d·(γβ)^j
        if outcome is None:
            total += gamma**d * both / (1 - both)
        elif outcome > d + 1:
            total += gamma**d * both * (1 - both ** (outcome - d - 1)) / (1 - both)
        total *= ball(self.leave) * ball(self.spread)
        if outcome is None or outcome > 0:
            at_start = ball(self.spread) * beta**d + (ball(self.arrive) if d == 0 else 0)
            total += ball(self.stay) * at_start
        if outcome is None or outcome > d:
            total += ball(self.arrive) * ball(self.leave) * gamma**d
        return total
