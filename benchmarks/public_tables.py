"""Compare means, sums, counts and histograms of public tables with the truth, at an ε where noise is nearly 0.

    python -m pip install --target build/tables --no-deps statsmodels vega_datasets
    python benchmarks/public_tables.py

Iris publishes each statistic at ε = 20 and this program compares the interval with the statistic of the file, computed
with pandas on unclipped, unrounded values. A statistic outside its interval passes only if the line next to the
interval names what was left out.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import irisdp

SURE = "0.999999"
"""So probable that no interval misses the truth by chance."""

DATASETS, VEGA = "statsmodels/datasets", "vega_datasets/_data"


@dataclass
class Table:
    """A CSV file with a numeric column, its public bounds and step, and a column of persons if there is one."""

    path: str
    number: str
    lower: float
    upper: float
    step: str
    category: str
    values: str
    person: str | None = None
    edges: list[float] = field(default_factory=list)


TABLES = [
    Table(f"{DATASETS}/fair/fair.csv", "affairs", 0, 60, "0.0001", "rate_marriage", "1,2,3,4,5", None, [1, 5, 20]),
    Table(f"{DATASETS}/heart/heart.csv", "age", 0, 100, "0.1", "censors", "0.0,1.0", None, [30, 40, 50]),
    Table(f"{DATASETS}/star98/star98.csv", "LOWINC", 0, 100, "0.00001", "PCTCHRT", "0.0", None, [20, 40, 60]),
    Table(f"{DATASETS}/randhie/randhie.csv", "lncoins", 0, 5, "0.00001", "mdvis", "0,1,2,3", None, [1, 3]),
    Table(f"{DATASETS}/strikes/strikes.csv", "duration", 0, 300, "1", "iprod", "0.01138", None, [20, 60]),
    Table(f"{VEGA}/seattle-weather.csv", "temp_max", -20, 45, "0.1", "weather", "sun,rain,snow", None, [5, 15]),
    Table(f"{VEGA}/stocks.csv", "price", 0, 800, "0.01", "symbol", "MSFT,IBM", "symbol", [50, 200]),
    Table(f"{VEGA}/iowa-electricity.csv", "net_generation", 0, 60000, "1", "source", "Renewables", "source", [5000]),
]


def statistics(table: Table, frame: pd.DataFrame) -> list[tuple[tuple[Any, ...], dict[str, Any], list[float]]]:
    """Return questions, their options and the true answers."""
    number = frame[table.number].astype(float)
    bounds = {"lower": table.lower, "upper": table.upper, "step": table.step}
    listed = table.values.split(",")
    labels = frame[table.category].map(str)  # as the file spells them
    edges = [-np.inf, *table.edges, np.inf]
    asked: list[tuple[tuple[Any, ...], dict[str, Any], list[float]]] = [
        (("mean", table.number), bounds, [number.mean()]),
        (("mean", table.number), {**bounds, "relation": "exchange"}, [number.mean()]),
        (("sum", table.number), bounds, [number.sum()]),
        (("sum", table.number), {**bounds, "relation": "exchange"}, [number.sum()]),
        (("count",), {}, [len(frame)]),
        (("count", f'"{table.number}" > {table.edges[0]}'), {}, [(number > table.edges[0]).sum()]),
        (("count-distinct", table.number), {}, [frame[table.number].nunique()]),
        (("histogram", table.number), {"bins": table.edges},
         [((number >= low) & (number < high)).sum() for low, high in pairwise(edges)]),
        (("histogram", table.category), {"categories": listed}, [(labels == value).sum() for value in listed]),
    ]  # fmt: skip
    if table.person is not None:
        people = frame[table.person]
        above = number > table.edges[0]
        asked += [
            (("count-distinct", table.person), {"unit": table.person}, [people.nunique()]),
            (("count",), {"unit": table.person, "per_unit": "any"}, [people.nunique()]),
            (("count", f'"{table.number}" > {table.edges[0]}'), {"unit": table.person, "per_unit": "any"},
             [people[above].nunique()]),
            (("count",), {"unit": table.person, "at_most": 1000}, [len(frame)]),
            (("mean", table.number), {**bounds, "unit": table.person, "at_most": 1}, [number.mean()]),
        ]  # fmt: skip
    return asked


def main() -> None:
    """Publish every statistic of every table that is there, and print those outside their interval."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("build/tables"),
        help="where the packages with the tables are installed",
    )
    folder = parser.parse_args().folder
    within = named = missed = 0
    for table in TABLES:
        path = folder / table.path
        if not path.exists():
            print(f"{table.path}: not found")
            continue
        frame = pd.read_csv(path, skipinitialspace=True)
        frame.columns = [name.strip() for name in frame.columns]
        with tempfile.TemporaryDirectory() as kept:
            data = Path(kept) / path.name
            frame.to_csv(data, index=False)
            for number, (words, options, truths) in enumerate(statistics(table, frame)):
                ledger = Path(kept) / f"{number}.ledger"
                found = irisdp.publish(data, *words, epsilon=20, confidence=SURE, ledger=ledger, **options)
                promise = found.answers.assured.promise
                ends = list(zip(*found.answers.assured.columns.values(), strict=True))
                for truth, (low, high) in zip(truths, ends, strict=True):
                    slack = 1e-9 * max(1, abs(truth))
                    if low - slack <= truth <= high + slack:
                        within += 1
                    elif any(word in promise for word in ("counts at most", "changes each value")):
                        named += 1
                        print(f"{path.name}: {found.plan.line}: {truth:.10g} outside {low} to {high}: {promise}")
                    else:
                        missed += 1
                        print(f"MISSED {path.name}: {found.plan.line}: {truth:.10g}, {low} to {high}: {promise}")
    print(f"{within} answers within their interval, {named} outside with the cause named, {missed} missed")
    raise SystemExit(missed > 0)


if __name__ == "__main__":
    main()
