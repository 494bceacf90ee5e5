"""How a text file writes numbers, dates and missing values, if its owner declares it.

A declaration applies to one value at a time, so no record changes how another is read. A value that is not written as
declared is null. The patterns mean the same to the engine and to Python. So a declared group and a record that are
written alike have the same value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from .._options import SPELLED
from ..errors import BadInput

BLANKS = " \u00a0\u202f"
"""What stands between thousands if a blank is declared: programs write blanks that do not break lines."""
_DECIMALS = (".", ",")
_THOUSANDS = (".", ",", "'", "’", " ", "_")
_MOST_CODES = 100
_LONGEST = 100
"""Letters of a code, or of a date format."""

OF_COLUMN = ("type", "decimal", "thousands", "format", "missing")
"""The keys of a declaration of one column."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How values are written in a column of text; public.

    Attributes
    ----------
    decimal, thousands : str
        The decimal mark, and what stands between groups of three digits; empty if nothing may.
    date_format : str
        How dates are written, as in ``%d.%m.%Y``; empty for ISO 8601.
    missing : tuple of str
        Codes that mean a missing value, as the file writes them.
    """

    decimal: str = "."
    thousands: str = ""
    date_format: str = ""
    missing: tuple[str, ...] = ()

    @property
    def numbers(self) -> dict[str, str]:
        """What is declared of numbers, where it is not as usual."""
        usual = Spelling()
        return {name: getattr(self, name) for name in SPELLED[:2] if getattr(self, name) != getattr(usual, name)}

    def describe(self, *, number: bool = False, date: bool = False) -> str:
        """Say in words what is declared of numbers or of dates, and of missing values; empty if nothing is."""
        parts = []
        if number and self.numbers:
            parts.append(f"written as in 1{self.thousands}234{self.decimal}5")
        if date and self.date_format:
            parts.append(f"written as {self.date_format}")
        if self.missing:
            parts.append(f"without the codes {', '.join(self.missing)}")
        return " ".join(parts)


PLAIN = Spelling()


def read_spelling(written: Mapping[str, Any], usual: Spelling = PLAIN, *, column: str | None = None) -> Spelling:
    """Check how values are declared to be written.

    Parameters
    ----------
    written : mapping
        For the whole file the options `SPELLED`; for one column the keys `OF_COLUMN`.
    usual : Spelling
        What holds where nothing is said.
    column : str, optional
        The column of which it is declared in `types`.

    Raises
    ------
    BadInput
        For marks, formats and codes that cannot be read, or that contradict each other.
    """
    keys = SPELLED if column is None else ("decimal", "thousands", "format", "missing")

    def refuse(key: str, rule: str, remedy: str) -> BadInput:
        return (
            BadInput(key, rule, remedy)
            if column is None
            else BadInput("types", f"gives {column} a {key} that {rule}", remedy)
        )

    given = [written.get(key) for key in keys]
    decimal, thousands, form, codes = (
        getattr(usual, name) if value is None else value
        for name, value in zip(("decimal", "thousands", "date_format", "missing"), given, strict=True)
    )
    if decimal not in _DECIMALS:
        raise refuse(keys[0], "must be a full stop or a comma", "write . or ,")
    if thousands != "" and thousands not in (*_THOUSANDS, *BLANKS):
        raise refuse(
            keys[1], "must be a full stop, a comma, an apostrophe, a blank or an underscore", "write . , ' or a blank"
        )
    thousands = " " if thousands and thousands in BLANKS else thousands
    if thousands == decimal:
        key = keys[1] if given[1] is not None else keys[0]
        raise refuse(
            key,
            f"must differ from the {'decimal mark' if key == keys[1] else 'mark between thousands'}, {decimal}",
            "declare both marks",
        )
    if given[2] is not None:
        fault = date_fault(form)
        if fault:
            raise refuse(keys[2], fault, "write for example %d.%m.%Y or %m/%d/%Y %H:%M")
    missing = codes if given[3] is None else tuple(_codes(codes, lambda rule, remedy: refuse(keys[3], rule, remedy)))
    return Spelling(decimal, thousands, form, missing)


def _codes(codes: Any, refuse: Any) -> Iterable[str]:
    remedy = 'write for example -9,99 or a list, as in ["-9", "99"]'
    if isinstance(codes, str):
        codes = split_codes(codes)
    if not isinstance(codes, Sequence) or isinstance(codes, bytes):
        codes = [codes]
    if len(codes) > _MOST_CODES:
        raise refuse(f"must list at most {_MOST_CODES} codes", "declare a type, which makes other values missing")
    spelt = [_code(code) for code in codes]
    if None in spelt:
        raise refuse("must list codes as text or numbers", remedy)
    return dict.fromkeys(sorted(code for code in spelt if code))


def split_codes(text: str) -> list[str]:
    """Split a list at commas outside double quotes.

    Examples
    --------
    >>> split_codes('-9, "a,b",')
    ['-9', 'a,b', '']
    """
    parts = re.findall(r'(?:^|,)\s*("(?:[^"]|"")*"|[^,]*)', text)
    return [
        part[1:-1].replace('""', '"') if part[:1] == '"' == part[-1:] and len(part) > 1 else part.strip()
        for part in parts
    ]


def _code(code: Any) -> str | None:
    if isinstance(code, bool) or not isinstance(code, str | int | float | Decimal):
        return None
    if isinstance(code, str):
        return code if len(code) <= _LONGEST and code.isprintable() else None
    try:
        number = Decimal(repr(code)) if isinstance(code, float) else Decimal(code)
        text = str(int(number)) if number == number.to_integral_value() else format(number.normalize(), "f")
    except (ArithmeticError, ValueError):
        return None
    return text if len(text) <= _LONGEST else None


# Numbers: one pattern, whose first group is the number with its marks.


def number_pattern(spelling: Spelling, *, whole: bool = False) -> str:
    """Return the regular expression of a number in this spelling; a whole one may end in a decimal mark and zeros."""
    mark = re.escape(spelling.decimal)
    digits = "[0-9]+"
    if spelling.thousands:
        between = f"[{BLANKS}]" if spelling.thousands == " " else re.escape(spelling.thousands)
        digits = f"(?:[0-9]{{1,3}}(?:{between}[0-9]{{3}})+|[0-9]+)"
    if whole:
        return rf"^[ \t\r\n]*([+-]?{digits})(?:{mark}0*)?[ \t\r\n]*$"
    return rf"^[ \t\r\n]*([+-]?(?:{digits}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t\r\n]*$"


def removed_marks(spelling: Spelling) -> list[tuple[str, str]]:
    """Return what to replace, in order, in a number that the pattern found, to get one that every engine reads."""
    thousands = BLANKS if spelling.thousands == " " else spelling.thousands
    return [*((mark, "") for mark in thousands), *([(spelling.decimal, ".")] if spelling.decimal != "." else [])]


def plain_number(text: str, spelling: Spelling, *, whole: bool = False) -> str | None:
    """Return a number as Iris writes it; None for text that is no number in this spelling.

    Examples
    --------
    >>> plain_number("1.234,5", Spelling(",", ".")), plain_number("1.234.5", Spelling(",", "."))
    ('1234.5', None)
    """
    match = re.fullmatch(number_pattern(spelling, whole=whole).rstrip("$"), text)
    if match is None:
        return None
    found = match[1]
    for mark, plain in removed_marks(spelling):
        found = found.replace(mark, plain)
    return found


def number_codes(spelling: Spelling, *, whole: bool) -> tuple[float | int, ...]:
    """Return the codes that are numbers, as numbers: a column with a type compares values, and 99 is also 99.0."""
    found: set[float | int] = set()
    for code in spelling.missing:
        plain = plain_number(code, spelling)
        # A code that was declared as a number, and not as the file writes it, has a full stop.
        plain = plain_number(code, PLAIN) if plain is None else plain
        if plain is None:
            continue
        exact = Decimal(plain)
        if whole and exact == exact.to_integral_value() and -(2**63) <= exact < 2**63:
            found.add(int(exact))
        elif not whole and abs(float(plain)) != float("inf"):
            found.add(float(plain) + 0.0)
    return tuple(sorted(found))


# Dates: a format becomes a pattern with a group for each part. No locale has a say: months have their English names.

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]


def _name_pattern(name: str) -> str:
    """Return a pattern of a month's name or its first three letters, in letters of either case."""
    either = [f"[{letter.upper()}{letter}]" for letter in name]
    rest = "".join(either[3:])
    return "".join(either[:3]) + (f"(?:{rest})?" if rest else "")


