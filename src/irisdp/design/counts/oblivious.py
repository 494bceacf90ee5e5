"""Mechanisms that look at more than the count gain nothing: averaging over all datasets with the same count."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from fractions import Fraction

from ...errors import BadInput
from ...exact import checked, integer
from ...graphs import Path
from ...mechanisms import Mechanism

__all__ = ["oblivious"]


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
