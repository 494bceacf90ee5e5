"""How long the pages about a table take: the first page over many records, and the costs of a plan after each edit.

    python benchmarks/publishing_page.py [--rows 10000000] [--questions 20] [--times 15]

A file of so many records is made, and pages are asked for by a test client: no network, no browser. Every edit gives
the plan shares that it did not have before, so that nothing is remembered. Promised: the first page within a second, of
a server that was just started, and the costs of 20 questions within 0.3 s of an edit.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy
import pyarrow
import pyarrow.csv
from starlette.testclient import TestClient

from irisdp._explorer.app import create_app
from irisdp._explorer.security import Access
from irisdp._explorer.workspace import ServedTable, Workspace

QUESTIONS = (
    {"query": "count"},
    {"query": "count", "condition": "age > 64"},
    {"query": "sum", "column": "visits", "lower": "0", "upper": "20", "step": "1"},
    {"query": "mean", "column": "age", "lower": "0", "upper": "100", "step": "1"},
    {"query": "plurality", "column": "party", "categories": "0,1,2,3,4,5,6"},
    {"query": "median", "column": "age", "bins": "20,40,60,80"},
    {"query": "majority", "condition": "party = 1"},
    {"query": "histogram", "column": "educ", "categories": "1,2,3,4,5,6,7"},
    {"query": "at-least", "threshold": "150", "condition": "age > 64"},
    {"query": "count", "grouped": "listed", "by": "educ", "groups": "1,2,3,4,5,6,7"},
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--times", type=int, default=15)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = _table(Path(folder), asked.rows)
        print(f"{asked.rows:,} records, {data.stat().st_size / 2**20:.0f} MiB; {asked.questions} questions")
        access = Access()
        start = time.perf_counter()
        workspace = Workspace(ServedTable(data=str(data)))
        with TestClient(create_app(workspace, access), base_url="http://127.0.0.1:8080") as client:
            client.get("/", params={"token": access.token})
            _timed("first page, with the start of the server", lambda: client.get(f"{access.root}/"), since=start)
            _timed("Plan, for the first time", lambda: client.get(f"{access.root}/plan"))
            for number in range(asked.questions - 1):
                fields = QUESTIONS[(number + 1) % len(QUESTIONS)]
                client.post(f"{access.root}/plan/questions/new", data={**fields, "do": "keep"})
            edits = [_edited(client, access.root, number) for number in range(asked.times)]
            median, slowest = statistics.median(edits[1:]), max(edits[1:])
            print(f"costs after an edit: median {median:.3f} s, slowest {slowest:.3f} s of {len(edits) - 1}")
            for page in ("plan", "publish", "table"):
                _timed(f"the page {page}", lambda page=page: client.get(f"{access.root}/{page}"))


def _table(folder: Path, rows: int) -> Path:
    """Write random records."""
    drawn = numpy.random.default_rng(1)
    columns = {"id": 10**6, "age": 100, "educ": 8, "party": 7, "visits": 20}
    table = pyarrow.table({name: drawn.integers(0, most, rows) for name, most in columns.items()})
    pyarrow.csv.write_csv(table, folder / "table.csv")
    return folder / "table.csv"


def _timed(what: str, ask: object, since: float | None = None) -> None:
    start = time.perf_counter() if since is None else since
    answer = ask()  # type: ignore[operator]
    taken = time.perf_counter() - start
    assert answer.status_code == 200, answer.text
    print(f"{what}: {taken:.3f} s")


def _edited(client: TestClient, root: str, number: int) -> float:
    """Return the seconds until the costs are there after an edit, a different one for each number."""
    start = time.perf_counter()
    answer = client.post(f"{root}/plan/outlook", data={"budget": "2", "share-1": f"{1 + number / 100:.2f}"})
    taken = time.perf_counter() - start
    assert answer.status_code == 200 and "All questions cost" in answer.text, answer.text
    return taken


if __name__ == "__main__":
    main()
