"""Pictures of a mechanism: the probability of each answer, for each input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, entries, rational
from ..errors import BadInput
from ..graphs import ColouredGraph, DatasetGraph, boundary, depth
from ..mechanisms import FactoredMechanism, Mechanism
from ._layout import COLOURS, INK, SHADES, altair, finished
from ._picture import Picture

# Pictures of a dataset graph: which nodes are neighbours, where the true answer changes, and how deep a node lies.

LARGEST_GRAPH = 150
"""In nodes: names of more overlap."""
_SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down")
_SWEEPS = 6
_NARROWEST = 320
"""What stands above and below a graph of one column, in any font."""
_PLACED, _MARGIN, _LOWEST = 360, 40, 90
"""Of given positions the longer side, the room around it, and the least height."""

_FARTHEST = 10**100

Place = tuple[float, float]
"""Where a node is drawn."""


@checked
def graph_picture(graph: DatasetGraph | ColouredGraph, *, positions: Mapping[Any, Any] | None = None) -> Picture:
    """Draw nodes in columns: with colours by their depth, from the boundary outwards; else by distance from the first.

    Parameters
    ----------
    graph : DatasetGraph or ColouredGraph
        At most 150 nodes.
    positions : mapping, optional
        Where every node is drawn instead, as {node: (x, y)}: any finite numbers, x to the right and y upwards. A layout
        of NetworkX is one.

    Returns
    -------
    Picture
        Shape and colour say the class; the boundary, where a neighbour has another colour, has a thick rim.

    Raises
    ------
    BadInput
        For more nodes, and for positions of other nodes or that are no pairs of numbers.

    Examples
    --------
    >>> from irisdp import graphs
    >>> square = {0: (0, 0), 1: (1, 0), 2: (1, 1), 3: (0, 1)}
    >>> graph_picture(graphs.Cycle(4), positions=square).rows[2]
    ('2', 'node', 1.0, 1.0, False)
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
    coloured = isinstance(graph, ColouredGraph)
    if positions is None:
        heights = _heights(columns, classes, edges)
        places = list(zip(columns.tolist(), heights, strict=True))
        rows: tuple[Any, ...] = tuple(zip(names, classes, columns.tolist(), rims.tolist(), strict=True))
        heads: tuple[str, ...] = ("node", "colour", title.split(":")[0], "on the boundary")
    else:
        places = _given_places(plain, positions)
        rows = tuple(
            (*row, *place, rim) for *row, place, rim in zip(names, classes, places, rims.tolist(), strict=True)
        )
        heads, title = ("node", "colour", "x", "y", "on the boundary"), ""
    chart = _drawn(rows, places, edges, title, coloured=coloured)
    return Picture(
        title=_title(title, coloured=len(set(classes)) > 1),
        description=_described(rows, edges, title),
        columns=heads,
        rows=rows,
        spec=finished(chart, legend=classes),
    )


def _heights(columns: Any, classes: list[str], edges: list[tuple[int, int]]) -> list[float]:
    """Place nodes in their columns: classes together, and near to their neighbours in other columns."""
    neighbours: list[list[int]] = [[] for _ in classes]
    for tail, head in edges:
        neighbours[tail].append(head)
        neighbours[head].append(tail)
    order = {name: index for index, name in enumerate(dict.fromkeys(classes))}
    heights = [0.0] * len(classes)
    for sweep in range(_SWEEPS):
        for column in sorted(set(columns.tolist())):
            inside = np.flatnonzero(columns == column).tolist()
            if sweep:
                wanted = {node: _mean([heights[other] for other in neighbours[node]], heights[node]) for node in inside}
                inside.sort(key=lambda node: (order[classes[node]], wanted[node], node))
            else:
                inside.sort(key=lambda node: (order[classes[node]], node))
            for index, node in enumerate(inside):
                heights[node] = index - (len(inside) - 1) / 2
    return heights


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _given_places(graph: DatasetGraph, positions: Mapping[Any, Any]) -> list[Place]:
    """Read where nodes are to be drawn, in the order of the graph."""
    field, remedy = "positions", "give {node: (x, y)} for every node of the graph"
    nodes = list(graph.nodes)
    for node in positions:
        if node not in nodes:
            raise BadInput(field, f"names {node!r}, which is no node", remedy)
    places = []
    for node in nodes:
        if node not in positions:
            raise BadInput(field, f"leaves out the node {node!r}", remedy)
        pair = entries(positions[node])
        if pair is None or len(pair) != 2:
            raise BadInput(field, f"has no pair of numbers for the node {node!r}", remedy)
        x, y = (rational(number, field) for number in pair)
        if max(abs(x), abs(y)) > _FARTHEST:
            raise BadInput(field, f"of {node!r} is too far out to draw", "give numbers of at most 1e100")
        places.append((float(x), float(y)))
    return places


