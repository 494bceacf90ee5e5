"""One table in whatever it is kept: the same counts, sums, groups and selections for the same bits, and one question.

The bits come from a script, so what is drawn is a function of the true counts and of nothing else; and every container
is asked in a folder of its own, with one secret, so that the same lots are drawn for a person's records.
"""

import csv
import datetime
import gzip
import io
import itertools
import json
import os
import random
import re
import secrets
import sqlite3
from collections import Counter
from contextlib import closing
from functools import partial

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import irisdp
from irisdp._tables import json_lines
from irisdp._tables.canonical_sql import one_form, spell
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import _parse, read_condition
from irisdp._tables.sql_compiler import ConditionCompiler
from irisdp._tables.table import open_table
from support.postgresql import lacking
from support.seeds import fresh_generator, fresh_random
from support.sweeps import tried

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


# Conditions with one text mean one thing: all small conditions on all small records, nulls, NaN and infinities too.
#
# The meaning is computed here from the condition as it was parsed, by the engine, before anything is brought into
# one form. So no rule of that form is trusted: conditions that share a text must agree on every record.

NUMBERS = [None, float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, 64.0]
RECORDS = list(itertools.product(NUMBERS, NUMBERS, [None, "", "a", "b"], [None, True, False]))
TYPED = [
    Column("x", ColumnType.NUMBER),
    Column("y", ColumnType.NUMBER),
    Column("t", ColumnType.TEXT),
    Column("b", ColumnType.BOOLEAN),
]
TABLE = pa.table(dict(zip("xytb", zip(*RECORDS, strict=True), strict=True)))
UNTYPED = [Column(name, ColumnType.UNTYPED) for name in "xytb"]
TEXTS = pa.table({name: [None if v is None else str(v).lower() for v in TABLE[name].to_pylist()] for name in "xytb"})

SIDES = ["x", "y", "x - y", "1", "0 * x", "-x"]
SIGNS = ["=", "<>", "<", "<=", ">", ">="]
COMPARISONS = [f"{one} {sign} {other}" for one, other in itertools.permutations(SIDES, 2) for sign in SIGNS]
OTHERS = [
    "b", "t = 'a'", "'a' < t", "t >= 'a'", "t IN ('a', 'b')", "t IN ('b', 'a', 'b')", "x IN (1, 64)",
    "x IN (64, NULL, 1)",
    "x NOT IN (64, 1)", "x IS NULL", "x IS NOT NULL", "t LIKE 'a%'", "t NOT LIKE 'a%'", "x BETWEEN 0 AND 64",
    "b IS TRUE",
    "b = TRUE", "TRUE", "NULL = x", "CASE WHEN x > y THEN b END", "(x > y) = b", "b = (y < x)", "b <> (NOT x > 1)",
]  # fmt: skip


def meanings(texts, columns, table):
    """Evaluate conditions on every record, in the engine."""
    found = []
    with duckdb.connect() as connection:
        connection.register("data", table)
        for start in range(0, len(texts), 100):
            trees = map(_parse, texts[start : start + 100])
            listed = [ConditionCompiler(columns).condition(tree).sql("duckdb") for tree in trees]
            named = ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(listed))
            found += [
                column.to_pylist() for column in connection.sql(f"SELECT {named} FROM data").to_arrow_table().columns
            ]
    return found


def assert_kept(texts, columns=TYPED, table=TABLE):
    """Check that conditions mean what they meant, and that those of one text mean the same; count the texts."""
    read = [read_condition(text, columns) for text in texts]
    for condition in read:
        assert read_condition(condition.text, columns).text == condition.text
        assert read_condition(condition.shown, columns).text == condition.text
    forms = list(dict.fromkeys(condition.text for condition in read))
    meant = dict(zip(forms, meanings(forms, columns, table), strict=True))
    for text, condition, plain in zip(texts, read, meanings(texts, columns, table), strict=True):
        assert meant[condition.text] == plain, text
    return len(forms)


def test_every_comparison_and_its_denial():
    denied = [f"NOT {text}" for text in COMPARISONS] + [f"NOT (NOT ({text}))" for text in COMPARISONS]
    # Each is read from either side, and its denial is another comparison.
    assert assert_kept([*COMPARISONS, *denied]) == len(COMPARISONS) // 2


