"""Cut the connection to a ledger's server at every message of a settlement; print the books as JSON.

    cuts.py after|before [STEP]     answers are shown after they are committed, or (wrongly) before; cut at each message
                                    or at every so many

A message is lost before the server sees it, or its answer on the way back; the ledger is created by the settlement, or
there already. The server is started for this, and removed afterwards.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from settling import ask, at_one_moment

from irisdp import BadInput, Ledger
from irisdp._ledger.addresses import address_of
from irisdp.errors import NotShown
from support.cutting import Cutter, cutter
from support.postgresql import Server, started

FEWEST = 10
"""Messages that a settlement has at least."""


def trial(server: Server, cut: Cutter, at: int, when: str, moment: str, there: bool) -> dict[str, int]:
    """Settle one question through a proxy that cuts at a message (0: nowhere); compare with what is on the server."""
    address = server.address(port=cut.port)
    truth = Ledger(server.address(address_of(address).schema))
    if there:
        truth.set_limit(1)
    cut.cut(at, when)
    shown, refused = [], 0
    try:
        settled = ask(address, 0, shown.append if moment == "before" else bytes)
        if moment == "after":
            shown.append(settled.entries[0].answers)
    except (BadInput, NotShown):
        refused = 1
    messages = cut.seen
    kept, exact = at_one_moment(truth)
    return {
        "messages": messages,
        "trials": 1,
        "shown": len(shown),
        "refused": refused,
        "uncharged": len(set(shown) - set(kept)) + (not exact),
        "charged twice": max(0, len(kept) - 1),
        "charged in vain": max(0, len(kept) - len(shown)),
    }


def main(moment: str, step: int = 1) -> None:
    books: dict[str, int] = {}
    with started() as server, cutter(server.folder / f".s.PGSQL.{server.port}") as cut:
        os.environ["PGPASSWORD"] = server.password
        for there in (False, True):
            messages = trial(server, cut, 0, "", moment, there)["messages"]
            if messages < FEWEST:
                raise ValueError(messages)
            for when in ("before", "after"):
                for at in range(messages, 0, -step):
                    found = trial(server, cut, at, when, moment, there)
                    books = {name: books.get(name, 0) + found[name] for name in found if name != "messages"}
                    if moment == "before" and books["uncharged"]:
                        return print(json.dumps(books))  # the control has seen what it looks for
    print(json.dumps(books))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
