"""Rational repair: from numbers that are long, or only almost private, to a short and exactly private mechanism."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

from ...errors import BadInput, CertificateRejected
from ...exact import Table, checked, table
from ...exact.grid import ONE, to_grid
from ...exact.short import is_short
from ...graphs import DatasetGraph, components
from ...mechanisms import Mechanism, Objective
from ...privacy import Privacy, are_close
from .contraction import contract, is_private
from .program import directions

__all__ = ["moved", "repair", "shortened"]

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
        objective=Objective("total-variation distance moved by repair", moved(given, rows)),
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
