"""Expressions to group by, and what each means, in plain Python, on records that are hard to read."""

import datetime
import math

import pyarrow as pa

from irisdp._queries.derived_columns import read_about
from irisdp._tables.columns import ColumnType
from irisdp._tables.table import open_table

WHOLE = [None, 0, -1, 1, 7, 17, 18, 64, 65, 2**53 - 1, 2**53, -(2**53), 2**63 - 1, -(2**63)]
FLOATS = [
    None, math.nan, math.inf, -math.inf, -0.0, 0.5, -0.5, 17.999, 18.0, 2.0**52 + 0.5, 2.0**53, 1e300, -1e300, 5e-324,
]  # fmt: skip
TEXTS = [None, "", "a", "A", "child", "é", "18", "nan", "x" * 2000, "o'clock", 'q"', "\u0130", " 1 ", "-"]
CHOICES = [
    None, "", "C++", "R;C++", "C++;R", "C ;R", " C++ ", "R; C++ ;S", "c++", "C++C", "C++,R", ";;",
    "\u00e9;\U0001f600;C++", "C+ +;\tC++",
]  # fmt: skip
DAYS = [
    None, *(datetime.datetime(*day) for day in (
        (1, 1, 1), (9999, 12, 31, 23, 59, 59, 999999), (1969, 12, 31, 23, 59, 59, 999999), (1970, 1, 1), (2000, 2, 29),
        (2023, 12, 31, 23, 30), (2024, 1, 1, 0, 30), (1900, 2, 28), (2024, 2, 29, 12), (1582, 10, 10),
        (2024, 10, 27, 1), (1999, 12, 31), (2019, 12, 31),
    )),
]  # fmt: skip
TRUTHS = [None, True, False] * 4 + [True, False]
TABLE = pa.table(
    {
        "age": pa.array(WHOLE, pa.int64()),
        "rate": pa.array(FLOATS, pa.float64()),
        "town": pa.array(TEXTS, pa.string()),
        "seen": pa.array(DAYS, pa.timestamp("us")),
        "flag": pa.array(TRUTHS, pa.bool_()),
        "first name": pa.array(TEXTS[::-1], pa.string()),
        "knows": pa.array(CHOICES, pa.string()),
    }
)


def double(value):
    """A number as it is read: a double, NaN unknown."""
    return None if value is None or math.isnan(value) else float(value)


def whole(value):
    """A whole number as it may be a group: one that doubles tell from the next."""
    return None if value is None or not abs(value) < 2**53 else int(value)


def known(function, *values):
    return None if None in values else function(*values)


def floor(value):
    return None if value is None or not abs(value) < 2**53 else float(math.floor(value))


def half_up(value, places=0):
    """Round as doubles do: the number times a power of ten, plus a half, down; where whole numbers are exact."""
    scaled = None if value is None else value * 10.0**places
    if scaled is None or not abs(scaled) < 2**53:
        return None
    return math.copysign(math.floor(abs(scaled) + 0.5), scaled) / 10.0**places


def first_day(number):
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(days=number)


def has(text, choice, delimiter=";"):
    return known(lambda cell: choice in [part.strip(" ") for part in cell.split(delimiter)], text)


def case(*branches):
    """The result of the first branch whose test is true, as SQL has it; of null and false alike, none."""
    return next((result for test, result in branches if test), None)


AGES, RATES = list(map(double, WHOLE)), list(map(double, FLOATS))

