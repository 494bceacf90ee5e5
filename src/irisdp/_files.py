"""Files that appear whole or not at all, and never in place of another."""

from __future__ import annotations

import contextlib
import errno
import glob
import itertools
import os
import re
import secrets
import stat
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import BadInput, IrisError, Unavailable

# Files that are read whole: whether there is one of a name, and how to open it without waiting for anybody.
#
# A dangling link counts as existing: a link to a disk that is not mounted may have been a ledger or a project. A
# named pipe would block the opener until a writer comes, which may be never.

_HANDED_OVER = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
"""What a shell opened for this process, as for `<(…)`: somebody writes at its other end, and a wait has an end."""


class NoRegularFile(OSError):
    """What has the name is a folder, a pipe or a device."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.EINVAL, "no regular file", os.fspath(path))


def is_there(path: Path) -> bool:
    """Tell whether a name is taken, also by a dangling link; if the system does not tell, assume so.

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


# Files that are about to be written: never one that is read, and never in place of another unless that was asked for.
#
# Outputs are planned before anything is drawn or spent, against everything the command reads. A file is known by its
# device and inode, so no link and no spelling of a path hides it. Output appears whole or not at all, all files of a
# command together. Without `force` the last step is a hard link. Unlike a rename, it never replaces a file that
# another process created in the meantime.

try:
    import fcntl
except ImportError:  # not on Windows, where what a killed process left stays
    fcntl = None  # type: ignore[assignment]


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
    mode : int
        Its rights.
    """

    path: Path
    field: str
    force: bool
    mode: int = _PUBLIC


def plan_outputs(
    paths: Iterable[str | os.PathLike[str]],
    inputs: Iterable[tuple[str, str | os.PathLike[str]]],
    *,
    field: str,
    force: bool | Callable[[Path], bool | None] = False,
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
        Whether files that are there may be replaced; or which, asked of each that is there: of None, a file is neither
        refused nor replaced, and what is written must be what it holds. Inputs never may.

    Returns
    -------
    tuple of Output
        One for each path, for `write_outputs`.

    Raises
    ------
    BadInput
        If an output is also an input, exists already, is a link or no regular file, is named twice, or lies in a folder
        that cannot be written.
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
        if there and replaced is False:
            raise BadInput(field, f"{path} is there already", "add force=True to replace it, or name another file")
        planned[identity] = Output(path, field, bool(replaced))
    return tuple(planned.values())


def write_outputs(
    contents: Iterable[tuple[Output, bytes]], *, refusal: Callable[[str, str], IrisError] | None = None
) -> tuple[Path, ...]:
    """Write planned files together: each is whole, and where one cannot be made, none of the new ones is left behind.

    No file is left if writing is interrupted, for example by Ctrl-C. An existing file with the same content stays if it
    may be replaced, or if it appeared since the check.

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
    drafts: list[_Draft] = []
    desks: dict[Path, _Desk] = {}
    output = None
    try:
        for output, content in contents:
            folder = output.path.parent
            if folder not in desks:
                desks[folder] = _Desk(folder)
                desks[folder].clear()
            drafts.append(_Draft(output, desks[folder]))
            if not (output.force and _holds(output.path, content)):
                drafts[-1].fill(content)
        for draft in drafts:
            output = draft.output
            draft.put()
        named = tuple(draft.output.path for draft in drafts)
        _tidied(drafts, desks)
    except BaseException as error:  # an interrupt too: it may come between any two steps
        for draft in drafts:
            draft.take_back()
        _tidied(drafts, desks)
        if not isinstance(error, OSError) or output is None:
            raise
        reason = (
            "it appeared meanwhile, or was changed"
            if isinstance(error, FileExistsError)
            else error.strerror or "the disk refused"
        )
        failed = f"{output.path} could not be written ({reason})"
        raise (_not_written if refusal is None else refusal)(output.field, failed) from None
    return named


def _tidied(drafts: Iterable[_Draft], desks: Mapping[Path, _Desk]) -> None:
    """Remove all passing names, those of the locked files last."""
    for draft in drafts:
        draft.drop()
    for desk in desks.values():
        desk.drop()


def _holds(path: Path, content: bytes) -> bool:
    """Tell whether a file is there and holds just this."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False


def _not_written(field: str, failed: str) -> BadInput:
    return Unavailable(field, failed, "free some space, or choose a folder that can be written")


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Say whether two paths lead to one file, through links of either kind and whatever the spelling."""
    return _identity(Path(one)) == _identity(Path(other))


