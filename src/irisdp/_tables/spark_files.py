"""Parquet files and folders, read by Spark: past one machine, with the name, the ledger and the digest that they have.

What a table is, is found here as for any file (its columns, their kinds, which files it has), so a plan needs no
cluster. Only statements are run there, by workers that see the files under the same path. The session is one of its
own: what a cluster's settings say of partitions, time zones, ancient dates or damaged files decides nothing.
"""

from __future__ import annotations

import os
import socket
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ..errors import BadInput
from .columns import Column, ColumnType
from .engine import SelfDescribing, guarded, release_of
from .locations import Location
from .parquet import FolderSource, ParquetSource, opened_parquet
from .spark_frames import HeldFrame, SparkSource, fix_settings

if TYPE_CHECKING:
    import pyarrow as pa


# Choose the type that Spark reads a Parquet column as, from the files' types alone, so that no value fails.
#
# Spark converts some types while it reads, and a value that does not fit ends the question: milliseconds beyond its
# microseconds, a decimal of more digits than its type has. Such columns are read in their stored type, which always
# fits, and SQL makes them total, as `_tables/arrow_values.py` does on this machine. Columns that cannot be read so are
# not read.

Reading = tuple[str, str]
"""The type that is asked of Spark, and SQL in which `{0}` is the value read."""
_Stored = tuple[str, int]
"""A physical type of Parquet's, and its bytes where these are fixed."""

_PLAIN = {
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "uint32": "BIGINT",
    "uint64": "DECIMAL(20, 0)",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "date32[day]": "DATE",
}
"""Arrow's types whose every stored value Spark reads, and as what."""
_SMALL = {"uint8": ("SMALLINT", "({0} & 255S)"), "uint16": ("INT", "({0} & 65535)")}
"""Stored in 32 bits, of which other readers take the last."""

_FIRST, _END = -62_135_596_800_000, 253_402_300_800_000
"""Milliseconds since 1970 of 0001-01-01 and of 10000-01-01."""
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
_MILLISECONDS = (
    f"CASE WHEN {{0}} >= {_FIRST} AND {{0}} < {_END} THEN timestampadd(MICROSECOND, {{0}} * 1000, {_EPOCH}) END"
)

_DIGITS = "lpad(hex({0}), 32, CASE WHEN hex({0}) >= '8' THEN 'F' ELSE '0' END)"
_HIGH = f"CAST(conv(substr({_DIGITS}, 1, 16), 16, 10) AS DECIMAL(20, 0))"
_LOW = f"CAST(conv(substr({_DIGITS}, 17, 16), 16, 10) AS DECIMAL(20, 0))"
_TWO_TO_64 = "CAST('18446744073709551616' AS DECIMAL(20, 0))"
# Of a negative number both parts are taken negative: the sum is never smaller in size than one of them.
_WHOLE = (
    f"CASE WHEN hex({{0}}) >= '8' THEN try_add(try_multiply({_HIGH} - {_TWO_TO_64} + 1, {_TWO_TO_64}), "
    f"{_LOW} - {_TWO_TO_64}) ELSE try_add(try_multiply({_HIGH}, {_TWO_TO_64}), {_LOW}) END"
)
"""A big-endian number in two's complement, of at most 16 bytes, as a decimal; null beyond 38 digits."""


def spark_readings(schema: pa.Schema, paths: Iterable[Path]) -> dict[str, Reading]:
    """Return how Spark reads the columns that it can read, by name.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of every file.
    paths : iterable of Path
        The files: a decimal is stored in several ways, and its type does not say in which.
    """
    import pyarrow as pa

    decimals = [field.name for field in schema if pa.types.is_decimal(field.type)]
    stored = _stored(decimals, paths) if decimals else {}
    readings = {field.name: _reading(field.type, stored.get(field.name, frozenset())) for field in schema}
    return {name: reading for name, reading in readings.items() if reading is not None}


def _stored(names: Iterable[str], paths: Iterable[Path]) -> Mapping[str, frozenset[_Stored]]:
    found: dict[str, set[_Stored]] = {name: set() for name in names}
    for path in paths:
        schema = opened_parquet(path).schema
        for index in range(len(schema)):
            column = schema.column(index)
            if column.path in found:
                found[column.path].add((column.physical_type, column.length))
    return {name: frozenset(kinds) for name, kinds in found.items()}


def _reading(kind: pa.DataType, stored: frozenset[_Stored]) -> Reading | None:
    import pyarrow as pa

    types = pa.types
    if types.is_timestamp(kind):
        # Also of those without a zone: in a session in UTC both are the same instant, in INT96 as well.
        return {"us": ("TIMESTAMP", "{0}"), "ms": ("BIGINT", _MILLISECONDS)}.get(kind.unit)
    if types.is_decimal(kind):
        return _decimal(kind, stored) if kind.precision <= 38 and kind.scale >= 0 else None
    name = str(kind).removeprefix("large_")
    return (_PLAIN[name], "{0}") if name in _PLAIN else _SMALL.get(name)


