"""A PostgreSQL server of the tests' own: Debian's, in a folder and on a port that nobody else has, removed afterwards.

Nothing of it is left: `started` ends the server and removes its folder, whatever happens. Where PostgreSQL or psycopg
is missing, `lacking` says what to install; `python tests/support/postgresql.py` installs Debian's package where it may.
"""

import contextlib
import glob
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

OWNER = "iris"
_PLACES = "/usr/lib/postgresql/*/bin"
_PATIENCE = 120
"""Seconds that a server may take to start or end on a busy machine."""


def program(name: str) -> str | None:
    """Find one of the server's programs; Debian keeps them in a folder for each version."""
    return shutil.which(name) or next((shutil.which(name, path=place) for place in sorted(glob.glob(_PLACES))), None)


def lacking() -> str | None:
    """Say what tests on a server lack here; None where they can run."""
    if importlib.util.find_spec("psycopg") is None:
        return "needs psycopg (pip install 'irisdp[postgresql]')"
    if program("initdb") is None or program("postgres") is None:
        return "needs PostgreSQL (apt-get install postgresql), or python tests/support/postgresql.py as root"
    if hasattr(os, "geteuid") and os.geteuid() == 0 and _unprivileged() is None:
        return "needs a user for PostgreSQL to run as, which is not root"
    return None


@dataclass
class Server:
    """A running server, or one that was killed and may be started again."""

    folder: Path
    port: int
    password: str
    process: subprocess.Popen[bytes] | None = None
    listens: tuple[str, ...] = ("127.0.0.1",)
    """Where it is reached over TCP, by whoever knows the password."""
    environment: dict[str, str] = field(default_factory=dict)
    """What it is told besides by the environment."""

    def address(
        self, schema: str | None = None, *, role: str = OWNER, port: int | None = None, host: str = "127.0.0.1"
    ) -> str:
        """Return the address of a ledger; of a new one where no schema is named. With a port, over TCP."""
        schema = schema or f"l_{secrets.token_hex(6)}"
        if port is not None:
            return f"postgresql://{role}@{host}:{port}/postgres?schema={schema}"
        return f"postgresql://{role}@/postgres?host={self.folder}&port={self.port}&schema={schema}"

    def start(self) -> None:
        """Start, and wait until it lets somebody in; after a kill its children may take a moment to be gone."""
        import psycopg

        command = [
            program("postgres") or "",
            "-D",
            str(self.folder / "data"),
            "-p",
            str(self.port),
            "-k",
            str(self.folder),
        ]
        settings = {"listen_addresses": ",".join(self.listens), "shared_buffers": "16MB", "max_connections": 150}
        settings |= {"unix_socket_permissions": "0777", "logging_collector": "off"}
        settings |= {"dynamic_shared_memory_type": "mmap"}  # in its folder: nobody removes what a killed one shared
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if self.process is None or self.process.poll() is not None:
                with (self.folder / "log").open("ab") as log:
                    self.process = subprocess.Popen(
                        command,
                        stdout=log,
                        stderr=log,
                        cwd=self.folder,
                        env={**os.environ, **self.environment},
                        **_as_another(),
                    )
            with contextlib.suppress(psycopg.OperationalError):
                self.execute("SELECT 1")
                return
            time.sleep(0.02)
        raise TimeoutError((self.folder / "log").read_text(errors="replace")[-2000:])

    def kill(self) -> None:
        """Kill it and all its children, as the machine's own last resort would."""
        assert self.process is not None
        family = [self.process.pid, *_children(self.process.pid)]
        for one in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self.process.wait(_PATIENCE)

    def execute(self, statement: str, schema: str | None = None) -> list[tuple[object, ...]]:
        """Carry out SQL as the owner, where another client would; return what it finds."""
        import psycopg

        where = f"postgresql://{OWNER}@/postgres?host={self.folder}&port={self.port}"
        with psycopg.connect(where, autocommit=True, connect_timeout=60) as connection:
            if schema is not None:
                connection.execute(f'SET search_path = "{schema}"')
            found = connection.execute(statement)
            return found.fetchall() if found.description else []


@contextlib.contextmanager
def started(listens: tuple[str, ...] = ("127.0.0.1",), place: Path | None = None) -> Iterator[Server]:
    """Start a new server, in memory or in a folder within `place`; end it and remove all that it wrote."""
    memory = "/dev/shm"
    where = place or (memory if os.access(memory, os.W_OK) else None)
    folder = Path(tempfile.mkdtemp(prefix="irisdp-pg-", dir=where))
    server = Server(folder, _free_port(), secrets.token_hex(16), listens=listens)
    try:
        folder.chmod(0o755)
        (folder / "password").write_text(server.password)
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            for owned in (folder, folder / "password"):
                shutil.chown(owned, _unprivileged())
        command = [
            program("initdb") or "",
            "-D",
            str(folder / "data"),
            "-U",
            OWNER,
            "--pwfile",
            str(folder / "password"),
        ]
        command += ["--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]
        command += ["--wal-segsize=1"]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, **_as_another())
        (folder / "password").unlink()
        with (folder / "data" / "pg_hba.conf").open("a") as rules:
            rules.writelines(f"host all all {host}/24 scram-sha-256\n" for host in listens)
        server.start()
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _as_another() -> dict[str, object]:
    """Run as somebody else where this is root, which PostgreSQL refuses to be."""
    if not (hasattr(os, "geteuid") and os.geteuid() == 0):
        return {}
    return {"user": _unprivileged(), "group": _group(), "extra_groups": []}


def _unprivileged() -> str | None:
    import pwd

    names = {one.pw_name for one in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


def _group() -> int:
    import pwd

    return pwd.getpwnam(_unprivileged() or "").pw_gid


def _children(parent: int) -> list[int]:
    found = []
    for file in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = Path(file).read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(file.split("/")[2]))
    return found


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def install() -> None:
    """Install Debian's server where it is missing and may be installed; start nothing."""
    if program("initdb") or not (os.geteuid() == 0 and shutil.which("apt-get")):
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Debian would start a server at once; the tests want none but their own.
    settings = Path("/etc/postgresql-common/createcluster.conf")
    if not settings.exists():
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("create_main_cluster = false\n")
    subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "postgresql"], env=quiet, check=True)


if __name__ == "__main__":
    install()
    print(lacking() or "PostgreSQL is there", file=sys.stderr)
