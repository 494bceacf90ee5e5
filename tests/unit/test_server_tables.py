"""Tables on a PostgreSQL server: typed by its schema, of one moment, one record never another's, and no word of its."""

import datetime
import os
import pickle
import secrets
import signal
import sys
import threading
import time
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput, ScopeRefused
from irisdp._cli import run
from irisdp._queries import read_groups
from irisdp._queries.statistics import count_records
from irisdp._release import pipeline
from irisdp._tables import postgresql
from irisdp._tables.columns import ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.postgresql import StoredColumn, read_table_address
from irisdp._tables.table import open_table
from support.cutting import cutter
from support.seeds import fresh_random

MADE = (
    "CREATE TABLE visits (person bigint, age smallint, cost double precision, paid numeric, ward text, code char(5),"
    " ok boolean, day date, at timestamp, since timestamptz, kind kind, id uuid, b bytea, tags text[], doc json,"
    " twice integer GENERATED ALWAYS AS (age * 2) STORED)"
)
NAMES = "person, age, cost, paid, ward, code, ok, day, at, since, kind, id, b, tags, doc"
KINDS = {
    "person": "INTEGER", "age": "INTEGER", "cost": "NUMBER", "paid": "NUMBER", "ward": "TEXT", "code": "TEXT",
    "ok": "BOOLEAN", "day": "DATE", "at": "DATE", "since": "DATE", "kind": "TEXT", "id": "OTHER", "b": "OTHER",
    "tags": "NESTED", "doc": "NESTED", "twice": "INTEGER",
}  # fmt: skip
ID = "12345678-1234-1234-1234-123456789abc"
ROWS = [
    f"(1, 70, 1.5, 2.50, 'a', 'x', true, '2024-01-31', '2024-01-31 12:00', '2024-01-31 12:00+01', 'new', '{ID}',"
    r" '\x00ff', '{a}', '{}')",
    "(2, 30, 'NaN', 'NaN', '', '', false, 'infinity', '-infinity', 'infinity', 'old', NULL, '', '{}', 'null')",
    "(3, -5, 'Infinity', 1e400, E'b,\"c\\n\\'', NULL, NULL, '0001-01-01 BC', '10000-01-01', '294276-01-01+00', NULL,"
    " NULL, NULL, NULL, NULL)",
]


AT_MOST = "SET lock_timeout = '20s'"
"""A test that fails holds its table for as long as its traceback is kept; nobody waits for that."""


@pytest.fixture
def schema(server):
    """A schema of the test's own, with a table of visits; a new name each time."""
    name = f"t_{secrets.token_hex(6)}"
    server.execute(f"CREATE SCHEMA {name}")
    server.execute("CREATE TYPE kind AS ENUM ('new', 'old')", name)
    server.execute(MADE, name)
    server.execute(f"INSERT INTO visits ({NAMES}) VALUES {', '.join(ROWS)}", name)
    yield name
    with suppress(Exception):
        server.execute(f"{AT_MOST}; DROP SCHEMA {name} CASCADE")


@pytest.fixture
def visits(server, schema):
    return address(server, f"{schema}.visits")


def address(server, table, role="iris"):
    return f"postgresql://{role}@/postgres?host={server.folder}&port={server.port}#{table}"


def rows_of(table):
    read = ", ".join(column.reference.sql("duckdb") for column in table.columns)
    return table.run(f"SELECT {read} FROM data", table.columns).to_pylist()


def counted(table, asked=None):
    condition = None if asked is None else read_condition(asked, table.columns)
    found = count_records(table, condition=condition)
    return (found.total if asked is None else found.yes).tolist()[0]


