"""Fork while another thread is in the middle of a settlement; print how the child's own settlement ends, as JSON.

fork.py FOLDER with|without     the turn that a fork waits for
"""

import contextlib
import json
import sys
import threading
import time
from pathlib import Path

from settling import RETURNED, Child, answer, ask, folder_of

from irisdp import Ledger
from irisdp._ledger import file_store, store

DRAWING = 0.3
"""Seconds the thread takes to draw: far longer than it takes to fork."""


def main(folder: Path, turn: str) -> None:
    path = folder / "one.ledger"
    file_store.PATIENCE = 2 * DRAWING
    if turn == "without":
        store.turn = contextlib.nullcontext()
    started = threading.Event()

    def draw_slowly(token: bytes) -> None:
        started.set()
        time.sleep(DRAWING)

    thread = threading.Thread(target=ask, args=(path, 0, draw_slowly))
    thread.start()
    started.wait()
    status, shown = Child(lambda show: show(answer(path, 1))).end()
    thread.join()
    print(json.dumps({"returned": status == RETURNED, "shown": len(shown), "settled": len(Ledger(path).releases())}))


if __name__ == "__main__":
    main(folder_of(sys.argv[1]), sys.argv[2])
