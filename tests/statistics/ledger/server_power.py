"""Cut the power of a ledger's server at random moments; print what was lost as JSON.

    server_power.py CUTS on|off [LONGEST]     `synchronous_commit`: the ledger's own, or (wrongly) off

A library before the server (durable.c, which takes a C compiler) keeps what a power cut would leave: each file as it
was when it was last synced, and nothing of what was never synced. At a cut the server and all its children are killed,
that takes the place of the data, and the server is started on it. Four clients ask new questions meanwhile; all that
they showed must be in the ledger.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from server import spend
from settling import COST, Child, at_one_moment

from irisdp import Ledger
from irisdp._ledger import server_store
from support.postgresql import Server, started

CLIENTS, CUTS_PER_LEDGER, UNITS = 4, 5, 2000
LONGEST = 1.5
"""Seconds before a cut, where no others are given."""


def compiler() -> str | None:
    """Return a C compiler, if there is one."""
    return shutil.which("cc") or shutil.which("gcc")


def keep_what_is_durable(server: Server, library: Path) -> None:
    """From now on a copy of the server's data has what a power cut would leave."""
    server.kill()
    server.start()  # a server that was ended as here writes all that it knows when it is started, and stopped
    server.process.terminate()
    server.process.wait(60)
    _copy(server, "data", "durable")
    server.environment = {
        "LD_PRELOAD": str(library),
        "DURABLE_DATA": str(server.folder / "data"),
        "DURABLE_COPY": str(server.folder / "durable"),
    }
    server.start()


def cut_power(server: Server) -> int:
    """Lose all that was not synced; return how many files were not as they are after a mere kill."""
    server.kill()
    data, durable = server.folder / "data", server.folder / "durable"
    lost = 0
    for file in data.rglob("*"):
        twin = durable / file.relative_to(data)
        if file.is_file() and not (twin.is_file() and twin.read_bytes() == file.read_bytes()):
            lost += 1
    for half in durable.rglob("*.durable~*"):
        half.unlink()
    shutil.rmtree(data)
    durable.rename(data)
    _copy(server, "data", "durable")
    server.start()
    return lost


def _copy(server: Server, one: str, other: str) -> None:
    shutil.rmtree(server.folder / other, ignore_errors=True)
    subprocess.run(["cp", "-a", str(server.folder / one), str(server.folder / other)], check=True)


def main(cuts: int, commits: str, longest: float = LONGEST) -> None:
    if commits == "off":
        settings = server_store._settings
        server_store._settings = lambda: (*settings(), "SET LOCAL synchronous_commit = off")
    chance = random.Random(60)
    books = dict.fromkeys(("cuts", "shown", "uncharged", "inexact", "files that lost something"), 0)
    with tempfile.TemporaryDirectory() as place, started() as server:
        os.chmod(place, 0o755)
        library = Path(place, "durable.so")
        source = Path(__file__).with_name("durable.c")
        subprocess.run([compiler(), "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        (server.folder / "data").parent.chmod(0o777)
        keep_what_is_durable(server, library)
        for cut in range(cuts):
            if cut % CUTS_PER_LEDGER == 0:
                address = server.address()
                Ledger(address).set_limit(COST.epsilon * UNITS)
                server.execute("CHECKPOINT")
            children = [Child(lambda show: spend(address, "after", show)) for _ in range(CLIENTS)]  # noqa: B023
            time.sleep(chance.uniform(0.1, longest))
            if chance.random() < 0.3:
                server.execute("CHECKPOINT")
            books["files that lost something"] += cut_power(server)
            for child in children:
                child.kill()
            shown = [token for child in children for token in child.end()[1]]
            book = Ledger(address)
            kept, exact = at_one_moment(book)
            books["cuts"] += 1
            books["shown"] += len(shown)
            books["uncharged"] += len(set(shown) - set(kept))
            books["inexact"] += not exact or bool(book.verify().problems)
            if commits == "off" and books["uncharged"]:
                break  # the control has seen what it looks for
    print(json.dumps(books))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:]))