@pytest.mark.parametrize("deny", ["{}", "NOT ({})", "NOT NOT ({})", "NOT (NOT (NOT ({})))"])
def test_everything_else_and_its_denials(deny):
    assert_kept([deny.format(text) for text in OTHERS])


@pytest.mark.parametrize("connector", ["AND", "OR"])
def test_every_pair_in_both_orders(connector):
    parts = [*OTHERS, "x > 1", "NOT x <= 1", "y < x", "NOT (x = y)"]
    every = tried(15, 1)  # one in so many pairs, each with its other order
    pairs = [
        f"({one}) {connector} ({other})"
        for (i, one), (j, other) in itertools.product(enumerate(parts), repeat=2)
        if (i + j) % every == 0
    ]
    assert assert_kept(pairs) < len(pairs) * 0.6


def test_deep_conditions():
    choose = random.Random(int(fresh_generator(1).integers(2**63)))

    def deep(levels):
        if not levels or choose.random() < 0.1:
            return choose.choice(COMPARISONS + OTHERS)
        form = choose.choice(["({}) AND ({})", "({}) OR ({})", "NOT ({})", "({}) = ({})", "COALESCE({}, {})"])
        return form.format(*(deep(levels - 1) for _ in range(form.count("{}"))))

    assert_kept([deep(3) for _ in range(tried(16, 100))])


def test_untyped_columns_are_read_alike():
    parts = ["x > 1", "NOT 1 >= x", "t = 'a'", "'b' <> t", "x - y <= 0", "t IN ('b', 'a')", "lower(b) = 'true'"]
    texts = [
        f"({one}) {word} NOT ({other})" for one, other in itertools.permutations(parts, 2) for word in ("AND", "OR")
    ]
    assert_kept(texts, UNTYPED, TEXTS)


@pytest.mark.parametrize("forms", [
    ["x > 1 AND t = 'a' AND b", "b AND (t = 'a' AND x > 1)", "NOT (NOT (b AND 1 < x)) AND 'a' = t"],
    ["x IN (1, 64)", "x IN (64, 1)", "x IN (64.0, 1, 64)"],
    ["x > 64", "NOT x <= 64", "64 < x", "NOT (64 >= x)", "NOT NOT x > 64"],
    ["t NOT LIKE 'a%'", "NOT t LIKE 'a%'"],
    ["x > 1 OR (y > 1 AND b)", "(b AND y > 1) OR x > 1"],
])  # fmt: skip
def test_spellings_of_one_question(forms):
    assert len({read_condition(form, TYPED).text for form in forms}) == 1


@pytest.mark.parametrize(("one", "other"), [
    ("x > 1 AND b OR t = 'a'", "x > 1 AND (b OR t = 'a')"),
    ("x > y", "x >= y"),
    ("x - y > 1", "y - x > 1"),
    ("x BETWEEN 0 AND 64", "x BETWEEN 64 AND 0"),
    ("NOT (x > 1 AND b)", "NOT x > 1 AND NOT b"),
    ("CASE WHEN b THEN x > 1 ELSE y > 1 END", "CASE WHEN b THEN y > 1 ELSE x > 1 END"),
    ("NULLIF(x, y) = 1", "NULLIF(y, x) = 1"),
    ("x / y > 1", "y / x > 1"),
])  # fmt: skip
def test_other_questions_stay_apart(one, other):
    assert read_condition(one, TYPED).text != read_condition(other, TYPED).text


def test_people_see_the_order_they_wrote():
    condition = read_condition("x > 1 and b", TYPED)
    assert (condition.shown, condition.text) == ("x > 1 AND b", "b AND x > 1")


def test_the_form_is_one_that_the_parts_are_in():
    tree = _parse("NOT (x <= 1) AND (b OR NOT (NOT (y > 1 OR x IN (2, 1))))")
    found = one_form(tree, lambda part: spell(part, TYPED))
    assert spell(found, TYPED) == "(b OR x IN (1, 2) OR y > 1) AND x > 1"


# Codes such as 01234, 1E2 or +5 stay codes: a declared value counts the records that spell it so, and no others.
#
# Each system of codes is a random set of spellings, of which many are one number. A table of them is kept in every
# container, and every query that names values is asked about it, so that the true counts behind the answers are
# seen.

