"""The smallest mean distance on a graph, exactly and with a certificate: beside qif's program in floats."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from side_by_side.rows import Row, Side

Task = Callable[[], Any]


def designed(size: int, shape: str) -> Task:
    """Design as a whole: symmetry, program, exact solution, certificate, seal."""
    from irisdp import Privacy, design
    from irisdp.graphs import Cycle, Hamming, Histograms, Path, graph_from_edges

    made: dict[str, Callable[[], Any]] = {
        "path": lambda: Path(size),
        "cycle": lambda: Cycle(size),
        "cube": lambda: Hamming(size.bit_length() - 1, 2),
        "random": lambda: graph_from_edges(_random(size), nodes=range(size)),
        "histograms": lambda: Histograms(size, 3),
    }
    privacy = Privacy(epsilon="1/2")
    design.distance(Cycle(5), privacy)  # loads the solver

    def run() -> dict[str, float]:
        objective = design.distance(made[shape](), privacy).objective
        return {
            "value": float(objective.value),
            "gap": float((objective.value - objective.lower_bound) / objective.value),
        }

    return run


def by_qif(size: int, shape: str) -> Task:
    """Let qif (LGPL; it is called in benchmarks and nowhere else) solve LP[1] for the distances between nodes."""
    import numpy as np
    from qif import mechanism

    far = _distances(size, _edges(size, shape))
    uniform = np.full(size, 1 / size)

    def run() -> dict[str, float]:
        found = mechanism.d_privacy.min_loss_given_d(
            uniform, size, lambda i, j: 0.5 * far[i][j], lambda i, v: float(far[i][v])
        )
        return {"value": float((np.array(found) * np.array(far)).sum() / size)}

    return run


def _edges(size: int, shape: str) -> list[tuple[int, int]]:
    if shape == "random":
        return _random(size)
    if shape == "cube":
        return [(i, i ^ 1 << bit) for i in range(size) for bit in range(size.bit_length() - 1) if not i >> bit & 1]
    row = [(i, i + 1) for i in range(size - 1)]
    return [*row, (size - 1, 0)] if shape == "cycle" else row


def _random(size: int) -> list[tuple[int, int]]:
    """A random tree, and a tenth of all other pairs."""
    chance = random.Random(7)
    tree = [(chance.randrange(i), i) for i in range(1, size)]
    return tree + [(i, j) for j in range(size) for i in range(j) if chance.random() < 0.1]


def _distances(size: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    beside: list[set[int]] = [set() for _ in range(size)]
    for one, other in edges:
        beside[one].add(other)
        beside[other].add(one)
    rows = []
    for start in range(size):
        found, frontier = {start: 0}, [start]
        while frontier:
            frontier = [
                found.setdefault(other, found[node] + 1) * 0 + other
                for node in frontier
                for other in sorted(beside[node])
                if other not in found
            ]
        rows.append([found[node] for node in range(size)])
    return rows


def _row(shape: str, title: str, sizes: tuple[int, ...], most: int, quick: tuple[int, ...], **more: Any) -> Row:
    said = {"shape": shape}
    return Row(
        name=f"distance-{shape}",
        group="Distance on graphs",
        title=f"Smallest mean distance on {title}, ε = 1/2",
        unit="nodes",
        sizes=sizes,
        quick=quick,
        sides=(
            Side(name="Iris", work="designed", options=said),
            Side(name="qif, in floats", work="by_qif", kind="peer", environment="qif", options=said, most=most),
        ),
        promise="speed of distance",
        program="databases.py",
        **more,
    )


ROWS = (
    _row("random", "a random graph", (8, 12, 16), 16, (5, 6)),
    _row("path", "a path", (20, 40, 60, 400), 60, (5, 8), warm=False),
    _row("cycle", "a cycle", (20, 40, 60, 400), 60, (5, 8)),
    _row("cube", "the cube of so many corners", (16, 64, 256, 1024), 16, (4, 8)),
    Row(
        name="distance-histograms",
        group="Distance on graphs",
        title="Smallest mean distance on histograms of n records in three bins, ε = 1/2",
        unit="records",
        sizes=(4, 8, 12),
        quick=(2, 3),
        sides=(Side(name="Iris", work="designed", options={"shape": "histograms"}),),
        promise="speed of distance",
        program="databases.py",
    ),
)