def _decimal(kind: pa.DataType, stored: frozenset[_Stored]) -> Reading | None:
    held = f"DECIMAL({kind.precision}, {kind.scale})"
    widths = {4 if name == "INT32" else 8 if name == "INT64" else width for name, width in stored}
    fixed = all(name == "FIXED_LEN_BYTE_ARRAY" for name, _ in stored)
    if not stored or not (fixed or {name for name, _ in stored} <= {"INT32", "INT64", "FIXED_LEN_BYTE_ARRAY"}):
        return None
    if max(widths) < 16:  # 15 bytes hold less than 10^38
        return f"DECIMAL(38, {kind.scale})", f"try_cast({{0}} AS {held})"
    if not fixed or max(widths) > 16:
        return None
    return "BINARY", f"try_cast(concat(CAST({_WHOLE} AS STRING), 'E-{kind.scale}') AS {held})"


# Start our own sessions on a Spark cluster: in this process, or on a Spark Connect server.
#
# Each statement runs in a session without settings of a caller, and `fix_settings` resets what the configuration of a
# cluster says about reading. Our sessions never change a caller's session, default or environment.

CONNECT = "sc://"
"""What the address of a server of Spark Connect begins with."""
_STANDALONE = "spark://"
"""What the address of a cluster of Spark's own begins with."""
_PATIENCE = 15
"""Seconds within which a server or a cluster must answer; Spark itself would try for minutes."""
_JOINING = 30
"""Seconds within which a cluster of Spark's own must let a program in, from when Java runs. Spark's own start is half
of them where the machine is busy."""
_STEP, _LOOK = 5, 0.1
"""Seconds to wait for what should take none, and between two looks at it."""
_LOCK = threading.Lock()


def check_master(master: str | None) -> None:
    """Refuse a server of Spark Connect where its client is not installed; nobody is called up."""
    if _remote(master) is not None:
        _connect_client()


@contextmanager
def own_session(master: str | None) -> Iterator[Any]:
    """Start a session, which may take some seconds, and end it.

    Parameters
    ----------
    master : str, optional
        Address of a cluster, or ``sc://…`` of a Spark Connect server. [default: this machine's configuration]

    Raises
    ------
    BadInput
        For a server that does not answer, refuses, or is of another release; and where a session of this program runs
        on another cluster.
    """
    remote = _remote(master)
    with _LOCK:
        session = _session_here(master) if remote is None else _session_on_server(remote)
    try:
        fix_settings(session)
        yield session
    finally:
        if remote is not None:
            session.client.release_session()
            session.client.close()


def _remote(master: str | None) -> str | None:
    address = os.environ.get("SPARK_REMOTE") if master is None else master
    return address if address is not None and address.startswith(CONNECT) else None


def _session_here(master: str | None) -> Any:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.appName("irisdp").config("spark.ui.showConsoleProgress", "false")
    if "SPARK_CONNECT_MODE_ENABLED" in os.environ:  # then this would be the caller's session on a server, or none
        rule = "is not named, and this program has a session of Spark Connect"
        if master is not None:
            rule = "is another cluster than that on which a session of this program runs"
        raise BadInput("master", rule, f"name the address of its server: {CONNECT}HOST:PORT")
    alone = SparkSession.getActiveSession() is None
    if alone and master is not None:
        _call_up(master)
    rule, remedy = "is spark, which could not be started as this machine is configured", "check Java: 17 or newer"
    if master is not None:
        rule, remedy = "is a cluster on which Spark could not be started", "check its address, and Java: 17 or newer"
    chosen = builder if master is None else builder.master(master)
    with _quiet(wanted=alone):
        if alone and master is not None and master.startswith(_STANDALONE):
            _join(chosen, rule, remedy)
        first = guarded(chosen.getOrCreate, rule, remedy, "engine" if master is None else "master")
    if master is not None and first.sparkContext.master != master:
        rule = "is another cluster than that on which a session of this program runs"
        raise BadInput("master", rule, "stop that session, or leave it out")
    if alone:  # a failing task would write what it read into the log
        first.sparkContext.setLogLevel("OFF")
    return first.newSession()


def _call_up(master: str) -> None:
    """Refuse a cluster of Spark's own none of whose machines takes calls: Spark would try for two minutes."""
    if not master.startswith(_STANDALONE):
        return
    places = master.removeprefix(_STANDALONE).split(",")
    for place in places:
        try:
            url = urlsplit(f"//{place}")
            socket.create_connection((url.hostname or "", url.port or 0), _PATIENCE / len(places)).close()
        except (OSError, ValueError, OverflowError):
            continue
        return
    raise BadInput("master", "is a cluster that does not answer", "check its address, and that it runs")