ODD = [
    "+{0}", "-{0}", "\u2212{0}", "0{0}", "00{0}", "{0}.", "{0}.0", "{0}.00", " {0}", "{0} ", "\u00a0{0}", "{0}\t",
    "'{0}",
]  # fmt: skip
ODD += [
    "{0}e0",
    "{0}E0",
    "{0}E+00",
    "{0}e-0",
    ".{0}",
    "0x{0}",
    "{0}_0",
    "{0},0",
    "{0}%",
    "{0}/1",
    "{0}f",
    "#{0}",
    '"{0}"',
]
WORDS = ["XYZ", "nan", "NaN", "inf", "true", "none", "null", "NULL", "a, b", "\u00e9", "e\u0301", "1E2", "100", "1e2"]
DIGITS = [
    "0123456789",
    "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669",
    "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19",
]


def system(pick):
    """Return spellings that a table holds and some that it does not, with how often each occurs."""
    numbers = [str(pick.choice([0, 1, 7, 12, 100, 1234, 2**53 + 1])) for _ in range(2)]
    spelt = {number.translate(str.maketrans(DIGITS[0], digits)) for number in numbers for digits in DIGITS}
    spelt |= {form.format(number) for number in numbers for form in pick.sample(ODD, 6)}
    spelt |= set(pick.sample(WORDS, 4))
    return {value: pick.choice([0, 1, 2, 3]) for value in sorted(spelt)}


def written(values, delimiter=",", *, x=True):
    out = io.StringIO(newline="")
    rows = [["code", "x"], *([value, "1"] for value in values)]
    csv.writer(out, delimiter=delimiter).writerows(rows if x else [[value] for value, _ in rows])
    return out.getvalue()


def in_sqlite(folder, values, kind):
    with closing(sqlite3.connect(folder / "t.db")) as database, database:
        database.execute(f"CREATE TABLE t (code {kind}, x INTEGER)")
        database.executemany("INSERT INTO t VALUES (?, 1)", [[value] for value in values])
    return f"sqlite:///{folder}/t.db#t", {}


def in_file(path, content):
    path.write_text(content, encoding="utf-8", newline="")
    return path, {}


def in_lines(folder, values):
    lines = "".join(json.dumps({"code": value, "x": 1}) + "\n" for value in values)
    return in_file(folder / "t.jsonl", lines)[0], {"types": {"code": "text", "x": "integer"}}


def in_parquet(folder, values):
    pq.write_table(pa.table({"code": values, "x": [1] * len(values)}), folder / "t.parquet")
    return folder / "t.parquet", {}


KEPT = {
    "csv": lambda folder, values: in_file(folder / "t.csv", written(values)),
    "tsv": lambda folder, values: in_file(folder / "t.tsv", written(values, "\t")),
    "json lines": in_lines,
    "parquet": in_parquet,
    "pandas": lambda _, values: (pd.DataFrame({"code": pd.Series(values, dtype=object), "x": 1}), {}),
    "pandas, categories": lambda _, values: (pd.DataFrame({"code": pd.Categorical(values), "x": 1}), {}),
    "polars": lambda _, values: (pl.DataFrame({"code": values, "x": [1] * len(values)}), {}),
    "sqlite": lambda folder, values: in_sqlite(folder, values, "TEXT"),
    "sqlite, untyped": lambda folder, values: in_sqlite(folder, values, ""),
}
CODE = re.compile(r"[+-]?[0-9]+[.]?([eE][+-]?[0-9]+)?", re.ASCII)
UNTYPED_CODES = ("csv", "tsv", "pandas", "pandas, categories", "sqlite, untyped")


def counts(data, *words, **options):
    """Return the true counts behind an answer, by what the answer names."""
    planned = irisdp.plan(data, *words, epsilon=1, **options)
    groups, categories = planned.groups, planned.query.categories
    found = planned.query.statistics(planned.table, condition=planned.condition, groups=groups, unit=None)
    named = groups or categories
    names = [label[-1] for label in named.labels] if named else [None]
    if hasattr(found, "codes"):
        told = Counter(found.codes.tolist())
        return {name: told[place] for place, name in enumerate(names)}
    held = next(getattr(found, name) for name in ("yes", "total", "counts") if getattr(found, name, None) is not None)
    return dict(zip(names, held.ravel().tolist(), strict=True))


