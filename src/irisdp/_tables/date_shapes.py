"""Which date formats a text fits, for suggestions to the data owner; no question is read by what is found here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from .spellings import spelt_date

ISO = "ISO 8601"
"""What stands for dates that need no format."""

_LONGEST = 60
_ISO = re.compile(r"\s*\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}([.]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?\s*")
_TIME = (
    r"(?:(?P<gap>,? *T? *| )(?P<hour>\d{1,2}):(?P<minute>\d{2})(?P<second>:\d{2})?(?P<fraction>[.]\d{1,6})?"
    r"(?P<space> ?)(?P<half>[AaPp][Mm]|[AaPp][.][Mm][.])?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
_NUMERIC = re.compile(
    rf" *(?P<a>\d{{1,4}})(?P<mark>[./-])(?P<blank> ?)(?P<b>\d{{1,2}})(?P=mark)(?P=blank)(?P<c>\d{{2,4}}){_TIME} *"
)
_MONTH = r"(?P<month>[^\W\d_]{3,12})(?P<dot>[.]?)"
_DAY_FIRST = re.compile(
    rf" *(?P<a>\d{{1,2}})(?P<one>[.]? ?(?:de )?|[ ./-]){_MONTH}(?P<two>[ ./-]|, ?| de )(?P<c>\d{{4}}|\d{{2}}){_TIME} *"
)
_MONTH_FIRST = re.compile(
    rf" *{_MONTH}(?P<one>[ ./-])(?P<a>\d{{1,2}})(?P<two>,? |[./-])(?P<c>\d{{4}}|\d{{2}}){_TIME} *"
)
_MONTHS = re.compile(
    "jan|jän|ene|gen|f[eé]b|fev|fév|m[aä]r|maer|mrz|a[pbv]r|ma[iygj]|mei|jui?n|giu|jui?l|lug|aug|aoû|ago|sep|set|"
    "o[ckt]t|out|ott|nov|de[czs]|déc|dic",
    re.IGNORECASE,
)


class DateShape(NamedTuple):
    """What a text that looks like a date needs.

    Attributes
    ----------
    formats : tuple of str
        Formats that read it; `ISO` alone where none is needed.
    fault : str
        Why none reads it; empty if one does.
    """

    formats: tuple[str, ...]
    fault: str = ""


@lru_cache(maxsize=20_000)
def date_shape(text: str) -> DateShape | None:
    """Return the formats that read a text as a date; None if it does not look like one.

    Examples
    --------
    >>> date_shape("1/3/24 9:15 AM").formats
    ('%d/%m/%y %I:%M %p', '%m/%d/%y %I:%M %p')
    >>> date_shape("1. mai 2024").formats, date_shape("12 kg")
    ((), None)
    """
    if len(text) > _LONGEST:
        return None
    if _ISO.fullmatch(text):
        return DateShape((ISO,))
    numeric = _NUMERIC.fullmatch(text)
    worded = None if numeric else _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text)
    match = numeric or worded
    if match is None or (worded is not None and not _MONTHS.match(worded["month"])):
        return None
    time = _time(match)
    dates = _numeric(numeric) if numeric is not None else _worded(match)
    fitting = tuple(form for form in (date + time for date in dates) if time is not None and spelt_date(text, form))
    if fitting:
        return DateShape(fitting)
    if worded is not None:
        return DateShape((), "formats know the English names of months alone")
    return (
        DateShape((), "no format reads a.m. and p.m. with points") if match["half"] and "." in match["half"] else None
    )


def _numeric(match: re.Match[str]) -> list[str]:
    mark = match["mark"] + match["blank"]
    if len(match["a"]) == len("2024"):
        orders = ["Ymd"]
    elif len(match["c"]) == len("2024"):
        orders = ["dmY", "mdY"]
    else:
        orders = ["dmy", "mdy", "ymd"] if len(match["a"]) == len("24") else ["dmy", "mdy"]
    return [mark.join(f"%{letter}" for letter in order) for order in orders]


def _worded(match: re.Match[str]) -> list[str]:
    year = "%Y" if len(match["c"]) == len("2024") else "%y"
    day, month = "%d", f"%b{match['dot']}"
    first, second = (day, month) if match.re is _DAY_FIRST else (month, day)
    return [f"{first}{match['one']}{second}{match['two']}{year}"]


def _time(match: re.Match[str]) -> str:
    if match["hour"] is None:
        return ""
    half = match["half"] is not None
    parts = [match["gap"], "%I" if half else "%H", ":%M", ":%S" if match["second"] else ""]
    parts += [".%f" if match["fraction"] else "", match["space"] if half or match["zone"] else ""]
    return "".join([*parts, "%p" if half else "", "%z" if match["zone"] else ""])


def date_forms(texts: Sequence[str]) -> dict[str, list[str]]:
    """Sort texts by the format that reads them, taking the format that reads most first; others are left out."""
    left = {text: shape.formats for text in texts if (shape := date_shape(text)) is not None and shape.formats}
    forms: dict[str, list[str]] = {}
    while left:
        tally = _tally(left.values())
        best = max(tally, key=lambda form: tally[form])
        forms[best] = [text for text, formats in left.items() if best in formats]
        left = {text: formats for text, formats in left.items() if best not in formats}
    return forms


def also_fitting(texts: Sequence[str], form: str) -> list[str]:
    """Return the other formats that read every one of these texts."""
    tally = _tally(shape.formats for text in texts if (shape := date_shape(text)) is not None)
    return [other for other, times in tally.items() if other != form and times == len(texts)]


def _tally(formats: Iterable[tuple[str, ...]]) -> dict[str, int]:
    tally: dict[str, int] = {}
    for each in formats:
        for form in each:
            tally[form] = tally.get(form, 0) + 1
    return tally
