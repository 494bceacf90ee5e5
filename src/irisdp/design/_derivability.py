"""Which mechanisms are another one, read: M = P·T for a stochastic T.

From geometric noise this is one inequality per three neighbouring entries of a column, checked exactly. Between any two
mechanisms it is a linear program: how near a reading of the one can come to the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import flint

from .._exact import Table, checked, integer
from .._exact.linprog import LinearProgram, SparseRow, as_fmpq, as_fraction, exact_optimum
from ..errors import BadInput
from ..graphs import Path
from ..mechanisms import Mechanism
from ..privacy import Privacy


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """What keeps a mechanism from being geometric noise, read.

    Parameters
    ----------
    output : hashable
        The answer whose column breaks the condition.
    inputs : tuple
        Three neighbouring inputs with (1 + α²)·x_2 < α·(x_1 + x_3); or two, where the mechanism is not even private.
    entries : tuple of Fraction
        The column at these inputs.
    shortfall : Fraction
        By how much the condition fails: the right-hand side minus the left, more than 0.
    """

    output: Hashable
    inputs: tuple[Hashable, ...]
    entries: tuple[Fraction, ...]
    shortfall: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricDerivation:
    """Either the reading that makes a mechanism out of geometric noise, exactly, or what stands in the way."""

    reading: Table | None = None
    obstacle: Obstacle | None = None

    @property
    def holds(self) -> bool:
        """Whether the mechanism is geometric noise, read."""
        return self.reading is not None


@checked
def derivation(mechanism: Mechanism, privacy: Privacy | None = None) -> GeometricDerivation:
    """Derive a mechanism on counts from geometric noise, or say why that is impossible.

    Parameters
    ----------
    mechanism : Mechanism
        One row per count 0..n, in this order; any outputs.
    privacy : Privacy, optional
        The ratio of the noise, the mechanism's own when left out.

    Returns
    -------
    GeometricDerivation
        M = G_{n,α}·T exactly, with T as `reading` (row z: the distribution that replaces a released z); or the first
        column, and in it the first rows, that break the condition.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> tailored = design.consumer(3, "absolute", Privacy.from_ratio(4))
    >>> print(*derivation(tailored).reading[0])
    68/83 15/83 0 0

    References
    ----------
    [Gupte2010], Theorem 2; docs/theory.md#counts; proofs/universality.md.
    """
    alpha = 1 / (mechanism.privacy if privacy is None else privacy).ratio
    rows = mechanism.matrix()
    if len(rows) == 1:
        return GeometricDerivation(reading=tuple(rows))
    reading = []
    for output, column in zip(mechanism.outputs, zip(*rows, strict=True), strict=True):
        obstacle = _obstacle(mechanism, output, column, alpha)
        if obstacle is not None:
            return GeometricDerivation(obstacle=obstacle)
        reading.append(_solved(column, alpha))
    return GeometricDerivation(reading=tuple(zip(*reading, strict=True)))


def _obstacle(mechanism: Mechanism, output: Hashable, column: tuple[Fraction, ...], alpha: Fraction) -> Obstacle | None:
    """Return the first rows at which a column is not a non-negative combination of columns of the noise."""
    last = len(column) - 1
    # At α = 1 noise knows nothing, so all entries must be equal.
    pairs = [(0, 1), (last, last - 1)] if alpha < 1 else [*pairwise(range(last + 1)), *pairwise(range(last, -1, -1))]
    checks: list[tuple[tuple[int, ...], Fraction]] = [((i, j), alpha * column[j] - column[i]) for i, j in pairs]
    checks += [
        ((i - 1, i, i + 1), alpha * (column[i - 1] + column[i + 1]) - (1 + alpha**2) * column[i])
        for i in (range(1, last) if alpha < 1 else ())
    ]
    for places, shortfall in sorted(checks, key=lambda check: min(check[0])):
        if shortfall > 0:
            return Obstacle(
                output=output,
                inputs=tuple(mechanism.inputs[i] for i in places),
                entries=tuple(column[i] for i in places),
                shortfall=shortfall,
            )
    return None


def _solved(column: tuple[Fraction, ...], alpha: Fraction) -> tuple[Fraction, ...]:
    """Apply the inverse of G, tridiagonal up to the scale of its rows, to a column."""
    if alpha == 1:
        return column
    inner = (
        ((1 + alpha**2) * x - alpha * (before + after)) / (1 - alpha) ** 2
        for before, x, after in zip(column, column[1:], column[2:], strict=False)
    )
    return (
        (column[0] - alpha * column[1]) / (1 - alpha),
        *inner,
        (column[-1] - alpha * column[-2]) / (1 - alpha),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The reading of one mechanism that comes nearest to another.

    Parameters
    ----------
    reading : table
        Stochastic; row z replaces output z of the source.
    distance : Fraction
        Largest total-variation distance, over the inputs, that is left; 0 exactly if the target is derivable.
    exact : bool
        Whether it is certain, by exact arithmetic, that no reading comes nearer; else the solver gave up close to that.
    """

    reading: Table
    distance: Fraction
    exact: bool


