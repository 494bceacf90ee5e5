"""Files that are about to be written: never one that is read, and never in place of another unless that was asked for.

Outputs are planned before anything is drawn or spent, against everything the command reads. A file is known by its
device and inode, so no link and no spelling of a path hides it. What is written appears whole or not at all, all files
of a command together; without `force` the last step is a hard link, which unlike a rename never replaces a file that
somebody else put there in the meantime.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .errors import BadInput, IrisError

__all__ = ["Output", "plan_outputs", "same_file", "write_outputs"]

_PUBLIC = 0o644
"""Rights of what is written: what is released is public."""


@dataclass(frozen=True, slots=True)
class Output:
    """A file that may be written, as `plan_outputs` found.

    Parameters
    ----------
    path : Path
        Where to write.
    field : str
        The option that named it.
    force : bool
        Whether a file that is there is replaced.
    """

    path: Path
    field: str
    force: bool


def plan_outputs(
    paths: Iterable[str | os.PathLike[str]],
    inputs: Iterable[tuple[str, str | os.PathLike[str]]],
    *,
    field: str,
    force: bool | Callable[[Path], bool] = False,
) -> tuple[Output, ...]:
    """Check where a command wants to write, before it does anything else.

    Parameters
    ----------
    paths : iterable of paths
        All files that will be written.
    inputs : iterable of (str, path)
        All files that are read or kept, with what they are ("the data"), whether or not they are there yet.
    field : str
        The option that names the outputs.
    force : bool, or callable
        Whether files that are there may be replaced; or which, asked of each that is there. Inputs never may.

    Returns
    -------
    tuple of Output
        One for each path, for `write_outputs`.

    Raises
    ------
    BadInput
        For an output that is an input under whatever name, that is there already, that is a link or no regular file,
        that lies in a folder which cannot be written, or that is named twice.
    """
    inputs = list(inputs)
    read = {_identity(Path(path)): role for role, path in reversed(inputs)}
    folders = {os.path.realpath(path): role for role, path in reversed(inputs) if os.path.isdir(path)}
    planned: dict[tuple[object, ...], Output] = {}
    for path in map(Path, paths):
        _check_place(path, field)
        for folder, role in folders.items():
            if Path(os.path.realpath(path)).is_relative_to(folder):
                raise BadInput(field, f"{path} lies in {role}, and would be read with it", "name a file elsewhere")
        identity = _identity(path)
        if identity in read:
            raise BadInput(field, f"{path} is {read[identity]}, which is never written over", "name another file")
        if identity in planned:
            first = planned[identity].path
            raise BadInput(field, f"{first} and {path} are one file", "choose names that differ in more than case")
        if path.is_symlink():
            # A rename would replace the link itself, be it the system's own /dev/stdout.
            raise BadInput(field, f"{path} is a link", "name the file it leads to, or another")
        there = os.path.lexists(path)
        replaced = force if isinstance(force, bool) else there and force(path)
        if there and not replaced:
            raise BadInput(field, f"{path} is there already", "add force=True to replace it, or name another file")
        planned[identity] = Output(path, field, replaced)
    return tuple(planned.values())


def write_outputs(
    contents: Iterable[tuple[Output, bytes]], *, refusal: Callable[[str, str], IrisError] | None = None
) -> tuple[Path, ...]:
    """Write planned files together: each is whole, and where one cannot be made, none of the new ones is left behind.

    A file that holds the same already stays as it is, if it may be replaced or appeared since it was planned.

    Parameters
    ----------
    contents : iterable of (Output, bytes)
        What to write, one at a time.
    refusal : callable, optional
        Makes the error for a field and what about it could not be written, where more is to be said than that.

    Raises
    ------
    BadInput
        Or what `refusal` makes: for a disk that refuses, and for a file that appeared since it was planned and may not
        be replaced.
    """
    drafts: list[tuple[Output, Path]] = []
    named: list[Path] = []
    made: list[Path] = []
    output = None
    try:
        for output, content in contents:
            named.append(output.path)
            if not (output.force and _holds(output.path, content)):
                drafts.append((output, _draft(output.path, content)))
        for output, draft in drafts:
            if output.force:
                os.replace(draft, output.path)
            elif _put(draft, output.path):
                made.append(output.path)
    except OSError as error:
        for path in made:
            path.unlink(missing_ok=True)
        if output is None:
            raise
        reason = "it appeared meanwhile" if isinstance(error, FileExistsError) else error.strerror or "the disk refused"
        failed = f"{output.path} could not be written ({reason})"
        raise (_not_written if refusal is None else refusal)(output.field, failed) from None
    finally:
        for _, draft in drafts:
            draft.unlink(missing_ok=True)
    return tuple(named)


def _holds(path: Path, content: bytes) -> bool:
    """Tell whether a file is there and holds just this."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False


def _not_written(field: str, failed: str) -> BadInput:
    return BadInput(field, failed, "make room, or choose a folder that can be written")


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Say whether two paths lead to one file, through links of either kind and whatever the spelling."""
    return _identity(Path(one)) == _identity(Path(other))


def _identity(path: Path) -> tuple[object, ...]:
    """Name a file by device and inode; one that is not there yet by its folder and its name.

    File systems disagree about case and accents, so names that differ in nothing else are taken for one.
    """
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino
    except (OSError, ValueError):
        pass
    try:
        target = Path(os.path.realpath(path))
        folder = os.stat(target.parent)
        return folder.st_dev, folder.st_ino, unicodedata.normalize("NFC", target.name).casefold()
    except (OSError, ValueError):
        return (os.path.abspath(path) if "\0" not in str(path) else str(path),)


def _check_place(path: Path, field: str) -> None:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no file name"
        raise BadInput(field, f"cannot write to {path} ({reason})", "name another file") from None
    if stat.S_ISDIR(mode):
        raise BadInput(field, f"{path} is a folder", "give the name of a file")
    if not stat.S_ISREG(mode):
        # A rename would put a file in place of the device.
        raise BadInput(field, f"{path} is no regular file", "name a file; to print instead, leave it out")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".irisdp-"):
            pass
    except OSError:
        raise BadInput(
            field, f"cannot write to the folder {path.parent}", "choose a folder that exists and can be written"
        ) from None


def _draft(path: Path, content: bytes) -> Path:
    """Write a file under a passing name beside its own."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".irisdp-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, _PUBLIC)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _put(draft: Path, path: Path) -> bool:
    """Give a draft its name unless something has it; tell whether that was needed, and not done by somebody else."""
    try:
        os.link(draft, path)
    except FileExistsError:
        if not _holds(path, draft.read_bytes()):
            raise
        return False
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        # A file system without hard links: the name is taken first, and then filled by a rename.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PUBLIC))
        try:
            os.replace(draft, path)
        except OSError:
            os.unlink(path)
            raise
    return True
