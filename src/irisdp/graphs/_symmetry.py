"""Symmetry: automorphisms of a graph, the orbits of its nodes, and layers that look alike from every node.

An automorphism is a permutation of the nodes that keeps neighbours neighbours. Families know some in closed form; for
any other graph igraph finds generators of them all (optional extra `graphs`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._exact import checked, integer
from ..errors import BadInput, CertificateRejected
from ._explicit import connected_components
from ._families import Complete, Cycle, Hamming, Path
from ._histograms import Histograms
from ._protocol import UNREACHABLE, DatasetGraph, Indices, key_of_node

LARGEST_SYMMETRIC = 20_000
"""Most nodes of a graph whose automorphisms are looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """A group of automorphisms, by generators.

    Parameters
    ----------
    generators : int64 array, shape (generators, nodes)
        Each row sends node i to generators[row, i].
    orbit_of : int64 array, shape (nodes,)
        Number of each node's orbit: the nodes that automorphisms can take it to. Orbits are numbered by their smallest
        nodes.
    """

    generators: Indices
    orbit_of: Indices

    @classmethod
    def generated(cls, generators: Indices) -> Symmetry:
        """Take the group that some automorphisms generate."""
        rows, count = generators.shape
        return cls(generators, connected_components(count, np.tile(np.arange(count), rows), generators.ravel()))

    @property
    def number_of_orbits(self) -> int:
        """How many orbits there are."""
        return int(self.orbit_of.max()) + 1

    @property
    def vertex_transitive(self) -> bool:
        """Whether some automorphism takes any node to any other."""
        return self.number_of_orbits == 1

    @property
    def representatives(self) -> Indices:
        """The smallest node of every orbit."""
        return np.unique(self.orbit_of, return_index=True)[1].astype(np.int64)

    @property
    def orbit_sizes(self) -> Indices:
        """How many nodes every orbit has."""
        return np.bincount(self.orbit_of)


def symmetry(graph: DatasetGraph, *, colours: Sequence[int] | Indices | None = None) -> Symmetry:
    """Find the automorphisms of a graph.

    Parameters
    ----------
    graph : DatasetGraph
        Of at most 20,000 nodes.
    colours : sequence of int, optional
        One per node; automorphisms must keep them.

    Returns
    -------
    Symmetry
        Paths, cycles, complete, Hamming and histogram graphs without colours need no search; their generators are those
        of the reversal, the turns, and the permutations of nodes, positions, symbols and types.

    Raises
    ------
    BadInput
        When the graph is too large, or igraph is needed and not installed.

    Examples
    --------
    >>> symmetry(Hamming(3, 2)).vertex_transitive, symmetry(Path(5)).representatives.tolist()
    (True, [0, 1, 2])
    """
    count = graph.number_of_nodes
    if count > LARGEST_SYMMETRIC:
        raise BadInput("graph", f"has more than {LARGEST_SYMMETRIC} nodes", "choose a smaller graph")
    known = _of_family(graph) if colours is None else None
    symmetries = _by_search(graph, colours) if known is None else known
    generators = np.array(symmetries, dtype=np.int64).reshape(len(symmetries), count)
    _check_automorphisms(graph, generators)
    if colours is not None and (np.asarray(colours)[generators] != np.asarray(colours)).any():
        raise CertificateRejected("the search for automorphisms found one that does not keep the colours")
    return Symmetry.generated(generators)


@dataclass(frozen=True, slots=True)
class LayerVerdict:
    """Whether layers are regular, in words; with a witness where they are not.

    Parameters
    ----------
    regular : bool
    text : str
        One sentence for people.
    start, layer, toward : int or None
        The node whose layers were counted, a layer of it, and the layer before or after it.
    nodes, counts : pair of int or None
        Two nodes of that layer, and how many neighbours each has in layer `toward`: two different numbers.
    """

    regular: bool
    text: str
    start: int | None = None
    layer: int | None = None
    toward: int | None = None
    nodes: tuple[int, int] | None = None
    counts: tuple[int, int] | None = None


