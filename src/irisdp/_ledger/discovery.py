"""Where the ledger and the secrets of some data lie, whatever the data is called today.

A budget belongs to a table, not to a name of it. Iris follows symbolic links before it looks for anything. A file with
several hard links has no default ledger. Data that a neighbouring ledger has answered about is recognised by its
content after a rename.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .._files import NoRegularFile, same_file
from .._tables import Location, Table, locate
from ..errors import BadInput
from .entries import all_fingerprints, last_fingerprint
from .file_store import is_another_file
from .fingerprints import name_of_secret, recognise, secret_key_path, secrets_in
from .history import secret_in_use
from .known_heads import loss, lost_heads, read_head
from .ledger import Ledger
from .table_state import KnownVersion, TableState

# Search the ledgers in a folder for one that knows the data under another name.
#
# A ledger that cannot be read today may know the data and have spent its budget. So only files that are certainly no
# ledger are skipped. If any other file cannot be read, the user must name the ledger.

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
    ledger_names = {name.removesuffix(_LOG) for name in names if name.endswith((_ENDING, f"{_ENDING}{_LOG}"))}
    ledgers = [_ledger(file.with_name(name)) for name in sorted(ledger_names)]
    return list(dict.fromkeys(ledger for ledger in ledgers if ledger is not None))


def is_beside(path: Path, file: Path) -> bool:
    """Tell whether a ledger, once it is there, is one of those that lie in the folder of another."""
    return path.parent == file.parent and path.name.endswith(_ENDING)


def _ledger(path: Path) -> Ledger | None:
    """Return the ledger at a path, or None if it is not a ledger."""
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


TableFingerprint = tuple[object, ...] | None
"""The file system's facts about a file; None if the data is not a file."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """What data was when a reading of it began: it must be that still when the reading is over.

    A ledger knows data by its digest, and gives stored answers and refinements for it. Were records counted after they
    have changed, an answer about one table would be stored for another, and what builds on it would be charged too
    little.
    """

    stamp: TableFingerprint
    digest: bytes

    @classmethod
    def begin(cls, table: Table, before: TableFingerprint) -> TableVersion:
        """Digest the data; `before` is the stamp of its files before anything of it was looked at."""
        return cls(before, table.digest())

    def check(self, table: Table) -> None:
        """Refuse data that changed since: a file by what the system notes of it, other tables by their content."""
        same = (
            fingerprint_of_table(table.location) == self.stamp
            if self.stamp is not None
            else table.digest() == self.digest
        )
        if not same:
            raise BadInput(
                "data", "changed while it was read", "publish again when nobody is writing to it; nothing was spent"
            )


def find_ledger(table: Table, ledger: str | os.PathLike[str] | Ledger | None) -> Ledger:
    """Return the ledger that was named, or the one that lies beside the data, which need not be there yet."""
    if isinstance(ledger, Ledger):
        return ledger
    if ledger is not None:
        if not isinstance(ledger, str | os.PathLike):
            rule = f"must be a path, an address or a Ledger, not {type(ledger).__name__}"
            raise BadInput("ledger", rule, "give the ledger's path")
        return Ledger(ledger)
    if table.location is None:
        what = "a frame" if table.called is None else "a table on a server"
        raise BadInput(
            "ledger",
            f"is missing, and {what} has no folder to keep it in",
            "give a path, such as ledger='survey.ledger'",
        )
    return Ledger(table.location.beside(".ledger"))


def check_ledger(book: Ledger, data: Location | None, others: Mapping[str, Path | None], *, default: bool) -> None:
    """Refuse a ledger that is another file of the release, and a default one for data with several names."""
    for file in data.files() if data is not None and default else ():
        names = file.stat().st_nlink
        if names > 1:
            raise BadInput(
                "ledger",
                f"is missing, and {file.name} has {names} names (hard links), each of which would have a budget",
                "name one ledger for all of them with ledger=",
            )
    if book.path is None:
        return
    path = None if data is None else data.path
    if path is not None and path.is_dir() and book.path.resolve().is_relative_to(path):
        raise BadInput("ledger", f"{book.path} lies in the folder of the data", "name a file elsewhere")
    for what, other in [*names_of_data(data), *others.items()]:
        if other is not None and same_file(other, book.path):
            raise BadInput("ledger", f"{book.path} is {what}", "name a file of its own for the ledger")
    if not book.path.parent.is_dir():
        rule = f"{book.path} lies in a folder that does not exist"
        raise BadInput("ledger", rule, "make the folder, or name a file in another")


def check_neighbours(book: Ledger, *, default: bool) -> None:
    """Refuse before anything is read what `recognised` refuses of the other ledgers of the folder."""
    if default and book.path is not None and _is_unused(book):
        ledgers_beside(book.path)


def match_fingerprint(
    table: Table,
    digest: bytes,
    book: Ledger,
    secret: str | os.PathLike[str] | None,
    *,
    named: str | None,
    default: bool,
    foreseen: Mapping[Ledger, Collection[str]] = MappingProxyType({}),
) -> tuple[Ledger, str, bytes]:
    """Find the ledger and the secret by which some data is known, or else those that it will be known by.

    Parameters
    ----------
    table : Table
        The data.
    digest : bytes
        Of its content; it says nothing but whether the data was answered about.
    book : Ledger
        Where it should be known.
    secret : path, optional
        Where secrets are kept instead of beside the data.
    named : str or None
        What the ledger calls the table.
    default : bool
        Whether the ledger was not named: then, where nothing was released with it, the others of the folder are asked,
        all of which must be readable.
    foreseen : mapping
        The fingerprints that ledgers will know by then, where questions before this one are yet to be charged.

    Returns
    -------
    tuple
        The ledger, the fingerprint of the data and the secret it is keyed with.
    """
    digest = _with_names(digest, table, named)
    home = Path(secret_key_file(secret, table.path, book))
    own = secret_key_path(home)
    folders = [_folder(home)] if book.path is None else [_folder(home), book.path.parent]
    unused = default and book.path is not None and book not in foreseen and _is_unused(book)
    keys = list(dict.fromkeys([own, *secrets_in(*folders, whole=unused)]))
    books = [book]
    if unused and book.path:
        more = [other for other in foreseen if other.path is not None and is_beside(other.path, book.path)]
        books = list(dict.fromkeys([*ledgers_beside(book.path), *more]))

    def knows(candidate: Ledger, names: Sequence[str]) -> set[str]:
        return candidate.known(names) | {name for name in names if name in foreseen.get(candidate, ())}

    matches = [(candidate, *recognise(digest, keys, partial(knows, candidate))) for candidate in books]
    known = [(candidate, name, key) for candidate, name, key in matches if knows(candidate, [name])]
    if len(known) > 1:
        names = ", ".join(candidate.store.name for candidate, *_ in known)
        raise BadInput("ledger", f"is missing, and several know this data: {names}", "name one with ledger=")
    if known and unused and book.store.exists():
        rule = f"is missing, and {book.store.name} is unused, and {known[0][0].store.name} knows this data"
        raise BadInput("ledger", rule, "name one of them with ledger=")
    return known[0] if known else (book, *recognise(digest, keys, partial(knows, book)))


def _with_names(digest: bytes, table: Table, named: str | None) -> bytes:
    """Return what a ledger knows some data by: of a partition, its content with the names of table and partition.

    Small partitions of two tables may be equal, or empty. By content alone the one would be taken for the other, and a
    single record would decide it.
    """
    part = table.part
    if part is None:
        return digest
    names = json.dumps([named, part.column, part.period, None if part.is_declared else part.value])
    return hashlib.blake2b(digest + names.encode(), digest_size=32, person=b"irisdp part").digest()


def place_of_table(table: Table) -> str | None:
    """Name the place of a table on this machine, or its address; None for a frame."""
    location = table.location
    if location is None:
        return table.called
    return "\n".join((str(location.path), location.pattern, location.inner, *location.part))


def remembered(
    table: Table, book: Ledger, secret: str | os.PathLike[str] | None, stamp: TableFingerprint
) -> tuple[KnownVersion | None, bool]:
    """Return the version that a table's place held at its last release, and whether all of its ledger's are known.

    Reads no record and creates no file.
    """
    place = place_of_table(table)
    home = secret if secret is not None else table.path or book.path
    if place is None or home is None:
        return None, False
    folders = [_folder(Path(home))] if book.path is None else [_folder(Path(home)), book.path.parent]
    state = TableState.beside(home)
    with book.store.reading() as rows:
        known = all_fingerprints(rows)
    return state.find_version(place, stamp, secrets_in(*folders)), state.knows(known)


def reason_anew(
    table: Table, book: Ledger, secret: str | os.PathLike[str] | None, key: bytes, answered: str | None
) -> str:
    """Say why a question that was answered before is charged again, by what this machine remembers.

    Parameters
    ----------
    table, book, secret
        As the question names them.
    key : bytes
        The secret that names the data now.
    answered : str, optional
        The version of the data that the question was answered about last.

    Returns
    -------
    "secret", "data" or "unknown"
        The secret was lost or replaced; the data changed; or this machine does not know that version.
    """
    home = Path(secret_key_file(secret, table.path, book))
    keys = [key, *secrets_in(_folder(home))]
    with book.store.reading() as rows:
        in_use = secret_in_use(rows)
    if in_use is not None and in_use not in map(name_of_secret, keys):
        return "secret"
    if answered is None or place_of_table(table) is None:
        return "unknown"
    named = TableState.beside(home).names_with(answered, keys)
    return "unknown" if named is None else "data" if named else "secret"


def check_known(table: Table, book: Ledger, secret: str | os.PathLike[str] | None, *, default: bool) -> None:
    """Refuse a ledger that lacks the last line which this machine knows of it; reads no record and creates no file.

    If the ledger was not named and does not exist, another of the folder may be the one that was renamed.

    Raises
    ------
    ScopeRefused
        It says which line is missing, and what to do.
    """
    home = secret if secret is not None else table.path or book.path
    if home is None or (default and book.path is not None and not book.store.exists() and ledgers_beside(book.path)):
        return
    state = TableState.beside(home)
    if not state.path.is_file():
        return
    with book.store.reading() as rows:
        lost = lost_heads(rows, state, book.place)
    if lost:
        raise loss(book.store, lost, is_beside=book.path is not None and book.path.parent == state.path.parent)


def remember(
    table: Table, book: Ledger, secret: str | os.PathLike[str] | None, stamp: TableFingerprint, version: str, key: bytes
) -> None:
    """Note the version that a table's place holds now."""
    place = place_of_table(table)
    if place is not None:
        TableState.beside(secret_key_file(secret, table.path, book)).note_version(place, stamp, version, key)


