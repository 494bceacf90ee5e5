"""Tables in SQLite databases: types as declared, one record never another's, one budget, and errors of one line."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput, ScopeRefused
from irisdp._cli import run
from irisdp._queries import PrivacyUnit, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.columns import ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.sweeps import by_turns, tried

MADE = (
    "CREATE TABLE Visits (age INTEGER, cost REAL, ward VARCHAR(9), ok BOOLEAN, day DATE, at TIMESTAMP, n NUMERIC, o,"
    " b BLOB, computed INTEGER GENERATED ALWAYS AS (age + 1) VIRTUAL)"
)
NAMES = ("age", "cost", "ward", "ok", "day", "at", "n", "o", "b")
ROWS = [
    (70, 1.5, "a", 1, "2024-01-31", "2024-01-31T12:00:00+01:00", 2, "x", b"x"),
    (30, 2, "b", 0, "2024-02-30", "2024-01-31 12:00:00", 2.5, 7, None),
    ("old", "much", 7, "yes", 5, 1700000000, "n", None, "text"),
    (1.5, None, None, 2, None, None, None, 1.0, 3),
]
READ = [
    {"age": 70, "cost": 1.5, "ward": "a", "ok": True, "n": 2.0, "o": "x", "b": None},
    {"age": 30, "cost": 2.0, "ward": "b", "ok": False, "n": 2.5, "o": "7", "b": None},
    {"age": None, "cost": None, "ward": "7", "ok": True, "n": None, "o": None, "b": "text"},
    {"age": None, "cost": None, "ward": None, "ok": None, "n": None, "o": "1.0", "b": "3"},
]


def fill(path, rows, made=MADE, names=NAMES):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(made)
        marks = ", ".join("?" * len(names))
        database.executemany(f"INSERT INTO Visits ({', '.join(names)}) VALUES ({marks})", rows)
    return path


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "clinic.db", ROWS)
    return "sqlite:///clinic.db#visits"


def rows_of(table):
    read = ", ".join(f'{column.reference.sql("duckdb")} AS "{column.name}"' for column in table.columns)
    return table.run(f"SELECT {read} FROM data", table.columns).to_pylist()


def test_values_are_read_as_their_columns_declare(clinic):
    table = open_table(clinic)
    kinds = {column.name: column.kind.name for column in table.columns}
    assert kinds == {
        "age": "INTEGER", "cost": "NUMBER", "ward": "TEXT", "ok": "BOOLEAN", "day": "DATE", "at": "DATE", "n": "NUMBER",
        "o": "UNTYPED", "b": "UNTYPED",
    }  # fmt: skip
    found = rows_of(table)
    assert [{name: row[name] for name in READ[0]} for row in found] == READ
    assert [str(row["day"]) for row in found] == ["2024-01-31 00:00:00", "None", "None", "None"]
    assert [str(row["at"]) for row in found] == ["2024-01-31 11:00:00", "2024-01-31 12:00:00", "None", "None"]


def test_counts_and_groups(clinic):
    table = open_table(clinic)
    found = count_records(
        table, condition=read_condition("age > 40 AND ok", table.columns), groups=read_groups(table, "ward", "a,b,7")
    )
    assert (found.total.tolist(), found.yes.tolist()) == ([1, 1, 1], [1, 0, 0])
    typed = open_table(clinic, types={"AGE": "text", "o": "integer"})
    assert count_records(typed, condition=read_condition("age = 'old'", typed.columns)).yes.tolist() == [1]
    assert count_records(typed, condition=read_condition("o > 0", typed.columns)).yes.tolist() == [2]


def test_the_question_is_that_about_a_text_file_of_the_same_types(clinic, tmp_path):
    (tmp_path / "t.csv").write_text(",".join(NAMES) + "\n")
    types = {"age": "integer", "ward": "text"}
    text = irisdp.plan(tmp_path / "t.csv", "count", "age > 40 AND ward = 'a'", epsilon=1, types=types)
    planned = irisdp.plan(clinic, "count", "age > 40 AND ward = 'a'", epsilon=1)
    assert planned.question() == text.question()
    assert planned.asked.promise.columns == text.asked.promise.columns


def test_one_table_has_one_budget_and_another_its_own(clinic, tmp_path):
    with closing(sqlite3.connect("clinic.db")) as database, database:
        database.execute("CREATE TABLE other AS SELECT * FROM visits")
    (tmp_path / "link.db").symlink_to("clinic.db")
    first = irisdp.publish(clinic, "count", "age > 40", epsilon=1)
    for way in (f"sqlite:///{tmp_path}/clinic.db#VISITS", "sqlite:///link.db#Visits", f"{clinic}"):
        again = irisdp.publish(way, "count", "age > 40", epsilon=1)
        assert again.repeated
        assert again.answers.values == first.answers.values
    with pytest.raises(ScopeRefused):
        irisdp.publish("sqlite:///clinic.db#other", "count", epsilon=1, ledger="clinic.visits.ledger")
    irisdp.publish("sqlite:///clinic.db#other", "count", epsilon=1)
    assert sorted(path.name for path in tmp_path.glob("*.ledger")) == ["clinic.other.ledger", "clinic.visits.ledger"]
    assert irisdp.Ledger("clinic.visits.ledger").spent.epsilon == 1


def test_order_says_nothing_and_everything_else_does(clinic, tmp_path):
    digest = open_table(clinic).digest()
    with closing(sqlite3.connect("clinic.db")) as database, database:
        database.execute("CREATE TABLE unasked (a)")
    fill(tmp_path / "other.db", ROWS[::-1])
    assert open_table("sqlite:///other.db#visits").digest() == digest == open_table(clinic).digest()
    fill(tmp_path / "more.db", [*ROWS, ROWS[0]])
    fill(tmp_path / "typed.db", ROWS, MADE.replace("age INTEGER", "age TEXT"))
    for changed in ("more", "typed"):
        assert open_table(f"sqlite:///{changed}.db#visits").digest() != digest


VALUES = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text(max_size=5).filter(lambda text: text.isprintable())
    | st.binary(max_size=5)
    | st.sampled_from(["1", " 2 ", "1e3", "2024-01-31", "20240-01-01", "nan", "\0x", "x" * 1_000_001])
)


@settings(suppress_health_check=list(HealthCheck), max_examples=tried(12, 30))
@given(st.lists(st.tuples(VALUES, VALUES, VALUES, VALUES, st.booleans()), max_size=4))
def test_a_record_is_read_as_it_is_alone(tmp_path_factory, records):
    """Whatever the others hold; text that is no UTF-8 too, which only a cast can put there."""
    folder = tmp_path_factory.mktemp("sqlite")
    names = ("age", "cost", "ward", "day")

    def read(rows, number):
        path = folder / f"{number}.db"
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE visits (age INTEGER, cost REAL, ward TEXT, day DATE)")
            for *row, odd in rows:
                ward = "CAST(? AS TEXT)" if odd and isinstance(row[2], bytes) else "?"
                database.execute(f"INSERT INTO visits VALUES (?, ?, {ward}, ?)", row)
        found = rows_of(open_table(f"sqlite:///{path}#visits"))
        return [repr([row[name] for name in names]) for row in found]

    assert read(records, "all") == [row for number, one in enumerate(records) for row in read([one], number)]


def a_view(path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE VIEW seen AS SELECT json_extract(ward, '$') AS w FROM visits")


@pytest.mark.parametrize(("data", "said"), [
    ("sqlite:///clinic.db", "is no address of a table in a database; write sqlite:///FILE#TABLE"),
    ("sqlite:///clinic.db#", "is no address of a table"),
    ("sqlite:///clinic.db?mode=rw#visits", "is no address of a table"),
    ("sqlite://clinic.db#a", "is no address of a table"),
    ("sqlite:///none.db#a", "finds no file at "),
    ("sqlite:///clinic.db#none", "names the table 'none', which the database does not have; choose from "),
    ("sqlite:///clinic.db#seen", "names seen, which is computed when it is read; make a table of it"),
    ("sqlite:///clinic.db#sqlite_master", "names the table 'sqlite_master', which the database does not"),
    ("sqlite:///text.db#a", "is no SQLite database that can be read"),
    ("sqlite:///cut.db#visits", "is no SQLite database that can be read"),
    ("postgresql://me:secret@host/db.x?password=secret", "holds a password, which lists of processes"),
    ("mysql://me:secret@host/db", "is no address of a table in a database"),
])  # fmt: skip
def test_what_is_wrong_is_one_line_that_quotes_no_secret(clinic, tmp_path, capsys, data, said):
    a_view("clinic.db")
    (tmp_path / "text.db").write_text("age\n1\n" * 500)
    fill(tmp_path / "whole.db", ROWS * 400)
    (tmp_path / "cut.db").write_bytes((tmp_path / "whole.db").read_bytes()[:9000])
    assert run(["publish", data, "count", "age > 40", "--epsilon", "1"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"irisdp: DATA: {said}")
    assert len(printed.err.splitlines()) == 1
    assert "secret" not in printed.err
    assert list(tmp_path.glob("*.ledger")) == []


def test_names_differ_in_more_than_the_case_of_ascii_letters(tmp_path):
    """As SQLite has it: no table is read that another address names."""
    names = ["\u212a", "k2", "K", "Épée", "épée", "ÉPÉE", "İ", "i"]
    with closing(sqlite3.connect(tmp_path / "u.db")) as database:
        for count, name in enumerate(names):
            database.execute(f'CREATE TABLE "{name}" (a INTEGER)')
            database.executemany(f'INSERT INTO "{name}" VALUES (?)', [(1,)] * count)
        database.commit()
    for count, name in enumerate(names):
        for written in {name, name.encode().upper().decode(), name.encode().lower().decode()}:
            table = open_table(f"sqlite:///{tmp_path / 'u.db'}#{written}")
            found = count_records(table, condition=read_condition("a = 1", table.columns))
            assert found.yes.tolist() == [count], (name, written)


@pytest.mark.parametrize(("name", "value"), [("encoding", "latin-1"), ("delimiter", ";"), ("out", "clinic.db")])
def test_what_belongs_elsewhere_is_refused(clinic, name, value):
    with pytest.raises(BadInput, match=f"^{name}: "):
        irisdp.publish(clinic, "count", **{"epsilon": 1, name: value, "force": True})
    assert not os.path.exists("clinic.visits.ledger")


def test_a_table_that_changes_while_it_is_read_is_not_answered_about(clinic, monkeypatch):
    from irisdp._release import pipeline as publishing

    real = publishing.read_statistics

    def read_and_write(*arguments):
        found = real(*arguments)
        with closing(sqlite3.connect("clinic.db")) as database, database:
            database.execute("DELETE FROM visits WHERE age = 70")
        return found

    monkeypatch.setattr(publishing, "read_statistics", read_and_write)
    with pytest.raises(BadInput, match="changed while it was read"):
        irisdp.publish(clinic, "count", epsilon=1)
    assert irisdp.Ledger("clinic.visits.ledger").spent.epsilon == 0


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_database_in_use_is_read_and_left_as_it_is(clinic, journal):
    with closing(sqlite3.connect("clinic.db")) as database:
        database.execute(f"PRAGMA journal_mode = {journal}")
        database.execute("INSERT INTO visits (age) VALUES (99)")
        database.commit()
        assert count_records(open_table(clinic)).total.tolist() == [5]
        assert irisdp.publish(clinic, "count", epsilon=1).ledger.name == "clinic.visits.ledger"
        database.execute("DELETE FROM visits")


def test_a_project_is_found_beside_the_database(clinic, capsys):
    assert run(["init", clinic]) == 0
    project = Path("clinic.visits.iris.toml")
    assert "#   age: a whole number" in project.read_text()
    project.write_text('relation = "exchange"\n')
    assert irisdp.plan(clinic, "count", "age > 1", epsilon=1).asked.promise.relation == "exchange"


# No value that a DuckDB can hold ends a question about a relation, or takes the caller's database down with it.

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


@pytest.mark.parametrize(("case", "way"), by_turns(CASES, ["its own", "Arrow"]), ids=str)
def test_no_instant_ends_a_question(case, way, tmp_path):
    kind, odd = case
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
