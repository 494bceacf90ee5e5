"""What can be looked at, as one document: mechanisms, their files, and matrices that other tools wrote.

A matrix as CSV, NPY or JSON is read exactly as given and repaired in nothing.
"""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from csv import Error
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .._exact import checked, entry_reader, rational, read_json, so_many
from .._files import open_regular
from ..errors import BadInput
from ..graphs import DatasetGraph, named_nodes
from ..graphs import Path as Line
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument, read_document
from ..privacy import Privacy

# Read matrices in NumPy files (.npy). Nothing is allocated or read that the file does not hold.
#
# A header of a hundred bytes may declare any number of rows, so it is never trusted. Its length is compared with the
# file and its table with the data behind it. A table that does not hold real numbers is refused before it is read.
# Pickled objects are never loaded.

MOST_CELLS = 25_000_000
"""Numbers in one table from a file, 5,000 × 5,000: as exact fractions they take some gigabytes."""

_MAGIC = b"\x93NUMPY"
_LENGTHS = {1: 2, 2: 4, 3: 4}
"""Bytes in which each version of the format says how long its header is."""
_LONGEST_HEADER = 10_000
"""Bytes; a plain table's has 118."""


def read_npy(path: Path) -> np.ndarray[Any, Any]:
    """Read a table of real numbers, of any order of bytes and of rows.

    Raises
    ------
    BadInput
        For a file that cannot be read, has another form or is shorter than it says. Also for a table that does not hold
        real numbers, has no rows or columns, or has more than `MOST_CELLS`.
    """
    try:
        declared = _declared(path)
    except FileNotFoundError:
        raise BadInput("mechanism", f"there is no file {path}", "check the path") from None
    except Exception:  # whatever NumPy and Python's parser have to say of it
        declared = None
    if declared is None:
        raise BadInput("mechanism", f"{path} is not a NumPy array of numbers", "save it with numpy.save")
    if declared.ndim != 2 or declared.dtype.kind not in "iuf":
        raise BadInput("mechanism", "must be a two-dimensional array of real numbers", "give one row per input")
    rows, columns = declared.shape
    if not rows or not columns:
        rule = f"is a table of {so_many(rows, 'row')} and {so_many(columns, 'column')}"
        raise BadInput("mechanism", rule, "give one row per input, and one column per output")
    check_cells(declared.size, "mechanism")
    return np.array(declared)


def check_cells(cells: int, field: str) -> None:
    """Refuse a table too large to be held as fractions."""
    if cells > MOST_CELLS:
        raise BadInput(field, f"has more than {MOST_CELLS:,} numbers", "give equal rows once, in a mechanism file")


def _declared(path: Path) -> np.ndarray[Any, Any] | None:
    """Return what a file declares, mapped and not read; None for what is no array, or longer than its file."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(len(_MAGIC) + 2)
        width = _LENGTHS.get(start[len(_MAGIC)]) if len(start) == len(_MAGIC) + 2 else None
        if not start.startswith(_MAGIC) or width is None:
            return None
        header = int.from_bytes(file.read(width), "little")
    if header > min(_LONGEST_HEADER, size):
        return None
    with warnings.catch_warnings(action="ignore"):  # of Python 2's integers, and of what is odd in the header
        matrix = np.load(path, mmap_mode="r", allow_pickle=False, max_header_size=_LONGEST_HEADER)
    sound = isinstance(matrix, np.ndarray) and min(matrix.shape, default=0) >= 0 and matrix.nbytes <= size
    return matrix if sound else None


# Read a matrix in text, separated by commas, semicolons, tabs or blanks, with or without names.
#
# Numbers are read exactly as written. Text that is not a number is reported with its line, and nothing is guessed.

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
        for index, cell in enumerate(cells, 1):
            _check(cell, number, index, mark)
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


Auditable = Mechanism | FactoredMechanism | MechanismDocument | str | Path
"""What can be looked at: a mechanism, or the file that holds one or a bare matrix, read or named by its path."""


def as_document(given: Auditable, graph: DatasetGraph | None = None) -> MechanismDocument:
    """Look at a mechanism as at a file that was read; a path names one, and of a bare matrix the graph names inputs."""
    subject = read_mechanism(given, graph=graph) if isinstance(given, str | Path) else given
    if isinstance(subject, MechanismDocument):
        return subject
    if isinstance(subject, FactoredMechanism):
        return MechanismDocument(
            privacy=subject.privacy,
            graph=Line(subject.n + 1),
            inputs=named_nodes(subject.inputs),
            outputs=subject.outputs,
            rows=(),
            row_of=np.zeros(0, dtype=np.int64),
            objective=subject.objective,
            certificate=subject.certificate,
            factored=subject,
            source=subject.to_document() if subject.certificate is not None else {},
        )
    return MechanismDocument(
        privacy=subject.privacy,
        graph=subject.graph,
        inputs=named_nodes(subject.inputs),
        outputs=subject.outputs,
        rows=subject.rows,
        row_of=subject.row_of,
        objective=subject.objective,
        certificate=subject.certificate,
        source=subject.to_document() if subject.certificate is not None else {},
    )


@checked
def read_mechanism(
    path: str | Path, *, graph: DatasetGraph | None = None, privacy: Privacy | None = None
) -> MechanismDocument:
    """Read a mechanism file, or a bare matrix that another tool wrote.

    Parameters
    ----------
    path : str or Path
        `.npy`: a float is the dyadic rational it is, not its shortest decimal. `.csv`: decimals and quotients as
        written, one row per input, separated by tabs, semicolons, commas or blanks; a first line without numbers names
        the outputs. Else JSON: a mechanism document, or a bare list of rows.
    graph, privacy : optional
        What a bare matrix does not say. Inputs are the graph's nodes in order, outputs 0, 1, … where none are named.

    Returns
    -------
    MechanismDocument
        Not yet judged: `irisdp.audit` says whether its rows sum to 1 and how private it is.

    Raises
    ------
    BadInput
        For a file that cannot be read or that declares more than it holds, and for entries that are no numbers, NaN or
        infinity. Also for more than 25,000,000 numbers, or more than a gigabyte of them.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if path.name and path.with_name(f"{path.name}{_RELEASE}").is_file():
        raise _published()
    if ending == ".npy":
        return matrix_document(read_npy(path), graph=graph, privacy=privacy)
    if ending == ".csv":
        rows, names = _read_csv(path)
        document = matrix_document(rows, graph=graph, privacy=privacy)
        return document if names is None else replace(document, outputs=names)
    raw = read_json(path, "mechanism")
    if not isinstance(raw, list):
        return read_document(raw)
    check_cells(sum(len(line) for line in raw if isinstance(line, list)), "mechanism")
    return matrix_document(raw, graph=graph, privacy=privacy)


