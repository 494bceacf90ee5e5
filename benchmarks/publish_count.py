"""`publish count` or `plurality` of a large Parquet file by many declared groups, beside a bare GROUP BY, in one run.

    python benchmarks/publish_count.py [--query plurality --groups 10000]
    python benchmarks/publish_count.py --rows 100000000 --groups 1000000 --runs 2
    python benchmarks/publish_count.py --growth

Whole processes alternate, in an order drawn anew each round, so that a busy machine slows both: the bare one loads
DuckDB and NumPy and returns the counts; ours reads the file of groups, takes the digest of the data, counts, draws,
settles with a ledger that is made anew, and writes Parquet, a sidecar and a description. Targets, in seconds of the
processor: 1.2 times the bare GROUP BY plus 0.6 s, for 10^6 groups or more 1.5 times plus 3 s; 8 GiB of memory. Times
are reports, as a machine's load is in them; where ours takes more memory, the status is 1.

With `--growth`, from 10^5 to 10^8 rows, a hundred to a group: seconds are fitted as a constant and a multiple of the
rows, each measurement weighed by its own size, and what is above the constant as a power of them.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

BARE = (
    "import duckdb, sys; duckdb.sql('SET enable_progress_bar = false'); "
    "duckdb.sql(f\"SELECT {sys.argv[2]}, count(*) FROM '{sys.argv[1]}' GROUP BY ALL\").fetchnumpy()"
)
COLUMNS = {"count": "g", "plurality": "g, p"}
"""What the bare GROUP BY groups by: the columns that the query reads."""
ASKED = {"count": ["count"], "plurality": ["plurality", "p", "--categories", "ash,birch,cedar,elm,fir"]}
GROWTH = (10**5, 10**6, 10**7, 10**8)
MEMORY = 8
"""GiB that our process may take."""


class Spent(NamedTuple):
    """What one process took."""

    processor: float
    clock: float
    memory: float


def main() -> int:
    """Make the data, time both in turn, print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--groups", type=int, default=10**5)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--query", choices=sorted(ASKED), default="count")
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    if not options.growth:
        return int(compared(options.rows, options.groups, options.runs, options.query).memory > MEMORY)
    found = {}
    for rows in GROWTH:
        runs = 2 if rows >= 10**8 else options.runs
        found[rows] = compared(rows, rows // 100, runs, options.query)
    print("growth, a hundred rows to a group, in seconds of the processor:")
    for place, name in enumerate(("bare GROUP BY", f"publish {options.query}")):
        print(f"  {name:17} {fitted({rows: medians[place] for rows, medians in found.items()})}")
    return int(any(medians.memory > MEMORY for medians in found.values()))


class Medians(NamedTuple):
    """What each side took of the processor, in the median, and the most memory that ours had."""

    bare: float
    ours: float
    memory: float


def compared(rows: int, groups: int, runs: int, query: str) -> Medians:
    """Run both in turn and print what they took."""
    factor, constant = (1.2, 0.6) if groups < 10**6 else (1.5, 3.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own, so that its memory is not counted.
        making = f"import publish_count; publish_count.make({name!r}, {rows}, {groups})"
        subprocess.run([sys.executable, "-c", making], check=True, cwd=Path(__file__).parent)
        data = folder / "data.parquet"
        sides: dict[str, list[Spent]] = {"bare": [], "ours": []}
        for lap in range(runs + 1):
            for side in random.sample(list(sides), 2):
                if side == "bare":
                    command = ["-c", BARE, str(data), COLUMNS[query]]
                else:
                    shutil.rmtree(folder / "out", ignore_errors=True)
                    (folder / "out").mkdir()
                    command = ["-m", "irisdp", "publish", str(data), *ASKED[query], "--by", "g", "--epsilon", "1"]
                    command += ["--groups", str(folder / "groups.csv"), "--ledger", str(folder / "out" / "l.ledger")]
                    command += ["--out", str(folder / "out" / "answers.parquet")]
                took = spent([sys.executable, *command])
                if lap:  # the first brings the file into memory, and compiles the modules
                    sides[side].append(took)
    print(f"{rows:,} rows, {groups:,} groups, {runs} rounds in turn (seconds: least, median, most)")
    for side, named in (("bare", "bare GROUP BY"), ("ours", f"publish {query}")):
        both = [sorted(getattr(one, clock) for one in sides[side]) for clock in ("processor", "clock")]
        said = [f"{found[0]:.2f}, {statistics.median(found):.2f}, {found[-1]:.2f}" for found in both]
        memory = max(one.memory for one in sides[side])
        print(f"  {named:17} processor {said[0]}; clock {said[1]}; largest process {memory:.2f} GiB")
    for clock in ("processor", "clock"):
        both = [[getattr(one, clock) for one in sides[side]] for side in ("bare", "ours")]
        shares = sorted(ours / (factor * bare + constant) for bare, ours in zip(*both, strict=True))
        ratios = sorted(ours / bare for bare, ours in zip(*both, strict=True))
        said = [f"{statistics.median(one):.2f} ({one[0]:.2f} to {one[-1]:.2f})" for one in (shares, ratios)]
        print(f"  {clock}: {said[0]} of ({factor} × bare + {constant} s); {said[1]} × bare")
    most = max(one.memory for one in sides["ours"])
    beyond = " (**above it**)" if most > MEMORY else ""
    print(f"  memory: {most / MEMORY:.2f} of the target {MEMORY} GiB{beyond}", flush=True)
    bare, ours = (statistics.median(one.processor for one in sides[side]) for side in ("bare", "ours"))
    return Medians(bare, ours, most)


def make(folder: str, rows: int, groups: int) -> None:
    """Write the data, in no order of the groups, and the file of groups."""
    import duckdb

    party = "['ash', 'birch', 'cedar', 'elm', 'fir'][CAST(1 + hash(i + 7) % 5 AS INTEGER)]"
    source = f"SELECT CAST(hash(i) % {groups} AS INTEGER) AS g, i % 97 AS v, {party} AS p FROM range({rows}) t(i)"
    duckdb.sql("SET enable_progress_bar = false")
    duckdb.sql(f"COPY ({source}) TO '{folder}/data.parquet' (FORMAT parquet)")
    Path(folder, "groups.csv").write_text("g\n" + "\n".join(map(str, range(groups))) + "\n")


def spent(command: list[str]) -> Spent:
    """Run a process to its end."""
    # Python keeps compiled modules, unless it is told not to: then it would compile ours every time, and no library's.
    told = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=told)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return Spent(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 2**20)


def fitted(seconds: dict[int, float]) -> str:
    """Fit seconds as constant + slope × rows, each divided by itself, and the rest above the constant as a power."""
    ones, rates = [1 / found for found in seconds.values()], [rows / found for rows, found in seconds.items()]
    a, b, c = (sum(x * y for x, y in zip(*pair, strict=True)) for pair in ((ones, ones), (ones, rates), (rates, rates)))
    right = sum(ones), sum(rates)
    constant, slope = (right[0] * c - right[1] * b) / (a * c - b * b), (right[1] * a - right[0] * b) / (a * c - b * b)
    above = [(math.log(rows), math.log(found - constant)) for rows, found in seconds.items() if found > 1.2 * constant]
    off = max(abs(constant + slope * rows - found) / found for rows, found in seconds.items())
    said = f"{constant:.2f} s + {slope * 1e6:.3f} s for a million rows (off by {100 * off:.0f} % at most)"
    if len(above) < 2:
        return said
    logs, powers = zip(*above, strict=True)
    return f"{said}; above the constant as rows to the power {statistics.linear_regression(logs, powers).slope:.2f}"


if __name__ == "__main__":
    sys.exit(main())
