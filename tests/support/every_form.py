"""One table in every form that an engine reads, questions of every kind, and their true statistics in plain Python.

The table holds what engines read differently: nulls, NaN, infinities and negative zero, instants shown in Europe/Berlin
(an hour that is skipped, an hour that is there twice, days that are other days in UTC), decimals of 38 digits, Unicode
in both normal forms, in cases that have no pair and beyond 16 bits, and neighbours of 2^53. What is true of it is said
here by three-valued logic over Python's own numbers, and by no engine: a number is the nearest double, NaN none.
"""

import datetime
import math
import operator
import random
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp._queries.reading import QUERIES
from irisdp._sampling.bits import OperatingSystemBits

NFC, NFD = "\u00e9", "e\u0301"
WARDS = ["Ely", "ELY", "Łódź", NFC, NFD, "straße", "STRASSE", "İ", "\U0001d49c\U0001f600", " x ", 'a,b\n"c"', "", None]
AGES = [*range(16, 90), 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**63 - 1, -(2**63), None]
COSTS = [0.0, -0.0, 0.5, -3.0, 5e-324, 12.25, 99.5, 0.07, 1e300, math.nan, math.inf, -math.inf, None]
PRICES = [
    "0.00", "0.07", "99.99", "-0.01", "12.50", "90071992547409.93", "9007199254740993.00", f"1{'0' * 35}.01", None,
]  # fmt: skip
SEEN = [
    "0001-01-01 00:00:00", "1969-12-31 23:59:59.999999", "1883-01-01 00:00:00", "2024-03-31 00:59:59.999999",
    "2024-03-31 01:00:00", "2024-10-27 00:30:00", "2024-10-27 01:30:00", "2023-12-31 23:30:00", "2024-02-29 23:15:00",
    "2024-03-01 00:00:00", None,
]  # fmt: skip
"""In UTC."""
LARGE = [None if price is None else Decimal(price) for price in PRICES]
BERLIN = "Europe/Berlin"


class Record(NamedTuple):
    """A record of the table."""

    person: int | None
    part: str
    ward: str | None
    age: int | None
    cost: float | None
    price: Decimal | None
    seen: datetime.datetime | None
    ok: bool | None


SCHEMA = pa.schema(
    {
        "person": pa.int64(), "part": pa.string(), "ward": pa.string(), "age": pa.int64(), "cost": pa.float64(),
        "price": pa.decimal128(38, 2), "seen": pa.timestamp("us", BERLIN), "ok": pa.bool_(),
    }
)  # fmt: skip


