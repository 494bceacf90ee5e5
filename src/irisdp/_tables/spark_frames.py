"""Tables in Spark: the same statement, in Spark's dialect, run where the data is.

The settings of the caller's session have no effect: an instant is its UTC time, and casts fail softly under any ANSI
setting. Texts and column names are always encoded in a statement, because sessions differ in how they read a backslash,
or `${...}`. All other settings that are no matter of speed are part of the engine's name, and of a question.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlglot import exp

from ..errors import BadInput
from .arrow_values import LONGEST_TEXT
from .columns import Column, ColumnType, kind_of
from .engine import release_of
from .sql_types import instant_for_spark

if TYPE_CHECKING:
    import pyarrow as pa


# Evaluate LIKE in Spark in time that is linear in the length of the text.
#
# Spark turns a pattern into a regular expression that backtracks: one record of some kilobytes keeps
# `'%heart%failure%acute%'` busy for hours. Between two `%` is a piece of fixed length. So if a match exists, one exists
# with each piece at its first place after the one before, and the search never needs to go back. Atomic groups in the
# pattern keep Java from backtracking.

_MOST_WILDCARDS = 200
"""In a pattern: Java goes a level deeper for each, and how deep it gets, the text decides."""


def like_for_spark(node: exp.Binary) -> exp.Expr:
    """Return Spark's SQL for a text that is LIKE a literal pattern; simple patterns stay unchanged.

    Raises
    ------
    BadInput
        For a pattern of very many `%` and `_`, which is public.
    """
    pattern = node.expression.name
    pieces = re.split("%+", pattern)
    if len(pieces) <= 2 or (len(pieces) == 3 and not pieces[0] and not pieces[2]):
        return node
    if len(pieces) + pattern.count("_") > _MOST_WILDCARDS:
        rule = f"has more than {_MOST_WILDCARDS} signs % and _ after LIKE, which Spark does not take"
        raise BadInput("expression", rule, "write a shorter pattern")
    value = node.this
    if isinstance(node, exp.ILike):
        value, pattern = exp.Lower(this=value), pattern.lower()
    return exp.paren(exp.RegexpLike(this=value, expression=exp.Literal.string(expression_of(pattern))), copy=False)


def days_for_spark(node: exp.Expr) -> exp.Expr:
    """Return Spark's SQL for the days between two dates: with a unit, Spark counts whole units of two instants."""
    return exp.Anonymous(this="DATEDIFF", expressions=[node.this, node.expression])


def expression_of(pattern: str) -> str:
    """Return the regular expression, in Java's words, that finds what is LIKE a pattern.

    Examples
    --------
    >>> expression_of("a%b_%")
    '(?s)^a(?>.*?b.)'
    """
    first, *middle, last = map(_piece, re.split("%+", pattern))
    found = "".join(f"(?>.*?{piece})" for piece in middle)
    return f"(?s)^{first}{found}" + (f".*{last}\\z" if last else "")


def _piece(text: str) -> str:
    r"""Write a part without `%`: `_` is one character of any kind, everything else itself.

    Letters, digits and non-ASCII characters are literal in every syntax of patterns; the rest is written as \x2a.
    """
    return "".join(
        "." if one == "_" else one if one.isalnum() or ord(one) > 127 else f"\\x{ord(one):02x}" for one in text
    )


# Spark settings: those without effect on answers, those of our own session, and how a caller's enter a question's name.
#
# Spark has hundreds of settings, and each release adds some, about parsing, casts and files. So none is trusted by
# name. A session made by Iris drops all settings of the cluster except those for speed and location. In a session of
# the caller, each other setting is part of the engine's name, so that no answer is refined under other settings.

