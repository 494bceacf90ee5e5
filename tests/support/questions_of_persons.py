"""Questions about records of persons, of every kind, and random records with values that are hard to read."""

import datetime
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from irisdp import BadInput
from irisdp._release.planning import plan

KEYS = [bytes([number]) * 32 for number in range(3)]
BOUNDS = {"lower": -3, "upper": 3, "step": "1/2"}
GROUPED = {"by": "g", "groups": ["a", "b"]}
ASKED = {
    "count": (("count",), {}),
    "count-where": (("count", "v > 0"), GROUPED),
    "count-selected": (("count",), {"by": "g", "select_groups": True, "delta": "1/10"}),
    "count-derived": (("count",), {"by": "h = CASE WHEN v < 1 THEN 'low' ELSE g END", "groups": ["low", "a"]}),
    "count-distinct": (("count-distinct", "v"), {}),
    "histogram": (("histogram", "v"), {"bins": "0,1"}),
    "sum": (("sum", "v"), BOUNDS),
    "sum-where": (("sum", "v", "d IS NOT NULL"), BOUNDS | GROUPED),
    "mean": (("mean", "v"), BOUNDS | GROUPED),
    "variance": (("variance", "v"), BOUNDS),
    "median": (("median", "v"), {"bins": "0,1"}),
    "plurality": (("plurality", "g"), {"categories": "a,b"}),
    "majority": (("majority", "v > 0"), GROUPED),
    "sizes": (("sizes", 2, "g"), {}),
    "at-least": (("at-least", 3, "d > DATE '2024-02-01'"), {}),
    "any": (("count", "v > 0"), {"per_unit": "any", **GROUPED}),
    "few groups": (("count",), {"groups_per_unit": 1, **GROUPED}),
}


def records(seed, rows=60):
    """Return random records, many of them equal, with values that are hard to write and some that are missing."""
    draw = random.Random(seed)
    days = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 3, 1, 0, 0, 0, 1), None]
    return pa.table(
        {
            "u": pa.array([draw.choice(["p", "q", "r", "s", "", None]) for _ in range(rows)]),
            "g": pa.array([draw.choice(["a", "b", "c", None]) for _ in range(rows)]),
            "v": pa.array([draw.choice([0.0, -0.0, 1.0, -2.5, 0.1 + 0.2, None]) for _ in range(rows)]),
            "d": pa.array([draw.choice(days) for _ in range(rows)], pa.timestamp("us")),
            "l": pa.array([draw.choice([[1], None]) for _ in range(rows)]),
        }
    )


def written(folder, form, table):
    """Write a table as a file, or return it as it is."""
    if form == "csv":
        table.drop_columns("l").to_pandas().to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"
    if form == "parquet":
        pq.write_table(table, folder / "t.parquet")
        return folder / "t.parquet"
    return table


def found(cells):
    """Return all that was read, comparable."""
    nodes = {name: getattr(cells.nodes, name, None) for name in dir(type(cells.nodes)) if not name.startswith("_")}
    arrays = {name: value.tolist() for name, value in nodes.items() if isinstance(value, np.ndarray)}
    assert arrays or cells.keys
    return arrays, None if cells.keys is None else (cells.keys.counts.tolist(), cells.keys._keys.to_pylist())


def plans(data, at_most):
    result = []
    for name, (words, options) in ASKED.items():
        for most in at_most:
            kept = {} if name == "any" else {"at_most": most}
            if name != "few groups" or kept["at_most"] > 1:
                given = {"epsilon": 1, "unit": "u", **options, **kept}
                try:
                    result.append(plan(data, *words, **given))
                except BadInput as error:
                    assert "several" in str(error) or "at_most" in str(error) or "at-most" in str(error), (name, error)
    return result
