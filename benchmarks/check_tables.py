"""Plant faults into eight public tables, one at a time, and count how many of them `irisdp check` names.

    python -m pip install --target build/tables --no-deps statsmodels vega_datasets causaldata
    python benchmarks/check_tables.py

A fault counts as named if a warning that the table without the fault does not get, or the refusal to open the file,
holds the words that belong to the fault: mostly the option that mends it. Each fault is planted into every table that
it fits, at places drawn with a seed. The status is 1 if one is not named.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from irisdp import BadInput
from irisdp._release import check_data

ROOT = Path(__file__).parents[1]
VEGA, STATSMODELS, CAUSAL = "vega_datasets/_data", "statsmodels/datasets", "causaldata"
TABLES = {
    "airports": (f"{VEGA}/airports.csv", ",", ""),
    "weather": (f"{VEGA}/seattle-weather.csv", ",", "%Y/%m/%d"),
    "riots": (f"{VEGA}/la-riots.csv", ",", "%Y-%m-%d"),
    "stocks": (f"{VEGA}/stocks.csv", ",", "%b %d %Y"),
    "gapminder": (f"{CAUSAL}/gapminder/gapminder.csv", ",", ""),
    "insurance": (f"{CAUSAL}/social_insure/Cai_2015.csv", ",", ""),
    "affairs": (f"{STATSMODELS}/fair/fair.csv", ",", ""),
    "travel": (f"{STATSMODELS}/modechoice/modechoice.csv", ";", ""),
}
"""The files with their delimiters and date formats; dates are written in ISO 8601 before faults are planted."""
ISO = re.compile(r"\d{4}-\d\d-\d\d")
NUMBER = re.compile(r"-?\d+([.]\d+)?")


@dataclass(frozen=True)
class Planted:
    """A table on its way to a file.

    Attributes
    ----------
    names : list of str
    rows : list of lists of str
    delimiter, encoding : str
        How it is written.
    above, below : tuple of str
        Lines before the header and after the records.
    within : tuple of str
        Lines between records.
    header : bool
        Whether the names are written.
    options : dict
        What is declared when it is checked.
    line_end : str
    """

    names: list[str]
    rows: list[list[str]]
    delimiter: str = ","
    encoding: str = "utf-8"
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    header: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    line_end: str = "\n"

    def content(self) -> bytes:
        """Return the bytes of the file."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator="\n")
        writer.writerows(([self.names] if self.header else []) + self.rows)
        lines = text.getvalue().split("\n")[:-1]
        middle = len(lines) // 2
        lines = [*self.above, *lines[:middle], *self.within, *lines[middle:], *self.below]
        return "".join(f"{line}{self.line_end}" for line in lines).encode(self.encoding)

    def columns(self, fits: Callable[[list[str]], bool]) -> list[int]:
        """Return the columns whose values fit."""
        values = [[row[place] for row in self.rows if row[place]] for place in range(len(self.names))]
        return [place for place, column in enumerate(values) if column and fits(column)]

    def changed(self, place: int, change: Callable[[str], str], share: float, chance: random.Random) -> Planted:
        """Return the table with some values of a column changed, at least three of them."""
        filled = [number for number, row in enumerate(self.rows) if row[place]]
        chosen = set(chance.sample(filled, min(len(filled), max(3, round(share * len(filled))))))
        rows = [
            [change(value) if number in chosen and at == place else value for at, value in enumerate(row)]
            for number, row in enumerate(self.rows)
        ]
        return replace(self, rows=rows)


def read(folder: Path, name: str) -> Planted:
    """Read a table, and write its dates in ISO 8601."""
    path, delimiter, form = TABLES[name]
    with (folder / path).open(encoding="utf-8-sig", newline="") as file:
        names, *rows = csv.reader(file, delimiter=delimiter)
    rows = [[_iso(value, form) if form else value for value in row] for row in rows if row]
    return Planted([each.strip() for each in names], rows)


def _iso(value: str, form: str) -> str:
    try:
        return datetime.strptime(value, form).strftime("%Y-%m-%d")
    except ValueError:
        return value


# What columns a fault fits.


def numbers(values: list[str]) -> bool:
    """Tell whether a column holds numbers of several values."""
    return all(map(NUMBER.fullmatch, values)) and len(set(values)) > 3