_OWN = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parser.escapedStringLiterals": "false",
    # '${env:HOME}' in a statement would be what the environment of a cluster says.
    "spark.sql.variable.substitute": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # A date of long ago would else end a question in an error.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96TimestampConversion": "false",
    # One reader of Parquet, whose conversions are those that `spark_files` knows; statistics are other records.
    "spark.sql.parquet.enableVectorizedReader": "true",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""Settings of our own sessions, whatever the defaults of a release or an environment are."""

_SPEED_AND_PLACE = (
    "spark.sql.adaptive.",
    "spark.sql.artifact.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.catalog.",
    "spark.sql.catalogImplementation",
    "spark.sql.defaultCatalog",
    "spark.sql.execution.arrow.max",
    "spark.sql.execution.arrow.pyspark.enabled",
    "spark.sql.files.max",
    "spark.sql.files.min",
    "spark.sql.hive.metastore",
    "spark.sql.queryExecutionListeners",
    "spark.sql.repl.",
    "spark.sql.shuffle.",
    "spark.sql.streaming.",
    "spark.sql.ui.",
    "spark.sql.warehouse.dir",
)
"""What such settings begin with; how many tasks a question takes, and where tables are, change no reading."""

_USUAL = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}
"""Settings that an environment or a habit often says, and their usual values: these are asked for by name."""

_WITHOUT_SAY = ("spark.sql.session.timeZone", "spark.sql.variable.substitute")
"""Settings of the caller's session that statements are written around: instants are UTC, and no text stands in them."""


def fix_settings(session: Any) -> None:
    """Make a session of our own: what is neither speed nor place is as Spark has it from the start, or as said here."""
    for name in _said(session):
        if name not in _OWN and session.conf.isModifiable(name):
            session.conf.unset(name)
    for name, value in _OWN.items():
        if session.conf.get(name) != value:  # a usual one is frowned at where it is said
            session.conf.set(name, value)


def settings_name(session: Any) -> str:
    """Return a name for a session's unusual settings, 12 hex digits of their digest; empty where there are none.

    Values may hold a secret, so they are not shown.
    """
    said = _said(session) | {name: str(session.conf.get(name, usual)) for name, usual in _USUAL.items()}
    unusual = sorted(
        f"{name}={value}"
        for name, value in said.items()
        if name not in _WITHOUT_SAY and value.lower() != _USUAL.get(name, "").lower()
    )
    return blake2b(repr(unusual).encode(), digest_size=6).hexdigest() if unusual else ""


def _said(session: Any) -> dict[str, str]:
    """Return what a session says of reading, by name."""
    said = session.conf.getAll
    said_of = dict(said() if callable(said) else said)
    return {
        name: str(value)
        for name, value in said_of.items()
        if name.startswith("spark.sql.") and not name.startswith(_SPEED_AND_PLACE)
    }


_SAFE_TEXT = re.compile("[A-Za-z0-9 :.+-]*")
"""Text that every session reads alike in quotes; other text goes as the bytes of its UTF-8."""

_NUMBERS = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TEXTS = ("string", "char", "varchar")
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
_FIRST, _END = -62_135_596_800_000_000, 253_402_300_800_000_000
"""Microseconds since 1970 of 0001-01-01 and of 10000-01-01."""


