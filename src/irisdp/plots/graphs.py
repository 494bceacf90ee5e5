"""Pictures of a dataset graph: what is neighbour of what, where the true answer changes, and how deep a node lies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput
from ..exact import checked
from ..graphs import ColouredGraph, DatasetGraph, boundary, depth
from .picture import Picture
from .theme import COLOURS, INK, altair, finished

__all__ = ["LARGEST_GRAPH", "graph_picture"]

LARGEST_GRAPH = 150
"""In nodes: names of more overlap."""
_SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down")
_SWEEPS = 6
_NARROWEST = 320
"""What stands above and below a graph of one column, in any font."""


@checked
def graph_picture(graph: DatasetGraph | ColouredGraph) -> Picture:
    """Draw nodes in columns: with colours by their depth, from the boundary outwards; else by distance from the first.

    Parameters
    ----------
    graph : DatasetGraph or ColouredGraph
        At most 150 nodes.

    Returns
    -------
    Picture
        Shape and colour say the class; the boundary, where a neighbour has another colour, has a thick rim.

    Raises
    ------
    BadInput
        For more nodes.
    """
    plain = graph.graph if isinstance(graph, ColouredGraph) else graph
    if plain.number_of_nodes > LARGEST_GRAPH:
        raise BadInput(
            "graph",
            f"has {plain.number_of_nodes:,} nodes; a drawing is readable up to {LARGEST_GRAPH}",
            "draw a smaller graph",
        )
    edges = [(int(a), int(b)) for tails, heads in plain.edges() for a, b in zip(tails, heads, strict=True)]
    names = [str(node) for node in plain.nodes]
    if isinstance(graph, ColouredGraph):
        columns, title = depth(graph), "depth: distance to the boundary (edges)"
        classes = [str(graph.classes[code]) for code in graph.codes]
        rims = boundary(graph)
    else:
        columns, title = plain.distances_from(0), f"distance from {names[0]} (edges)"
        classes, rims = ["node"] * len(names), np.zeros(len(names), dtype=bool)
    columns = np.where(columns < 0, columns.max() + 1, columns)  # what no path leads to stands last
    heights = _heights(columns, classes, edges)
    rows = tuple(zip(names, classes, columns.tolist(), rims.tolist(), strict=True))
    chart = _drawn(rows, heights, edges, title, coloured=isinstance(graph, ColouredGraph))
    return Picture(
        title="A graph of possible tables" if len(set(classes)) == 1 else "A coloured graph, by depth",
        description=_described(rows, edges, title),
        columns=("node", "colour", title.split(":")[0], "on the boundary"),
        rows=rows,
        spec=finished(chart, legend=classes),
    )


def _heights(columns: Any, classes: list[str], edges: list[tuple[int, int]]) -> list[float]:
    """Place nodes in their columns: classes together, and near to their neighbours in other columns."""
    neighbours: list[list[int]] = [[] for _ in classes]
    for tail, head in edges:
        neighbours[tail].append(head)
        neighbours[head].append(tail)
    order = {name: place for place, name in enumerate(dict.fromkeys(classes))}
    heights = [0.0] * len(classes)
    for sweep in range(_SWEEPS):
        for column in sorted(set(columns.tolist())):
            inside = np.flatnonzero(columns == column).tolist()
            if sweep:
                wanted = {node: _mean([heights[other] for other in neighbours[node]], heights[node]) for node in inside}
                inside.sort(key=lambda node: (order[classes[node]], wanted[node], node))
            else:
                inside.sort(key=lambda node: (order[classes[node]], node))
            for place, node in enumerate(inside):
                heights[node] = place - (len(inside) - 1) / 2
    return heights


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _drawn(rows: Any, heights: list[float], edges: list[tuple[int, int]], title: str, *, coloured: bool) -> Any:
    alt: Any = altair()
    most, high = max(row[2] for row in rows), max(map(abs, heights))
    lines = []
    for number, (tail, head) in enumerate(edges):
        ends = [(rows[node][2], heights[node]) for node in (tail, head)]
        middle = [((ends[0][0] + ends[1][0]) / 2 + _bow(ends), (ends[0][1] + ends[1][1]) / 2)]
        points = [ends[0], *(middle if _bow(ends) else []), ends[1]]
        lines += [{"edge": number, "along": k, "x": x, "y": y} for k, (x, y) in enumerate(points)]
    nodes = [
        {"node": name, "colour": colour, "x": column, "y": height, "boundary": "on the boundary" if rim else "inside"}
        for (name, colour, column, rim), height in zip(rows, heights, strict=True)
    ]
    across = alt.X(
        "x:Q",
        title=title,
        scale=alt.Scale(domain=[-0.5, most + 0.5]),
        axis=alt.Axis(values=list(range(0, most + 1, 1 + most // 15)), format="d", grid=False),
    )
    up = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-high - 0.7, high + 0.7]))
    drawn = alt.Chart(alt.InlineData(values=lines or [{"edge": 0, "along": 0, "x": 0, "y": 0}])).mark_line(
        color="#8c8c8c", strokeWidth=1, interpolate="basis"
    ).encode(x=across, y=up, detail="edge:N", order="along:Q")  # fmt: skip
    classes = list(dict.fromkeys(row[1] for row in rows))
    given = alt.Chart(alt.InlineData(values=nodes)).encode(x=across, y=up)
    points = given.mark_point(filled=True, size=190, stroke=INK, opacity=1).encode(
        strokeWidth=alt.condition("datum.boundary === 'on the boundary'", alt.value(2.6), alt.value(0.6))
    )
    if coloured:
        scale = alt.Scale(domain=classes, range=[COLOURS[k % len(COLOURS)] for k in range(len(classes))])
        shapes = alt.Scale(domain=classes, range=[_SHAPES[k % len(_SHAPES)] for k in range(len(classes))])
        points = points.encode(
            color=alt.Color("colour:N", scale=scale, title="colour"),
            shape=alt.Shape("colour:N", scale=shapes, title="colour"),
        )
    named = {"dy": -15, "fontSize": 13, "limit": 110}
    halo = given.mark_text(stroke="white", strokeWidth=4, **named).encode(text="node:N")
    labels = halo + given.mark_text(color=INK, **named).encode(text="node:N")
    wide, tall = 120 * (most + 1) + 60, 60 * (2 * high + 1) + 60
    return (drawn + points + labels).properties(
        width=max(_NARROWEST, min(wide, 900)),
        height=min(tall, 900),
        title="A graph of possible tables" if not coloured else _TITLE,
    )


_TITLE = {"text": "A coloured graph, by depth", "subtitle": "thick rims: a neighbour has another colour"}


def _bow(ends: list[tuple[float, float]]) -> float:
    """Return how far an edge inside one column bends aside, so that it does not run through the nodes between."""
    return -0.22 if ends[0][0] == ends[1][0] and abs(ends[0][1] - ends[1][1]) > 1 else 0.0


def _described(rows: Any, edges: list[tuple[int, int]], title: str) -> str:
    rims = sum(1 for row in rows if row[3])
    classes = list(dict.fromkeys(row[1] for row in rows))
    said = f"{len(rows)} nodes and {len(edges)} edges, in columns by {title.split(' (', maxsplit=1)[0]}."
    if len(classes) == 1 and not rims:
        return said
    counted = ", ".join(f"{sum(1 for row in rows if row[1] == name)} of {name}" for name in classes)
    return f"{said} Colours: {counted}; {rims} nodes are on the boundary, where a neighbour has another colour."
