"""One table in whatever it is kept: the same counts, sums, groups and selections for the same bits, and one question.

The bits come from a script, so what is drawn is a function of the true counts and of nothing else; and every container
is asked in a folder of its own, with one secret, so that the same lots are drawn for a person's records.
"""

import csv
import datetime
import gzip
import json
import os
import random
import secrets
import sqlite3
from contextlib import closing

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from support.postgresql import lacking
from support.seeds import fresh_random

pytestmark = pytest.mark.usefixtures("one_engine")

TYPES = {"person": "integer", "ward": "text", "age": "integer", "cost": "number", "ok": "boolean", "day": "timestamp"}
ARROW = {"integer": pa.int64(), "text": pa.string(), "number": pa.float64(), "boolean": pa.bool_()} | {
    "timestamp": pa.timestamp("us")
}
SCHEMA = pa.schema([(name, ARROW[kind]) for name, kind in TYPES.items()])
QUESTIONS = [
    (["count"], {}),
    (["count", "age > 40 AND NOT ok"], {"by": "ward", "groups": ["Ely", "Łódź", "none"]}),
    (["count", "cost IS NULL OR day >= '2024-01-15'"], {"unit": "person", "at_most": 2}),
    (["count", "age > 40"], {"by": "ward", "select_groups": True, "delta": "1e-3"}),
    (["sum", "cost"], {"lower": 0, "upper": 100, "step": 1, "by": "ok", "groups": [True, False]}),
    (["sum", "age"], {"lower": 0, "upper": 100, "unit": "person", "at_most": 1}),
    (["majority", "ok"], {"by": "m = MONTH(day)", "groups": [1, 2]}),
    (["histogram", "age"], {"bins": "18,40,65"}),
    (["count-distinct", "person", "age <> 9007199254740993"], {}),
]


def made(pick, size):
    """Records with nulls, Unicode, neighbours of 2^53, instants and persons with several records."""
    ages = [*range(16, 90), 2**53, 2**53 + 1, -(2**63), None]
    return [
        {
            "person": pick.choice([*range(size // 3), None]),
            "ward": pick.choice(["Ely", "Łódź", "e\u0301", "a,b\n\"c\"", " x ", None]),
            "age": pick.choice(ages),
            "cost": pick.choice([0.5, 99.5, 1e300, -3.0, 12.25, None]),
            "ok": pick.choice([True, False, None]),
            "day": pick.choice([datetime.datetime(2024, 1, 31, 23, 59), datetime.datetime(2024, 2, 1), None]),
        }
        for _ in range(size)
    ]  # fmt: skip


def as_text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else value.isoformat() if isinstance(value, datetime.datetime) else str(value)


def text_of(rows):
    import io

    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerows([list(TYPES), *([as_text(value) for value in row.values()] for row in rows)])
    return out.getvalue().encode()


def lines_of(rows):
    return "".join(json.dumps(row, default=lambda day: day.isoformat()) + "\n" for row in rows).encode()


def kept(folder, rows):
    """Return the table in every container, with the options that each needs."""
    table = pa.Table.from_pylist(rows, SCHEMA)
    (folder / "t.csv").write_bytes(text_of(rows))
    (folder / "packed").mkdir()
    (folder / "packed" / "t.csv.gz").write_bytes(gzip.compress(text_of(rows)))
    (folder / "t.jsonl").write_bytes(lines_of(rows))
    (folder / "packed" / "t.ndjson.gz").write_bytes(gzip.compress(lines_of(rows)))
    pq.write_table(table, folder / "t.parquet")
    for ward in sorted({row["ward"] or "" for row in rows}):
        name = "".join(f"%{byte:02X}" for byte in ward.encode()) or "__HIVE_DEFAULT_PARTITION__"
        part = pa.Table.from_pylist([row for row in rows if (row["ward"] or "") == ward], SCHEMA).drop(["ward"])
        (folder / "parts" / f"ward={name}").mkdir(parents=True)
        for place in range(2):
            half = part.take(list(range(place, len(part), 2)))
            pq.write_table(half, folder / "parts" / f"ward={name}" / f"{place}.parquet")
    sql = {"integer": "INTEGER", "text": "TEXT", "number": "REAL", "boolean": "BOOLEAN", "timestamp": "TIMESTAMP"}
    with closing(sqlite3.connect(folder / "t.db")) as database, database:
        database.execute(f"CREATE TABLE t ({', '.join(f'{name} {sql[kind]}' for name, kind in TYPES.items())})")
        values = [[v.isoformat() if isinstance(v, datetime.datetime) else v for v in row.values()] for row in rows]
        database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(TYPES))})", values)
    typed = {"types": TYPES}
    return {
        "csv": (folder / "t.csv", typed),
        "csv.gz": (folder / "packed" / "t.csv.gz", typed),
        "jsonl": (folder / "t.jsonl", typed),
        "ndjson.gz": (folder / "packed" / "t.ndjson.gz", typed),
        "sqlite": (f"sqlite:///{folder}/t.db#t", {}),
        "parquet": (folder / "t.parquet", {}),
        "folder": (folder / "parts", {"types": {"ward": "text"}}),
        "arrow": (table, {}),
        "polars": (pl.from_arrow(table), {}),
        "polars, lazy": (pl.from_arrow(table).lazy(), {}),
    }