def quoted(value):
    return "'" + value.replace("'", "''") + "'"


FORMS = {
    "a list": lambda values, _: values,
    "text": lambda values, _: ",".join('"' + value.replace('"', '""') + '"' for value in values),
    "a mapping": lambda values, _: {"code": values},
    "a frame": lambda values, _: pa.table({"code": values}),
    "a file": lambda values, folder: in_file(folder / "declared.csv", written(values, x=False))[0],
}


@pytest.mark.parametrize("kind", KEPT)
def test_a_declared_value_counts_the_records_that_spell_it_so_whatever_else_is_declared(kind, tmp_path):
    pick = fresh_random(f"codes in {kind}")
    for number in range(tried(1, 200)):
        times = {**system(pick), "00": 0}
        records = [value for value, many in times.items() for _ in range(many)]
        pick.shuffle(records)
        folder = tmp_path / str(number)
        folder.mkdir()
        data, options = KEPT[kind](folder, records)
        values = [value for value in pick.sample(sorted(times), pick.randint(3, len(times))) if value != "00"]
        right = {value: times[value] for value in values}
        form, declare = pick.choice(sorted(FORMS.items()))
        declared = {"categories": declare(values, folder), **options}
        grouped = {"by": "code", "groups": declare(values, folder), **options}
        for words in (["count"], ["count", "x = 1"], ["at-least", 2, "x > 0"], ["sum", "x"]):
            bounds = {"lower": 0, "upper": 1, "step": 1} if words[0] == "sum" else {}
            assert counts(data, *words, **grouped, **bounds) == right, (words, form)
        for words in (
            ["plurality", "code"],
            ["top", 1, "code"],
            ["ranking", "code"],
            ["histogram", "code"],
            ["sizes", "code"],
        ):
            assert counts(data, *words, **declared) == right, (words, form)
        if not kind.startswith("sqlite"):
            assert counts(data, "column", "code", relation="exchange", **declared) == right, form
        listed = ", ".join(map(quoted, values))
        assert counts(data, "count", f"code IN ({listed})", **options) == {None: sum(right.values())}
        assert counts(data, "count-distinct", "code", f"code IN ({listed})", **options) == {
            None: sum(many > 0 for many in right.values())
        }
        cases = " ".join(f"WHEN {quoted(value)} THEN 'c{place}'" for place, value in enumerate(values))
        named = {f"c{place}": many for place, many in enumerate(right.values())}
        assert counts(data, "count", by=[f"case = CASE code {cases} END"], groups=list(named), **options) == named
        codes = [value for value in values if CODE.fullmatch(value)]
        if codes and kind in UNTYPED_CODES:
            right_of_codes = {None: sum(right[code] for code in codes)}
            assert counts(data, "count", f"code IN (00, {', '.join(codes)})", **options) == right_of_codes, codes


def test_another_group_never_changes_what_a_group_counts(tmp_path):
    data, _ = in_file(tmp_path / "t.csv", "code\n01234\n1234\n1234\n1E3\n1000\n")
    for others in ("", ",XYZ", ",1E3,1000", ",1234.0", ",+1234, 5 "):
        found = counts(data, "count", by="code", groups="01234,1234" + others)
        assert (found["01234"], found["1234"], found.get("1000", 1)) == (1, 2, 1), others


# JSON lines: every line is read as it is alone, whatever stands around it; one that is no object is unknown.

