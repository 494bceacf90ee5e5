"""A finite mechanism: a few distinct rows, and a map that says which input uses which row.

data —query→ node —mechanism→ answer, and privacy comes down the arrow for free: `pullback` re-maps the inputs,
`post_process` the outputs, and neither can cost privacy (docs/theory.md#pullback).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, entries, integer, numbers
from .._sampling import BitSource, draw, integers
from ..errors import BadInput
from ..graphs import DatasetGraph, NodeNames, as_node, json_node, named_nodes
from ..privacy import Privacy
from ._file_format import Serializable, StatedObjective, exact_text

Row = tuple[Fraction, ...]
"""A law: the probability of each output, in the mechanism's order, with sum 1 exactly."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Mechanism(Serializable):
    """A row-stochastic matrix held as distinct rows and a map from inputs to rows.

    Parameters
    ----------
    privacy : Privacy
        The mechanism's guarantee on `graph`. A claim: `irisdp.audit` checks it.
    inputs : sequence of names
        The n inputs, all different: strings, integers or tuples of these; a `range` costs nothing.
    outputs : tuple of hashable
        Names of the q outputs, all different.
    rows : tuple of m rows
        Each row is q exact probabilities that sum to 1.
    row_of : array of n integers
        Which row an input uses.
    graph : DatasetGraph, optional
        Its edges join neighbouring inputs; nodes are the inputs, in the same order.
    objective : Objective, optional
        What was optimised, with its certified bound.
    certificate : mapping, optional
        JSON-ready evidence of optimality; see `irisdp.certify`.
    """

    privacy: Privacy
    inputs: NodeNames
    outputs: tuple[Hashable, ...]
    rows: tuple[Row, ...]
    row_of: NDArray[np.int64]
    graph: DatasetGraph | None = None
    objective: StatedObjective | None = None
    certificate: Mapping[str, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Hold only row-stochastic matrices with matching shapes."""
        object.__setattr__(self, "inputs", named_nodes(self.inputs, "inputs"))
        if len(set(self.outputs)) != len(self.outputs) or not self.outputs:
            raise BadInput("outputs", "must be different from each other and at least one", "rename the outputs")
        if not isinstance(self.row_of, np.ndarray) or self.row_of.shape != (len(self.inputs),):
            raise BadInput("row_of", "must name one row for every input", "give as many entries as inputs")
        if len(self.row_of) and not 0 <= self.row_of.min() <= self.row_of.max() < len(self.rows):
            raise BadInput("row_of", "names a row that is not there", f"use numbers from 0 to {len(self.rows) - 1}")
        for row in self.rows:
            _check_row(row, len(self.outputs), "matrix")
        self.row_of.setflags(write=False)

    @classmethod
    @checked
    def from_matrix(
        cls,
        matrix: Iterable[Sequence[Any]],
        *,
        privacy: Privacy,
        inputs: Sequence[Hashable] | None = None,
        outputs: Sequence[Hashable] | None = None,
        graph: DatasetGraph | None = None,
        objective: StatedObjective | None = None,
        certificate: Mapping[str, Any] | None = None,
    ) -> Mechanism:
        """Read a matrix with one row per input; equal rows are kept once.

        Inputs default to the graph's nodes, or to 0..n−1; outputs to 0..q−1.
        """
        places: dict[Row, int] = {}
        row_of = []
        lines = entries(matrix)
        if lines is None:
            raise BadInput("matrix", "must be a table of numbers", "give one row of probabilities for every input")
        for line in lines:
            row = numbers(line, "matrix")
            row_of.append(places.setdefault(row, len(places)))
        rows = tuple(places)
        if not rows:
            raise BadInput("matrix", "has no rows", "give one row of probabilities for every input")
        if inputs is None:
            inputs = graph.nodes if graph is not None else range(len(row_of))
        if outputs is None:
            outputs = range(len(rows[0]))
        return cls(
            privacy=privacy,
            inputs=named_nodes(inputs, "inputs"),
            outputs=_names(outputs, len(rows[0])),
            rows=rows,
            row_of=np.array(row_of, dtype=np.int64),
            graph=graph,
            objective=objective,
            certificate=certificate,
        )

    @checked
    def position(self, node: Hashable) -> int:
        """Return the position of an input, or say which inputs there are."""
        position = self.inputs.position(node)
        if position is None:
            raise BadInput("input", "is not an input of this mechanism", f"choose one of {self.inputs!r}")
        return position

    @checked
    def row(self, node: Hashable) -> Row:
        """Return the distribution of the answer for one input."""
        return self.rows[self.row_of[self.position(node)]]

    def matrix(self) -> list[Row]:
        """Return one row per input, in the order of `inputs`."""
        return [self.rows[number] for number in self.row_of]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the matrix, one row per input: the nearest floats, or exact fractions as `object`."""
        if copy is False:
            raise ValueError("a mechanism holds no array: numpy.asarray(mechanism) makes one")
        exact = dtype is not None and np.dtype(dtype) == object
        rows = np.array(self.rows, dtype=object if exact else np.float64)
        return rows[self.row_of].astype(dtype or np.float64, copy=False)

    @checked
    def draw_positions(self, node: Hashable, count: int, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw `count` independent answers to one input.

        Returns
        -------
        array of int64, shape (count,)
            Positions in `outputs`, with exactly the probabilities of the input's row.
        """
        draws = integer(count, "count", at_least=0)
        return draw([self.row(node)], np.zeros(draws, dtype=np.int64), source=source)

    @checked
    def draw_each(self, places: Any, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw one answer for each position in `inputs`, independently, as positions in `outputs`."""
        numbers = integers(places, "places", at_least=0, at_most=len(self.inputs) - 1)
        return draw(self.rows, self.row_of[numbers], source=source)

    def _table(self) -> dict[str, Any]:
        document: dict[str, Any] = {} if self.graph is None else {"graph": self.graph.to_document()}
        document["inputs"] = [json_node(node) for node in self.inputs]
        document["outputs"] = [json_node(as_node(node, "outputs")) for node in self.outputs]
        texts = [[exact_text(p, "matrix") for p in row] for row in self.rows]
        if 2 * len(self.rows) <= len(self.inputs):
            return {**document, "rows": texts, "row_of": self.row_of.tolist()}
        return {**document, "matrix": [texts[number] for number in self.row_of]}

    @checked
    def pullback(self, query: Mapping[Hashable, Hashable], *, graph: DatasetGraph | None = None) -> Mechanism:
        """Answer for other inputs by first mapping them to this mechanism's.

        Parameters
        ----------
        query : mapping
            New input → input of this mechanism. If it sends neighbours of `graph` to neighbours or equals
            (`irisdp.graphs.check_morphism`), the result is as private on `graph` as this mechanism is on its own.
        graph : DatasetGraph, optional
            The graph of the new inputs.

        References
        ----------
        [DOliveira2021], Theorem 1.
        """
        positions = [self.inputs.position(target) for target in query.values()]
        if None in positions:
            raise BadInput("query", "maps to something that is no input", f"map to one of {self.inputs!r}")
        row_of = self.row_of[np.array(positions, dtype=np.int64)]
        return replace(
            self, inputs=named_nodes(query, "inputs"), row_of=row_of, graph=graph, objective=None, certificate=None
        )

    @checked
    def post_process(self, reading: Sequence[Sequence[Any]], *, outputs: Sequence[Hashable] | None = None) -> Mechanism:
        """Re-map the answers by a stochastic matrix (one row per output of this mechanism); costs no privacy."""
        channel = [numbers(line, "reading") for line in reading]
        names = tuple(range(len(channel[0])) if outputs is None else outputs) if channel else ()
        if len(channel) != len(self.outputs):
            raise BadInput("reading", "must have one row for every output", f"give {len(self.outputs)} rows")
        for line in channel:
            check_distribution(line, len(names), "reading")
        rows = tuple(
            tuple(
                sum((p * line[j] for p, line in zip(row, channel, strict=True) if p), Fraction(0))
                for j in range(len(names))
            )
            for row in self.rows
        )
        return replace(self, outputs=names, rows=rows, objective=None, certificate=None)

    @checked
    def dominates(self, other: Mechanism, ranking: Callable[[Hashable], Sequence[Hashable]]) -> bool:
        """Tell whether at every input every prefix sum in that input's ranking is at least the other's.

        Parameters
        ----------
        other : Mechanism
            With the same inputs and outputs.
        ranking : callable
            Input → all outputs, best first.

        References
        ----------
        [Gu2024], dominance; docs/theory.md#rainbows.
        """
        if tuple(self.inputs) != tuple(other.inputs) or set(self.outputs) != set(other.outputs):
            raise BadInput("other", "must have the same inputs and outputs", "compare mechanisms of one question")
        for node in self.inputs:
            here, there = (dict(zip(m.outputs, m.row(node), strict=True)) for m in (self, other))
            ahead = Fraction(0)
            for output in ranking(node):
                ahead += here[output] - there[output]
                if ahead < 0:
                    return False
        return True


def _names(outputs: Any, count: int) -> tuple[Hashable, ...]:
    """Read the names of the outputs: NumPy's scalars as Python's, and a list as a tuple."""
    listed = list(outputs) if isinstance(outputs, str) else entries(outputs, count)
    if listed is None or len(listed) != count:
        raise BadInput("outputs", f"must be {count} names", "name every column of the matrix")
    names = [name.item() if isinstance(name, np.generic) else _as_tuple(name) for name in listed]
    if not all(isinstance(name, Hashable) for name in names):
        raise BadInput("outputs", "must be named by text, numbers or tuples", "rename the outputs")
    return tuple(names)


def _as_tuple(name: Any) -> Any:
    return tuple(map(_as_tuple, name)) if isinstance(name, list | tuple) else name


@checked
def check_distribution(row: Sequence[Fraction], length: int, name: str) -> None:
    """Refuse a row that is not `length` non-negative numbers with sum exactly 1.

    Parameters
    ----------
    row : sequence of Fraction
        Probabilities.
    length : int
        How many there must be.
    name : str
        What messages call the row.

    Raises
    ------
    BadInput
        For any other row.
    """
    _check_row(row, length, name)


def _check_row(row: Sequence[Fraction], length: int, name: str) -> None:
    """Do so for one of a million rows, whose types need no look each."""
    if len(row) != length:
        raise BadInput(name, f"has a row of {len(row)} entries", f"give {length} in every row")
    if min(entry.numerator for entry in row) < 0:
        raise BadInput(name, "has a negative entry", "probabilities are at least 0")
    # Over a common denominator, which is much quicker than adding fractions one by one.
    denominator = math.lcm(*{entry.denominator for entry in row})
    if sum(entry.numerator * (denominator // entry.denominator) for entry in row) != denominator:
        raise BadInput(name, "has a row that does not sum to exactly 1", 'write exact probabilities, such as "1/3"')
