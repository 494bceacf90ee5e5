"""Boundary graphs: the smallest graph on which the optimal mechanism with a homogeneous boundary can be found.

Only a node's class and depth matter there. Two colours give the (n_B, n_R)-line; rankings give the boundary rainbow
graph, one chain per ranking with the heads joined where classes touch.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from ..exact import checked, integer
from .boundary import depth, touching_codes
from .colouring import ColouredGraph, RankedGraph
from .explicit import compress
from .morphisms import Morphism
from .names import ListedNodes, Node, NumberedNodes
from .protocol import MOST_LISTED, UNREACHABLE

__all__ = ["boundary_graph", "line"]


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
