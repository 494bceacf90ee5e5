"""How long the explorer takes to answer as fields move: requests of a test client, no network, no browser.

    python benchmarks/explorer.py [--times 30]

Every request asks for something that was not asked before, so that nothing is remembered. For each question, the median
and the slowest of so many answers are printed, after a first one that loads what it needs, and beside them the mean of
the processor's time, of the process that serves and those that work for it: what the clock would say on a machine that
does nothing else, but for waiting. Processes are looked up in /proc; elsewhere that column is empty.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from contextlib import suppress
from pathlib import Path

from starlette.testclient import TestClient

from irisdp._explorer.app import create_app
from irisdp._explorer.ask_form import FIELDS

CLOSED = ("count", "histogram", "at-least", "majority", "sum", "mean")
"""Answered by a closed form, for which less than 100 ms are promised; for a sum, the ε of an error is searched for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=30, help="answers for each question")
    times = parser.parse_args().times
    client = TestClient(create_app(), base_url="http://127.0.0.1:8080")
    print("| question | said | closed form | median (ms) | slowest (ms) | processor (ms) |")
    print("|---|---|---|---|---|---|")
    for query, _ in FIELDS[0].choices:
        for by in ("epsilon", "within"):
            if by == "within" and query in ("median", "mean"):
                continue
            _once(client, query, by, 0)
            before = _spent()
            taken = [_once(client, query, by, number + 1) for number in range(times)]
            spent = f"{(_spent() - before) / times:.0f}" if before else ""
            closed = "yes" if query in CLOSED and (query, by) != ("sum", "within") else "no"
            print(
                f"| {query} | {by} | {closed} | {statistics.median(taken):.0f} | {max(taken):.0f} | {spent} |",
                flush=True,
            )


def _spent() -> float:
    """Return the milliseconds of processor time so far, of this process and of those it has started."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            told = stat.read_text().rpartition(")")[2].split()
            if os.getpid() in (int(stat.parent.name), int(told[1])):
                ticks += int(told[11]) + int(told[12])
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def _once(client: TestClient, query: str, by: str, number: int) -> float:
    """Return the milliseconds of one answer, a different one for each number."""
    said = {"epsilon": f"{0.5 + number / 100:.2f}", "within": str(3 + number), "size": str(200 + number)}
    start = time.perf_counter()
    answer = client.get("/ask/result", params={"query": query, "by": by, **said})
    taken = 1000 * (time.perf_counter() - start)
    assert answer.status_code == 200, answer.text
    return taken


if __name__ == "__main__":
    main()