TYPES_JSON_LINES = {"v": "integer", "g": "text", "b": "boolean", "x": "number", "d": "timestamp"}

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["1", "2024-01-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.sampled_from([*TYPES_JSON_LINES, "other", "V"]), VALUES, max_size=6).map(
    lambda record: json.dumps(record, ensure_ascii=bool(len(record) % 2)).encode("utf-8", "surrogatepass")
)
HOSTILE = st.sampled_from(
    [
        b"", b" \t", b"\r", b"{", b"}", b"[]", b"[1]", b"null", b"1", b'"x"', b'{"v": 1', b'{"v": 1}}', b"\x00",
        b'{"v": 1} {"v": 2}', b'{"v": NaN}', b'{"v": Infinity}', b'{"v": 01}', b"{'v': 1}", b'{"v": 1,}',
        b'{"v": "\xff"}', b'{"g": "\\ud800"}', b'{"g": "\\ud83d\\ude00"}', b'{"g": "a\\u0000b"}', b'{"v": 1, "v": 2}',
        b'{"v": 1e400, "x": 1e400}', b'{"v": ' + b"9" * 5000 + b', "g": "y"}', b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00",
        b'{"g": "tab\there"}', b'{"d": "20240-01-01"}', b'{"d": 1e18}', b'{"g": {"v": 1}}', b'{"\\u0076": 7}',
        b'{"g": "' + b"x" * 40 + b'"}', b"[" * 5000, b'{"g":' * 3000, b'{"v": 3, "g": "' + b"[" * 300 + b'"}',
        b'{"g": ' + b"[" * 101 + b"]" * 101 + b', "v": 1}',
        b"\xef\xbb\xbf", b'\xef\xbb\xbf{"v": 1}', b'\xef\xbb\xbf\xef\xbb\xbf{"v": 1}',
    ]
)  # fmt: skip
LINES = st.lists(OBJECTS | HOSTILE, max_size=8)


def rows(folder, content, packing=""):
    path = folder / f"t.jsonl{packing}"
    path.write_bytes(gzip.compress(content) if packing else content)
    table = open_table(path, types=TYPES_JSON_LINES)
    read = ", ".join(f"{column.reference.sql('duckdb')} AS {column.name}" for column in table.columns)
    held = table.run(f"SELECT {read} FROM data", table.columns)
    return [tuple(record[name] for name in TYPES_JSON_LINES) for record in held.to_pylist()]


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=tried(20, 100))
@given(LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_a_line_is_read_as_it_is_alone(tmp_path_factory, lines, end, ended):
    folder = tmp_path_factory.mktemp("lines")
    whole = end.join([*lines, b""] if ended else lines)
    alone = [row for line in lines for row in rows(folder, line)]
    assert rows(folder, whole) == alone
    assert rows(folder, whole, ".gz") == alone


@given(LINES, st.integers(10, 60), st.integers(2, 30))
def test_lines_are_those_of_an_obvious_machine_wherever_blocks_end(tmp_path_factory, lines, longest, more):
    path = tmp_path_factory.mktemp("lines") / "t.jsonl"
    path.write_bytes(b"\n".join(lines))
    source = json_lines.JsonLinesSource(path, ("v",))
    found = [line for some in json_lines._lines(source, longest=longest, size=longest + more) for line in some]
    assert found == [
        line
        for line in (line.removeprefix(b"\xef\xbb\xbf") for line in path.read_bytes().split(b"\n"))
        if line.strip(b" \t\r") and len(line.removesuffix(b"\r")) <= longest
    ]


@given(OBJECTS)
def test_a_record_is_what_another_reader_of_json_reads(line):
    try:
        expected = json.loads(line, parse_constant=lambda _: 1 / 0)
    except ZeroDivisionError:  # NaN and infinities are no JSON
        expected = {}
    found = json_lines.read_record(line)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        text = json_lines._text(found[name])
        if isinstance(value, bool | str):
            assert text == (str(value).lower() if isinstance(value, bool) else value)
        elif value is None or isinstance(value, list | dict):
            assert text is None
        else:
            assert type(value)(text) == value


def test_a_reader_that_guesses_types_is_found_out(tmp_path):
    """Negative control: Arrow's own reader ends in an error where one record has text for a number."""
    import pyarrow as pa
    import pyarrow.json

    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"v": 1}\n{"v": "x"}\n')
    with pytest.raises(pa.ArrowInvalid):
        pyarrow.json.read_json(path)
    assert [row[0] for row in rows(tmp_path, path.read_bytes())] == [1, None]


@pytest.mark.parametrize("depth", [100, 101])
def test_how_deep_a_record_may_be_is_public(depth):
    """The same wherever it is read from, be Python's own limit nearly reached."""
    line = b'{"v": 1, "g": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    def within(levels, action):
        return action() if not levels else within(levels - 1, action)

    read = partial(json_lines.read_record, line)
    assert bool(read()) is (depth == 100)
    assert within(500, read) == read()
