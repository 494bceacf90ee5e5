"""What is fed with changed inputs, and how: each target has seeds, a way to change them, and what takes one.

A taker may raise an `IrisError` of one line, or return. All else is a finding: another exception, "internal error" on
the command line, the mark of a record in a message, a charge that a refused command left behind.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.changes import changed_bytes, changed_document, changed_text, parsed
from irisdp.certify import audit
from irisdp.certify.matrix_files import read_mechanism
from irisdp.design.specs import from_spec
from irisdp.errors import BadInput, IrisError
from irisdp.exact import rational
from irisdp.privacy import Privacy
from irisdp.queries import Kind, count_records, open_table, read_condition, read_groups
from irisdp.queries.columns import Column
from irisdp.queries.expression import read_value_of_record
from irisdp.queries.json_lines import read_record
from irisdp.queries.server_tables import read_table_address
from irisdp.queries.servers import is_on_server
from irisdp.reading.released import read_release
from irisdp.release.batches.reading import read_batch
from irisdp.release.ledger import Ledger
from irisdp.release.projects.reading import read_document as read_project
from irisdp.release.runs.reading import read_run
from support.commands import irisdp

__all__ = ["MARK", "TARGETS", "Charged", "Target"]

MARK = "Zweig-4711"
"""Stands in records; no message may hold it."""
ROOT = Path(__file__).parents[2]
COLUMNS = (
    *(Column("age", Kind.INTEGER), Column("v", Kind.UNTYPED), Column("name", Kind.TEXT), Column("at", Kind.DATE)),
    *(Column("cost", Kind.NUMBER), Column("ok", Kind.BOOLEAN), Column("a b", Kind.TEXT), Column("x", Kind.NESTED)),
)
CONDITIONS = (
    *("age > 64 AND name IN ('a', 'b')", "v = 1", "NOT ok OR at < '2024-01-31T11:30:00'", "name LIKE 'a%'"),
    *("age BETWEEN 1 AND 2", "CASE WHEN age < 40 THEN ok ELSE FALSE END", "CAST(v AS DOUBLE) > 1.5e3", "x IS NULL"),
    *("\"a b\" <> 'it''s'", "abs(cost - 1) / 2 % 3 >= floor(cost)", "YEAR(at) = 2024", "lower(name) = upper('ü')"),
)
VALUES = (
    *("CASE WHEN age < 40 THEN 'young' WHEN age >= 40 THEN 'old' END", "YEAR(at)", "BINS(age, 0, 18, 65)"),
    *("FLOOR(cost / 10)", "EXTRACT(MONTH FROM at)", "CAST(at AS DATE)", "name", "age + 1"),
)
SQL = (
    *("AND", "OR", "NOT", "IN (", "BETWEEN", "LIKE", "ILIKE", "IS NULL", "CASE WHEN", "THEN", "END", "CAST(", "AS INT"),
    *("TRY_CAST(", "(", ")", "'", "''", '"a b"', "age", "v", "name", "at", "cost", "ok", "x", "SELECT 1", "FROM data"),
    *("abs(", "floor(", "YEAR(", "BINS(", "*", "/", "||", "::INT", "DATE '2024-01-31'", "INTERVAL 1 DAY", "-", "1e400"),
    *(
        "read_text('/etc/passwd')",
        "getenv('HOME')",
        "?",
        "$1",
        "[1, 2]",
        "{'a': 1}",
        "x -> y",
        "ESCAPE",
        "COLLATE",
        "~",
    ),
)
ADDRESSES = (
    *("postgresql://ann@db.example:5433/clinic?sslmode=require#a%2Eb.c%23", "postgresql:///d?host=/tmp&schema=s"),
    *("sqlite:///clinic.db#visits", "sales/year=2024/*.parquet", "t.csv.gz", "postgres://h/d?schema=a_1", "a.ledger"),
)
OF_ADDRESSES = (
    "postgresql://",
    "sqlite:///",
    "#",
    "?",
    "&",
    "=",
    "schema=",
    "host=",
    "@",
    ":",
    "%2F",
    "[::1]",
    "*",
    "..",
)
NUMBERS = ("0.25", "1e-9", "3/10", "-1", "1", "100000000000000000000", "+.5", "2.5e3", "ln(2)")
OF_NUMBERS = ("/", ".", "e", "-", "+", "0", "9", "_", " ", "e9", "e-4000", "inf", "nan", "1/")
PLAN = (ROOT / "examples" / "plan.toml").read_text(encoding="utf-8")
PROJECT = (
    'unit = "person"\nrelation = "exchange"\nlimit = "3,1e-6"\nencoding = "latin-1"\ndelimiter = ";"\n'
    '[types]\nage = "integer"\nborn = "date"\n[groups]\nward = ["north", "east"]\n[categories]\nparty = [0, 1, 2.5]\n'
)
TOML = (
    *("[", "]", "[[", "]]", "=", '"', "'''", "# ", "\n", "[datasets.x]\n", "[[questions]]\n", "{a = 1}", "1979-05-27"),
    *(
        "query",
        "epsilon",
        "data",
        "groups",
        "unit",
        "types",
        "out",
        "limit",
        "true",
        "inf",
        "nan",
        "0x1f",
        "1_0",
        "\\u0000",
    ),
)
BATCH = {
    "data": "t.csv", "budget": {"epsilon": 1, "delta": "1e-6"}, "out": "f.csv", "ledger": "a.ledger",
    "questions": [
        {"query": "count", "expression": "age > 64"},
        {"query": "count", "expression": "v = 1", "by": "g", "groups": "a,b", "weight": 2},
        {"query": "majority", "expression": "v > 3"}, {"query": "histogram v", "bins": "1,2"},
    ],
}  # fmt: skip
COMMANDS = (
    *("publish t.csv count --epsilon 1", "publish t.csv count --by g --groups a,b --epsilon 1/2 --relation exchange"),
    *("publish t.csv majority v=1 --epsilon 1 --out o.csv --force", "publish t.csv at-least 2 --ratio 2 --json"),
    *(
        "publish t.csv count --audience board=2 --audience press=0.5 --dry-run",
        "publish t.csv count --mu 1 --delta 1e-6",
    ),
    *("publish t.csv sum v --lower 0 --upper 9 --epsilon 1 --dry-run", "publish t.csv median v --bins 1,2 --epsilon 1"),
    *("publish t.csv plurality g --categories a,b,c --epsilon 1 --dry-run", "publish t.csv count --within 5 --dry-run"),
    *("publish t.csv count --unit u --at-most 2 --epsilon 1 --dry-run", "ledger t.ledger --json", "ledger t.ledger"),
    *("ledger t.ledger --verify", "init t.csv --force", "sample m.json --input 0 -n 2", "audit m.json"),
    *("compare at-least 3 --n 6 --epsilon 1", "interpret s.json --value 1 --at-most 3", "batch b.json --dry-run"),
)
OF_COMMANDS = (
    *("--epsilon", "--delta", "--groups", "--by", "--unit", "--ledger", "--out", "--types", "--encoding", "--json"),
    *(
        "--dry-run",
        "--select-groups",
        "--categories",
        "--bins",
        "--within",
        "--confidence",
        "--privacy",
        "--help",
        "-n",
    ),
    *(
        "count",
        "histogram",
        "sizes",
        "column",
        "top",
        "ranking",
        "quantile",
        "band",
        "apply",
        "m.json",
        "t.csv",
        "b.json",
    ),
    *(
        "1",
        "0",
        "-1",
        "1/3",
        "nan",
        "a,b",
        "g",
        "v",
        "u",
        "{}",
        "[]",
        '{"epsilon": 1}',
        "",
        "=",
        "t.ledger",
        "none.csv",
    ),
)
COMMANDS_THAT_STAY = (
    "explore",
    "reproduce",
    "run",
    "report",
    "plot",
    "-p",
    "--port",
    "--engine",
    "--master",
    "--spark",
)
"""What listens, takes long by itself, or is a target of its own."""
RECORDS = (b'{"age": 1e2, "name": "x", "n": null, "b": [1, {"c": true}]}', b'{"a": "\\ud83d\\ude00\\u0000"}', b"{}")
TABLE = f'g,v,u\na,1,1\n{MARK},2,2\nb,{MARK},3\n"b,""\n",3.5,\n,,{MARK}\n'


class Charged(AssertionError):
    """A command that was refused left a charge."""


@dataclass(frozen=True)
class Target:
    """Something that takes inputs.

    Attributes
    ----------
    whole : int
        How many inputs a whole run feeds.
    seeds : callable
        Makes valid inputs, in a folder of the target's own.
    change : callable
        Changes one of them, given another and a generator.
    take : callable
        Takes one; given the folder, too.
    """

    whole: int
    seeds: Callable[[Path], list]
    change: Callable[[Any, Any, random.Random], Any]
    take: Callable[[Any, Path], object]


def text_by(words: tuple[str, ...]) -> Callable[[str, str, random.Random], str]:
    return lambda one, other, chance: changed_text(one, other, words, chance)


def document_or_text(one: str, other: str, chance: random.Random) -> str:
    """Change what JSON text says, or now and then the text."""
    document = parsed(one)
    if document is None or chance.random() < 0.1:
        return changed_text(one, other, (",", ":", "[", "]", "{", "}", '"', "null", "1e5"), chance)
    return changed_document(document, chance)


def words_of(one: list[str], other: list[str], chance: random.Random) -> list[str]:
    """Change the words of a command."""
    made = list(one)
    for _ in range(chance.choice((1, 1, 2, 3))):
        at, way = chance.randrange(len(made) + 1), chance.randrange(5)
        if way == 0:
            made.insert(at, chance.choice(OF_COMMANDS))
        elif way == 1 and made:
            made.pop(at % len(made))
        elif way == 2 and made:
            made[at % len(made)] = chance.choice(OF_COMMANDS)
        elif way == 3 and other:
            made.insert(at, chance.choice(other))
        elif made:
            word = made[at % len(made)]
            made[at % len(made)] = changed_text(word, chance.choice(OF_COMMANDS), OF_COMMANDS, chance)
    return made


def addresses(text: str, _: Path) -> None:
    """Read an address as a ledger's and as a table's; nobody is called up."""
    with suppress(BadInput):
        Ledger(text)
    if is_on_server(text):
        read_table_address(text)
    else:
        open_table(text).close()


def written(name: str, read: Callable[[Path], object]) -> Callable[[Any, Path], object]:
    """Write an input to a file and read that."""

    def take(given: str | bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(given if isinstance(given, bytes) else given.encode("utf-8", "surrogatepass"))
        return read(path)

    return take


def table_of(path: Path | str, **told: Any) -> None:
    """Open a table, count its records, and its groups; of each column what a condition says."""
    with closing(open_table(str(path), **told)) as table:
        count_records(table)
        name = table.columns[0].name.replace('"', '""')
        count_records(table, condition=read_condition(f'"{name}" IS NULL', table.columns))
        if name == "g":
            count_records(table, groups=read_groups(table, "g", "a,b"))
        table.digest()


def typed_lines(path: Path) -> None:
    table_of(path, types={"g": "text", "v": "number", "u": "integer"})


def by_types(text: str, folder: Path) -> None:
    (folder / "types.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    open_table(str(folder / "t.csv"), types=folder / "types.json").close()


def ledger_of(path: Path) -> None:
    for rest in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    book = Ledger(path)
    for use in (lambda: book.spent, book.to_document, book.verify, lambda: book.set_limit(5)):
        with suppress(IrisError):
            use()


def command(words: list[str], folder: Path) -> str:
    if any(word.startswith(stay) for word in words for stay in COMMANDS_THAT_STAY):
        return ""
    before = _spent(folder)
    ended = irisdp(words)
    if ended.status in (1, 2) and _spent(folder) != before:
        raise Charged(words)
    if "internal error" in ended.err or "Traceback" in ended.err or (ended.status == 2 and ended.err.count("\n") != 1):
        raise AssertionError(ended.err)
    if MARK in ended.out + ended.err:
        raise AssertionError(ended.err)
    return ended.err


def _spent(folder: Path) -> int:
    """Count the lines of the ledger that commands charge unless they name another."""
    with closing(sqlite3.connect(folder / "t.ledger")) as connection:
        return int(connection.execute("SELECT count(*) FROM release").fetchone()[0])


def make_commands(folder: Path) -> list[list[str]]:
    (folder / "t.csv").write_text(TABLE)
    (folder / "m.json").write_text(json.dumps(MECHANISMS[-1]))
    (folder / "b.json").write_text(json.dumps(BATCH | {"ledger": "t.ledger"}))
    (folder / "s.json").write_text(json.dumps(SIDECARS[0]))
    irisdp(["publish", "t.csv", "count", "--epsilon", "1/1000"])
    return [text.split() for text in COMMANDS]


def make_parquet(folder: Path) -> list[bytes]:
    made = []
    table = pa.table({"g": ["a", MARK, None], "v": [1, 2, None], "f": [1.5, None, float("nan")], "l": [[1], [], None]})
    for told in ({}, {"compression": "gzip"}, {"use_dictionary": False, "compression": "none", "version": "1.0"}):
        file = io.BytesIO()
        pq.write_table(table, file, **told)
        made.append(file.getvalue())
    return made


def make_sqlite(folder: Path) -> list[bytes]:
    made = []
    for declared in ("(g TEXT, v INTEGER, f REAL, b BLOB)", "(g, v NUMERIC, PRIMARY KEY (g)) WITHOUT ROWID"):
        path = folder / "seed.db"
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA page_size = 1024")
            connection.execute(f"CREATE TABLE t {declared}")
            connection.execute("INSERT INTO t (g, v) VALUES ('a', 1), (?, 2), ('b', 'x')", (MARK,))
        made.append(path.read_bytes())
    return made


def make_ledgers(folder: Path) -> list[bytes]:
    (folder / "t.csv").write_text(TABLE)
    made = []
    for asked in (["count"], ["majority", "v = 1", "--audience", "a=1", "--audience", "b=2"]):
        told = ["--epsilon", "1"] if "--audience" not in asked else []
        path = folder / "seed.ledger"
        path.unlink(missing_ok=True)
        irisdp(["publish", str(folder / "t.csv"), *asked, *told, "--ledger", str(path)])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        made.append(path.read_bytes())
    return made


def make_types(folder: Path) -> list[str]:
    (folder / "t.csv").write_text(TABLE)
    return ['{"v": "integer", "g": "text", "u": "date"}', '{"fields": [{"name": "v", "type": "number"}]}']


def spec(text: str, _: Path) -> None:
    document = parsed(text)
    if _large(document) <= LARGEST:
        from_spec(copy.deepcopy(document))


LARGEST = 40
"""Numbers, in a spec, beyond which a design takes what it takes; nobody calls that a hang."""


def _large(value: Any) -> float:
    if isinstance(value, dict | list):
        parts = list(value.values()) if isinstance(value, dict) else value
        return max([len(parts), *map(_large, parts)], default=0)
    try:
        return abs(float(value)) if not isinstance(value, str) or len(value) < 20 else LARGEST + 1
    except (TypeError, ValueError, OverflowError):
        return 0


def mechanism(path: Path) -> None:
    audit(read_mechanism(path))


SPECS = [json.loads(path.read_text()) for path in sorted((ROOT / "examples" / "specs").glob("*.json"))]
MECHANISMS = [
    *(json.loads(path.read_text()) for path in sorted((ROOT / "tests" / "golden" / "mechanisms").glob("*.json"))),
    {"privacy": {"ratio": 2}, "graph": {"edges": [["a", "b"]]}, "matrix": [["2/3", "1/3"], ["1/3", "2/3"]]},
]
MECHANISMS = [one for one in MECHANISMS if len(json.dumps(one)) < LARGEST * 200]
SIDECARS = [
    one
    for one in json.loads((ROOT / "tests" / "golden" / "version_0_1" / "sidecars.json").read_text()).values()
    if len(json.dumps(one)) < LARGEST * 200
]


def texts(documents: list[Any]) -> Callable[[Path], list[str]]:
    return lambda _: [json.dumps(one) for one in documents]


def given(*seeds: Any) -> Callable[[Path], list]:
    return lambda _: list(seeds)


def bytes_by(*seeds: bytes) -> dict[str, Any]:
    return {"seeds": given(*seeds), "change": changed_bytes}


LINES = b'{"g": "a", "v": 1, "u": 2}\n{"g": "%s", "v": "x"}\n[]\n\n{"u": 1e400}\n' % MARK.encode()
TARGETS = {
    "conditions": Target(80_000, given(*CONDITIONS), text_by(SQL), lambda text, _: read_condition(text, COLUMNS)),
    "values of records": Target(
        40_000, given(*VALUES, *CONDITIONS), text_by(SQL), lambda text, _: read_value_of_record(text, COLUMNS)
    ),
    "addresses": Target(90_000, given(*ADDRESSES), text_by(OF_ADDRESSES), addresses),
    "numbers": Target(70_000, given(*NUMBERS), text_by(OF_NUMBERS), lambda text, _: rational(text, "x")),
    "guarantees": Target(60_000, given(*NUMBERS), text_by(OF_NUMBERS), lambda text, _: Privacy(epsilon=text)),
    "records of JSON lines": Target(90_000, **bytes_by(*RECORDS), take=lambda line, _: read_record(line)),
    "plans (TOML)": Target(40_000, given(PLAN), text_by(TOML), written("plan.toml", read_run)),
    "projects (TOML)": Target(40_000, given(PROJECT), text_by(TOML), written("t.iris.toml", read_project)),
    "batches (JSON)": Target(15_000, texts([BATCH]), document_or_text, written("b.json", read_batch)),
    "specs": Target(6_000, texts(SPECS), document_or_text, spec),
    "mechanism files": Target(20_000, texts(MECHANISMS), document_or_text, written("m.json", mechanism)),
    "sidecars": Target(20_000, texts(SIDECARS), document_or_text, written("s.release.json", read_release)),
    "types (JSON)": Target(3_000, make_types, document_or_text, by_types),
    "command lines": Target(2_000, make_commands, words_of, command),
    "CSV": Target(1_500, **bytes_by(TABLE.encode()), take=written("t.csv", table_of)),
    "CSV, compressed": Target(1_000, **bytes_by(gzip.compress(TABLE.encode())), take=written("t.csv.gz", table_of)),
    "JSON lines": Target(1_500, **bytes_by(LINES), take=written("t.jsonl", typed_lines)),
    "Parquet": Target(3_000, make_parquet, changed_bytes, written("t.parquet", table_of)),
    "SQLite tables": Target(
        2_000, make_sqlite, changed_bytes, written("t.db", lambda path: table_of(f"sqlite:///{path}#t"))
    ),
    "ledger files": Target(4_000, make_ledgers, changed_bytes, written("t.ledger", ledger_of)),
}
