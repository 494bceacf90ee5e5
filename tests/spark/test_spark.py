"""Past one machine: the same statistics, publication and breadth-first search on Spark as in memory.

Needs Java 17 or newer beside the `spark` extra; `.ci/run` installs it from the distribution's packages.
"""

import shutil

import pyarrow as pa
import pytest

import irisdp
from irisdp.graphs import UNREACHABLE, colour, depth, depth_as_joins, graph_from_edges
from irisdp.queries import count_records, open_table, read_condition, read_groups
from support.seeds import fresh_generator

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("irisdp tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def records():
    random = fresh_generator(5)
    size = 400
    return pa.table(
        {
            "g": pa.array([None if k == 0 else "abcd"[k - 1] for k in random.integers(0, 5, size)], pa.string()),
            "age": pa.array([None if k > 95 else int(k) for k in random.integers(0, 100, size)], pa.int64()),
            "pay": random.normal(0, 1e300, size),
            "who": pa.array(random.integers(0, 150, size), pa.int64()),
        }
    )


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize(
    "expression", [None, "age > 64", "age % 0 = 1 OR g IN ('a', 'b')", "pay * pay > 1 AND g LIKE 'a%'"]
)
def test_spark_counts_what_the_embedded_engine_counts(spark, records, expression, unit):
    statistics = []
    for data in (records, spark.createDataFrame(records)):
        table = open_table(data)
        condition = None if expression is None else read_condition(expression, table.columns)
        groups = read_groups(table, "g", ["a", "b", "z"])
        statistics.append(count_records(table, condition=condition, groups=groups, unit=unit))
    embedded, distributed = statistics
    for name in ("total", "yes", "no"):
        assert getattr(embedded, name).tolist() == getattr(distributed, name).tolist()


def test_publishing_from_spark(spark, records, tmp_path):
    frame = spark.createDataFrame(records)
    options = {"by": "g", "groups": ["a", "b"], "epsilon": 30, "ledger": tmp_path / "l.ledger"}
    published = irisdp.publish(frame, "count", "age > 64", **options)
    exact = irisdp.publish(records, "count", "age > 64", **{**options, "ledger": tmp_path / "m.ledger"})
    # At ε = 30 noise is drawn with probability below 2e-13 a cell.
    assert published.answers.values == exact.answers.values
    assert irisdp.publish(frame, "count", "age > 64", **options).repeated


def test_depth_by_joins_on_spark_is_the_depth_in_memory(spark):
    random = fresh_generator(11)
    nodes = 60
    edges = {(int(a), int(b)) for a, b in random.integers(0, nodes, (110, 2)) if a != b} | {(58, 59)}
    colours = {node: int(random.integers(0, 3)) for node in range(nodes)} | {58: 0, 59: 0}
    graph = graph_from_edges(sorted(edges), nodes=range(nodes))
    expected = depth(colour(graph, colours)).tolist()
    assert UNREACHABLE in expected
    found = depth_as_joins(
        spark.createDataFrame(sorted(edges), ["a", "b"]),
        spark.createDataFrame(sorted(colours.items()), ["node", "class"]),
    )
    rows = {row["node"]: (row["class"], row["depth"]) for row in found.collect()}
    assert rows == {node: (colours[node], expected[node]) for node in range(nodes)}