@dataclass(frozen=True, slots=True)
class SparkSource:
    """A PySpark DataFrame."""

    frame: Any = field(repr=False)

    @property
    def ordered(self) -> bool:
        """No: partitions are read as they come."""
        return False

    @property
    def engine(self) -> str:
        """Name the engine, its version, and settings that are not as usual."""
        session = self.frame.sparkSession
        unusual = settings_name(session)
        return f"spark {release_of(str(session.version))}" + f" settings {unusual}" * bool(unusual)

    def digest(self) -> bytes:
        """Return a digest of the multiset of records: BLAKE2b over types and sorted SHA-256 of each record.

        Equal records are counted first. Then records that begin alike are sorted and hashed on the workers, so that the
        driver gets 4096 digests for any size. It takes one shuffle of 64 bytes for each different record.
        """
        plain = self._plain(self.frame.columns)
        parts = ", ".join(_injective(name, kind) for name, kind in plain.dtypes)
        records = plain.selectExpr(f"sha2(concat({parts}), 256) AS digest").groupBy("digest").count()
        lines = records.selectExpr(
            "substring(digest, 1, 3) AS share", "concat(digest, ':', CAST(count AS STRING)) AS line"
        )
        listed = lines.groupBy("share").agg({"line": "collect_list"}).toDF("share", "lines")
        rows = listed.selectExpr("share", "sha2(concat_ws(',', sort_array(lines)), 256) AS digest").collect()
        digests = sorted((row["share"], row["digest"]) for row in rows)
        return blake2b(repr(("spark", self.frame.schema.simpleString(), digests)).encode(), digest_size=32).digest()

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement over the relation `data` (at least the columns named) and those declared, by name."""
        with self._found(statement, names, declared) as rows:
            return rows.toArrow()

    def hold(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> HeldFrame:
        """Run a statement as `run` does, and hold what it finds on the cluster."""
        with contextlib.ExitStack() as left:
            rows = left.enter_context(self._found(statement, names, declared)).persist()
            left.callback(rows.unpersist)
            rows.count()  # now, where an error means that nothing is held
            return HeldFrame(SparkSource(rows), left.pop_all())

    @contextlib.contextmanager
    def _found(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> Iterator[Any]:
        """Yield the frame of what a statement finds, which may be read here."""
        session = self.frame.sparkSession
        places = {name: _place(index) for index, name in enumerate(names)}
        relations = {"data": self._plain(names)}
        relations |= {name: _declared(session, relation) for name, relation in declared.items()}
        # A session's views are shared between threads: fresh names keep two questions apart.
        views = {name: f"irisdp_{name}_{uuid4().hex}" for name in relations}
        try:
            for name, frame in relations.items():
                frame.createOrReplaceTempView(views[name])
            yield session.sql(spark_statement(statement, views, places))
        finally:
            for view in views.values():
                session.catalog.dropTempView(view)

    def _plain(self, names: Sequence[str]) -> Any:
        """Return the frame's columns with every value total, each named by its place."""
        held, types = self.frame.columns, dict(self.frame.dtypes)
        placed = self.frame.toDF(*(f"held_{index}" for index in range(len(held))))
        return placed.selectExpr(
            *(
                f"{_total(f'held_{held.index(name)}', types[name])} AS {_place(index)}"
                for index, name in enumerate(names)
            )
        )


@dataclass(frozen=True, slots=True)
class HeldFrame:
    """Rows on a cluster, with what must be let go of after them."""

    source: SparkSource
    left: contextlib.ExitStack = field(repr=False)

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement in which `data` has these rows."""
        return self.source.run(statement, names, declared)

    def close(self) -> None:
        """Let go of them."""
        self.left.close()


def open_spark(frame: Any, schema: Any) -> tuple[list[Column], SparkSource]:
    """Open a DataFrame whose Narwhals schema is given."""
    kinds = {name: kind_of(schema[name]) if _is_flat(kind) else ColumnType.NESTED for name, kind in frame.dtypes}
    types = dict(frame.dtypes)
    return [Column(name, kind, type_name=types[name]) for name, kind in kinds.items()], SparkSource(frame)


_PERSONS = "irisdp_persons"


def spark_statement(statement: str, views: Mapping[str, str], places: Mapping[str, str]) -> str:
    """Write a statement of DuckDB's in Spark's dialect, with the names that its relations and columns have there."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(statement, read="duckdb")
    # Rows of persons are a relation `data` of their own, which is made of the table's.
    persons = next((part for part in tree.find_all(exp.CTE) if part.alias == "data"), None)
    for table in list(tree.find_all(exp.Table)):
        if table.name == "data" and persons is not None and table.find_ancestor(exp.CTE) is not persons:
            table.replace(exp.alias_(exp.table_(_PERSONS), table.name, table=True))
        elif table.name in views:
            table.replace(exp.alias_(exp.table_(views[table.name]), table.name, table=True))
    for column in tree.find_all(exp.Column):
        outside = persons is not None and column.find_ancestor(exp.CTE) is not persons
        if column.table == "data" and column.name in places and not outside:
            column.set("this", exp.to_identifier(places[column.name]))
    if persons is not None:
        persons.set("alias", exp.TableAlias(this=exp.to_identifier(_PERSONS)))
    for part in list(tree.find_all(exp.Like, exp.ILike, exp.DateDiff)):
        part.replace(like_for_spark(part) if isinstance(part, exp.Binary) else days_for_spark(part))
    for cast in list(tree.find_all(exp.Cast)):
        digits = cast.this.expressions if isinstance(cast.this, exp.Concat) else ()
        if cast.is_type("BIGINT") and len(digits) == 2 and digits[0].name == "0x":  # Spark reads no 0x…
            cast.this.replace(exp.func("CONV", digits[1].copy(), "16", "10"))
        if isinstance(cast.this, exp.Cast) and cast.this.is_type("TIMESTAMPTZ"):
            cast.replace(instant_for_spark(cast.this.this))
    for text in list(tree.find_all(exp.Literal)):
        if text.is_string and not _SAFE_TEXT.fullmatch(text.name):
            text.replace(exp.cast(exp.HexString(this=text.name.encode().hex()), "STRING"))
    return tree.sql("spark")


