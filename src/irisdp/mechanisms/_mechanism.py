"""A finite mechanism: a few distinct rows, and a map that says which input uses which row.

data —query→ node —mechanism→ answer, and privacy comes down the arrow for free: `pullback` re-maps the inputs,
`post_process` the outputs, and neither can cost privacy (docs/theory.md#pullback).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._exact import Table, checked, entries, integer, numbers, short_text, table
from .._sampling import BitSource, draw, integers
from ..errors import BadInput
from ..graphs import DatasetGraph, NodeNames, as_node, json_node, named_nodes, same_graph
from ..privacy import Privacy
from ._file_format import Serializable, StatedObjective, exact_text
from ._remap import read_remap

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

    Notes
    -----
    Two mechanisms are equal (`==`) if their inputs, outputs, probabilities, privacy and neighbours are, in the same
    order; objectives and certificates are not compared. Equal mechanisms have one hash.
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
        """Read a matrix with one row per input; equal rows are kept once. `from_array` reads rounded matrices.

        Inputs default to the graph's nodes, or to 0..n−1; outputs to 0..q−1.
        """
        places: dict[Any, tuple[int, Row]] = {}
        row_of = []
        lines = entries(matrix)
        if lines is None:
            raise BadInput("matrix", "must be a table of numbers", "give one row of probabilities for every input")
        for line in lines:
            row = numbers(line, "matrix")
            same = tuple([entry.as_integer_ratio() for entry in row])  # pairs of integers are hashed much faster
            row_of.append(places.setdefault(same, (len(places), row))[0])
        rows = tuple(row for _, row in places.values())
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

    @classmethod
    @checked
    def from_array(
        cls,
        matrix: Any,
        *,
        privacy: Privacy,
        graph: DatasetGraph | None = None,
        normalise: Literal["rows", "round"] | None = None,
        inputs: Sequence[Hashable] | None = None,
        outputs: Sequence[Hashable] | None = None,
    ) -> Mechanism:
        """Read a matrix that was computed or printed, whose rows may miss 1 by rounding.

        Nothing is changed unless you ask for it. Either change may cost privacy: `irisdp.audit` says how much the
        mechanism has, and `irisdp.design.repair` makes a matrix private.

        Parameters
        ----------
        matrix : array, data frame or nested lists
            One row per input, one column per output. A float is read as its shortest decimal: 0.333 is 333/1000.
        privacy : Privacy
            What the mechanism states. A claim, as in every mechanism.
        graph : DatasetGraph, optional
            Its edges join neighbouring inputs; its nodes are the inputs in order. Drawing needs no graph; an audit
            does.
        normalise : {"rows", "round"}, optional
            "rows" divides every row by its sum; ratios between neighbours change by at most the ratio of their sums.
            "round" keeps all entries as printed but the largest of each row, which takes what the row misses. Only
            that entry's constraints change. It is for rounded matrices: a row may miss 1 by half a unit of the last
            decimal per entry, or by 1e-6. Rows of zeros, and rows of whole numbers that do not sum to 1, are refused.
        inputs, outputs : sequence, optional
            Names; the graph's nodes (or 0..n−1) and 0..q−1 when left out.

        Raises
        ------
        BadInput
            For negative entries, and rows that do not sum to exactly 1 where `normalise` is left out.

        Examples
        --------
        >>> from irisdp import Privacy
        >>> from irisdp.graphs import Path
        >>> printed = [[0.667, 0.222, 0.112], [0.333, 0.333, 0.333], [0.112, 0.222, 0.667]]
        >>> made = Mechanism.from_array(printed, graph=Path(3), privacy=Privacy(ratio=3), normalise="round")
        >>> [str(row[0]) for row in made.matrix()]
        ['333/500', '167/500', '14/125']
        """
        rows = table(matrix, "matrix", rows=None if graph is None else graph.number_of_nodes)
        if any(min(row) < 0 for row in rows):
            raise BadInput("matrix", "has a negative entry", "probabilities are at least 0")
        return cls.from_matrix(
            _normalised(rows, normalise), privacy=privacy, graph=graph, inputs=inputs, outputs=outputs
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

    def __eq__(self, other: object) -> bool:
        """Tell whether two mechanisms have the same inputs, outputs, probabilities, privacy and neighbours."""
        if not isinstance(other, Mechanism):
            return NotImplemented
        return (
            self.privacy == other.privacy
            and self.outputs == other.outputs
            and len(self.inputs) == len(other.inputs)
            and tuple(self.inputs) == tuple(other.inputs)
            and all(
                self.rows[i] == other.rows[j]
                for i, j in np.unique(np.stack([self.row_of, other.row_of]), axis=1).T.tolist()
            )
            and same_graph(self.graph, other.graph)
        )

    def __hash__(self) -> int:
        """Return what equal mechanisms have in common, cheaply."""
        return hash((self.privacy, self.outputs, len(self.inputs), self.rows[self.row_of[0]]))

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
        return Mechanism(
            privacy=self.privacy,
            inputs=named_nodes(query, "inputs"),
            outputs=self.outputs,
            rows=self.rows,
            row_of=row_of,
            graph=graph,
        )

    @checked
    def post_process(self, reading: Any, *, outputs: Sequence[Hashable] | None = None) -> Mechanism:
        """Re-map the answers by a stochastic matrix, which costs no privacy.

        Parameters
        ----------
        reading : matrix, mapping, Mechanism or OptimalReading
            A matrix (nested lists, array or data frame) has one row per output of this mechanism, in their order, and
            one column per new answer. A mapping gives for every output its new answer, {new answer: probability}, or
            pairs (new answer, probability). A mechanism has these outputs as inputs. `irisdp.consumers.optimal_reading`
            finds the best reading for a consumer. Probabilities are exact; a float is read as its shortest decimal.
        outputs : sequence, optional
            Names of the new answers. Left out, they are 0..q−1; of a mapping the answers that occur, ascending if all
            are integers; of a mechanism its outputs.

        Raises
        ------
        BadInput
            For rows that are no distributions, and for an output that is left out.

        Examples
        --------
        >>> from irisdp import Privacy, design
        >>> noisy = design.geometric(2, Privacy(ratio=2))
        >>> noisy.post_process({0: "few", 1: {"few": "1/2", "many": "1/2"}, 2: "many"}).row(0)
        (Fraction(3, 4), Fraction(1, 4))
        """
        names, lines = read_remap(reading, self.outputs, outputs)
        rows = []
        for row in self.rows:
            new = [Fraction(0)] * len(names)
            for p, line in zip(row, lines, strict=True):
                for place, share in line if p else ():
                    new[place] += p * share
            rows.append(tuple(new))
        return Mechanism(
            privacy=self.privacy,
            inputs=self.inputs,
            outputs=names,
            rows=tuple(rows),
            row_of=self.row_of,
            graph=self.graph,
        )

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


_SLIP = Fraction(1, 10**6)
"""What rows of computed numbers may miss 1 by."""


def _normalised(rows: Table, how: str | None) -> Table:
    """Make rows sum to 1 as a caller asked."""
    sums = [sum(row, Fraction(0)) for row in rows]
    if how is None:
        off = next((total for total in sums if total != 1), None)
        if off is not None:
            rule = f"has a row that misses 1 by {short_text(abs(off - 1))}"
            raise BadInput("matrix", rule, _NORMALISE)
        return rows
    if how == "rows":
        if min(sums) == 0:
            raise BadInput("matrix", "has a row of zeros", "give every input a positive probability somewhere")
        return tuple(tuple(p / total for p in row) for row, total in zip(rows, sums, strict=True))
    if any(not any(row) for row in rows):
        raise BadInput("matrix", "has a row of zeros", "give every input a positive probability somewhere")
    half = _unit(rows) / 2
    half = Fraction(0) if 2 * half == 1 else half  # whole numbers have no decimals that were rounded
    if any(
        not -max(_SLIP, half * sum(map(bool, row))) <= 1 - total <= max(_SLIP, half * len(row))
        for row, total in zip(rows, sums, strict=True)
    ):
        rule = f"has a row that misses 1 by {short_text(max(abs(x - 1) for x in sums))}, more than rounding explains"
        raise BadInput("matrix", rule, 'correct it, or give normalise="rows" to divide every row by its sum')
    result = []
    for row, total in zip(rows, sums, strict=True):
        largest = max(range(len(row)), key=row.__getitem__)
        result.append(tuple(p + (1 - total if v == largest else 0) for v, p in enumerate(row)))
    return tuple(result)


_NORMALISE = 'give normalise="rows" to divide rows by their sums, or "round" to let each largest entry take the rest'


def _unit(rows: Table) -> Fraction:
    """Return the last decimal in which entries are written, 10^-d; 0 where one is no decimal."""
    places = 0
    for denominator in {p.denominator for row in rows for p in row}:
        while 10**places % denominator:
            places += 1
            if places > _MOST_PLACES:
                return Fraction(0)
    return Fraction(1, 10**places)


_MOST_PLACES = 30


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
