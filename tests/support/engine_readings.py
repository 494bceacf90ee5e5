"""What DuckDB makes of many values: a digest for each kind of reading, to compare releases of it.

    python tests/support/engine_readings.py            # of the release that is installed, as JSON
    python tests/support/engine_readings.py VERSION …  # installs each release apart, and prints what differs

The cases are what statements of Iris ask of an engine: casts, the texts that records are hashed by, functions of
expressions, comparisons, groups, persons, and files of Parquet. `tests/support/engine_readings.json` is the record of
the releases that `_tables/engine_versions.py` says read alike.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

RECORD = Path(__file__).with_name("engine_readings.json")
ROOT = Path(__file__).resolve().parents[2]
KINDS = ("BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "DATE")
PIECES = [
    *"0123456789+-.,eE _/:TZ\t\n'xX", "inf", "nan", "true", "t", "no", "1e5", "2024-01-31", "23:59:60", "0x1F", "1_000",
    "９", "٣", "\u2212", "\xa0", "99999999999999999999", "-9223372036854775808", "epoch", "infinity", "24:00:00",
    "+02:00", "BC", "(", ")", "%", "January", "0.1", "1e-320", "1.7976931348623157e308", "12/31/2024", "\u0000",
]  # fmt: skip
PATTERNS = ["%", "_", "a%", "%a%b%", "_%é", "%%", "\\%", "a_c", "%\n%", "[a]%", ""]


def texts(draw: random.Random, size: int) -> list[str]:
    """Return texts made of pieces of numbers, dates and their like."""
    return ["".join(draw.choices(PIECES, k=draw.randrange(1, 6))) for _ in range(size)]


def doubles(draw: random.Random, size: int) -> list[float]:
    """Return numbers of all sizes, by their bits and by short decimals."""
    bits = [struct.unpack("<d", draw.randbytes(8))[0] for _ in range(size)]
    short = [draw.randrange(-(10**6), 10**6) / 10 ** draw.randrange(0, 9) for _ in range(size)]
    return [*bits, *short, 0.0, -0.0, float("nan"), float("inf"), -float("inf"), 5e-324, 2.0**53, 2.0**63, 0.5, 2.5]


def instants(draw: random.Random, size: int) -> list[datetime.datetime]:
    """Return instants of the years 1 to 9999."""
    first = datetime.datetime(1, 1, 1)
    return [first + datetime.timedelta(microseconds=draw.randrange(315537897600 * 10**6)) for _ in range(size)]


def tables() -> dict[str, pa.Table]:
    """Return the values, by what they are."""
    draw = random.Random(20261128)
    numbers, days = doubles(draw, 5000), instants(draw, 5000)
    letters = [chr(code) for code in range(1, 0x30000) if not 0xD800 <= code < 0xE000]
    return {
        "texts": pa.table({"v": [*texts(draw, 20000), *letters[:3000]]}),
        "letters": pa.table({"v": letters}),
        "words": pa.table({"v": ["".join(draw.choices("abcAB%_é\n []ßİ", k=draw.randrange(8))) for _ in range(3000)]}),
        "doubles": pa.table({"v": numbers, "w": numbers[::-1]}),
        "floats": pa.table(
            {"v": pa.array([struct.unpack("<f", draw.randbytes(4))[0] for _ in range(5000)], pa.float32())}
        ),
        "whole": pa.table({"v": [draw.randrange(-(2**63), 2**63) >> draw.randrange(63) for _ in range(5000)]}),
        "unsigned": pa.table({"v": pa.array([draw.randrange(2**64) for _ in range(2000)], pa.uint64())}),
        "decimals": pa.table(
            {
                "v": pa.array(
                    [Decimal(draw.randrange(-(10**17), 10**17)) / 1000 for _ in range(3000)], pa.decimal128(20, 3)
                )
            }
        ),
        "instants": pa.table({"v": pa.array(days, pa.timestamp("us")), "w": pa.array(days[::-1], pa.timestamp("us"))}),
        "zoned": pa.table({"v": pa.array(days, pa.timestamp("us", "America/New_York"))}),
        "days": pa.table({"v": [day.date() for day in days]}),
        "truths": pa.table({"v": [True, False, None] * 3, "w": [True] * 3 + [False] * 3 + [None] * 3}),
    }


def statements() -> Iterator[tuple[str, str, str]]:
    """Yield the name of a case, its table and what is selected, from which no more than values is seen."""
    for table in ("texts", "doubles", "floats", "whole", "unsigned", "decimals", "instants", "zoned", "days", "truths"):
        yield f"{table} as text", table, "TRY_CAST(v AS VARCHAR)"
        for kind in KINDS:
            yield f"{table} as {kind}", table, f"TRY_CAST(v AS {kind})"
    for function in (
        "UPPER(v)",
        "LOWER(v)",
        "TRIM(v)",
        "LENGTH(v)",
        "SUBSTRING(v, 1, 1)",
        "SHA256(v)",
        "v || v",
        "ASCII(v)",
    ):
        yield f"letters: {function}", "letters", function
    for pattern in PATTERNS:
        yield f"LIKE {pattern!r}", "words", f"v LIKE '{pattern}'"
        yield f"ILIKE {pattern!r}", "words", f"v ILIKE '{pattern}'"
    yield "text in order", "words", "v < 'b', v >= 'é', LEFT(v, 2), RIGHT(v, 2), STARTS_WITH(v, 'a'), CONTAINS(v, 'é')"
    yield "replaced", "words", "REPLACE(v, 'a', ';'), LENGTH(v), SUBSTRING(v, 2, 2), CONCAT(v, NULL, 'x')"
    for sign in ("+", "-", "*", "/", "%", "<", "<=", "=", "<>"):
        yield f"doubles {sign}", "doubles", f"v {sign} w"
    for function in ("FLOOR", "CEIL", "ABS", "-"):
        yield f"doubles: {function}", "doubles", f"{function}(v)"
    yield "logarithms", "doubles", "CASE WHEN v > 0 THEN LN(v) END"
    yield "chosen", "doubles", "NULLIF(v, 0), GREATEST(v, w), LEAST(v, w), COALESCE(v, 1)"
    yield "null or not", "truths", "v AND w, v OR w, NOT v, v = w, CASE WHEN v THEN 1 WHEN w THEN 2 END, v IS NULL"
    for part in ("year", "month", "day", "hour"):
        yield f"{part} of instants", "instants", f"EXTRACT({part} FROM v), DATE_DIFF('{part}', v, w)"
    yield "days of the week", "instants", "ISODOW(v), CAST(v AS DATE), v < w, v = TIMESTAMP '2024-01-01'"
    yield "bits of hashes", "texts", "CAST(CONCAT('0x', SUBSTRING(SHA256(v), 1, 15)) AS BIGINT)"


AGGREGATES = {
    "groups of doubles": ("doubles", "SELECT v, COUNT(*) FROM data GROUP BY v ORDER BY v"),
    "different doubles": ("doubles", "SELECT COUNT(DISTINCT v), MIN(v), MAX(v) FROM data"),
    "groups of letters": ("letters", "SELECT LOWER(v) AS k, COUNT(*) FROM data GROUP BY k ORDER BY k"),
    "order of letters": ("letters", "SELECT v FROM data ORDER BY v"),
    "exact sums": ("whole", "SELECT SUM(CAST(v AS DECIMAL(19, 0))), COUNT(v), BOOL_OR(v > 0) FROM data"),
    "ranks": ("words", "SELECT v, ROW_NUMBER() OVER (PARTITION BY LEFT(v, 1) ORDER BY v, LENGTH(v)) AS place,"
              " DENSE_RANK() OVER (ORDER BY v) AS rank FROM (SELECT DISTINCT v FROM data) AS data ORDER BY v"),
    "least structures": ("doubles", "SELECT MIN({'a': v, 'b': w}) FROM data"),
    "copies": ("whole", "SELECT v, UNNEST(GENERATE_SERIES(1, 3)) AS copy FROM data ORDER BY v, copy"),
}  # fmt: skip


def digest(table: pa.Table) -> str:
    """Return a digest of values; doubles by their bits, all that is not a number alike."""
    listed: list[Any] = []
    for column in table.columns:
        values = column.to_pylist()
        numbers = [isinstance(value, float) and not math.isnan(value) for value in values]
        listed.append([value.hex() if exact else repr(value) for value, exact in zip(values, numbers, strict=True)])
    return blake2b(json.dumps(listed).encode(), digest_size=8).hexdigest()


def readings() -> dict[str, str]:
    """Return a digest for each case."""
    from irisdp._tables import open_table
    from irisdp._tables.engine import locked_connection

    made, found = tables(), {}

    def select(table: pa.Table, statement: str) -> str:
        connection = locked_connection()
        connection.register("data", table)
        try:
            return digest(connection.sql(statement).to_arrow_table())
        except Exception as error:  # a release may lack a function, which is a difference as well
            return type(error).__name__
        finally:
            connection.close()

    for name, table, listed in statements():
        found[name] = select(made[table], f"SELECT {listed} FROM data")
    for name, (table, statement) in AGGREGATES.items():
        found[name] = select(made[table], statement)
    with tempfile.TemporaryDirectory() as folder:
        for name, values in made.items():
            pq.write_table(values, Path(folder) / f"{name}.parquet")
            source = open_table(Path(folder) / f"{name}.parquet")
            listed = ", ".join(f"data.{column}, CAST(data.{column} AS VARCHAR)" for column in values.column_names)
            rows = source.run(f"SELECT {listed} FROM data", source.columns)
            found[f"Parquet: {name}"] = digest(rows)
    return found | expressions() | questions()


def expressions() -> dict[str, str]:
    """Return a digest for each expression whose meaning a test says in Python."""
    from support.derived import EXPRESSIONS, TABLE, values

    return {f"expression: {text}": digest(pa.table({"v": pa.array(values(TABLE, text)[1])})) for text in EXPRESSIONS}


ABOUT_TEXTS = (
    (("count", "v > 3"), {}),
    (("count", "CAST(v AS INT) > 3"), {}),
    (("count", "v % 2 = 0 OR FLOOR(v / 2) = 1"), {}),
    (("count",), {"by": "v", "groups": ["0", "3", "10", "-", "3e\t"]}),
    (("count",), {"by": "v", "select_groups": True, "delta": "1/10"}),
    (("count",), {"by": "x = CAST(v AS INT)", "groups": [0, 3, 10]}),
    (("count",), {"by": "x = FLOOR(v)", "groups": [0, 3, 10]}),
    (("count",), {"by": "v", "groups": [0, 3, 10], "types": {"v": "integer"}}),
    (("count", "v"), {"types": {"v": "boolean"}}),
    (("count", "v > DATE '2024-01-01'"), {}),
    (("count", "v LIKE '%e%' AND LENGTH(v) > 2"), {}),
    (("count-distinct", "v"), {}),
    (("histogram", "v"), {"bins": "0,3,10"}),
    (("median", "v"), {"bins": "0,3,10"}),
    (("plurality", "v"), {"categories": "0,3,10"}),
    (("mean", "v"), {"lower": -9, "upper": 9, "step": 1}),
    (("sum", "v"), {"lower": -9, "upper": 9, "step": 1, "types": {"v": "integer"}}),
    (("sum", "v"), {"lower": -9, "upper": 9, "step": "1/8", "types": {"v": "number"}}),
    (("mean", "x = v + 1"), {"lower": -9, "upper": 9, "step": 1}),
    (("bounds", "v"), {}),
    (("count", "v > 3"), {"unit": "u", "at_most": 2}),
    (("count",), {"unit": "v", "at_most": 1, "by": "v", "groups": ["0", "3"]}),
    (("sum", "t"), {"lower": 0, "upper": 9, "step": 1, "unit": "u", "person": "t = SUM(v)"}),
)
"""Questions about text that looks like numbers and dates."""
APART = {"texts as BIGINT"}
"""Cases in which releases may differ that read alike otherwise: `irisdp._tables.engine_versions`."""


def about_texts(folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield for each of these questions its line, a digest of what it reads, and whether releases may differ in it."""
    from irisdp._release.pipeline import read_statistics
    from irisdp._release.planning import plan
    from support.questions_of_persons import found

    values = [text for text in texts(random.Random(1), 6000) if "\0" not in text]
    values += ["-\t", "3e\t", "+\t", "10.1e ", "-\n", "0", "3", "10", "t", "2024-02-01"] * 3
    listed = pa.table({"v": values, "u": [f"p{number % 700}" for number in range(len(values))]})
    listed.to_pandas().to_csv(folder / "texts.csv", index=False)
    for words, options in ABOUT_TEXTS:
        planned = plan(folder / "texts.csv", *words, epsilon=1, **options)
        said = repr(found(read_statistics(planned, bytes(32))))
        line = f"texts: {planned.line}" + f" {options.get('types', '')}"
        yield line, blake2b(said.encode(), digest_size=8).hexdigest(), not planned.asked.readers


