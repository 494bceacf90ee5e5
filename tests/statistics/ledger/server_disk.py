"""Fill the disk of a ledger's server to every amount of room, and settle; print the books as JSON.

    server_disk.py STEP after|before     bytes between one amount of room and the next; answers are shown after they are
                                         committed, or (wrongly) before

The server is on a disk of its own, in memory, which takes a superuser who may mount one. It may fail, or stop
altogether; when there is room again it is started, and what was shown is compared with what stands in the ledger.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from settling import REFUSED, RETURNED, TOKEN, Child, ask

from irisdp import Ledger
from irisdp._ledger import server_store
from support.postgresql import Server, started

SIZE = 160 << 20
ANSWER = 96 << 10
"""Bytes of an answer: each takes room in tables and in the log."""
MOST = 1 << 20
"""Room beyond which every settlement of a trial succeeds."""
ASKED = 4


@contextlib.contextmanager
def small_disk() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=755", "tmpfs", place], check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)


def lacking() -> str | None:
    """Say what a small disk lacks here; None where it can be had."""
    try:
        with small_disk():
            return None
    except (OSError, subprocess.CalledProcessError):
        return "needs a superuser who may mount a disk in memory"


def fill(disk: Path, room: int) -> Path:
    """Leave this much room on the disk."""
    balloon = disk / "balloon"
    here = os.statvfs(disk)
    with balloon.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, here.f_bavail * here.f_frsize - room))
    return balloon


def trial(server: Server, disk: Path, room: int, moment: str, books: dict[str, int]) -> None:
    place = server.address()
    ask(place, 0)
    server.execute("CHECKPOINT")
    balloon = fill(disk, room)

    def work(show) -> None:
        for number in range(1, ASKED + 1):
            if moment == "before":
                ask(place, number, show, ANSWER)
            else:
                show(ask(place, number, size=ANSWER).entries[0].answers)

    status, shown = Child(work).end()
    balloon.unlink()
    stopped = server.process is None or server.process.poll() is not None
    if stopped:
        server.start()
    kept = [release.answers[:TOKEN] for release in Ledger(place).releases()[1:]]
    server.execute(f"DROP SCHEMA {place.rpartition('=')[2]} CASCADE")
    for name, more in {
        "trials": 1,
        "returned": status == RETURNED,
        "refused": status == REFUSED,
        "unexplained": status not in (RETURNED, REFUSED),
        "server stopped": stopped,
        "shown": len(shown),
        "uncharged": len(set(shown) - set(kept)),
        "charged in vain": len(set(kept) - set(shown)),
    }.items():
        books[name] = books.get(name, 0) + more


def main(step: int, moment: str) -> None:
    server_store.RETURN = 2
    books: dict[str, int] = {}
    with small_disk() as disk, started(place=disk) as server:
        for room in range(0, MOST, step):
            trial(server, disk, room, moment, books)
            if moment == "before" and books["uncharged"]:
                break  # the control has seen what it looks for
    print(json.dumps(books))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
