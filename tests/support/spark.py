"""A Spark of the tests' own, in this process: started where a module asks for it, and ended with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["MASTER", "session_of"]

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
