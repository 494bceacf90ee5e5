"""Spark Connect: frames of a server's, and files that a server reads, get the answers that they get on this machine."""

import importlib.util
import os
import shutil
import socket
import time
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._queries import read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables import spark_files
from irisdp._tables.table import open_table
from spark.test_spark_readings import ASKED, NASTY, PLAIN, answers, rows
from support.spark import connect_server

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="gRPC is missing: install pyspark[connect]"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
]


@pytest.fixture(scope="module")
def server():
    with connect_server() as address:
        yield address


@pytest.fixture(scope="module")
def remote(server):
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession(connection=server)
    yield session
    session.stop()


def test_a_frame_on_a_server_is_asked_as_one_here(remote):
    assert remote.conf.get("spark.sql.parser.escapedStringLiterals") == "true"  # as the server was told
    here, there = open_table(PLAIN), open_table(remote.createDataFrame(PLAIN))
    assert {column.name: column.kind for column in there.columns} == {
        column.name: column.kind for column in here.columns
    }
    assert answers(there, ASKED) == answers(here, ASKED)
    days = [datetime(2024, 2, 29), datetime(1970, 1, 1)]
    for by, groups in (("text", ["a\\b", "'"]), ("whole", [1, 2**53 + 1]), ("at", days)):
        found = [count_records(table, groups=read_groups(table, by, groups)).total.tolist() for table in (here, there)]
        assert found[0] == found[1], by


def test_a_frame_on_a_server_is_known_by_its_records(remote, tmp_path):
    frame = remote.createDataFrame(PLAIN)
    once, again = (open_table(frame.repartition(number)).digest() for number in (1, 3))
    assert once == again != open_table(frame.where("text IS NOT NULL")).digest()
    asked = [irisdp.publish(frame, "count", "whole > 1", epsilon=1, ledger=tmp_path / "l.ledger") for _ in range(2)]
    assert asked[1].repeated and asked[1].answers.values == asked[0].answers.values


def test_a_setting_of_a_session_on_a_server_is_another_question(remote):
    from pyspark.sql.connect.session import SparkSession

    other = SparkSession(connection=remote.client._builder)
    try:
        other.conf.set("spark.sql.ansi.enabled", "true")
        other.conf.set("spark.sql.parser.escapedStringLiterals", "false")
        table = open_table(other.createDataFrame(PLAIN))
        assert table.reader != open_table(remote.createDataFrame(PLAIN)).reader
        assert answers(table, ASKED) == answers(open_table(PLAIN), ASKED)
    finally:
        other.stop()


def test_a_file_that_a_server_reads_says_what_it_says_here(server, tmp_path):
    before = dict(os.environ)
    for name, table in (("plain", PLAIN), ("nasty", NASTY)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    plain, nasty = (
        open_table(tmp_path / f"{name}.parquet", engine="spark", master=server) for name in ("plain", "nasty")
    )
    assert answers(plain, ASKED) == answers(open_table(tmp_path / "plain.parquet"), ASKED)
    assert rows(nasty, NASTY.column_names) == rows(open_table(tmp_path / "nasty.parquet"), NASTY.column_names)
    folder = tmp_path / "f"
    for name in ("k=1/a.parquet", "k=2/sub/b.parquet"):
        (folder / name).parent.mkdir(parents=True)
        pq.write_table(pa.table({"x": [1, 2, 3]}), folder / name)
    assert answers(open_table(folder, engine="spark", master=server), ["k = '2' AND x > 1"]) == [2, 4]
    assert os.environ == before  # from this on, all of this program's sessions would be a server's


def test_a_command_asks_a_server_and_tells_nobody_which(server, tmp_path, capsys):
    pq.write_table(PLAIN, tmp_path / "t.parquet")
    asked = ["publish", str(tmp_path / "t.parquet"), "count", "whole > 1", "--epsilon", "1", "--engine", "spark"]
    out = tmp_path / "o.csv"
    assert run([*asked, "--master", f"{server}/;user_id=ann-of-ely", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert irisdp.Ledger(tmp_path / "t.ledger").spent.epsilon == 1
    port = server.rpartition(":")[2]
    secrets = f":{port}", "ann-of-ely"
    for said in (printed.out, printed.err, out.read_text(), (tmp_path / "o.csv.release.json").read_text()):
        assert not [secret for secret in secrets if secret in said]


def refused(tmp_path, master):
    path = tmp_path / "t.parquet"
    if not path.exists():
        pq.write_table(PLAIN, path)
    with pytest.raises(BadInput) as raised:
        irisdp.publish(path, "count", epsilon=1, engine="spark", master=master)
    assert "\n" not in str(raised.value) and not (tmp_path / "t.ledger").exists()
    return str(raised.value)


def test_a_server_that_does_not_answer_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(spark_files, "_PATIENCE", 1)
    with socket.socket() as silent:  # takes connections, and says nothing
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        since = time.monotonic()
        assert "master: is a server of Spark Connect that does not answer" in refused(
            tmp_path, f"sc://127.0.0.1:{port}"
        )
    assert "master: is a server of Spark Connect that does not answer" in refused(tmp_path, f"sc://127.0.0.1:{port}")
    assert time.monotonic() - since < 30


@pytest.mark.parametrize("master", ["sc://", "sc://127.0.0.1:many", "sc://127.0.0.1/path", "sc://127.0.0.1/;token"])
def test_what_is_no_address_of_a_server_is_refused(tmp_path, monkeypatch, master):
    monkeypatch.setattr(spark_files, "_PATIENCE", 1)
    assert refused(tmp_path, master).startswith("master: is ")


def test_a_server_of_another_release_is_refused(server, tmp_path, monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "9.8.7")
    assert "and Spark 9.8 is here; install pyspark " in refused(tmp_path, server)


def test_a_session_of_the_callers_on_a_server_is_not_taken_for_a_cluster(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    assert "master: is not named, and this program has a session of Spark Connect" in refused(tmp_path, None)
    assert "master: is another cluster" in refused(tmp_path, "local[2]")