def on_server(server, rows):
    """Return the table on a server, under a name of its own."""
    sql = {"integer": "bigint", "number": "double precision"}
    name = f"t_{secrets.token_hex(6)}"
    server.execute(
        f"CREATE TABLE {name} ({', '.join(f'{column} {sql.get(kind, kind)}' for column, kind in TYPES.items())})"
    )
    listed = ", ".join(f"({', '.join(map(as_sql, row.values()))})" for row in rows)
    server.execute(f"INSERT INTO {name} VALUES {listed}")
    return f"postgresql://iris@/postgres?host={server.folder}&port={server.port}#{name}", {}


def as_sql(value):
    quoted = isinstance(value, str | datetime.datetime)
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'" if quoted else str(value)


@pytest.fixture
def elsewhere(request):
    """Where tables are kept that are no files: on a server, where one can be had."""
    return {} if lacking() else {"server": request.getfixturevalue("server")}


TEXT = ("csv", "csv.gz", "jsonl", "ndjson.gz", "sqlite")
"""Containers whose values are text that is read as declared: the question about them is one, word by word."""


def asked(data, options, question, folder, monkeypatch):
    arguments, about = question
    bits = random.Random(7)
    with monkeypatch.context() as patch:
        patch.setattr(os, "urandom", bits.randbytes)
        told = {"ledger": folder / "ledger", "secret": folder.parent / "any", "epsilon": 1}
        return irisdp.publish(data, *arguments, **told, **about, **options)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: " ".join(map(str, question[0])))
def test_the_same_bits_give_the_same_answers_and_text_the_same_question(tmp_path, question, monkeypatch, elsewhere):
    rows = made(fresh_random(f"one table {question[0]}"), 60)
    found, said = {}, {}
    tables = kept(tmp_path, rows) | {name: on_server(server, rows) for name, server in elsewhere.items()}
    for name, (data, options) in tables.items():
        (tmp_path / name).mkdir()
        published = asked(data, options, question, tmp_path / name, monkeypatch)
        rendered = zip(published.answers.keys, published.answers.values, strict=True)
        found[name], said[name] = sorted(map(repr, rendered)), published.plan.question()
    # Which record stands for a person is drawn by lots that know it as it is held: packing changes nothing of that.
    held = [("csv", "csv.gz"), ("jsonl", "ndjson.gz"), ("parquet", *elsewhere)]
    alike = held if "unit" in question[1] else [tuple(found)]
    assert all(len({repr(found[name]) for name in some}) == 1 for some in alike), found
    assert len({repr(said[name]) for name in TEXT}) == 1
    assert len({repr(said[name]) for name in ("parquet", *elsewhere)}) == 1


def test_other_records_have_other_answers(tmp_path, monkeypatch):
    """Negative control: the bits do not decide alone."""
    rows = made(fresh_random("one table, control"), 60)
    (tmp_path / "a.csv").write_bytes(text_of(rows))
    (tmp_path / "b.csv").write_bytes(text_of(rows[1:]))
    found = []
    for name in "ab":
        (tmp_path / name).mkdir()
        question = (["count"], {})
        published = asked(tmp_path / f"{name}.csv", {}, question, tmp_path / name, monkeypatch)
        found.append(published.answers.values[0])
    assert found[0] == found[1] + 1
