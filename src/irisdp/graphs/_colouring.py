"""Colourings and rankings of the nodes of a dataset graph: what the true answer is, or which answers are better."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .._exact import checked, so_many
from .._frames import html_table
from .._hooks import Drawable
from ..errors import BadInput
from ._protocol import DatasetGraph, Indices, Mask, Node, key_of_node, node_from_key

Assignment: TypeAlias = Mapping[Any, Any] | Callable[[Any], Any] | Sequence[Any] | npt.NDArray[Any]
"""One value per node: a mapping from names, a function of names, or a sequence in index order."""

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True, eq=False)
class ColouredGraph(Drawable):
    """A graph whose nodes fall into classes of equal colour; made by `colour`.

    Parameters
    ----------
    graph : DatasetGraph
        The graph.
    classes : tuple
        The colours that occur, in the order of their first nodes.
    codes : int64 array, shape (number_of_nodes,)
        The class of each node, as a position in `classes`.
    """

    graph: DatasetGraph
    classes: tuple[Hashable, ...]
    codes: Indices
    _classes_are: ClassVar[str] = "colour"

    @checked
    def colour_of(self, node: Node) -> Hashable:
        """Return the colour (or ranking) of a named node."""
        return self.classes[int(self.codes[self.graph.index_of(node)])]

    @checked
    def in_class(self, colour: Hashable) -> Mask:
        """Mark the nodes of one colour (or ranking)."""
        try:
            known = isinstance(colour, Hashable) and colour in self.classes
        except (TypeError, ValueError):  # of a value that compares with nothing, such as pandas.NA
            known = False
        if not known:
            raise BadInput("colour", "is the colour of no node", "choose a colour that occurs")
        mask: Mask = self.codes == self.classes.index(colour)
        return mask

    def _repr_html_(self) -> str:
        """Show in a notebook how many nodes each class has."""
        counted = np.bincount(self.codes, minlength=len(self.classes)).tolist()
        graph = f"{so_many(self.graph.number_of_nodes, 'node')} and {so_many(self.graph.number_of_edges, 'edge')}"
        rows = list(zip(self.classes, counted, strict=True))
        return html_table(f"{type(self).__name__}: {graph}", [self._classes_are, "nodes"], rows)


@dataclass(frozen=True, slots=True, eq=False)
class RankedGraph(ColouredGraph):
    """A graph whose nodes rank the outputs, best first; made by `rank`. [Gu2024] calls a ranking a rainbow.

    Parameters
    ----------
    outputs : tuple
        The outputs, in the order in which the first node ranks them; every class is a permutation of them.

    Attributes
    ----------
    orders : tuple, one per class, of tuples of integers, one per output
        The ranking of every class as positions in `outputs`, best first.

    Examples
    --------
    >>> from irisdp.graphs import Path
    >>> ranked = rank(Path(3), [("a", "b", "c"), ("a", "b", "c"), ("c", "a", "b")])
    >>> ranked.rankings, ranked.orders
    ((('a', 'b', 'c'), ('c', 'a', 'b')), ((0, 1, 2), (2, 0, 1)))
    >>> ranked.along_ranking(1, ("to a", "to b", "to c"))
    ('to c', 'to a', 'to b')
    >>> ranked.along_outputs(1, ("best", "second", "worst"))
    ('second', 'worst', 'best')
    """

    _classes_are: ClassVar[str] = "ranking"
    outputs: tuple[Hashable, ...]
    orders: tuple[tuple[int, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Look up the position of every output once."""
        position_of = {output: position for position, output in enumerate(self.outputs)}
        orders = tuple(tuple(position_of[output] for output in ranking) for ranking in self.rankings)
        object.__setattr__(self, "orders", orders)

    @property
    def rankings(self) -> tuple[tuple[Hashable, ...], ...]:
        """The rankings that occur: `classes`, as the tuples of outputs that they are."""
        return cast("tuple[tuple[Hashable, ...], ...]", self.classes)

    def along_ranking(self, code: int, row: Sequence[Entry]) -> tuple[Entry, ...]:
        """Bring a row, shape (len(outputs),), from the order of the outputs to that of a class's ranking."""
        return tuple(row[position] for position in self.orders[code])

    def along_outputs(self, code: int, row: Sequence[Entry]) -> tuple[Entry, ...]:
        """Bring a row, shape (len(outputs),), from the order of a class's ranking to that of the outputs."""
        placed = dict(zip(self.orders[code], row, strict=True))
        return tuple(placed[position] for position in range(len(row)))


