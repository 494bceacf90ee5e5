"""Compressed files, read as the bytes that they unpack to, in bounded memory and at any place.

A file that cannot be unpacked to its end is no table: that is a fault of the container, found before anything is asked
of a record. The unpacked size is public, like the size of any file. It has no bound, because a bound would make one
record decide whether others are read. Memory use is bounded: a file that unpacks to more than the memory only takes
time. Records longer than `csv_records.LONGEST_RECORD` are skipped.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, TypeVar

from .books import as_text, is_book
from .csv_records import BLOCK, Bytes
from .engine import guarded

Result = TypeVar("Result")

_WINDOW = 4 * BLOCK
"""Bytes before the last one read that can be read again without unpacking the file again."""

_STEP = 1 << 18
_NAMES = {".gz": "a gzip file", ".zst": "a Zstandard file"}


@contextlib.contextmanager
def opened(path: Path, packing: str = "") -> Iterator[Bytes]:
    """Open a file, compressed or not, to be read at any place.

    Parameters
    ----------
    packing : str
        How it is compressed: one of `locations.PACKINGS`, or nothing; or what `books` reads.
    """
    if not packing:
        with path.open("rb", buffering=0) as file:
            yield _Whole(file)
        return
    if is_book(packing):
        yield io.BytesIO(as_text(path, packing))
        return
    with contextlib.closing(Unpacked(path, packing)) as unpacked:
        yield unpacked


def digest_of(path: Path, packing: str, ending: str) -> bytes:
    """Return the BLAKE2b digest of the bytes that a file holds, unpacked, and of the ending that says how to read them.

    Raises
    ------
    BadInput
        For a compressed file of another kind than its ending says, one that is cut off, and one whose checksum does not
        hold. Such a file is refused before any record is used.
    """

    def content() -> bytes:
        hashing = blake2b()
        with contextlib.closing(_unpacking(path, packing)) as file:
            while part := file.read(_STEP):
                hashing.update(part)
        return hashing.digest()

    return blake2b(ending.encode() + without_faults(content, packing), digest_size=32).digest()


def first_bytes(path: Path, size: int, packing: str) -> bytes:
    """Return what a file begins with, unpacked.

    Raises
    ------
    BadInput
        For a file that is not a valid compressed file.
    """

    def begin() -> bytes:
        with opened(path, packing) as file:
            return file.read(size)

    return without_faults(begin, packing)


def without_faults(action: Callable[[], Result], packing: str) -> Result:
    """Do something with a file, and say of one that cannot be unpacked what is wrong with it.

    Raises
    ------
    BadInput
        Whatever else it raises.
    """
    if not packing:
        return action()
    if is_book(packing):
        rule = f"is no {packing.split(maxsplit=1)[0]} file that can be read to its end"
        return guarded(action, rule, "save it again, or save the table as CSV in UTF-8")
    return guarded(
        action,
        f"is not {_NAMES[packing]} that can be unpacked to its end",
        "compress it again, or take that ending off",
    )


class _Whole:
    """An uncompressed file: parts that the system returns are joined."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file

    def seek(self, offset: int, /) -> int:
        return self._file.seek(offset)

    def read(self, size: int, /) -> bytes:
        result = self._file.read(size) or b""
        while result and len(result) < size and (more := self._file.read(size - len(result))):
            result += more
        return result


class Unpacked:
    """The bytes that a compressed file unpacks to.

    Unpacking goes forward only. The search for the end of a quoted field runs ahead, perhaps to the end of the file,
    and comes back. So there are two readers, and the one behind takes over where the other has stopped. All in all a
    file is unpacked about twice, however the quotes lie; more often only where they stand in runs longer than
    `_WINDOW`.
    """

    def __init__(self, path: Path, packing: str) -> None:
        self._path, self._packing = path, packing
        self._front = _Reader(path, packing)
        self._back: _Reader | None = None
        self._place = 0

    def close(self) -> None:
        """Close both readers."""
        self._front.close()
        if self._back is not None:
            self._back.close()

    def seek(self, offset: int, /) -> int:
        """Go to a place; nothing is unpacked before it is read."""
        self._place = offset
        return offset

    def read(self, size: int, /) -> bytes:
        """Return the bytes from the place on, which stays where it is until the next `seek`."""
        return self._reader().read(self._place, size)

    def _reader(self) -> _Reader:
        if self._front.since <= self._place:
            return self._front
        if self._back is None or self._place < self._back.since:
            if self._back is not None:
                self._back.close()
            self._back = _Reader(self._path, self._packing)
        return self._back


class _Reader:
    """Unpacks a file from its beginning, and keeps the last bytes."""

    def __init__(self, path: Path, packing: str) -> None:
        self._file = _unpacking(path, packing)
        self._kept = bytearray()
        self.since = 0

    def close(self) -> None:
        self._file.close()

    def read(self, place: int, size: int) -> bytes:
        end = place + size
        while self.since + len(self._kept) < end:
            part = self._file.read(_STEP)
            if not part:
                break
            self._kept += part
            # The requested bytes stay, however many.
            dropped = min(len(self._kept) - _WINDOW, place - self.since)
            if dropped > _WINDOW:  # not at every step: what stays is moved
                del self._kept[:dropped]
                self.since += dropped
        return bytes(self._kept[place - self.since : end - self.since])


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


def _unpacking(path: Path, packing: str) -> _Stream:
    if not packing:
        return path.open("rb")
    if path.stat().st_size == 0:  # libraries unpack nothing to nothing: it would pass for a table without records
        raise EOFError("a compressed file has a beginning at least")
    if packing == ".gz":
        import gzip

        return gzip.open(path, "rb")
    import pyarrow as pa

    # Opened here, since Arrow takes no name that is not UTF-8.
    stream: _Stream = pa.CompressedInputStream(pa.PythonFile(path.open("rb"), mode="r"), "zstd")
    return stream
