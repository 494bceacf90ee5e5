"""The result of the page Design: pictures, and rows by position on the graph."""

from __future__ import annotations

from itertools import islice

import numpy as np

from ..graphs import ColouredGraph, colour, colours_by_key, depth, rank
from ..graphs.names import key_of_node
from ..mechanisms import FactoredMechanism, Mechanism
from .results import Picture, Table
from .rounded import entry
from .specs import Asked

__all__ = ["coloured", "pictures_of", "rows_of"]

_MOST_ROWS, _MOST_NAMED, _MOST_COLUMNS = 40, 4, 12
_WIDEST = 200_000
"""Answers up to which a heat map is drawn: of many inputs it shows some, and neighbouring answers as one."""


def coloured(wanted: Asked) -> ColouredGraph | None:
    """Return the graph of a spec with its colours or rankings, if it has any."""
    if wanted.graph is None:
        return None
    if "colors" in wanted.spec:
        return colour(wanted.graph, colours_by_key(wanted.graph, wanted.spec["colors"]))
    if "rankings" in wanted.spec:
        return rank(wanted.graph, colours_by_key(wanted.graph, wanted.spec["rankings"], "rankings"))
    return None


def pictures_of(
    mechanism: Mechanism | FactoredMechanism, wanted: Asked, classes: ColouredGraph | None
) -> tuple[Picture, ...]:
    """Draw the mechanism, and its graph with colours and depth, where they are small enough to be seen."""
    from ..plots import LARGEST_GRAPH, graph_picture, heat_map

    drawn: list[Picture] = []
    if len(mechanism.outputs) <= _WIDEST:
        drawn.append(heat_map(mechanism))
    if classes is not None and classes.graph.number_of_nodes <= LARGEST_GRAPH:
        drawn.append(graph_picture(classes))
    return tuple(drawn)


def rows_of(mechanism: Mechanism | FactoredMechanism, classes: ColouredGraph | None) -> tuple[Table, ...]:
    """List the different rows by colour and depth, those on the boundary first; nothing where there are no colours."""
    if classes is None or not isinstance(mechanism, Mechanism):
        return ()
    deep = depth(classes)
    rows = mechanism.row_of.tolist()
    places: dict[tuple[int, int, int], list[int]] = {}
    for node in np.lexsort((classes.codes, deep)).tolist():
        places.setdefault((int(deep[node]), int(classes.codes[node]), rows[node]), []).append(node)
    lines = [
        (
            "on the boundary" if steps == 0 else "no boundary near" if steps < 0 else f"{steps} inside",
            _name(classes.classes[code]),
            _nodes(mechanism, nodes),
            *(entry(p, 6) for p in islice(mechanism.rows[row], _MOST_COLUMNS)),
        )
        for (steps, code, row), nodes in islice(places.items(), _MOST_ROWS)
    ]
    caption = "Different rows, by steps from the boundary, where neighbours have another true answer"
    if len(places) > len(lines):
        caption += f" (the first {len(lines)} of {len(places)})"
    names = (_name(output) for output in islice(mechanism.outputs, _MOST_COLUMNS))
    return (Table(caption, ("where", "true answer", "nodes", *names), tuple(lines)),)


def _nodes(mechanism: Mechanism, nodes: list[int]) -> str:
    named = ", ".join(_name(mechanism.inputs[node]) for node in nodes[:_MOST_NAMED])
    more = len(nodes) - _MOST_NAMED
    return f"{named}, and {more} more" if more > 0 else named


def _name(value: object) -> str:
    """Write a node, a colour or a ranking for people."""
    if isinstance(value, tuple):
        return " > ".join(map(str, value))
    return key_of_node(value) if isinstance(value, str | int) and not isinstance(value, bool) else str(value)
