"""Parquet files and folders, read by Spark: past one machine, with the name, the ledger and the digest that they have.

What a table is, is found here as for any file (its columns, their kinds, which files it has), so a plan needs no
cluster. Only statements are run there, by workers that see the files under the same path. The session is one of its
own: what a cluster's settings say of partitions, time zones, ancient dates or damaged files decides nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from .columns import Column, Kind
from .engine import SelfDescribing, release_of
from .folders import FolderSource
from .locations import Location
from .parquet import ParquetSource, opened_parquet
from .spark import SparkSource

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ENGINES", "SparkFileSource", "check_engine", "open_with_spark"]

ENGINES = ("duckdb", "spark")
"""What can read a file: the first, unless another is named."""

_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # A date of long ago would else end a question in an error.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
_GLOBS = frozenset("{}\\")
"""What makes a pattern of a path in Spark, beside those of `locations.WILDCARDS`, which are refused already."""

_PLAIN = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "uint8": "SMALLINT",
    "uint16": "INT",
    "uint32": "BIGINT",
    "uint64": "DECIMAL(20, 0)",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "date32[day]": "DATE",
}
"""Arrow's types, and those as which Spark reads them from Parquet."""

_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class SparkFileSource(SelfDescribing):
    """A Parquet file, or a folder of them, that Spark reads.

    Attributes
    ----------
    behind : ParquetSource or FolderSource
        What the table is.
    master : str or None
        The cluster; it may hold a secret, and is told nobody.
    """

    behind: ParquetSource | FolderSource
    master: str | None = field(repr=False)

    @property
    def ordered(self) -> bool:
        """No: partitions are read as they come."""
        return False

    @property
    def engine(self) -> str:
        """Name the engine and its version, as it is installed here."""
        import pyspark

        return f"spark {release_of(pyspark.__version__)}"

    @property
    def location(self) -> Location:
        """Where the file or the folder lies."""
        return self.behind.location

    def digest(self) -> bytes:
        """Return the digest of the files' bytes, taken on this machine: whichever engine reads them, it is the same."""
        return self.behind.digest()

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement over the relation `data` (at least the columns named) and those declared, by name."""
        session = _session(self.master)
        typed = {name: kind for name, kind in _spark_types(self.behind).items() if name in names}
        listed = ", ".join(f"{_quoted(name)} {typed[name]}" for name in names)
        reader = session.read.schema(listed).option("mergeSchema", "false")
        paths = [self.location.path]
        if isinstance(self.behind, FolderSource):
            reader = reader.option("basePath", _uri(self.location.path))
            if self.location.pattern:
                paths = [path for path, _ in self.behind.files]
        return SparkSource(reader.parquet(*map(_uri, paths))).run(statement, names, declared)


def check_engine(engine: Any, master: Any) -> None:
    """Check what should read a table.

    Raises
    ------
    BadInput
        For an engine that is unknown, and a cluster without Spark.
    """
    if engine is not None and engine not in ENGINES:
        raise BadInput("engine", "must be duckdb or spark", "leave it out: files are read on this machine")
    if master is not None:
        if engine != "spark":
            raise BadInput("master", "is a cluster of Spark's, and Spark was not asked for", 'add engine="spark"')
        if not isinstance(master, str) or not master.strip():
            raise BadInput("master", "must be the address of a cluster", 'write for example "spark://host:7077"')


def open_with_spark(columns: Sequence[Column], source: Any, master: str | None) -> tuple[list[Column], SparkFileSource]:
    """Let Spark read a table that was opened as a file.

    Parameters
    ----------
    columns, source
        As it was opened.
    master : str, optional
        The address of a cluster: ``spark://…``, ``yarn``, ``local[4]``, or ``sc://…`` of Spark Connect; what this
        machine is configured for unless given.

    Raises
    ------
    BadInput
        For other files than Parquet: text is split by this project's own reader, and by no engine.
    """
    if not isinstance(source, ParquetSource | FolderSource):
        rule = "is spark, which reads .parquet files and folders of them"
        raise BadInput("engine", rule, "write the table as Parquet, or leave the engine out")
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise BadInput("engine", "is spark, which is not installed", "install irisdp[spark], and Java 17") from None
    paths = [source.location.path, *(path for path, _ in source.files)] if isinstance(source, FolderSource) else []
    if any(_GLOBS & set(str(path)) for path in [source.location.path, *paths]):
        raise BadInput("data", "has a path with one of { } \\, which Spark takes for a pattern", "rename it")
    if isinstance(source, FolderSource) and not all(
        value is None or value.isascii() for _, values in source.files for value in values
    ):
        rule = "has partitions whose names are not ASCII, which Spark reads otherwise"
        raise BadInput("data", rule, "leave the engine out")
    types = _spark_types(source)
    found = [column if column.name in types else Column(column.name, Kind.NESTED) for column in columns]
    return found, SparkFileSource(source, master)


def _spark_types(source: ParquetSource | FolderSource) -> dict[str, str]:
    """Return, in Spark's words, the types of the columns that it reads as they are."""
    schema = source.schema if isinstance(source, FolderSource) else opened_parquet(source.path).schema_arrow
    keys = source.keys if isinstance(source, FolderSource) else ()
    types = {found.name: _spark_type(found.type) for found in schema} | dict.fromkeys(keys, "STRING")
    return {name: kind for name, kind in types.items() if kind is not None}


def _spark_type(kind: pa.DataType) -> str | None:
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return _spark_type(kind.value_type)
    if types.is_timestamp(kind):
        # Also of those without a zone: in a session in UTC both are the same instant, in INT96 as well.
        return "TIMESTAMP" if kind.unit in ("us", "ms") else None
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})" if kind.precision <= 38 and kind.scale >= 0 else None
    return _PLAIN.get(str(kind).removeprefix("large_"))


def _session(master: str | None) -> Any:
    """Return a session of this project's own on a cluster; what starts one may take some seconds."""
    from pyspark.sql import SparkSession

    with _LOCK:
        builder: Any = SparkSession.builder.appName("irisdp").config("spark.ui.showConsoleProgress", "false")
        if master is not None and master.startswith("sc://"):
            session = builder.remote(master).create()
        else:
            alone = SparkSession.getActiveSession() is None
            first = (builder if master is None else builder.master(master)).getOrCreate()
            running = first.sparkContext.master
            if master is not None and running != master:
                rule = "is another cluster than that on which a session of this program runs"
                raise BadInput("master", rule, "stop that session, or leave it out")
            session = first.newSession()
            if alone:  # a failing task would write what it read into the log
                first.sparkContext.setLogLevel("OFF")
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
    return session


def _uri(path: Any) -> str:
    return f"file://{path}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
