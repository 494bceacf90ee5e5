"""Exact draws from tables, by depth, of winners, and for several audiences: beside one random word a draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from side_by_side.rows import Row, Side

from rows.noise import PASS, WORDS, passes, words

Task = Callable[[], Any]
__all__ = ["ROWS", "passes", "words"]


def table(draws: int) -> Task:
    """Draw from the geometric mechanism of 0..20 at ratio 2, an input at random each."""
    import numpy as np

    from irisdp import Privacy, design

    mechanism = design.geometric(20, Privacy(ratio=2))
    inputs = np.random.default_rng(1).integers(0, 21, draws)
    mechanism.draw_each(inputs[:1])
    return lambda: mechanism.draw_each(inputs)


def table_in_floats(draws: int) -> Task:
    """Draw as code that is not exact would: floats of NumPy's generator, searched in cumulative floats of each row."""
    import numpy as np

    z = np.arange(-60, 61)
    noise = np.exp2(-abs(z)) / 3
    rows = np.zeros((21, 21))
    for i in range(21):
        np.add.at(rows[i], np.clip(i + z, 0, 20), noise)
    sums = rows.cumsum(axis=1)
    sums[:, -1] = 1
    random = np.random.default_rng(1)
    inputs = random.integers(0, 21, draws)
    flat = (sums + np.arange(21)[:, None]).ravel()
    return lambda: np.searchsorted(flat, random.random(draws) + inputs) - 21 * inputs


def ranks(nodes: int, most: int, epsilon: str) -> Task:
    import numpy as np

    from irisdp import Privacy
    from irisdp._sampling import draw_ranks
    from irisdp.mechanisms import balanced_line

    random = np.random.default_rng(1)
    classes, depths = random.integers(0, 2, nodes), random.integers(0, most, nodes)
    boundary = [balanced_line(Privacy(epsilon=1)).prefix_sums(k) for k in (0, 1)]
    privacy = Privacy(epsilon=epsilon)
    draw_ranks(boundary, classes[:1], depths[:1], privacy)
    return lambda: draw_ranks(boundary, classes, depths, privacy)


def winners(cells: int, categories: int) -> Task:
    import numpy as np

    from irisdp import Privacy
    from irisdp._measurements import GapNodes, LargestCategory
    from irisdp.design import plurality

    pair, counts = Privacy(epsilon=1), _counts(cells, categories)
    nodes = GapNodes(tuple(range(categories)), counts.max(axis=1, keepdims=True) - counts)
    rule = LargestCategory(plurality(categories, pair, "exchange").form, pair)
    rule.draw(GapNodes(nodes.categories, np.zeros((1, categories), np.int64)))
    return lambda: rule.draw(nodes)


def opendp_winners(cells: int, categories: int) -> Task:
    """OpenDP's noisy max with Gumbel noise, a call a cell."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=False)
    made = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)
    counts = _counts(cells, categories).tolist()
    return lambda: [made(one) for one in counts]


def diffprivlib_winners(cells: int, categories: int) -> Task:
    """Permute and flip as diffprivlib draws it, a mechanism and a call a cell."""
    from diffprivlib.mechanisms import PermuteAndFlip

    counts = _counts(cells, categories).tolist()
    return lambda: [
        PermuteAndFlip(epsilon=1, sensitivity=1, utility=one, monotonic=False).randomise() for one in counts
    ]


def _counts(cells: int, categories: int) -> Any:
    import numpy as np

    return np.random.default_rng(2).multinomial(200, [1 / categories] * categories, cells)


def audiences(cells: int) -> Task:
    """What `publish --audience` draws: the most accurate release from the counts, each further one from the last."""
    import numpy as np

    from irisdp import Privacy
    from irisdp._measurements import ChainLink as Link
    from irisdp._measurements import CountNodes, GeometricNoise

    counts = np.random.default_rng(0).integers(0, 1000, cells)
    nodes = CountNodes(counts, np.zeros(cells, np.int64), None)
    levels = [Privacy(epsilon=epsilon) for epsilon in ("2", "1", "0.5", "0.1")]

    def draw() -> None:
        links: list[Link] = []
        for privacy in levels:
            links.append(Link(privacy, GeometricNoise(privacy).draw(nodes, links)))

    return draw


def _ranks(name: str, most: int, epsilon: str, said: str) -> Row:
    return Row(
        name=name,
        group="Draws",
        title=f"Yes or no by class and depth, {said}",
        unit="nodes",
        sizes=(10**5, 10**6, 10**7),
        quick=(1000, 10_000),
        sides=(Side(name="Iris", work="ranks", options={"most": most, "epsilon": epsilon}), WORDS, PASS),
        promise="speed of draws by depth",
        program="ranks.py",
        seconds=5,
    )


ROWS = (
    Row(
        name="draws-table",
        group="Draws",
        title="Draws from a table of 21 inputs and 21 answers",
        unit="draws",
        sizes=(10**4, 10**5, 10**6, 10**7),
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="table"),
            Side(name="NumPy, in floats", work="table_in_floats", kind="peer", environment="numpy"),
            WORDS,
        ),
    ),
    _ranks("draws-few-depths", 50, "1", "50 depths, ε = 1"),
    _ranks("draws-many-depths", 10**6, "1e-5", "10⁶ depths, ε = 10⁻⁵"),
    Row(
        name="draws-winners",
        group="Draws",
        title="The largest of five categories, 200 records a cell, exchanged, ε = 1",
        unit="cells",
        sizes=(10**3, 10**4, 10**5),
        quick=(200, 1000),
        sides=(
            Side(name="Iris", work="winners", options={"categories": 5}),
            Side(name="OpenDP noisy max", work="opendp_winners", kind="peer", environment="opendp",
                 options={"categories": 5}, part=10),
            Side(name="diffprivlib permute and flip", work="diffprivlib_winners", kind="peer",
                 environment="diffprivlib", options={"categories": 5}, part=10),
            WORDS,
        ),
    ),
    Row(
        name="draws-audiences",
        group="Draws",
        title="Counts for four audiences, each release drawn from the last",
        unit="cells",
        sizes=(10**4, 10**5, 10**6),
        quick=(1000, 10_000),
        sides=(Side(name="Iris", work="audiences"), WORDS),
        promise="audiences",
        program="consumers.py",
        seconds=3,
    ),
)  # fmt: skip
