"""Mechanisms as frames, and matrices that other libraries hold in memory read as what `audit` judges.

Numbers are read as `irisdp.certify.read_mechanism` reads them in files: exactly as given. A float in an array or a
frame is the dyadic rational it is; text is read as written. Nothing is repaired unless it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from numbers import Rational
from typing import Any

import narwhals as nw
import numpy as np

from .._exact import checked, short_text
from .._frames import asked, computed, opened
from .._lazy import needed
from ..certify import matrix_document
from ..errors import BadInput
from ..graphs import DatasetGraph, NodeNames, as_node, named_nodes
from ..mechanisms import Mechanism, MechanismDocument
from ..privacy import Privacy

# Match the rows of a frame to inputs by its index, compared with the graph and never guessed.
#
# An index that was set names the inputs. The default index of pandas (a `RangeIndex` from 0 without a name) names
# nothing: rows are then the graph's nodes in order.

_IN_ORDER = "frame.index = list(graph.nodes) says that rows stand in the order of its nodes"
_COUNTING = {"kind": "range", "name": None, "start": 0, "step": 1}
"""How pandas tells Arrow of an index that nobody set."""


def named_inputs(table: nw.DataFrame[Any], graph: DatasetGraph | None) -> NodeNames | None:
    """Return the input that each row of a frame is for; None where the frame names none.

    Raises
    ------
    BadInput
        For an index that names other inputs than the graph's nodes, or one twice. Also for a default index, if the
        graph's nodes are its numbers in another order, and for an Arrow table that has put an index of pandas aside.
    """
    said = asked(lambda: _index(table), "frame", "has an index that cannot be read", "frame.reset_index(drop=True)")
    if said is None:
        return None
    names, was_set = said
    if not was_set:
        if graph is not None and _other_order(graph.nodes, len(names)):
            rule = "has an index 0, 1, … that nobody set, and the graph's nodes are these numbers in another order"
            raise BadInput("frame", rule, f'{_IN_ORDER}, frame.rename_axis("input") that the index names them')
        return None
    inputs = named_nodes(names, "inputs")
    if graph is not None and any(graph.nodes.position(name) is None for name in inputs):
        raise BadInput("frame", "has an index that names other inputs than the graph's nodes", _IN_ORDER)
    return inputs


def _index(table: nw.DataFrame[Any]) -> tuple[Sequence[Hashable], bool] | None:
    """Return what the index holds, and whether somebody set it; None for frames that have none."""
    native = table.to_native()
    if table.implementation.is_pyarrow():
        _check_aside(native)
        return None
    index = nw.maybe_get_index(table)
    if index is None:
        return None
    counting = type(index).__name__ == "RangeIndex" and index.name is None and (index.start, index.step) == (0, 1)
    return (range(len(index)), False) if counting else (list(index), True)


def _check_aside(table: Any) -> None:
    """Refuse an Arrow table made of a pandas frame whose index was set: it is a column there, or a remark."""
    told = (table.schema.metadata or {}).get(b"pandas")
    indexes = json.loads(told)["index_columns"] if told else []
    for index in indexes:
        counting = isinstance(index, dict) and all(index.get(key) == value for key, value in _COUNTING.items())
        if not counting and (isinstance(index, dict) or index in table.column_names):
            rule = "is an Arrow table of a pandas frame whose index was set, which is no column of answers"
            raise BadInput("frame", rule, "give frame.to_pandas()")


def _other_order(nodes: NodeNames, count: int) -> bool:
    """Tell whether nodes are the numbers 0..count − 1, and in another order."""
    if any(nodes.position(number) is None for number in range(count)):
        return False
    return any(nodes.position(number) != number for number in range(count))


_FARTHEST = Fraction(1, 10**6)
"""How far from 1 floats may sum: far more than rounding, far less than a mistake."""


@checked
def to_frame(mechanism: Mechanism, *, exact: bool = False) -> Any:
    """Return a mechanism as a pandas frame: a row for every input, a column for every output.

    `numpy.asarray(mechanism)` is the same table without names.

    Parameters
    ----------
    mechanism : Mechanism
        With n inputs and q outputs.
    exact : bool
        Whether entries are exact fractions; else they are the nearest floats, for looking and plotting.

    Returns
    -------
    pandas.DataFrame, n × q
        Inputs are its index, outputs its columns. What is exact, `matrix_from_frame` reads back as it was; floats need
        not sum to exactly 1.

    Raises
    ------
    BadInput
        Where pandas is not installed.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> to_frame(design.geometric(1, Privacy(ratio=3)), exact=True).loc[0].tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    pandas = needed("pandas", "all")
    entries = np.asarray(mechanism, dtype=object if exact else np.float64)
    index = pandas.Index(list(mechanism.inputs), name="input", tupleize_cols=False)
    columns = pandas.Index(list(mechanism.outputs), name="output", tupleize_cols=False)
    return pandas.DataFrame(entries, index=index, columns=columns)