def _place(place: int) -> str:
    return f"column_{place}"


def _declared(session: Any, groups: pa.Table) -> Any:
    """Return declared groups as a frame; an instant goes as a number, which no session moves."""
    import pyarrow as pa

    listed = []
    for index, column in enumerate(groups.schema):
        name = _quoted(column.name)
        if pa.types.is_timestamp(column.type):
            since = groups.column(index).cast(pa.timestamp("us")).cast(pa.int64())
            groups = groups.set_column(index, column.name, since)
            name = f"timestampadd(MICROSECOND, {name}, {_EPOCH}) AS {name}"
        listed.append(name)
    return session.createDataFrame(groups).selectExpr(*listed)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _base(kind: str) -> str:
    return re.split(r"[( ]", kind, maxsplit=1)[0]


def _is_flat(kind: str) -> bool:
    return _base(kind) in (*_NUMBERS, *_TEXTS, "binary", "date", "timestamp", "timestamp_ntz", "time", "interval")


def _total(value: str, kind: str) -> str:
    """Return SQL for a value that is null where `total` says so."""
    base = _base(kind)
    if base in _NUMBERS:
        return value
    if base in _TEXTS:  # letters that a collation takes for equal are different ones to conditions, and so to persons
        text = f"CAST({value} AS STRING)" if " " in kind else value
        return f"CASE WHEN octet_length({text}) <= {LONGEST_TEXT} THEN try_validate_utf8({text}) END"
    if base == "binary":
        return f"CASE WHEN octet_length({value}) <= {LONGEST_TEXT} THEN {value} END"
    if base == "date":
        return f"CASE WHEN unix_date({value}) >= -719162 AND unix_date({value}) < 2932897 THEN {value} END"
    if base == "timestamp":
        since = f"unix_micros({value})"
        inside = f"{since} >= {_FIRST} AND {since} < {_END}"
        return f"CASE WHEN {inside} THEN timestampadd(MICROSECOND, {since}, {_EPOCH}) END"
    if base == "timestamp_ntz":
        inside = f"{value} >= TIMESTAMP_NTZ '0001-01-01' AND {value} <= TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'"
        return f"CASE WHEN {inside} THEN {value} END"
    if base in ("interval", "time"):
        return f"CAST({value} AS STRING)"
    return f"CASE WHEN {value} IS NOT NULL THEN TRUE END"


def _injective(value: str, kind: str) -> str:
    """Return SQL for a total value's text, null told apart and its length in front, so that no two records meet."""
    text = f"hex({value})" if kind == "binary" else f"CAST({value} AS STRING)"
    return f"coalesce(concat(CAST(octet_length({text}) AS STRING), ':', {text}), '-')"
