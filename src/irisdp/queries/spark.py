"""Tables in Spark: the same statement, in Spark's dialect, run where the data is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from .engine import release_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SparkSource", "spark_statement"]


@dataclass(frozen=True, slots=True)
class SparkSource:
    """A PySpark DataFrame."""

    frame: Any = field(repr=False)

    @property
    def engine(self) -> str:
        """Name the engine and its version."""
        return f"spark {release_of(str(self.frame.sparkSession.version))}"

    def digest(self) -> bytes:
        """Return a digest of the multiset of records: their number and the sum of their hashes, whatever the order."""
        names = ", ".join("`" + name.replace("`", "``") + "`" for name in self.frame.columns)
        hashes = self.frame.selectExpr(f"CAST(XXHASH64({names}) AS DECIMAL(38, 0)) AS hash")
        ((count, total),) = hashes.selectExpr("COUNT(*)", "SUM(hash)").collect()
        parts = ("spark", self.frame.schema.simpleString(), count, str(total))
        return blake2b(repr(parts).encode(), digest_size=32).digest()

    def run(self, statement: str, names: Sequence[str], groups: pa.Table | None) -> pa.Table:
        """Run a statement over the relations `data` (at least the columns named) and `groups`."""
        session = self.frame.sparkSession
        relations = {"data": self.frame.select(*("`" + name.replace("`", "``") + "`" for name in names))}
        if groups is not None:
            relations["groups"] = session.createDataFrame(groups)
        # A session's views are shared between threads: fresh names keep two questions apart.
        views = {name: f"irisdp_{name}_{uuid4().hex}" for name in relations}
        try:
            for name, frame in relations.items():
                frame.createOrReplaceTempView(views[name])
            return session.sql(spark_statement(statement, views)).toArrow()
        finally:
            for view in views.values():
                session.catalog.dropTempView(view)


def spark_statement(statement: str, views: dict[str, str]) -> str:
    """Write a statement of DuckDB's in Spark's dialect, with the names that its relations have there."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(statement, read="duckdb")
    for table in tree.find_all(exp.Table):
        if table.name in views:
            table.replace(exp.alias_(exp.table_(views[table.name]), table.name, table=True))
    return tree.sql("spark")
