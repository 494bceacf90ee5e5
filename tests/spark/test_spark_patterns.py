"""LIKE in Spark finds what it finds in DuckDB, in time that grows with a text's length; and letters are letters."""

import os
import re
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from irisdp import BadInput
from irisdp._queries import PrivacyUnit, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.spark_frames import expression_of
from irisdp._tables.table import open_table
from support.seeds import fresh_generator
from support.spark import session_of

LETTERS = [
    "a", "a", "b", "A", "%", "_", "ä", "Ä", "😀", "\n", "\r", ".", "*", "(", "[", "$", "^", "'", "{", "é", "\u2028",
]  # fmt: skip
SECONDS = 60
"""Of the processor, for texts of 10^6 letters that take one or two."""


@pytest.fixture(scope="module")
def spark():
    if shutil.which("java") is None:
        pytest.skip("Java is missing: install openjdk-17-jre-headless")
    with session_of() as session:
        yield session


def drawn(random, letters, most):
    return "".join(random.choice(letters, int(random.integers(0, most))))


def drawn_pattern(random):
    wild = ["%", "%", "_", *LETTERS[:4], "a", str(random.choice(LETTERS))]
    return drawn(random, wild, 12)


def processor_seconds(spark):
    """Return what the Java that is Spark has used of the processor."""
    said = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")


def in_python(pattern, text):
    return re.search(expression_of(pattern).replace("\\z", "\\Z"), text) is not None


def test_expressions_find_what_duckdb_finds():
    random = fresh_generator(8)
    patterns = [drawn_pattern(random) for _ in range(200)] + ["%", "%%", "_", "", "%_%_%", "a%a", "%a%a"]
    texts = [drawn(random, LETTERS, 12) for _ in range(200)] + ["", "a", "aa", "a\n", "\n"]
    rows = duckdb.connect().execute(
        "SELECT p, t, t LIKE p FROM (SELECT unnest(?) AS p) CROSS JOIN (SELECT unnest(?) AS t)", [patterns, texts]
    )
    found = rows.fetchall()
    assert sum(like for *_, like in found) > 1000
    for pattern, text, like in found:
        if "%" in pattern:
            assert in_python(pattern, text) == like, (pattern, text)


@pytest.mark.filterwarnings("default")  # Spark's own warnings are not this project's
def test_spark_finds_what_duckdb_finds(spark):
    random = fresh_generator(9)
    texts = [drawn(random, LETTERS, 14) for _ in range(300)] + ["", "aa", "a\n", None]
    local = pa.table({"x": texts})
    tables = open_table(local), open_table(spark.createDataFrame([(text,) for text in texts], "x string"))
    patterns = [drawn_pattern(random) for _ in range(60)]
    quoted = [pattern.replace("'", "''") for pattern in patterns]
    asked = [f"x {sign} '{pattern}'" for pattern in quoted for sign in ("LIKE", "NOT LIKE", "ILIKE")]
    conditions = [read_condition(text, tables[0].columns).sql() for text in asked]
    listed = ", ".join(f"count(*) FILTER (WHERE {one}) AS n{place}" for place, one in enumerate(conditions))
    counts = [table.run(f"SELECT {listed} FROM data", list(table.columns)).to_pylist()[0] for table in tables]
    wrong = [asked[place] for place in range(len(asked)) if counts[0][f"n{place}"] != counts[1][f"n{place}"]]
    assert not wrong
    assert len(set(counts[0].values())) > 10


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processor time of another process is not told here")
@pytest.mark.filterwarnings("default")
def test_no_text_keeps_spark_busy(spark):
    texts = ["heart" * 80_000 + "failure" * 80_000 + "acut", "a" * 10**6, "ab" * 500_000, "b"]
    table = open_table(spark.createDataFrame([(text,) for text in texts], "x string"))
    begun = processor_seconds(spark)
    for text, many in (
        ("x LIKE '%heart%failure%acute%'", 0),
        ("x ILIKE '%a%a%a%b'", 1),
        ("x LIKE '%a_%a_%a_%c'", 0),
        ("x LIKE 'a%a%a%a'", 1),
        ("x LIKE '%" + "%".join("a" * 90) + "%c%'", 1),
    ):
        assert count_records(table, condition=read_condition(text, table.columns)).yes.tolist() == [many]
    assert processor_seconds(spark) - begun < SECONDS


@pytest.mark.filterwarnings("default")
def test_very_many_wildcards_are_refused(spark):
    for values in (["a"], ["b" * 10**5]):
        table = open_table(spark.createDataFrame([(value,) for value in values], "x string"))
        condition = read_condition("x LIKE '" + "%a" * 1000 + "'", table.columns)
        with pytest.raises(BadInput, match="more than 200 signs % and _ after LIKE") as caught:
            count_records(table, condition=condition)
        assert caught.value.field == "expression"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("collation", ["UTF8_LCASE", "UNICODE_CI_AI", "UTF8_BINARY_RTRIM"])
def test_a_collation_makes_no_two_texts_one_person(spark, collation):
    values = ["a", "A", "á", "a ", "b"]
    frame = spark.createDataFrame(list(enumerate(values)), "id int, x0 string")
    table = open_table(frame.selectExpr("id", f"x0 COLLATE {collation} AS x"))
    assert table.columns[1] == Column("x", ColumnType.TEXT)
    assert count_records(table, unit=PrivacyUnit("x", b"k" * 32)).total.tolist() == [5]
    assert count_records(table, groups=read_groups(table, ["x"], ["a", "A", "c"])).total.tolist() == [1, 1, 0]
    assert count_records(table, condition=read_condition("x = 'a'", table.columns)).yes.tolist() == [1]
    other = open_table(spark.createDataFrame(list(enumerate(["A", *values[1:]])), "id int, x0 string"))
    assert other.digest() != table.digest()
