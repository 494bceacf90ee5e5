"""The embedded engine: sandboxed DuckDB, with engine messages suppressed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..errors import BadInput
from .interrupts import interruptible, stopped_by_interrupts
from .total import total_stream

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

__all__ = [
    "Embedded",
    "SelfDescribing",
    "Source",
    "check_readable",
    "guarded",
    "locked_connection",
    "quote_name",
    "quote_text",
    "release_of",
    "streaming_connection",
]

MEMORY_LIMIT = "1500MB"

_PACKAGES = frozenset({"duckdb", "narwhals", "numpy", "pandas", "polars", "psycopg", "pyarrow", "pyspark", "pytz"})
"""What engines of tables are made of."""

_T = TypeVar("_T")


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


def release_of(version: str) -> str:
    """Return major and minor number of a version."""
    return ".".join(version.split(".")[:2])


def guarded(action: Callable[[], _T], rule: str, remedy: str, field: str = "data") -> _T:
    """Run something of an engine's; whatever it raises becomes one `BadInput` that holds none of its words.

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
    # A view over a file opens it again at every query, so the paths stay allowed after the door is shut.
    if paths:
        connection.execute(f"SET allowed_paths = [{', '.join(map(quote_text, paths))}]")
    # Pushing a TRY_CAST into a reader turns "null" into "a malformed line", and drops the record. Statistics are other
    # records: what they leave out (NaN) must not decide which part of a condition is looked at.
    known = {name for (name,) in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
    disabled = sorted(known & {"type_pushdown", "scalar_fn_pushdown", "statistics_propagation"})
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
