"""Spark, whatever its settings and the records, counts what is counted on this machine, in the same files."""

import os
import shutil
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import BadInput
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.spark import MASTER, session_of
from support.sweeps import tried

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
]


@pytest.fixture(scope="module")
def spark():
    with session_of() as session:
        yield session


def stored(kind, width, *values):
    """An array of a type that holds what the type does not."""
    content = b"".join(value.to_bytes(width, "little", signed=value < 0) for value in values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(content)])


MILLIS = [2**62, -(2**63), 2**63 - 1, 253402300799999, 253402300800000, -62135596800000, -62135596800001, 1]
MICROS = [2**62, -(2**63), 2**63 - 1, 253402300799999999, 253402300800000000, -62135596800000000, -1, 1]
WIDE = [10**38 - 1, 1 - 10**38, 10**38, -(10**38), 2**127 - 1, -(2**127), -1, 2**64]
TEXTS = [
    b"a\\b",
    b"a\\\\b",
    b"${env:HOME}",
    os.environ.get("HOME", "").encode(),
    b"\xff",
    b"'",
    b"\\",
    b"x" * 1_000_001,
]
NASTY = pa.table(
    {
        "n": list(range(8)),
        "milli": stored(pa.timestamp("ms"), 8, *MILLIS),
        "zoned": stored(pa.timestamp("ms", "Asia/Tokyo"), 8, *MILLIS),
        "micro": stored(pa.timestamp("us"), 8, *MICROS),
        "day": stored(pa.date32(), 4, 2**31 - 1, -(2**31), -719162, -719163, 2932896, 2932897, 0, -1),
        "d5": stored(pa.decimal128(5, 2), 16, 99999, 100000, -99999, -100000, 2**23 - 1, -(2**23), 0, 1),
        "d18": stored(pa.decimal128(18, 3), 16, 10**18 - 1, 10**18, -(10**18), 1 - 10**18, 2**63 - 1, -(2**63), 0, 1),
        "d19": stored(pa.decimal128(19, 0), 16, 10**19 - 1, 10**19, 10**20, -(10**19), 1 - 10**19, 2**71 - 1, 0, -1),
        "d36": stored(pa.decimal128(36, 1), 16, *WIDE),
        "d38": stored(pa.decimal128(38, 0), 16, *WIDE),
        "d38s": stored(pa.decimal128(38, 38), 16, *WIDE),
        "u8": pa.array([0, 1, 127, 128, 255, None, 2, 3], pa.uint8()),
        "u16": pa.array([0, 1, 32767, 32768, 65535, None, 2, 3], pa.uint16()),
        "u32": pa.array([0, 1, 2**31 - 1, 2**31, 2**32 - 1, None, 2, 3], pa.uint32()),
        "u64": pa.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1, None, 2, 3], pa.uint64()),
        "text": pa.array(TEXTS, pa.binary()).view(pa.string()),
        "a`b ${env:HOME}.*": pa.array(["x", None] * 4),
    }
)


def both(path):
    return open_table(path), open_table(path, engine="spark", master=MASTER)


def rows(table, names):
    listed = ", ".join(f'data."{name}" AS value_{place}' for place, name in enumerate(names))
    columns = [column for column in table.columns if column.name in names]
    found = table.run(f"SELECT {listed} FROM data", columns).to_pylist()
    return sorted(([str(value) for value in row.values()] for row in found), key=lambda row: (len(row[0]), row))


def answers(table, texts):
    """What each condition counts: one statement for all of them."""
    read = [read_condition(text, table.columns) for text in texts]
    columns = [column for condition in read for column in condition.columns]
    counted = [f"COUNT(CASE WHEN {way} ({one.sql()}) THEN 1 END)" for one in read for way in ("", "NOT")]
    (row,) = table.run(f"SELECT {', '.join(counted)} FROM data", columns).to_pylist()
    return list(row.values())