def fractions(values: list[str]) -> bool:
    """Tell whether a column holds numbers with a decimal mark."""
    return numbers(values) and sum("." in value for value in values) > len(values) / 2


def amounts(values: list[str]) -> bool:
    """Tell whether a column holds numbers from 0 on, few of them large."""
    return numbers(values) and min(map(float, values)) >= 0


def small(values: list[str]) -> bool:
    """Tell whether a column holds numbers from 0 to 70, so that 99 is none of them."""
    return amounts(values) and max(map(float, values)) <= 70


def wholes(values: list[str]) -> bool:
    """Tell whether a column holds whole numbers."""
    return numbers(values) and all("." not in value for value in values)


def dates(values: list[str]) -> bool:
    """Tell whether a column holds dates."""
    return all(map(ISO.fullmatch, values)) and len(set(values)) > 20


def late_dates(values: list[str]) -> bool:
    """Tell whether a column holds dates of which some have a day that is no month."""
    return dates(values) and sum(int(value[8:]) > 12 for value in values) > 0.3 * len(values)


def words(values: list[str]) -> bool:
    """Tell whether a column holds text that is no date and no code."""
    return sum(value[0].isalpha() and len(value) > 2 for value in values) > 0.9 * len(values) and not dates(values)


def any_values(values: list[str]) -> bool:
    """Tell whether a column holds anything."""
    return bool(values)


# Faults: each makes of a table the table with the fault, and of the column what a warning must hold.


@dataclass(frozen=True)
class Fault:
    """A fault: the columns that it fits, what it does, and what a warning must hold.

    Attributes
    ----------
    fits : function
        Whether it can be planted into a column of these values.
    plant : function
        Of the table, the place of the column and a generator, the table with the fault; None where it cannot be seen.
    said : str or tuple of str
        All of these must stand in one warning, with {name} for the column's name.
    """

    fits: Callable[[list[str]], bool]
    plant: Callable[[Planted, int, random.Random], Planted | None]
    said: str | tuple[str, ...]


def cells(change: Callable[[str], str], share: float = 0.02) -> Callable[[Planted, int, random.Random], Planted]:
    """Return what changes a share of the values of a column."""
    return lambda table, place, chance: table.changed(place, change, share, chance)


def whole(change: Callable[[str], str]) -> Callable[[Planted, int, random.Random], Planted]:
    """Return what changes every value of a column."""
    return cells(change, 1.0)


def lines(**parts: Any) -> Callable[[Planted, int, random.Random], Planted]:
    """Return what changes how the table is written."""
    return lambda table, _, __: replace(table, **parts)


def dated(form: str) -> Callable[[str], str]:
    """Return what writes a date in a format, without zeros before days and months where it says so."""

    def change(value: str) -> str:
        day = datetime.strptime(value, "%Y-%m-%d").replace(hour=9, minute=15)
        return form.format(d=day, y=day.year % 100, short=day.strftime("%b"), german=_GERMAN[day.month - 1])

    return change


_GERMAN = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
)


def grouped(mark: str, decimal: str = ".") -> Callable[[str], str]:
    """Return what writes a number with marks between thousands, a thousand times larger so that there are some."""

    def change(value: str) -> str:
        number = f"{float(value) * 1000 + 1234:,.2f}"
        return number.replace(",", "\0").replace(".", decimal).replace("\0", mark)

    return change


def added(names: Callable[[list[str]], list[str]]) -> Callable[[Planted, int, random.Random], Planted]:
    """Return what changes the names of the columns."""
    return lambda table, _, __: replace(table, names=names(table.names))


def column(name: str, value: Callable[[int], str]) -> Callable[[Planted, int, random.Random], Planted]:
    """Return what puts a column before the others."""

    def plant(table: Planted, _: int, __: random.Random) -> Planted:
        return replace(table, names=[name, *table.names], rows=[[value(n), *row] for n, row in enumerate(table.rows)])

    return plant


def _twice(table: Planted, _: int, chance: random.Random) -> Planted | None:
    if len(set(map(tuple, table.rows))) < len(table.rows):  # three more of many are no fault that can be seen
        return None
    return replace(table, rows=table.rows + chance.sample(table.rows, 3))


