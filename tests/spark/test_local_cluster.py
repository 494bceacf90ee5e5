"""A cluster with a process for each worker: the answers that a file gets on this machine, and their ledger."""

import json
import os
import shutil
import subprocess
import sys

import duckdb
import pytest

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.skipif("IRISDP_WHOLE" not in os.environ, reason="IRISDP_WHOLE is not set: five processes are started"),
]

CODE = """
import hashlib, json, os, sys
os.urandom = lambda size: hashlib.shake_256(b"bytes for a test").digest(size)  # before anything draws
import irisdp
engine, master = sys.argv[2], sys.argv[3] or None
found = irisdp.publish(
    sys.argv[1], "count", "v > 48", by="g", groups=range(7), epsilon=1,
    engine=engine, master=master, ledger=engine + ".ledger",
)
print(json.dumps([found.answers.values, str(found.cost.epsilon)]))
"""


def asked(folder, engine, master=""):
    told = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    told["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 512m --conf spark.ui.enabled=false pyspark-shell"
    command = [sys.executable, "-c", CODE, str(folder / "t.parquet"), engine, master]
    done = subprocess.run(command, env=told, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_two_workers_answer_as_this_machine_does(tmp_path):
    """Noise follows from how many bytes are asked for, so equal counts have equal answers."""
    rows = "SELECT range % 7 AS g, hash(range) % 97 AS v FROM range(10000)"
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path / 't.parquet'}' (FORMAT parquet)")
    assert asked(tmp_path, "spark", "local-cluster[2,1,1024]") == asked(tmp_path, "duckdb")
    assert {path.name for path in tmp_path.glob("*.ledger")} == {"duckdb.ledger", "spark.ledger"}