def test_a_value_beyond_its_type_is_read_as_on_this_machine(spark, tmp_path):
    path, whole = tmp_path / "t.parquet", tmp_path / "w.parquet"
    pq.write_table(NASTY, path)
    assert rows(both(path)[1], NASTY.column_names) == rows(both(path)[0], NASTY.column_names)
    pq.write_table(NASTY.select(["n", "d18"]), whole, store_decimal_as_integer=True)
    assert rows(both(whole)[1], ["n", "d18"]) == rows(both(whole)[0], ["n", "d18"])


def test_no_instant_of_ninety_six_bits_ends_a_question(spark, tmp_path):
    path = tmp_path / "t.parquet"
    instants = pa.array([0, 1, 86_400_000_000], pa.timestamp("us"))
    pq.write_table(pa.table({"at": instants}), path, use_deprecated_int96_timestamps=True, use_dictionary=False,
                   compression="none")  # fmt: skip
    content = path.read_bytes()
    first = content.index((2440588).to_bytes(4, "little")) - 8
    for nanoseconds, day in ((2**64 - 1, 2**32 - 1), (2**63, 0), (2**63 - 1, 2**31), (0, 2**31 - 1)):
        odd = nanoseconds.to_bytes(8, "little") + day.to_bytes(4, "little")
        path.write_bytes(content[:first] + odd + content[first + 12 :])
        table = open_table(path, engine="spark", master=MASTER)
        assert answers(table, ["at = '1970-01-02'", "at = '1970-01-01 00:00:00.000001'"])[::2] == [1, 1]


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.time64("us"), pa.time32("ms"), pa.list_(pa.int64())])
def test_a_type_that_spark_reads_otherwise_is_refused_by_the_schema(spark, tmp_path, kind):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"n": [1], "x": pa.nulls(1, kind)}), path)
    table = both(path)[1]
    assert answers(table, ["n = 1"]) == [1, 0]
    with pytest.raises(BadInput, match="engine: names 'x', whose type"):
        answers(table, ["x IS NULL"])


def test_spark_reads_the_files_of_the_digest_and_no_others(spark, tmp_path):
    folder = tmp_path / "f"
    for name in ("a.parquet", "sub/b.parquet", "sub/sub/c.parquet", ".hidden/d.parquet", "_e.parquet"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"x": [1, 2, 3]}), folder / name)
    here, there = both(folder)
    assert (answers(there, ["x > 0"]), here.digest()) == (answers(here, ["x > 0"]), there.digest())
    assert answers(there, ["x > 0"]) == [9, 0]
    parted = tmp_path / "p"
    for name in ("k=1/a.parquet", "k=2/sub/b.parquet"):
        (parted / name).parent.mkdir(parents=True)
        pq.write_table(pa.table({"x": [1, 2, 3]}), parted / name)
    assert [answers(table, ["k = '2' AND x > 1"]) for table in both(parted)] == [[2, 4]] * 2
    hidden = spark.sparkContext._jsc.hadoopConfiguration()
    hidden.set("mapreduce.input.pathFilter.class", "org.apache.hadoop.mapred.OutputLogFilter")
    try:
        assert answers(both(folder)[1], ["x > 0"]) == [9, 0]
    finally:
        hidden.unset("mapreduce.input.pathFilter.class")


@pytest.mark.parametrize("name", ["above/k=1/a.parquet", "k=/a.parquet", "k=1/between/l=2/a.parquet", "é=1/a.parquet"])
def test_partitions_that_spark_reads_otherwise_are_refused(tmp_path, name):
    (tmp_path / "f" / name).parent.mkdir(parents=True)
    pq.write_table(pa.table({"x": [1]}), tmp_path / "f" / name)
    open_table(tmp_path / "f")
    with pytest.raises(BadInput, match="data: has partitions"):
        open_table(tmp_path / "f", engine="spark", master=MASTER)


