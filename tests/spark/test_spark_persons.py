"""Rows of persons are the same from Spark and on this machine."""

import shutil

import pyarrow.parquet as pq
import pytest

from irisdp import plan
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import open_table
from support.persons import NAMES, PERSON, log
from support.spark import MASTER, session_of

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    import pyarrow as pa

    who, paid, pieces, kind = zip(*log(600, 60, "Spark's events"), strict=True)
    kinds = [("who", who, pa.int64()), ("paid", paid, pa.float64()), ("pieces", pieces, pa.int64())]
    columns = {name: pa.array(values, made) for name, values, made in [*kinds, ("kind", kind, pa.string())]}
    found = tmp_path_factory.mktemp("events") / "events.parquet"
    pq.write_table(pa.table(columns), found)
    return found


def test_spark_derives_the_same_rows(path):
    listed = ", ".join(f'data."{name}" AS "{name}"' for name in ("who_", *NAMES))

    def rows(table):
        persons = table.per_person(f"who_ = MAX(who), {PERSON}", "who")
        found = persons.run(f"SELECT {listed} FROM data", []).to_pylist()
        return sorted(found, key=lambda row: row["who_"])

    with session_of():
        assert rows(open_table(path, engine="spark", master=MASTER)) == rows(open_table(path))
        asked = ("median", "s")
        options = {"bins": [0, 5], "by": "some", "groups": [True, False], "unit": "who", "person": PERSON, "epsilon": 1}
        found = [
            read_statistics(plan(path, *asked, **options, **more), bytes(32)).nodes.counts.tolist()
            for more in ({}, {"engine": "spark", "master": MASTER})
        ]
        assert found[0] == found[1]