@checked
def nearest_reading(source: Mechanism, target: Mechanism) -> Nearest:
    """Read one mechanism so that it comes as near as possible to another with the same inputs.

    Parameters
    ----------
    source, target : Mechanism
        Same inputs in the same order; outputs may differ. The program has inputs × outputs of the target as rows, a few
        hundred at most.

    Returns
    -------
    Nearest
        The reading, and the distance that it leaves, exactly; 0 iff the target is the source, read.

    Raises
    ------
    BadInput
        When the inputs differ.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> fine, coarse = (design.geometric(2, Privacy.from_ratio(ratio)) for ratio in (4, 2))
    >>> nearest_reading(fine, coarse).distance, nearest_reading(coarse, fine).distance
    (Fraction(0, 1), Fraction(1, 5))

    Notes
    -----
    The distance is Le Cam's deficiency [LeCam1964]: 0 means that whatever can be done with the target can be done with
    the source.
    """
    if list(source.inputs) != list(target.inputs):
        raise BadInput("target", "must have the inputs of the source", "compare mechanisms of one question")
    given = [[as_fmpq(p) for p in row] for row in source.matrix()]
    wanted = [[as_fmpq(p) for p in row] for row in target.matrix()]
    inputs, released, outputs = len(given), len(given[0]), len(wanted[0])
    one, first = flint.fmpq(1), released + inputs * outputs
    columns: list[SparseRow] = [
        {z: one, **{released + i * outputs + v: given[i][z] for i in range(inputs) if given[i][z] != 0}}
        for z in range(released)
        for v in range(outputs)
    ]
    for i in range(inputs):
        for v in range(outputs):
            columns += [{released + i * outputs + v: sign, first + i: one} for sign in (one, -one)]
    columns += [{first + i: one} for i in range(inputs)]
    columns.append({first + i: -2 * one for i in range(inputs)})
    cost = [flint.fmpq(0)] * (len(columns) - 1) + [one]
    right = [one] * released + [p for row in wanted for p in row] + [flint.fmpq(0)] * inputs
    optimum = exact_optimum(LinearProgram(columns, cost, right))
    lines = [
        [max(as_fraction(x), Fraction(0)) for x in optimum.values[z * outputs : (z + 1) * outputs]]
        for z in range(released)
    ]
    reading = tuple(tuple(x / sum(line) for x in line) for line in lines)
    read = source.post_process(reading).matrix()
    distance = max(
        sum((abs(p - q) for p, q in zip(*pair, strict=True)), Fraction(0)) / 2
        for pair in zip(read, target.matrix(), strict=True)
    )
    return Nearest(reading=reading, distance=distance, exact=optimum.exact)


# Mechanisms that look at more than the count gain nothing: averaging over all datasets with the same count.


@checked
def oblivious(mechanism: Mechanism, counts: Mapping[Hashable, int]) -> Mechanism:
    """Average a mechanism that is given per dataset over the datasets with equal count.

    Parameters
    ----------
    mechanism : Mechanism
        Given on all datasets, with their graph.
    counts : mapping
        Dataset → its count. Neighbours differ by at most one, and every count from 0 to the largest occurs. Datasets
        with one count have equally many neighbours at the next one, at least one. The graph of all databases of some
        size meets this.

    Returns
    -------
    Mechanism
        On the path 0..n, with the privacy of the given one. For any loss of count and answer, its expected loss at a
        count is the mean of the given one's over the datasets with that count. So its worst loss is no worse.

    Raises
    ------
    BadInput
        When the mechanism has no graph, or the counts do not fit it.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> from irisdp.graphs import Hamming
    >>> rows = [["8/9", "1/9"], ["7/9", "2/9"], ["5/9", "4/9"], ["4/9", "5/9"]]
    >>> given = Mechanism.from_matrix(rows, privacy=Privacy(ratio=5), graph=Hamming(2, 2))
    >>> oblivious(given, {word: word.count("1") for word in given.inputs}).row(1)
    (Fraction(2, 3), Fraction(1, 3))

    References
    ----------
    [Gupte2010], Appendix A, Lemma 6; proofs/universality.md.
    """
    graph, inputs = mechanism.graph, list(mechanism.inputs)
    if graph is None:
        raise BadInput("mechanism", "has no graph", "say which datasets are neighbours")
    if set(counts) != set(inputs):
        raise BadInput("counts", "must give every dataset its count", "name each once")
    of = [integer(counts[node], "counts", at_least=0) for node in inputs]
    fibres: dict[int, list[int]] = defaultdict(list)
    for place, count in enumerate(of):
        fibres[count].append(place)
    if sorted(fibres) != list(range(len(fibres))):
        raise BadInput("counts", "must be all of 0..n", "use every whole number from 0 up")
    neighbours: list[Counter[int]] = [Counter() for _ in inputs]
    nodes = [graph.index_of(node) for node in inputs]
    place_of = {node: place for place, node in enumerate(nodes)}
    for tails, heads in graph.edges():
        for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
            i, j = place_of[tail], place_of[head]
            if abs(of[i] - of[j]) > 1:
                raise BadInput("counts", "differ by more than one between neighbours", "count what one record changes")
            if of[i] != of[j]:
                neighbours[i][of[j]] += 1
                neighbours[j][of[i]] += 1
    for count, places in fibres.items():
        if count + 1 < len(fibres) and not neighbours[places[0]][count + 1]:
            raise BadInput("counts", "lack a dataset with a neighbour at the next count", "give the whole graph")
        if any(neighbours[place] != neighbours[places[0]] for place in places):
            raise BadInput(
                "counts",
                "treat datasets alike that have different numbers of neighbours at the next count",
                "average only where the graph is as regular as that",
            )
    rows = mechanism.matrix()
    averaged = [
        [
            sum(column, Fraction(0)) / len(fibres[count])
            for column in zip(*(rows[k] for k in fibres[count]), strict=True)
        ]
        for count in range(len(fibres))
    ]
    return Mechanism.from_matrix(
        averaged, privacy=mechanism.privacy, graph=Path(len(fibres)), outputs=mechanism.outputs
    )
