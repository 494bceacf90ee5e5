"""Which engine reads a file is said by the caller; a plan needs none, and what an engine cannot read is refused."""

import os
import socket

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._tables import spark_files
from irisdp._tables.columns import ColumnType
from irisdp._tables.table import open_table

OWN_SESSION = spark_files.own_session
TABLE = pa.table({"v": [1, 2, 3], "t": pa.array([1, 2, 3], pa.timestamp("ns")), "f": pa.array([1, 2, 3], pa.float16())})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spark_files, "own_session", lambda master: pytest.fail("a session was started"))
    pq.write_table(TABLE, "t.parquet")
    (tmp_path / "t.csv").write_text("v\n1\n")
    (tmp_path / "sales" / "town=%C3%A9").mkdir(parents=True)
    pq.write_table(TABLE, "sales/town=%C3%A9/part.parquet")
    (tmp_path / "a{b,c}").mkdir()
    pq.write_table(TABLE, "a{b,c}/t.parquet")
    return tmp_path


def test_a_plan_needs_no_cluster(here, capsys):
    pytest.importorskip("pyspark", reason="pyspark is not installed: `make test` installs it")
    planned = irisdp.plan("t.parquet", "count", "v > 1", epsilon=1, engine="spark", master="spark://nowhere:7077")
    assert planned.table.reader.split()[-2] == "spark"
    assert "nowhere" not in repr(planned)
    asked = ["publish", "t.parquet", "count", "v > 1", "--epsilon", "1", "--engine", "spark", "--dry-run"]
    assert run([*asked, "--master", "spark://nowhere:7077"]) == 0
    assert "nowhere" not in capsys.readouterr().out
    assert not (here / "t.ledger").exists()


def test_duckdb_is_what_reads_files_unless_another_is_named(here):
    first = irisdp.publish("t.parquet", "count", "v > 1", epsilon=1)
    assert irisdp.publish("t.parquet", "count", "v > 1", epsilon=1, engine="duckdb").repeated
    assert first.plan.question() == irisdp.plan("t.parquet", "count", "v > 1", epsilon=1, engine="duckdb").question()


def test_columns_that_spark_does_not_read_have_no_kind(here):
    pytest.importorskip("pyspark", reason="pyspark is not installed: `make test` installs it")
    kinds = {column.name: column.kind for column in open_table("t.parquet", engine="spark").columns}
    assert kinds == {"v": ColumnType.INTEGER, "t": ColumnType.NESTED, "f": ColumnType.NESTED}


WRONG = {
    "unknown": ({"engine": "polars"}, "engine: must be duckdb or spark"),
    "no text": ({"engine": 7}, "engine: "),
    "a cluster alone": ({"master": "local"}, "master: is a cluster of Spark's"),
    "a cluster of another": ({"engine": "duckdb", "master": "local"}, "master: is a cluster of Spark's"),
    "an empty cluster": ({"engine": "spark", "master": " "}, "master: must be the address"),
    "text": ({"data": "t.csv", "engine": "spark"}, "engine: is spark, which reads .parquet files"),
    "letters": ({"data": "sales", "engine": "spark"}, "data: has partitions whose names are not ASCII"),
    "a pattern of Spark's": ({"data": "a{b,c}/t.parquet", "engine": "spark"}, "data: has a path with one of"),
    "a frame": ({"data": TABLE, "engine": "spark", "ledger": "x.ledger"}, "engine: is for files"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_one_line_and_costs_nothing(here, case):
    options, said = WRONG[case]
    options = {"data": "t.parquet", "epsilon": 1, **options}
    with pytest.raises(BadInput) as caught:
        irisdp.publish(options.pop("data"), "count", "v > 1", **options)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
    assert not list(here.glob("*.ledger"))


def test_the_command_speaks_of_its_options(here, capsys):
    asked = ["publish", "t.parquet", "count", "v > 1", "--epsilon", "1"]
    assert run([*asked, "--master", "local"]) == 2
    said = "irisdp: --master: is a cluster of Spark's, and Spark was not asked for; add --engine spark\n"
    assert capsys.readouterr().err == said
    assert run([*asked, "--engine", "polars"]) == 2
    assert capsys.readouterr().err.startswith("irisdp: --engine: must be duckdb or spark")


def starting(monkeypatch, action):
    """Let a session be started, by something else than Java."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: `make test` installs it")
    monkeypatch.setattr(spark_files, "own_session", OWN_SESSION)
    monkeypatch.setattr(sql.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(sql.SparkSession.Builder, "getOrCreate", action)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:{port}", "127.0.0.1:{port},localhost:{port}", "127.0.0.1", "h:99999", "[::bad", ""]
)
def test_a_cluster_that_does_not_answer_is_one_line_and_no_java(here, address, capfd, monkeypatch):
    starting(monkeypatch, lambda builder: pytest.fail("Java was started"))
    with socket.socket() as nobody:  # bound, and never listening
        nobody.bind(("127.0.0.1", 0))
        master = "spark://" + address.format(port=nobody.getsockname()[1])
        ask = ["publish", str(here / "t.parquet"), "count", "--epsilon", "1", "--engine", "spark", "--master", master]
        assert run(ask) == 2
    told = capfd.readouterr().err
    assert told == "irisdp: --master: is a cluster that does not answer; check its address, and that it runs\n"
    assert not (here / "t.ledger").exists()


def test_a_java_that_is_missing_is_no_fault_of_the_data(here, capfd, monkeypatch):
    def complaining(builder):
        os.write(2, b"log4j and a stack trace")
        raise RuntimeError("JAVA_GATEWAY_EXITED")

    starting(monkeypatch, complaining)
    assert run(["publish", str(here / "t.parquet"), "count", "--epsilon", "1", "--engine", "spark"]) == 2
    told = capfd.readouterr().err
    assert told == (
        "irisdp: --engine: is spark, which could not be started as this machine is configured;"
        " check Java: 17 or newer\n"
    )