def questions() -> dict[str, str]:
    """Return a digest of what is read for questions of every kind, in text and in Parquet."""
    from irisdp._release.pipeline import read_statistics
    from support.questions_of_persons import found, plans, records, written

    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for line, said, apart in about_texts(Path(folder)):
            result[line] = said
            APART.update({line} if apart else ())
    with tempfile.TemporaryDirectory() as folder:
        for form in ("csv", "parquet", "frame"):
            data = written(Path(folder), form, records(11, rows=400))
            for planned in plans(data, (1, 3)):
                said = repr(found(read_statistics(planned, bytes(32))))
                result[f"{form}: {planned.line}"] = blake2b(said.encode(), digest_size=8).hexdigest()
    return result


def compare(versions: list[str]) -> int:
    """Install each release apart, read with it, and print what differs from the record."""
    record, status = json.loads(RECORD.read_text()), 0
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            install = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--target",
                folder,
                f"duckdb=={version}",
            ]
            subprocess.run(install, check=True)
            told = os.environ | {"PYTHONPATH": os.pathsep.join([folder, str(ROOT / "src"), str(ROOT / "tests")])}
            done = subprocess.run([sys.executable, __file__], env=told, capture_output=True, text=True, check=True)
        there = json.loads(done.stdout)
        print(f"duckdb {version}: {len(there['readings'])} readings")
        for name, said in record["readings"].items():
            if there["readings"].get(name) != said:
                apart = name in record["apart"]
                status |= not apart
                print(f"  differs{', as is known' * apart}: {name}")
    return status


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    if len(sys.argv) > 1:
        sys.exit(compare(sys.argv[1:]))
    print(json.dumps({"readings": readings(), "apart": sorted(APART)}, indent=0, ensure_ascii=True))
