"""The embedded engine: sandboxed DuckDB, with engine messages suppressed."""

from __future__ import annotations

import contextlib
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from ..errors import BadInput
from .arrow_values import total_stream

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


# Report Ctrl-C during a query as an interrupt, whatever error the engine raises.
#
# Python reports Ctrl-C by an exception in its main thread, wherever that happens to be. Engines catch the interrupt.
# DuckDB has its own error for it, Arrow reports a broken stream, and Spark cancels its tasks and then reports that they
# failed. So code that runs an engine also listens for interrupts.

_T = TypeVar("_T")

_STOPPED = "InterruptException"
"""What DuckDB raises where it was told to stop."""


class _Ear:
    """Hears whether a handler of interrupts raised one, and tells engines to stop."""

    def __init__(self) -> None:
        self.heard = False
        self.stops: list[Callable[[], object]] = []

    def hear(self) -> None:
        self.heard = True
        for stop in self.stops:
            with contextlib.suppress(Exception):  # it may have ended by itself
                stop()


_EARS: list[_Ear] = []
"""Those of the main thread, which alone hears; the last one listens to what runs now."""


def stopped_by_interrupts(stop: Callable[[], object]) -> None:
    """Stop an engine when an interrupt arrives, until the code under `interruptible` ends.

    DuckDB's main thread notices one by itself, and then waits for what its other threads have begun.
    """
    if _EARS and threading.current_thread() is threading.main_thread():
        _EARS[-1].stops.append(stop)


def interruptible(action: Callable[[], _T]) -> _T:
    """Run something of an engine's, which other errors pass through as they are.

    Raises
    ------
    KeyboardInterrupt
        Where one came meanwhile, even if the engine went on. Nothing that the engine had to say is in its context.
    """
    ear = _Ear()
    try:
        with _listening(ear):
            result = action()
        if not ear.heard:
            return result
    except KeyboardInterrupt:
        pass
    except Exception as error:
        if not ear.heard and not _is_interrupt(error):
            raise
    raise KeyboardInterrupt


@contextlib.contextmanager
def _listening(ear: _Ear) -> Iterator[None]:
    """Let an ear hear interrupts, which are raised as before; handlers are the main thread's, and so are interrupts."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def raised(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt:
            ear.hear()
            raise

    signal.signal(signal.SIGINT, raised)
    _EARS.append(ear)
    try:
        yield
    finally:
        _EARS.remove(ear)
        if signal.getsignal(signal.SIGINT) is raised:  # Spark's first session sets a handler that stays
            signal.signal(signal.SIGINT, before)


def _is_interrupt(error: BaseException) -> bool:
    """Tell whether an error is an interrupt's, or was raised on the way out of one."""
    seen: BaseException | None = error
    for _ in range(100):  # a context may lead in a circle
        if seen is None:
            return False
        if isinstance(seen, KeyboardInterrupt) or type(seen).__name__ == _STOPPED:
            return True
        seen = seen.__cause__ or seen.__context__
    return False


# Digest records that have no order: hash each record, and hash the sorted hashes.
#
# A sum of hashes would be linear, and two tables of one digest easily found; sorted, they are as hard to find as for
# the hash itself.

_RECORDS_PER_PASS = 1 << 24


