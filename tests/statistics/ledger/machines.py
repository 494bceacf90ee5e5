"""Let two machines spend one budget of a server, and cut their wires without a word; print the books as JSON.

    machines.py CUTS with|without     whether either side gives up somebody it has not heard of for long

A machine is a network namespace with a wire of its own to the server, which is in a third one and listens at both
wires; it takes a superuser and `ip`, and touches nothing of the network that is there. First 8 processes on each spend
one budget to its end. Then, over and over, clients on both spend, and one wire goes dead at a random moment: nothing
arrives any more, and nobody is told. Either the machine behind it has lost its power (its clients are killed while
nobody hears of it), or the wire comes back. The other machine must go on meanwhile.
"""

import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from server import spend
from settling import COST, RETURNED, Child, at_one_moment

from irisdp import Ledger
from irisdp._ledger import server_store
from irisdp._tables import servers
from support.postgresql import Server, started

PROCESSES, UNITS = 8, 200
CLIENTS, UNITS_OF_A_CUT = 3, 400
SILENCE = 4
"""Seconds after which somebody is given up here; what is shipped waits for a minute."""
NEVER = 3600
STALLED = 20
"""Seconds within which the other machine must have got an answer: the silence, and time for a busy machine."""
_NEW_NETWORK = 0x40000000


@dataclass(frozen=True)
class Machine:
    """A network namespace, and the server's address at the other end of its wire."""

    name: str
    server: str

    def wired(self, state: str) -> None:
        """Set the wire `up` or `down`, at the machine's end: the server's end stays up."""
        _ip("-n", self.name, "link", "set", "wire", state)


def enter(name: str) -> None:
    """Go, with this process and all that it starts from now on, into a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/var/run/netns/{name}", "rb") as network:
        if libc.setns(network.fileno(), _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")


def lacking() -> str | None:
    """Say what two machines lack here; None where they can be made."""
    if os.geteuid() or shutil.which("ip") is None:
        return "needs a superuser and ip (apt-get install iproute2), to make network namespaces"
    probe = f"iris{os.getpid()}p"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "delete", probe], capture_output=True, check=False)
    return "may make no network namespaces" if made.returncode else None


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def two_machines() -> Iterator[list[Machine]]:
    """Make two machines and go to a third one, where their wires end; remove all three afterwards."""
    name = f"iris{os.getpid()}"
    made = [Machine(f"{name}m{number}", f"192.0.2.{64 * number + 1}") for number in range(2)]
    try:
        _ip("netns", "add", name)
        enter(name)
        _ip("link", "set", "lo", "up")
        for number, machine in enumerate(made):
            _ip("netns", "add", machine.name)
            _ip("link", "add", f"wire{number}", "type", "veth", "peer", "name", "wire", "netns", machine.name)
            _ip("address", "add", f"{machine.server}/26", "dev", f"wire{number}")
            _ip("link", "set", f"wire{number}", "up")
            _ip("-n", machine.name, "address", "add", f"192.0.2.{64 * number + 2}/26", "dev", "wire")
            machine.wired("up")
        yield made
    finally:
        for each in (*(machine.name for machine in made), name):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", each)


def clients(machine: Machine, place: str, number: int) -> list[Child]:
    def work(show: Callable[[bytes], object]) -> None:
        enter(machine.name)
        spend(place, "after", show)

    return [Child(work) for _ in range(number)]


def ledger_of(server: Server, machines: list[Machine], units: int) -> tuple[Ledger, list[str]]:
    """Make a ledger; return it as the server's own machine sees it, and its address for each other machine."""
    book = Ledger(server.address())
    book.set_limit(COST.epsilon * units)
    schema = book.store.address.schema
    return book, [server.address(schema, port=server.port, host=machine.server) for machine in machines]


def one_budget(server: Server, machines: list[Machine]) -> dict[str, object]:
    book, known = ledger_of(server, machines, UNITS)
    children = [clients(machine, place, PROCESSES) for machine, place in zip(machines, known, strict=True)]
    ends = [[child.end() for child in group] for group in children]
    shown = [[token for _, tokens in group for token in tokens] for group in ends]
    everything = [token for tokens in shown for token in tokens]
    return {
        "machines": len(machines),
        "answers": len(everything),
        "different answers": len(set(everything)),
        "least of a machine": min(map(len, shown)),
        "failed": sum(status != RETURNED for group in ends for status, _ in group),
        "uncharged": len(set(everything) - set(at_one_moment(book)[0])),
        "spent / limit": str(book.spent.epsilon / (COST.epsilon * UNITS)),
    }


def cut_a_wire(
    server: Server, machines: list[Machine], number: int, chance: random.Random, books: dict[str, float], most: float
) -> None:
    """Let both machines spend, cut one off, and see whether the other goes on; two times of four it is lost.

    After `most` seconds without an answer the other is stalled.
    """
    book, known = ledger_of(server, machines, UNITS_OF_A_CUT)
    dead, lost = machines[number % 2], number % 4 < 2
    there = {one: clients(one, place, CLIENTS) for one, place in zip(machines, known, strict=True)}
    time.sleep(chance.uniform(0.3, 1.5))
    dead.wired("down")
    for child in there[dead] if lost else ():
        child.kill()
    time.sleep(0.1)
    since, before = time.monotonic(), len(book.releases())
    while len(book.releases()) == before and time.monotonic() - since < most:
        time.sleep(0.05)
    stalled = time.monotonic() - since
    if not lost:
        time.sleep(chance.uniform(0, 1.5 * SILENCE))
    dead.wired("up")
    time.sleep(chance.uniform(0, 2))
    children = [child for group in there.values() for child in group]
    for child in children:
        child.kill()
    ends = [child.end() for child in children]
    shown = [token for _, tokens in ends for token in tokens]
    kept, exact = at_one_moment(book)
    killed = sum(status == -signal.SIGKILL for status, _ in ends)
    for name, more in {
        "cuts": 1,
        "machines lost": lost,
        "killed": killed,
        "shown": len(shown),
        "uncharged": len(set(shown) - set(kept)) + (not exact),
        "twice": len(shown) - len(set(shown)),
        "stalls": stalled >= most,
    }.items():
        books[name] = books.get(name, 0) + more
    books["in vain"] = max(books.get("in vain", 0), len(kept) - len(shown) - killed)
    books["longest stall"] = max(books.get("longest stall", 0), round(stalled, 1))


def main(cuts: int, giving_up: str) -> None:
    guarded, found = giving_up == "with", {}
    servers.SILENCE = SILENCE if guarded else NEVER
    server_store.RETURN = 3 * SILENCE
    chance, wires = random.Random(50), {}
    with two_machines() as machines, started(tuple(machine.server for machine in machines)) as server:
        os.environ["PGPASSWORD"] = server.password
        if guarded:
            found = one_budget(server, machines)
        for number in range(cuts):
            cut_a_wire(server, machines, number, chance, wires, STALLED if guarded else 2 * SILENCE)
            if not guarded and wires["stalls"]:
                break  # the control has seen what it looks for
    print(json.dumps({"one budget": found, "wires": wires}))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
