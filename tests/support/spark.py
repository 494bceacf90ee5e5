"""A Spark of the tests' own, in this process: started where a module asks for it, and ended with it."""

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MASTER = "local[2]"

_USUAL = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    # PySpark's builder remembers what other files of tests said.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    # A minute of small jobs is over before the machine code of a second compiler pays for itself.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}

_ODD = {
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.parquet.enableVectorizedReader": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "true",
}


@contextmanager
def session_of(settings: dict[str, str] | None = None) -> Iterator[Any]:
    """Start a session with these settings besides the usual ones; end it and its Spark afterwards."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(MASTER).appName("irisdp tests")
    for name, value in (_USUAL | (settings or {})).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        # A session takes its settings from the cluster when it is first asked for one: now, and not in the middle of
        # a test that changes the cluster's.
        session.conf.get("spark.sql.session.timeZone")
        session.sparkContext.setLogLevel("OFF")
        yield session
    finally:
        session.stop()


@contextmanager
def connect_server() -> Iterator[str]:
    """Start a server of Spark Connect, a process of its own with odd settings; yield its address, and end it."""
    import grpc
    import pyspark

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    home = Path(pyspark.__file__).parent
    settings = {
        **_USUAL,
        **_ODD,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.log.level": "OFF",
    }
    command = [home / "bin" / "spark-submit", "--master", MASTER, "--driver-memory", "1g"]
    command += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with tempfile.TemporaryDirectory() as place:  # what a killed one leaves, it leaves here
        told = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": place}
        told["JAVA_TOOL_OPTIONS"] = f"-Djava.io.tmpdir={place}"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        server = subprocess.Popen(command, cwd=place, env=told, start_new_session=True, **quiet)
        try:
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                grpc.channel_ready_future(channel).result(timeout=180)
            yield f"sc://127.0.0.1:{port}"
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
