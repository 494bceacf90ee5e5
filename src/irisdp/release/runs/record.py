"""Which files runs of a plan wrote: those the same plan may replace unasked, and nothing else.

A record lies in each folder that answers are written to, and holds a line for each file: the plan's name, the file's,
and a digest of what was written, noted before the file was there. So whenever a run was killed, what it left behind is
known for its own. Digests are keyed with the secret of the data, so that nobody can find out an answer of a few bits
by trying; a lost record or another secret means that files are refused until --force is given.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import NotShown
from ..fingerprint import SECRET_BYTES, secret_beside, secret_file

__all__ = ["RECORD", "Record"]

RECORD = ".runs.irisdp-written"
"""Its name, in the folder of the answers."""

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Record:
    """What runs of one plan wrote of one dataset's answers.

    Parameters
    ----------
    plan : Path
        The plan's file, whose name says whose files these are.
    keeper : path
        The file beside which the secret of the data is kept.
    """

    plan: Path
    keeper: str | os.PathLike[str] = field(repr=False)

    def wrote(self, path: Path) -> bool:
        """Tell whether a file holds exactly what a run of this plan wrote there; creates nothing."""
        key = self._key(create=False)
        noted = set() if key is None else self._noted(path)
        if not noted or key is None or path.is_symlink():
            return False
        digest = _digest(key)
        try:
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
        except OSError:
            return False
        return digest.hexdigest() in noted

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
        if digest.hexdigest() in self._noted(path):
            return
        line = json.dumps({"plan": self.plan.name, "file": path.name, "digest": digest.hexdigest()})
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

    def _noted(self, path: Path) -> set[str]:
        """Return the digests that are noted of a file, by this plan."""
        try:
            lines = path.with_name(RECORD).read_bytes().splitlines()
        except OSError:
            return set()
        mine = {"plan": self.plan.name, "file": path.name}
        found = (_line(line) for line in lines)
        return {str(one["digest"]) for one in found if one.items() >= mine.items() and "digest" in one}

    def _key(self, *, create: bool) -> bytes | None:
        if not create:
            try:
                secret = secret_file(self.keeper).read_bytes()
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
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