@checked
def colour(graph: DatasetGraph, colours: Assignment) -> ColouredGraph:
    """Colour a graph.

    Parameters
    ----------
    graph : DatasetGraph
        The graph.
    colours : mapping, function or sequence
        A hashable colour for every node: by name, as a function of the name, or in index order.

    Raises
    ------
    BadInput
        When a node has no colour, when something that is no node has one, or when a colour is not hashable.

    Examples
    --------
    >>> from irisdp.graphs import Hamming
    >>> cube = colour(Hamming(3, 2), lambda word: "blue" if word.count("0") >= 2 else "red")
    >>> cube.classes, cube.codes.tolist()
    (('blue', 'red'), [0, 0, 0, 1, 0, 1, 1, 1])
    """
    classes, codes = _classes(values_at_nodes(graph, colours, "colors"), "colors")
    return ColouredGraph(graph, classes, codes)


@checked
def rank(graph: DatasetGraph, rankings: Assignment) -> RankedGraph:
    """Give every node a ranking of the outputs.

    Parameters
    ----------
    graph : DatasetGraph
        The graph.
    rankings : mapping, function or sequence
        A sequence of all outputs, best first, for every node: by name, as a function of the name, or in index order.

    Raises
    ------
    BadInput
        As for `colour`, and when two rankings are not permutations of the same outputs.

    References
    ----------
    [Gu2024], Definitions 1 and 5.
    """
    given = values_at_nodes(graph, rankings, "rankings")
    if any(isinstance(ranking, str) or not isinstance(ranking, Sequence | np.ndarray) for ranking in given):
        raise BadInput("rankings", "must be lists of outputs", "write each as [best, …, worst]")
    classes, codes = _classes([tuple(ranking) for ranking in given], "rankings")
    distinct = cast("tuple[tuple[Hashable, ...], ...]", classes)
    outputs = distinct[0]
    if any(len(set(ranking)) != len(ranking) or set(ranking) != set(outputs) for ranking in distinct):
        raise BadInput("rankings", "must each name every output once", "rank the same outputs at every node")
    return RankedGraph(graph, classes, codes, outputs)


@checked
def colours_by_key(graph: DatasetGraph, document: Any, field: str = "colors") -> dict[Node, Any]:
    """Read a JSON object whose keys name nodes, for `colour` and `rank`; see `node_from_key` for the keys.

    Parameters
    ----------
    graph : DatasetGraph
        Whose nodes are named.
    document : dict
        Node → value, as JSON has it.
    field : str
        What messages call the object.

    Raises
    ------
    BadInput
        For what is no object, or a node that is unknown or named twice.
    """
    if not isinstance(document, dict):
        raise BadInput(field, "must be a JSON object", "write {node: value, …}")
    result: dict[Node, Any] = {}
    for key, value in document.items():
        node = node_from_key(graph, key, f"{field}[{key!r}]")
        if node in result:
            raise BadInput(f"{field}[{key!r}]", "names a node a second time", "name every node once")
        result[node] = value
    return result


def values_at_nodes(graph: DatasetGraph, given: Assignment, field: str) -> Sequence[Any] | npt.NDArray[Any]:
    """List one value per node, in index order.

    Raises
    ------
    BadInput
        When a node has no value, or something that is no node has one.
    """
    if callable(given):
        return [given(node) for node in graph.nodes]
    if not isinstance(given, Mapping):
        if (
            isinstance(given, bytes | type)
            or not isinstance(given, Sequence | np.ndarray)
            or getattr(given, "shape", None) == ()
        ):
            raise BadInput(field, "must be a mapping, a function or a sequence", "give a value for every node")
        if (isinstance(given, range) and given.stop > sys.maxsize) or len(given) != graph.number_of_nodes:
            raise BadInput(field, f"must be {graph.number_of_nodes}, one per node", "give a value for every node")
        return given
    values = []
    for node in graph.nodes:
        if node not in given:
            raise BadInput(field, f"leave out the node {key_of_node(node)}", "give a value for every node")
        values.append(given[node])
    if len(given) > len(values):
        stranger = next(node for node in given if node not in graph.nodes)
        raise BadInput(field, f"name {stranger}, which is not a node", "drop it, or add it to the graph")
    return values


def _classes(values: Sequence[Any] | npt.NDArray[Any], field: str) -> tuple[tuple[Hashable, ...], Indices]:
    """Number distinct values in the order of their first places."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuSU":
        distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return tuple(distinct[order].tolist()), np.argsort(order)[inverse].astype(np.int64)
    numbers: dict[Hashable, int] = {}
    try:
        codes = [numbers.setdefault(value, len(numbers)) for value in values]
    except TypeError:
        raise BadInput(field, "must be hashable", "use strings, numbers or tuples") from None
    return tuple(numbers), np.array(codes, np.int64)