def multiset_digest(header: tuple[Any, ...], count: int, hashes: Callable[[], Iterable[pa.RecordBatch]]) -> bytes:
    """Return the BLAKE2b digest of a header and of the sorted SHA-256 of each record.

    They are sorted by their first 64 bits; where those are equal and the rest is not, the order of reading decides, and
    the digest may be new. More than 2^24 records are sorted in several passes, each in about 1 GiB.

    Parameters
    ----------
    header : tuple
        Further facts that distinguish tables.
    count : int
        How many records there are: it says how many passes there will be.
    hashes : callable
        Reads the records' digests, again for each pass: batches of one column of 32 bytes.
    """
    hashing = blake2b(repr(header).encode(), digest_size=32)
    passes = -(-count // _RECORDS_PER_PASS)
    for number in range(passes):
        low, high = ((place << 64) // passes for place in (number, number + 1))
        kept = [np.zeros((0, 4), ">u8")]
        for batch in hashes():
            words = np.frombuffer(b"".join(batch.column(0).to_pylist()), ">u8").reshape(-1, 4)
            first = words[:, 0]
            kept.append(words[(first >= low) & (first <= high - 1)])
        words = np.concatenate(kept)
        hashing.update(words[np.argsort(words[:, 0].astype(np.uint64), kind="stable")].tobytes())
    return hashing.digest()


MEMORY_LIMIT = "1500MB"

_PACKAGES = frozenset(
    {
        *("duckdb", "narwhals", "numpy", "pandas", "polars", "psycopg", "pyarrow", "pyreadstat", "pyspark"),
        *("python_calamine", "pytz"),
    }
)
"""What engines of tables are made of."""


class Source(Protocol):
    """Where a table lives: something that runs statements (in DuckDB's SQL) over it."""

    @property
    def engine(self) -> str:
        """Name the engine and its version, major and minor: engines may cast differently."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether records have an order: then they are read in it, and other orders have other digests."""
        ...

    def digest(self) -> bytes:
        """Return a digest of the content, whatever the order an engine reads it in."""
        ...

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement over the relation `data` (at least the columns named) and those declared, by name."""
        ...


class SelfDescribing:
    """A source whose format says how it is written, unless its reader takes words for that."""

    __slots__ = ()

    @property
    def form_facts(self) -> dict[str, str]:
        """What was declared of how the table is written: nothing, unless its reader takes such words."""
        return {}

    @property
    def reading(self) -> str:
        """How its text is read, in words; none where the format says it."""
        return ""


class Embedded(SelfDescribing, ABC):
    """A source whose statements run in a fresh, locked DuckDB: nothing is shared between threads or after a fork."""

    __slots__ = ()

    @property
    def engine(self) -> str:
        """Name the engine and its version."""
        import duckdb

        return f"duckdb {release_of(duckdb.__version__)}"

    @property
    def ordered(self) -> bool:
        """Whether records have an order: those of files and of frames in memory have."""
        return True

    @abstractmethod
    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is the table."""

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement over the relation `data` (at least the columns named) and those declared, by name."""
        connection = self.connect(names)
        try:
            for name, relation in declared.items():
                connection.register(name, relation)
            return connection.sql(statement).to_arrow_table()
        finally:
            connection.close()

    def hold(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> HeldRows:
        """Run a statement as `run` does, and hold what it finds in the engine's memory."""
        connection = self.connect(names)
        try:
            for name, relation in declared.items():
                connection.register(name, relation)
            connection.execute(f"CREATE TEMP TABLE {_HELD} AS {statement}")
        except BaseException:
            connection.close()
            raise
        return HeldRows(connection)


_HELD = "held_rows"


@dataclass(frozen=True, slots=True)
class HeldRows:
    """A table of a locked DuckDB, for one thread."""

    connection: duckdb.DuckDBPyConnection = field(repr=False)

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement in which `data` has these rows."""
        stopped_by_interrupts(self.connection.interrupt)
        for name, relation in declared.items():
            self.connection.register(name, relation)
        try:
            return self.connection.sql(over(f"WITH data AS (SELECT * FROM {_HELD})", statement)).to_arrow_table()
        finally:
            for name in declared:
                self.connection.unregister(name)

    def close(self) -> None:
        """Let go of them."""
        self.connection.close()


def release_of(version: str) -> str:
    """Return major and minor number of a version."""
    return ".".join(version.split(".")[:2])


def guarded(action: Callable[[], _T], rule: str, remedy: str, field: str = "data") -> _T:
    """Call an engine; any error becomes one `BadInput` without the engine's message.

    An engine's message can quote a record. The new error is raised after the old one is gone, so that not even its
    `__context__` leads there. A missing package that reads tables is named; any other name is not, because it may come
    from the frame's author or from a record. Ctrl-C stays what it is: `interruptible`.
    """
    missing = None
    try:
        return interruptible(action)
    except BadInput:
        raise
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
    except Exception:
        pass
    if missing in _PACKAGES:
        raise BadInput(field, f"needs the package {missing}, which is not installed", f"pip install {missing}")
    raise BadInput(field, rule, remedy)


def check_readable(path: Path, field: str = "data") -> None:
    """Refuse a file that the system does not let this user open; what is in it has no say.

    Raises
    ------
    BadInput
        If permission is denied; other errors are left to the code that reads the file.
    """
    try:
        path.open("rb").close()
    except PermissionError:
        pass
    except OSError:
        return
    else:
        return
    raise BadInput(field, "may not be read by this user: permission denied", "ask its owner for leave to read it")


def locked_connection(*paths: str) -> duckdb.DuckDBPyConnection:
    """Open an empty in-memory database that can read some files and nothing else, and write nowhere.

    No network, no extensions, no Python variables, no spilling of true data to disk, and no way to change that.
    """
    import duckdb

    connection = duckdb.connect(
        config={
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
    )
    stopped_by_interrupts(connection.interrupt)
    # A view over a file opens it again at every query, so the paths stay allowed after external access is off.
    if paths:
        connection.execute(f"SET allowed_paths = [{', '.join(map(quote_text, paths))}]")
    # Pushing a TRY_CAST into a reader turns "null" into "a malformed line", and drops the record. Statistics are other
    # records: what they leave out (NaN) must not decide which part of a condition is looked at.
    known = {name for (name,) in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
    # A stream is taken for one record, and an optimizer would keep all of it in memory to be found by a short list.
    # Statements are written so that what follows JOIN is the list.
    unwanted = {"type_pushdown", "scalar_fn_pushdown", "statistics_propagation", "build_side_probe_side"}
    disabled = sorted(known & unwanted)
    connection.execute(f"SET disabled_optimizers = '{','.join(disabled)}'")
    # A time zone of the environment would change what an instant is read as.
    connection.execute("SET TimeZone = 'UTC'")
    # In a notebook without ipywidgets there is no bar, and asking for none is an error.
    bar = connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() != (False,)
    settings = ("enable_external_access = false", "lock_configuration = true")
    for setting in (*("enable_progress_bar = false",) * bar, *settings):
        connection.execute(f"SET {setting}")
    return connection


def streaming_connection(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> duckdb.DuckDBPyConnection:
    """Open a locked connection in which `data` is a stream, to be read once, of batches with every value total."""
    connection = locked_connection()
    connection.register("data", total_stream(schema, batches))
    return connection


def quote_text(text: str) -> str:
    """Write a string literal of DuckDB's."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """Write an identifier of DuckDB's."""
    return '"' + name.replace('"', '""') + '"'


def over(relation: str, statement: str) -> str:
    """Return a statement that finds one more relation, ``WITH name AS (…)``, before those of its own."""
    return f"{relation}, {statement[5:]}" if statement.startswith("WITH ") else f"{relation} {statement}"