class TestWhatIsRead:
    def test_values_are_read_as_the_schema_types_them(self, visits):
        table = open_table(visits)
        assert {column.name: column.kind.name for column in table.columns} == KINDS
        first, second, third = sorted(rows_of(table), key=lambda row: row["person"])
        noon = datetime.datetime(2024, 1, 31, 12)
        assert first == {
            "person": 1, "age": 70, "cost": 1.5, "paid": "2.5", "ward": "a", "code": "x", "ok": True,
            "day": noon.date(), "at": noon, "since": noon.replace(hour=11), "kind": "new", "id": ID, "b": "00ff",
            "tags": True, "doc": True, "twice": 140,
        }  # fmt: skip
        assert [second[name] for name in ("ward", "code", "day", "at", "since", "b")] == ["", "", None, None, None, ""]
        assert (third["ward"], third["day"], third["at"], third["since"]) == ("b,\"c\n'", None, None, None)
        assert [third[name] for name in ("code", "ok", "kind", "id", "b", "tags", "doc")] == [None] * 7

    def test_conditions_groups_and_numbers_of_any_size(self, visits):
        table = open_table(visits)
        assert counted(table) == 3
        for asked, yes in {
            "paid > 2": 2, "paid = 2.5": 1, "cost > 1000": 1, "cost IS NULL": 1, "ward = ''": 1, "kind = 'new'": 1,
            "since < '2024-01-31T11:30:00'": 1, "tags IS NULL": 1, "doc IS NULL": 1, "id IS NULL": 2, "NOT ok": 1,
        }.items():  # fmt: skip
            assert counted(table, asked) == yes, asked
        found = count_records(table, groups=read_groups(table, "kind", "new,old"))
        assert found.total.tolist() == [1, 1]

    def test_the_question_is_that_about_parquet_of_the_same_columns(self, visits, tmp_path):
        kinds = {"age": pa.int64(), "ward": pa.string(), "at": pa.timestamp("us")}
        pq.write_table(pa.schema(kinds.items()).empty_table(), tmp_path / "t.parquet")
        about = ("count", "age > 40 AND ward = 'a' OR at IS NULL")
        asked = irisdp.plan(visits, *about, epsilon=1).question()
        assert asked == irisdp.plan(tmp_path / "t.parquet", *about, epsilon=1).question()

    def test_a_partitioned_table_is_one(self, server, schema):
        server.execute("CREATE TABLE whole (age integer, ward text) PARTITION BY LIST (ward)", schema)
        server.execute("CREATE TABLE a PARTITION OF whole FOR VALUES IN ('a') PARTITION BY RANGE (age)", schema)
        server.execute("CREATE TABLE a1 PARTITION OF a FOR VALUES FROM (0) TO (50)", schema)
        server.execute("CREATE TABLE rest PARTITION OF whole DEFAULT", schema)
        server.execute("INSERT INTO whole VALUES (1, 'a'), (2, 'a'), (3, 'b')", schema)
        table = open_table(address(server, f"{schema}.whole"))
        assert counted(table, "age > 1") == 2
        server.execute("CREATE TABLE flat AS SELECT * FROM whole", schema)
        assert open_table(address(server, f"{schema}.flat")).digest() == table.digest()

    def test_names_of_any_letters(self, server, schema):
        server.execute('CREATE TABLE "Łódź.x%" ("a ""b" integer, "%s {0}" text)', schema)
        server.execute("INSERT INTO \"Łódź.x%\" VALUES (1, 'y')", schema)
        table = open_table(address(server, f"{schema}.%C5%81%C3%B3d%C5%BA%2Ex%25"))
        assert table.called == f"postgres/{schema}.Łódź%2Ex%25"
        assert rows_of(table) == [{'a "b': 1, "%s {0}": "y"}]
        assert len(table.digest()) == 32
        assert open_table(address(server, f"{schema.upper()}.Visits")).called == f"postgres/{schema}.visits"

    def test_a_row_of_nothing_is_a_value(self, server, schema):
        """`IS NULL` asks a row of its fields; a column that holds such a row has a value all the same."""
        server.execute("CREATE TYPE pair AS (a integer, b text)", schema)
        server.execute("CREATE TABLE t (r pair)", schema)
        server.execute("INSERT INTO t VALUES (ROW(NULL, NULL)::pair), (ROW(1, NULL)::pair), (NULL)", schema)
        assert counted(open_table(address(server, f"{schema}.t")), "r IS NULL") == 1

    def test_a_type_of_somebodys_that_is_called_like_one_of_the_servers_is_none(self, server, schema):
        server.execute("CREATE TYPE int4 AS (a integer)", schema)
        server.execute(f"CREATE TABLE t (x {schema}.int4)", schema)
        server.execute("INSERT INTO t VALUES (ROW(1)), (NULL)", schema)
        table = open_table(address(server, f"{schema}.t"))
        assert [column.kind for column in table.columns] == [ColumnType.NESTED]
        assert counted(table, "x IS NULL") == 1

    def test_settings_of_others_change_nothing(self, server, schema, visits):
        server.execute("ALTER TABLE visits ADD span interval DEFAULT '1 year 2 days 3:04', ADD clock timetz", schema)
        server.execute(
            "UPDATE visits SET clock = '12:00+05:30', cost = 0.1::float8 + 0.2::float8 WHERE person = 1", schema
        )
        table = open_table(visits)
        expected, digest = repr(rows_of(table)), table.digest()
        assert "0.30000000000000004" in expected
        server.execute("CREATE FUNCTION octet_length(text) RETURNS integer LANGUAGE sql AS 'SELECT 1/0'", schema)
        server.execute(
            "CREATE FUNCTION broken(kind) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT (1/0)::text'", schema
        )
        server.execute("CREATE CAST (kind AS text) WITH FUNCTION broken(kind)", schema)
        settings = {
            "search_path": f"{schema}, pg_catalog", "TimeZone": "'Asia/Tokyo'", "DateStyle": "'German, DMY'",
            "IntervalStyle": "iso_8601", "extra_float_digits": "-15", "bytea_output": "escape",
            "default_transaction_isolation": "'read committed'",
        }  # fmt: skip
        try:
            for name, value in settings.items():
                server.execute(f"ALTER ROLE iris SET {name} = {value}")
            again = open_table(visits)
            assert repr(rows_of(again)) == expected
            assert again.digest() == digest
        finally:
            server.execute("ALTER ROLE iris RESET ALL")

    def test_every_value_travels_in_quotes_and_null_as_nothing(self, server, schema):
        """So no rule of when quotes are needed, of which CSV has many, decides what is null or empty."""
        server.execute("CREATE TABLE t (n integer, x text)", schema)
        server.execute(r"INSERT INTO t VALUES (1, ''), (NULL, NULL), (2, '\.'), (3, 'NULL'), (4, E'a,\n\"')", schema)
        table = open_table(address(server, f"{schema}.t"))
        found = b"".join(table._source.snapshot.copy(f"SELECT n, x FROM {schema}.t"))
        assert found == b'"1",""\n,\n"2","\\."\n"3","NULL"\n"4","a,\n"""\n'
        assert [row["x"] for row in rows_of(table)] == ["", None, r"\.", "NULL", 'a,\n"']

    def test_many_records_are_read_once_each_in_pieces(self, server, schema, monkeypatch):
        server.execute(
            "CREATE TABLE t AS SELECT i AS n, repeat('é', i % 40) AS x FROM generate_series(1, 900) i", schema
        )
        table, pieces = open_table(address(server, f"{schema}.t")), open_table(address(server, f"{schema}.t"))
        expected = [{"n": number, "x": "é" * (number % 40)} for number in range(1, 901)]
        assert rows_of(table) == expected
        monkeypatch.setattr(postgresql, "_PIECE", 1000)
        assert rows_of(pieces) == expected
        assert pieces.digest() == table.digest()


