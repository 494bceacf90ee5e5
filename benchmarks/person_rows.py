"""Rows of persons on an event log: the answers beside the truth, and the time beside one count of the same file.

    python benchmarks/person_rows.py [--rows 1000000] [--persons 100000]

The truth is pandas' own. Ratios are of wall-clock times in the same run, the median of five.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import irisdp

PERSON = {"unit": "who", "person": "visits = COUNT(*), spent = SUM(amount)"}
ROUNDS = 5


def write_log(path: Path, rows: int, persons: int) -> pd.DataFrame:
    """Write an event log with a fixed seed."""
    random = np.random.default_rng(20261128)
    log = pd.DataFrame(
        {
            "who": random.integers(0, persons, rows),
            "amount": random.integers(0, 10_000, rows) / 100,
            "ward": random.choice(list("ABCD"), rows),
        }
    )
    log.to_csv(path, index=False)
    return log


def main() -> None:
    """Print the answers beside the truth, and the ratios of times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--persons", type=int, default=10**5)
    sizes = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.csv"
        log = write_log(path, sizes.rows, sizes.persons)
        rows = log.groupby("who").amount.agg(["size", "sum"])
        ledgers = iter(range(10**6))

        def ask(*words: str, **options: object) -> object:
            ledger = Path(folder) / f"{next(ledgers)}.ledger"
            found = irisdp.publish(path, *words, epsilon=1, ledger=ledger, **options)
            return found.to_arrow().to_pylist()[0]["answer"]

        tasks = {
            "persons with 10 visits or more": (("count", "visits >= 10"), {}, (rows["size"] >= 10).sum()),
            "median spending of a person": (
                ("median", "spent"),
                {"bins": [100, 300, 500, 700]},
                rows["sum"].median(),
            ),
            "sum of totals up to 500": (
                ("sum", "spent"),
                {"lower": 0, "upper": 500, "step": "0.01"},
                rows["sum"].clip(0, 500).sum(),
            ),
        }
        for name, (words, options, truth) in tasks.items():
            times = []
            for _ in range(ROUNDS):
                begun = time.perf_counter()
                ask("count", "amount > 50")
                between = time.perf_counter()
                answer = ask(*words, **PERSON, **options)
                times.append((time.perf_counter() - between) / (between - begun))
            spread = f"{min(times):.2f} to {max(times):.2f}"
            print(f"{name}: {answer}, truth {truth:.2f}; {statistics.median(times):.2f} x one count ({spread})")


if __name__ == "__main__":
    main()
