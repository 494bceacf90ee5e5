"""Files that appear whole or not at all, and never in place of another."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from collections.abc import Callable
from pathlib import Path

__all__ = ["create_once", "drafts_of"]

_MARK = 8
"""Random bytes in a passing name."""


def create_once(path: Path, write: Callable[[Path], object]) -> None:
    """Create a file in one step: other processes see no file or all of it, and an existing file is never replaced.

    The file belongs to its owner alone (mode 0600). Iris writes the file under a temporary name and then links it to
    its final name. Unlike a rename, a link never replaces an existing file.

    Parameters
    ----------
    path : Path
        The file to create, on a file system with hard links.
    write : callable
        Fills the file under the passing name it is given and syncs it to the disk.

    Raises
    ------
    OSError
        As the operating system puts it.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(_MARK)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        write(draft)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(path.parent)


def drafts_of(path: Path) -> str:
    """Return the pattern of the passing names under which `create_once` writes a file."""
    return f".{glob.escape(path.name)}.{'[0-9a-f]' * (2 * _MARK)}"


def _sync_folder(folder: Path) -> None:
    """Make a new name survive a power loss; elsewhere than on POSIX a folder cannot be opened, nor need it be."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