ODD = {
    "n numeric": ["'NaN'", "'Infinity'", "'-Infinity'", "1e131071", "1e-16383", "0.10", "0.1", "NULL"],
    "f real": ["'NaN'", "'-Infinity'", "1e-45", "'-0'", "NULL"],
    "t text": ["''", "repeat('x', 1000001)", "repeat('\"', 1000000)", r"E'\\.'", r"E'\r\n'", "U&'\\+01F600'", "NULL"],
    "v varchar(3)": ["' '", "','", "NULL"],
    "d date": ["'infinity'", "'-infinity'", "'5874897-12-31'", "'4713-01-01 BC'", "'9999-12-31'", "NULL"],
    "s timestamp": ["'infinity'", "'294276-12-31 23:59:59.999999'", "'4713-01-01 BC'", "'0001-01-01'", "NULL"],
    "z timestamptz": ["'-infinity'", "'294276-12-31 23:59:59+00'", "'10000-01-01 01:00+02'", "NULL"],
    "b bytea": ["repeat('x', 600000)::bytea", r"'\x00'", "NULL"],
    "i interval": ["'178000000 years'", "'-1 month 30 days'", "NULL"],
    "o tiny": ["NULL", "2"],
    "r pair": ["ROW(NULL, NULL)::pair", "ROW(1, repeat('x', 3000))::pair", "NULL"],
    "a numeric[]": ["ARRAY['NaN'::numeric, 1e1000]", "'{}'", "NULL"],
    "j jsonb": ["'null'", """'{"a": 1e10000}'""", "NULL"],
    "m money": ["'-92233720368547758.08'", "NULL"],
    "p tsvector": ["'a:1'", "NULL"],
}
"""Values at the ends of their types, beyond what is read, and such as elsewhere end in an error."""

SAYS_YES = {
    "n numeric": ["'Infinity'"],
    "f real": ["'-Infinity'"],
    "t text": ["''"],
    "d date": ["'9999-12-31'"],
    "z timestamptz": ["'-infinity'", "'294276-12-31 23:59:59+00'", "NULL"],
    "o tiny": ["2"],
}
"""Values for which the condition below holds: no number beyond the doubles, no date beyond the year 9999, is any."""


def test_a_record_is_read_as_it_is_alone_whatever_it_holds(server, schema):
    """All odd values in one table, records in any order; and each record in a table of its own."""
    server.execute("CREATE TYPE pair AS (a integer, b text)", schema)
    server.execute("CREATE DOMAIN small AS integer", schema)
    server.execute("CREATE DOMAIN tiny AS small CHECK (VALUE < 3)", schema)
    pick = fresh_random("odd values on a server")
    most = max(map(len, ODD.values()))
    shuffled = [
        pick.sample(values, len(values)) + pick.choices(values, k=most - len(values)) for values in ODD.values()
    ]
    records = list(zip(*shuffled, strict=True))
    columns, found = f"n_ integer, {', '.join(ODD)}", []
    said = [sum(value in SAYS_YES.get(name, ()) for name, value in zip(ODD, record, strict=True)) for record in records]
    for number, held in enumerate([range(len(records)), *([each] for each in range(len(records)))]):
        server.execute(f"CREATE TABLE t{number} ({columns})", schema)
        for each in held:
            server.execute(f"INSERT INTO t{number} VALUES ({each}, {', '.join(records[each])})", schema)
        table = open_table(address(server, f"{schema}.t{number}"))
        table.digest()
        asked = "n > 1 OR f < 0 OR t = '' OR d > '2000-01-01' OR z IS NULL OR o > 1"
        assert counted(table, asked) == sum(said[each] > 0 for each in held), held
        found.append({row["n_"]: repr(row) for row in rows_of(table)})
    assert found[0] == {number: text for one in found[1:] for number, text in one.items()}


ENDS = {
    "text": (["repeat('é', 500000)", "repeat('x', 1000000)"], ["repeat('é', 500001)", "repeat('x', 1000001)"]),
    "bytea": (["repeat('x', 500000)::bytea"], ["repeat('x', 500001)::bytea"]),
    "date": (["'0001-01-01'", "'9999-12-31'"], ["'0001-12-31 BC'", "'10000-01-01'", "'infinity'"]),
    "timestamp": (
        ["'0001-01-01'", "'9999-12-31 23:59:59.999999'"],
        ["'0001-12-31 23:59:59.999999 BC'", "'10000-01-01'", "'-infinity'"],
    ),
    "timestamptz": (
        ["'0001-01-01 01:00+01'", "'10000-01-01 00:59:59.999999+01'"],
        ["'0001-01-01 00:59:59.999999+01'", "'10000-01-01 01:00+01'", "'9999-12-31 23:00-01'", "'infinity'"],
    ),
}
"""The last values of a type that are read, and the first that are null."""


@pytest.mark.parametrize("kind", ENDS)
def test_values_are_read_to_their_ends_and_no_further(server, schema, kind):
    inside, outside = ENDS[kind]
    server.execute(f"CREATE TABLE t (n integer, x {kind})", schema)
    listed = ", ".join(f"({number}, {value})" for number, value in enumerate([*inside, *outside]))
    server.execute(f"INSERT INTO t VALUES {listed}", schema)
    table = open_table(address(server, f"{schema}.t"))
    found = {row["n"]: row["x"] for row in rows_of(table)}
    assert [found[number] is None for number in sorted(found)] == [False] * len(inside) + [True] * len(outside)
    if kind == "timestamptz":
        assert (found[0], found[1]) == (datetime.datetime.min, datetime.datetime.max)
    # What is not read does not travel either, however long it is.
    outer = f"SELECT {table._source.table.columns[1].sql} FROM {schema}.t WHERE n >= {len(inside)}"
    assert b"".join(table._source.snapshot.copy(outer)).strip() == b""


def test_one_person_is_one_by_numbers_of_any_form(server, schema):
    server.execute("CREATE TABLE t (person numeric, said boolean)", schema)
    server.execute("INSERT INTO t VALUES (1, true), (1.0, true), (1.000, true), (10, true), (1e1, true)", schema)
    table = address(server, f"{schema}.t")
    found = irisdp.plan(table, "count", "said", unit="person", at_most=1, epsilon=1)
    cells = pipeline.read_statistics(found, b"k" * 32)
    assert cells.nodes.values.tolist()[0] == 2


