"""Depth as dataframe joins: the same depths as in memory, on every engine at hand, and nothing left behind."""

import duckdb
import narwhals as nw
import numpy as np
import polars
import pytest

from irisdp import BadInput
from irisdp.graphs import colour, depth, depth_as_joins, graph_from_arrays
from support.seeds import fresh_generator

NODES = 120


def case(seed):
    generator = fresh_generator(seed)
    tails, heads = generator.integers(0, NODES, (2, int(generator.integers(60, 200))))
    red = np.arange(NODES) < 40
    return (
        polars.DataFrame({"from": tails, "to": heads, "weight": 1.5}),
        polars.DataFrame({"person": np.arange(NODES), "side": np.where(red, "red", "blue")}),
        depth(colour(graph_from_arrays(tails, heads, nodes=range(NODES)), red)).tolist(),
    )


def depths_found(frame):
    table = nw.from_native(frame).lazy().collect()
    assert table.columns == ["node", "class", "depth"]
    rows = sorted(zip(*(table[name].to_list() for name in ("node", "class", "depth")), strict=True))
    assert [(node, side) for node, side, _ in rows] == [(n, "red" if n < 40 else "blue") for n in range(NODES)]
    return [found for _, _, found in rows]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("engine", ["duckdb", "polars", "polars lazy", "pandas", "pyarrow"])
def test_every_engine_finds_the_depths_found_in_memory(engine, seed):
    edges, classes, expected = case(seed)
    connection = duckdb.connect()
    convert = {
        "duckdb": lambda frame: connection.from_arrow(frame.to_arrow()),
        "polars": lambda frame: frame,
        "polars lazy": lambda frame: frame.lazy(),
        "pandas": lambda frame: frame.to_pandas(),
        "pyarrow": lambda frame: frame.to_arrow(),
    }[engine]
    found = depth_as_joins(convert(edges), convert(classes))
    assert type(found) is type(convert(edges))
    assert depths_found(found) == expected
    assert {-1, 0, 1} <= set(expected)


def test_a_search_from_the_wrong_side_is_seen():
    """Negative control: other colours give other depths."""
    edges, classes, expected = case(0)
    moved = classes.with_columns(side=polars.Series(np.where(np.arange(NODES) < 60, "red", "blue")))
    assert depth_as_joins(edges, moved).sort("node")["depth"].to_list() != expected


def test_a_long_path_in_duckdb_leaves_one_temporary_table_and_reads_only_stored_rows():
    connection = duckdb.connect()
    edges = connection.sql("SELECT range AS a, range + 1 AS b FROM range(60)")
    classes = connection.sql("SELECT range AS n, range = 0 AS c FROM range(61)")
    found = depth_as_joins(edges, classes)
    assert sorted(found.fetchall()) == [(n, n == 0, max(0, n - 1)) for n in range(61)]
    assert len(connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()) == 1
    assert not connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    # The plan of the result is as short after sixty levels as it could be: one scan.
    assert found.explain().count("irisdp_") == 1


def test_names_may_be_text_and_nodes_may_stand_alone():
    edges = polars.DataFrame({"a": ["x", "y"], "b": ["y", "y"]})
    classes = polars.DataFrame({"n": ["x", "y", "z"], "c": [1, 2, 2]})
    assert sorted(depth_as_joins(edges, classes).rows()) == [("x", 1, 0), ("y", 2, 0), ("z", 2, -1)]


EDGES, CLASSES, _ = case(1)


@pytest.mark.parametrize(
    ("edges", "classes", "message"),
    [
        (EDGES, CLASSES.to_pandas(), "classes: must be the same kind of dataframe as edges"),
        (EDGES.select("from"), CLASSES, "edges: must have two columns"),
        (EDGES, CLASSES.select("person"), "classes: must have two columns"),
        (EDGES, CLASSES.head(50), "classes: leave out a node that edges name"),
        (EDGES, polars.concat([CLASSES, CLASSES]), "classes: must name every node once"),
        (EDGES, CLASSES.with_columns(side=polars.lit(None)), "classes: must not have missing values"),
        (EDGES.with_columns(to=polars.lit(None, polars.Int64)), CLASSES, "edges: must not have missing values"),
        (EDGES, CLASSES.with_columns(polars.col("person").cast(polars.Int32)), "classes: must name nodes in the type"),
    ],
)
def test_bad_frames(edges, classes, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        depth_as_joins(edges, classes)
    if type(edges) is type(classes):
        connection = duckdb.connect()
        with pytest.raises(BadInput, match=f"^{message}"):
            depth_as_joins(*(connection.from_arrow(frame.to_arrow()) for frame in (edges, classes)))