EXPRESSIONS = {
    "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END": (
        ColumnType.TEXT, lambda n: case((AGES[n] is not None and AGES[n] < 18, "child"), (True, "adult"))),
    "CASE WHEN rate < 18 THEN 'child' WHEN rate >= 18 THEN 'adult' END": (
        ColumnType.TEXT, lambda n: known(lambda rate: "child" if rate < 18 else "adult", RATES[n])),
    "CASE town WHEN 'a' THEN 1 WHEN 'A' THEN 2 ELSE 3 END": (
        ColumnType.INTEGER, lambda n: {"a": 1, "A": 2}.get(TEXTS[n], 3)),
    "age": (ColumnType.INTEGER, lambda n: known(whole, AGES[n])),
    "-age + 1": (ColumnType.INTEGER, lambda n: known(lambda age: whole(1 - age), AGES[n])),
    "age * age - age": (ColumnType.INTEGER, lambda n: known(lambda age: whole(age * age - age), AGES[n])),
    "age % 7": (ColumnType.INTEGER, lambda n: known(lambda age: whole(math.fmod(age, 7)), AGES[n])),
    "age % 0": (ColumnType.INTEGER, lambda n: None),
    "FLOOR(age / 10) * 10": (
        ColumnType.INTEGER, lambda n: known(lambda v: whole(v * 10), floor(known(lambda v: v / 10, AGES[n])))),
    "FLOOR(rate)": (ColumnType.INTEGER, lambda n: known(whole, floor(RATES[n]))),
    "CEIL(rate / 3)": (
        ColumnType.INTEGER, lambda n: known(lambda v: whole(-v), floor(known(lambda v: -(v / 3), RATES[n])))),
    "FLOOR(rate * 1e300 - rate * 1e300)": (
        ColumnType.INTEGER, lambda n: known(lambda v: whole(floor(v * 1e300 - v * 1e300)), RATES[n])),
    "ABS(age)": (ColumnType.INTEGER, lambda n: known(lambda age: whole(abs(age)), AGES[n])),
    "LENGTH(town)": (ColumnType.INTEGER, lambda n: known(len, TEXTS[n])),
    "COALESCE(age, 0)": (ColumnType.INTEGER, lambda n: whole(AGES[n] or 0.0)),
    "NULLIF(age, 18)": (ColumnType.INTEGER, lambda n: known(whole, None if AGES[n] == 18 else AGES[n])),
    "YEAR(seen)": (ColumnType.INTEGER, lambda n: known(lambda day: day.year, DAYS[n])),
    "EXTRACT(MONTH FROM seen)": (ColumnType.INTEGER, lambda n: known(lambda day: day.month, DAYS[n])),
    "day(seen) + 100 * month(seen)": (
        ColumnType.INTEGER, lambda n: known(lambda day: day.day + 100 * day.month, DAYS[n])),
    "CAST(seen AS DATE)": (
        ColumnType.DATE, lambda n: known(lambda day: datetime.datetime(day.year, day.month, day.day), DAYS[n])),
    "CASE WHEN seen < '2000-01-01' THEN 'before' ELSE town END": (
        ColumnType.TEXT, lambda n: case((DAYS[n] is not None and DAYS[n].year < 2000, "before"), (True, TEXTS[n]))),
    "upper(\"first name\")": (ColumnType.TEXT, None),
    "age > 64": (ColumnType.BOOLEAN, lambda n: known(lambda age: age > 64, AGES[n])),
    "flag AND town = 'a'": (ColumnType.BOOLEAN, lambda n: (
        False
        if TRUTHS[n] is False or TEXTS[n] not in ("a", None)
        else known(lambda *both: True, TRUTHS[n], TEXTS[n]))),
    "SUBSTR(town, 2, 3)": (ColumnType.TEXT, lambda n: known(lambda text: text[1:4], TEXTS[n])),
    "substring(knows, 3)": (ColumnType.TEXT, lambda n: known(lambda text: text[2:], CHOICES[n])),
    "LEFT(knows, 3)": (ColumnType.TEXT, lambda n: known(lambda text: text[:3], CHOICES[n])),
    "RIGHT(knows, 5)": (ColumnType.TEXT, lambda n: known(lambda text: text[-5:], CHOICES[n])),
    "RIGHT(town, 0) || town || '-' || knows": (
        ColumnType.TEXT, lambda n: known(lambda *both: "-".join(both), TEXTS[n], CHOICES[n])),
    "ROUND(rate)": (ColumnType.INTEGER, lambda n: known(whole, half_up(RATES[n]))),
    "ROUND(rate / 4)": (ColumnType.INTEGER, lambda n: known(whole, half_up(known(lambda v: v / 4, RATES[n])))),
    "ROUND(rate * 1.05, 1) * 10": (ColumnType.NUMBER, lambda n: known(
        lambda v: v * 10, half_up(known(lambda v: v * 1.05, RATES[n]), 1))),
    "HOUR(seen)": (ColumnType.INTEGER, lambda n: known(lambda day: day.hour, DAYS[n])),
    "WEEKDAY(seen)": (ColumnType.INTEGER, lambda n: known(lambda day: day.isoweekday(), DAYS[n])),
    "DATE_DIFF('day', '1970-01-01', seen)": (
        ColumnType.INTEGER, lambda n: known(lambda day: day.toordinal() - first_day(0).toordinal(), DAYS[n])),
    "DATEDIFF('hour', seen, '2000-01-01 10:30:00')": (ColumnType.INTEGER, lambda n: known(
        lambda day: (datetime.datetime(2000, 1, 1, 10) - day.replace(minute=0, second=0, microsecond=0))
        // datetime.timedelta(hours=1), DAYS[n])),
    "DATE_DIFF('month', seen, DATE '2000-01-31')": (
        ColumnType.INTEGER, lambda n: known(lambda day: (2000 - day.year) * 12 + 1 - day.month, DAYS[n])),
    "DATE_DIFF('year', seen, '2000-01-01')": (
        ColumnType.INTEGER, lambda n: known(lambda day: 2000 - day.year, DAYS[n])),
    "GREATEST(age, 17, FLOOR(rate))": (ColumnType.INTEGER, lambda n: whole(max(
        v for v in (AGES[n], 17.0, floor(RATES[n])) if v is not None))),
    "LEAST(town, \"first name\")": (ColumnType.TEXT, lambda n: min(
        (v for v in (TEXTS[n], TEXTS[::-1][n]) if v is not None), key=str.encode, default=None)),
    "HAS(knows, 'C++', ';')": (ColumnType.BOOLEAN, lambda n: has(CHOICES[n], "C++")),
    "HAS(knows, 'C++') OR HAS(knows, 'R', ',')": (ColumnType.BOOLEAN, lambda n: known(
        lambda *both: any(both), has(CHOICES[n], "C++"), has(CHOICES[n], "R", ","))),
    "HAS(knows, '\U0001f600')": (ColumnType.BOOLEAN, lambda n: has(CHOICES[n], "\U0001f600")),
    "CAST(flag AS INT)": (ColumnType.INTEGER, lambda n: known(int, TRUTHS[n])),
}  # fmt: skip


def values(data, expression):
    """Return a derived column's kind and its values, as the engine computes them."""
    table, name = read_about(open_table(data), f"found = {expression}")
    column = table.column(name, "query")
    statement = f"SELECT {column.reference.sql('duckdb')} AS found FROM data"
    return column.kind, table.run(statement, [column]).column("found").to_pylist()