class TestDigest:
    def test_order_says_nothing_and_everything_else_does(self, server, schema, visits):
        digest = open_table(visits).digest()
        assert len(digest) == 32
        server.execute("CREATE TABLE other (LIKE visits INCLUDING ALL)", schema)
        server.execute(f"INSERT INTO other ({NAMES}) SELECT {NAMES} FROM visits ORDER BY person DESC", schema)
        other = address(server, f"{schema}.other")
        assert open_table(other).digest() == digest
        for change in (
            "UPDATE other SET ward = NULL WHERE ward = ''", "UPDATE other SET ward = ward || ' ' WHERE ward = 'a'",
            "INSERT INTO other (age) VALUES (1)", "INSERT INTO other (age) VALUES (1)",
            "ALTER TABLE other ALTER ok TYPE text", "ALTER TABLE other RENAME ok TO okay",
        ):  # fmt: skip
            server.execute(change, schema)
            before, digest = digest, open_table(other).digest()
            assert digest != before, change

    def test_short_texts_differ_by_their_letters_and_by_where_they_end(self, server, schema):
        made = {}
        for number, record in enumerate(("'a', 'bc'", "'ab', 'c'", "'x', 'bc'", "'a', NULL", "'a', ''", "'a', '-'")):
            server.execute(f"CREATE TABLE t{number} (a text, b text)", schema)
            server.execute(f"INSERT INTO t{number} VALUES ({record})", schema)
            made[record] = open_table(address(server, f"{schema}.t{number}")).digest()
        assert len(set(made.values())) == len(made)

    def test_long_texts_differ_to_their_ends(self, server, schema):
        server.execute("CREATE TABLE t AS SELECT repeat('x', 100000) AS a, ''::text AS b", schema)
        data = address(server, f"{schema}.t")
        digest = open_table(data).digest()
        server.execute("UPDATE t SET a = repeat('x', 99999) || 'y'", schema)
        assert open_table(data).digest() != digest


