"""Records of persons that are chosen once on a cluster: every question reads what it would read alone."""

import shutil

import pyarrow.parquet as pq
import pytest

from irisdp._release.pipeline import read_statistics
from irisdp._release.planning import plan
from irisdp._release.shared_records import SharedRecords
from irisdp._tables.spark_files import SparkFileSource
from support.questions_of_persons import ASKED, KEYS, found, records
from support.spark import session_of

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless")


@pytest.fixture(scope="module")
def spark():
    with session_of({"spark.sql.session.timeZone": "Asia/Tokyo"}) as session:
        yield session


def _asked(data, **more):
    names = ("count-where", "count-selected", "sum-where", "few groups", "any")
    for name in names:
        words, options = ASKED[name]
        for most in (1, 2) if name == "count-where" else (2,):
            kept = {} if name == "any" else {"at_most": most}
            yield plan(data, *words, **{"epsilon": 1, "unit": "u", **options, **kept, **more})


@pytest.mark.usefixtures("spark")
def test_files(tmp_path, monkeypatch):
    held = []
    real = SparkFileSource.hold
    monkeypatch.setattr(SparkFileSource, "hold", lambda *given: held.append(1) or real(*given))
    pq.write_table(records(7), tmp_path / "t.parquet")
    asked = list(_asked(tmp_path / "t.parquet", engine="spark"))
    with SharedRecords([*asked]) as shared:
        for planned in asked:
            together = shared.over(planned, KEYS[0])
            assert (together is planned) == (planned.per_unit is not None)
            assert found(read_statistics(together, KEYS[0])) == found(read_statistics(planned, KEYS[0]))
    assert held == [1]


def test_frames(spark, tmp_path):
    pq.write_table(records(8), tmp_path / "t.parquet")
    asked = list(_asked(spark.read.parquet(str(tmp_path / "t.parquet"))))
    with SharedRecords([*asked]) as shared:
        for planned in asked[:3]:
            together = shared.over(planned, KEYS[1])
            assert together is not planned
            assert found(read_statistics(together, KEYS[1])) == found(read_statistics(planned, KEYS[1]))
    views = [table.name for table in spark.catalog.listTables() if table.name.startswith("irisdp")]
    assert views == []
