"""Which files runs of a plan wrote: those the same plan may replace unasked, and nothing else.

Each folder with answers holds a record with one line a file. A line holds the place of the plan relative to the folder,
so that both may move together; the file's name; and a digest of the content, noted before the file is created. Lines of
earlier versions hold the plan's name alone, and say whose a file is until a line says it better. So whenever a run was
killed, what it left behind is known for its own. Digests are keyed with the secret of the data, so that nobody can find
an answer of a few bits by trying. If the record is lost or the secret differs, existing files are refused without
--force.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ...errors import NotShown
from ...exact import open_regular
from ..fingerprint import SECRET_BYTES, secret_beside, secret_file

__all__ = ["RECORD", "Record"]

RECORD = ".runs.irisdp-written"
"""Its name, in the folder of the answers."""

_BLOCK = 1 << 20


@dataclass(slots=True)
class _Seen:
    """What was read of one record so far."""

    place: tuple[int, int] = (0, 0)
    end: int = 0
    owners: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """By file and digest, where the plans lie that wrote it."""
    named: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """Likewise the names of plans, of lines that do not say where they lie."""

    def read_on(self, file: BinaryIO) -> None:
        """Read the lines that were added; all of them, where the record is another."""
        status = os.fstat(file.fileno())
        place = status.st_dev, status.st_ino
        if place != self.place or status.st_size < self.end:
            self.place, self.end, self.owners, self.named = place, 0, {}, {}
        file.seek(self.end)
        whole, newline, _ = file.read().rpartition(b"\n")  # what follows is being written, or was cut off
        self.end += len(whole) + len(newline)
        for line in whole.splitlines():
            found = _line(line)
            whose = self.owners if "path" in found else self.named
            of_file = whose.setdefault(str(found.get("file")), {})
            of_file.setdefault(str(found.get("digest")), set()).add(str(found.get("path", found.get("plan"))))


@dataclass(frozen=True, slots=True)
class Record:
    """What runs of one plan wrote of one dataset's answers.

    Parameters
    ----------
    plan : Path
        The plan's file, whose name says whose files these are.
    keeper : path, optional
        The file beside which the secret of the data is kept; None where none was named, and the plan is refused.
    """

    plan: Path
    keeper: str | os.PathLike[str] | None = field(repr=False)
    _seen: dict[Path, _Seen] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By folder, what was read of its record: lines are only ever added, and read once."""

    def wrote(self, path: Path) -> bool:
        """Tell whether a file holds exactly what a run of this plan wrote there; creates nothing."""
        key = self._key(create=False)
        if key is None or path.is_symlink():
            return False
        seen = self._noted(path)
        owners, named = seen.owners.get(path.name, {}), seen.named.get(path.name, {})
        if not owners and not named:
            return False
        digest = _digest(key)
        try:
            with open_regular(path) as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
        except OSError:
            return False
        found = digest.hexdigest()
        if found in owners:
            return self._seen_from(path) in owners[found]
        return self.plan.name in named.get(found, ())

    def note(self, path: Path, content: bytes) -> None:
        """Note what will be written, before it is there.

        Raises
        ------
        NotShown
            Where the folder lets no record be kept.
        """
        key = self._key(create=True)
        assert key is not None
        digest = _digest(key)
        digest.update(content)
        place = self._seen_from(path)
        if place in self._noted(path).owners.get(path.name, {}).get(digest.hexdigest(), ()):
            return
        line = json.dumps({"path": place, "file": path.name, "digest": digest.hexdigest()})
        record = path.with_name(RECORD)
        try:
            descriptor = os.open(record, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o644)
            try:
                # One write of a whole line: runs beside this one add theirs before or after it. A line that a power
                # loss cut off must not swallow it.
                os.write(descriptor, (b"" if _ends_whole(descriptor) else b"\n") + line.encode() + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise NotShown(
                f"out: no record can be kept in {record} ({error.strerror or 'the disk refused'}), but the answer is in"
                " the ledger; let the folder be written, and run the plan again: it costs nothing"
            ) from None

    def _seen_from(self, path: Path) -> str:
        """Say where the plan lies, seen from the folder of a file; both may be moved together."""
        plan, folder = self.plan.resolve(), path.parent.resolve()
        try:
            return Path(os.path.relpath(plan, folder)).as_posix()
        except ValueError:  # on another drive
            return plan.as_posix()

    def _noted(self, path: Path) -> _Seen:
        """Return what is noted in the folder of a file."""
        seen = self._seen.setdefault(path.parent, _Seen())
        try:
            with open_regular(path.with_name(RECORD)) as file:
                seen.read_on(file)
        except OSError:
            return _Seen()
        return seen

    def _key(self, *, create: bool) -> bytes | None:
        if self.keeper is None:
            return None
        if not create:
            try:
                with open_regular(secret_file(self.keeper)) as file:
                    secret = file.read()
            except OSError:
                return None
            if len(secret) != SECRET_BYTES:
                return None
        else:
            secret = secret_beside(self.keeper)
        return hashlib.blake2b(key=secret, digest_size=SECRET_BYTES, person=b"irisdp run").digest()


def _digest(key: bytes) -> hashlib.blake2b:
    return hashlib.blake2b(key=key, digest_size=SECRET_BYTES)


def _ends_whole(descriptor: int) -> bool:
    if os.fstat(descriptor).st_size == 0:
        return True
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) == b"\n"


def _line(line: bytes) -> dict[str, object]:
    """Read a line; one that is none says nothing."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
