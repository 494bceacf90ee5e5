"""Morphisms: maps that send neighbours to neighbours or to one node. Privacy comes down along them for free.

A mechanism on the target that is (ε,δ)-private stays so when it is read through a morphism (pullback: [DOliveira2021],
Definition 3 and Theorem 1), so a query that is a morphism onto a small graph needs no further proof.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._exact import checked, entries, integer
from ..errors import BadInput
from ._boundary import depth, touching_codes
from ._colouring import Assignment, ColouredGraph, RankedGraph, values_at_nodes
from ._explicit import compress
from ._protocol import MOST_LISTED, UNREACHABLE, DatasetGraph, Indices, ListedNodes, Node, NumberedNodes, key_of_node


@dataclass(frozen=True, slots=True)
class MorphismCheck:
    """Whether a map is a morphism; if not, the first edge whose ends it tears apart, by name."""

    holds: bool
    broken_edge: tuple[Node, Node] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Morphism:
    """A map between graphs that sends neighbours to neighbours or to one node; made by `morphism` or `boundary_graph`.

    Parameters
    ----------
    source, target : DatasetGraph
        From where to where.
    images : int64 array, shape (source.number_of_nodes,)
        The index of each node's image.
    """

    source: DatasetGraph
    target: DatasetGraph
    images: Indices

    def __call__(self, node: Node) -> Node:
        """Return the image of a named node."""
        return self.target.nodes.at(int(self.images[self.source.index_of(node)]))

    @checked
    def then(self, following: Morphism) -> Morphism:
        """Compose: this morphism first, the other one after it."""
        if self.target != following.source:
            raise BadInput("following", "must start at the graph where this morphism ends", "check the two graphs")
        return Morphism(self.source, following.target, following.images[self.images])

    @checked
    def pull_back(self, values: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Give every node the value (or the row) of its image; `values` is in the target's index order."""
        listed = values if isinstance(values, np.ndarray) and values.ndim else entries(values)
        if listed is None or len(listed) != self.target.number_of_nodes:
            raise BadInput("values", f"must be {self.target.number_of_nodes}, one per node of the target", "add values")
        pulled: npt.NDArray[Any] = np.asarray(listed)[self.images]
        return pulled


@checked
def check_morphism(source: DatasetGraph, target: DatasetGraph, mapping: Assignment) -> MorphismCheck:
    """Tell whether a map sends neighbours to neighbours or to one node.

    Parameters
    ----------
    source, target : DatasetGraph
        The source's edges are gone through once, in chunks; the target is only asked which pairs are neighbours.
    mapping : mapping, function or sequence
        The image of every node of the source, by name; an integer array holds indices of the target instead.

    Raises
    ------
    BadInput
        When a node has no image, or one that is not a node of the target.
    """
    return _check(source, target, _images(source, target, mapping))


@checked
def morphism(source: DatasetGraph, target: DatasetGraph, mapping: Assignment) -> Morphism:
    """Build a morphism from a map, after checking it as `check_morphism` does.

    Parameters
    ----------
    source, target : DatasetGraph
        From where, and to where.
    mapping : function, mapping or sequence
        The image of every node of the source.

    Raises
    ------
    BadInput
        If it is not a morphism; names the first edge that breaks it.
    """
    images = _images(source, target, mapping)
    check = _check(source, target, images)
    if check.broken_edge is not None:
        tail, head = map(key_of_node, check.broken_edge)
        raise BadInput("mapping", f"sends the neighbours {tail} and {head} apart", "send neighbours to neighbours")
    return Morphism(source, target, images)


@checked
def preserves_colours(between: Morphism, source: ColouredGraph, target: ColouredGraph) -> bool:
    """Tell whether every node has the colour (or ranking) of its image.

    Parameters
    ----------
    between : Morphism
        The map.
    source, target : ColouredGraph
        The graphs between which it is.
    """
    number = {colour: code for code, colour in enumerate(target.classes)}
    translated = np.array([number.get(colour, -1) for colour in source.classes])
    return bool((translated[source.codes] == target.codes[between.images]).all())


def _images(source: DatasetGraph, target: DatasetGraph, mapping: Assignment) -> Indices:
    given = values_at_nodes(source, mapping, "mapping")
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu":
        images = given.astype(np.int64)
        if len(images) and (images.min() < 0 or images.max() >= target.number_of_nodes):
            raise BadInput("mapping", "must hold indices of the target", "use integers below its number of nodes")
        return images
    return np.array([target.index_of(node) for node in given], np.int64)


