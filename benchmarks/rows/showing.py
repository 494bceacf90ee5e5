"""Pictures, and pages of the explorer: nobody else makes them; what is promised stands beside them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count as numbers
from typing import Any

from side_by_side.rows import Row, Side

Task = Callable[[], Any]


def picture(inputs: int, ending: str, epsilon: str) -> Task:
    """Draw the optimal mechanism of a count as a heat map, from the mechanism to the bytes of a file."""
    from irisdp import Privacy, design, plot

    mechanism = design.geometric(inputs - 1, Privacy(epsilon=epsilon))
    plot(design.geometric(3, Privacy(epsilon=epsilon))).to_bytes(ending)
    return lambda: {"megabytes": len(plot(mechanism).to_bytes(ending)) / 1e6}


def answers(times: int) -> Task:
    """Answer so many times what a count costs, each time another ε, as fields move: no network, no browser."""
    from starlette.testclient import TestClient

    from irisdp._explorer.app import create_app

    client, number = TestClient(create_app(), base_url="http://127.0.0.1:8080"), numbers()

    def run() -> None:
        for _ in range(times):
            asked = {"query": "count", "by": "epsilon", "epsilon": f"{0.5 + next(number) / 100:.2f}", "size": "200"}
            assert client.get("/ask/result", params=asked).status_code == 200

    return run


def _picture(ending: str, epsilon: str) -> Row:
    return Row(
        name=f"picture-{ending.strip('.')}",
        group="Showing",
        title=f"A heat map of n inputs and n answers as {ending.strip('.').upper()}, ε = {epsilon}",
        unit="inputs",
        sizes=(201, 601, 2001),
        quick=(5, 9),
        sides=(Side(name="Iris", work="picture", options={"ending": ending, "epsilon": epsilon}),),
        promise="speed and size of pictures",
        program="plots.py",
        seconds=2,
    )


ROWS = (
    _picture(".svg", "1/1000"),
    _picture(".png", "1/1000"),
    Row(
        name="explorer",
        group="Showing",
        title="Answers of the explorer on a count, as a field moves",
        unit="answers",
        sizes=(20,),
        quick=(2,),
        sides=(Side(name="Iris", work="answers"),),
        promise="speed of answers in the explorer",
        program="explorer.py",
        seconds=2,
    ),
)
