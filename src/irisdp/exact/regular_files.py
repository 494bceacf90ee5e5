"""Files that are read whole: whether there is one of a name, and how to open it without waiting for anybody.

A dangling link counts as existing: a link to a disk that is not mounted may have been a ledger or a project. A named
pipe would block the opener until a writer comes, which may be never.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["NoRegularFile", "is_there", "open_regular"]

_HANDED_OVER = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
"""What a shell opened for this process, as for `<(…)`: somebody writes at its other end, and a wait has an end."""


class NoRegularFile(OSError):
    """What has the name is a folder, a pipe or a device."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.EINVAL, "no regular file", os.fspath(path))


def is_there(path: Path) -> bool:
    """Tell whether a name is taken, whatever it leads to; where the system does not tell, it may be.

    Examples
    --------
    >>> is_there(Path("there is no such file"))
    False
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG  # no file has such a name
    return True


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to read its bytes.

    Raises
    ------
    NoRegularFile
        For a folder, a pipe, a device; but for what a shell handed over open, such as `/dev/stdin` or `<(…)`.
    OSError
        As the system puts it.
    """
    if _HANDED_OVER.fullmatch(os.fsdecode(path)):
        return open(path, "rb")
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NoRegularFile(path)
    return open(descriptor, "rb")
