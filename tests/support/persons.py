"""What rows of persons hold, by plain Python, and an event log to derive them from."""

import math
from collections import defaultdict

from support.seeds import fresh_random

LARGEST = 2**53 - 1
PERSON = (
    "n = COUNT(*), known = COUNT(paid), kinds = COUNT(DISTINCT kind), big = COUNT_IF(paid > 5), s = SUM(paid), "
    "a = AVG(paid), units = SUM(pieces), average = AVG(pieces), least = MIN(paid), most = MAX(pieces), "
    "last = MAX(kind), some = BOOL_OR(paid > 5), every = BOOL_AND(paid > 5), "
    "late = SUM(pieces) FILTER (WHERE kind = 'b'), visits = COUNT(*) FILTER (WHERE pieces > 0)"
)
NAMES = [part.split(" = ")[0].strip() for part in PERSON.split(", ") if " = " in part and "(" in part.split(" = ")[1]]


def log(records, persons, name="event log"):
    """Return records (who, paid, pieces, kind): amounts of every size, unknown ones and records of nobody."""
    random = fresh_random(name)
    amounts = [
        0.1,
        0.2,
        0.3,
        -0.0,
        0.0,
        1e-7,
        5.0,
        7.25,
        1e9,
        -1e9,
        1e300,
        float("inf"),
        -float("inf"),
        float("nan"),
        None,
    ]
    return [
        (
            random.choice([None, *range(persons)]),
            random.choice([*amounts, random.uniform(-10, 10)]),
            random.choice([None, 0, 1, 2, -5, 2**53 - 1, -(2**53) + 1, 2**62]),
            random.choice([None, "a", "b", "B", ""]),
        )
        for _ in range(records)
    ]


def _total(values):
    """Add whole numbers; none where there are none, and at most so large."""
    return max(-LARGEST, min(LARGEST, sum(values))) if values else None


def _millionths(value):
    """Return a number of millionths, half-way up, as doubles say; none for what is no number."""
    if value is None or not math.isfinite(value):
        return None
    if abs(value) >= LARGEST / 1_000_000:
        return LARGEST if value > 0 else -LARGEST
    return (value * 1_000_000.0 + 0.5).__floor__()


def expected(records):
    """Return each person's row as a dictionary."""
    owned = defaultdict(list)
    for who, *record in records:
        if who is not None:
            owned[who].append(record)
    return {who: _row(own) for who, own in owned.items()}


def _row(own):
    paid = [value for value, *_ in own if value is not None and not math.isnan(value)]
    pieces = [value for _, value, _ in own if value is not None and abs(value) <= LARGEST]
    kinds = [kind for *_, kind in own if kind is not None]
    steps = [step for step in map(_millionths, paid) if step is not None]
    above = [value > 5 for value in paid]
    late = [n for _, n, kind in own if kind == "b" and n is not None and abs(n) <= LARGEST]
    total, units = _total(steps), _total(pieces)
    return {
        "n": len(own),
        "known": len(paid),
        "kinds": len(set(kinds)),
        "big": sum(above),
        "s": None if total is None else float(total) / 1_000_000,
        "a": None if total is None else float(total) / len(steps) / 1_000_000,
        "units": units,
        "average": None if units is None else float(units) / len(pieces),
        "least": min(paid, default=None),
        "most": max(pieces, default=None),
        "last": max(kinds, default=None),
        "some": any(above) if above else None,
        "every": all(above) if above else None,
        "late": _total(late),
        "visits": sum(1 for _, n, _ in own if n is not None and n > 0),
    }
