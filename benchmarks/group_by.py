"""Counting 10^7 records in 10^5 declared groups, against DuckDB's bare GROUP BY on the same file.

    python benchmarks/group_by.py [--records 10000000] [--groups 100000] [--rounds 5]

The two alternate in one process, so that a busy machine slows both; the figures to read are the ratio of the medians
and the peak memory. Ours opens the file, checks the condition, reads the groups, joins and aligns; the bare query does
none of that. Target for a whole `publish count`: at most 1.5 times the bare query plus 2 s, in less than 2 GiB.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from irisdp._queries import read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

CONDITION = "age > 40"


def generate(path: Path, records: int, groups: int) -> None:
    duckdb.execute(
        f"COPY (SELECT 'group ' || (hash(range) % {groups})::VARCHAR AS region, (hash(range + 1) % 100)::INT AS age, "
        f"range AS person FROM range({records})) TO '{path}' (FORMAT parquet)"
    )


def bare(path: Path) -> int:
    with duckdb.connect() as connection:
        query = (
            f"SELECT region, COUNT(*), COUNT(*) FILTER ({CONDITION}) AS yes FROM read_parquet('{path}') GROUP BY region"
        )
        return int(connection.execute(query).fetchnumpy()["yes"].sum())


def ours(path: Path, groups: list[str]) -> int:
    table = open_table(path)
    condition = read_condition(CONDITION, table.columns)
    return int(count_records(table, condition=condition, groups=read_groups(table, "region", groups)).yes.sum())


def timed(action: Callable[[], int]) -> tuple[float, int]:
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--groups", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--generate", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.generate:
        generate(options.generate, options.records, options.groups)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        # In a process of its own, so that the peak below is not that of making the data.
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--generate", str(path)], check=True)
        groups = [f"group {number}" for number in range(options.groups)]
        times: dict[str, list[float]] = {"bare": [], "ours": []}
        for _ in range(options.rounds):
            for name, action in (("bare", lambda: bare(path)), ("ours", lambda: ours(path, groups))):
                seconds, found = timed(action)
                times[name].append(seconds)
                print(f"{name}: {seconds:.2f} s, {found} yes")
        digest, _ = timed(lambda: len(open_table(path).digest()))
    plain, full = statistics.median(times["bare"]), statistics.median(times["ours"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"medians: bare {plain:.2f} s, ours {full:.2f} s, ratio {full / plain:.2f}, digest {digest:.2f} s")
    print(f"within 1.5 x bare + 2 s: {full <= 1.5 * plain + 2}; peak memory {peak:.2f} GiB (target 2)")


if __name__ == "__main__":
    main()