class _Part(NamedTuple):
    """A part of a date: what it says, and its pattern."""

    says: str
    pattern: str


_PARTS = {
    "Y": _Part("year", "[0-9]{4}"),
    "y": _Part("short year", "[0-9]{2}"),
    "m": _Part("month", "0?[1-9]|1[0-2]"),
    **dict.fromkeys("bB", _Part("name", "|".join(map(_name_pattern, _MONTHS)))),
    **dict.fromkeys("de", _Part("day", "0?[1-9]|[12][0-9]|3[01]")),
    "H": _Part("hour", "[01]?[0-9]|2[0-3]"),
    "I": _Part("half hour", "0?[1-9]|1[0-2]"),
    "p": _Part("half", "[AaPp][Mm]"),
    "M": _Part("minute", "[0-5]?[0-9]"),
    "S": _Part("second", "[0-5]?[0-9]"),
    "f": _Part("fraction", "[0-9]{1,6}"),
    "z": _Part("zone", "Z|[+-](?:0[0-9]|1[0-4]):?[0-5][0-9]"),
}
_SHORT = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y"}
_SAME = (("year", "short year"), ("month", "name"), ("hour", "half hour"))
FIRST_OF_1900 = "69"
"""The least year of two digits that is in the last century, as in POSIX: 69 is 1969, and 68 is 2068."""


