"""Readers and designs of a count: beside HiGHS and qif on the program over all mechanisms, in floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from side_by_side.rows import Row, Side

Task = Callable[[], Any]


def minimax(n: int, epsilon: str, loss: str) -> Task:
    """Find the best reading of noise as a formula; noise and consumer are made anew, and its gap is certified."""
    _read(3, epsilon, loss)  # loads the solver
    return lambda: _told(_read(n, epsilon, loss))


def bayes(n: int, epsilon: str, loss: str, bell: bool = False) -> Task:
    """The same under a prior: uniform, or a bell."""
    import numpy as np

    prior: Any = [f"1/{n + 1}"] * (n + 1)
    if bell:
        prior = np.exp(-(((np.arange(n + 1) - 0.3 * n) / (0.1 * n)) ** 2) / 2)
        prior /= prior.sum()
    _read(3, epsilon, loss, prior=["1/4"] * 4)
    return lambda: _told(_read(n, epsilon, loss, prior=prior))


def _read(n: int, epsilon: str, loss: str, **knows: Any) -> Any:
    from irisdp import Privacy
    from irisdp.consumers import Consumer, optimal_reading
    from irisdp.mechanisms import FactoredMechanism

    return optimal_reading(FactoredMechanism(privacy=Privacy(epsilon=epsilon), n=n), Consumer(n, loss, **knows))


def _told(found: Any) -> dict[str, float]:
    return {"value": float(found.value), "gap": float(found.gap)}


def interpreted(n: int) -> Task:
    """Read an answer of a designed mechanism for a minimax reader."""
    from irisdp import Privacy, design, interpret

    mechanism = design.geometric(n, Privacy(epsilon="1/2"))
    interpret(design.geometric(3, Privacy(epsilon="1/2")), 0)
    return lambda: {"value": float(interpret(mechanism, 0).answers[0].rule.value)}


def exact(n: int) -> Task:
    """Design for a minimax reader at ratio 4, with its certificate: the exact optimum."""
    from irisdp import Privacy, design

    privacy = Privacy(ratio=4)
    design.consumer(3, "absolute", privacy)

    def run() -> dict[str, float]:
        found = design.consumer(n, "absolute", privacy).objective
        return {"value": float(found.value), "gap": float((found.value - found.lower_bound) / found.value)}

    return run


def whole(n: int, epsilon: str) -> Task:
    """HiGHS on the program over all mechanisms, the worst mean error as its goal."""
    return lambda: {"value": whole_program(n, epsilon)}


def reading_by_hand(n: int, epsilon: str) -> Task:
    """HiGHS on the program over all readings of the geometric mechanism."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, kron, vstack

    size, alpha = n + 1, math.exp(-float(epsilon))
    here = np.arange(size)
    rows = (1 - alpha) / (1 + alpha) * alpha ** abs(np.subtract.outer(here, here))
    rows[:, [0, -1]] = rows[:, [0, -1]] / (1 - alpha)
    losses = np.einsum("ir,iv->irv", rows, distances(n)).reshape(size, -1)
    above = hstack([csr_array(losses), csr_array(-np.ones((size, 1)))])
    sums = hstack([kron(csr_array(np.eye(size)), np.ones((1, size))), csr_array((size, 1))])
    cost = np.append(np.zeros(size * size), 1)

    def run() -> dict[str, float]:
        found = linprog(cost, vstack([above]), np.zeros(size), sums, np.ones(size), method="highs")
        return {"value": float(found.fun)}

    return run


def whole_by_qif(n: int, epsilon: str) -> Task:
    """Let qif (LGPL; it is called in benchmarks and nowhere else) solve the program over all mechanisms."""
    import numpy as np
    from qif import mechanism

    rate, uniform = float(epsilon), np.full(n + 1, 1 / (n + 1))

    def run() -> dict[str, float]:
        found = mechanism.d_privacy.min_loss_given_d(
            uniform, n + 1, lambda i, j: rate * abs(i - j), lambda i, v: abs(float(i) - float(v))
        )
        return {"value": float((np.array(found) * distances(n)).sum() / (n + 1))}

    return run