def _join(builder: Any, rule: str, remedy: str) -> None:
    """Start a session on a cluster of Spark's own, and end a Java that waits in vain: something else may listen there.

    Spark asks three times to be let in, for twenty seconds each, and nothing sets that otherwise. A Java of the
    caller's is not ended, and so asks as long as it likes.
    """
    from pyspark import SparkContext

    context: Any = SparkContext
    if context._gateway is not None:
        return
    ended: list[BaseException | None] = []

    def start() -> None:
        try:
            builder.getOrCreate()
            ended.append(None)
        except BaseException as error:  # which gets the places of the others
            ended.append(error)

    trial = threading.Thread(target=start, daemon=True)
    trial.start()
    try:
        while trial.is_alive() and context._gateway is None:  # until there is a Java, however slow the machine is
            trial.join(_LOOK)
        trial.join(_JOINING)
    except BaseException:  # the caller has waited long enough
        _end_java(context, trial)
        raise
    if trial.is_alive():
        _end_java(context, trial)
        told = f"is an address that answers, and lets no program in within {_JOINING} seconds"
        raise BadInput("master", told, "check that a Spark master of this release listens there")
    if ended[0] is not None:
        guarded(partial(_raise, ended[0]), rule, remedy, "master")


def _end_java(context: Any, trial: threading.Thread) -> None:
    """End the Java that this process started, and let another be started."""
    gateway = context._gateway
    with suppress(Exception):
        gateway.proc.kill()
        gateway.proc.wait(_STEP)
    trial.join(_STEP)
    with suppress(Exception):
        gateway.shutdown()
    context._gateway = context._jvm = None


def _raise(error: BaseException) -> None:
    raise error


@contextmanager
def _quiet(*, wanted: bool) -> Iterator[None]:
    """Start a Java without the terminal, to which it would write pages; what goes wrong is said in one line."""
    if not wanted:
        yield
        return
    try:
        kept = os.dup(2)
    except OSError:  # there is no terminal to spare
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _session_on_server(address: str) -> Any:
    import pyspark

    session_of, channel_of, grpc = _connect_client()
    how = "write for example sc://host:15002"
    builder = guarded(lambda: channel_of(address), "is no address of a server of Spark Connect", how, "master")
    channel = guarded(builder.toChannel, "is no address of a server of Spark Connect", how, "master")
    rule, remedy = "is a server of Spark Connect that does not answer", "check its address, and that it runs"
    try:
        guarded(lambda: grpc.channel_ready_future(channel).result(timeout=_PATIENCE), rule, remedy, "master")
    finally:
        channel.close()
    rule, remedy = "is a server of Spark Connect that refuses", "check what its address says of tokens and users"
    session = guarded(lambda: session_of(connection=builder), rule, remedy, "master")
    there, here = (
        release_of(str(guarded(lambda: session.version, rule, remedy, "master"))),
        release_of(pyspark.__version__),
    )
    if there != here:  # the release is part of a question, and a plan asks no server
        session.client.close()
        raise BadInput("master", f"is a server of Spark {there}, and Spark {here} is here", f"install pyspark {there}")
    return session


def _connect_client() -> tuple[Any, Any, Any]:
    """Return the session and the builder of channels of Spark's client, and gRPC."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Pandas, which is not asked here
            import grpc
            from pyspark.sql.connect.client import DefaultChannelBuilder
            from pyspark.sql.connect.session import SparkSession
    except ImportError:
        rule = "is a server of Spark Connect, whose client is not installed"
        raise BadInput("master", rule, 'pip install "pyspark[connect]"') from None
    return SparkSession, DefaultChannelBuilder, grpc


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
            return self._frame(session, names).run(statement, names, declared)

    def hold(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> HeldFrame:
        """Run a statement as `run` does, and hold what it finds on the cluster, with the session."""
        with ExitStack() as left:
            session = left.enter_context(own_session(self.master))
            held = self._frame(session, names).hold(statement, names, declared)
            left.callback(held.close)
            return HeldFrame(held.source, left.pop_all())

    def _frame(self, session: Any, names: Sequence[str]) -> SparkSource:
        """Return the columns named, as the session reads them."""
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
        if sorted(_path(file) for file in read.inputFiles()) != sorted(map(str, paths)):
            rule = "is in files of which Spark passes some over"
            raise BadInput("data", rule, "check that every machine of the cluster sees them, or leave the engine out")
        held = read.columns  # those of partitions come last
        placed = read.toDF(*(f"read_{index}" for index in range(len(held))))
        total = [readings[name][1].format(f"read_{held.index(name)}") for name in names]
        frame = placed.selectExpr(*(f"{sql} AS total_{index}" for index, sql in enumerate(total))).toDF(*names)
        return SparkSource(frame)


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
        The address of a cluster: ``spark://…``, ``yarn``, ``local[4]``, or ``sc://…`` of Spark Connect.
        [default: this machine's configuration]

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
    found = [column if column.name in readings else replace(column, kind=ColumnType.NESTED) for column in columns]
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