class TestOneMoment:
    def test_a_table_is_read_as_it_was_at_first_whoever_writes(self, server, schema, visits):
        table = open_table(visits)
        server.execute("INSERT INTO visits (age) VALUES (99)", schema)  # nothing was read yet
        assert counted(table) == 4
        digest = table.digest()
        server.execute("INSERT INTO visits (age) VALUES (99)", schema)
        later = open_table(visits)
        server.execute("DELETE FROM visits WHERE age = 99", schema)
        assert (counted(table), counted(later), table.digest()) == (4, 3, digest)
        table.rest()
        assert counted(table) == 3
        assert table.digest() == later.digest() != digest

    def test_nobody_empties_it_meanwhile(self, server, schema, visits):
        import psycopg

        table = open_table(visits)
        assert counted(table) == 3
        with pytest.raises(psycopg.errors.LockNotAvailable):
            server.execute("SET lock_timeout = '50ms'; TRUNCATE visits", schema)
        table.close()
        server.execute("SET lock_timeout = '10s'; TRUNCATE visits", schema)
        assert counted(open_table(visits)) == 0

    @pytest.mark.parametrize("several", [False, True])
    def test_a_release_is_of_the_records_that_it_is_charged_for(
        self, server, schema, visits, tmp_path, monkeypatch, several
    ):
        """Somebody writes after each reading; a batch reads all its questions from one moment."""
        read, told = [], {"ledger": tmp_path / "ledger"}
        real = pipeline.read_statistics

        def read_and_write(*arguments):
            read.append(real(*arguments).nodes.values.tolist()[0])
            server.execute("INSERT INTO visits (age) VALUES (99)", schema)
            return real(*arguments)

        monkeypatch.setattr(pipeline, "read_statistics", read_and_write)
        asked = {
            "budget": {"epsilon": 1, "delta": "1e-6"},
            "questions": [{"query": "count"}, {"query": "count", "expression": "age > 0"}],
        }
        for _ in range(2):
            if several:
                irisdp.batch(asked, data=visits, **told)
            else:
                irisdp.publish(visits, "count", epsilon=1, **told)
        assert read == ([3, 2, 5, 4] if several else [3, 4])
        assert irisdp.Ledger(told["ledger"]).spent.epsilon == 2, "the second is about other data"
        monkeypatch.undo()
        assert not irisdp.publish(visits, "count", "age > 1", epsilon=1, **told).repeated
        assert irisdp.publish(visits, "count", "age > 1", epsilon=1, **told).repeated

    def test_each_question_of_a_batch_reads_its_own_groups_of_one_moment(
        self, server, schema, visits, tmp_path, monkeypatch
    ):
        """Somebody writes after each question is read; ages are 70, 30 and -5 when the first one is."""
        real = pipeline.read_statistics

        def read_and_write(*arguments):
            found = real(*arguments)
            server.execute("INSERT INTO visits (age) VALUES (31)", schema)
            return found

        monkeypatch.setattr(pipeline, "read_statistics", read_and_write)
        binned = [{"query": "histogram age", "bins": bins} for bins in ([0, 65], [30, 50])]
        named = [
            {"query": "count", "by": f"g = {of}", "groups": "0,1"} for of in ("FLOOR(age / 70)", "FLOOR(age / 30)")
        ]
        asked = {"budget": {"epsilon": 900}, "questions": [{"query": "count"}, *binned, *named]}
        found = irisdp.batch(asked, data=visits, ledger=tmp_path / "ledger")
        assert [one.answers.values for one in found] == [[3], [1, 1, 1], [1, 1, 1], [1, 1], [0, 1]]

    def test_nothing_stays_open(self, server, schema, visits, tmp_path):
        irisdp.publish(visits, "count", epsilon=1, ledger=tmp_path / "ledger")
        with pytest.raises(irisdp.BudgetRefused):
            irisdp.Ledger(tmp_path / "ledger").set_limit(1)
            irisdp.publish(visits, "count", "age > 1", epsilon=1, ledger=tmp_path / "ledger")
        table = open_table(visits)
        assert counted(table) == 3
        assert "TRUE" not in repr(table) and pickle.loads(pickle.dumps(table)).called == table.called
        table.close()
        with pytest.raises(BadInput, match="open it again"):
            counted(table)
        ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'irisdp' AND state <> 'idle'"
        end = time.monotonic() + 60  # a server notices a moment later that somebody is gone
        while server.execute(ours) != [(0,)]:
            assert time.monotonic() < end
            time.sleep(0.1)

    def test_partitions_are_known_by_their_own_records(self, server, schema, visits, tmp_path):
        asked = {"epsilon": 50, "ledger": tmp_path / "ledger", "partition": "day by month=2024-01"}
        assert irisdp.publish(visits, "count", **asked).answers.values == [1]
        server.execute(f"INSERT INTO {schema}.visits (person, ward, day) VALUES (4, 'a', '2024-02-01')")
        assert irisdp.publish(visits, "count", **asked).repeated
        server.execute(f"INSERT INTO {schema}.visits (person, ward, day) VALUES (5, 'a', '2024-01-01')")
        again = irisdp.publish(visits, "count", **asked)
        assert (again.repeated, again.answers.values) == (False, [2])
        asked = {**asked, "partition": "ward=a", "ledger": tmp_path / "wards", "another_ledger": True}
        assert irisdp.publish(visits, "count", **asked).answers.values == [3]
        asked["ledger"] = tmp_path / "persons"
        found = irisdp.publish(visits, "count", "n = 1", person="n = COUNT(*)", unit="person", **asked)
        assert found.answers.values == [3]

    @pytest.mark.parametrize("change", [
        "ALTER TABLE whole ATTACH PARTITION loose FOR VALUES IN ('b')",
        "ALTER TYPE kind RENAME VALUE 'old' TO 'older'",
    ])  # fmt: skip
    def test_what_a_snapshot_does_not_hold_still_is_noticed(self, server, schema, change):
        server.execute("CREATE TABLE whole (ward text, kind kind) PARTITION BY LIST (ward)", schema)
        server.execute("CREATE TABLE a PARTITION OF whole FOR VALUES IN ('a')", schema)
        server.execute("CREATE TABLE loose (ward text, kind kind)", schema)
        server.execute("INSERT INTO loose VALUES ('b', 'old')", schema)
        server.execute("INSERT INTO whole VALUES ('a', 'old')", schema)
        table = open_table(address(server, f"{schema}.whole"))
        table.digest()
        assert counted(table) == 1
        server.execute(f"{AT_MOST}; {change}", schema)
        with pytest.raises(BadInput, match="was altered while it was read"):
            counted(table)

    def test_a_table_that_begins_to_inherit_is_no_part_of_it(self, server, schema, visits):
        table = open_table(visits)
        assert counted(table) == 3
        server.execute("CREATE TABLE heir (LIKE visits INCLUDING GENERATED)", schema)
        server.execute("INSERT INTO heir (age) VALUES (1)", schema)
        server.execute(f"{AT_MOST}; ALTER TABLE heir INHERIT visits", schema)
        assert counted(table) == 3
        with pytest.raises(BadInput, match="shares records with"):
            open_table(visits)

    def test_a_table_that_begins_to_inherit_before_the_first_record_is_read_is_no_part_of_it(
        self, server, schema, visits, monkeypatch
    ):
        """Its records were there when the snapshot was taken, which sees them: so the table is read ONLY."""
        server.execute("CREATE TABLE heir (LIKE visits INCLUDING GENERATED)", schema)
        server.execute("INSERT INTO heir (age) VALUES (99)", schema)
        table, real = open_table(visits), postgresql.describe_table

        def describe_and_inherit(connection, address):
            found = real(connection, address)
            server.execute(f"{AT_MOST}; ALTER TABLE heir INHERIT visits", schema)
            return found

        monkeypatch.setattr(postgresql, "describe_table", describe_and_inherit)
        assert counted(table) == 3
        monkeypatch.undo()
        assert table.digest() and counted(table, "age > 90") == 0

    def test_nobody_empties_it_between_the_snapshot_and_the_first_reading(self, server, schema, visits, monkeypatch):
        """Whoever truncates makes the table empty for snapshots that were taken before, too: so it is locked first."""
        import psycopg

        table, real, refused = open_table(visits), postgresql.describe_table, []

        def describe_while_it_is_emptied(connection, address):
            found = real(connection, address)
            try:
                server.execute("SET lock_timeout = '50ms'; TRUNCATE visits", schema)
            except psycopg.errors.LockNotAvailable as error:
                refused.append(error)
            return found

        monkeypatch.setattr(postgresql, "describe_table", describe_while_it_is_emptied)
        assert counted(table) == 3
        assert len(refused) == 1
        table.close()  # what was refused holds on to this frame, and with it to the table's snapshot

    @pytest.mark.parametrize("read", [counted, lambda table: len(table.digest())])
    def test_one_reads_at_a_time(self, visits, read):
        """A connection has one answer on its way; two threads would get each other's."""
        table, found = open_table(visits), []
        with table._source.snapshot.turn:
            other = threading.Thread(target=lambda: found.append(read(table)))
            other.start()
            other.join(0.5)
            assert other.is_alive() and found == []
        other.join(60)
        assert found == [read(table)]

    def test_what_was_not_read_to_its_end_is_put_together_with_nothing(self, server, schema, visits, monkeypatch):
        server.execute("INSERT INTO visits (person) SELECT i FROM generate_series(10, 3000) i", schema)
        monkeypatch.setattr(postgresql, "_PIECE", 100)
        table = open_table(visits)
        started = table._source.snapshot.copy(f"SELECT person FROM {schema}.visits")
        next(started)
        started.close()
        server.execute("INSERT INTO visits (person) VALUES (4000)", schema)
        for ask in (counted, lambda table: table.digest()):
            with pytest.raises(BadInput, match="was not read to its end before; open it again"):
                ask(table)
        table.rest()
        assert counted(table) == 2995

    def test_records_are_read_through_no_table_that_was_altered_in_between(self, server, schema, visits):
        """A batch looks at a table, and each of its questions reads the records that it then reads."""
        first = open_table(visits)
        assert counted(first.read_with(open_table(visits))) == 3
        first.rest()
        for change in ("ADD more integer", "DROP more, ALTER code TYPE integer USING 1"):
            server.execute(f"{AT_MOST}; ALTER TABLE visits {change}", schema)
            with pytest.raises(BadInput, match="data: was altered while it was looked at; ask again"):
                first.read_with(open_table(visits))

    def test_a_process_that_was_forked_reads_nothing_of_its_parents(self, visits, monkeypatch):
        table = open_table(visits)
        assert counted(table) == 3
        monkeypatch.setattr(postgresql.os, "getpid", lambda: 1)
        with pytest.raises(BadInput, match="was not read to its end before; open it again"):
            counted(table)
        monkeypatch.undo()
        assert counted(table) == 3

    def test_a_table_that_was_altered_since_it_was_opened_is_refused(self, server, schema, visits):
        table = open_table(visits)
        server.execute("ALTER TABLE visits ADD COLUMN more integer", schema)
        with pytest.raises(BadInput, match="was altered since it was looked at"):
            counted(table)
        assert counted(open_table(visits)) == 3


