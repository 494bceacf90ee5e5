"""Counting the records of a CSV for which a condition is true, beside DuckDB's own reader in one pass, in one run.

    python benchmarks/read_text.py [--records 10000000] [--rounds 5]

DuckDB reads with the settings that were ours before Iris split text files itself (one thread, as its parallel reader
miscounts quoted line ends); the two alternate, so that a busy machine slows both. Target: at most twice its time.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from irisdp._queries.statistics import count_records
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table


def generate(path: Path, records: int, quoted: bool) -> None:
    duckdb.execute(
        f"COPY (SELECT 'group ' || (hash(range) % 1000)::VARCHAR AS region, (hash(range + 1) % 100)::INT AS age, "
        f"range AS person FROM range({records})) TO '{path}' (FORMAT csv{', FORCE_QUOTE *' if quoted else ''})"
    )


def theirs(path: Path) -> int:
    reader = (
        f"read_csv('{path}', auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', "
        "nullstr = '', columns = {region: 'VARCHAR', age: 'VARCHAR', person: 'VARCHAR'}, ignore_errors = true, "
        "strict_mode = false, parallel = false)"
    )
    with duckdb.connect() as connection:
        connection.execute("SET disabled_optimizers = 'type_pushdown'")
        query = f"SELECT count(CASE WHEN TRY_CAST(age AS DOUBLE) > 40 THEN 1 END) FROM {reader}"
        return int(connection.execute(query).fetchall()[0][0])


def ours(path: Path) -> int:
    table = open_table(path)
    return int(count_records(table, condition=read_condition("age > 40", table.columns)).yes[0])


def timed(action: Callable[[Path], int], path: Path) -> tuple[float, float, int]:
    start, spent = time.perf_counter(), time.process_time()
    found = action(path)
    return time.perf_counter() - start, time.process_time() - spent, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for quoted in (False, True):
            path = Path(folder) / f"{quoted}.csv"
            generate(path, options.records, quoted)
            rounds = []
            for _ in range(options.rounds):
                (wall, spent, found), (wall_ours, spent_ours, found_ours) = timed(theirs, path), timed(ours, path)
                assert found == found_ours
                rounds.append((wall, spent, wall_ours, spent_ours))
            print(f"{options.records} records, {'all quoted' if quoted else 'no quotes'}, {options.rounds} rounds:")
            for name, first, second in (("seconds", 0, 2), ("processor seconds", 1, 3)):
                ratios = sorted(times[second] / times[first] for times in rounds)
                plain, full = (statistics.median(times[place] for times in rounds) for place in (first, second))
                print(
                    f"  {name}: DuckDB {plain:.2f}, ours {full:.2f}; "
                    f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), target 2"
                )


if __name__ == "__main__":
    main()