def remember_head(table: Table, book: Ledger, secret: str | os.PathLike[str] | None, charged: Ledger) -> None:
    """Note the last line of the ledger that was charged; `book` is the one that was named."""
    with charged.store.reading() as rows:
        head = read_head(rows, charged.store, charged.place)
    if head is not None:
        TableState.beside(secret_key_file(secret, table.path, book)).note_head(head)


def secret_key_file(secret: str | os.PathLike[str] | None, data: Path | None, book: Ledger) -> str | os.PathLike[str]:
    """Return the file beside which the secret is kept: as asked for, else the data, else the ledger.

    Raises
    ------
    BadInput
        For data without a folder (a frame, a table on a server) and a ledger on a server, which has none either.
    """
    result = secret if secret is not None else data or book.path
    if result is None:
        rule = "is missing, and neither the data nor the ledger has a folder to keep one in"
        raise BadInput("secret", rule, "name a file beside which it is kept with secret=")
    return result


def data_location(data: Any) -> Location | None:
    """Return where data lies, unless it is a frame; what is wrong with a place, `plan` says."""
    if not isinstance(data, str | os.PathLike):
        return None
    try:
        location = locate(os.fsdecode(data))
        return location if location.path.exists() and location.path.name else None
    except (OSError, ValueError, RuntimeError):
        return None


