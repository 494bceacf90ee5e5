"""Starting: Python with this library, and its command, beside version 0.1, beside peers, beside Python alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from side_by_side.rows import Row, Side

Task = Callable[[], object]


def command(times: int, words: list[str]) -> Task:
    """Start that many processes of this Python, one after the other."""

    def run() -> None:
        for _ in range(times):
            subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, cwd="/")

    return run


def _python(code: str) -> dict[str, list[str]]:
    return {"words": ["-c", code]}


def _beside(words: list[str]) -> tuple[Side, Side]:
    return (
        Side(name="Iris", work="command", options={"words": words}),
        Side(name="Iris 0.1", work="command", kind="before", environment="iris-0.1", options={"words": words}),
    )


ALONE = Side(name="Python alone", work="command", kind="limit", options=_python("pass"))

ROWS = (
    Row(
        name="start-import",
        group="Starting",
        title="Start Python and import the library",
        unit="starts",
        sizes=(10,),
        quick=(1,),
        sides=(
            *_beside(["-c", "import irisdp"]),
            Side(name="OpenDP", work="command", kind="peer", environment="opendp",
                 options=_python("import opendp.prelude")),
            Side(name="diffprivlib", work="command", kind="peer", environment="diffprivlib",
                 options=_python("import diffprivlib")),
            ALONE,
        ),
        promise="starting",
        program="startup.py",
    ),
    Row(
        name="start-help",
        group="Starting",
        title="`irisdp --help`, from start to end",
        unit="starts",
        sizes=(10,),
        quick=(1,),
        sides=(*_beside(["-m", "irisdp", "--help"]), ALONE),
        promise="starting",
        program="startup.py",
    ),
)  # fmt: skip