class DatePattern(NamedTuple):
    """A date format as a regular expression, with the number of the group of each part."""

    pattern: str
    groups: dict[str, int]


@lru_cache(maxsize=256)
def date_pattern(form: str) -> DatePattern:
    """Return the pattern of a format that `date_fault` finds nothing wrong with."""
    for letter, longer in _SHORT.items():
        form = re.sub(rf"(?<!%)((?:%%)*)%{letter}", lambda match, longer=longer: match[1] + longer, form)  # type: ignore[misc]
    groups: dict[str, int] = {}
    pattern = ""
    for token in re.findall(r"%-?.|\s+|.", form, re.DOTALL):
        letter = token[-1]
        if token == "%%":
            pattern += "%"
        elif token[0] == "%":
            part = _PARTS[letter]
            groups[part.says] = len(groups) + 1
            pattern += f"({part.pattern})"
        else:
            pattern += "[ ]+" if token.isspace() else re.escape(token) if token.isascii() else token
    return DatePattern(f"^[ ]*{pattern}[ ]*$", groups)


def date_fault(form: Any) -> str:
    """Say what is wrong with a date format; empty if nothing is."""
    if not isinstance(form, str) or not form.strip() or len(form) > _LONGEST or not form.isprintable():
        return "must be a format such as %d.%m.%Y"
    tokens = re.findall(r"%-?.?", form)
    known = {f"%{letter}" for letter in (*_PARTS, *_SHORT, "%")} | {f"%-{letter}" for letter in "dmHIMS"}
    other = next((token for token in tokens if token not in known), None)
    if other is not None:
        return f"has {other}, which Iris does not read (it reads %{' %'.join((*_PARTS, *_SHORT))})"
    says: list[str] = []
    for token in tokens:
        letters = re.findall(r"%(.)", _SHORT[token[-1]]) if token[-1] in _SHORT else [token[-1]]
        says += [_PARTS[letter].says for letter in letters if letter != "%"]
    several = {names[0]: sum(map(says.count, names)) for names in _SAME}
    if len(set(says)) < len(says) or max(several.values()) > 1:
        return "says one part twice"
    if not several["year"]:
        return "says no year: it needs %Y or %y"
    if ("half hour" in says) != ("half" in says):
        return "needs both %I and %p, or neither"
    if "day" in says and not several["month"]:
        return "says a day without a month"
    return ""


def spelt_date(text: str, form: str) -> datetime | None:
    """Read a date in a format, as records are read; None for what is no such date.

    Examples
    --------
    >>> spelt_date("31.12.1999", "%d.%m.%Y"), spelt_date("31.02.1999", "%d.%m.%Y")
    (datetime.datetime(1999, 12, 31, 0, 0), None)
    """
    pattern, groups = date_pattern(form)
    match = re.fullmatch(pattern.removesuffix("$"), text)
    if match is None:
        return None
    part = {name: match[number] for name, number in groups.items()}
    short = part.get("short year")
    year = part["year"] if short is None else ("19" if short >= FIRST_OF_1900 else "20") + short
    month = int(part.get("month", "1")) if "name" not in part else month_of(part["name"])
    hour = int(part.get("hour", "0"))
    if "half hour" in part:
        hour = int(part["half hour"]) % 12 + (12 if part["half"].upper() == "PM" else 0)
    try:
        found = datetime(
            *(int(year), month, int(part.get("day", "1")), hour, int(part.get("minute", "0"))),
            int(part.get("second", "0")),
            int(part.get("fraction", "0").ljust(6, "0")),
            UTC,
        )
        zone = part.get("zone", "Z")
        if zone != "Z":
            ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
            found = found - ahead if zone[0] == "+" else found + ahead
    except (ValueError, OverflowError):
        return None
    return found.replace(tzinfo=None)


def month_of(name: str) -> int:
    """Return the number of a month by its English name."""
    return 1 + [month[:3] for month in _MONTHS].index(name[:3].lower())


MONTHS = tuple(month[:3] for month in _MONTHS)
"""How the names of the months begin."""
