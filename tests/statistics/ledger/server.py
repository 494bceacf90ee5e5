"""Kill clients and the server of a ledger in PostgreSQL at random moments; print the books as JSON.

    server.py CLIENT_KILLS SERVER_KILLS after|before     answers are shown after they are committed, or (wrongly) before

The server is started for this, on a port and in a folder of its own, and removed afterwards. Four clients ask new
questions of one budget, over and over. In some rounds the server and all its children are killed, and started again
while clients wait for it. Each round ends with the clients killed; then what they showed is compared with what stands
in the ledger.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from settling import COST, RETURNED, Child, answer, ask, at_one_moment

from irisdp import BadInput, BudgetRefused, Ledger
from irisdp.errors import NotShown
from support.postgresql import started

CLIENTS = 4
UNITS = 60
"""Settlements that one budget allows."""
ROUNDS_PER_LEDGER = 6
SLOW_DISK = 0.1
"""Seconds that the wrong order is given to be seen in."""
LONGEST = 1.5
"""Seconds of a round before somebody is killed."""


def spend(place: str, moment: str, show) -> None:
    """Ask new questions until the budget is gone; while the server is away, the same one again."""

    def shown_at_once(token: bytes) -> None:
        show(token)
        time.sleep(SLOW_DISK)

    number = 0
    while True:
        number = number or int.from_bytes(os.urandom(6))
        try:
            if moment == "before":
                ask(place, number, shown_at_once)
            else:
                show(answer(place, number))
            number = 0
        except BudgetRefused:
            return
        except (BadInput, NotShown):
            time.sleep(0.05)


def main(client_kills: int, server_kills: int, moment: str) -> None:
    chance = random.Random(40)
    books = dict.fromkeys(
        (
            "rounds", "client kills", "server kills", "shown", "uncharged", "shown twice",
            "charged in vain, beyond one a kill", "unexplained",
        ),
        0,
    )  # fmt: skip
    most = 0.0
    with started() as server:
        seen: list[bytes] = []
        while books["client kills"] < client_kills or books["server kills"] < server_kills:
            if books["rounds"] % ROUNDS_PER_LEDGER == 0:
                place, seen = server.address(), []
                Ledger(place).set_limit(COST.epsilon * UNITS)
            before = len(Ledger(place).releases())
            children = [Child(lambda show: spend(place, moment, show)) for _ in range(CLIENTS)]  # noqa: B023
            time.sleep(chance.uniform(0.1, LONGEST))
            if books["server kills"] * client_kills <= books["client kills"] * server_kills:
                server.kill()
                books["server kills"] += 1
                time.sleep(chance.uniform(0, 0.3))
                server.start()
                time.sleep(chance.uniform(0, LONGEST))
            chance.shuffle(children)
            for child in children:
                child.kill()
                time.sleep(chance.uniform(0, 0.05))
            ends = [child.end() for child in children]
            killed = sum(status == -signal.SIGKILL for status, _ in ends)
            shown = [token for _, tokens in ends for token in tokens]
            book = Ledger(place)
            stored, exact = at_one_moment(book)
            books["rounds"] += 1
            books["client kills"] += killed
            books["unexplained"] += sum(status not in (RETURNED, -signal.SIGKILL) for status, _ in ends)
            books["shown"] += len(shown)
            books["uncharged"] += len(set(shown) - set(stored)) + (not exact)
            seen += shown
            books["shown twice"] += len(seen) - len(set(seen))
            books["charged in vain, beyond one a kill"] = max(
                books["charged in vain, beyond one a kill"], len(stored) - before - len(shown) - killed
            )
            if moment == "before" and books["uncharged"]:
                break  # the control has seen what it looks for
            most = max(most, float(book.spent.epsilon / (COST.epsilon * UNITS)))
    print(json.dumps({**books, "spent / limit, at most": most}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