class TestBudget:
    def test_a_ledger_is_named_and_knows_one_table(self, server, schema, visits, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(BadInput, match="ledger: is missing, and a table on a server has no folder to keep it in"):
            irisdp.publish(visits, "count", epsilon=1)
        assert list(tmp_path.iterdir()) == []
        first = irisdp.publish(visits, "count", "age > 40", epsilon=1, ledger="a.ledger", out="a.csv")
        assert first.plan.asked.promise.table == f"postgres/{schema}.visits"
        again = irisdp.publish(
            visits.replace(schema, schema.upper()), "count", "age > 40", epsilon=1, ledger="a.ledger"
        )
        assert again.repeated and again.answers.values == first.answers.values
        server.execute("CREATE TABLE other AS SELECT * FROM visits LIMIT 2", schema)
        with pytest.raises(ScopeRefused):
            irisdp.publish(address(server, f"{schema}.other"), "count", "TRUE", epsilon=1, ledger="a.ledger")
        written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert str(server.folder).encode() not in written

    def test_a_ledger_on_the_same_server(self, server, schema, visits, tmp_path):
        ledger = server.address()
        with pytest.raises(BadInput, match="secret: is missing, and neither"):
            irisdp.publish(visits, "count", epsilon=1, ledger=ledger)
        told = {"epsilon": 1, "ledger": ledger, "secret": tmp_path / "kept"}
        assert not irisdp.publish(visits, "count", **told).repeated
        assert irisdp.publish(visits, "count", **told).repeated
        plan = tmp_path / "plan.toml"
        plan.write_text(
            f'[datasets.a]\ndata = "{visits}"\nledger = "{ledger}"\n[[questions]]\nquery = "count"\nepsilon = 1\n'
        )
        with pytest.raises(BadInput, match="dataset a: secret: is missing, and neither"):
            irisdp.run(plan)
        mine = ledger.rpartition("=")[2]
        with pytest.raises(BadInput, match=f"names {mine}.release, and {mine} is a ledger"):
            irisdp.plan(address(server, f"{mine}.release"), "count", epsilon=1)
        server.execute(f"DROP SCHEMA {mine} CASCADE")

    def test_a_plan_asks_it_as_it_asks_a_file(self, server, schema, visits, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        plan = tmp_path / "plan.toml"
        plan.write_text(
            f'[datasets.a]\ndata = "{visits}"\nledger = "a.ledger"\n'
            + "".join(f'[[questions]]\nquery = "at-least {k}"\nepsilon = 1\nout = "{k}.json"\n' for k in (1, 2))
        )
        first, again = irisdp.run(plan), irisdp.run(plan)
        assert not first.repeated
        assert again.repeated
        asked = irisdp.publish(visits, "at-least", "1", epsilon=1, ledger="a.ledger")
        assert asked.repeated
        assert asked.answers.values == first.questions[0].publication.answers.values
        server.execute("INSERT INTO visits (age) VALUES (77)", schema)
        assert not irisdp.run(plan).repeated
        written = b"".join(path.read_bytes() for path in tmp_path.glob("*.json"))
        assert str(server.folder).encode() not in written


NOT_TABLES = {
    "CREATE VIEW x AS SELECT 1 / age AS y FROM visits": "computed when it is read",
    "CREATE MATERIALIZED VIEW x AS SELECT age FROM visits": "computed when it is read",
    "CREATE FOREIGN DATA WRAPPER w_{0}; CREATE SERVER s_{0} FOREIGN DATA WRAPPER w_{0};"
    " CREATE FOREIGN TABLE x (a integer) SERVER s_{0}": "or kept elsewhere",
    "CREATE TABLE y (a integer) PARTITION BY LIST (a); CREATE TABLE x PARTITION OF y DEFAULT": "is a part of a table",
    "CREATE TABLE x () INHERITS (visits)": "shares records with",
    "CREATE TABLE x (a integer); CREATE TABLE y () INHERITS (x)": "shares records with",
    "CREATE TABLE x ()": "has no columns",
    'CREATE TABLE x (a integer, "A" integer)': "has two columns of one name",
    "CREATE TABLE x2 (a integer)": "the database does not have; choose from visits, x2",
}


@pytest.mark.parametrize("made", NOT_TABLES, ids=lambda made: made[:30])
def test_what_is_no_table_of_its_own_is_refused(server, schema, made):
    server.execute(made.format(schema), schema)
    with pytest.raises(BadInput, match=NOT_TABLES[made]):
        open_table(address(server, f"{schema}.x"))
    if "FOREIGN" in made:
        server.execute(f"DROP FOREIGN DATA WRAPPER w_{schema} CASCADE")


def test_a_partition_on_another_server_is_refused(server, schema):
    server.execute(
        f"CREATE FOREIGN DATA WRAPPER w_{schema}; CREATE SERVER s_{schema} FOREIGN DATA WRAPPER w_{schema};"
        " CREATE TABLE x (a integer) PARTITION BY LIST (a);"
        f" CREATE FOREIGN TABLE y PARTITION OF x DEFAULT SERVER s_{schema}",
        schema,
    )
    with pytest.raises(BadInput, match="a part is kept on another server"):
        open_table(address(server, f"{schema}.x"))
    server.execute(f"DROP FOREIGN DATA WRAPPER w_{schema} CASCADE")


def test_a_database_that_holds_no_utf8_is_refused_and_so_is_an_old_server(server, schema, visits, monkeypatch):
    import psycopg

    server.execute(f"CREATE DATABASE {schema} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    data = f"postgresql://iris@/{schema}?host={server.folder}&port={server.port}"
    try:
        with psycopg.connect(data, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (x text)")
        with pytest.raises(BadInput, match="is in a database that does not hold UTF-8"):
            open_table(f"{data}#t")
        with pytest.raises(BadInput, match="is a database that does not hold UTF-8"):
            irisdp.Ledger(f"{data}&schema=books").set_limit(1)
    finally:
        server.execute(f"DROP DATABASE {schema} WITH (FORCE)")
    monkeypatch.setattr("irisdp._tables.postgresql._OLDEST", 99)
    with pytest.raises(BadInput, match="is on a server older than PostgreSQL 99"):
        open_table(visits)


def test_what_differs_by_who_asks_is_refused(server, schema):
    role = f"r_{schema}"
    server.execute(f"CREATE ROLE {role} LOGIN")
    visits = address(server, f"{schema}.visits", role)
    try:
        for granted, said in {
            "SELECT 1": "which this role may not read, or not all of it",
            f"GRANT USAGE ON SCHEMA {schema} TO {role}": "which this role may not read, or not all of it",
            f"GRANT SELECT (age, ward) ON {schema}.visits TO {role}": "which this role may not read, or not all of it",
            f"GRANT SELECT ON {schema}.visits TO {role}": None,
            f"ALTER TABLE {schema}.visits ENABLE ROW LEVEL SECURITY": "row-level security",
            f"CREATE POLICY p ON {schema}.visits USING (age > 0)": "row-level security",
            f"ALTER ROLE {role} BYPASSRLS": None,
        }.items():
            server.execute(granted)
            if said is None:
                assert counted(open_table(visits)) == 3
            else:
                with pytest.raises(BadInput, match=said):
                    open_table(visits)
        table, begun = open_table(visits), open_table(visits)
        assert counted(begun) == 3
        server.execute(f"ALTER ROLE {role} NOBYPASSRLS")
        with pytest.raises(BadInput, match=r"\(42501\)"):
            counted(begun)
        with pytest.raises(BadInput, match=r"row-level security|does not let this role read the table \(42501\)"):
            counted(table)
    finally:
        server.execute(f"{AT_MOST}; DROP OWNED BY {role}; DROP ROLE {role}")


WRONG = {
    "postgresql://iris@/postgres{where}": "is no address of a table in a database; write postgresql://",
    "postgresql://iris@/postgres{where}#": "is no address of a table",
    "postgresql://iris@/postgres{where}#a.b.c": "is no address of a table",
    "postgresql://iris@/postgres{where}#a.": "is no address of a table",
    "postgresql://iris@/postgres{where}#t?password=secret": "is no address of a table",
    "postgresql://iris@/postgres{where}#%0A": "is no address of a table",
    "postgresql://iris:secret@/postgres{where}#t": "holds a password",
    "postgresql://iris@/postgres{where}&password=secret#t": "holds a password",
    "postgresql://iris@/postgres{where}&options=secret#t": "has an option that is not known here",
    "postgresql://iris@/postgres?host=a,b#t": "names several servers",
    "postgresql:/iris:secret@host/db#t.csv": "is the address of a server, given as a path",
    "postgresql://iris@/postgres{where}#pg_catalog.pg_authid": "names the table pg_catalog.pg_authid, which",
    "postgresql://iris@/postgres{where}#none": "names the table public.none, which the database does not have",
    "postgresql://iris@/none{where}#t": "is on a server that has no database of that name (3D000); check the address",
    "postgresql://nobody@/postgres{where}#t": "is on a server that does not let this role in (28000); check the user",
    "postgresql://iris@/iris{where}#t": "is on a server that has no database of that name (3D000)",
    "postgresql://iris@127.0.0.1:{port}/postgres#t": "is on a server that does not let this role in (28000)",
    "postgresql://iris@/postgres?host=/nowhere#t": "is on a server that cannot be reached, or went away; check host",
    "postgresql://iris@127.0.0.1:1/postgres#t": "is on a server that cannot be reached, or went away; check host",
}


@pytest.mark.parametrize("data", WRONG)
def test_what_is_wrong_is_one_line_that_quotes_no_secret(server, tmp_path, monkeypatch, capsys, data):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGPASSWORD", "secret")
    given = data.format(where=f"?host={server.folder}&port={server.port}", port=server.port)
    assert run(["publish", given, "count", "age > 40", "--epsilon", "1", "--ledger", "a.ledger"]) == (
        4 if "cannot be reached" in WRONG[data] else 2
    )
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"irisdp: DATA: {WRONG[data]}"), printed.err
    assert len(printed.err.splitlines()) == 1
    assert "secret" not in printed.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "value"), [("encoding", "latin-1"), ("delimiter", ";"), ("types", {"age": "text"})])
def test_what_belongs_elsewhere_is_refused(visits, tmp_path, name, value):
    with pytest.raises(BadInput, match=f"^{name}: "):
        irisdp.publish(visits, "count", ledger=tmp_path / "ledger", **{"epsilon": 1, name: value})
    assert list(tmp_path.iterdir()) == []


def test_what_names_files_says_so(visits, tmp_path, capsys):
    assert run(["init", visits]) == 2
    assert "--out: is missing, and a table on a server has no folder to keep it in" in capsys.readouterr().err


def test_without_psycopg_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BadInput, match=r'psycopg: is not installed; pip install "irisdp\[postgresql\]"'):
        open_table("postgresql://host/db#t")


