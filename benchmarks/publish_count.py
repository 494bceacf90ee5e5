"""`publish count` or `plurality` of a large Parquet file by many declared groups, beside a bare GROUP BY, in one run.

    python benchmarks/publish_count.py [--query plurality --groups 10000]

Target: at most 1.5 times the bare GROUP BY plus 2 s, and less than 2 GiB of memory. Whole processes are timed, in turn.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE = (
    "import duckdb, sys; duckdb.sql(f\"SELECT {sys.argv[2]}, count(*) FROM '{sys.argv[1]}' GROUP BY ALL\").fetchnumpy()"
)
COLUMNS = {"count": "g", "plurality": "g, p"}
"""What the bare GROUP BY groups by: the columns that the query reads."""
ASKED = {"count": ["count"], "plurality": ["plurality", "p", "--categories", "ash,birch,cedar,elm,fir"]}


def main() -> None:
    """Make the data, time both in turn, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--groups", type=int, default=10**5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--query", choices=sorted(ASKED), default="count")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, groups = Path(folder, "data.parquet"), Path(folder, "groups.csv")
        _make(data, groups, options.rows, options.groups)
        bare, whole = [], []
        for run in range(options.runs):
            bare.append(_seconds([sys.executable, "-c", BARE, str(data), COLUMNS[options.query]]))
            command = [sys.executable, "-m", "irisdp", "publish", str(data), *ASKED[options.query], "--by", "g"]
            command += [
                "--groups",
                str(groups),
                "--epsilon",
                f"0.{run + 1}",
                "--out",
                str(Path(folder, f"out{run}.parquet")),
            ]
            whole.append(_seconds([*command, "--ledger", str(Path(folder, "l.ledger"))]))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    allowed = [1.5 * seconds + 2 for seconds in bare]
    print(
        f"{options.rows} rows, {options.groups} groups, {options.runs} runs each, in turn (seconds: min / median / max)"
    )
    for name, seconds in (("bare GROUP BY", bare), (f"publish {options.query}", whole)):
        print(f"  {name:17} {min(seconds):.2f} / {statistics.median(seconds):.2f} / {max(seconds):.2f}")
    shares = [spent / most for spent, most in zip(whole, allowed, strict=True)]
    print(f"  share of the target (1.5 × bare + 2 s): median {statistics.median(shares):.2f}, worst {max(shares):.2f}")
    print(f"  largest process: {memory:.2f} GiB (target 2)")


def _make(data: Path, groups: Path, rows: int, count: int) -> None:
    import duckdb

    party = "['ash', 'birch', 'cedar', 'elm', 'fir'][CAST(1 + hash(i + 7) % 5 AS INTEGER)]"
    source = f"SELECT CAST(hash(i) % {count} AS INTEGER) AS g, i % 97 AS v, {party} AS p FROM range({rows}) t(i)"
    duckdb.sql(f"COPY ({source}) TO '{data}' (FORMAT parquet)")
    groups.write_text("g\n" + "\n".join(map(str, range(count))) + "\n")


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
