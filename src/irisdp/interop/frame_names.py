"""Which input each row of a frame belongs to: what its index says, held to the graph, and never guessed.

An index that was set names the inputs, whatever it holds. The one that pandas numbers rows with where nobody set any
(a `RangeIndex` from 0 without a name) names nothing: rows are then the graph's nodes in order.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import Any

import narwhals as nw

from ..errors import BadInput
from ..graphs import DatasetGraph
from ..graphs.frames import asked
from ..graphs.names import Nodes, named_nodes

__all__ = ["named_inputs"]

_IN_ORDER = "frame.index = list(graph.nodes) says that rows stand in the order of its nodes"
_COUNTING = {"kind": "range", "name": None, "start": 0, "step": 1}
"""How pandas tells Arrow of an index that nobody set."""


def named_inputs(table: nw.DataFrame[Any], graph: DatasetGraph | None) -> Nodes | None:
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
    for one in indexes:
        counting = isinstance(one, dict) and all(one.get(key) == value for key, value in _COUNTING.items())
        if not counting and (isinstance(one, dict) or one in table.column_names):
            rule = "is an Arrow table of a pandas frame whose index was set, which is no column of answers"
            raise BadInput("frame", rule, "give frame.to_pandas()")


def _other_order(nodes: Nodes, count: int) -> bool:
    """Tell whether nodes are the numbers 0..count − 1, and in another order."""
    if any(nodes.position(number) is None for number in range(count)):
        return False
    return any(nodes.position(number) != number for number in range(count))
