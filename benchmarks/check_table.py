"""Compare `irisdp check` with one published count over the same file: it must take at most twice as long.

Usage: python benchmarks/check_table.py [--records N] [--rounds N]
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv

import irisdp
from irisdp._release import check_data


def write(path: Path, records: int) -> None:
    """Write a table of four columns."""
    draws = np.random.default_rng(1)
    columns = {
        "age": draws.integers(18, 95, records),
        "ward": np.array(["north", "south", "east", "west"])[draws.integers(0, 4, records)],
        "income": draws.integers(0, 100_000, records),
        "vote": draws.integers(0, 2, records),
    }
    pyarrow.csv.write_csv(pyarrow.table(columns), path)


def main() -> None:
    """Time both in turns, and print the ratio of the shortest times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    times: dict[str, list[float]] = {"count": [], "check": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write(path, chosen.records)
        for number in range(chosen.rounds):
            begun = time.perf_counter()
            irisdp.publish(path, "count", f"age > {60 + number}", epsilon=1)
            times["count"].append(time.perf_counter() - begun)
            begun = time.perf_counter()
            found = check_data(path)
            times["check"].append(time.perf_counter() - begun)
            assert found.records == chosen.records
            assert not found.warnings
    count, check = (min(times[name]) for name in ("count", "check"))
    ratios = sorted(check / count for count, check in zip(times["count"], times["check"], strict=True))
    print(f"{chosen.records:,} records: count {count:.2f} s, check {check:.2f} s, ratio {check / count:.2f}")
    print(f"ratios of single rounds: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")


if __name__ == "__main__":
    main()
