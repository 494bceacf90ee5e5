"""Morphisms: maps that send neighbours to neighbours or to one node. Privacy comes down along them for free.

A mechanism on the target that is (ε,δ)-private stays so when it is read through a morphism (pullback: [DOliveira2021],
Definition 3 and Theorem 1), so a query that is a morphism onto a small graph needs no further proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..exact import checked, entries
from .colouring import Assignment, ColouredGraph, values_at_nodes
from .names import Node, key_of_node
from .protocol import DatasetGraph, Indices

__all__ = ["Morphism", "MorphismCheck", "check_morphism", "morphism", "preserves_colours"]


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