def records(pick: Any, size: int) -> list[Record]:
    """Return records of all that columns hold; of people who have up to three, with and without a number."""
    zone = datetime.UTC
    seen = [None if text is None else datetime.datetime.fromisoformat(text).replace(tzinfo=zone) for text in SEEN]
    people = [*(number for number in range(size // 2)), None]
    left = Counter({number: 3 for number in people[:-1]})
    found = []
    for _ in range(size):
        person = pick.choice(people)
        if person is not None and not left[person]:
            person = None
        left[person] -= 1
        held = (pick.choice(values) for values in (WARDS, AGES, COSTS, LARGE, seen, (True, False, None)))
        found.append(Record(person, pick.choice("ab"), *held))
    return found


def arrow(rows: Sequence[Any], schema: pa.Schema = SCHEMA) -> pa.Table:
    """Return records as an Arrow table, column by column."""
    columns = zip(*rows, strict=True)
    return pa.table([pa.array(values, kind.type) for values, kind in zip(columns, schema, strict=True)], schema=schema)


# Three-valued logic: true, false, and None for what is not known.


def double(value: Any) -> float | None:
    """A number as it is read: the nearest double; NaN is none."""
    return None if value is None or math.isnan(value) else float(value)


def compared(compare: Callable[[Any, Any], bool], left: Any, right: Any) -> bool | None:
    return None if left is None or right is None else compare(left, right)


def deny(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def both(*truths: bool | None) -> bool | None:
    return False if False in truths else None if None in truths else True


def either(*truths: bool | None) -> bool | None:
    return deny(both(*map(deny, truths)))


def above(value: Any, number: Any) -> bool | None:
    return compared(operator.gt, double(value), float(number))


def below(value: Any, number: Any) -> bool | None:
    return compared(operator.lt, double(value), float(number))


def equal(left: Any, right: Any) -> bool | None:
    return compared(operator.eq, left, right)


def instant(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)


# What is read of each cell


def cells(rows: Sequence[Any], key: Callable[[Any], Any] | None, labels: Sequence[Any]) -> list[list[Any]]:
    """Return the records of each cell; those of no cell are nowhere."""
    if key is None:
        return [list(rows)]
    found: dict[Any, list[Any]] = {label: [] for label in labels}
    for row in rows:
        if (place := found.get(key(row))) is not None:
            place.append(row)
    return list(found.values())


def steps(value: Any, lower: str, upper: str, step: str) -> int | None:
    """A value on its ladder, from its lower bound: clamped, to the nearest step, half-way up, in doubles."""
    read = double(value)
    if read is None or math.isinf(read):
        return None
    if read <= float(lower) or read >= float(upper):
        return 0 if read <= float(lower) else int((Fraction(upper) - Fraction(lower)) / Fraction(step))
    return math.floor((read - float(lower)) / float(step) + 0.5)


def said(condition: Callable[[Any], bool | None], cells: Sequence[Sequence[Any]]) -> dict[str, list[int]]:
    """Return how many records of each cell there are, and of how many a condition is true, and false."""
    found = [Counter(map(condition, cell)) for cell in cells]
    return {"total": list(map(len, cells)), "yes": [one[True] for one in found], "no": [one[False] for one in found]}


def in_bins(value: Callable[[Any], Any], edges: Sequence[float], rows: Sequence[Any]) -> list[int]:
    """Count the values of each bin: below the first edge, from each edge on, and from the last."""
    known = [read for row in rows if (read := double(value(row))) is not None]
    found = Counter(bisect_right(edges, read) for read in known)
    return [found[place] for place in range(len(edges) + 1)]


def in_categories(value: Callable[[Any], Any], categories: Sequence[Any], rows: Sequence[Any]) -> list[int]:
    found = Counter(map(value, rows))
    return [found[category] for category in categories]


def on_ladder(value: Callable[[Any], Any], lower: str, upper: str, step: str, rows: Sequence[Any]) -> dict[str, Any]:
    """Count the values of a column that are numbers, and add up their steps above the lower bound."""
    found = [steps(value(row), lower, upper, step) for row in rows]
    known = [one for one in found if one is not None]
    return {"known": [len(known)], "above": [sum(known)]}


def different(values: Iterable[Any]) -> dict[str, list[int]]:
    return {"yes": [len(set(values) - {None})]}


@dataclass(frozen=True)
class Question:
    """A question, and what is read of the records to answer it.

    Attributes
    ----------
    name : str
        Of the test.
    words, options
        As they are asked.
    true : function of the records
        The statistics, by their names.
    """

    name: str
    words: tuple[Any, ...]
    true: Callable[[Sequence[Any]], dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict)


def counts(name: str, expression: str, condition: Callable[[Any], bool | None], **options: Any) -> Question:
    """Ask how many records there are for which a condition is true."""
    return Question(name, ("count", expression), lambda rows: said(condition, [rows]), options)


def grouped(name: str, words: tuple[Any, ...], condition: Any, by: str, groups: list[Any], key: Any) -> Question:
    """Ask about each group."""
    return Question(name, words, lambda rows: said(condition, cells(rows, key, groups)), {"by": by, "groups": groups})


def by_age_or_ward(row: Record) -> str | None:
    return "old" if above(row.age, 64.5) else "none" if row.age is None else row.ward


def new(row: Record) -> bool | None:
    return compared(operator.ge, row.seen, instant("2024-01-01"))


def any_of_persons(condition: Callable[[Any], bool | None], rows: Sequence[Any]) -> dict[str, Any]:
    """Ask every person once: yes, where any of the records says so; those without an answer are passed over."""
    people = cells(rows, lambda row: row.person, {row.person for row in rows} - {None})
    answers = [{condition(row) for row in records} - {None} for records in people]
    return said(lambda known: True in known if known else None, [answers])


def ward(row: Record) -> str | None:
    return row.ward


def cost(row: Record) -> float | None:
    return row.cost


def age(row: Record) -> int | None:
    return row.age


WARD = sorted(["Ely", NFC, NFD, "ELY", "\U0001d49c\U0001f600", "nobody"])
"""Cells lie in the order of their names, by code points."""
EDGES = [18, 40, 65, 2**53]
IN_BINS = {"bins": ",".join(map(str, EDGES))}


def histogram_of_ages(rows: Sequence[Any]) -> dict[str, Any]:
    """Count by bin; "below 18" is the last name."""
    first, *others = in_bins(age, EDGES, rows)
    return {"total": [*others, first]}


QUESTIONS = [
    Question("all", ("count",), lambda rows: {"yes": [len(rows)], "total": [len(rows)]}),
    counts("2^53", "age >= 9007199254740992 OR age = -9007199254740993",
           lambda row: either(deny(below(row.age, 2**53)), equal(double(row.age), -float(2**53)))),
    counts("NaN and zeros", "NOT (cost > 1) AND (cost = 0 OR 1 / cost > 0)",
           lambda row: both(deny(above(row.cost, 1)), either(
               equal(double(row.cost), 0.0), None if double(row.cost) in (None, 0.0) else 1 / row.cost > 0))),
    counts("decimals", "price >= 90071992547409.93 OR price = 0.07 OR price < 0",
           lambda row: either(deny(below(row.price, 90071992547409.93)), equal(double(row.price), 0.07),
                              below(row.price, 0))),
    counts("instants", "seen >= TIMESTAMP '2024-03-31 01:00:00' OR DAY(seen) = 29 OR seen < DATE '1900-01-01'",
           lambda row: either(
               compared(operator.ge, row.seen, instant("2024-03-31 01:00:00")),
               equal(None if row.seen is None else row.seen.day, 29),
               compared(operator.lt, row.seen, instant("1900-01-01")))),
    counts("letters", f"LENGTH(ward) = 2 OR ward = '{NFC}' OR ward LIKE '_ly'",
           lambda row: either(
               equal(None if row.ward is None else len(row.ward), 2), equal(row.ward, NFC),
               None if row.ward is None else len(row.ward) == 3 and row.ward.endswith("ly"))),
    counts("truths", "ok OR NOT ok", lambda row: either(row.ok, deny(row.ok))),
    grouped("by Unicode", ("count", "age > 40 AND NOT ok"), lambda row: both(above(row.age, 40), deny(row.ok)),
            "ward", WARD, ward),
    grouped("by months", ("count", "cost IS NOT NULL"), lambda row: double(row.cost) is not None,
            "m = MONTH(seen)", [1, 2, 3, 10, 12], lambda row: None if row.seen is None else row.seen.month),
    grouped("by cases", ("count", "price < 100"), lambda row: below(row.price, 100),
            "c = CASE WHEN age > 64.5 THEN 'old' WHEN age IS NULL THEN 'none' ELSE ward END",
            sorted(["old", "none", NFC, NFD]), by_age_or_ward),
    grouped("by whole numbers", ("count", "ok"), lambda row: row.ok, "age", [17, 2**53, 2**53 + 1, 2**63 - 1], age),
    Question("at least", ("at-least", 100, "price > 0"), lambda rows: said(lambda row: above(row.price, 0), [rows])),
    grouped("majority", ("majority", "cost > 0.06"), lambda row: above(row.cost, 0.06), "part", ["a", "b"],
            lambda row: row.part),
    Question("band", ("band", "50,500", "ok"), lambda rows: said(lambda row: row.ok, [rows])),
    Question("histogram", ("histogram", "age"), histogram_of_ages, IN_BINS),
    Question("sum", ("sum", "cost"), lambda rows: on_ladder(cost, "0", "100", "0.5", rows),
             {"lower": 0, "upper": 100, "step": "0.5"}),
    Question("mean", ("mean", "price"), lambda rows: on_ladder(lambda row: row.price, "0", "100", "0.01", rows),
             {"lower": 0, "upper": 100, "step": "0.01"}),
    Question("plurality", ("plurality", "ward"), lambda rows: {"counts": [in_categories(ward, WARD, rows)]},
             {"categories": WARD}),
    Question("top", ("top", 2, "ward"), lambda rows: {"counts": [in_categories(ward, WARD[:4], rows)]},
             {"categories": WARD[:4]}),
    Question("median", ("median", "age"), lambda rows: {"counts": [in_bins(age, EDGES, rows)]}, IN_BINS),
    Question("quantile", ("quantile", "9/10", "cost"), lambda rows: {"counts": [in_bins(cost, [0, 1, 100], rows)]},
             {"bins": "0,1,100"}),
    Question("different whole numbers", ("count-distinct", "age"), lambda rows: different(map(age, rows))),
    Question("different numbers", ("count-distinct", "cost"), lambda rows: different(double(row.cost) for row in rows)),
    Question("different decimals", ("count-distinct", "price"),
             lambda rows: different(double(row.price) for row in rows)),
    Question("different texts", ("count-distinct", "ward", "ok IS NULL"),
             lambda rows: different(row.ward for row in rows if row.ok is None)),
    Question("persons", ("count", "seen >= DATE '2024-01-01'"), lambda rows: any_of_persons(new, rows),
             {"unit": "person", "per_unit": "any"}),
    Question("persons' records", ("count", "ok"),
             lambda rows: said(lambda row: row.ok, [[row for row in rows if row.person is not None]]),
             {"unit": "person", "at_most": 3}),
]  # fmt: skip


# The forms


def sliced(table: pa.Table, folder: Path, column: str) -> Path:
    """Write a table as a folder with partitions by a column of plain texts, each in two files."""
    for value in sorted(set(table[column].to_pylist())):
        place = folder / f"{column}={value}"
        place.mkdir(parents=True)
        part = table.filter(pa.compute.equal(table[column], value)).drop([column])
        for number in range(2):
            pq.write_table(part.take(list(range(number, len(part), 2))), place / f"{number}.parquet")
    return folder


def pandas_of(table: pa.Table, *, nullable: bool) -> pd.DataFrame:
    """Return a frame of pandas' own types that know nulls, decimals as objects; or of Arrow's types."""
    own = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): pd.StringDtype("pyarrow")}
    return table.to_pandas(types_mapper=own.get if nullable else pd.ArrowDtype)


def embedded(table: pa.Table, folder: Path, column: str) -> dict[str, Any]:
    """Return the table in every form that is read on this machine; the folder has partitions by a column."""
    pq.write_table(table, folder / "t.parquet")
    database = duckdb.connect()
    database.execute("SET TimeZone = 'Asia/Tokyo'")  # of the caller's session, which decides nothing
    return {
        "Parquet": folder / "t.parquet",
        "a folder": sliced(table, folder / "parts", column),
        "PyArrow": table,
        "Polars": pl.from_arrow(table),
        "Polars, lazy": pl.from_arrow(table).lazy(),
        "Polars, a scan": pl.scan_parquet(folder / "t.parquet"),
        "pandas": pandas_of(table, nullable=True),
        "pandas of Arrow": pandas_of(table, nullable=False),
        "DuckDB": database.sql(f"SELECT * FROM '{folder / 't.parquet'}'"),
    }


def asked(data: Any, question: Question, place: Path, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Ask a form with scripted bits; return all that is published, and the statistics that were read for it.

    The ledger is new, and the secret the same for all forms.
    """
    bits, read = random.Random(7), []
    kind = QUERIES[question.words[0]]
    nodes = kind.nodes

    def noted(query: Any, statistics: Any, relation: Any) -> Any:
        read.append(statistics)
        return nodes(query, statistics, relation)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OperatingSystemBits, "words", lambda _, size: np.frombuffer(bits.randbytes(8 * size), np.uint64))
        patch.setattr(kind, "nodes", noted)
        with tempfile.TemporaryDirectory(dir=place) as fresh:
            told = {"ledger": Path(fresh) / "l.ledger", "another_ledger": True, "secret": place / "any", "epsilon": 1}
            found = irisdp.publish(data, *question.words, **told, **question.options, **options)
    (statistics,) = read
    return (found.answers.keys, found.answers.values), statistics


def wrong(statistics: Any, true: dict[str, Any]) -> dict[str, Any]:
    """Return which statistics are other than is true, with both."""
    found = {name: getattr(statistics, name).tolist() for name in true}
    return {name: (found[name], true[name]) for name in true if found[name] != true[name]}


def differing(forms: dict[str, Any], question: Question, rows: Sequence[Any], place: Path) -> dict[str, Any]:
    """Return the forms whose statistics are not what is true, or whose answers are not those of the first form.

    A form is what can be published from, or that with the options that it needs.
    """
    true, answers, found = question.true(rows), [], {}
    for name, form in forms.items():
        data, options = form if isinstance(form, tuple) else (form, {})
        answer, statistics = asked(data, question, place, options)
        answers.append(repr(answer))
        if other := wrong(statistics, true):
            found[name] = other
        elif answers[-1] != answers[0]:
            found[name] = {"answers": (answer, answers[0])}
    return found
