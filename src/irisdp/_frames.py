"""Frames of other libraries: whatever they raise is said in one line."""

from __future__ import annotations

import html
import importlib
import math
import operator
import re
import shutil
import textwrap
import unicodedata
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import BadInput

if TYPE_CHECKING:
    import polars
    import pyarrow


_T = TypeVar("_T")

_PANIC = "PanicException"
"""What Polars raises where its Rust gives up; it is no `Exception`."""


def asked(action: Callable[[], _T], field: str, rule: str, remedy: str) -> _T:
    """Call another library; any error becomes a `BadInput` without the library's message."""
    try:
        return action()
    except BadInput:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
    raise BadInput(field, rule, remedy)


def opened(frame: Any, field: str, remedy: str) -> Any:
    """Return a frame of narwhals', eager or lazy, of whatever frame it is.

    Raises
    ------
    BadInput
        For what is no frame, and where two columns have one name.
    """
    import narwhals as nw  # here, so that graphs in closed form need not wait for it
    from narwhals.exceptions import DuplicateError

    def found() -> Any:
        try:
            table = nw.from_native(frame)
            table.collect_schema()
        except TypeError:
            raise BadInput(field, "is no dataframe that narwhals reads", remedy) from None
        except DuplicateError:
            raise BadInput(field, _two_of(_name_given_twice(frame)), _OWN_NAMES) from None
        return table

    return asked(found, field, "is a dataframe that cannot be read", remedy)