def _number_twice(table: Planted, _: int, chance: random.Random) -> Planted:
    numbered = column("id", lambda n: f"p{n:05}")(table, 0, chance)
    again = [[f"p{n:05}", *chance.choice(table.rows)] for n in range(5)]
    return replace(numbered, rows=numbered.rows + again)


def _wide(table: Planted, _: int, chance: random.Random) -> Planted:
    rows = list(table.rows)
    at = chance.randrange(len(rows))
    rows[at] = [*rows[at], "more"]
    return replace(table, rows=rows)


def _narrow(table: Planted, _: int, chance: random.Random) -> Planted:
    rows = list(table.rows)
    at = chance.randrange(len(rows))
    rows[at] = rows[at][:1]
    return replace(table, rows=rows)


def _footer(*texts: str) -> Callable[[Planted, int, random.Random], Planted]:
    def plant(table: Planted, _: int, __: random.Random) -> Planted:
        return replace(table, rows=table.rows + [[text] + [""] * (len(table.names) - 1) for text in texts])

    return plant


def _units(table: Planted, _: int, __: random.Random) -> Planted:
    return replace(table, rows=[["(in words)"] * len(table.names), *table.rows])


def _questions(table: Planted, _: int, __: random.Random) -> Planted:
    ids = [f'{{"ImportId":"Q{place}"}}' for place in range(len(table.names))]
    return replace(table, rows=[["What is it?"] * len(table.names), ids, *table.rows])


def _fraction(table: Planted, place: int, chance: random.Random) -> Planted:
    changed = table.changed(place, lambda value: f"{value}.5", 0.02, chance)
    return replace(changed, options={"types": {table.names[place]: "integer"}})


def _persons(table: Planted, _: int, chance: random.Random) -> Planted:
    return replace(_number_twice(table, 0, chance), options={"unit": "id"})


def _titles(table: Planted, _: int, __: random.Random) -> Planted:
    return replace(table, above=("A title" + "," * (len(table.names) - 1),))


def _row_names(table: Planted, _: int, chance: random.Random) -> Planted:
    return column("", lambda n: str(n + 1))(table, 0, chance)


def _above_all(values: str) -> str:
    """Write a code of nines; the column has numbers to 70."""
    return "999" if values else values


