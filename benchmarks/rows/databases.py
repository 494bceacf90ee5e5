"""Whole databases: sorted lists and columns of answers, beside noise on every count and one random word a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from side_by_side.rows import Row, Side

from rows.noise import words

Task = Callable[[], Any]
__all__ = ["ROWS", "words"]


def sorted_list(total: int, delta: str | None) -> Task:
    """Release all sizes of a Zipf-like list, sorted, by the exponential mechanism; its error is told."""
    import numpy as np

    from irisdp import Privacy
    from irisdp.mechanisms import PartitionMechanism

    privacy = Privacy(epsilon=1) if delta is None else Privacy(epsilon=1, delta=delta)
    made, counts = PartitionMechanism(total=total, privacy=privacy), zipf_like(total)

    def run() -> dict[str, float]:
        drawn = made.draw(counts)
        length = max(len(drawn), len(counts))
        off = np.pad(drawn, (0, length - len(drawn))) - np.pad(counts, (0, length - len(counts)))
        return {"error": float(np.abs(off).sum())}

    return run


def noise_and_sort(total: int) -> Task:
    """OpenDP's discrete Laplace on every count that is there, clipped and sorted: it is told which there are."""
    import numpy as np
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    made, counts = dp.m.make_laplace(*space, scale=2.0), zipf_like(total)
    values = counts.tolist()

    def run() -> dict[str, float]:
        noisy = -np.sort(-np.maximum(made(values), 0))
        return {"error": float(np.abs(noisy - counts).sum())}

    return run


def zipf_like(total: int) -> Any:
    """Return ⌊c/1⌋, ⌊c/2⌋, ⌊c/3⌋, … down to 1 for the largest c at which they sum to at most `total`."""
    import numpy as np

    low, high = 0, total
    while low < high:
        c = (low + high + 1) // 2
        low, high = (c, high) if (c // np.arange(1, c + 1)).sum() <= total else (low, c - 1)
    return low // np.arange(1, low + 1)


def column(records: int) -> Task:
    """Release each record's kind, one of eight, by randomised response."""
    import numpy as np

    from irisdp import Privacy
    from irisdp.mechanisms import release_column

    values, privacy = np.random.default_rng(1).integers(0, 8, records), Privacy(epsilon=1)
    release_column(values[:10], 8, privacy)
    return lambda: release_column(values, 8, privacy) is None


def _sorted(name: str, delta: str | None, title: str, seconds: float) -> Row:
    return Row(
        name=name,
        group="Whole databases",
        title=title,
        unit="records",
        sizes=(10**4, 10**5, 10**6),
        quick=(100, 1000),
        sides=(
            Side(name="Iris", work="sorted_list", options={"delta": delta}),
            Side(name="OpenDP noise, sorted", work="noise_and_sort", kind="peer", environment="opendp"),
        ),
        promise="speed of sorted lists",
        program="partitions.py",
        seconds=seconds,
    )


ROWS = (
    _sorted("lists-exact", None, "A sorted list, exactly, ε = 1", 120),
    _sorted("lists-window", "1e-9", "A sorted list within a window, ε = 1, δ = 10⁻⁹", 120),
    Row(
        name="column",
        group="Whole databases",
        title="A column of eight kinds, record by record, ε = 1",
        unit="records",
        sizes=(10**5, 10**6, 10**7),
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="column"),
            Side(name="one random word a draw", work="words", kind="limit"),
        ),
        promise="speed of sorted lists",
        program="partitions.py",
        seconds=5,
    ),
)