ASKED = [
    r"text = 'a\b'",
    r"text = 'a\\b'",
    "text = '${env:HOME}'",
    "text = '${spark.app.name}'",
    "text = ''''",
    "text LIKE '${env%'",
    "text IN ('é', '${env:HOME}', 'x')",
    "whole * 0.1 > 0.25 AND whole < 1e3",
    "real > 1e300 OR real * real > 2.25",
    "whole / 0 = 1 OR whole % 2 = 1",
    "CAST(at AS DATE) = '2024-02-29' AND year(at) = 2024",
    "CAST(number AS DOUBLE) > 0.5",
    "LENGTH(number) > 2 AND NOT truth",
    "\"a.* ${env:HOME}\" = 'x'",
    "exact > 0.02",
]
PLAIN = pa.table(
    {
        "text": ["a\\b", "a\\\\b", "${env:HOME}", os.environ.get("HOME", ""), "'", "\\", "irisdp tests", None],
        "whole": pa.array([1, 2, 3, -4, 2**53 + 1, None, 0, 2**63 - 1]),
        "real": [1.5, 1.6, 1e301, float("nan"), float("inf"), None, -0.0, 0.1],
        "at": pa.array([0, 1709164800000000, 1709251199999999, 1709251200000000, -1, None, 1, 2], pa.timestamp("us")),
        "number": ["1", "0.35", "-1e3", "many", "", None, "NaN", " 2 "],
        "truth": [True, False, None, True, False, None, True, False],
        "exact": pa.array([None if k == 3 else k for k in range(8)]).cast(pa.decimal128(21, 2)),
        "a.* ${env:HOME}": ["x", None] * 4,
        "a": ["y"] * 8,
        "born": [date(1582, 10, 10)] * 8,
    }
)


def switches(spark):
    """Every setting of Spark's SQL that is true or false, internal ones too, with its other value."""
    entries = getattr(getattr(spark._jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$").getConfigEntries()
    found = {entry.key(): entry.defaultValueString() for entry in entries.toArray()}
    return {
        name: {"true": "false", "false": "true"}[value] for name, value in found.items() if value in ("true", "false")
    }


def test_no_setting_of_a_cluster_changes_what_a_file_says(spark, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(PLAIN, path)
    expected = answers(open_table(path), ASKED)
    flipped = {name: value for name, value in switches(spark).items() if name.startswith("spark.sql.")}
    assert len(flipped) > 200
    flipped |= {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.timestampType": "TIMESTAMP_NTZ"}
    flipped |= {"spark.sql.legacy.timeParserPolicy": "LEGACY", "spark.sql.files.ignoredPathSegmentRegex": "parquet"}
    cluster = spark.sparkContext._jsc.sc().conf()
    try:
        for name, value in flipped.items():
            cluster.set(name, value)
        assert spark.newSession().conf.get("spark.sql.parser.escapedStringLiterals") == "true"
        assert answers(open_table(path, engine="spark", master=MASTER), ASKED) == expected
    finally:
        for name in flipped:
            cluster.remove(name)


CHOSEN = [
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.parser.quotedRegexColumnNames",
    "spark.sql.ansi.enabled",
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.variable.substitute",
    "spark.sql.caseSensitive",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled",
    "spark.sql.decimalOperations.allowPrecisionLoss",
]


WITHOUT_NAME = ("spark.sql.variable.", "spark.sql.adaptive.", "spark.sql.streaming.", "spark.sql.artifact.",
                "spark.sql.shuffle.", "spark.sql.ui.", "spark.sql.repl.", "spark.sql.hive.metastore",
                "spark.sql.execution.arrow.pyspark.enabled")  # fmt: skip


def test_a_setting_of_a_session_changes_no_answer_about_a_frame_and_is_another_question(spark):
    expected = answers(open_table(PLAIN), ASKED)
    usual, found = open_table(spark.createDataFrame(PLAIN)).reader, switches(spark)
    every = [*CHOSEN, *sorted(name for name in found if name.startswith("spark.sql.") and name not in CHOSEN)]
    for name in every[: tried(len(CHOSEN), len(every))]:
        session = spark.newSession()
        if not session.conf.isModifiable(name):
            continue
        session.conf.set(name, found[name])
        table = open_table(session.createDataFrame(PLAIN))
        assert (table.reader == usual) == name.startswith(WITHOUT_NAME), name
        try:
            said = answers(table, ASKED)
        except BadInput:  # Spark refuses the statement, whatever the records
            assert name not in CHOSEN, name
        else:
            assert said == expected, name