class TestErrors:
    CANARY = "canary7Qx"

    @pytest.mark.parametrize(("sql", "said"), [
        ("ward::int8", "is on a server that could not read it (22P02)"),
        (
            "(SELECT pg_sleep(9))::text::int8",
            "is on a server that stopped reading after the time that it allows (57014)",
        ),
        ("pg_terminate_backend(pg_backend_pid())::int", "or went away (57P01)"),
    ])  # fmt: skip
    def test_of_the_server_are_one_line_without_a_word_of_its(
        self, server, schema, visits, tmp_path, monkeypatch, sql, said
    ):
        """None of these can happen to what is read; so it is made to."""
        server.execute(f"UPDATE visits SET ward = '{self.CANARY}'", schema)
        monkeypatch.setattr(StoredColumn, "sql", sql)
        if "57014" in said:
            server.execute("ALTER ROLE iris SET statement_timeout = '500ms'")
        try:
            with pytest.raises(BadInput) as refusal:
                irisdp.publish(visits, "count", "age > 1", epsilon=1, ledger=tmp_path / "ledger")
        finally:
            server.execute("ALTER ROLE iris RESET statement_timeout")
        error = refusal.value
        assert said in str(error) and "\n" not in str(error)
        while error is not None:
            assert self.CANARY not in str(error)
            error = error.__context__
        assert irisdp.Ledger(tmp_path / "ledger").spent.epsilon == 0

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_of_connections_that_are_cut_anywhere_cost_nothing(
        self, server, schema, visits, tmp_path, monkeypatch, when
    ):
        server.execute(f"INSERT INTO visits (ward) SELECT '{self.CANARY}' || i FROM generate_series(1, 2000) i", schema)
        monkeypatch.setenv("PGPASSWORD", server.password)
        with cutter(server.folder / f".s.PGSQL.{server.port}") as proxy:
            data = f"postgresql://iris@127.0.0.1:{proxy.port}/postgres#{schema}.visits"
            proxy.cut(0, "")
            whole = irisdp.publish(data, "count", "age > 1", epsilon=1, ledger=tmp_path / "whole.ledger")
            messages = proxy.seen
            assert messages > 10
            for number in range(1, messages + 1):
                ledger = tmp_path / f"{when}{number}.ledger"
                proxy.cut(number, when)
                try:
                    irisdp.publish(data, "count", "age > 1", epsilon=1, ledger=ledger, another_ledger=True)
                except BadInput as error:
                    assert "is on a server that" in str(error)
                    assert self.CANARY not in str(error) and server.password not in str(error)
                    assert irisdp.Ledger(ledger).spent.epsilon == 0
                else:
                    assert irisdp.Ledger(ledger).spent.epsilon == 1
            proxy.cut(0, "")
            place = tmp_path / "whole.ledger"
            again = irisdp.publish(data, "count", "age > 1", epsilon=1, ledger=place, another_ledger=True)
        assert again.repeated and again.answers.values == whole.answers.values
        written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert server.password.encode() not in written


