"""Tables in files: read, and asked questions that are charged; and files of ledgers."""

import gzip
import io
import re
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.changes import changed_bytes
from fuzz.commands import published, run_with
from fuzz.documents import TABLE
from fuzz.spending import keep, lay
from fuzz.target import MARK, Target, given, written
from irisdp import IrisError, Ledger
from irisdp._queries import read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.commands import irisdp

LINES = b'{"g": "a", "v": 1, "u": 2}\n{"g": "%s", "v": "x"}\n[]\n\n{"u": 1e400}\n' % MARK.encode()
QUESTIONS = (
    "count --epsilon 1",
    "count --by g --groups a,b --epsilon 1/2 --out n.csv",
    "majority v=1 --epsilon 1 --relation exchange --json",
    "sum v --lower 0 --upper 9 --step 1 --epsilon 1",
    "histogram v --bins 1,2 --epsilon 1 --out n.csv",
    "count --unit u --at-most 2 --epsilon 1",
    "plurality g --categories a,b,c --epsilon 1",
)
LEDGERS = (
    "publish t.csv count --epsilon 1/3 --ledger n.ledger --another-ledger --out n.csv",
    "publish t.csv count --epsilon 1 --ledger n.ledger --another-ledger --out n.csv",
    "ledger n.ledger --verify",
    "ledger n.ledger --json",
    "ledger n.ledger --limit 5",
    "ledger n.ledger --csv --copy-to m.ledger",
)


def table_of(path: Path | str, **told: Any) -> None:
    """Open a table, count its records, and its groups; of each column what a condition says."""
    with closing(open_table(str(path), **told)) as table:
        count_records(table)
        name = table.columns[0].name.replace('"', '""')
        count_records(table, condition=read_condition(f'"{name}" IS NULL', table.columns))
        if name == "g":
            count_records(table, groups=read_groups(table, "g", "a,b"))
        table.digest()


def table(name: str, public: Callable[[bytes], bool], address: str = "", **told: Any) -> Callable[[Any, Path], object]:
    """Read a table by itself, or in three of four ask it a question and charge its ledger."""
    types = " --types types.json" if told else ""
    several = tuple(
        f"publish {address or name} {asked} --ledger n.ledger --another-ledger{types}" for asked in QUESTIONS
    )
    ask = published(name, several, public)
    read = written(name, lambda path: table_of(address or path, **told))

    def take(one: bytes, folder: Path) -> object:
        if zlib.crc32(one[::-1]) % 4:
            return ask(one, folder)
        lay(folder)
        return read(one, folder)

    return take


def ledger_of(one: bytes, folder: Path) -> object:
    """Use a ledger that was damaged: by a command, or each of its methods."""
    if zlib.crc32(one[::-1]) % 2:
        return published("n.ledger", LEDGERS)(one, folder)
    lay(folder)
    (folder / "n.ledger").write_bytes(one)
    said = []
    try:
        book = Ledger(folder / "n.ledger")
    except IrisError as error:
        return str(error)
    for use in (lambda: book.spent, book.to_document, book.verify, lambda: book.set_limit(5)):
        try:
            use()
        except IrisError as error:
            said.append(str(error))
    return said


def in_head(one: bytes) -> bool:
    """Tell whether the first line of a table is another: names of columns may then be those of records."""
    return MARK.encode() in one and not one.startswith(b"g,v,u\n")


def in_head_within(one: bytes) -> bool:
    try:
        return in_head(gzip.decompress(one))
    except (OSError, EOFError, zlib.error):
        return False


def in_keys(one: bytes) -> bool:
    """Tell whether the mark stands before a colon, as a name of JSON does."""
    return re.search(rb'%s[^"]*"?\s*:' % MARK.encode(), one) is not None


def in_schema(one: bytes) -> bool:
    """Tell whether a name of a Parquet file holds the mark."""
    try:
        return MARK in str(pq.read_schema(pa.BufferReader(one)))
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError):
        return False


def in_names(one: bytes) -> bool:
    """Tell whether the mark stands in a statement of SQLite's schema."""
    return re.search(rb"CREATE TABLE[^\x00]*%s" % MARK.encode(), one) is not None


def make_parquet(folder: Path) -> list[bytes]:
    made = []
    rows = {"g": ["a", MARK, None], "v": [1, 2, None], "u": [1.5, None, float("nan")], "l": [[1], [], None]}
    for told in ({}, {"compression": "gzip"}, {"use_dictionary": False, "compression": "none", "version": "1.0"}):
        file = io.BytesIO()
        pq.write_table(pa.table(rows), file, **told)
        made.append(file.getvalue())
    return made


def make_sqlite(folder: Path) -> list[bytes]:
    made = []
    for declared in ("(g TEXT, v INTEGER, u REAL, b BLOB)", "(g, v NUMERIC, u, PRIMARY KEY (g)) WITHOUT ROWID"):
        path = folder / "seed.db"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA page_size = 1024")
            connection.execute(f"CREATE TABLE t {declared}")
            connection.execute("INSERT INTO t (g, v) VALUES ('a', 1), (?, 2), ('b', 'x')", (MARK,))
        made.append(path.read_bytes())
        path.unlink()
    return made


def make_ledgers(folder: Path) -> list[bytes]:
    """Make ledgers, as they are and in small pages, of which more matters."""
    made = []
    for asked in (["count", "--epsilon", "1"], ["count", "v = 1", "--audience", "a=1", "--audience", "b=2"]):
        path = folder / "n.ledger"
        ended = irisdp(["publish", str(folder / "t.csv"), *asked, "--ledger", str(path), "--another-ledger"])
        assert ended.status == 0, ended.err
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            made.append(path.read_bytes())
            for words in (
                "PRAGMA journal_mode = DELETE",
                "PRAGMA page_size = 512",
                "VACUUM",
                "PRAGMA journal_mode = WAL",
            ):
                connection.execute(words).fetchall()
        made.append(path.read_bytes())
        lay(folder)
    return made


def with_types(folder: Path) -> list[bytes]:
    (folder / "types.json").write_text('{"g": "text", "v": "number", "u": "integer"}')
    keep(folder)
    return [LINES]


def fed(whole: int, seeds: Callable[[Path], list], take: Any, public: Any) -> Target:
    return Target(whole, run_with(seeds), changed_bytes, take, form="bytes", public=public)


TYPES = {"g": "text", "v": "number", "u": "integer"}
TARGETS = {
    "CSV": fed(6_000, given(TABLE.encode()), table("n.csv", in_head), in_head),
    "CSV, compressed": fed(
        5_000, given(gzip.compress(TABLE.encode(), mtime=0)), table("n.csv.gz", in_head_within), in_head_within
    ),
    "JSON lines": fed(5_000, with_types, table("n.jsonl", in_keys, types=TYPES), in_keys),
    "Parquet": fed(8_000, make_parquet, table("n.parquet", in_schema), in_schema),
    "SQLite tables": fed(5_000, make_sqlite, table("n.db", in_names, "sqlite:///n.db#t"), in_names),
    "ledger files": fed(20_000, make_ledgers, ledger_of, lambda one: MARK.encode() in one),
}
