"""Rows that are never listed: a `DepthMechanism` judged by its theorem, and again by enclosures of its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..errors import BadInput
from ..exact import Enclosure, checked
from ..mechanisms import INFINITE_DEPTH, DepthMechanism
from ..privacy import enclose_steps, hockey_stick

__all__ = ["DepthMechanismVerdict", "certify_depth_mechanism"]

SAMPLED_DEPTHS = (*range(8), 10**2, 10**4, 10**8, 10**12)
"""Depths whose rows are enclosed unless others are asked for."""

WIDTH = Fraction(1, 1 << 160)
"""Width of an enclosed prefix sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthMechanismVerdict:
    """What was found about a depth mechanism.

    Parameters
    ----------
    boundary_deltas : tuple of Fraction
        For every pair promised, the smallest δ at its ratio between the classes at depth 0, exactly.
    excess : Fraction
        Enclosed rows one depth apart need at most this much more than the δ of any pair, rigorously. It comes from the
        width of the enclosures alone: exactly, they need no more than δ.
    refuted : int or None
        A depth whose enclosed rows are certainly not close to the next, which would contradict the theorem.
    holds : bool
        Boundary close and nothing refuted.
    """

    boundary_deltas: tuple[Fraction, ...]
    excess: Fraction
    refuted: int | None
    holds: bool

    @property
    def boundary_delta(self) -> Fraction:
        """The smallest δ at the stated ratio between the classes at depth 0, where a single pair is promised."""
        if len(self.boundary_deltas) != 1:
            raise BadInput("boundary_delta", "is one for every pair promised", "read boundary_deltas")
        return self.boundary_deltas[0]


@checked
def certify_depth_mechanism(mechanism: DepthMechanism, depths: Iterable[int] = SAMPLED_DEPTHS) -> DepthMechanismVerdict:
    """Judge a depth mechanism at all depths by theorem, and at some depths by enclosures.

    By the theorem, neighbours are either a step apart in one class or at depth 0 of two classes. In the first case the
    row is T applied once more and so close; the second is compared exactly here (proofs/rainbow-optimality.md).

    Parameters
    ----------
    mechanism : DepthMechanism
        What to judge.
    depths : iterable of int
        Where to enclose rows as a check that does not use the theorem; each is compared with the depth below it.

    Raises
    ------
    BadInput
        For a negative depth.
    """
    promised = mechanism.privacy.pairs
    at_boundary = [
        dict(zip(ranking, row, strict=True))
        for ranking, row in zip(mechanism.rankings, mechanism.boundary, strict=True)
    ]
    listed = [tuple(row[output] for output in mechanism.outputs) for row in at_boundary]
    boundary_deltas = tuple(
        max((hockey_stick(a, b, pair.ratio) for a in listed for b in listed), default=Fraction(0)) for pair in promised
    )
    excess, refuted = Fraction(0), None
    for depth in depths:
        if depth < 0:
            raise BadInput("depths", "must not be negative", f"leave out {INFINITE_DEPTH}, whose rows are exact")
        for group in range(len(mechanism.rankings)):
            here, deeper = (_enclosed_row(mechanism, group, depth + k) for k in (0, 1))
            for first, second in ((here, deeper), (deeper, here)):
                for pair in promised:
                    needed = _enclosed_hockey_stick(first, second, pair.ratio)
                    excess = max(excess, needed.upper - pair.delta)
                    if needed.lower > pair.delta:
                        refuted = depth
    close = all(needed <= pair.delta for needed, pair in zip(boundary_deltas, promised, strict=True))
    holds = close and refuted is None
    return DepthMechanismVerdict(boundary_deltas=boundary_deltas, excess=excess, refuted=refuted, holds=holds)


def _enclosed_row(mechanism: DepthMechanism, group: int, depth: int) -> list[Enclosure]:
    sums = [
        Enclosure.exactly(Fraction(0)),
        *(enclose_steps(s, depth, mechanism.privacy, width=WIDTH) for s in mechanism.prefix_sums(group)),
        Enclosure.exactly(Fraction(1)),
    ]
    return [
        Enclosure(after.lower - before.upper, after.upper - before.lower).clamp(Fraction(0), Fraction(1))
        for before, after in pairwise(sums)
    ]


def _enclosed_hockey_stick(first: list[Enclosure], second: list[Enclosure], ratio: Fraction) -> Enclosure:
    pairs = list(zip(first, second, strict=True))
    return Enclosure(
        sum((max(Fraction(0), p.lower - ratio * q.upper) for p, q in pairs), start=Fraction(0)),
        sum((max(Fraction(0), p.upper - ratio * q.lower) for p, q in pairs), start=Fraction(0)),
    )