def _name_given_twice(frame: Any) -> str | None:
    """Return the name that two columns of a frame have; None where none do, or where it does not list its names.

    Narwhals reads no such frame, so its own library is asked. Names of columns are public.
    """
    for path in ("column_names", "schema.names", "columns"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a lazy frame has to be resolved for it
                names = list(operator.attrgetter(path)(frame))
        except Exception:  # of another library, or of no frame at all
            continue
        if all(isinstance(name, str | int) for name in names):
            return next((str(name) for name, times in Counter(names).items() if times > 1), None)
    return None


def refuse_names_given_twice(frame: Any, field: str) -> None:
    """Refuse a frame two columns of which have one name.

    Raises
    ------
    BadInput
        Which names the column.
    """
    name = _name_given_twice(frame)
    if name is not None:
        raise BadInput(field, _two_of(name), _OWN_NAMES)


_OWN_NAMES = "give each column a name of its own"


def _two_of(name: str | None) -> str:
    return "has two columns of one name" + ("" if name is None else f", {name[:60]!r}")


def computed(table: Any) -> Any:
    """Return an eager frame of narwhals'; what it raises is for `asked` to say."""
    return table.collect() if hasattr(table, "collect") else table


# Results as tables: frames of the usual libraries, and a short table where a notebook shows one.

_MOST_SHOWN = 40

_CAPTION = "text-align:left;min-width:36em"
"""A caption is as wide as its table otherwise, and breaks word by word above a narrow one."""

_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


class InOneLine(ABC):
    """A result that says the essential of itself in one line, however much it holds."""

    __slots__ = ()

    @abstractmethod
    def _summary(self) -> str:
        """Say what this is, briefly."""

    def __repr__(self) -> str:
        """Say what this is, in one line."""
        return f"<{type(self).__name__}: {' '.join(self._summary().split())}>"


class Tabular(InOneLine):
    """A result that is a table: what it says in one line, and its columns."""

    __slots__ = ()

    @abstractmethod
    def to_arrow(self) -> pyarrow.Table:
        """Return the result as an Arrow table."""

    def to_pandas(self) -> Any:
        """Return the result as a pandas frame.

        Raises
        ------
        BadInput
            Where pandas is not installed.
        """
        _needed("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return the result as a Polars frame.

        Raises
        ------
        BadInput
            Where Polars is not installed.
        """
        frame: polars.DataFrame = _needed("polars").from_arrow(self.to_arrow())
        return frame

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook, rounded for people; frames and files have the exact numbers."""
        table = self.to_arrow()
        rows = zip(*(column.to_pylist() for column in table.slice(0, _MOST_SHOWN + 1).columns), strict=True)
        shown = [_rounded(table.column_names, row) for row in rows]
        return html_table(self._summary(), table.column_names, shown, right=True)


def _rounded(columns: Sequence[str], row: Sequence[Any]) -> tuple[Any, ...]:
    """Round the floats of a row: an answer to a tenth of the leading digit of its interval, the ends outward.

    Examples
    --------
    >>> _rounded(["answer", "answer_low", "answer_high"], [12.34567, 10.98765, 13.71234])
    ('12.3', '10.9', '13.8')
    >>> _rounded(["town", "share"], ["Ely", 0.123456789])
    ('Ely', '0.1235')
    """
    told = dict(zip(columns, row, strict=True))
    low, high = told.get("answer_low"), told.get("answer_high")
    places = None
    if low is not None and high is not None and math.isfinite(high - low) and high > low:
        places = 1 - math.floor(math.log10(high - low))
    return (
        tuple(_shown_number(name, value, places) for name, value in told.items())
        if len(told) == len(row)
        else tuple(row)
    )


def _shown_number(name: str, value: Any, places: int | None) -> Any:
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    if places is None or not name.startswith("answer"):
        return f"{value:.4g}" if abs(value) < 10**4 else f"{value:,.0f}"
    places = max(0, places)
    scaled = value * 10**places
    near = {"answer_low": math.floor, "answer_high": math.ceil}.get(name, round)(scaled)
    return f"{near / 10**places:,.{places}f}"


def html_table(caption: str, columns: list[str], rows: Sequence[tuple[Any, ...]], *, right: bool = False) -> str:
    """Write a table as HTML in which nothing that it holds is markup; of many rows the first.

    It names no colours, so that it is read on a light page as on a dark one. None is an empty cell; headings that are
    all empty are left out. Where `right`, columns of numbers are right-aligned.

    Examples
    --------
    >>> html_table("one", ["a<b"], [(1,)]).partition("one")[2]
    '</caption><tr><th>a&lt;b</th></tr><tr><td>1</td></tr></table>'
    """
    heading: list[tuple[str, Sequence[Any]]] = [("th", columns)] if any(columns) else []
    lines = [*heading, *(("td", row) for row in islice(rows, _MOST_SHOWN))]
    if len(rows) > _MOST_SHOWN:
        lines.append(("td", ["…"] * len(columns)))
    numeric = [right and bool(rows) and all(_is_number(part) for part in column) for column in zip(*rows, strict=True)]
    styles = [' style="text-align:right"' if is_number else "" for is_number in numeric] or [""] * len(columns)
    cells = (
        "".join(f"<{tag}{style}>{_cell(part)}</{tag}>" for style, part in zip(styles, line, strict=True))
        for tag, line in lines
    )
    body = "".join(f"<tr>{line}</tr>" for line in cells)
    return f'<table><caption style="{_CAPTION}">{_cell(caption)}</caption>{body}</table>'


def _is_number(part: Any) -> bool:
    return part is None or _NUMBER.fullmatch(str(part)) is not None


def text_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, gap: int | None = None) -> str:
    """Write a table as plain text that fits the terminal, with numbers right-aligned; long texts are cut with …

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequences
        None is an empty cell.
    gap : int, optional
        Before which row a row of dots marks the rows left out.

    Examples
    --------
    >>> print(text_table(["town", "answer"], [("Ely", 7), ("York", 12)]))
    town  answer
    Ely        7
    York      12
    """
    cells = [["" if cell is None else printable(cell) for cell in row] for row in rows]
    right = [all(map(_NUMBER.fullmatch, column)) for column in zip(*cells, strict=True)] or [False] * len(columns)
    if gap is not None:
        cells.insert(gap, ["…"] * len(columns))
    table = [list(map(printable, columns)), *cells]
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    over = sum(widths) + 2 * (len(widths) - 1) - _room()
    while over > 0 and max(widths) > _LEAST_COLUMN:
        widths[widths.index(max(widths))] -= 1
        over -= 1
    return "\n".join(
        "  ".join(
            _padded(cell, width, is_right) for cell, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in table
    )


def text_lines(heading: str, text: str) -> str:
    """Write a labelled text that is broken between words to fit the terminal; a row of columns stays whole."""
    start = f"{heading:<9} "
    if "  " in text:
        return start + printable(text)
    lines = textwrap.wrap(
        printable(text), _room(), initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False
    )
    return "\n".join(lines)


_NUMBER = re.compile(r"[-−]?\d[\d,]*(\.\d+)?(e[-−+]?\d+)?|", re.IGNORECASE)
_LEAST_COLUMN = 8


def _room() -> int:
    return max(shutil.get_terminal_size((80, 24)).columns, 40)


def _width(text: str) -> int:
    """Return the columns that a terminal draws a text in."""
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter) for letter in text
    )


def _padded(text: str, width: int, is_right: bool) -> str:
    if _width(text) > width:
        while _width(text) >= width:
            text = text[:-1]
        text += "…"
    blanks = " " * (width - _width(text))
    return blanks + text if is_right else text + blanks


def printable(value: Any) -> str:
    """Return text to look at: control characters, overrides of direction and the like are written as escapes."""
    text = str(value)
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _UNPRINTABLE else character
        for character in text
    )


def _cell(value: Any) -> str:
    return "" if value is None else html.escape(printable(value))


def _needed(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError:
        raise BadInput(library, "is not installed", f"pip install {library}, or use to_arrow()") from None
