"""Publishing from files: whole commands and counting alone, beside a bare GROUP BY of DuckDB on the same file."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import count as numbers
from pathlib import Path
from typing import Any

from side_by_side.rows import Row, Side

Task = Callable[[], Any]
QUESTIONS = {"count": ["count"], "plurality": ["plurality", "p", "--categories", "ash,birch,cedar,elm,fir"]}
COLUMNS = {"count": "g", "plurality": "g, p"}
"""What the bare GROUP BY groups by: the columns that the question reads."""


def publish(rows: int, query: str, share: int) -> Task:
    """Run `irisdp publish` from start to end, each time with a ledger of its own."""
    folder = tempfile.TemporaryDirectory()
    home, times = Path(folder.name), numbers()
    data, groups = _made(home, rows, share)

    def run(folder: object = folder) -> None:  # kept, so that it lives as long as the work
        number = next(times)
        words = [sys.executable, "-m", "irisdp", "publish", str(data), *QUESTIONS[query], "--by", "g"]
        words += ["--groups", str(groups), "--epsilon", "1", "--out", str(home / f"{number}.parquet")]
        subprocess.run([*words, "--ledger", str(home / f"{number}.ledger")], check=True, stdout=subprocess.DEVNULL)

    return run


def bare(rows: int, query: str, share: int) -> Task:
    """Run a bare GROUP BY in a process, from start to end."""
    folder = tempfile.TemporaryDirectory()
    data, _ = _made(Path(folder.name), rows, share)
    asked = f"SELECT {COLUMNS[query]}, count(*) FROM '{data}' GROUP BY ALL"
    words = [sys.executable, "-c", f"import duckdb; duckdb.sql({asked!r}).fetchnumpy()"]

    def run(folder: object = folder) -> None:
        subprocess.run(words, check=True)

    return run


def counted(rows: int, share: int) -> Task:
    """Count the records of a group for which a condition is true: open, check, join, align."""
    from irisdp._queries import read_groups
    from irisdp._queries.statistics import count_records
    from irisdp._tables.expressions import read_condition
    from irisdp._tables.table import open_table

    folder = tempfile.TemporaryDirectory()
    data, _ = _made(Path(folder.name), rows, share)
    groups = list(range(max(1, rows // share)))

    def run(folder: object = folder) -> None:
        table = open_table(data)
        condition = read_condition("v > 40", table.columns)
        count_records(table, condition=condition, groups=read_groups(table, "g", groups))

    return run


def counted_bare(rows: int, share: int) -> Task:
    import duckdb

    folder = tempfile.TemporaryDirectory()
    data, _ = _made(Path(folder.name), rows, share)
    asked = f"SELECT g, count(*), count(*) FILTER (v > 40) FROM '{data}' GROUP BY g"

    def run(folder: object = folder) -> None:
        with duckdb.connect() as connection:
            connection.execute(asked).fetchnumpy()

    return run


def text(rows: int, quoted: bool) -> Task:
    """Count, in a CSV file, the records for which a condition is true."""
    from irisdp._queries.statistics import count_records
    from irisdp._tables.expressions import read_condition
    from irisdp._tables.table import open_table

    folder = tempfile.TemporaryDirectory()
    path = _written(Path(folder.name), rows, quoted)

    def run(folder: object = folder) -> None:
        table = open_table(path)
        count_records(table, condition=read_condition("age > 40", table.columns))

    return run


def text_by_duckdb(rows: int, quoted: bool) -> Task:
    """The same by DuckDB's reader in one pass and one thread, since its parallel reader miscounts quoted line ends."""
    import duckdb

    folder = tempfile.TemporaryDirectory()
    path = _written(Path(folder.name), rows, quoted)
    reader = (
        f"read_csv('{path}', auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', "
        "nullstr = '', columns = {region: 'VARCHAR', age: 'VARCHAR', person: 'VARCHAR'}, ignore_errors = true, "
        "strict_mode = false, parallel = false)"
    )

    def run(folder: object = folder) -> None:
        with duckdb.connect() as connection:
            connection.execute("SET disabled_optimizers = 'type_pushdown'")
            asked = f"SELECT count(CASE WHEN TRY_CAST(age AS DOUBLE) > 40 THEN 1 END) FROM {reader}"
            connection.execute(asked).fetchall()

    return run


def bytes_read(rows: int, quoted: bool) -> Task:
    """Read the file's bytes, and do nothing with them."""
    folder = tempfile.TemporaryDirectory()
    path = _written(Path(folder.name), rows, quoted)

    def run(folder: object = folder) -> None:
        path.read_bytes()

    return run


def _made(home: Path, rows: int, share: int) -> tuple[Path, Path]:
    """Write `rows` records in rows / share groups, and the list of groups."""
    import duckdb

    groups = max(1, rows // share)
    data, listed = home / "data.parquet", home / "groups.csv"
    party = "['ash', 'birch', 'cedar', 'elm', 'fir'][CAST(1 + hash(i + 7) % 5 AS INTEGER)]"
    source = f"SELECT CAST(hash(i) % {groups} AS INTEGER) AS g, i % 97 AS v, {party} AS p FROM range({rows}) t(i)"
    duckdb.sql(f"COPY ({source}) TO '{data}' (FORMAT parquet)")
    listed.write_text("g\n" + "\n".join(map(str, range(groups))) + "\n")
    return data, listed


def _written(home: Path, rows: int, quoted: bool) -> Path:
    import duckdb

    path = home / "data.csv"
    duckdb.execute(
        f"COPY (SELECT 'group ' || (hash(range) % 1000)::VARCHAR AS region, (hash(range + 1) % 100)::INT AS age, "
        f"range AS person FROM range({rows})) TO '{path}' (FORMAT csv{', FORCE_QUOTE *' if quoted else ''})"
    )
    return path


def _publish(name: str, query: str, share: int, title: str) -> Row:
    said = {"query": query, "share": share}
    return Row(
        name=name,
        group="Publishing",
        title=title,
        unit="records",
        sizes=(10**5, 10**6, 10**7),
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="publish", options=said),
            Side(name="bare GROUP BY", work="bare", kind="limit", environment="duckdb", options=said),
        ),
        promise="speed of publishing",
        program="publish_count.py",
    )


def _text(name: str, quoted: bool) -> Row:
    said = {"quoted": quoted}
    return Row(
        name=name,
        group="Publishing",
        title=f"Count by a condition in a CSV file, {'all values quoted' if quoted else 'no quotes'}",
        unit="records",
        sizes=(10**4, 10**5, 10**6),
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="text", options=said),
            Side(name="DuckDB's reader", work="text_by_duckdb", kind="peer", environment="duckdb", options=said),
            Side(name="reading the bytes", work="bytes_read", kind="limit", environment="duckdb", options=said),
        ),
        program="read_text.py",
    )


ROWS = (
    _publish("publish-count", "count", 100, "`publish count` by declared groups of 100, from start to end"),
    _publish("publish-plurality", "plurality", 1000, "`publish plurality` of five by groups of 1,000, start to end"),
    Row(
        name="publish-counting",
        group="Publishing",
        title="Counting alone, by declared groups of 100 and a condition, in one process",
        unit="records",
        sizes=(10**5, 10**6, 10**7),
        quick=(1000, 10_000),
        sides=(
            Side(name="Iris", work="counted", options={"share": 100}),
            Side(name="bare GROUP BY", work="counted_bare", kind="limit", environment="duckdb", options={"share": 100}),
        ),
        program="group_by.py",
    ),
    _text("text-plain", False),
    _text("text-quoted", True),
)
