"""Rational repair: from numbers that are long, or only almost private, to a short and exactly private mechanism."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from .._exact import ONE, GridRow, Table, checked, completed, dyadic_above, is_short, table, to_grid
from ..errors import BadInput, CertificateRejected
from ..graphs import DatasetGraph, components
from ..mechanisms import Mechanism, StatedObjective
from ..privacy import Pair, Privacy, are_close
from ._privacy_program import directions

# Short rows: probabilities as whole multiples of 2^-128, made exactly private by the smallest step inward.
#
# Rounding breaks tight constraints by a hair. So every component of the graph is contracted towards one safe row, the
# same for all its inputs: x → (1 − w) x + w s. The weight w is the smallest that allows for rounding. A constant row
# keeps every ratio at 1, so each constraint gains what the weight is worth, and w is of the order of the rounding
# itself.

Direction = tuple[int, int]

_WEIGHT_BITS = 20


def is_private(rows: Sequence[GridRow], edges: Iterable[Direction], privacy: Privacy) -> bool:
    """Tell whether rows on the grid keep every ratio and δ in every direction listed, exactly."""
    edges = list(edges)
    return all(_keeps(rows, edges, pair) for pair in privacy.pairs)


def _keeps(rows: Sequence[GridRow], edges: Iterable[Direction], pair: Pair) -> bool:
    allowed = pair.delta * pair.ratio.denominator * ONE
    first, second = _scaled(rows, pair)
    if not allowed:
        return all(x <= y for i, j in edges for x, y in zip(first[i], second[j], strict=True))
    return all(sum(x - y for x, y in zip(first[i], second[j], strict=True) if x > y) <= allowed for i, j in edges)


def _scaled(rows: Sequence[GridRow], pair: Pair) -> tuple[list[GridRow], list[GridRow]]:
    """Return b·x and a·x for all entries x, where a/b is the ratio."""
    a, b = pair.ratio.numerator, pair.ratio.denominator
    return [[b * x for x in row] for row in rows], [[a * x for x in row] for row in rows]


def contract(rows: Sequence[GridRow], edges: Sequence[Direction], privacy: Privacy) -> list[GridRow]:
    """Contract the rows of one component until they are private.

    Parameters
    ----------
    rows : sequence of grid rows
    edges : sequence of pairs
        Every edge among them in both directions.
    privacy : Privacy

    Returns
    -------
    list of grid rows
        Private on `edges`. Towards the mean row or towards the uniform row on the answers in use, whichever moves the
        rows less. The weight is 1 if no smaller one allows for rounding: r = 1 and δ = 0 needs constant rows.
    """
    mean = completed([-(-sum(column) // len(rows)) for column in zip(*rows, strict=True)])
    used = sum(x > 0 for x in mean)
    uniform = completed([ONE // used if x > 0 else 0 for x in mean])
    choices = []
    for safe, otherwise in ((mean, Fraction(1)), (uniform, None)):
        # What is enough for each pair is enough for all: more of the safe row never hurts.
        needed = [_least_weight(rows, safe, edges, pair) for pair in privacy.pairs]
        weight = otherwise if None in needed else max(w for w in needed if w is not None)
        if weight is not None:
            farthest = max(sum(abs(x - s) for x, s in zip(row, safe, strict=True)) for row in rows)
            choices.append((weight * farthest, weight, safe))
    _, weight, safe = min(choices)
    weight = min(Fraction(1), dyadic_above(weight, _WEIGHT_BITS))
    p, q = weight.numerator, weight.denominator
    return [completed([((q - p) * x + p * s) // q for x, s in zip(row, safe, strict=True)]) for row in rows]


def _least_weight(rows: Sequence[GridRow], safe: GridRow, edges: Sequence[Direction], pair: Pair) -> Fraction | None:
    """Return the smallest weight of the safe row that makes all constraints hold after rounding, or None.

    Rounding down and completing the largest entry changes b·x_i − a·x_j, where r = a/b, by at most a + b·q.
    """
    a, b = pair.ratio.numerator, pair.ratio.denominator
    answers = len(safe)
    allowed = (pair.delta.numerator * b * ONE) // pair.delta.denominator - answers * (a + b)
    first, second = _scaled(rows, pair)
    gains = [(a - b) * s for s in safe]
    weight = Fraction(0)
    if allowed >= 0:
        for i, j in edges:
            excesses = [x - y for x, y in zip(first[i], second[j], strict=True)]
            weight = max(weight, _root(excesses, gains, allowed, weight))
        return weight
    margin = a + b * answers
    if any(gain < margin for gain, s in zip(gains, safe, strict=True) if s > 0):
        return None
    # (1 − w)·excess − w·gain + margin ≤ 0 for every answer; one that is never given stays at exactly 0.
    over, under = 0, 1
    for i, j in edges:
        for x, y, gain, s in zip(first[i], second[j], gains, safe, strict=True):
            needed = x - y + margin
            if needed > 0 and s > 0 and needed * under > over * (needed - margin + gain):
                over, under = needed, needed - margin + gain
    return Fraction(over, under)


def _root(excesses: list[int], gains: list[int], allowed: int, weight: Fraction) -> Fraction:
    """Return the smallest w ≥ weight with Σ max(0, (1 − w)·excess − w·gain) ≤ allowed, by Newton steps from the left.

    The sum is convex, piecewise linear and falling in w: no step goes too far, and finitely many arrive.
    """
    while True:
        active = [
            (excess, excess + gain)
            for excess, gain in zip(excesses, gains, strict=True)
            if excess > weight * (excess + gain)
        ]
        total, slope = sum(x for x, _ in active), sum(s for _, s in active)
        if total - weight * slope <= allowed:
            return weight
        weight = (total - allowed) / Fraction(slope)


_LONGEST = 10**100
"""Numerators and denominators below this are short enough to be kept as they are."""

_SLIP = Fraction(1, 10**6)
"""Rows of a foreign matrix may miss 1 by this much, and entries 0: more is no rounding error but another matrix."""


@checked
def repair(
    matrix: Any,
    graph: DatasetGraph,
    privacy: Privacy,
    *,
    inputs: Sequence[Hashable] | None = None,
    outputs: Sequence[Hashable] | None = None,
) -> Mechanism:
    """Make a matrix exactly stochastic and exactly private, moving it as little as rounding allows.

    Parameters
    ----------
    matrix : sequence of rows, or array
        One row per node of the graph; entries in any form a number is written in. A float is read as its shortest
        decimal. Rows may miss 1, and entries 0, by 1e-6.
    graph : DatasetGraph
        The neighbouring inputs.
    privacy : Privacy
        The guarantee that the result must satisfy.
    inputs : sequence, optional
        The nodes in the order of the rows; the graph's own order when left out, and in the result.
    outputs : sequence, optional
        Names of the answers; 0..q−1 when left out.

    Returns
    -------
    Mechanism
        Private on every edge and with rows that sum to 1, both checked in exact arithmetic. A matrix that already is
        both, in numbers of at most 100 digits, is returned as it stands; otherwise entries are multiples of 2^-128.
        `objective.value` is the total-variation distance moved, the largest over the inputs.

    Raises
    ------
    BadInput
        When the matrix has another shape, or is too far from a stochastic one.

    Notes
    -----
    A solution of a linear program that breaks constraints by 1e-9 moves by about 1e-9·q/(r − 1); a closed form with a
    long ratio by about 2^-128·n·q/(r − 1). For a matrix that is far from private the distance is the honest price.
    """
    given = table(matrix, "matrix", rows=graph.number_of_nodes)
    if any(min(row) < -_SLIP or abs(sum(row, Fraction(-1))) > _SLIP for row in given):
        raise BadInput("matrix", "has a row that is no distribution, even to 1e-6", "give probabilities that sum to 1")
    if inputs is not None:
        row_of = dict(zip((graph.index_of(node) for node in inputs), given, strict=False))
        if len(inputs) != len(given) or len(row_of) != len(given):
            raise BadInput("inputs", "must name every node of the graph once", "name them in the order of the rows")
        given = tuple(row_of[index] for index in range(len(given)))
    rows = shortened(given, graph, privacy)
    return Mechanism.from_matrix(
        rows,
        privacy=privacy,
        graph=graph,
        outputs=outputs,
        objective=StatedObjective("total-variation distance moved by repair", moved(given, rows)),
    )


def shortened(rows: Table, graph: DatasetGraph, privacy: Privacy) -> Table:
    """Return rows that are short, stochastic and private, exactly: the given ones if they are.

    Raises
    ------
    CertificateRejected
        When the rows found do not pass the final check, which would be a mistake in this library.
    """
    edges = directions(graph)
    if (
        is_short(rows)
        and all(min(row) >= 0 and sum(row) == 1 for row in rows)
        and all(are_close(rows[i], rows[j], privacy) for i, j in edges if i < j)
    ):
        return rows
    grid = [to_grid(row) for row in rows]
    if not is_private(grid, edges, privacy):
        component_of = components(graph).tolist()
        members: dict[int, list[int]] = {}
        for i, component in enumerate(component_of):
            members.setdefault(component, []).append(i)
        for nodes in members.values():
            place = {i: k for k, i in enumerate(nodes)}
            inside = [(place[i], place[j]) for i, j in edges if i in place]
            here = [grid[i] for i in nodes]
            if not is_private(here, inside, privacy):
                for i, row in zip(nodes, contract(here, inside, privacy), strict=True):
                    grid[i] = row
    if any(min(row) < 0 or sum(row) != ONE for row in grid) or not is_private(grid, edges, privacy):
        raise CertificateRejected("the repaired mechanism is not private", status="repair failed")
    return tuple(tuple(Fraction(x, ONE) for x in row) for row in grid)


def moved(before: Table, after: Table) -> Fraction:
    """Return the largest total-variation distance between corresponding rows, rounded up to a multiple of 2^-160."""
    unit = 1 << 160
    farthest: int = max(
        sum(math.ceil(unit * abs(x - y)) for x, y in zip(first, second, strict=True))
        for first, second in zip(before, after, strict=True)
    )
    return Fraction(-(-farthest // 2), unit)