@checked
def matrix_from_frame(
    frame: Any, *, graph: DatasetGraph | None = None, privacy: Privacy | None = None, normalise: bool = False
) -> MechanismDocument:
    """Read a frame of probabilities, one row for every input and one column for every output.

    Parameters
    ----------
    frame : dataframe
        pandas, Polars, PyArrow or any other that narwhals reads. Floats are the dyadic rationals that they are, text
        is read as written ("1/3"), fractions stay as they are. Columns name the outputs. An index of pandas that was
        set names the inputs, in whatever order; one that was not (0, 1, … without a name) names nothing.
    graph : DatasetGraph, optional
        Which inputs are neighbours: a node for each row. If the frame names no inputs, they are its nodes in order.
    privacy : Privacy, optional
        What is claimed.
    normalise : bool
        Whether each row is divided by its sum, exactly. Only what rounding explains is mended so: sums within 1e-6
        of 1.

    Returns
    -------
    MechanismDocument
        Not yet judged: `irisdp.audit` says whether its rows sum to 1 and how private it is.

    Raises
    ------
    BadInput
        For values that are not a frame of numbers, missing values, NaN and infinity, names that occur twice, and an
        index that names other inputs than the graph. Also for a default index 0, 1, … if the graph's nodes are these
        numbers in another order, because it could mean either.

    Examples
    --------
    >>> import irisdp
    >>> before = irisdp.design.geometric(4, irisdp.Privacy(epsilon=1))
    >>> after = matrix_from_frame(to_frame(before, exact=True), graph=before.graph, privacy=before.privacy)
    >>> irisdp.audit(after).holds
    True
    """
    given = opened(frame, "frame", "give a column for every output")

    def held() -> tuple[Any, list[Any], list[list[Any]]]:
        table = computed(given)
        return table, list(table.columns), [_entries(column.to_list()) for column in table.iter_columns()]

    table, columns, values = asked(held, "frame", "holds what cannot be read", "give a probability in every place")
    names = [as_node(name, "frame") for name in columns]
    if not values or not values[0]:
        raise BadInput("frame", "must have a row for every input", "give a column for every output")
    document = _read([list(row) for row in zip(*values, strict=True)], graph, privacy, normalise)
    inputs = named_inputs(table, graph)
    return _named(document, inputs, names)


@checked
def matrix_from_array(
    array: Any,
    *,
    graph: DatasetGraph | None = None,
    privacy: Privacy | None = None,
    outputs: Sequence[Hashable] | None = None,
    normalise: bool = False,
) -> MechanismDocument:
    """Read an array of probabilities, such as a channel of qif: one row for every input, one column for every output.

    Parameters
    ----------
    array : NumPy array, shape (n, q)
        Of floats, which are the dyadic rationals that they are, of integers, or of exact fractions, as qif has them by
        `qif.rat`.
    graph : DatasetGraph, optional
        Which inputs are neighbours: n nodes, in the order of the rows.
    privacy : Privacy, optional
        What is claimed.
    outputs : sequence of names, optional
        [default: 0, 1, …]
    normalise : bool
        Whether each row is divided by its sum, exactly. Only what rounding explains is mended so: sums within 1e-6
        of 1.

    Returns
    -------
    MechanismDocument
        Not yet judged: `irisdp.audit` says whether its rows sum to 1 and how private it is.

    Raises
    ------
    BadInput
        For what is no array of real numbers in two dimensions, and NaN and infinity.

    Examples
    --------
    >>> import irisdp, numpy
    >>> thirds = numpy.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    >>> claim = {"graph": irisdp.graphs.Path(2), "privacy": irisdp.Privacy(ratio=2)}
    >>> irisdp.audit(matrix_from_array(thirds, **claim)).rows_sum_to_one
    False
    >>> irisdp.audit(matrix_from_array(thirds, **claim, normalise=True)).holds
    True
    """
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iufO" or not array.size:
        raise BadInput("array", "must be a two-dimensional NumPy array of real numbers", "give one row per input")
    rows = [_entries(row if array.dtype.itemsize > 8 else row.tolist(), "array") for row in array]
    return _named(_read(rows, graph, privacy, normalise), None, outputs)


def _entries(values: Iterable[Any], field: str = "frame") -> list[Any]:
    """Make floats of the numbers they are; what else there is, is read further on."""
    result: list[Any] = []
    for value in values:
        if isinstance(value, Rational) and not isinstance(value, bool):
            result.append(Fraction(int(value.numerator), int(value.denominator)))
        elif isinstance(value, float | np.floating):
            if not np.isfinite(value):
                raise BadInput(field, "holds NaN or infinity", "give finite numbers")
            result.append(Fraction(*value.as_integer_ratio()))
        elif isinstance(value, str) and field == "frame":
            result.append(value)
        else:
            raise BadInput(field, "must hold numbers", "give a probability in every place")
    return result


def _read(
    rows: list[list[Any]], graph: DatasetGraph | None, privacy: Privacy | None, normalise: bool
) -> MechanismDocument:
    document = matrix_document(rows, graph=graph, privacy=privacy)
    if not normalise:
        return document
    scaled = []
    for row in document.rows:
        total = sum(row, Fraction(0))
        if abs(total - 1) > _FARTHEST:
            rule = f"has a row that sums to {short_text(total)}, which no rounding explains"
            raise BadInput("matrix", rule, "correct it, or leave normalise out")
        scaled.append(tuple(entry / total for entry in row))
    return replace(document, rows=tuple(scaled))


def _named(
    document: MechanismDocument, inputs: Sequence[Hashable] | None, outputs: Sequence[Hashable] | None
) -> MechanismDocument:
    if inputs is not None:
        document = replace(document, inputs=named_nodes(inputs, "inputs"))
    if outputs is not None:
        names = tuple(named_nodes(outputs, "outputs"))
        if len(names) != len(document.outputs):
            raise BadInput("outputs", "must name every column once", f"give {len(document.outputs)} names")
        document = replace(document, outputs=names)
    return document
