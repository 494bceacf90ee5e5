"""Draws of noise: beside OpenDP and diffprivlib, and beside one random word a draw, which is what they live on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from side_by_side.rows import Row, Side

Task = Callable[[], Any]


def geometric(draws: int, epsilon: str) -> Task:
    import numpy as np

    from irisdp import Privacy, noise

    privacy, values = Privacy(epsilon=epsilon), np.zeros(draws, dtype=np.int64)
    noise.geometric(values[:1], privacy)  # the tables of an ε are built once and kept
    return lambda: noise.geometric(values, privacy)


def staircase(draws: int, epsilon: str, moves: int) -> Task:
    return _law(draws, "staircase", epsilon, moves)


def plain(draws: int, epsilon: str) -> Task:
    return _law(draws, "geometric", epsilon, 1)


def _law(draws: int, name: str, epsilon: str, moves: int) -> Task:
    import numpy as np

    from irisdp import Privacy, noise

    law, values = noise.law(name, Privacy(epsilon=epsilon), moves), np.zeros(draws, dtype=np.int64)
    law.draw(values[:1])
    return lambda: law.draw(values)


def gaussian(draws: int, mu: str) -> Task:
    import numpy as np

    from irisdp import noise

    law, values = noise.gaussian_law(mu), np.zeros(draws, dtype=np.int64)
    law.draw(values[:1])
    return lambda: law.draw(values)


def words(draws: int) -> Task:
    """Fetch one 64-bit word a draw: what the operating system allows."""
    import os

    return lambda: os.urandom(8 * draws)


def passes(draws: int) -> Task:
    """Read and write the values once: what memory allows."""
    import numpy as np

    values, there = np.zeros(draws, dtype=np.int64), np.zeros(draws, dtype=np.int64)
    return lambda: np.copyto(there, values)


def opendp_laplace(draws: int, epsilon: str) -> Task:
    """OpenDP's discrete Laplace mechanism on a vector of integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    made, values = dp.m.make_laplace(*space, scale=1 / float(epsilon)), [0] * draws
    return lambda: made(values)


def opendp_gaussian(draws: int, mu: str) -> Task:
    """OpenDP's discrete Gaussian mechanism on a vector of integers, with deviation 1/μ."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    top, _, below = mu.partition("/")
    made, values = dp.m.make_gaussian(*space, scale=float(below or 1) / float(top)), [0] * draws
    return lambda: made(values)


def diffprivlib_geometric(draws: int, epsilon: str) -> Task:
    from diffprivlib.mechanisms import Geometric

    made = Geometric(epsilon=float(epsilon))
    return lambda: [made.randomise(0) for _ in range(draws)]


def diffprivlib_staircase(draws: int, epsilon: str, moves: int) -> Task:
    from diffprivlib.mechanisms import Staircase

    made = Staircase(epsilon=float(epsilon), sensitivity=moves)
    return lambda: [made.randomise(0) for _ in range(draws)]


def numpy_geometric(draws: int, epsilon: str) -> Task:
    """The difference of two of NumPy's geometric draws: neither exact nor from the operating system's bits."""
    import math

    import numpy as np

    random, success = np.random.default_rng(), -math.expm1(-float(epsilon))
    return lambda: random.geometric(success, draws) - random.geometric(success, draws)


WORDS = Side(name="one random word a draw", work="words", kind="limit")
PASS = Side(name="one pass over memory", work="passes", kind="limit")


def _geometric(name: str, epsilon: str) -> Row:
    said = {"epsilon": epsilon}
    return Row(
        name=name,
        group="Draws",
        title=f"Geometric noise on whole numbers, ε = {epsilon}",
        unit="draws",
        sizes=(10**4, 10**5, 10**6, 10**7),
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="geometric", options=said),
            Side(name="OpenDP", work="opendp_laplace", kind="peer", environment="opendp", options=said,
                 part=10, most=10**6),
            Side(name="diffprivlib", work="diffprivlib_geometric", kind="peer", environment="diffprivlib",
                 options=said, part=100, most=10**6),
            Side(name="NumPy, in floats", work="numpy_geometric", kind="peer", environment="numpy", options=said),
            WORDS,
            PASS,
        ),
        promise="speed of noise",
        program="geometric_noise.py",
    )  # fmt: skip


ROWS = (
    _geometric("noise-1", "1"),
    _geometric("noise-0.01", "0.01"),
    _geometric("noise-1e-6", "1e-6"),
    Row(
        name="noise-staircase",
        group="Draws",
        title="Staircase noise, ε = 1, a record moves a number by 5",
        unit="draws",
        sizes=(10**4, 10**5, 10**6),
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="staircase", options={"epsilon": "1", "moves": 5}),
            Side(name="diffprivlib", work="diffprivlib_staircase", kind="peer", environment="diffprivlib",
                 options={"epsilon": "1", "moves": 5}, part=100),
            Side(name="Iris, geometric noise", work="plain", kind="limit", options={"epsilon": "1"}),
            WORDS,
        ),
        program="staircase_noise.py",
    ),
    Row(
        name="noise-gaussian",
        group="Draws",
        title="Gaussian noise on whole numbers, μ = 1/4",
        unit="draws",
        sizes=(10**4, 10**5, 10**6),
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="gaussian", options={"mu": "1/4"}),
            Side(name="OpenDP", work="opendp_gaussian", kind="peer", environment="opendp", options={"mu": "1/4"},
                 part=10),
            WORDS,
        ),
        program="gaussian_noise.py",
    ),
)  # fmt: skip
