"""The ledgers in a folder, one of which may know some data under another name.

A ledger that cannot be read today may be the one that does, with all of its budget spent. So only what is certainly no
ledger is passed over; where anything else cannot be read, nobody may take another ledger for the first.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import BadInput
from ..exact import NoRegularFile
from .ledger import Ledger
from .ledger_file import is_another_file

__all__ = ["is_beside", "ledgers_beside"]

_ENDING, _LOG = ".ledger", "-wal"
_REMEDY = "name one with ledger="


def ledgers_beside(file: Path) -> list[Ledger]:
    """List the ledgers in the folder of one.

    Raises
    ------
    BadInput
        Where the folder cannot be listed, and for what has a ledger's name, or is the log of one, and cannot be read.
    """
    try:
        names = os.listdir(file.parent)
    except OSError as error:
        rule = f"is missing, and the folder, in which another may know the data, cannot be listed ({error.strerror})"
        raise BadInput("ledger", rule, _REMEDY) from None
    # A log alone is a ledger, too: one whose file is gone.
    found = {name.removesuffix(_LOG) for name in names if name.endswith((_ENDING, f"{_ENDING}{_LOG}"))}
    ledgers = [_ledger(file.with_name(name)) for name in sorted(found)]
    return list(dict.fromkeys(ledger for ledger in ledgers if ledger is not None))


def is_beside(path: Path, file: Path) -> bool:
    """Tell whether a ledger, once it is there, is one of those that lie in the folder of another."""
    return path.parent == file.parent and path.name.endswith(_ENDING)


def _ledger(path: Path) -> Ledger | None:
    """Return the ledger at a path, or None for what is none."""
    try:
        if is_another_file(path):  # looked at first: a database of somebody else's may be locked for long
            return None
    except NoRegularFile:
        raise _unreadable(path, "it is no regular file") from None
    except FileNotFoundError:
        if path.is_symlink():
            raise _unreadable(path, "it is a link to a file that is not there") from None
    except OSError as error:
        raise _unreadable(path, f"{error.strerror}") from None
    ledger = Ledger(path)
    try:
        ledger.known([])
    except BadInput as error:  # what is wrong is public: names, permissions, the format
        raise _unreadable(path, f"it {error.rule.removeprefix(f'{ledger.path} ')}") from None
    return ledger


def _unreadable(path: Path, reason: str) -> BadInput:
    return BadInput("ledger", f"is missing, and {path.name} in its folder cannot be read: {reason}", _REMEDY)