def _check(source: DatasetGraph, target: DatasetGraph, images: Indices) -> MorphismCheck:
    for tails, heads in source.edges():
        from_tail, from_head = images[tails], images[heads]
        torn = (from_tail != from_head) & ~target.adjacent(from_tail, from_head)
        if torn.any():
            edge = int(np.argmax(torn))
            return MorphismCheck(False, (source.nodes.at(int(tails[edge])), source.nodes.at(int(heads[edge]))))
    return MorphismCheck(True)


# Boundary graphs: the smallest graph on which the optimal mechanism with a homogeneous boundary can be found.
#
# Only a node's class and depth matter there. Two colours give the (n_B, n_R)-line. Rankings give the boundary rainbow
# graph, with one chain per ranking and an edge between the heads of classes that touch.


@checked
def line(n_blue: int, n_red: int, colours: tuple[Hashable, Hashable] = ("blue", "red")) -> ColouredGraph:
    """Return the (n_B, n_R)-line: nodes 1, …, n_B + n_R in a row, the first n_B of one colour, the rest of the other.

    Parameters
    ----------
    n_blue, n_red : int
        n_B and n_R, at least 1.
    colours : pair
        The colour of the first nodes, and that of the rest.

    References
    ----------
    [DOliveira2021], Definition 6.
    """
    blue = integer(n_blue, "n_blue", at_least=1, at_most=MOST_LISTED)
    red = integer(n_red, "n_red", at_least=1, at_most=MOST_LISTED - blue)
    row = np.arange(blue + red)
    graph = compress(NumberedNodes(range(1, blue + red + 1)), row[:-1], row[1:])
    return ColouredGraph(graph, tuple(colours), (row >= blue).astype(np.int64))


@checked
def boundary_graph(coloured: ColouredGraph) -> tuple[ColouredGraph, Morphism]:
    """Return the boundary graph and the boundary morphism onto it, which preserves colours and depths.

    Parameters
    ----------
    coloured : ColouredGraph or RankedGraph
        A graph with its colours or rankings.

    Returns
    -------
    ColouredGraph or RankedGraph
        For two colours the (n_B, n_R)-line, blue being the colour of the first node, with nodes 1, …, n_B + n_R. For
        rankings, and for any other number of colours, a chain (c, 0), …, (c, d_c) per class, with an edge between
        (c, 0) and (c', 0) where the classes touch. A class with components that have no boundary gets one more node
        (c, −1) without neighbours: there the truthful answer costs nothing.
    Morphism
        Sends a node of colour c and depth t to (c, t), or to its place in the line. A mechanism that is optimal for
        fixed probabilities on the boundary of the small graph is so on the large one when pulled back along it.

    References
    ----------
    [DOliveira2021], Definition 7 and Theorem 3; [Gu2024], Definition 8 and Theorem 3.
    """
    classes, codes, depths = coloured.classes, coloured.codes, depth(coloured)
    lengths = np.zeros(len(classes), np.int64)
    np.maximum.at(lengths, codes, depths + 1)
    # The chain of a class runs from its head in one direction; in a line the first class runs backwards.
    heads, directions = np.cumsum(lengths) - lengths, np.ones(len(classes), np.int64)
    is_line = len(classes) == 2 and not isinstance(coloured, RankedGraph)
    if is_line:
        heads[0], directions[0] = lengths[0] - 1, -1

    chain = np.repeat(np.arange(len(classes)), lengths)
    steps = (np.arange(len(chain)) - heads[chain]) * directions[chain]
    unbounded = np.unique(codes[depths == UNREACHABLE])
    names: list[Node] = list(range(1, len(chain) + 1))
    if not is_line:
        names = [(classes[code], step) for code, step in zip(chain.tolist(), steps.tolist(), strict=True)]
    names += [(classes[code], UNREACHABLE) for code in unbounded.tolist()]

    links = np.flatnonzero(np.diff(chain) == 0)
    joints = heads[touching_codes(coloured)]
    graph = compress(
        ListedNodes(names), np.concatenate((links, joints[:, 0])), np.concatenate((links + 1, joints[:, 1]))
    )
    target = replace(coloured, graph=graph, codes=np.concatenate((chain, unbounded)))
    images = np.where(
        depths == UNREACHABLE, len(chain) + np.searchsorted(unbounded, codes), heads[codes] + directions[codes] * depths
    )
    return target, Morphism(coloured.graph, graph, images)
