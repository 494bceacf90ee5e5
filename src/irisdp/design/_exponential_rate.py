"""The largest exponent that keeps an exponential mechanism private on a graph, found and proved exactly.

With weights prior(v)·β^level(i, v) and Z_i their sum, the mechanism is (log r)-private if and only if

    Z_j(β) · β^(−D_ij) ≤ r · Z_i(β),   D_ij = max_v (level(j, v) − level(i, v)),   for both directions of every edge:

one inequality between polynomials each. For R = max (D_ij + D_ji), every β ≥ r^(−1/R) satisfies them, because all
log-ratios of two rows lie in an interval of length R·log(1/β) that contains 0. No β below r^(−2/R) does: multiply the
two directions. In between the least β is found by bisection, and that there is no smaller one by intervals.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from .._exact import Table, ball, checked, is_short, working_precision
from ..errors import BadInput
from ..graphs import UNREACHABLE, DatasetGraph
from ..mechanisms import Exponential, ExponentialMechanism, Mechanism, StatedObjective, rate_above
from ..privacy import Privacy
from ._repair import shortened
from ._symmetry_reduction import certified, class_program, equal_shares, group_of

_RATE_BITS = 64
"""Significant bits of a rate found by bisection."""

_NARROWEST = 30
"""The rate is proved smallest but for an interval of 2^-30 of its size below it."""

_SMALLEST_STEP = 50
"""Intervals narrower than 2^-50 of the rate that cannot be excluded are given up."""

_PRECISION = 192
_LONGEST_EXACT = 60_000
"""Bits of β^level up to which an inequality that balls leave open is decided in rationals."""

Polynomial = tuple[tuple[int, Fraction], ...]
"""Level ↦ prior weight of the answers at that level: Z_i."""


@dataclass(frozen=True, slots=True)
class SafeRate:
    """The smallest rate (largest exponent) that is private.

    Parameters
    ----------
    rate : Fraction
        β, private in exact arithmetic.
    proved : bool
        Whether it is proved that no rate below rate·(1 − 2^-30) is private.
    """

    rate: Fraction
    proved: bool


def safe_rate(
    levels: tuple[tuple[int, ...], ...], prior: tuple[Fraction, ...], graph: DatasetGraph, privacy: Privacy
) -> SafeRate:
    """Find the smallest private rate.

    Parameters
    ----------
    levels : tuple of tuples of int
        One row per node of the graph: by how many units each answer falls short of the best.
    prior : tuple of Fraction
        Positive weights of the answers.
    graph : DatasetGraph
    privacy : Privacy
        The ratio; δ is not used.

    Returns
    -------
    SafeRate
        Where neighbours' levels differ by a constant only, every rate is private, and 1/r is returned.

    References
    ----------
    proofs/exponential-rate.md
    """
    search = _Search.of(levels, prior, graph, privacy.ratio)
    spread = search.spread
    if spread <= 2:
        least = privacy.ratio ** -(2 // spread) if spread else 1 / privacy.ratio
    else:
        least = rate_above(privacy, Fraction(spread, 2))
    if search.accepts(least):
        return SafeRate(least, True)
    low, high = least, rate_above(privacy, Fraction(spread))
    while True:
        low, high = search.bisect(low, high)
        smaller = search.smaller(least, high * (1 - Fraction(1, 1 << _NARROWEST + search.finer)))
        if not isinstance(smaller, Fraction):
            return SafeRate(high, smaller)
        low, high = least, smaller


@dataclass(frozen=True, slots=True)
class _Search:
    """The inequalities: distinct Z's, and (j, i, D) for each distinct directed edge."""

    ratio: Fraction
    spread: int
    polynomials: tuple[Polynomial, ...]
    edges: tuple[tuple[int, int, int], ...]

    @property
    def finer(self) -> int:
        """How many bits more a rate needs so that its exponent, for which units count many times, is as exact."""
        return self.spread.bit_length()

    @classmethod
    def of(
        cls,
        levels: tuple[tuple[int, ...], ...],
        prior: tuple[Fraction, ...],
        graph: DatasetGraph,
        ratio: Fraction,
    ) -> _Search:
        numbers: dict[Polynomial, int] = {}
        number_of = []
        for row in levels:
            collected: dict[int, Fraction] = {}
            for level, weight in zip(row, prior, strict=True):
                collected[level] = collected.get(level, Fraction(0)) + weight
            number_of.append(numbers.setdefault(tuple(sorted(collected.items())), len(numbers)))
        table = np.array(levels, dtype=object if max(map(max, levels)) > 1 << 60 else np.int64)
        edges, spread = set(), 0
        for tails, heads in graph.edges():
            for i, j in zip(tails.tolist(), heads.tolist(), strict=True):
                difference = table[j] - table[i]
                forward, backward = int(difference.max()), -int(difference.min())
                spread = max(spread, forward + backward)
                edges |= {(number_of[j], number_of[i], forward), (number_of[i], number_of[j], backward)}
        return cls(ratio, spread, tuple(numbers), tuple(sorted(edges)))

    def accepts(self, rate: Fraction) -> bool:
        """Return whether a rate is proven private; False if the check is inconclusive."""
        with working_precision(_PRECISION + 2 * self.finer):
            sums = self._sums(ball(rate))
            for j, i, reach in self.edges:
                left, right = sums[j], ball(self.ratio) * sums[i] * ball(rate) ** reach
                if not left <= right and (left > right or not self._holds_exactly(rate, j, i, reach)):
                    return False
        return True

    def bisect(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Narrow an interval whose upper end is private and whose lower end is not."""
        while high - low > high / (1 << _RATE_BITS + self.finer):
            middle = (low + high) / 2
            scale = 1 << _RATE_BITS + self.finer + 2 + (middle.denominator.bit_length() - middle.numerator.bit_length())
            middle = Fraction(round(middle * scale), scale)
            low, high = (low, middle) if self.accepts(middle) else (middle, high)
        return low, high

    def smaller(self, low: Fraction, high: Fraction) -> Fraction | bool:
        """Return a private rate in [low, high] if one is met; otherwise whether none is proven to exist."""
        pending, proved = [(low, high)], True
        while pending:
            start, stop = pending.pop()
            if start > stop or self._all_violate(start, stop):
                continue
            middle = (start + stop) / 2
            if self.accepts(middle):
                return middle
            if stop - start < high / (1 << _SMALLEST_STEP + self.finer):
                proved = False
                continue
            pending += [(start, middle), (middle, stop)]
        return proved

    def _all_violate(self, low: Fraction, high: Fraction) -> bool:
        """Tell whether one inequality is certain to fail for every rate in an interval; sums grow with the rate."""
        with working_precision(_PRECISION + 2 * self.finer):
            below, above = self._sums(ball(low)), self._sums(ball(high))
            ratio = ball(self.ratio)
            return any(
                below[j] > ratio * above[i] * ball(high if reach >= 0 else low) ** reach for j, i, reach in self.edges
            )

    def _sums(self, rate: flint.arb) -> list[flint.arb]:
        powers = {level: rate**level for polynomial in self.polynomials for level, _ in polynomial}
        return [
            sum((ball(weight) * powers[level] for level, weight in polynomial), start=flint.arb(0))
            for polynomial in self.polynomials
        ]

    def _holds_exactly(self, rate: Fraction, j: int, i: int, reach: int) -> bool:
        """Decide in rationals what balls leave open: equality, as a rule."""
        left, right = self.polynomials[j], self.polynomials[i]
        if left == right:
            left = right = ((0, Fraction(1)),)
        longest = max(left[-1][0], right[-1][0], abs(reach)) * rate.denominator.bit_length()
        if longest > _LONGEST_EXACT:
            return False
        sums = [sum(weight * rate**level for level, weight in polynomial) for polynomial in (left, right)]
        return bool(sums[0] <= self.ratio * sums[1] * rate**reach)


# The exponential mechanism at the largest exponent that is private on a graph.

_MOST_ENTRIES = 1 << 22
"""Most entries of a table of distances."""

_MECHANISM_BITS = 256


@checked
def exponential(
    graph: DatasetGraph,
    privacy: Privacy,
    *,
    scores: Any = None,
    outputs: Sequence[Hashable] | None = None,
    prior: Any = None,
) -> ExponentialMechanism:
    """Design the exponential mechanism at the largest safe exponent, in short numbers.

    Parameters
    ----------
    graph : DatasetGraph
        The inputs.
    privacy : Privacy
        The ratio; the mechanism does not use δ and satisfies δ = 0.
    scores : table, optional
        One row per node, one column per answer, the higher the better. Left out, answers are nodes and the score is
        minus the graph distance.
    outputs : sequence, optional
        Names of the answers when scores are given; 0..q−1 when left out.
    prior : sequence, optional
        Positive weights of the answers.

    Returns
    -------
    ExponentialMechanism
        Exactly private, and within about 2^-120 of the exponential mechanism where that has long numbers. Its `rate`
        and `exponent` are those that were used. Without
        `scores` its objective is the mean graph distance. On a vertex-transitive graph all of ε is spent in the
        exponent, and the objective has a lower bound and its certificate. The two agree where Theorem 1 of [Alda2017]
        holds (`irisdp.graphs.regular_layers`).

    Raises
    ------
    BadInput
        When the graph is not connected and no scores are given, or the table is too large.

    Examples
    --------
    >>> from irisdp.graphs import Hamming
    >>> made = exponential(Hamming(3, 2), Privacy.from_ratio(3))
    >>> made.objective.value, made.rate, round(float(made.exponent), 4)
    (Fraction(3, 4), Fraction(1, 3), 1.0986)

    References
    ----------
    [Alda2017], Definition 2 and Theorem 1; docs/theory.md#databases; proofs/exponential-rate.md.
    """
    if scores is None and outputs is not None:
        raise BadInput("outputs", "are the nodes where no scores are given", "leave them out, or give scores")
    privacy = privacy.pure
    uniform = equal_shares(graph)
    if scores is None and prior is None and group_of(graph, uniform).vertex_transitive:
        program, goal = class_program(graph, privacy, uniform)
        weights = [privacy.ratio**-loss for loss in map(int, program.loss)]
        total = sum(size * weight for size, weight in zip(program.classes.sizes.tolist(), weights, strict=True))
        _, multipliers, _ = program.solve()
        made = certified(program, goal, program.shortened([weight / total for weight in weights]), multipliers)
        return _at_rate(made, 1 / privacy.ratio, Fraction(1))
    table = _scores(graph, scores)
    lazy = safe_exponential(table, graph, privacy, outputs=outputs if scores is not None else graph.nodes, prior=prior)
    made = Mechanism.from_matrix(
        shortened(_rows(lazy), graph, privacy), privacy=privacy, graph=graph, outputs=lazy.outputs
    )
    mechanism = _at_rate(made, lazy.rate, lazy.unit)
    if scores is not None:
        return mechanism
    matrix = mechanism.matrix()
    value = sum(
        (-score * p for row, line in zip(table, matrix, strict=True) for score, p in zip(row, line, strict=True))
    )
    return replace(mechanism, objective=StatedObjective("mean graph distance", Fraction(value) / len(uniform)))


def _at_rate(made: Mechanism, rate: Fraction, unit: Fraction) -> ExponentialMechanism:
    """Let a mechanism know the rate that it was made at."""
    return ExponentialMechanism(**{part.name: getattr(made, part.name) for part in fields(made)}, rate=rate, unit=unit)


@checked
def safe_exponential(
    scores: Any,
    graph: DatasetGraph,
    privacy: Privacy,
    *,
    outputs: Sequence[Hashable] | None = None,
    prior: Any = None,
) -> Exponential:
    """Return the exponential mechanism at the largest safe exponent, with probabilities computed when asked for.

    Parameters
    ----------
    scores : table
        One row per node of the graph.
    graph, privacy, outputs, prior
        As in `exponential`.

    Returns
    -------
    Exponential
        Private for this ratio, in exact arithmetic; nothing underflows. its `draw_positions` draws from
        it.

    Raises
    ------
    BadInput
        For scores that are not one row of numbers for every node.
    """
    lazy = Exponential.of(scores, 1, inputs=graph.nodes, outputs=outputs, prior=prior)
    if len(lazy.levels) != graph.number_of_nodes:
        raise BadInput("scores", "must have one row for every node", f"give {graph.number_of_nodes} rows")
    return replace(lazy, rate=safe_rate(lazy.levels, lazy.prior, graph, privacy).rate)


def _scores(graph: DatasetGraph, scores: Any) -> Any:
    if scores is not None:
        return scores
    nodes = graph.number_of_nodes
    if nodes * nodes > _MOST_ENTRIES:
        raise BadInput("graph", f"has {nodes} nodes, too many for a table of distances", "choose a smaller graph")
    distances = [graph.distances_from(node).tolist() for node in range(nodes)]
    if any(UNREACHABLE in row for row in distances):
        raise BadInput("graph", "must be connected, or distances are infinite", "design for every component alone")
    return [[-distance for distance in row] for row in distances]


def _rows(lazy: Exponential) -> Table:
    """Return exact rows where they are short, else rows that miss them by less than 2^-200."""
    longest = max(map(max, lazy.levels)) * max(lazy.rate.denominator.bit_length(), 1)
    if longest < 340:
        rows = tuple(lazy.row(position) for position in range(len(lazy.levels)))
        if is_short(rows):
            return rows
    # Every row has an answer at level 0, so that its sum is at least the lightest weight.
    levels, lightest = {level for line in lazy.levels for level in line}, min(lazy.prior)
    bits = _MECHANISM_BITS + int(max(lazy.prior) / lightest).bit_length()
    with working_precision(bits + 64 + 4 * max(levels).bit_length()):
        scale, rate = flint.arb(2) ** bits, ball(lazy.rate)
        powers = {level: int((rate**level * scale).lower().floor().unique_fmpz()) for level in levels}
    weights = [int(weight / lightest * (1 << _MECHANISM_BITS)) for weight in lazy.prior]
    rounded = []
    for line in lazy.levels:
        masses = [weight * powers[level] for weight, level in zip(weights, line, strict=True)]
        total = sum(masses)
        rounded.append(tuple(Fraction(mass, total) for mass in masses))
    return tuple(rounded)
