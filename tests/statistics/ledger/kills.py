"""Kill a process that settles one question after another, at random moments; print the books as JSON.

kills.py FOLDER KILLS after|before     answers are shown after they are committed, or (wrongly) before
"""

import json
import random
import sys
import time
from itertools import count
from pathlib import Path

from settling import Books, Child, answer, ask, folder_of

KILLS_PER_LEDGER = 10
LONGEST_LIFE = 8
"""In settlements: kills fall on the first, which creates the ledger, as well as on later ones."""


def length_of_a_settlement(path: Path) -> float:
    """Time a few, anew for every ledger: the machine may have become busier."""
    start = time.perf_counter()
    for number in range(5):
        ask(path, number)
    return (time.perf_counter() - start) / 5


def main(folder: Path, kills: int, moment: str) -> None:
    chance = random.Random(20)
    books = Books()
    for kill in range(kills):
        if kill % KILLS_PER_LEDGER == 0:
            path, first = folder / f"{kill}.ledger", 0
            settlement = length_of_a_settlement(folder / f"{kill}.clock")

        def work(show, path=path, first=first):
            for number in count(first):
                if moment == "before":
                    ask(path, number, show)
                else:
                    show(answer(path, number))

        child = Child(work)
        time.sleep(chance.uniform(0, LONGEST_LIFE * settlement))
        child.kill()
        first = books.enter(path, first, *child.end())
        if moment == "before" and books.uncharged:
            break  # the control has seen what it looks for
    print(json.dumps(books.to_document()))


if __name__ == "__main__":
    main(folder_of(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
