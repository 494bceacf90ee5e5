"""Kill a process that publishes one batch after another, at random moments; print the books as JSON.

    batches.py FOLDER KILLS after|before     answers are shown after they are committed, or (wrongly) before

Every batch has three questions. A process counts its first question and takes that for all others: reading is not what
is killed here. Processes that use the engine are forked from one that never does.
"""

import functools
import hashlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pyarrow
from settling import TOKEN, Child, folder_of, import_before_forks

from irisdp import Ledger, batch
from irisdp._release import batching, pipeline

QUESTIONS = 3
SECRET = "IRISDP_TEST_SECRET"
"""Names the file with the secret of the data, which is kept beside no ledger on a server."""
TABLE = pyarrow.table({"age": [70, 30, 81, 20]})
LONGEST_LIFE = 4
"""In batches."""
SLOW_DISK = 1.0
"""Seconds that the wrong order is given to be seen in."""
LONGEST_WAIT = 60
"""Seconds in which a process with the wrong order shows its first answer; it is killed then, not at any moment."""


def publish(path: Path, number: int) -> tuple[bytes, bool]:
    """Publish batch `number`; return what stands for its answers, and whether they were there before."""
    pipeline.read_statistics = count_once()
    questions = [{"query": "count", "expression": f"age > {number} AND age > {part}"} for part in range(QUESTIONS)]
    asked = {"budget": {"epsilon": "1/100"}, "questions": questions}
    if isinstance(path, str):
        asked["secret"] = os.environ[SECRET]
    found = batch(asked, data=TABLE, ledger=path)
    if len(found) != QUESTIONS:
        raise ValueError(len(found))
    return token([one.answers.values for one in found]), found.repeated


@functools.cache
def count_once() -> Callable[[object, bytes], object]:
    real, found = pipeline.read_statistics, []

    def cells(planned, key):
        if not found:
            found.append(real(planned, key))
        return found[0]

    return cells


def token(values: list[list[int]]) -> bytes:
    return hashlib.sha256(json.dumps(values).encode()).digest()[:TOKEN]


def publish_on(path: Path, moment: str, show: Callable[[bytes], object]) -> None:
    """Publish one batch after another and show each; wrongly, as soon as it is drawn."""
    if moment == "before":
        real = batching._draw_all

        def shown_at_once(planned, *given):
            entry = real(planned, *given)
            drawn = dict(zip(planned.order, map(json.loads, json.loads(entry.answers)), strict=True))
            show(token([drawn[place]["values"] for place in range(QUESTIONS)]))
            time.sleep(SLOW_DISK)
            return entry

        batching._draw_all = shown_at_once
    for number in count():
        found, _ = publish(path, number)
        if moment == "after":
            show(found)


def main(folder: Path, kills: int, moment: str) -> None:
    import_before_forks()
    chance = random.Random(22)
    start = time.perf_counter()
    status, _ = Child(lambda show: [publish(folder / "clock.ledger", number) for number in range(4)]).end()
    length = (time.perf_counter() - start) / 4
    books = {"kills": 0, "shown": 0, "uncharged": 0, "most unshown": 0, "lost": 0, "inexact": int(status != 0)}
    for kill in range(kills):
        path = folder / f"{kill}.ledger"
        child = Child(lambda show, path=path: publish_on(path, moment, show))
        if moment == "before":
            child.wait(LONGEST_WAIT)
        else:
            time.sleep(chance.uniform(0, LONGEST_LIFE * length))
        child.kill()
        ended, shown = child.end()
        charged = len(Ledger(path).releases())  # a line a batch
        again = Child(
            lambda show, path=path, charged=charged: [show(bytes(flagged(path, number))) for number in range(charged)]
        )
        _, stored = again.end()
        books["kills"] += ended < 0
        books["shown"] += len(shown)
        books["uncharged"] += sum(flag not in stored for flag in map(repeated, shown))
        books["most unshown"] = max(books["most unshown"], charged - len(shown))
        books["lost"] += sum(answer[0] == 0 for answer in stored)
        books["inexact"] += Ledger(path).spent.epsilon * 100 != charged
        if moment == "before" and books["uncharged"]:
            break  # the control has seen what it looks for
    print(json.dumps(books))


def flagged(path: Path, number: int) -> bytes:
    """Return what stands for a stored answer, and first whether it was stored."""
    found, before = publish(path, number)
    return repeated(found) if before else bytes(TOKEN)


def repeated(found: bytes) -> bytes:
    return b"\x01" + found[1:]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as kept:
        os.environ[SECRET] = str(Path(kept, "secret"))
        main(folder_of(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
