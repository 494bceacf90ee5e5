"""What a command says of itself in its JSON document, and where its log goes: charges are taken from its own events."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._events import ROOT, Stopwatch
from .._version import VERSION
from ..errors import BadInput, Unavailable

if TYPE_CHECKING:
    from ..accounting import Charge

LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log-file",
        help="Append a log of readings, charges, files and refusals. JSON lines if FILE ends in .jsonl.",
        metavar="FILE",
    ),
]


class CommandLog(logging.Handler):
    """Collects the charges of one command, and appends its events to a file where one is named.

    Attributes
    ----------
    name : str
        The command.
    lost : str
        Why an event could not be written; empty where none is lost.
    printed : bool
        Whether a JSON document was printed; there is never a second one.
    """

    def __init__(self, command: str) -> None:
        super().__init__(logging.INFO)
        self.command = command
        self.lost = ""
        self.printed = False
        self._began = datetime.now(UTC)
        self._clock = Stopwatch()
        self._charges: dict[str, Any] = {}
        self._file: int | None = None
        self._as_json = False

    def emit(self, record: logging.LogRecord) -> None:
        """Take one event; a file that cannot be written stops no release."""
        event, facts = getattr(record, "event", ""), getattr(record, "facts", {})
        if event == "charged" and "charge" in facts and not facts["charge"].is_nothing:
            self._count(
                str(facts["ledger"]), facts["charge"], facts.get("partition"), parallel=bool(facts.get("parallel"))
            )
        if self._file is not None:
            try:
                os.write(self._file, self._line(record, event, facts))
            except OSError as error:
                self.lost = self.lost or error.strerror or "the disk refused"

    def _count(self, place: str, charge: Charge, partition: str | None, *, parallel: bool) -> None:
        """Count a charge, as the ledger adds charges up: of different partitions, perhaps the largest alone."""
        from .._ledger import Spending

        before = self._charges.get(place, Spending(charge * 0))
        self._charges[place] = replace(before.after(partition, charge), parallel=before.parallel or parallel)

    def _line(self, record: logging.LogRecord, event: str, facts: dict[str, Any]) -> bytes:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        if self._as_json:
            head = {"time": when, "level": record.levelname, "logger": record.name, "event": event}
            told = {name: _plain(value) for name, value in facts.items()}
            return (json.dumps({**head, **told}, ensure_ascii=True) + "\n").encode()
        text = record.getMessage()
        shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
        return f"{when} {record.levelname} {record.name}: {shown}\n".encode(errors="replace")

    def open(self, path: Path) -> None:
        """Append to a file: a new one, or a log that Iris wrote.

        Raises
        ------
        BadInput
            For a file that holds something else: nothing is ever appended to data.
        """
        self._as_json = path.suffix.lower() == ".jsonl"
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
            descriptor = os.open(path, flags, 0o644)
        except IsADirectoryError:
            raise BadInput("log_file", f"{path} is a folder", "name a file") from None
        except OSError as error:
            rule = f"{path} cannot be written ({error.strerror or 'the system refused'})"
            raise Unavailable("log_file", rule, "name another file") from None
        start = os.read(descriptor, 256) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b"?"
        if start and not (_JSON_LINE if self._as_json else _TEXT_LINE).match(start):
            os.close(descriptor)
            kind = "JSON lines" if self._as_json else "text"
            rule = f"{path} is there, and is no log in {kind} that Iris wrote"
            raise BadInput("log_file", rule, "name another file; Iris appends only to its own logs")
        self._file = descriptor

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        super().close()

    def to_document(self, status: int) -> dict[str, Any]:
        """Return what every JSON document says of its command."""
        return {
            "name": self.command,
            "status": status,
            "charged": [{"ledger": place, **spending.total.to_document()} for place, spending in self._charges.items()],
            "date": self._began.isoformat(timespec="seconds"),
            "seconds": self._clock.seconds,
            "version": VERSION,
        }


_WHEN = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"
_TEXT_LINE = re.compile(_WHEN + rb" [A-Z]+ irisdp\.")
_JSON_LINE = re.compile(rb'\{"time": "' + _WHEN + rb'", "level": "[A-Z]+", "logger": "irisdp\.')


def _plain(value: Any) -> Any:
    return value.to_document() if hasattr(value, "to_document") else value


_current: list[CommandLog] = []


@contextlib.contextmanager
def logged(command: str) -> Iterator[CommandLog]:
    """Listen to the events of one command, from its first to its last."""
    logger, log = logging.getLogger(ROOT), CommandLog(command)
    level = logger.level
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    _current.append(log)
    try:
        yield log
    finally:
        _current.remove(log)
        logger.setLevel(level)
        logger.removeHandler(log)
        log.close()


def log_to(path: Path | None) -> None:
    """Append the events of the current command to a file."""
    if path is not None and _current:
        _current[-1].open(path)


def with_command(document: Any, status: int) -> Any:
    """Add what a document says of its command; lists and mechanism files stay as they are."""
    if not _current:
        return document
    _current[-1].printed = True
    if not isinstance(document, dict) or str(document.get("format")).startswith("irisdp/mechanism/"):
        return document
    return {**document, "command": _current[-1].to_document(status)}


def is_printed() -> bool:
    """Tell whether the current command has printed its document."""
    return bool(_current) and _current[-1].printed