MISSING = ("k. A.", "n/a", "keine Angabe", ".", "?", "--", "NULL", "unknown", "NA", "refused", "-")
FAULTS = {
    "decimal commas": Fault(fractions, whole(lambda v: v.replace(".", ",")), "decimal=','"),
    "numbers as in 1.234,50": Fault(numbers, whole(grouped(".", ",")), ("decimal=','", 'thousands="."')),
    "numbers as in 1,234.50": Fault(numbers, whole(grouped(",")), 'thousands=","'),
    "numbers as in 1 234.50": Fault(numbers, whole(grouped(" ")), 'thousands=" "'),
    "numbers as in 1'234.50": Fault(numbers, whole(grouped("'")), 'thousands="\'"'),
    "two decimal marks": Fault(fractions, cells(lambda v: v.replace(".", ","), 0.2), "two decimal marks"),
    "dollars": Fault(numbers, whole(lambda v: f"${v}"), ("a sign or a unit", "CAST(SUBSTR({name}, 2)")),
    "per cent": Fault(numbers, whole(lambda v: f"{v}%"), "a sign or a unit"),
    "euros": Fault(numbers, whole(lambda v: f"{v} €"), "a sign or a unit"),
    "a unit in some values": Fault(numbers, cells(lambda v: f"{v} kg"), "a sign or a unit"),
    "leading zeros": Fault(wholes, whole(lambda v: f"0{v}"), "declare the type text"),
    "long numbers": Fault(wholes, whole(lambda v: f"40001234123{int(v):08}"), "more than 15 digits"),
    "a fraction in an integer": Fault(wholes, _fraction, "declare the type number"),
    "-9 among amounts": Fault(amounts, cells(lambda _: "-9"), "missing_codes='-9'"),
    "-99 among numbers": Fault(numbers, cells(lambda _: "-99"), "missing_codes='-99'"),
    "-99.00 among amounts": Fault(amounts, cells(lambda _: "-99.00"), "missing_codes='-99.00'"),
    "-99,0 among commas": Fault(
        lambda values: fractions(values) and amounts(values),
        lambda table, place, chance: cells(lambda _: "-99,0")(
            table.changed(place, lambda v: v.replace(".", ","), 1.0, chance), place, chance
        ),
        "missing_codes='-99'",
    ),
    "99 in a small range": Fault(small, cells(lambda _: "99"), "missing_codes='99'"),
    "999 in a small range": Fault(small, cells(_above_all), "missing_codes='999'"),
    "88 and 99": Fault(small, lambda t, p, c: cells(lambda _: "88")(cells(lambda _: "99")(t, p, c), p, c), "88"),
    "-9 once": Fault(amounts, lambda t, p, c: _once(t, p, "-9", c), "missing_codes='-9'"),
    **{
        f"{word} for a number": Fault(numbers, cells(lambda _, word=word: word), f"missing_codes='{word}'")
        for word in MISSING
    },
    **{
        f"{word} for a date": Fault(dates, cells(lambda _, word=word: word), f"missing_codes='{word}'")
        for word in MISSING[:4]
    },
    "a word for a number": Fault(numbers, cells(lambda _: "verweigert"), "'verweigert'"),
    "an error of a spreadsheet": Fault(numbers, cells(lambda _: "#DIV/0!"), "#DIV/0!"),
    "dates as in 31.12.1999": Fault(dates, whole(dated("{d:%d.%m.%Y}")), "date_format='%d.%m.%Y'"),
    "dates as in 12/31/1999": Fault(dates, whole(dated("{d:%m/%d/%Y}")), "date_format='%"),
    "dates as in 1/3/99 9:15 AM": Fault(dates, whole(dated("{d.month}/{d.day}/{y:02} 9:15 AM")), "%I:%M %p'"),
    "dates as in 3-Jan-99": Fault(dates, whole(dated("{d.day}-{short}-{y:02}")), "date_format='%d-%b-%y'"),
    "dates as in 1. Mai 99": Fault(dates, whole(dated("{d.day}. {german} {d.year}")), "months"),
    "dates as in 19991231": Fault(dates, whole(dated("{d:%Y%m%d}")), "date_format='%Y%m%d'"),
    "dates in two formats": Fault(dates, cells(dated("{d:%d.%m.%Y}"), 0.3), "in several formats"),
    "years of two digits": Fault(
        dates,
        lambda t, p, c: cells(lambda v: v[:6] + v[8:], 0.3)(whole(dated("{d:%d.%m.%Y}"))(t, p, c), p, c),
        "in several formats",
    ),
    "days first and months first": Fault(
        late_dates,
        lambda t, p, c: cells(lambda v: f"{v[3:5]}/{v[:2]}/{v[6:]}", 0.5)(whole(dated("{d:%d/%m/%Y}"))(t, p, c), p, c),
        ("in several formats", "day first"),
    ),
    "comments": Fault(any_values, lines(within=("# checked by hand", "# twice")), "comment='#'"),
    "comments with slashes": Fault(any_values, lines(within=("// checked by hand",)), "comment='//'"),
    "a comment above": Fault(any_values, lines(above=("# exported in 2024",)), "comment='#'"),
    "a title above": Fault(any_values, lines(above=("A title", "of two lines")), "skip_rows=2"),
    "a title in a cell": Fault(any_values, _titles, "skip_rows=1"),
    "an empty line above": Fault(any_values, lines(above=("",)), "skip_rows=1"),
    "sep= above": Fault(any_values, lines(above=("sep=,",)), "skip_rows=1"),
    "a total below": Fault(any_values, _footer("Total"), "footer_rows=1"),
    "a source below": Fault(any_values, lines(below=("", "Source: our office")), "footer_rows=1"),
    "notes below": Fault(any_values, _footer("* preliminary", "(c) our office"), "footer_rows=2"),
    "no header": Fault(any_values, lines(header=False), "no_header=True"),
    "two equal names": Fault(any_values, added(lambda names: [names[1], *names[1:]]), "columns 1 and 2"),
    "an empty name": Fault(any_values, added(lambda names: [names[0], "", *names[2:]]), "no name for column 2"),
    "a row of units": Fault(numbers, _units, "header_rows=2"),
    "a row of questions": Fault(any_values, _questions, "header_rows=3"),
    "row names": Fault(any_values, _row_names, "row_names=True"),
    "a record too long": Fault(any_values, _wide, "1 record has more fields"),
    "a record too short": Fault(any_values, _narrow, "1 record has fewer fields"),
    "an open quote": Fault(any_values, lines(within=('"open,x',)), "does not close it"),
    "another encoding": Fault(
        words, lambda t, p, c: replace(_odd(t, p, c), encoding="cp1252"), "encoding=windows-1252"
    ),
    "the wrong encoding": Fault(
        words, lambda t, p, c: replace(_odd(t, p, c), options={"encoding": "cp1252"}), "encoding=utf-8"
    ),
    "encoded twice": Fault(words, cells(lambda v: f"{v} K\u00c3\u00b6ln"), "export the file again"),
    "UTF-16": Fault(any_values, lines(encoding="utf-16"), "UTF-16"),
    "another delimiter": Fault(any_values, lines(delimiter=";"), 'delimiter=";"'),
    "old line ends": Fault(any_values, lines(line_end="\r"), "carriage return"),
    "records twice": Fault(any_values, _twice, ("equal an earlier one", "3 records")),
    "an id twice": Fault(any_values, _number_twice, "Column 'id' repeats values: give unit='id'"),
    "persons with several records": Fault(any_values, _persons, "have several records"),
    "two cases": Fault(words, cells(str.swapcase, 0.1), "in several ways"),
    "blanks around words": Fault(words, cells(lambda v: f" {v}"), "{name}"),
    "control characters": Fault(words, cells(lambda v: f"{v}\x01"), "control characters"),
    "an empty column": Fault(any_values, column("nothing", lambda _: ""), "nothing has no value"),
}


