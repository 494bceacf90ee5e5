"""What listens at an address and is no Spark: said within a bound, and the next question may use Spark again."""

import json
import os
import shutil
import subprocess
import sys

import duckdb
import pytest

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless")

CODE = """
import json, socket, sys, threading
import irisdp
from irisdp._tables import spark_files as spark_sessions

spark_sessions._JOINING = 3
held = []
def accept():  # and say nothing
    while True:
        held.append(listening.accept())

with socket.create_server(("127.0.0.1", 0)) as listening:
    threading.Thread(target=accept, daemon=True).start()
    master = f"spark://127.0.0.1:{listening.getsockname()[1]}"
    try:
        irisdp.publish("t.parquet", "count", epsilon=1, engine="spark", master=master)
        told = None
    except irisdp.BadInput as error:
        told = str(error)
again = irisdp.publish("t.parquet", "count", epsilon=50, engine="spark", master="local[1]")
print(json.dumps([told, again.answers.values]))
"""


def test_what_is_no_spark_is_said_within_a_bound_and_spends_nothing(tmp_path):
    duckdb.sql(f"COPY (SELECT range AS v FROM range(7)) TO '{tmp_path / 't.parquet'}' (FORMAT parquet)")
    told = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    told["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 512m --conf spark.ui.enabled=false pyspark-shell"
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=told, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    said, answers = json.loads(done.stdout.splitlines()[-1])
    assert said == (
        "master: is an address that answers, and lets no program in within 3 seconds; "
        "check that a Spark master of this release listens there"
    )
    assert answers == [7]