@checked
def matrix_document(
    matrix: Iterable[Iterable[Any]], *, graph: DatasetGraph | None = None, privacy: Privacy | None = None
) -> MechanismDocument:
    """Hold a matrix as a mechanism document, entry by entry as given.

    Parameters
    ----------
    matrix : rows of numbers, or a NumPy array
        In an array a float is the dyadic rational it is; elsewhere a float is its shortest decimal, as everywhere.
    graph : DatasetGraph, optional
        With a node for every row.
    privacy : Privacy, optional
        What is claimed of it.

    Raises
    ------
    BadInput
        For what is no table of numbers, or a graph with another number of nodes.
    """
    flat = isinstance(matrix, np.ndarray) and (matrix.ndim != 2 or not matrix.size)
    if (
        flat
        or not isinstance(matrix, list | tuple | np.ndarray)
        or any(not isinstance(line, list | tuple | np.ndarray) for line in matrix)
    ):
        raise BadInput("matrix", "must be a list of rows", "write [[…], […]]")
    if isinstance(matrix, np.ndarray):
        if matrix.dtype.kind not in "iufO":
            raise BadInput("matrix", "must hold real numbers", "give an array of floats or integers")
        long = matrix.dtype.kind == "f" and matrix.dtype.itemsize > 8
        read = entry_reader("matrix", _dyadic)
        lines: Sequence[Sequence[Fraction]] = [[read(entry) for entry in line] for line in _entries(matrix, long)]
    else:
        read = entry_reader("matrix")
        lines = [[read(entry) for entry in line] for line in matrix]
    if not lines or not lines[0] or len({len(line) for line in lines}) != 1:
        raise BadInput("matrix", "must be a table with rows of one length", "give one row of probabilities per input")
    if graph is not None and graph.number_of_nodes != len(lines):
        raise BadInput("graph", "must have one node for every row", f"give {len(lines)} nodes")
    numbers: dict[tuple[Fraction, ...], int] = {}
    row_of = [numbers.setdefault(tuple(line), len(numbers)) for line in lines]
    return MechanismDocument(
        privacy=privacy,
        graph=graph,
        inputs=named_nodes(range(len(lines))) if graph is None else graph.nodes,
        outputs=tuple(range(len(lines[0]))),
        rows=tuple(numbers),
        row_of=np.array(row_of, dtype=np.int64),
    )


def _read_csv(path: Path) -> tuple[list[list[str]], tuple[str, ...] | None]:
    try:
        with open_regular(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as lines:
            text = lines.read()
        columns = text.split("\n", 1)[0].strip().split(",")
        if _PUBLISHED & set(columns):
            raise _published()
        try:
            return matrix_of_text(text)
        except BadInput:
            if columns[-1] == "answer":
                raise _published() from None
            raise
    except FileNotFoundError:
        raise BadInput("mechanism", f"there is no file {path}", "check the path") from None
    except (OSError, UnicodeDecodeError, Error):
        raise BadInput("mechanism", f"cannot read {path} as CSV", "save it as UTF-8 text with commas") from None


_RELEASE = ".release.json"
"""What the name of a file ends in that says how the answers beside it were made."""
_PUBLISHED = {
    "answer_low", "answer_high", "answer_probability", "answer_from", "answer_below", "answer_first", "answer_last",
}  # fmt: skip
"""Columns beside published answers; no mechanism's answers are called so."""


def _published() -> BadInput:
    rule = "holds published answers, and no mechanism"
    return BadInput("mechanism", rule, "give it to interpret, report or plot, or give the mechanism file")


def _entries(matrix: np.ndarray[Any, Any], long: bool) -> Iterable[Iterable[Any]]:
    """Yield the rows of an array as numbers of Python's; longer floats than its own stay NumPy's."""
    return (line if long else line.tolist() for line in matrix)


def _dyadic(entry: Any) -> Fraction:
    try:
        return Fraction(*entry.as_integer_ratio())
    except (OverflowError, ValueError):
        raise BadInput("matrix", "holds NaN or infinity", "give finite numbers") from None
    except (AttributeError, TypeError):
        raise BadInput("matrix", "must hold real numbers", "give an array of floats or integers") from None
