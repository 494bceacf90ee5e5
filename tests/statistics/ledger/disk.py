"""A disk between SQLite and the real one, for the scripts beside this file.

SQLite reaches files through a table of functions (its VFS). `watch` puts a copy of the default table in front, in which
opening, writing, truncating, syncing and deleting first tell the observer. It is installed in the SQLite library that
Python's own `sqlite3` uses, so what is observed is the ledger as it ships, unchanged.
"""

import _sqlite3
import ctypes
from collections.abc import Callable
from dataclasses import dataclass

NAME = b"watched"
FAILURES = {"open": 14, "write": 778, "truncate": 1546, "sync": 1034, "delete": 2570}
"""SQLITE_CANTOPEN and the SQLITE_IOERR of each operation."""
FULL = 13

_P, _I, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
_WRITE = ctypes.CFUNCTYPE(_I, _P, _P, _I, _L)
_TRUNCATE = ctypes.CFUNCTYPE(_I, _P, _L)
_SYNC = ctypes.CFUNCTYPE(_I, _P, _I)
_OPEN = ctypes.CFUNCTYPE(_I, _P, _P, _P, _I, _P)  # the name stays a pointer: SQLite keeps it
_DELETE = ctypes.CFUNCTYPE(_I, _P, _P, _I)


class _Methods(ctypes.Structure):
    """The functions of one open file (sqlite3_io_methods, version 3)."""

    _fields_ = (
        [("version", _I), ("close", _P), ("read", _P), ("write", _WRITE), ("truncate", _TRUNCATE), ("sync", _SYNC)]
        + [(f"rest{number}", _P) for number in range(13)]
    )  # fmt: skip


class _File(ctypes.Structure):
    _fields_ = [("methods", ctypes.POINTER(_Methods))]


class _Vfs(ctypes.Structure):
    """The functions of a file system (sqlite3_vfs, version 3)."""

    _fields_ = (
        [("version", _I), ("file_size", _I), ("longest_name", _I), ("next", _P), ("name", ctypes.c_char_p)]
        + [("data", _P), ("open", _OPEN), ("delete", _DELETE)]
        + [(f"rest{number}", _P) for number in range(14)]
    )  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """One thing SQLite is about to do to a file."""

    kind: str
    path: str
    number: int = 0
    """The offset of a write, the length after a truncation, whether a deletion is synced."""
    content: bytes = b""


Observer = Callable[[Operation], int]
"""Sees an operation before it happens; 0 lets it happen, an SQLite error code makes it fail instead."""

_kept: list[object] = []  # C holds pointers to these for the rest of the process


def watch(observer: Observer) -> None:
    """Let the observer see every operation of this process from now on."""
    library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))  # without a file it is part of the program
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
    library.sqlite3_vfs_register.argtypes = [ctypes.POINTER(_Vfs), _I]
    plain = library.sqlite3_vfs_find(None).contents
    if plain.name == NAME:
        raise RuntimeError("already watching")
    watched = _Vfs.from_buffer_copy(plain)
    paths: dict[int, str] = {}  # by the address of the open file
    originals: dict[int, _Methods] = {}

    def opened(vfs: int, name: int | None, file: int, flags: int, flags_out: int) -> int:
        path = ctypes.string_at(name).decode() if name else ""
        if failed := observer(Operation("open", path)):
            _File.from_address(file).methods = None  # tells SQLite that there is nothing to close
            return failed
        failed = plain.open(vfs, name, file, flags, flags_out)
        methods = _File.from_address(file).methods
        if not failed and methods:
            paths[file], originals[file] = path, methods.contents
            observed = _Methods.from_buffer_copy(methods.contents)
            observed.write, observed.truncate, observed.sync = write, truncate, sync
            _kept.append(observed)
            _File.from_address(file).methods = ctypes.pointer(observed)
        return failed

    @_WRITE
    def write(file: int, content: int, size: int, offset: int) -> int:
        operation = Operation("write", paths[file], offset, ctypes.string_at(content, size))
        return observer(operation) or originals[file].write(file, content, size, offset)

    @_TRUNCATE
    def truncate(file: int, size: int) -> int:
        return observer(Operation("truncate", paths[file], size)) or originals[file].truncate(file, size)

    @_SYNC
    def sync(file: int, flags: int) -> int:
        return observer(Operation("sync", paths[file])) or originals[file].sync(file, flags)

    def delete(vfs: int, name: int, sync_folder: int) -> int:
        return observer(Operation("delete", ctypes.string_at(name).decode(), sync_folder)) or plain.delete(
            vfs, name, sync_folder
        )

    watched.name, watched.open, watched.delete = NAME, _OPEN(opened), _DELETE(delete)
    _kept.extend([watched, write, truncate, sync])
    if library.sqlite3_vfs_register(ctypes.byref(watched), 1):
        raise RuntimeError("SQLite refused the watched disk")
