"""Texts that the library reads by itself: conditions, values of records, addresses, numbers, guarantees, records."""

from pathlib import Path

from fuzz.changes import changed_bytes
from fuzz.target import Target, given, text_by
from irisdp import BadInput, Ledger, Privacy
from irisdp._exact import rational
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import read_condition, read_value_of_record
from irisdp._tables.json_lines import read_record
from irisdp._tables.postgresql import read_table_address
from irisdp._tables.servers import is_on_server
from irisdp._tables.table import open_table

COLUMNS = (
    *(
        Column("age", ColumnType.INTEGER),
        Column("v", ColumnType.UNTYPED),
        Column("name", ColumnType.TEXT),
        Column("at", ColumnType.DATE),
    ),
    *(
        Column("cost", ColumnType.NUMBER),
        Column("ok", ColumnType.BOOLEAN),
        Column("a b", ColumnType.TEXT),
        Column("x", ColumnType.NESTED),
    ),
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
        "read_text('/etc/passwd')", "getenv('HOME')", "?", "$1", "[1, 2]", "{'a': 1}", "x -> y", "ESCAPE", "COLLATE",
        "~",
    ),
)  # fmt: skip
ADDRESSES = (
    *("postgresql://ann@db.example:5433/clinic?sslmode=require#a%2Eb.c%23", "postgresql:///d?host=/tmp&schema=s"),
    *("sqlite:///clinic.db#visits", "sales/year=2024/*.parquet", "t.csv.gz", "postgres://h/d?schema=a_1", "a.ledger"),
)
OF_ADDRESSES = (
    "postgresql://", "sqlite:///", "#", "?", "&", "=", "schema=", "host=", "@", ":", "%2F", "[::1]", "*", "..",
)  # fmt: skip
NUMBERS = ("0.25", "1e-9", "3/10", "-1", "1", "100000000000000000000", "+.5", "2.5e3", "ln(2)")
OF_NUMBERS = ("/", ".", "e", "-", "+", "0", "9", "_", " ", "e9", "e-4000", "inf", "nan", "1/")
RECORDS = (b'{"age": 1e2, "name": "x", "n": null, "b": [1, {"c": true}]}', b'{"a": "\\ud83d\\ude00\\u0000"}', b"{}")


def addresses(text: str, _: Path) -> list[str]:
    """Read an address as a ledger's and as a table's; nobody is called up."""
    said = []
    try:
        Ledger(text)
    except BadInput as error:
        said.append(str(error))
    try:
        if is_on_server(text):
            read_table_address(text)
        else:
            open_table(text).close()
    except BadInput as error:
        said.append(str(error))
    return said


TARGETS = {
    "conditions": Target(60_000, given(*CONDITIONS), text_by(SQL), lambda text, _: read_condition(text, COLUMNS)),
    "values of records": Target(
        40_000, given(*VALUES, *CONDITIONS), text_by(SQL), lambda text, _: read_value_of_record(text, COLUMNS)
    ),
    "addresses": Target(60_000, given(*ADDRESSES), text_by(OF_ADDRESSES), addresses),
    "numbers": Target(60_000, given(*NUMBERS), text_by(OF_NUMBERS), lambda text, _: rational(text, "x")),
    "guarantees": Target(60_000, given(*NUMBERS), text_by(OF_NUMBERS), lambda text, _: Privacy(epsilon=text)),
    "records of JSON lines": Target(
        60_000, given(*RECORDS), changed_bytes, lambda line, _: read_record(line), form="bytes"
    ),
}
