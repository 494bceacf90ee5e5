"""Depth as dataframe joins, for graphs that are tables in an engine: DuckDB out of core, Spark over many machines."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from .._exact import checked
from .._frames import opened
from ..errors import BadInput
from ._protocol import UNREACHABLE


@checked
def depth_as_joins(edges: Any, classes: Any) -> Any:
    """Find every node's depth, as `depth` does, by one join per level inside the engine that holds the tables.

    Parameters
    ----------
    edges : dataframe
        Anything narwhals reads, eager or lazy; its first two columns are the ends of the edges.
    classes : dataframe of the same kind
        Its first two columns are every node, once, and its class. The columns that hold nodes must agree in type.

    Returns
    -------
    dataframe of the same kind
        Columns `node`, `class` and `depth`, in no particular order; depth is −1 where the component has no boundary.
        Lazy where `classes` was. DuckDB keeps the result in a temporary table of the connection.

    Raises
    ------
    BadInput
        When a value is missing, a node comes twice or has no class, or the frames differ in kind or type.
    """
    given = opened(classes, "classes", "give two columns")
    nodes = _columns(given, "classes", "node", "class")
    ends = _columns(opened(edges, "edges", "give two columns"), "edges", "tail", "head")
    _check(ends, nodes)
    store = _Store(nodes)

    reverse = ends.select(nw.col("head").alias("tail"), nw.col("tail").alias("head"))
    arcs = store.keep(nw.concat([ends.select("tail", "head"), reverse]))
    crossing = (
        arcs.join(nodes, left_on="tail", right_on="node", how="inner")
        .join(nodes.rename({"class": "other"}), left_on="head", right_on="node", how="inner")
        .filter(nw.col("class") != nw.col("other"))
    )
    reached = store.keep(_at_depth(crossing.select(nw.col("tail").alias("node")).unique(), 0))
    level, before, count = 0, 0, _count(reached)
    while count > before:
        frontier = reached.filter(nw.col("depth") == level).select("node")
        found = (
            arcs.join(frontier, left_on="tail", right_on="node", how="semi")
            .select(nw.col("head").alias("node"))
            .unique()
            .join(reached, on="node", how="anti")
        )
        level += 1
        # Stored at every level: a lazy plan would otherwise grow by a level each time and be run from the start.
        larger = store.keep(nw.concat([reached, _at_depth(found, level)]))
        store.drop(reached)
        reached, before, count = larger, count, _count(larger)

    result = nodes.join(reached, on="node", how="left").with_columns(nw.col("depth").fill_null(UNREACHABLE))
    stored = store.keep(result.select("node", "class", "depth"))
    store.drop(arcs)
    store.drop(reached)
    store.close()
    return stored.to_native() if isinstance(given, nw.LazyFrame) else stored.collect().to_native()


def _columns(frame: Any, field: str, first: str, second: str) -> nw.LazyFrame[Any]:
    """Take the first two columns of a frame under new names, lazily."""
    names = frame.collect_schema().names()
    if len(names) < 2:
        raise BadInput(field, "must have two columns", f"give a frame with {first} and {second}")
    lazy: nw.LazyFrame[Any] = frame.lazy().select(nw.col(names[0]).alias(first), nw.col(names[1]).alias(second))
    return lazy


def _check(ends: nw.LazyFrame[Any], nodes: nw.LazyFrame[Any]) -> None:
    if ends.implementation != nodes.implementation:
        raise BadInput("classes", "must be the same kind of dataframe as edges", "load both with one engine")
    types = ends.collect_schema()
    if not types["tail"] == types["head"] == nodes.collect_schema()["node"]:
        raise BadInput("classes", "must name nodes in the type of both columns of edges", "cast the columns")
    for field, frame, columns in (("edges", ends, ("tail", "head")), ("classes", nodes, ("node", "class"))):
        if _count(frame.filter(nw.any_horizontal(*(nw.col(name).is_null() for name in columns), ignore_nulls=True))):
            raise BadInput(field, "must not have missing values", "drop the rows with nulls")
    if _count(nodes) != _count(nodes.select("node").unique()):
        raise BadInput("classes", "must name every node once", "drop the repeated rows")
    for column in ("tail", "head"):
        if _count(ends.join(nodes, left_on=column, right_on="node", how="anti")):
            raise BadInput("classes", "leave out a node that edges name", "give every node a class")


def _at_depth(nodes: nw.LazyFrame[Any], level: int) -> nw.LazyFrame[Any]:
    return nodes.with_columns(nw.lit(level, nw.Int64).alias("depth"))


def _count(frame: nw.LazyFrame[Any]) -> int:
    return int(frame.select(nw.len()).collect().item())


@dataclass(frozen=True, slots=True)
class _Store:
    """Runs lazy frames and keeps their rows where the engine keeps its own: they may spill to disk, or be spread out.

    Parameters
    ----------
    home : LazyFrame
        A frame of the caller's, which shows the way to its engine.
    """

    home: nw.LazyFrame[Any]

    def keep(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Run a frame and return one that reads the rows found."""
        if frame.implementation.is_duckdb():
            name = f"irisdp_{secrets.token_hex(8)}"
            frame.to_native().query("irisdp_rows", f"CREATE TEMP TABLE {name} AS FROM irisdp_rows")
            # Computed from `home`, because results of `frame` would keep the tables alive that `frame` reads.
            kept = self.home.to_native().query("irisdp_rows", f"FROM {name}").set_alias(name)
        elif frame.implementation.is_spark_like():
            kept = frame.to_native().localCheckpoint()
        else:
            return frame.collect().lazy()
        result: nw.LazyFrame[Any] = nw.from_native(kept)
        return result

    def drop(self, frame: nw.LazyFrame[Any]) -> None:
        """Forget kept rows where the engine would keep them to the end of the connection."""
        if frame.implementation.is_duckdb():
            self.home.to_native().query("irisdp_rows", f"DROP TABLE {frame.to_native().alias}")

    def close(self) -> None:
        """Forget the view that DuckDB before version 2 leaves behind a `query`."""
        if self.home.implementation.is_duckdb():
            self.home.to_native().query("irisdp_rows", "DROP VIEW IF EXISTS irisdp_rows")
