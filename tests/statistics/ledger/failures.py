"""Fail, or die at, every single operation on the disk during one settlement; print the books of each way as JSON.

    failures.py FOLDER after|before     answers are shown after they are committed, or (wrongly) before

Each way is tried on a ledger that is created by the settlement, and on one that is there already.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from disk import FAILURES, FULL, Operation, watch
from settling import Books, Child, answer, ask


class Disk:
    """Counts the operations and lets one fail, or all from that one on."""

    def __init__(self) -> None:
        self.seen, self.fail_at, self.failure = 0, 0, no_failure

    def __call__(self, operation: Operation) -> int:
        self.seen += 1
        return self.failure(self.seen - self.fail_at, operation)


def no_failure(after: int, operation: Operation) -> int:
    return 0


def once(after: int, operation: Operation) -> int:
    return FAILURES[operation.kind] if after == 0 else 0


def for_good(after: int, operation: Operation) -> int:
    return FAILURES[operation.kind] if after >= 0 else 0


def disk_full(after: int, operation: Operation) -> int:
    return FULL if after >= 0 and operation.kind == "write" else 0


def killed(after: int, operation: Operation) -> int:
    if after == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 0


def main(folder: Path, moment: str) -> None:
    disk = Disk()
    watch(disk)
    found = {}
    for failure in (once, for_good, disk_full, killed):
        for first in (0, 1):
            books, operations = Books(), count_operations(disk, folder / f"{failure.__name__}-{first}", first)
            for fail_at in range(1, operations + 1):
                path = folder / f"{failure.__name__}-{first}-{fail_at}.ledger"
                if first:
                    ask(path, 0)
                child = Child(lambda show: trial(disk, path, first, fail_at, failure, moment, show))  # noqa: B023
                books.enter(path, first, *child.end())
                if moment == "before" and books.uncharged:
                    break  # the control has seen what it looks for
            found[f"{failure.__name__}, {'there already' if first else 'created'}"] = books.to_document()
    print(json.dumps(found))


def count_operations(disk: Disk, path: Path, first: int) -> int:
    for number in range(first):
        ask(path, number)
    disk.seen = 0
    ask(path, first)
    return disk.seen


def trial(
    disk: Disk, path: Path, number: int, fail_at: int, failure: Callable[[int, Operation], int], moment: str, show
) -> None:
    disk.seen, disk.fail_at, disk.failure = 0, fail_at, failure
    if moment == "before":
        ask(path, number, show)
    else:
        show(answer(path, number))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
