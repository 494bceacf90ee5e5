"""Files that Spark reads instead of this machine: the same table, ledger and answers; what differs is refused."""

import datetime
import shutil
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput
from irisdp._queries import read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.spark import MASTER, session_of

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
]


@pytest.fixture(scope="module")
def spark():
    # What a cluster says decides nothing.
    with session_of({"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.ansi.enabled": "false"}) as session:
        yield session


def instants(*texts):
    return [None if text is None else datetime.datetime.fromisoformat(text) for text in texts]


OLD, NEW, LATE = "0001-01-01T00:00:00", "1969-12-31T23:59:59.999999", "9999-12-31T23:59:59"
COLUMNS = {
    "who": pa.array(["a", "b", "é", None, "a", "b", "A", "\U0001f600"]),
    "truth": pa.array([True, False, None, True, True, False, None, False]),
    "small": pa.array([-128, 127, 0, None, 1, 2, 3, 4], pa.int8()),
    "whole": pa.array([2**53, 2**53 + 1, -(2**63), 2**63 - 1, None, 0, 1, 2], pa.int64()),
    "unsigned": pa.array([2**64 - 1, 2**63, 0, 1, None, 2**53, 2**53 + 1, 7], pa.uint64()),
    "half": pa.array([0.1, float("nan"), float("inf"), -0.0, None, 1e300, 5e-324, 2.5], pa.float64()),
    "single": pa.array([0.1, float("nan"), float("inf"), -0.0, None, 1e30, 1e-45, 2.5], pa.float32()),
    "price": pa.array([None if k == 3 else Decimal(k) / 100 for k in range(8)], pa.decimal128(10, 2)),
    "large": pa.array([Decimal(10) ** 37, Decimal(-1), None, *map(Decimal, range(5))], pa.decimal128(38, 0)),
    "born": pa.array([None, *(datetime.date(*day) for day in [(1, 1, 1), (1582, 10, 10), (1969, 12, 31)])] * 2),
    "naive": pa.array(instants(OLD, NEW, LATE, None) * 2, pa.timestamp("us")),
    "milli": pa.array(instants(OLD, "1970-01-01T00:00:00.001", LATE, None) * 2, pa.timestamp("ms")),
    "zoned": pa.array(instants("1883-01-01T00:00:00", NEW, LATE, None) * 2, pa.timestamp("us", "America/New_York")),
    "listed": pa.array(["x", None, "y", "x"] * 2).dictionary_encode(),
}
TABLE = pa.table(COLUMNS)
CONDITIONS = [
    None, "truth", "small > 1", "whole > 9007199254740992", "unsigned >= 9223372036854775808", "half > 0.05",
    "NOT half > 0.05", "single = 0.1", "price >= 0.02", "large > 3", "born < '1582-10-15'", "born = '1969-12-31'",
    "naive < '1970-01-01'", "milli > '1970-01-01'", "zoned < '1970-01-01'", "zoned > '1883-01-01'", "listed = 'x'",
    "who = 'a' OR who > 'é'",
]  # fmt: skip


def both(path):
    return open_table(path), open_table(path, engine="spark", master=MASTER)


def counted(table, text, by):
    condition = None if text is None else read_condition(text, table.columns)
    groups = None if by is None else read_groups(table, by, ["a", "b", "é", "A", "\U0001f600", "none"]).by_key()
    return count_records(table, condition=condition, groups=groups)


def test_every_type_is_read_as_on_this_machine(spark, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path)
    here, there = both(path)
    assert [(column.name, column.kind) for column in here.columns] == [
        (column.name, column.kind) for column in there.columns
    ]
    assert here.digest() == there.digest()
    assert here.location == there.location
    assert (here.reader == there.reader, there.ordered) == (False, False)
    for text in CONDITIONS:
        for by in (None, "who"):
            assert repr(counted(here, text, by)) == repr(counted(there, text, by)), (text, by)


