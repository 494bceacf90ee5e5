"""Mean distance on a path: geometric noise, read as well as can be.

On the path the loss grows with |i − v|, so by universality the optimal post-processing of the geometric mechanism is
optimal among all private mechanisms. The best answer to a value is a weighted median of what the value implies about
the input.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from itertools import accumulate

from ...exact import Table
from ...graphs import Path
from ...mechanisms import FactoredMechanism, Mechanism, Objective
from ...privacy import Privacy
from ..closed_forms import LARGEST_MATRIX
from ..counts.consumer import consumer
from ..programs.goals import LOSSES, Goal
from ..programs.repair import shortened
from ..programs.sealing import sealed

__all__ = ["distance_on_path"]

_BITS = 256
"""Where powers of r are longer than this, probabilities are rounded down to multiples of 2^-256."""


def distance_on_path(graph: Path, privacy: Privacy, weights: tuple[Fraction, ...]) -> Mechanism | FactoredMechanism:
    """Design the mechanism of smallest mean distance on a path.

    Parameters
    ----------
    graph : Path
    privacy : Privacy
        δ = 0.
    weights : tuple of Fraction
        One per node, with sum 1.

    References
    ----------
    docs/theory.md#counts, universality with a prior; proofs/universality.md.
    """
    count = graph.n
    if count > LARGEST_MATRIX:
        return consumer(count - 1, "absolute", privacy, prior=weights)
    unit, ends, inner = _powers(privacy.ratio, count)
    scale = math.lcm(*(weight.denominator for weight in weights))
    scaled = [int(weight * scale) for weight in weights]
    rows = [[0] * count for _ in range(count)]
    bound = 0
    for z in range(count):
        powers = inner if 0 < z < count - 1 else ends
        column = [powers[abs(z - i)] for i in range(count)]
        masses = [weight * mass for weight, mass in zip(scaled, column, strict=True)]
        below = list(accumulate(masses))
        median = bisect_left(below, -(-below[-1] // 2))
        bound += sum(mass * abs(i - median) for i, mass in enumerate(masses))
        for row, mass in zip(rows, column, strict=True):
            row[median] += mass
    goal = Goal(
        name="mean graph distance",
        loss=tuple(tuple(Fraction(LOSSES["absolute"](i, v)) for v in range(count)) for i in range(count)),
        loss_name="absolute",
        weights=weights,
    )
    private = shortened(tuple(tuple(Fraction(x, unit) for x in row) for row in rows), graph, privacy)
    certificate = {"kind": "theorem", "theorem": "geometric-reading", **goal.to_document(weights)}
    objective = Objective(goal.name, _mean_distance(private, scaled) / scale, Fraction(bound, unit * scale))
    return sealed(
        Mechanism.from_matrix(private, privacy=privacy, graph=graph, objective=objective, certificate=certificate)
    )


def _mean_distance(rows: Table, weights: list[int]) -> Fraction:
    """Return Σ_i w_i Σ_v |i − v| p(v|i): over one denominator, as a million fractions would take their time."""
    common = math.lcm(*{p.denominator for row in rows for p in row})
    total = sum(
        weight * sum(abs(i - v) * (p.numerator * (common // p.denominator)) for v, p in enumerate(row))
        for i, (weight, row) in enumerate(zip(weights, rows, strict=True))
    )
    return Fraction(total, common)


def _powers(ratio: Fraction, count: int) -> tuple[int, list[int], list[int]]:
    """Return a unit, and in it the probability of an end and of an inner value k steps away."""
    a, b = ratio.numerator, ratio.denominator
    if count == 1:
        return 1, [1], []
    if a ** (count - 1) * (a + b) < 1 << _BITS:
        powers = [b**k * a ** (count - 1 - k) for k in range(count)]
        return a ** (count - 1) * (a + b), [power * a for power in powers], [power * (a - b) for power in powers]
    powers = [1 << _BITS]
    for _ in range(count - 1):
        powers.append(powers[-1] * b // a)
    return 1 << _BITS, [power * a // (a + b) for power in powers], [power * (a - b) // (a + b) for power in powers]