def _identity(path: Path) -> tuple[object, ...]:
    """Name a file by device and inode; one that is not there yet by its folder and its name.

    File systems disagree about case and accents, so names that differ in nothing else are taken for one.
    """
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino
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
        with tempfile.TemporaryFile(dir=path.parent, prefix=".irisdp-"):
            pass
    except OSError as error:
        folder = path.parent.absolute()
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise BadInput(field, f"the folder {folder} does not exist", "make it, or choose another") from None
        reason = error.strerror or "the system refused"
        rule = f"cannot write to the folder {folder} ({reason})"
        raise Unavailable(field, rule, "choose a folder that can be written") from None


class _Desk:
    """The passing names of one call in one folder, beside a file that it locks for as long as the process lives.

    The system lifts the lock of a process that was killed, on whatever machine that uses the folder; so drafts whose
    file can be locked are nobody's.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: Iterator[str] | None = None
        self._lock: Path | None = None
        self._descriptor: int | None = None

    def passing(self) -> Path:
        """Return a name for one more draft."""
        if self._names is None:
            self._names = self._named()
        return self._folder / next(self._names)

    def _named(self) -> Iterator[str]:
        token = secrets.token_hex(8)
        lock = self._folder / f".irisdp-{token}"
        if fcntl is not None:
            self._lock = lock  # first: an interrupt may come between any two steps
            self._descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            with contextlib.suppress(OSError):  # a file system without locks: nobody can take it there, either
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)  # who clears the folder may hold it for a moment
            if _file_at(lock) is None:  # somebody cleared the folder between the two
                self.drop()
                yield from self._named()
        for number in itertools.count():
            yield f"{lock.name}.{number}"

    def clear(self) -> None:
        """Remove the drafts of calls that were killed."""
        if fcntl is None:
            return
        with contextlib.suppress(OSError):
            names = sorted(name for name in os.listdir(self._folder) if _PASSING.fullmatch(name))
            for lock, drafts in itertools.groupby(names, key=lambda name: name.partition(".irisdp-")[2][:16]):
                with contextlib.suppress(OSError):
                    _remove_unlocked(self._folder / f".irisdp-{lock}", [self._folder / name for name in drafts])

    def drop(self) -> None:
        """Remove the locked file; drafts are gone by now."""
        if self._lock is not None:
            self._lock.unlink(missing_ok=True)
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


_PASSING = re.compile(r"\.irisdp-[0-9a-f]{16}(\.[0-9]+)?")


def _remove_unlocked(lock: Path, drafts: Iterable[Path]) -> None:
    """Remove drafts whose locked file no process holds; the file itself last."""
    descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for draft in (*(draft for draft in drafts if draft != lock), lock):
            if stat.S_ISREG(os.lstat(draft).st_mode):
                draft.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


class _Draft:
    """A file under a passing name beside its own, until it is put there.

    The disk shows which steps were done: an interrupt may come after a step and before it is noted.
    """

    def __init__(self, output: Output, desk: _Desk) -> None:
        self.output = output
        self._desk = desk
        self._passing: Path | None = None
        self._file: tuple[int, int] | None = None  # device and inode, under either name
        self._new = False

    def fill(self, content: bytes) -> None:
        """Write the file under its passing name."""
        self._passing = self._desk.passing()
        with open(self._passing, "xb") as file:
            file.write(content)
        os.chmod(self._passing, self.output.mode)
        self._file = _file_at(self._passing)

    def put(self) -> None:
        """Give the file its name; unless it may be replaced, only where nothing but the same has it."""
        path = self.output.path
        if self._file is None or self._passing is None:  # the existing file already has this content
            return
        self._new = not (self.output.force and os.path.lexists(path))
        if self.output.force:
            os.replace(self._passing, path)
            return
        try:
            try:
                os.link(self._passing, path)
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
                    raise
                self._put_without_links(self._passing, path)
        except FileExistsError:
            if not _holds(path, self._passing.read_bytes()):
                raise

    def _put_without_links(self, passing: Path, path: Path) -> None:
        """On a file system without hard links the name is taken first, and then filled by a rename."""
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PUBLIC))
            os.replace(passing, path)
        except FileExistsError:
            raise
        except BaseException:
            with contextlib.suppress(OSError):
                if os.stat(path).st_size == 0:  # taken, and not filled: `take_back` would not know it
                    os.unlink(path)
            raise

    def take_back(self) -> None:
        """Remove the file from its name, where it is there and nothing was before."""
        if self._new and self._file is not None and _file_at(self.output.path) == self._file:
            self.output.path.unlink(missing_ok=True)

    def drop(self) -> None:
        """Remove the passing name."""
        if self._passing is not None:
            self._passing.unlink(missing_ok=True)


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


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
    sync_folder(path.parent)


def drafts_of(path: Path) -> str:
    """Return the pattern of the passing names under which `create_once` writes a file."""
    return f".{glob.escape(path.name)}.{'[0-9a-f]' * (2 * _MARK)}"


def sync_folder(folder: Path) -> None:
    """Make a new name survive a power loss; elsewhere than on POSIX a folder cannot be opened, nor need it be."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
