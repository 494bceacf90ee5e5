"""Let 16 processes, 64 threads and 4 forks spend one budget at the same time; print what they got as JSON.

    crowd.py FOLDER UNITS inside|outside [THREADED]     the budget, in costs of one question, where it is checked (in
                                                        the transaction that charges, or, wrongly, before it), and how
                                                        many of the 16 processes run threads (1)

A process that runs threads forks while they are in the middle of their settlements.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from settling import COST, RETURNED, Child, answer, folder_of

from irisdp import BudgetRefused, Cost, Ledger
from irisdp._ledger.fingerprints import secret_key_path

PROCESSES, THREADS, FORKS = 16, 64, 4
Show = Callable[[bytes], object]


def main(folder: Path, units: int, place: str, threaded: int = 1) -> None:
    path = folder / "one.ledger"
    budget = COST * units
    if place == "inside":
        Ledger(path).set_limit(budget.epsilon)
        statuses, shown = crowd(lambda show: spend_all(path, show), threaded)
    else:
        statuses, shown = crowd(lambda show: spend_unguarded(path, budget, show), threaded)
    spent = Ledger(path).spent
    statuses_again, same = crowd(lambda show: show(answer(folder / "same.ledger", 0)), threaded)
    with tempfile.TemporaryDirectory() as beside:
        _, secrets = crowd(lambda show: show(secret_key_path(Path(beside, "data.csv"))))
    print(
        json.dumps(
            {
                "failed": sum(status != RETURNED for status in statuses + statuses_again),
                "answers": len(shown),
                "different answers": len(set(shown)),
                "spent / limit": str(spent.epsilon / budget.epsilon),
                "answers to one question": len(same),
                "different answers to one question": len(set(same)),
                "different secrets beside one file": len(set(secrets)),
                "charges for one question": str(Ledger(folder / "same.ledger").spent.epsilon / COST.epsilon),
            }
        )
    )


def crowd(work: Callable[[Show], object], threaded: int = 1) -> tuple[list[int], list[bytes]]:
    children = [Child(work) for _ in range(PROCESSES - threaded)]
    children += [Child(lambda show: threads_and_forks(work, show)) for _ in range(threaded)]
    ends = [child.end() for child in children]
    return [status for status, _ in ends], [answer for _, shown in ends for answer in shown]


def threads_and_forks(work: Callable[[Show], object], show: Show) -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        running = [threads.submit(work, show) for _ in range(THREADS)]
        forks = [Child(lambda _: work(show)) for _ in range(FORKS)]
        if any(fork.end()[0] != RETURNED for fork in forks):
            raise RuntimeError("a fork failed")
        for future in running:
            future.result()


def spend_all(path: Path, show: Show) -> None:
    """Ask new questions until the budget is gone."""
    while True:
        try:
            show(answer(path, int.from_bytes(os.urandom(8))))
        except BudgetRefused:
            return


def spend_unguarded(path: Path, budget: Cost, show: Show) -> None:
    while (Ledger(path).spent + COST).fits_in(budget):
        show(answer(path, int.from_bytes(os.urandom(8))))


if __name__ == "__main__":
    main(folder_of(sys.argv[1]), int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
