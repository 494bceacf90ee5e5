"""Past one machine: the same statistics, publication and breadth-first search on Spark as in memory.

Needs Java 17 or newer beside the `spark` extra; `.ci/run` installs it from the distribution's packages.
"""

import itertools
import shutil
from decimal import Decimal
from itertools import product

import pyarrow as pa
import pytest

import irisdp
from irisdp._queries import ColumnChoices, ContributionBounds, PerUnitRule, PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.categories import count_categories, read_categories
from irisdp._queries.clipped_values import read_stepped, total_steps
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from irisdp.graphs import UNREACHABLE, colour, depth, depth_as_joins, graph_from_edges
from support.derived import EXPRESSIONS, TABLE, values
from support.seeds import fresh_generator
from support.spark import session_of
from support.sweeps import by_turns, tried

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
]


@pytest.fixture(scope="module")
def spark():
    with session_of() as session:
        yield session


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


@pytest.mark.parametrize("by", [None, "who"])
def test_spark_counts_categories_as_the_embedded_engine_does(spark, records, by):
    counts = []
    for table in (open_table(records), open_table(spark.createDataFrame(records))):
        categories = read_categories(table, "g", "d,a,c", "plurality")
        groups = None if by is None else read_groups(table, by, [*range(100), 10**9]).by_key()
        condition = read_condition("age > 20", table.columns)
        counts.append(count_categories(table, categories, condition=condition, groups=groups).counts.tolist())
    assert counts[0] == counts[1]
    assert sum(map(sum, counts[0])) > 1


UNITS = [
    None,
    PrivacyUnit("who", b"k" * 32),
    PrivacyUnit("who", b"k" * 32, PerUnitRule.ANY),
    PrivacyUnit("who", b"k" * 32, contribution=ContributionBounds(3, 3, True)),
    PrivacyUnit("who", b"k" * 32, contribution=ContributionBounds(3, 1, True)),
]
COUNTED = [None, "age > 64", "age % 0 = 1 OR g IN ('a', 'b')", "pay * pay > 1 AND g LIKE 'a%'"]


