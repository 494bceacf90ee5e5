"""A proxy before a PostgreSQL server that cuts a connection at a chosen message, before or after the server saw it."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path


class Cutter:
    """Counts what clients send; the message whose number is `cut_at` is lost on its way, or its answer is.

    `parted` tells whether a client said farewell since counting began.
    """

    def __init__(self, upstream: Path) -> None:
        self.upstream, self.seen, self.cut_at, self.when, self.for_good = upstream, 0, 0, "", False
        self.last, self.turn, self.parted = b"", 0, False
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self, at: int, when: str, *, for_good: bool = False) -> None:
        """Cut at the message with this number, counted from now: `before` the server sees it, or `after`."""
        self.turn += 1  # what earlier connections still send, such as a farewell, is not counted
        self.seen, self.cut_at, self.when, self.for_good, self.parted = 0, at, when, for_good, False

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        turn = self.turn
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            if self.for_good and self.seen >= self.cut_at > 0:
                return
            server.connect(str(self.upstream))
            silent, answered = threading.Event(), threading.Event()
            threading.Thread(target=_answers, args=(server, client, silent, answered), daemon=True).start()
            while message := client.recv(1 << 20):
                while not is_whole(message) and (more := client.recv(1 << 20)):
                    message += more
                self.seen += turn == self.turn
                self.parted |= turn == self.turn and message.startswith(b"X")
                if turn == self.turn and self.seen == self.cut_at:
                    self.last = message
                    if self.when == "after":
                        silent.set()
                        server.sendall(message)
                        answered.wait(30)
                    break
                server.sendall(message)
            for one in (client, server):
                one.shutdown(socket.SHUT_RDWR)


ENDS = b"QSXp"
"""The letters of messages after which a client waits: a query, the end of a group, a farewell, a password."""


def is_whole(sent: bytes) -> bool:
    """Tell whether a client has sent all that it sends before it waits; more than 8 KiB comes in pieces.

    A message of PostgreSQL's has a letter and its length. The first ones of a connection have no letter, and begin with
    a zero.
    """
    place = letter = 0
    while place < len(sent):
        letter = sent[place]
        start = place if letter == 0 else place + 1
        if start + 4 > len(sent):
            return False
        place = start + int.from_bytes(sent[start : start + 4], "big")
    return place == len(sent) and (letter == 0 or letter in ENDS)


def _answers(server: socket.socket, client: socket.socket, silent: threading.Event, answered: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while answer := server.recv(1 << 20):
            if silent.is_set():
                answered.set()
                return
            client.sendall(answer)
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def cutter(upstream: Path) -> Iterator[Cutter]:
    """Stand before the socket of a server."""
    made = Cutter(upstream)
    try:
        yield made
    finally:
        made.listening.close()
