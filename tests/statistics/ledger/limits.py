"""Settle where the operating system says no; print the books of each way as JSON.

    limits.py FOLDER [STEP]     the folder must be reachable for every user; bytes between one limit and the next

Files may not grow beyond a size, for every size in steps; file or folder are read-only, hidden, or (to see that the
trial itself can succeed) open. Mode bits do not stop a superuser, so those trials run as nobody.
"""

import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from settling import Books, Child, answer, ask

SIZE = 64 * 1024
"""Bytes of an answer: with it the log outgrows SQLite's shared memory of 32 KiB, so that every file meets its limit."""
LARGEST = 192 * 1024
NOBODY = 65534
MODES = {
    "all open": (0o666, 0o777), "file read-only": (0o444, 0o777), "file hidden": (0o000, 0o777),
    "folder read-only": (0o666, 0o555), "folder hidden": (0o666, 0o000),
}  # fmt: skip


def main(folder: Path, step: int = 2048) -> None:
    found = {}
    for first in (0, 1):
        books = Books()
        for size in range(0, LARGEST, step):
            path = ledger(folder / f"{size}-{first}", first)
            settle_as(books, path, first, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))  # noqa: B023
        found[f"files of limited size, {'there already' if first else 'created'}"] = books.to_document()
    for name, (file_mode, folder_mode) in MODES.items():
        for first in (0, 1):
            path = ledger(folder / f"{name}-{first}", first)
            if first:
                path.chmod(file_mode)
            path.parent.chmod(folder_mode)
            settle_as(books := Books(), path, first, become_nobody)
            found[f"{name}, {'there already' if first else 'created'}"] = books.to_document()
    print(json.dumps(found))


def ledger(place: Path, settled: int) -> Path:
    place.mkdir()
    for number in range(settled):
        ask(place / "one.ledger", number)
    return place / "one.ledger"


def settle_as(books: Books, path: Path, number: int, prepare: Callable[[], object]) -> None:
    def work(show: Callable[[bytes], object]) -> None:
        prepare()
        show(answer(path, number, SIZE))

    child = Child(work)
    end = child.end()
    path.parent.chmod(0o777)
    if path.exists():
        path.chmod(0o666)
    books.enter(path, number, *end)


def become_nobody() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
