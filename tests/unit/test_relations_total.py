"""No value that a DuckDB can hold ends a question about a relation, or takes the caller's database down with it."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp._queries import PrivacyUnit
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

END = 2**63 - 1
INSTANTS = {
    pa.timestamp("us"): (-END - 1, -END, 1 - END, END, END - 1, -9_223_372_022_400_000_001, 253_402_300_800_000_000),
    pa.timestamp("us", "UTC"): (-END - 1, -END, 1 - END, END, END - 1, -62_135_596_800_000_001),
    pa.timestamp("ms"): (-END - 1, -END, END, END - 1, END // 1000 + 5, 253_402_300_800_000),
    pa.timestamp("s"): (2**53, -(2**53), -END - 1, -END, END, END - 1, 9_223_372_036_855, -9_223_372_022_401),
    pa.timestamp("ns"): (-END - 1, -END, END),
    pa.time64("us"): (86_400_000_001, -1, END, -END - 1, 360_000_000_000),
    pa.date32(): (2**31 - 1, 1 - 2**31, -(2**31), 2**31 - 2),
    pa.duration("us"): (END, -END - 1),
}
ORDINARY = {pa.time64("us"): (0, 1, 86_399_999_999), pa.date32(): (0, 1, -719_162, 19_000)}
CASES = [(kind, odd) for kind, values in INSTANTS.items() for odd in values]
DECIMALS = [(38, 2), (38, 38), (38, 0), (18, 2), (9, 2), (4, 2)]


def by_bits(kind, values):
    return pa.array(values, pa.int32() if kind == pa.date32() else pa.int64()).view(kind)


def decimals(precision, scale, values):
    words = np.array([part for v in values for part in (v % 2**64, (v >> 64) % 2**64)], dtype=np.uint64)
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(values), [None, pa.py_buffer(words)])


def stored(values, way, folder):
    """Return a relation over values that a database holds: its own, an Arrow table's, or a Parquet file's."""
    connection = duckdb.connect()
    table = pa.table({"x": values})
    if way == "Parquet":
        pq.write_table(table, folder / "t.parquet", store_schema=False)
        return connection, connection.read_parquet(str(folder / "t.parquet"))
    connection.register("held", table)
    if way == "Arrow":
        return connection, connection.table("held")
    connection.execute("CREATE TABLE t AS SELECT * FROM held")
    return connection, connection.table("t")


def asked(relation):
    table = open_table(relation)
    condition = "x IS NULL" if table.columns[0].kind is not ColumnType.DATE else "x IS NULL OR x > DATE '1999-01-01'"
    digest = table.digest()
    found = count_records(table, condition=read_condition(condition, table.columns))
    count_records(table, unit=PrivacyUnit("x", b"k" * 32))
    return digest, int(found.yes[0]), int(found.no[0])


@pytest.mark.parametrize("way", ["its own", "Arrow"])
@pytest.mark.parametrize(("kind", "odd"), CASES, ids=str)
def test_no_instant_ends_a_question(kind, odd, way, tmp_path):
    clean = [0, 1, 2]
    connection, relation = stored(by_bits(kind, [*clean, odd]), way, tmp_path)
    _, yes, no = asked(relation)
    assert connection.execute("SELECT 1").fetchone() == (1,)  # a database that failed within answers nothing more
    _, clean_yes, clean_no = asked(stored(by_bits(kind, clean), way, tmp_path)[1])
    assert yes + no == clean_yes + clean_no + 1
    # What is read of it is what is read of it in memory.
    assert (yes, no) == asked(pa.table({"x": by_bits(kind, [*clean, odd])}))[1:]


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.date32()], ids=str
)
def test_no_instant_among_many_ends_a_question(kind, tmp_path):
    """A dictionary in a Parquet file is computed whole, whichever of it a record holds."""
    values = by_bits(kind, [0, 1, *INSTANTS[kind]] * 1000)
    connection, relation = stored(values, "Parquet", tmp_path)
    assert asked(relation)[1:] == asked(pa.table({"x": values}))[1:]
    assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(("precision", "scale"), DECIMALS)
@pytest.mark.parametrize("way", ["its own", "Arrow"])
def test_no_decimal_ends_a_question(precision, scale, way, tmp_path):
    most = 10**precision - 1
    for odd in (-(2**127), 2**127 - 1, 10**precision, -(10**precision), most, -most):
        connection, relation = stored(decimals(precision, scale, [0, 7, odd]), way, tmp_path)
        _, yes, no = asked(relation)
        assert yes + no == 3
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert yes == (abs(odd) > most) or precision < 38  # narrow ones DuckDB has cut before


OTHERS = (
    "HUGEINT '-170141183460469231731687303715884105728'",
    "UHUGEINT '340282366920938463463374607431768211455'",
    "UUID 'ffffffff-ffff-ffff-ffff-ffffffffffff'",
    "CAST('00:00:00+15:59:59' AS TIMETZ)",
    "CAST('24:00:00-15:59:59' AS TIMETZ)",
    "INTERVAL '-178956970 years'",
    "CAST('1' AS BIT)",
    "CAST('nan' AS FLOAT)",
    "CAST('-inf' AS DOUBLE)",
    "CAST('' AS BLOB)",
    "CAST('' AS VARCHAR)",
)


@pytest.mark.parametrize("value", OTHERS)
def test_no_value_of_another_type_ends_a_question(value, tmp_path):
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT {value} AS x UNION ALL SELECT NULL")
    assert sum(asked(connection.table("t"))[1:]) == 2
    assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("shape", ["[x]", "{'a': x}", "MAP {1: x}", "[[x]]"])
def test_nothing_within_a_list_or_a_structure_ends_a_question(shape):
    for kind, odd in INSTANTS.items():
        connection = duckdb.connect()
        connection.register("held", pa.table({"x": by_bits(kind, odd)}))
        connection.execute(f"CREATE TABLE t AS SELECT {shape} AS x FROM held")
        table = open_table(connection.table("t"))
        assert len(table.digest()) == 32
        assert count_records(table, condition=read_condition("x IS NULL", table.columns)).no.tolist() == [len(odd)]


@pytest.mark.parametrize("kind", INSTANTS, ids=str)
def test_the_digest_tells_apart_what_is_read_apart(kind, tmp_path):
    values = ORDINARY.get(kind, (0, 1, -1_000, 86_400_000))
    relations = [stored(by_bits(kind, [value]), "its own", tmp_path)[1] for value in values]
    digests = [open_table(relation).digest() for relation in relations]
    assert len(set(digests)) == len(values)
    if kind == pa.time64("us"):  # numbers to those who are counted as persons
        others = [stored(by_bits(kind, [odd]), "its own", tmp_path)[1] for odd in INSTANTS[kind]]
        assert len({*digests, *(open_table(relation).digest() for relation in others)}) == len(values) + len(others)


def test_ordinary_values_have_the_digest_that_they_had():
    """Written down by the code before values were made total: a table's digest is what a ledger knows it by."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT TIMESTAMP '2024-02-29 12:34:56.789' AS a, TIMESTAMP_S '2024-02-29 01:02:03' AS b, "
        "TIMESTAMP_MS '1969-12-31 23:59:59.999' AS c, TIMESTAMP_NS '2024-01-01 00:00:00.000000001' AS d, "
        "TIMESTAMPTZ '2024-07-01 00:30:00+01:00' AS e, TIME '12:00:00.5' AS f, CAST(2.50 AS DECIMAL(4, 2)) AS g, "
        "CAST(-1 AS DECIMAL(38, 0)) AS h, DATE '2024-02-29' AS i UNION ALL "
        "SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    )
    assert (
        open_table(connection.table("t")).digest().hex()
        == "de43ac2ec8ee3605f4f6d66ad0a72e24bb2ca017362eb0126236cc3c067026d8"
    )


@pytest.mark.parametrize("calendar", ["japanese", "buddhist", "hebrew"])
def test_no_calendar_of_a_session_is_in_the_digest(calendar):
    digests = set()
    for said in ("gregorian", calendar):
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT TIMESTAMPTZ '2024-07-01 00:30:00+01:00' AS x")
        connection.execute(f"SET Calendar = '{said}'")
        digests.add(open_table(connection.table("t")).digest())
    assert len(digests) == 1