def names_of_data(data: Location | None) -> Iterator[tuple[str, Path]]:
    """Yield the data's file, and those that would be the same table: an answer must not bear its name."""
    if data is not None:
        yield from zip(chain(["the data"], repeat("the data under another name")), data.names(), strict=False)


def fingerprint_of_table(location: Location | None) -> TableFingerprint:
    """Return what changes with any file of the data; None for a frame, and for a database."""
    try:
        # A database writes to its files when it is only read, and a table may change while they stay: content tells.
        return (
            None
            if location is None or location.inner
            else tuple((str(file), _noted(file)) for file in location.files())
        )
    except OSError:
        return None


def stamp_of_part(stamp: TableFingerprint, location: Location | None) -> TableFingerprint:
    """Return what a stamp of all files of a folder says of those that hold one partition."""
    if stamp is None or location is None or not location.part:
        return stamp
    files = set(map(str, location.files()))
    return tuple(noted for noted in stamp if isinstance(noted, tuple) and noted[0] in files)


def _noted(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_unused(book: Ledger) -> bool:
    """Tell whether nothing was released with a ledger, which may have a limit, or not be there."""
    with book.store.reading() as rows:
        return last_fingerprint(rows) is None


def _folder(path: Path) -> Path:
    return path.resolve().parent
