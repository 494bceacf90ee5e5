"""`publish count` by Spark on two workers of this machine: the answers of DuckDB, and the memory of the driver.

    python benchmarks/spark_cluster.py [--rows 10000000 --groups 1000]

Both engines are asked in processes of their own, with ledgers of their own and with random bytes that follow from how
many are asked for, so that equal counts get equal noise: all answers must be the same. The driver is a process of
Python, in which only counts per group arrive, and one of Java, whose heap is held to 512 MiB; the workers' executors
are processes of Java with 1 GiB each. The most memory that each had at once is read from the system. Target: a driver
(both processes together) under 1 GiB. The status is 1 where an answer differs or the driver takes more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import publish_count

MASTER = "local-cluster[2,1,1024]"
HEAP = "512m"
TARGET = 1.0
"""GiB, for both processes of the driver."""

CHILD = """
import hashlib, json, os, sys
from pathlib import Path
os.urandom = lambda size: hashlib.shake_256(b"bytes for a test").digest(size)  # before anything draws
import irisdp
folder, engine, master = Path(sys.argv[1]), sys.argv[2], sys.argv[3] or None
found = irisdp.publish(
    folder / "data.parquet", "count", by="g", groups=folder / "groups.csv", epsilon=1,
    engine=engine, master=master, ledger=folder / (engine + ".ledger"),
)
memory = {}
for process in Path("/proc").glob("[0-9]*"):
    try:
        told = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
        memory[process.name] = [told["PPid"].strip(), told["Name"].strip(), int(told["VmHWM"].split()[0]) / 2**20]
    except (OSError, KeyError):
        continue  # it has ended, or is the system's
print(json.dumps({"answers": found.answers.values, "process": str(os.getpid()), "memory": memory}))
"""


def asked(folder: Path, engine: str, master: str = "") -> dict[str, Any]:
    """Ask one engine in a process of its own."""
    told = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    told["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory {HEAP} --conf spark.ui.enabled=false pyspark-shell"
    start = time.perf_counter()
    command = [sys.executable, "-c", CHILD, str(folder), engine, master]
    done = subprocess.run(command, env=told, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "seconds": time.perf_counter() - start}


def below(memory: dict[str, list[Any]], parent: str) -> dict[str, float]:
    """Return the processes of Java that a process started, by their number, with GiB."""
    return {number: used for number, (above, name, used) in memory.items() if above == parent and name == "java"}


def wrong(here: Sequence[Any], there: Sequence[Any], driver: float) -> list[str]:
    """Say what does not hold: answers that differ, and a driver above its target."""
    others = sum(one != other for one, other in zip(here, there, strict=False)) + abs(len(here) - len(there))
    found = [f"{others:,} answers differ"] if others else []
    return [*found, f"the driver took {driver:.2f} GiB, above {TARGET:.0f}"] if driver > TARGET else found


def main() -> int:
    """Make a table, ask both engines, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--master", default=MASTER)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        publish_count.make(name, options.rows, options.groups)
        here = asked(Path(name), "duckdb")
        there = asked(Path(name), "spark", options.master)
    python = there["memory"][there["process"]][2]
    drivers = below(there["memory"], there["process"])
    executors = [used for driver in drivers for used in below(there["memory"], driver).values()]
    java = sum(drivers.values())
    print(f"{options.rows:,} rows, {options.groups:,} groups, {options.master}: {len(here['answers']):,} answers")
    print(f"  clock: duckdb {here['seconds']:.1f} s, spark {there['seconds']:.1f} s, starting included")
    print(f"  driver: Python {python:.2f} GiB, Java {java:.2f} GiB, together {python + java:.2f} (target {TARGET:.0f})")
    print(f"  executors: {len(executors)}, of {', '.join(f'{used:.2f}' for used in executors)} GiB")
    broken = wrong(here["answers"], there["answers"], python + java)
    print(f"  {'; '.join(broken) or 'all answers alike, and the driver within its target'}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
