"""What can be looked at, as one document: mechanisms, their files, and matrices that other tools wrote.

A matrix as CSV, NPY or JSON is read exactly as given and repaired in nothing.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from csv import Error
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput
from ..exact import checked, entry_reader, open_regular, read_json
from ..graphs import DatasetGraph
from ..graphs import Path as Line
from ..graphs.names import named_nodes
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument, read_document
from ..privacy import Privacy
from .matrix_text import matrix_of_text
from .numpy_files import check_cells, read_npy

__all__ = ["Auditable", "as_document", "matrix_document", "read_mechanism"]

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
    found = read_json(path, "mechanism")
    if not isinstance(found, list):
        return read_document(found)
    check_cells(sum(len(line) for line in found if isinstance(line, list)), "mechanism")
    return matrix_document(found, graph=graph, privacy=privacy)


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
_PUBLISHED = {"answer_low", "answer_high", "answer_probability"}
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