def _title(title: str, *, coloured: bool) -> str:
    if not coloured:
        return "A graph of possible tables"
    return "A coloured graph, by depth" if title else "A coloured graph"


def _drawn(rows: Any, places: list[Place], edges: list[tuple[int, int]], title: str, *, coloured: bool) -> Any:
    """Draw nodes and edges; without a title of the axis, nodes lie where they were placed and edges are straight."""
    alt: Any = altair()
    lines = []
    for number, (tail, head) in enumerate(edges):
        ends = [places[tail], places[head]]
        bow = _bow(ends) if title else 0
        middle = [((ends[0][0] + ends[1][0]) / 2 + bow, (ends[0][1] + ends[1][1]) / 2)]
        points = [ends[0], *(middle if bow else []), ends[1]]
        lines += [{"edge": number, "along": k, "x": x, "y": y} for k, (x, y) in enumerate(points)]
    nodes = [
        {"node": name, "colour": colour, "x": x, "y": y, "boundary": "on the boundary" if rim else "inside"}
        for (name, colour, *_, rim), (x, y) in zip(rows, places, strict=True)
    ]
    if title:
        most, high = int(max(x for x, _ in places)), max(abs(y) for _, y in places)
        columns = alt.Axis(values=list(range(0, most + 1, 1 + most // 15)), format="d", grid=False)
        ends_x, ends_y = (-0.5, most + 0.5), (-high - 0.7, high + 0.7)
        wide, tall = 120.0 * (most + 1) + 60, 60 * (2 * high + 1) + 60
    else:
        columns = None
        ends_x, ends_y, wide, tall = _frame(places)
    across = alt.X("x:Q", title=title or None, scale=alt.Scale(domain=ends_x, nice=False), axis=columns)
    up = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=ends_y, nice=False))
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
    heading = (
        {"text": _title(title, coloured=coloured), "subtitle": _RIMS} if coloured else _title(title, coloured=False)
    )
    return (drawn + points + labels).properties(
        width=max(_NARROWEST, min(wide, 900)), height=min(tall, 900), title=heading
    )


_RIMS = "thick rims: a neighbour has another colour"


def _frame(places: list[Place]) -> tuple[Place, Place, float, float]:
    """Return the ends of both scales, with room for names, and the width and height of a drawing true to its shape."""
    (left, right), (low, high) = ((min(along), max(along)) for along in zip(*places, strict=True))
    size = max(right - left, high - low) or 1.0
    wide = max(_NARROWEST, _PLACED * (right - left) / size + 2 * _MARGIN)
    tall = max(_LOWEST, _PLACED * (high - low) / size + 2 * _MARGIN)
    unit = size / _PLACED
    middle_x, middle_y = (left + right) / 2, (low + high) / 2
    half_x, half_y = wide / 2 * unit, tall / 2 * unit
    return (middle_x - half_x, middle_x + half_x), (middle_y - half_y, middle_y + half_y), wide, tall


def _bow(ends: list[Place]) -> float:
    """Return how far an edge inside one column bends aside, so that it does not run through the nodes between."""
    return -0.22 if ends[0][0] == ends[1][0] and abs(ends[0][1] - ends[1][1]) > 1 else 0.0


def _described(rows: Any, edges: list[tuple[int, int]], title: str) -> str:
    rims = sum(1 for row in rows if row[-1])
    classes = list(dict.fromkeys(row[1] for row in rows))
    where = f"in columns by {title.split(' (', maxsplit=1)[0]}" if title else "at given positions"
    said = f"{len(rows)} nodes and {len(edges)} edges, {where}."
    if len(classes) == 1 and not rims:
        return said
    counted = ", ".join(f"{sum(1 for row in rows if row[1] == name)} of {name}" for name in classes)
    return f"{said} Colours: {counted}; {rims} nodes are on the boundary, where a neighbour has another colour."


_MOST = 100
"""Inputs of a heat map, and answers: of more inputs as many at even distances, of more answers blocks of neighbours."""
_FEW_INPUTS, _FEW_ANSWERS = 8, 40
"""The same for bars."""
_WITH_NUMBERS = 10
_DARK = 0.63
"""Probability beyond which white letters are read better than black ones; either way their contrast is at least 4.5."""
_HEARD = 400
"""Cells: of more, none is described on its own inside the drawing, as nobody listens to so many, and names are cut."""
_LONGEST = 24
_LONGEST_HEARD = 120
"""Characters of such a name, and of any: fitting one of 100,000 letters would take minutes."""
_LABELS = 34
"""On an axis, beyond which names stand at even distances: fitting a hundred long ones takes longer than all else."""
_CELLS = "cells"
_NAMES = ("input", "answer", "probability")


@checked
def heat_map(mechanism: Mechanism | FactoredMechanism) -> Picture:
    """Draw the matrix: a row for each input, a column for each answer, darker where the answer is more probable.

    Parameters
    ----------
    mechanism : Mechanism or FactoredMechanism
        Of more than 100 inputs, as many at even distances are drawn; of more than 100 answers, neighbours are taken
        together and their probabilities added up. The description says so.

    Returns
    -------
    Picture

    Examples
    --------
    >>> from irisdp import design
    >>> from irisdp.privacy import Privacy
    >>> heat_map(design.geometric(1, Privacy(ratio=2))).rows[0]
    ('0', '0', 0.6666666666666666)
    """
    seen = _seen(mechanism, _MOST, _MOST)
    alt: Any = altair()
    base = alt.Chart(alt.NamedData(_CELLS), title="Probability of each answer").encode(
        x=alt.X("answer:N", sort=list(seen.answers), title="answer", axis=_axis(alt, seen.answers)),
        y=alt.Y("input:N", sort=list(seen.inputs), title="input", axis=_axis(alt, seen.inputs, flat=True)),
    )
    shaded = base.mark_rect(**seen.spoken()).encode(
        color=alt.Color(
            "probability:Q",
            scale=alt.Scale(domain=[0, 1], range=list(SHADES), interpolate="lab"),
            legend=alt.Legend(direction="horizontal"),
        )
    )
    if max(len(seen.inputs), len(seen.answers)) <= _WITH_NUMBERS:
        light = alt.condition(f"datum.probability > {_DARK}", alt.value("#fefefe"), alt.value("black"))
        shaded += base.mark_text(fontSize=11).encode(text=alt.Text("probability:Q", format=".3"), color=light)
    wide, high = (max(240, min(700, 48 * len(names))) for names in (seen.answers, seen.inputs))
    return Picture(
        title="Probability of each answer, for each input",
        description=f"A heat map, darker where an answer is more probable, of {seen.describe(mechanism)}",
        columns=_NAMES,
        rows=seen.rows(),
        spec=finished(shaded.properties(width=wide, height=min(high, 520)), seen.data(), legend=["probability"]),
    )


@checked
def bars(mechanism: Mechanism | FactoredMechanism) -> Picture:
    """Draw a row of bars for each input, a bar for each answer; what is drawn of many is as for `heat_map`.

    Parameters
    ----------
    mechanism : Mechanism or FactoredMechanism
        Of more than 8 inputs, as many at even distances; answers are taken together beyond 40.

    Returns
    -------
    Picture
    """
    seen = _seen(mechanism, _FEW_INPUTS, _FEW_ANSWERS)
    alt: Any = altair()
    chart = (
        alt.Chart(alt.NamedData(_CELLS), title="Probability of each answer, input by input")
        .mark_bar(color=COLOURS[0])
        .encode(
            x=alt.X("answer:N", sort=list(seen.answers), title="answer", axis=_axis(alt, seen.answers)),
            y=alt.Y("probability:Q", title="probability", axis=alt.Axis(tickCount=3)),
            row=alt.Row("input:N", sort=list(seen.inputs), title="input", header=_HEADER),
        )
        .properties(width=max(240, min(700, 26 * len(seen.answers))), height=70)
    )
    return Picture(
        title="Probability of each answer, input by input",
        description=f"A row of bars for each input, as high as an answer is probable, of {seen.describe(mechanism)}",
        columns=_NAMES,
        rows=seen.rows(),
        spec=finished(chart, seen.data()),
    )


_HEADER = {"labelAngle": 0, "labelAlign": "left", "titleFontWeight": "normal", "titleFontSize": 12}


@dataclass(frozen=True, slots=True)
class _DrawnMatrix:
    """What is drawn of a mechanism: some inputs, all answers one by one or in blocks, and the floats for them."""

    inputs: tuple[str, ...]
    answers: tuple[str, ...]
    matrix: NDArray[np.float64]
    block: int

    def rows(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(
            (name, answer, probability)
            for name, line in zip(self.inputs, self.matrix.tolist(), strict=True)
            for answer, probability in zip(self.answers, line, strict=True)
        )

    def data(self) -> dict[str, list[dict[str, Any]]]:
        return {_CELLS: [dict(zip(_NAMES, row, strict=True)) for row in self.rows()]}

    def spoken(self) -> dict[str, bool]:
        """Return the option of a mark that keeps its cells from being described one by one, where they are many."""
        return {"aria": False} if self.matrix.size > _HEARD else {}

    def describe(self, mechanism: Mechanism | FactoredMechanism) -> str:
        size = f"{len(mechanism.inputs):,} inputs and {len(mechanism.outputs):,} answers"
        pairs = " and ".join(
            f"ε = {float(pair.epsilon):.4g}, δ = {float(pair.delta):.3g}" for pair in mechanism.privacy.pairs
        )
        said = [f"a mechanism with {size}, which states {pairs}."]
        if len(self.inputs) < len(mechanism.inputs):
            said.append(f"Of its inputs {len(self.inputs)} are drawn, at even distances.")
        if self.block > 1:
            said.append(f"Each {self.block} neighbouring answers are drawn as one, with their probabilities added up.")
        return " ".join(said)


def _seen(mechanism: Mechanism | FactoredMechanism, inputs: int, answers: int) -> _DrawnMatrix:
    places = np.unique(
        np.linspace(0, len(mechanism.inputs) - 1, min(inputs, len(mechanism.inputs))).round().astype(int)
    )
    block = -(-len(mechanism.outputs) // answers)
    starts = range(0, len(mechanism.outputs), block)
    nodes = [mechanism.inputs[int(place)] for place in places]
    matrix = np.array([np.add.reduceat(mechanism.approximate_row(node), starts) for node in nodes])
    names = [_joined(mechanism.outputs[start : start + block]) for start in starts]
    longest = _LONGEST if matrix.size > _HEARD else _LONGEST_HEARD
    return _DrawnMatrix(_different([str(node) for node in nodes], longest), _different(names, longest), matrix, block)


def _joined(names: Sequence[Any]) -> str:
    return str(names[0]) if len(names) == 1 else f"{names[0]} … {names[-1]}"


def _different(names: Sequence[str], longest: int) -> tuple[str, ...]:
    """Tell names apart that are written alike, such as 1 and "1": a picture knows an input by what is written."""
    names = [_cut(name, longest) for name in names]
    if len(set(names)) == len(names):
        return tuple(names)
    return tuple(f"{name} ({index})" for index, name in enumerate(names))


def _cut(name: str, longest: int) -> str:
    """Leave the middle of a long name out."""
    kept = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[:kept]}…{name[-kept:]}"


def _axis(alt: Any, names: Sequence[str], *, flat: bool = False) -> Any:
    """Lay names flat where they are short, else aslant; of very many, write some."""
    some = {"values": list(names[:: -(-len(names) // _LABELS)])} if len(names) > _LABELS else {}
    angle = 0 if flat or max(map(len, names)) <= 4 else -40
    return alt.Axis(labelAngle=angle, labelOverlap=True, labelLimit=140, **some)
