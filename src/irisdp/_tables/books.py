"""Workbooks and files of statistics programs, read as the CSV text that they hold: .xlsx, .dta, .sav.

Such a file is a container. Its cells become text one by one, by the rules of a column of Python objects: 3.0 is `3`, a
date is ISO 8601, and an error of a formula is nothing. So the options of text files apply, and no cell changes how
another is read. Dates of statistics programs are converted here, because a library may fail on one of them.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import BadInput
from .arrow_values import text_of

WORKBOOKS, STATISTICS = (".xlsx", ".xlsm"), (".dta", ".sav", ".zsav")
BOOKS = (*WORKBOOKS, *STATISTICS)
CODES = "codes"
"""What follows the ending of a .dta or .sav file in a packing, where codes are kept and not replaced by their labels.
After the ending of a workbook follows the name of a sheet."""
_MOST_NAMES = 20
_LIBRARIES = {**dict.fromkeys(WORKBOOKS, "python-calamine"), **dict.fromkeys(STATISTICS, "pyreadstat")}
_ORIGINS = {"spss": datetime(1582, 10, 14), "stata": datetime(1960, 1, 1)}
_SPSS_DAYS = ("DATE", "ADATE", "EDATE", "SDATE", "JDATE")
_SPSS_TIMES = ("DATETIME", "YMDHMS")


def is_book(packing: str) -> bool:
    """Tell whether a packing is a workbook or a file of a statistics program."""
    return packing.partition(" ")[0] in BOOKS


def check_library(ending: str) -> None:
    """Refuse a file whose library is not installed.

    Raises
    ------
    BadInput
        With what to install.
    """
    try:
        read_with(ending)
    except ImportError:
        rule = f"ends in {ending}, and {_LIBRARIES[ending]} is not installed"
        raise BadInput("data", rule, "pip install 'irisdp[files]', or save the table as CSV in UTF-8") from None


def read_with(ending: str) -> str:
    """Name the library that reads a file, and its release: another one may write a cell in another way."""
    name = _LIBRARIES[ending]
    return f"{name} {'.'.join(version(name).split('.')[:2])}"


def as_text(path: Path, packing: str) -> bytes:
    """Return what a file holds as CSV in UTF-8; a text that is no Unicode becomes one that is not valid.

    A library's own error is about the file as a whole, whatever a cell holds.
    """
    ending, _, which = packing.partition(" ")
    rows = _sheet(path, which) if ending in WORKBOOKS else _statistics(path, ending, codes=which == CODES)
    lines = io.StringIO(newline="")
    csv.writer(lines, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return lines.getvalue().encode("utf-8", "surrogatepass")


def choose_sheet(names: Sequence[str], sheet: Any) -> str:
    """Return the sheet that is meant, as the workbook spells it; case matters only when nothing else decides.

    Raises
    ------
    BadInput
        For a sheet that there is not, and where several may be meant. Names of sheets are public, as those of columns.
    """
    shown = ", ".join(map(repr, names[:_MOST_NAMES])) + (", …" if len(names) > _MOST_NAMES else "")
    if not names:
        raise BadInput("data", "is a workbook without a sheet of cells", "save the table in a sheet")
    if sheet is None and len(names) > 1:
        rule = f"is missing, and the workbook has {len(names)} sheets ({shown})"
        raise BadInput("sheet", rule, f"name the one that holds the table, as in sheet={names[0]!r}")
    if sheet is None:
        return names[0]
    if not isinstance(sheet, str):
        raise BadInput("sheet", "must be the name of a sheet", f"write for example sheet={names[0]!r}")
    exact = [name for name in names if name == sheet] or [name for name in names if name.casefold() == sheet.casefold()]
    if not exact:
        raise BadInput("sheet", f"names {sheet!r}, which the workbook does not have", f"choose from {shown}")
    return exact[0]


def sheets_of(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook that hold cells, hidden ones too."""
    import python_calamine

    with path.open("rb") as file:
        about = python_calamine.load_workbook(file).sheets_metadata
    return [each.name for each in about if each.typ == python_calamine.SheetTypeEnum.WorkSheet]


def _sheet(path: Path, name: str) -> Iterator[list[str]]:
    """Yield the rows of a sheet, from its first cell on; one without any value is blank, and no record."""
    import python_calamine

    with path.open("rb") as file:
        book = python_calamine.load_workbook(file)
        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    for row in rows:
        texts = [_text(value) for value in row]
        yield texts if any(texts) else []


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return text_of(value) or ""


def _statistics(path: Path, ending: str, *, codes: bool) -> Iterator[Sequence[str]]:
    import pyreadstat

    read = pyreadstat.read_dta if ending == ".dta" else pyreadstat.read_sav
    columns, about = read(str(path), disable_datetime_conversion=True, output_format="dict")
    names = list(about.column_names)
    yield names
    texts = []
    for name in names:
        labels = {} if codes else about.variable_value_labels.get(name, {})
        shown = {_code(value): str(label) for value, label in labels.items()}
        dated = _dates(about.original_variable_types.get(name) or "", stata=ending == ".dta")
        texts.append(_texts(columns[name], shown, dated))
    yield from zip(*texts, strict=True)


def _texts(values: Iterable[Any], labels: dict[Any, str], dated: tuple[datetime, timedelta, bool] | None) -> list[str]:
    texts = []
    for value in values:
        code = _code(value)
        if code is not None and code in labels:
            texts.append(labels[code])
        elif dated is not None and isinstance(value, int | float):
            texts.append(_date(value, *dated))
        else:
            texts.append(_text(value))
    return texts


def _code(value: Any) -> Any:
    """Return a value as labels name it: 1.0 is 1."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | float | str) else None


def _dates(form: str, *, stata: bool) -> tuple[datetime, timedelta, bool] | None:
    """Return since when and in what a column of dates counts, by its format, and whether it holds days alone."""
    if stata:
        if form.startswith("%td"):
            return _ORIGINS["stata"], timedelta(days=1), True
        return (_ORIGINS["stata"], timedelta(milliseconds=1), False) if form.lower().startswith("%tc") else None
    word = form.upper().rstrip("0123456789.")
    if word in _SPSS_DAYS:
        return _ORIGINS["spss"], timedelta(seconds=1), True
    return (_ORIGINS["spss"], timedelta(seconds=1), False) if word in _SPSS_TIMES else None


def _date(value: float, origin: datetime, step: timedelta, days: bool) -> str:
    try:
        moment: date = origin + step * value
    except (OverflowError, ValueError):
        return ""
    if days and isinstance(moment, datetime):
        moment = moment.date()
    return str(moment)