def test_instants_of_ninety_six_bits(spark, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE.select(["naive", "zoned"]), path, use_deprecated_int96_timestamps=True)
    here, there = both(path)
    for text in ("naive < '1970-01-01'", "zoned < '1970-01-01'", "naive > '9000-01-01'"):
        assert repr(counted(here, text, None)) == repr(counted(there, text, None)), text


def test_text_that_is_none_is_no_text(spark, tmp_path):
    path = tmp_path / "t.parquet"
    text = pa.Array.from_buffers(
        pa.string(), 3, pa.array([b"ok", b"\xff\xfe", b"x" * 1_000_001], pa.binary()).buffers()
    )
    pq.write_table(pa.table({"who": text}), path)
    here, there = both(path)
    for asked in ("who = 'ok'", "who IS NULL", "LENGTH(who) > 5"):
        assert repr(counted(here, asked, None)) == repr(counted(there, asked, None)), asked


def test_a_folder_and_a_part_of_it(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for year, town in (("2023", "A%20b"), ("2024", "07"), ("2024", "__HIVE_DEFAULT_PARTITION__")):
        folder = tmp_path / "sales" / f"year={year}" / f"town={town}"
        folder.mkdir(parents=True)
        for part in range(2):
            pq.write_table(TABLE.slice(part * 4, 4), folder / f"part {part}.parquet")
        (folder / "_SUCCESS").touch()
    for data in ("sales", "sales/year=2024/*/*.parquet"):
        here, there = both(data)
        assert here.digest() == there.digest()
        for text in ("town = '07'", "town = 'A b'", "town IS NULL", "year = '2024' AND small > 1", None):
            assert repr(counted(here, text, None)) == repr(counted(there, text, None)), (data, text)


def test_one_table_has_one_ledger_whoever_reads_it(spark, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path)
    irisdp.publish(path, "count", "truth", epsilon=1)
    first = irisdp.publish(path, "count", "truth", epsilon=1, engine="spark", master=MASTER)
    again = irisdp.publish(path, "count", "truth", epsilon=1, engine="spark", master=MASTER)
    assert (first.repeated, again.repeated) == (False, True)
    assert again.answers.values == first.answers.values
    assert irisdp.Ledger(tmp_path / "t.ledger").spent.epsilon == 2  # engines may cast otherwise: two questions
    session = irisdp.Session(path, engine="spark", master=MASTER)
    assert session.count("truth", epsilon=1).repeated


def test_another_cluster_than_that_which_runs(spark, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path)
    with pytest.raises(BadInput, match="master: is another cluster") as caught:
        irisdp.publish(path, "count", "truth", epsilon=1, engine="spark", master="local[7]")
    assert "local[7]" not in str(caught.value)
    assert not (tmp_path / "t.ledger").exists()


def test_a_server_of_spark_connect_without_its_client_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    pq.write_table(pa.table({"x": [1]}), tmp_path / "t.parquet")
    with pytest.raises(BadInput, match=r'master: is a server of Spark Connect, whose client .* "pyspark\[connect\]"'):
        open_table(tmp_path / "t.parquet", engine="spark", master="sc://127.0.0.1:1")
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1")  # as this machine is configured
    with pytest.raises(BadInput, match="whose client is not installed"):
        open_table(tmp_path / "t.parquet", engine="spark")


def test_a_partition_of_a_folder_is_read_alone(spark, tmp_path):
    for month, count in (("2024-01", 3), ("2024-02", 5)):
        place = tmp_path / "visits" / f"month={month}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"age": list(range(count))}), place / "a.parquet")
    asked = {"epsilon": 50, "engine": "spark", "master": MASTER}
    for month, count in (("2024-01", 3), ("2024-02", 5)):
        found = irisdp.publish(tmp_path / "visits", "count", partition=f"month={month}", **asked)
        assert found.answers.values == [count]
    assert irisdp.Ledger(tmp_path / "visits.ledger").spent == irisdp.Cost(50)
    with pytest.raises(BadInput, match="Spark reads partitions only by folders"):
        irisdp.publish(tmp_path / "visits", "count", partition="age=1", **asked)