def _once(table: Planted, place: int, value: str, chance: random.Random) -> Planted:
    rows = [list(row) for row in table.rows]
    chance.choice(rows)[place] = value
    return replace(table, rows=rows)


def _odd(table: Planted, place: int, chance: random.Random) -> Planted:
    plain = [[value.encode("ascii", "ignore").decode() for value in row] for row in table.rows]
    return replace(table, rows=plain).changed(place, lambda v: f"{v} Köln", 0.02, chance)


def checked(table: Planted, path: Path) -> tuple[str, ...]:
    """Return what `irisdp check` says of a table: warnings, or the refusal to open it."""
    path.write_bytes(table.content())
    try:
        return check_data(path, **table.options).warnings
    except BadInput as error:
        return (str(error),)


def is_named(warnings: Iterable[str], usual: Iterable[str], said: str | tuple[str, ...], name: str) -> bool:
    """Tell whether a new warning holds what it must."""
    parts = [part.format(name=name) for part in ((said,) if isinstance(said, str) else said)]
    return any(all(part in warning for part in parts) for warning in warnings if warning not in set(usual))


def main() -> int:
    """Plant all faults and print, for each, in how many tables it was named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tables", type=Path, default=ROOT / "build" / "tables", help="where the packages are installed"
    )
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    missed: list[str] = []
    planted = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        tables = {name: read(chosen.tables, name) for name in TABLES}
        usual = {name: checked(table, path) for name, table in tables.items()}
        for fault_name, fault in FAULTS.items():
            named = suitable = 0
            for name, table in tables.items():
                chance = random.Random(f"{chosen.seed} {fault_name} {name}")
                places = table.columns(fault.fits)
                if not places:
                    continue
                place = chance.choice(places)
                faulty = fault.plant(table, place, chance)
                if faulty is None:
                    continue
                warnings = checked(faulty, path)
                found = is_named(warnings, usual[name], fault.said, table.names[place])
                suitable, named = suitable + 1, named + found
                if not found:
                    missed.append(f"{fault_name} in {table.names[place]} of {name}: {list(warnings)}")
            planted += suitable
            print(f"{fault_name:<32} named in {named} of {suitable} tables", flush=True)
        assert sorted(each.name for each in Path(folder).iterdir()) == ["table.csv"]
    print(f"{len(FAULTS)} faults, planted {planted} times: {planted - len(missed)} named")
    for miss in missed:
        print(f"not named: {miss[:600]}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