@pytest.mark.parametrize(("unit", "expression"), by_turns(UNITS, COUNTED))
def test_spark_counts_what_the_embedded_engine_counts(spark, records, expression, unit):
    statistics = []
    if unit is not None:  # engines write floats differently, and so choose other records by them
        whole = pa.array([int(value // 1e299) for value in records["pay"].to_pylist()], pa.int64())
        records = records.set_column(records.column_names.index("pay"), "pay", whole)
    for data in (records, spark.createDataFrame(records)):
        table = open_table(data)
        condition = None if expression is None else read_condition(expression, table.columns)
        groups = read_groups(table, "g", ["a", "b", "z"])
        statistics.append(count_records(table, condition=condition, groups=groups, unit=unit))
    embedded, distributed = statistics
    for name in ("total", "yes", "no"):
        assert getattr(embedded, name).tolist() == getattr(distributed, name).tolist()


@pytest.mark.parametrize(("place", "sign"), list(enumerate(["=", "<>", "<", "<=", ">", ">="])))
def test_spark_turns_a_denied_comparison_round_as_the_embedded_engine_does(spark, place, sign):
    """One form of a condition rests on it: NaN beyond all numbers, equal to itself, and null nowhere."""
    numbers = pa.table({"x": [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, 2.0, None]})
    others = ("1", "0", "x", "x + 1")
    for deny, other in itertools.product(("", "NOT "), tried(others[place % 2 :: 2], others)):
        counted = []
        for data in (numbers, spark.createDataFrame(numbers)):
            table = open_table(data)
            condition = read_condition(f"{deny}x {sign} {other}", table.columns)
            found = count_records(table, condition=condition)
            counted.append((found.yes.tolist(), found.no.tolist()))
        assert counted[0] == counted[1], (deny, other)


def test_spark_gives_an_expression_to_group_by_the_meaning_that_the_embedded_engine_does(spark):
    frame = spark.createDataFrame(TABLE)
    for expression, (kind, _) in EXPRESSIONS.items():
        assert values(frame, expression) == (kind, values(TABLE, expression)[1]), expression


def test_spark_bins_as_the_embedded_engine_does(spark):
    frame = spark.createDataFrame(TABLE)
    for column, bins in (("age", "0,18,65"), ("rate", "-1,0,1e300"), ("seen", "1970-01-01,2000-02-29")):
        expression = f"BINS({column}, {', '.join(repr(edge) if '-0' in edge else edge for edge in bins.split(','))})"
        assert values(frame, expression) == values(TABLE, expression), column


@pytest.mark.parametrize("unit", [None, PrivacyUnit("who", b"k" * 32, None, ContributionBounds(3, 2, grouped=True))])
def test_spark_adds_up_steps_as_the_embedded_engine_does(spark, unit):
    """Numbers of every type and in text, clamped and rounded at half steps; what is none, or infinite, is nothing."""
    plain = [0.05, 0.15, 0.25, -7.0, 2.5, 1e300, None, float("nan"), float("inf"), float("-inf"), 1.999999999]
    table = pa.table(
        {
            "real": pa.array(plain, pa.float64()),
            "whole": pa.array([0, 1, None, -7, 3, 2**62, None, -1, 2, 1, 0], pa.int64()),
            "exact": pa.array([Decimal(k) / 8 for k in range(11)], pa.decimal128(9, 3)),
            "text": ["1", "0.35", "-1e3", "many", "", None, "NaN", "Infinity", "1e400", " 2 ", "0.25"],
            "who": pa.array([1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3], pa.int64()),
            "g": ["a", "b"] * 5 + ["a"],
        }
    )
    columns = ("real", "whole", "exact") if unit is None else ("whole",)  # floats in text differ: see limitations
    table = table if unit is None else table.select(["whole", "text", "who", "g"])
    embedded, other = open_table(table), open_table(spark.createDataFrame(table))
    weights = ({}, {"weight": "whole", "weight_upper": "2.3"}, {"weight": columns[0], "weight_upper": "0.7"})
    for column, step, weight in product(columns, ("0.1", "0.5"), weights):
        stepped = read_stepped(embedded, column, ColumnChoices(lower=-1, upper=2, step=step, **weight), "sum")
        found = [
            total_steps(one, stepped, groups=read_groups(one, ["g"], ["a", "b"]), unit=unit)
            for one in (embedded, other)
        ]
        for name in ("total", "known", "above"):
            assert getattr(found[0], name).tolist() == getattr(found[1], name).tolist(), (column, step, weight, name)


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
    # Nodes 58 and 59, of one class, are joined to no others: nothing there has a depth.
    edges = {(int(a), int(b)) for a, b in random.integers(0, nodes - 2, (110, 2)) if a != b} | {(58, 59)}
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


HOSTILE = """
    SELECT 1 AS n, CAST(X'FF41' AS STRING) AS text, DATE '9999-12-31' + 4000000 AS day,
        timestamp_micros(CAST(9e18 AS BIGINT)) AS at,
        timestamp_ntz '9999-12-31 00:00:00' + INTERVAL '9' YEAR AS naive, array(1, 2) AS list, map('a', 1) AS entries,
        INTERVAL '99' DAY AS span, X'FF' AS bytes, CAST('NaN' AS DOUBLE) AS number, CAST('x' AS CHAR(3)) AS letters
"""
CLEAN = """
    SELECT 2 AS n, 'a' AS text, DATE '2024-11-03' AS day, timestamp_seconds(1730612000) AS at,
        timestamp_ntz '2024-11-03 01:30:00' AS naive, array(1) AS list, map('b', 1) AS entries,
        INTERVAL '1' DAY AS span, X'01' AS bytes, CAST(1.5 AS DOUBLE) AS number, CAST('ab' AS CHAR(3)) AS letters
"""
QUESTIONS = {
    "text": ("length(text) > 0", ["a"]),
    "day": ("year(day) = 2024", ["2024-11-03"]),
    "at": ("at > '2024-11-03 05:33:19' AND CAST(at AS VARCHAR) < '2024-11-03 05:33:21'", ["2024-11-03 05:33:20"]),
    "naive": ("month(naive) = 11", ["2024-11-03 01:30:00"]),
    "list": ("NOT list IS NULL", None),
    "entries": ("NOT entries IS NULL", None),
    "span": ("NOT span IS NULL", None),
    "bytes": ("NOT bytes IS NULL", None),
    "number": ("number > 1", [1.5]),
}


@pytest.fixture
def settings(spark):
    before = {name: spark.conf.get(name) for name in ("spark.sql.session.timeZone", "spark.sql.ansi.enabled")}
    yield spark.conf
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.mark.parametrize(
    ("zone", "ansi"), [("America/New_York", "false"), ("Asia/Kolkata", "true"), ("UTC", "true")][: tried(2, 3)]
)
def test_no_session_and_no_record_changes_what_another_is_read_as(spark, settings, zone, ansi):
    settings.set("spark.sql.session.timeZone", zone)
    settings.set("spark.sql.ansi.enabled", ansi)
    for source in (CLEAN, f"{CLEAN} UNION ALL {HOSTILE}"):
        table = open_table(spark.sql(source))
        for name, (question, groups) in QUESTIONS.items():
            declared = None if groups is None else read_groups(table, name, groups)
            condition = read_condition(f"({question}) AND n = 2", table.columns)
            found = count_records(table, condition=condition, groups=declared)
            assert (found.total[0], found.yes[0]) == (1 if declared else count_records(table).total[0], 1), name
        keys = enumerate_keys(table, "at")
        assert [str(label) for (label,) in keys.select(keys.counts > 0).labels] == ["2024-11-03 05:33:20"]
        assert count_records(table, groups=keys.cells()).total.tolist() == [1]
        assert count_records(table, unit=PrivacyUnit("at", b"k" * 32)).total.tolist() == [1]
    assert spark.conf.get("spark.sql.session.timeZone") == zone


def test_digests_of_spark_frames_are_of_multisets(spark, settings):
    first = open_table(spark.sql(f"{CLEAN} UNION ALL {CLEAN} UNION ALL {HOSTILE}")).digest()
    assert open_table(spark.sql(f"{HOSTILE} UNION ALL {CLEAN} UNION ALL {CLEAN}")).digest() == first
    settings.set("spark.sql.session.timeZone", "Asia/Kolkata")
    assert open_table(spark.sql(f"{CLEAN} UNION ALL {CLEAN} UNION ALL {HOSTILE}")).digest() == first
    assert open_table(spark.sql(f"{CLEAN} UNION ALL {HOSTILE} UNION ALL {HOSTILE}")).digest() != first
    pairs = [("a", "bc"), ("ab", "c"), ("1:a", ""), ("", "1:a"), (None, "a"), ("a", None), ("-", "a"), ("", "a")]
    frames = [spark.createDataFrame([pair], "a string, b string") for pair in pairs]
    assert len({open_table(frame).digest() for frame in frames}) == len(pairs)


def test_text_is_an_instant_whatever_the_session(spark, settings):
    texts = ["2023-07-01T00:30:00+01:00", "2023-06-30 23:30:00Z", "2023-06-30 18:30:00-05:00", " 2023-06-30 23:30:00 "]
    texts += ["2023-06-30T23:30", "2023-07-01T00:30+01:00", "2023-07-01 00:30:00+01", "2023-07-01 00:30:00.000+0100"]
    asked = "CAST(t AS TIMESTAMP) = '2023-06-30 23:30:00' AND day(CAST(t AS DATE)) = 30"
    asked += " AND CAST(CAST(CAST(t AS DATE) AS VARCHAR) AS DATE) = '2023-06-30'"
    for zone in ("UTC", "America/New_York", "Asia/Kolkata"):
        settings.set("spark.sql.session.timeZone", zone)
        table = open_table(spark.createDataFrame([(text,) for text in texts], "t string"))
        assert count_records(table, condition=read_condition(asked, table.columns)).yes.tolist() == [len(texts)]
        odd = ["T12:00", "23:30", "now", "", "2024-03-10 02:30:00", "2024-03-10", "2024-13-01 00:00:00Z"]
        table = open_table(spark.createDataFrame([(text,) for text in odd], "t string"))
        gap = read_condition("CAST(t AS TIMESTAMP) IN ('2024-03-10 02:30:00', '2024-03-10')", table.columns)
        none = read_condition("CAST(t AS TIMESTAMP) IS NULL", table.columns)
        assert count_records(table, condition=gap).yes.tolist() == [2]
        assert count_records(table, condition=none).yes.tolist() == [len(odd) - 2]