def whole_program(n: int, epsilon: str) -> float:
    """Minimise the worst mean error over all private mechanisms: x_iv and the worst, two rows per edge and answer."""
    import highspy
    import numpy as np
    from scipy.sparse import coo_array

    size, alpha = n + 1, math.exp(-float(epsilon))
    at, losses = np.arange(size * size).reshape(size, size), distances(n)
    here = np.concatenate((at[:-1].ravel(), at[1:].ravel()))
    there = np.concatenate((at[1:].ravel(), at[:-1].ravel()))
    edges, inputs, worst = np.arange(len(here)), np.arange(size), size * size
    entries = [
        (edges, here, np.full(len(here), alpha)),
        (edges, there, np.full(len(here), -1.0)),
        (len(here) + np.repeat(inputs, size), at.ravel(), losses.ravel()),
        (len(here) + inputs, np.full(size, worst), np.full(size, -1.0)),
        (len(here) + size + np.repeat(inputs, size), at.ravel(), np.ones(worst)),
    ]
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    matrix = coo_array((values, (rows, columns)), shape=(len(here) + 2 * size, worst + 1)).tocsc()
    matrix.eliminate_zeros()
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = np.append(np.zeros(worst), 1.0)
    model.col_lower_, model.col_upper_ = np.zeros(worst + 1), np.full(worst + 1, np.inf)
    model.row_lower_ = np.append(np.full(len(here) + size, -np.inf), np.ones(size))
    model.row_upper_ = np.append(np.zeros(len(here) + size), np.ones(size))
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.passModel(model)
    solver.run()
    return float(solver.getInfo().objective_function_value)


def distances(n: int) -> Any:
    import numpy as np

    return abs(np.subtract.outer(np.arange(n + 1.0), np.arange(n + 1.0)))


def _alone(name: str, loss: str, epsilon: str, sizes: tuple[int, ...]) -> Row:
    return Row(
        name=name,
        group="Readers of a count",
        title=f"Best reading at worst, {loss} loss, ε = {epsilon}, counts 0 to n",
        unit="counts",
        sizes=sizes,
        quick=(20, 40),
        sides=(Side(name="Iris", work="minimax", options={"epsilon": epsilon, "loss": loss}),),
        promise="certified readings",
        program="consumers.py",
        seconds=60,
        warm=False,
    )


HALF = {"epsilon": "0.5"}
ROWS = (
    Row(
        name="minimax",
        group="Readers of a count",
        title="Best reading at worst, absolute loss, ε = 1/2; the others solve for all mechanisms",
        unit="counts",
        sizes=(30, 60, 100, 1000),
        quick=(10, 20),
        sides=(
            Side(name="Iris", work="minimax", options={"epsilon": "0.5", "loss": "absolute"}),
            Side(name="HiGHS by hand", work="whole", kind="peer", environment="highs", options=HALF, most=100),
        ),
        promise="certified readings",
        program="consumers.py",
    ),
    _alone("minimax-absolute-0.1", "absolute", "0.1", (100, 1000, 10_000)),
    _alone("minimax-squared-0.1", "squared", "0.1", (100, 1000, 10_000)),
    _alone("minimax-squared-1", "squared", "1", (100, 1000, 10_000)),
    _alone("minimax-absolute-1", "absolute", "1", (1000, 10_000, 100_000)),
    Row(
        name="bayes",
        group="Readers of a count",
        title="Best reading on average, uniform prior, absolute loss, ε = 1/2; qif solves for all mechanisms",
        unit="counts",
        sizes=(20, 40, 60, 10_000),
        quick=(8, 16),
        sides=(
            Side(name="Iris", work="bayes", options={"epsilon": "0.5", "loss": "absolute"}),
            Side(name="qif", work="whole_by_qif", kind="peer", environment="qif", options=HALF, most=60),
        ),
        promise="certified readings",
        program="consumers.py",
    ),
    Row(
        name="bayes-bell",
        group="Readers of a count",
        title="Best reading on average, a bell of a prior, squared loss, ε = 0.1",
        unit="counts",
        sizes=(10_000, 100_000, 1_000_000),
        quick=(100, 1000),
        sides=(Side(name="Iris", work="bayes", options={"epsilon": "0.1", "loss": "squared", "bell": True}),),
        promise="certified readings",
        program="consumers.py",
        seconds=10,
        warm=False,
    ),
    Row(
        name="interpretation",
        group="Readers of a count",
        title="Interpret an answer of a mechanism over 0 to n at worst, ε = 1/2; HiGHS in floats, uncertified",
        unit="counts",
        sizes=(20, 50, 100),
        quick=(5, 10),
        sides=(
            Side(name="Iris", work="interpreted"),
            Side(name="HiGHS by hand", work="reading_by_hand", kind="peer", environment="highs", options=HALF),
        ),
    ),
    Row(
        name="exact-design",
        group="Readers of a count",
        title="The exact optimum with its certificate, absolute loss, ratio 4; HiGHS in floats, uncertified",
        unit="counts",
        sizes=(8, 16, 32),
        quick=(3, 6),
        sides=(
            Side(name="Iris", work="exact"),
            Side(name="HiGHS by hand", work="whole", kind="peer", environment="highs",
                 options={"epsilon": str(math.log(4))}),
        ),
        program="exact_optimum.py",
    ),
)  # fmt: skip