def test_addresses_are_read_as_libpq_reads_them():
    found = read_table_address("postgres://ann@db.example:5433/clinic?sslmode=require#a%2Eb.c%23")
    assert (found.server.told, found.schema, found.table) == (
        "postgresql://ann@db.example:5433/clinic?sslmode=require", "a.b", "c#",
    )  # fmt: skip
    assert read_table_address("postgresql:///clinic#visits").schema == "public"


def test_a_project_of_a_table_on_a_server_is_written_where_it_is_named(visits, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["init", visits]) == 2
    assert capsys.readouterr().err.startswith(
        "irisdp: --out: is missing, and a table on a server has no folder to keep it in; name a file"
    )
    assert run(["init", visits, "-o", "visits.iris.toml"]) == 0
    capsys.readouterr()
    text = (tmp_path / "visits.iris.toml").read_text()
    assert "# The columns, with the types that the table has:" in text and "# It is named with each question" in text
    (tmp_path / "visits.iris.toml").write_text("limit = 2\n" + text)
    options = {"epsilon": 1, "ledger": tmp_path / "v.ledger", "project": tmp_path / "visits.iris.toml"}
    assert irisdp.publish(visits, "count", **options).ledger is not None
    with pytest.raises(irisdp.BudgetRefused):
        irisdp.publish(visits, "count", "age > 40", **options | {"epsilon": 1.5})


@pytest.mark.parametrize("place", ["_split", "_hashes"])
def test_ctrl_c_while_the_server_is_read_is_an_interrupt_and_costs_nothing(visits, place, tmp_path, monkeypatch):
    ledger, whole = tmp_path / "t.ledger", getattr(postgresql, place)

    def stopping(*given):
        os.kill(os.getpid(), signal.SIGINT)
        return whole(*given)

    with monkeypatch.context() as patch:
        patch.setattr(postgresql, place, stopping)
        with pytest.raises(KeyboardInterrupt) as caught:
            irisdp.publish(visits, "count", "age > 64", ledger=ledger, epsilon=1)
    assert (caught.value.__cause__, caught.value.__context__, caught.value.args) == (None, None, ())
    assert not irisdp.publish(visits, "count", "age > 64", ledger=ledger, epsilon=1).repeated
