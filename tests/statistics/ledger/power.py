"""Cut the power at every moment of a few settlements; print what was lost as JSON.

    power.py FOLDER [PARTS [NORMAL|OFF]]     how many random parts; with a weaker `synchronous` than the ledger's own

The file operations are recorded once. Then, for each prefix of the record, the folder is rebuilt as a disk may hold it
after a power loss: what was synced is there; of the rest nothing, all, or a random part with writes torn at sectors.
"""

import json
import os
import random
import shutil
import sqlite3
import sys
from dataclasses import dataclass, field
from pathlib import Path

from disk import Operation, watch
from settling import COST, answer, stored

from irisdp import IrisError, Ledger
from irisdp._ledger import file_store

SETTLEMENTS = 5
SECTOR = 512


@dataclass(frozen=True)
class Returned:
    """A settlement that was answered: from here on it must survive."""

    number: int
    answer: bytes


@dataclass
class Content:
    """A file: what is surely on the disk, and what was done since the last sync."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[Operation] = field(default_factory=list)

    def sync(self) -> None:
        for operation in self.pending:
            _apply(operation, self.synced)
        self.pending.clear()


class Disk:
    """A model of a folder: contents, and names that are as unsure as contents until the folder is synced."""

    def __init__(self) -> None:
        self.names: dict[str, Content] = {}
        self.synced_names: dict[str, Content] = {}

    def do(self, operation: Operation) -> None:
        content = self.names.get(operation.path)
        match operation.kind:
            case "open" if content is None:
                self.names[operation.path] = Content()
            case "write" | "truncate":
                self.names[operation.path].pending.append(operation)
            case "sync":
                self.names[operation.path].sync()
                # SQLite syncs the folder with the first sync of a journal or log it has created.
                if operation.path.endswith(("-journal", "-wal")):
                    self.synced_names = dict(self.names)
            case "delete":
                self.names.pop(operation.path, None)
                if operation.number:
                    self.synced_names = dict(self.names)
            case "link":
                self.names[operation.path] = self.names[operation.content.decode()]
            case "sync folder":
                self.synced_names = dict(self.names)

    def survive(self, folder: Path, keep: random.Random | bool) -> None:
        """Write the folder as it may be found: `keep` all that was not synced, none of it, or a random part."""
        folder.mkdir()
        for path in sorted(self.names.keys() | self.synced_names.keys()):
            now, before = self.names.get(path), self.synced_names.get(path)
            content = now if _kept(keep) else before
            if content is not None:
                data = bytearray(content.synced)
                for operation in content.pending:
                    if _kept(keep):
                        _apply(_torn(operation, keep), data)
                (folder / Path(path).name).write_bytes(data)


def _kept(keep: random.Random | bool) -> bool:
    return keep if isinstance(keep, bool) else keep.random() < 0.5


def _torn(operation: Operation, keep: random.Random | bool) -> Operation:
    if isinstance(keep, bool) or operation.kind != "write" or keep.random() < 0.5:
        return operation
    sectors = keep.randrange(len(operation.content) // SECTOR + 1)
    return Operation("write", operation.path, operation.number, operation.content[: sectors * SECTOR])


def _apply(operation: Operation, data: bytearray) -> None:
    if operation.kind == "truncate":
        del data[operation.number :]
    else:
        data.extend(bytes(max(0, operation.number - len(data))))
        data[operation.number : operation.number + len(operation.content)] = operation.content


def record(path: Path) -> list[Operation | Returned]:
    """Settle a few questions on a new ledger and return all that happened to files."""
    record: list[Operation | Returned] = []
    recording = True

    def observe(operation: Operation) -> int:
        if recording:
            record.append(operation)
        return 0

    watch(observe)
    link, sync = os.link, os.fsync
    os.link = lambda old, new: (link(old, new), observe(Operation("link", str(new), 0, str(old).encode())))
    os.fsync = lambda descriptor: (sync(descriptor), observe(Operation("sync folder", "")))
    bystander = None
    for number in range(SETTLEMENTS):
        record.append(Returned(number, answer(path, number)))
        if number == 0:
            # While someone else looks at an earlier moment nothing is copied back: commits must stand in the log alone.
            bystander = sqlite3.connect(path, isolation_level=None)
            bystander.execute("BEGIN")
            bystander.execute("SELECT count(*) FROM release").fetchone()
        elif number == SETTLEMENTS // 2:
            bystander.execute("COMMIT")  # who is connected and looks no longer lets it be copied back after each write
        elif number == SETTLEMENTS - 2:
            bystander.close()
    os.link, os.fsync = link, sync
    recording = False
    return record


def main(folder: Path, parts: int = 3, weaker: str | None = None) -> None:
    if weaker:
        file_store.SETTINGS = (*file_store.SETTINGS, f"PRAGMA synchronous = {weaker}")
    chance = random.Random(20)
    disk, returned = Disk(), []
    found = {"moments": 0, "losses": 0, "lost": 0, "unreadable": 0, "inexact": 0}
    for step in record(folder / "recorded.ledger"):
        if isinstance(step, Returned):
            returned.append(step)
        else:
            disk.do(step)
        found["moments"] += 1
        for keep in (False, True, *[chance] * parts):
            place = folder / f"{found['losses']}"
            found["losses"] += 1
            disk.survive(place, keep)
            try:
                check(place / "recorded.ledger", returned, found)
            except IrisError:
                found["unreadable"] += 1
            shutil.rmtree(place)
        if weaker and found["lost"] + found["unreadable"]:
            break  # the control has seen what it looks for
    print(json.dumps(found))


def check(path: Path, returned: list[Returned], found: dict[str, int]) -> None:
    kept = [stored(path, number) for number in range(SETTLEMENTS)]
    found["lost"] += sum(kept[each.number] != each.answer for each in returned)
    books = Ledger(path)
    settled = sum(answer is not None for answer in kept)
    found["inexact"] += books.spent != COST * settled or len(books.releases()) != settled


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]), *sys.argv[3:])
