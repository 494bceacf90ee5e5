"""Parquet files and folders, read by Spark: past one machine, with the name, the ledger and the digest that they have.

What a table is, is found here as for any file (its columns, their kinds, which files it has), so a plan needs no
cluster. Only statements are run there, by workers that see the files under the same path. The session is one of its
own: what a cluster's settings say of partitions, time zones, ancient dates or damaged files decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..errors import BadInput
from .columns import Column, Kind
from .engine import SelfDescribing, release_of
from .folders import FolderSource
from .locations import Location
from .parquet import ParquetSource
from .parquet_files import opened_parquet
from .spark import SparkSource
from .spark_parquet import Reading, spark_readings
from .spark_sessions import check_master, own_session

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ENGINES", "SparkFileSource", "check_engine", "open_with_spark"]

ENGINES = ("duckdb", "spark")
"""What can read a file: the first, unless another is named."""

_GLOBS = frozenset("*?[{}\\")
"""What makes a pattern of a path in Spark."""


@dataclass(frozen=True, slots=True)
class SparkFileSource(SelfDescribing):
    """A Parquet file, or a folder of them, that Spark reads.

    Attributes
    ----------
    behind : ParquetSource or FolderSource
        What the table is.
    master : str or None
        The address of the cluster; it may hold a secret, and is never shown.
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
        with own_session(self.master) as session:
            return self._run(session, statement, names, declared)

    def _run(self, session: Any, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        readings = _readings(self.behind)
        for name in names:
            if name not in readings:
                rule = f"names {name!r}, whose type Spark does not read as this machine does"
                raise BadInput("engine", rule, "leave the engine out")
        listed = ", ".join(f"{_quoted(name)} {readings[name][0]}" for name in names)
        reader = session.read.schema(listed).option("mergeSchema", "false")
        if isinstance(self.behind, FolderSource):
            reader = reader.option("basePath", _uri(self.location.path))
        paths = _paths(self.behind)
        read = reader.parquet(*map(_uri, paths))
        # The files that the digest is of, and no others: what a cluster passes over would be records passed over.
        if sorted(_path(found) for found in read.inputFiles()) != sorted(map(str, paths)):
            rule = "is in files of which Spark passes some over"
            raise BadInput("data", rule, "check that every machine of the cluster sees them, or leave the engine out")
        held = read.columns  # those of partitions come last
        placed = read.toDF(*(f"read_{place}" for place in range(len(held))))
        total = [readings[name][1].format(f"read_{held.index(name)}") for name in names]
        frame = placed.selectExpr(*(f"{sql} AS total_{place}" for place, sql in enumerate(total))).toDF(*names)
        return SparkSource(frame).run(statement, names, declared)


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
        machine is configured for unless given (`spark_sessions.py`).

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
    check_master(master)
    if any(_GLOBS & set(str(path)) for path in [source.location.path, *_paths(source)]):
        raise BadInput("data", "has a path with one of * ? [ { } \\, which Spark takes for a pattern", "rename it")
    if isinstance(source, FolderSource):
        _check_partitions(source)
    readings = _readings(source)
    found = [column if column.name in readings else replace(column, kind=Kind.NESTED) for column in columns]
    return found, SparkFileSource(source, master)


def _check_partitions(folder: FolderSource) -> None:
    """Refuse partitions that Spark would read otherwise; public, as paths are."""
    said = [*folder.keys, *(value for _, values in folder.files for value in values if value is not None)]
    if not all(text.isascii() for text in said):
        rule = "has partitions whose names are not ASCII, which Spark reads otherwise"
        raise BadInput("data", rule, "leave the engine out")
    for path, _ in folder.files if folder.keys else ():
        parts = path.relative_to(folder.location.path).parts[: len(folder.keys)]
        if not all("=" in part and not part.endswith("=") for part in parts):
            rule = "has partitions (key=VALUE/) below other folders or without a value, which Spark reads otherwise"
            raise BadInput("data", rule, "leave the engine out")


def _paths(source: ParquetSource | FolderSource) -> list[Path]:
    return [path for path, _ in source.files] if isinstance(source, FolderSource) else [source.location.path]


def _readings(source: ParquetSource | FolderSource) -> dict[str, Reading]:
    """Return how Spark reads the columns that it reads, by name."""
    schema = source.schema if isinstance(source, FolderSource) else opened_parquet(source.path).schema_arrow
    keys = source.keys if isinstance(source, FolderSource) else ()
    return spark_readings(schema, _paths(source)) | dict.fromkeys(keys, ("STRING", "{0}"))


def _uri(path: Any) -> str:
    return f"file://{path}"


def _path(uri: str) -> str:
    """Return the path of a file as Spark names it."""
    return "/" + unquote(uri.removeprefix("file:")).lstrip("/")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