@checked
def regular_layers(graph: DatasetGraph, start: int | None = None, *, group: Symmetry | None = None) -> LayerVerdict:
    """Tell whether the layers around a node, or around every node, are regular.

    Layer d of a node is what has distance d from it. The sequence of layers is regular when all nodes of a layer have
    equally many neighbours in the layer before, and equally many in the layer after.

    Parameters
    ----------
    graph : DatasetGraph
        Connected.
    start : int, optional
        Index of the node; left out, every node is looked at.
    group : Symmetry, optional
        Automorphisms: then one node per orbit is enough.

    Raises
    ------
    BadInput
        When the graph is not connected.

    Examples
    --------
    >>> regular_layers(Path(4), 1).text
    'nodes 0 and 2 in layer 1 of node 1 have 0 and 1 neighbours in layer 2'

    References
    ----------
    [Alda2017], §3: the second hypothesis of Theorem 1.
    """
    if start is not None:
        starts = [integer(start, "start", at_least=0, at_most=graph.number_of_nodes - 1)]
        around = f"node {_name(graph, starts[0])}"
    else:
        starts = list(range(graph.number_of_nodes)) if group is None else group.representatives.tolist()
        around = "every node"
    edges = list(graph.edges())
    tails, heads = (np.concatenate([*(chunk[end] for chunk in edges), np.zeros(0, np.int64)]) for end in (0, 1))
    tails, heads = np.concatenate((tails, heads)), np.concatenate((heads, tails))
    for node in starts:
        verdict = _irregular(graph, node, tails, heads)
        if verdict is not None:
            return verdict
    return LayerVerdict(True, f"the layers around {around} are regular")


def _irregular(graph: DatasetGraph, start: int, tails: Indices, heads: Indices) -> LayerVerdict | None:
    layer = graph.distances_from(start)
    if (layer == UNREACHABLE).any():
        raise BadInput("graph", "must be connected to have layers", "take one component")
    _, first = np.unique(layer, return_index=True)
    for step in (-1, 1):
        counts = np.bincount(tails[layer[heads] == layer[tails] + step], minlength=len(layer))
        different = np.flatnonzero(counts != counts[first[layer]])
        if len(different):
            other = int(different[0])
            here = int(layer[other])
            pair = (int(first[here]), other)
            numbers = (int(counts[pair[0]]), int(counts[other]))
            names = " and ".join(_name(graph, node) for node in pair)
            text = (
                f"nodes {names} in layer {here} of node {_name(graph, start)} have {numbers[0]} and {numbers[1]} "
                f"neighbours in layer {here + step}"
            )
            return LayerVerdict(False, text, start, here, here + step, pair, numbers)
    return None


def _name(graph: DatasetGraph, index: int) -> str:
    return key_of_node(graph.nodes[index])


def _of_family(graph: DatasetGraph) -> list[Indices] | None:
    """Return generators in closed form, or None for a graph that is no family with known ones."""
    index = np.arange(graph.number_of_nodes)
    match graph:
        case Path():
            return [index[::-1]]
        case Cycle():
            return [np.roll(index, 1), index[::-1]]
        case Complete():
            return _of_list(index)
        case Hamming():
            shape = (graph.symbols,) * graph.length
            words = index.reshape(shape)
            positions = [np.transpose(words, turned).ravel() for turned in _of_list(np.arange(graph.length))]
            return positions + [words[turned].ravel() for turned in _of_list(np.arange(graph.symbols))]
        case Histograms():
            counts = graph.counts(index)
            return [graph.ranks(counts[:, turned]) for turned in _of_list(np.arange(graph.types))]
    return None


def _check_automorphisms(graph: DatasetGraph, generators: Indices) -> None:
    """Privacy may be checked on one edge of every orbit only because this holds: so a search is not believed."""
    if (np.sort(generators, axis=1) != np.arange(graph.number_of_nodes)).any():
        raise CertificateRejected("the search for automorphisms returned a list that is not a permutation")
    for tails, heads in graph.edges():
        for row in generators:
            if not graph.adjacent(row[tails], row[heads]).all():
                raise CertificateRejected(
                    "the search for automorphisms returned a permutation that is not an automorphism"
                )


def _of_list(items: Indices) -> list[Indices]:
    """Generate all permutations of a list: exchange the first two, and turn all of it."""
    exchanged = items.copy()
    exchanged[:2] = exchanged[:2][::-1]
    return [exchanged, np.roll(items, 1)]


def _by_search(graph: DatasetGraph, colours: Sequence[int] | Indices | None) -> list[Indices]:
    try:
        import igraph
    except ImportError:
        raise BadInput("igraph", "is not installed", "install irisdp with the extra `graphs`") from None
    pairs = itertools.chain.from_iterable(
        zip(tails.tolist(), heads.tolist(), strict=True) for tails, heads in graph.edges()
    )
    listed = igraph.Graph(n=graph.number_of_nodes, edges=list(pairs))
    kept = None if colours is None else np.unique(np.asarray(colours), return_inverse=True)[1].tolist()
    return [np.array(row, np.int64) for row in listed.automorphism_group(color=kept)]
