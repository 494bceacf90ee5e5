"""Checking: audits of large graphs, the stand-alone verifier, totals of releases beside dp-accounting."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from side_by_side.rows import Row, Side

Task = Callable[[], Any]
ROWS_OF_MECHANISM = 1000


def ring_of(edges: int, kind: str) -> tuple[Any, Any, Any, Any]:
    """Return tails, heads, which row each node has, and the rows as whole numbers.

    Slow: truth-probabilities rise and fall by a thousandth from one block of a ring to the next, so that few pairs of
    rows meet. Random: nearly all 500,000 pairs do.
    """
    import numpy as np

    nodes, random = max(10, edges // 10), np.random.default_rng(0)
    tails, many = np.repeat(np.arange(nodes), 10), ROWS_OF_MECHANISM
    if kind == "slow":
        heads = (tails + np.tile(np.arange(1, 11), nodes)) % nodes
        levels = np.array([many // 2 + min(k, many - k) for k in range(many)])
        return tails, heads, np.arange(nodes) * many // nodes, np.stack((levels, 2 * many - levels), axis=1)
    weights = random.integers(500, 1000, (many, 4))
    return tails, random.integers(0, nodes, len(tails)), random.integers(0, many, nodes), weights


def audited(edges: int, kind: str) -> Task:
    from irisdp import Mechanism, Privacy, audit
    from irisdp.graphs import graph_from_arrays

    tails, heads, row_of, weights = ring_of(edges, kind)
    nodes, privacy = range(len(row_of)), Privacy(ratio="11/10") if kind == "slow" else Privacy(ratio=2, delta="1/20")
    laws = tuple(tuple(Fraction(weight, sum(row)) for weight in row) for row in weights.tolist())
    mechanism = Mechanism(
        privacy=privacy, inputs=nodes, outputs=tuple(range(len(laws[0]))), rows=laws, row_of=row_of,
        graph=graph_from_arrays(tails, heads, nodes=nodes),
    )  # fmt: skip
    return lambda: {"ratio": float(audit(mechanism).ratio_at_delta or 0)}


def audited_in_floats(edges: int, kind: str) -> Task:
    """The largest ratio over all edges, by NumPy in floats and edge by edge; it knows no δ."""

    tails, heads, row_of, weights = ring_of(edges, kind)
    rows = weights / weights.sum(axis=1, keepdims=True)

    def run() -> dict[str, float]:
        one, other = rows[row_of[tails]], rows[row_of[heads]]
        return {"ratio": float(max((one / other).max(), (other / one).max()))}

    return run


def edges_read(edges: int, kind: str) -> Task:
    """Read both ends of every edge once."""
    tails, heads, *_ = ring_of(edges, kind)
    return lambda: {"sum": int(tails.sum() + heads.sum())}


def verified(counts: int, loss: str) -> Task:
    """Run the stand-alone verifier from start to end, as whoever is handed the file does."""
    import irisdp.certify.verify_mechanism as verifier

    folder, file = _saved(counts, loss)

    def run(folder: object = folder) -> None:
        subprocess.run([sys.executable, verifier.__file__, str(file)], check=True, capture_output=True)

    return run


def audited_file(counts: int, loss: str) -> Task:
    from irisdp import audit

    folder, file = _saved(counts, loss)

    def run(folder: object = folder) -> None:
        assert audit(file).holds

    return run


def _saved(counts: int, loss: str) -> tuple[Any, Path]:
    from irisdp import Privacy, design

    folder = tempfile.TemporaryDirectory()
    file = Path(folder.name) / "mechanism.json"
    design.consumer(counts, loss, Privacy(epsilon="1/10")).save(file)
    return folder, file


def total(releases: int) -> Task:
    """The total of so many releases at ε = 1/1000 … 60/1000, at δ = 10⁻⁶; how far apart the two bounds are."""
    from irisdp import Privacy
    from irisdp.accounting import total

    items = [(Privacy(epsilon=Fraction(1 + k % 60, 1000)), 1) for k in range(releases)]

    def run() -> dict[str, float]:
        lower, upper = total(items, delta="1e-6")
        return {"epsilon": float(upper), "gap": float((upper - lower) / upper)}

    return run


def total_by_dp_accounting(releases: int, interval: float) -> Task:
    """The same by privacy loss distributions in doubles, losses rounded up to multiples of an interval."""
    from dp_accounting.pld import privacy_loss_distribution as library

    def run() -> dict[str, float]:
        together: Any = None
        for k in range(min(60, releases)):
            single = library.from_privacy_parameters(
                library.common.DifferentialPrivacyParameters((1 + k) / 1000, 0.0),
                value_discretization_interval=interval,
            )
            times = len(range(k, releases, 60))
            drawn = single.self_compose(times) if times > 1 else single
            together = drawn if together is None else together.compose(drawn)
        return {"epsilon": float(together.get_epsilon_for_delta(1e-6))}

    return run


def _audit(kind: str, title: str) -> Row:
    said = {"kind": kind}
    return Row(
        name=f"audit-{kind}",
        group="Checking",
        title=title,
        unit="edges",
        sizes=(10**5, 10**6, 10**7),
        quick=(10_000, 100_000),
        sides=(
            Side(name="Iris", work="audited", options=said),
            Side(name="NumPy, in floats", work="audited_in_floats", kind="peer", environment="numpy", options=said),
            Side(name="reading each edge once", work="edges_read", kind="limit", environment="numpy", options=said),
        ),
        promise="speed of the audit",
        program="audit_edges.py",
        seconds=30,
    )


def _verifier(loss: str) -> Row:
    said = {"loss": loss}
    return Row(
        name=f"verifier-{loss}",
        group="Checking",
        title=f"The stand-alone verifier on the best answer for readers of a count, {loss} loss",
        unit="counts",
        sizes=(300, 600, 1200),
        quick=(5, 10),
        sides=(
            Side(name="Iris, the verifier", work="verified", options=said),
            Side(name="Iris, the audit", work="audited_file", kind="way", options=said),
        ),
        promise="speed of the verifier",
        program="verifier.py",
        seconds=5,
    )


ROWS = (
    _audit("slow", "Exact audit of 1,000 rows that change slowly around a ring"),
    _audit("random", "Exact audit of 1,000 rows, any of which may meet"),
    _verifier("absolute"),
    _verifier("squared"),
    Row(
        name="totals",
        group="Checking",
        title="The total of releases at sixty different ε, δ = 10⁻⁶; dp-accounting on a grid of 10⁻⁴",
        unit="releases",
        sizes=(60, 300, 1000),
        quick=(5, 10),
        sides=(
            Side(name="Iris", work="total"),
            Side(name="dp-accounting", work="total_by_dp_accounting", kind="peer", environment="dp-accounting",
                 options={"interval": 1e-4}),
        ),
        program="totals.py",
    ),
)  # fmt: skip
