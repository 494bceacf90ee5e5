"""Columns of a lookup are the same from Spark and on this machine, whatever the kind of the key."""

import datetime
import math
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import plan
from irisdp._tables.table import open_table
from support.seeds import fresh_random
from support.spark import MASTER, session_of

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
]

DAYS = [datetime.datetime(year, 1, 31, hour) for year in (1, 1969, 2024) for hour in (0, 12)]
KEYS = {
    "text": (pa.string(), ["1", "01", " 1", "\u00e9", "e\u0301", "o'k", "a\\b", "%"]),
    "whole": (pa.int64(), [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1]),
    "number": (pa.float64(), [0.0, -0.0, 0.1, 2.0**53, float("nan"), float("inf"), 1e300]),
    "day": (pa.timestamp("us"), DAYS),
    "truth": (pa.bool_(), [True, False]),
}


def lookup_of(name):
    """Return a lookup whose rows are every second key, with columns of every kind."""
    _, keys = KEYS[name]
    rows = [key for key in dict.fromkeys(keys) if not isinstance(key, float) or math.isfinite(key)][::2]
    numbers = range(len(rows))
    return pa.table(
        {
            name: pa.array(rows, KEYS[name][0]),
            "region": pa.array([None if n == 1 else f"r'{n}" for n in numbers], pa.string()),
            "whole number": pa.array([None if n == 2 else n - 2**60 for n in numbers], pa.int64()),
            "rate": pa.array([n / 3 for n in numbers], pa.float64()),
            "closed": pa.array([n % 2 == 0 for n in numbers], pa.bool_()),
            "since": pa.array([datetime.datetime(1900 + n, 1, 1, 1, 2, 3, n) for n in numbers], pa.timestamp("us")),
        }
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    random = fresh_random("Spark's lookups")
    rows = [{name: random.choice([None, *keys]) for name, (_, keys) in KEYS.items()} | {"id": n} for n in range(300)]
    schema = pa.schema([*((name, kind) for name, (kind, _) in KEYS.items()), ("id", pa.int64())])
    found = tmp_path_factory.mktemp("lookups") / "t.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema), found)
    return found


@pytest.mark.parametrize("name", KEYS)
def test_spark_joins_the_same(path, name):
    lookup = lookup_of(name)
    joined = lookup.column_names[1:]
    listed = ", ".join(f'data."{column}" AS "{column}"' for column in ("id", *joined))

    def rows(**engine):
        table = open_table(path, lookup=lookup, on=name, **engine)
        columns = [table.column(column, "by") for column in ("id", *joined)]
        return sorted(table.run(f"SELECT {listed} FROM data", columns).to_pylist(), key=lambda row: row["id"])

    with session_of():
        found = rows(engine="spark", master=MASTER)
        assert found == rows()
    assert [row["id"] for row in found] == list(range(300))  # a left join, of every record once
    assert any(row["rate"] is not None for row in found)


def test_spark_derives_the_same_rows_of_persons(path):
    person = "first = MIN(id), most = MAX(rate), several = COUNT(DISTINCT region)"
    options = {"lookup": lookup_of("text"), "on": "text", "unit": "whole", "person": person, "epsilon": 1}
    names = ("first", "most", "several")
    listed = ", ".join(f'data."{column}" AS "{column}"' for column in names)

    def rows(**engine):
        table = plan(path, "count", "several > 0", **options, **engine).table
        return sorted(table.run(f"SELECT {listed} FROM data", []).to_pylist(), key=lambda row: row["first"])

    with session_of():
        assert rows(engine="spark", master=MASTER) == rows()
