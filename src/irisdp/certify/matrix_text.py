"""A matrix as other tools write it in text: separated by commas, semicolons, tabs or blanks, with names above or not.

Numbers are read exactly as written. What is no number is said with its line, and nothing is guessed.
"""

from __future__ import annotations

import csv
import re

from ..errors import BadInput
from ..exact import rational
from .numpy_files import check_cells

__all__ = ["matrix_of_text"]

_MARKS = "\t;,"
_LIKE_NUMBER = re.compile(r"[+\-\u2212.]?\d|nan|inf", re.IGNORECASE)
"""What begins so is meant as a number: a line that holds one is no line of names."""

_REMEDY = 'write numbers such as 0.25 or 1/4, a row for each input, separated by commas: "0.75, 0.25"'

Matrix = tuple[list[list[str]], tuple[str, ...] | None]
"""Numbers as written, and the names above them, if there are any."""


def matrix_of_text(text: str) -> Matrix:
    """Cut a text into a matrix.

    Parameters
    ----------
    text : str
        A line for each row. What separates numbers is a tab where there is one, else a semicolon, else a comma, else
        blanks. A first line without anything like a number holds the names of the answers; lines that begin with ``#``
        are remarks.

    Raises
    ------
    BadInput
        For a cell that is no number, and rows that are not of one length, with their line.

    Examples
    --------
    >>> matrix_of_text("yes;no\\n3/4;1/4\\n1/4;3/4\\n")
    ([['3/4', '1/4'], ['1/4', '3/4']], ('yes', 'no'))
    """
    numbered = [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    mark = next((one for one in _MARKS if any(one in line for _, line in numbered)), None)
    # Before any line is cut to be kept; marks within quotes are counted, and numbers have none.
    check_cells(sum(line.count(mark) + 1 if mark else len(line.split()) for _, line in numbered), "matrix")
    rows = [(number, _cells(line, mark)) for number, line in numbered]
    names = None
    if len(rows) > 1 and not any(_LIKE_NUMBER.match(cell) for cell in rows[0][1]):
        names = tuple(rows.pop(0)[1])
    for number, cells in rows:
        for place, cell in enumerate(cells, 1):
            _check(cell, number, place, mark)
    wide = len(rows[0][1]) if rows else 0
    for number, cells in rows:
        if len(cells) != wide:
            rule = (
                "must be a table with rows of one length: "
                f"line {number} has {_so_many(len(cells))}, and line {rows[0][0]} has {_so_many(wide)}"
            )
            raise BadInput("matrix", rule, "give one row of probabilities per input")
    if names is not None and (len(names) != wide or len(set(names)) != wide or not all(names)):
        rule = f"has a first line without numbers, and it does not name each of {wide} answers once"
        raise BadInput("matrix", rule, "give one name for each column, or leave that line out")
    return [cells for _, cells in rows], names


def _cells(line: str, mark: str | None) -> list[str]:
    if mark is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True))]


def _check(cell: str, line: int, place: int, mark: str | None) -> None:
    where = f"line {line}, number {place}:"
    if not cell:
        raise BadInput("matrix", f"{where} there is nothing", _REMEDY)
    try:
        rational(cell, "matrix")
    except BadInput as error:
        shown = cell if len(cell) <= 20 else f"{cell[:19]}…"
        if "," in cell:
            raise BadInput("matrix", f"{where} {shown!r} has a comma", "write decimals with a point") from None
        raise BadInput("matrix", f"{where} {shown!r} {error.rule}", _REMEDY) from None


def _so_many(number: int) -> str:
    return f"{number} number{'' if number == 1 else 's'}"
