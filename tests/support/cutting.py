"""A proxy before a PostgreSQL server that cuts a connection at a chosen message, before or after the server saw it."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path


class Cutter:
    """Counts what clients send; the message whose number is `cut_at` is lost on its way, or its answer is."""

    def __init__(self, upstream: Path) -> None:
        self.upstream, self.seen, self.cut_at, self.when, self.for_good = upstream, 0, 0, "", False
        self.last = b""
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self, at: int, when: str, *, for_good: bool = False) -> None:
        """Cut at the message with this number, counted from now: `before` the server sees it, or `after`."""
        self.seen, self.cut_at, self.when, self.for_good = 0, at, when, for_good

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            if self.for_good and self.seen >= self.cut_at > 0:
                return
            server.connect(str(self.upstream))
            silent, answered = threading.Event(), threading.Event()
            threading.Thread(target=_answers, args=(server, client, silent, answered), daemon=True).start()
            while message := client.recv(1 << 20):
                self.seen += 1
                if self.seen == self.cut_at:
                    self.last = message
                    if self.when == "after":
                        silent.set()
                        server.sendall(message)
                        answered.wait(30)
                    break
                server.sendall(message)
            for one in (client, server):
                one.shutdown(socket.SHUT_RDWR)


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
