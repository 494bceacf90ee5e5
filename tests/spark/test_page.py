"""What docs/howto/spark.md tells to type runs as it stands."""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))  # programs, no package
try:
    import typed
finally:
    sys.path.pop(0)

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
]


def end_java():
    """End the Java that tests before this one began: it stays in the folder where it was started."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(60)
        SparkContext._gateway = SparkContext._jvm = None


def test_the_page_about_spark_can_be_typed(tmp_path, monkeypatch):
    end_java()
    monkeypatch.setitem(os.environ, "SPARK_LOCAL_IP", "127.0.0.1")
    page = ROOT / "docs" / "howto" / "spark.md"
    try:
        typed.retyped(page.read_text(encoding="utf-8"), tmp_path)
    finally:
        if running := sys.modules["pyspark.sql"].SparkSession.getActiveSession():
            running.stop()
