"""Opening tables: every form counts the same, malformed files do no harm, the engine is locked."""

import csv
import os
import subprocess
import sys
from datetime import datetime
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp._queries import PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.privacy_units import records_statement
from irisdp._queries.statistics import count_records
from irisdp._tables.arrow_values import array_of_kind, integers_of, whole_numbers
from irisdp._tables.columns import ColumnType
from irisdp._tables.engine import guarded, locked_connection
from irisdp._tables.expressions import read_condition
from irisdp._tables.spark_frames import spark_statement
from irisdp._tables.table import open_table

ROWS = [("n", 1, "p"), ("s", 5, "p"), ("n", 7, "q"), (None, 3, "r"), ("s", None, "r"), ("e", 9, None)]
ARROW = pa.table(dict(zip("gxu", map(list, zip(*ROWS, strict=True)), strict=True)))

CONNECTION = duckdb.connect()
"""Kept open: in older versions a relation does not keep its connection."""


def written(path, rows, separator=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    return path


def forms(folder):
    """Return one table in every form that it can be given in."""
    pq.write_table(ARROW, folder / "t.parquet")
    return {
        "csv": written(folder / "t.csv", [("g", "x", "u"), *ROWS]),
        "tsv": str(written(folder / "t.tsv", [("g", "x", "u"), *ROWS], "\t")),
        "parquet": folder / "t.parquet",
        "pandas": ARROW.to_pandas(),
        "pandas, objects": pd.DataFrame(ROWS, columns=["g", "x", "u"], dtype=object),
        "pandas, categories": ARROW.to_pandas().astype({"g": "category"}),
        "polars": pl.from_arrow(ARROW),
        "polars, lazy": pl.from_arrow(ARROW).lazy(),
        "arrow": ARROW,
        "arrow, dictionary": ARROW.set_column(0, "g", ARROW["g"].dictionary_encode()),
        "duckdb": CONNECTION.from_arrow(ARROW),
    }


def lines(path, body, header=b"a,b\n"):
    path.write_bytes(header + body)
    table = open_table(path)
    found = table.run("SELECT a, b FROM data", table.columns)
    return list(zip(found.column("a").to_pylist(), found.column("b").to_pylist(), strict=True))


def test_every_form_of_a_table_counts_the_same(tmp_path):
    for name, data in forms(tmp_path).items():
        table = open_table(data)
        condition = read_condition("x > 4", table.columns)
        groups = read_groups(table, "G", "s,n,zz")
        found = count_records(table, condition=condition, groups=groups)
        assert (found.total.tolist(), found.yes.tolist(), found.no.tolist()) == ([2, 2, 0], [1, 1, 0], [0, 1, 0]), name
        assert count_records(table).total.tolist() == [6], name
        assert count_records(table, condition=condition, unit=PrivacyUnit("u", b"k" * 32)).total.tolist() == [3], name
        keys = enumerate_keys(table, "g")
        assert keys.counts.tolist() == [1, 2, 2], name
        assert keys.select(np.array([True, False, True])).labels == (("e",), ("s",)), name


def test_kinds_come_from_the_schema_alone(tmp_path):
    frame = pd.DataFrame({"o": pd.Series([1, "x"], dtype=object), "c": pd.Categorical(["x", "y"]), "i": [1, 2]})
    assert [column.kind for column in open_table(frame).columns] == [
        ColumnType.UNTYPED,
        ColumnType.UNTYPED,
        ColumnType.INTEGER,
    ]
    assert [column.kind for column in open_table(frame.iloc[:0]).columns] == [
        ColumnType.UNTYPED,
        ColumnType.UNTYPED,
        ColumnType.INTEGER,
    ]
    assert {column.kind for column in open_table(written(tmp_path / "t.csv", [("a", "b"), (1, 2)])).columns} == {
        ColumnType.UNTYPED
    }
    typed = CONNECTION.sql(
        "SELECT 1::HUGEINT AS a, 'x'::ENUM('x') AS b, 1.5::DECIMAL(4, 1) AS c, "
        "DATE '2024-01-01' AS d, [1] AS e, true AS f"
    )
    expected = [
        ColumnType.INTEGER, ColumnType.TEXT, ColumnType.NUMBER, ColumnType.DATE, ColumnType.NESTED, ColumnType.BOOLEAN,
    ]  # fmt: skip
    assert [column.kind for column in open_table(typed).columns] == expected


def test_one_record_of_a_pandas_object_column_changes_no_other():
    values = ["1", 2, 3.0, None, float("nan"), "x", b"x", "\ud800", pd.NA, pd.NaT]
    alone = []
    for value in values:
        table = open_table(pd.DataFrame({"o": pd.Series([value], dtype=object)}))
        alone.append(count_records(table, condition=read_condition("o >= 2", table.columns)).yes[0])
    table = open_table(pd.DataFrame({"o": pd.Series(values, dtype=object)}))
    together = count_records(table, condition=read_condition("o >= 2", table.columns))
    assert together.yes[0] == sum(alone) == 2


def test_python_objects_in_polars_are_untyped_text():
    table = open_table(pl.DataFrame({"a": pl.Series([3, "4", None, Fraction(5, 2)], dtype=pl.Object)}))
    found = count_records(table, condition=read_condition("a > 3", table.columns))
    assert (found.total[0], found.yes[0], found.no[0]) == (4, 1, 1)


def test_an_index_is_no_column():
    frame = ARROW.to_pandas().set_index("u")
    assert [column.name for column in open_table(frame).columns] == ["g", "x"]


@pytest.mark.parametrize("body", [b"", b"\n"], ids=["header only", "header and line end"])
def test_a_table_of_no_records_works_like_any_other(tmp_path, body):
    (tmp_path / "t.csv").write_bytes(b"g,x" + body)
    frames = [ARROW.slice(0, 0), ARROW.slice(0, 0).to_pandas(), pl.from_arrow(ARROW).clear()]
    for data in [tmp_path / "t.csv", *frames]:
        table = open_table(data)
        found = count_records(
            table, condition=read_condition("x > 4", table.columns), groups=read_groups(table, "g", "s,n")
        )
        assert found.total.tolist() == found.yes.tolist() == found.no.tolist() == [0, 0]
        assert count_records(table).total.tolist() == [0]
        assert len(enumerate_keys(table, "g").counts) == 0
        assert len(table.digest()) == 32
        nothing = enumerate_keys(table, "g").select(np.zeros(0, bool))
        assert len(count_records(table, groups=nothing)) == 0


@pytest.mark.parametrize(("body", "expected"), [
    (b"1,2\n3,4", [("1", "2"), ("3", "4")]),
    (b"1,2\r\n3,4\r\n", [("1", "2"), ("3", "4")]),
    (b"1,2\r\n3,4\n5,6\r7,8\n", [("1", "2"), ("3", "4"), ("5", "6\r7")]),
    (b"1\n3,4\n", [("1", None), ("3", "4")]),
    (b"1,2,9\n3,4\n", [("1", "2"), ("3", "4")]),
    (b"\n\n3,4\n\n", [("3", "4")]),
    (b'"",2\n,4\n', [(None, "2"), (None, "4")]),
    (b'"x\ny",2\n3,4\n', [("x\ny", "2"), ("3", "4")]),
    (b'"x""y",2\n3,4\n', [('x"y', "2"), ("3", "4")]),
    (b'"x"y,2\n3,4\n', [('"x"y', "2"), ("3", "4")]),
    (b'x"y,2\n3,4\n', [('x"y', "2"), ("3", "4")]),
    (b'1,2\n"x,2\n3,4\n', [("1", "2"), ('"x', "2"), ("3", "4")]),
    (b"\xff\xfe,2\n3,4\n", [(None, "2"), ("3", "4")]),
    (b"1,2\n" + b"x" * 3_000_000 + b",2\n3,4\n", [("1", "2"), ("3", "4")]),
    (b"#1,2\n3,4\n", [("#1", "2"), ("3", "4")]),
    (b"nan,NULL\n3,4\n", [("nan", "NULL"), ("3", "4")]),
    (b"a,b\n3,4\n", [("a", "b"), ("3", "4")]),
])  # fmt: skip
def test_malformed_lines_harm_no_others(tmp_path, body, expected):
    assert lines(tmp_path / "t.csv", body) == expected


def test_a_byte_order_mark_and_a_nameless_index_column_are_understood(tmp_path):
    (tmp_path / "t.csv").write_bytes("\ufeff,a\n0,5\n".encode())
    table = open_table(tmp_path / "t.csv")
    assert [column.name for column in table.columns] == ["column1", "a"]
    assert count_records(table, condition=read_condition("column1 = 0 and a = 5", table.columns)).yes.tolist() == [1]


def test_quoted_line_ends_are_read_right_in_a_large_file(tmp_path):
    """A parallel reader, started inside a quoted field, would take what it holds for records."""
    records = [(number, "7,8\n" * 20 if number % 3 else "y") for number in range(150_000)]
    table = open_table(written(tmp_path / "t.csv", [("a", "b"), *records]))
    found = table.run("SELECT COUNT(*) AS n, SUM(CAST(a AS BIGINT)) AS s FROM data", table.columns)
    assert found.to_pylist() == [{"n": len(records), "s": sum(range(len(records)))}]


def test_unreadable_values_are_kept_as_null(tmp_path):
    """Negative control for the engine's settings: a cast pushed into the CSV reader would drop two of the records."""
    path = written(tmp_path / "t.csv", [("a", "b"), ("10", 1), ("x", 1), ("", 1), ("9", 1)])
    table = open_table(path)
    found = count_records(table, condition=read_condition("a > 9", table.columns))
    assert (found.total[0], found.yes[0], found.no[0]) == (4, 1, 1)
    typed = open_table(path, types={"a": "number"})
    grouped = count_records(typed, groups=read_groups(typed, "a", ["9", "10.0"]))
    assert grouped.total.tolist() == [1, 1]


def test_names_that_look_like_sql(tmp_path):
    name = "x\"'); DROP TABLE data; --"
    path = written(tmp_path / "it's.csv", [(name, "g;h"), (3, "a"), (5, "b'")])
    table = open_table(path)
    quoted = '"' + name.replace('"', '""') + '"'
    condition = read_condition(f"{quoted} > 4", table.columns)
    found = count_records(
        table, condition=condition, groups=read_groups(table, ["g;h"], ["a", "b'"]), unit=PrivacyUnit(name, b"k" * 32)
    )
    assert found.yes.tolist() == [0, 1]
    aliases = pa.table({"k0": ["n"], "answer": [1], "position": [2], "person": ["p"], "record": [3], "groups": [4]})
    table = open_table(aliases)
    condition = read_condition("answer = 1 and position = 2 and record = 3 and groups = 4 and k0 = 'n'", table.columns)
    found = count_records(
        table, condition=condition, groups=read_groups(table, "k0", ["n"]), unit=PrivacyUnit("person", b"k" * 32)
    )
    assert found.yes.tolist() == [1]


def test_digests_tell_contents_apart_and_forget_the_rest(tmp_path):
    digests = {name: open_table(data).digest() for name, data in forms(tmp_path).items()}
    assert all(len(digest) == 32 for digest in digests.values())
    again = {name: open_table(data).digest() for name, data in forms(tmp_path).items()}
    assert digests == again
    assert digests["polars"] == digests["polars, lazy"]
    text = (tmp_path / "t.csv").read_bytes()
    (tmp_path / "other.csv").write_bytes(text)
    assert open_table(tmp_path / "other.csv").digest() == digests["csv"]
    for name in ("one.csv", "one.tsv"):  # the same bytes, with other marks between values
        (tmp_path / name).write_bytes(b"g\n1\n")
    assert open_table(tmp_path / "one.csv").digest() != open_table(tmp_path / "one.tsv").digest()
    for changed in (
        ARROW.slice(1),
        ARROW.rename_columns(["g", "y", "u"]),
        pa.concat_tables([ARROW, ARROW.slice(0, 1)]),
    ):
        assert open_table(changed).digest() != digests["arrow"]
        assert open_table(CONNECTION.from_arrow(changed)).digest() != digests["duckdb"]
    chunked = pa.concat_tables([ARROW.slice(0, 2), ARROW.slice(2)])
    assert open_table(chunked).digest() == digests["arrow"]
    backwards = ARROW.take(list(range(len(ROWS)))[::-1])
    assert open_table(CONNECTION.from_arrow(backwards)).digest() == digests["duckdb"]


def test_the_engine_is_locked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET", "x")
    data, other = tmp_path / "data.csv", written(tmp_path / "other.csv", [("a",), (1,)])
    written(data, [("a",), (1,)])
    before = sorted(os.listdir(tmp_path))
    connection = locked_connection(str(data))
    variable = ARROW  # noqa: F841 (DuckDB would find it by name)
    for statement in (
        f"SELECT * FROM read_csv('{other}')",
        f"SELECT * FROM read_text('{other}')",
        f"SELECT * FROM glob('{tmp_path}/*')",
        "SELECT * FROM read_csv('https://example.org/x.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/new.csv'",
        f"COPY (SELECT 1) TO '{data}'",
        f"ATTACH '{tmp_path}/new.db'",
        f"EXPORT DATABASE '{tmp_path}/new'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT getenv('SECRET')",
        "SELECT * FROM variable",
        "SET enable_external_access = true",
        "SET temp_directory = '/tmp'",
        "SET memory_limit = '1TB'",
        "SET allowed_paths = ['/']",
        "SET lock_configuration = false",
        "RESET temp_directory",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(statement)
    assert connection.execute(f"SELECT a FROM read_csv('{data}')").fetchall() == [(1,)]
    settings = {name: connection.execute(f"SELECT current_setting('{name}')").fetchone()[0] for name in SETTINGS}
    assert settings == SETTINGS
    assert sorted(os.listdir(tmp_path)) == before


SETTINGS = {
    "temp_directory": "", "enable_external_access": False, "autoinstall_known_extensions": False,
    "autoload_known_extensions": False, "lock_configuration": True, "memory_limit": "1.3 GiB",
}  # fmt: skip


def test_spark_gets_the_statement_in_its_dialect():
    table = open_table(ARROW)
    condition = read_condition("x > 4 and g like 's%'", table.columns)
    groups = read_groups(table, "g", ["s"])
    statement = records_statement(table, condition, groups.columns, PrivacyUnit("u", b"k" * 32))
    spark = spark_statement(
        f"{statement} SELECT position FROM records JOIN groups ON records.k0 = groups.k0",
        {"data": "v1", "groups": "v2"},
        {"x": "column_0", "g": "column_1"},
    )
    for part in (
        "FROM v1 AS data",
        "JOIN v2 AS groups",
        "FROM records",
        "data.column_0",
        "TRY_CAST",
        "STRUCT(",
        " AS `k0`",
    ):
        assert part.replace("`k0`", "k0") in spark.replace("`k0`", "k0"), part
    assert '"' not in spark and "{" not in spark


def test_a_lazy_frame_is_computed_once_and_for_no_plan(tmp_path):
    times = []
    lazy = pl.from_arrow(ARROW).lazy().map_batches(lambda frame: (times.append(len(frame)), frame)[1])
    planned = irisdp.plan(lazy, "count", epsilon=1)
    assert (times, planned.table.columns) == ([], open_table(pl.from_arrow(ARROW)).columns)
    first = irisdp.publish(lazy, "count", epsilon=1, ledger=tmp_path / "t.ledger")
    assert times == [len(ARROW)]
    assert irisdp.publish(pl.from_arrow(ARROW), "count", epsilon=1, ledger=tmp_path / "t.ledger").repeated
    assert first.plan.question() == planned.question()


def test_a_lazy_frame_of_objects_is_computed_to_know_what_they_are():
    frame = pl.DataFrame({"v": pl.Series([object(), None], dtype=pl.Object)})
    assert open_table(frame.lazy()).columns == open_table(frame).columns


def test_a_package_is_named_only_where_tables_need_it():
    """A frame's own function runs when the frame is read, and may raise what it likes, a record's text too."""

    def lacking(name):
        def action():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        return action

    with pytest.raises(irisdp.BadInput, match="needs the package pyspark, which"):
        guarded(lacking("pyspark.sql"), "cannot be read", "hand over another")
    with pytest.raises(irisdp.BadInput) as caught:
        guarded(lacking("Ada Lovelace.ill"), "cannot be read", "hand over another")
    assert str(caught.value) == "data: cannot be read; hand over another"
    assert caught.value.__context__ is None and caught.value.__cause__ is None


# Arrow arrays built without pandas are those that pyarrow itself would make.

VALUES = {
    ColumnType.TEXT: (pa.string(), ["", "a", "é, \n", "\U0001f600" * 3, "a\x00b"]),
    ColumnType.INTEGER: (pa.int64(), [0, -1, 2**63 - 1, -(2**63)]),
    ColumnType.NUMBER: (pa.float64(), [0.0, -1.5, 1e308, 5e-324]),
    ColumnType.BOOLEAN: (pa.bool_(), [True, False, False, True, True]),
    ColumnType.DATE: (
        pa.timestamp("us"),
        [datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime.max],
    ),
}


@pytest.mark.parametrize("kind", VALUES)
def test_arrays_are_those_of_pyarrow(kind):
    arrow, values = VALUES[kind]
    for chosen in (values, values[:1], []):
        made = array_of_kind(chosen, kind)
        made.validate(full=True)
        assert made.equals(pa.array(chosen, arrow))


def test_whole_numbers_go_there_and_back():
    numbers = np.array([3, -(2**63), 2**63 - 1])
    column = pa.chunked_array([whole_numbers(numbers), whole_numbers(numbers[:0]), whole_numbers(numbers[::-1])])
    assert integers_of(column).tolist() == [*numbers.tolist(), *numbers[::-1].tolist()]
    assert integers_of(pa.chunked_array([], pa.int64())).tolist() == []
    missing = np.array([True, False, False])
    assert whole_numbers(numbers, missing).equals(pa.array(numbers, mask=missing))


def test_publishing_a_file_imports_no_pandas(tmp_path):
    """Importing it takes longer than counting ten million records; pyarrow does so to look at what it is given."""
    (tmp_path / "t.csv").write_text("g,v\na,1\nb,2\n")
    (tmp_path / "g.csv").write_text("g\na\nb\n")
    script = (
        "import sys, irisdp; irisdp.publish('t.csv', 'count', by='g', groups='g.csv', epsilon=1, out='o.parquet');"
        "assert 'pandas' not in sys.modules"
    )
    parquet = pa.table({"g": ["a", "b"], "v": [1, 2]})
    pa.parquet.write_table(parquet, tmp_path / "u.parquet")
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    script = script.replace("'t.csv'", "'u.parquet'").replace("by='g', groups='g.csv'", "by='v', groups='1,2'")
    subprocess.run([sys.executable, "-c", script.replace("o.parquet", "p.parquet")], cwd=tmp_path, check=True)
