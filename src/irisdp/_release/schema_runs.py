"""A plan without its data: every dataset becomes a table that has the columns of a schema, and no record.

For continuous integration: a plan is checked against a list of columns and types. Tables and ledgers of the plan are
not opened; each ledger is taken to be new, with the limit of the project file. A question about partitions is asked
once, as about one partition: which there are, only the data tells.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._exact import file_path, kind_of, read_json
from .._files import is_there
from .._options import SPELLED, WRITTEN
from .._tables import Location, is_address, load_types, locate
from ..errors import BadInput
from .plan_file import PlanDataset, PlanFile
from .project import ENDING, Project, find_project, read_project

_UNTYPED = (None, "untyped")
"""What a schema says of a column of text that each question may read as it needs."""


@dataclass(frozen=True, slots=True)
class WithoutData:
    """A plan whose datasets were replaced.

    Attributes
    ----------
    asked : PlanFile
        The plan, about empty tables.
    ledgers : mapping
        By the path of a ledger that stands in for one of the plan, what the plan calls that.
    """

    asked: PlanFile
    ledgers: Mapping[str, str]


def without_data(asked: PlanFile, schema: str | os.PathLike[str], folder: Path) -> WithoutData:
    """Replace the datasets of a plan by empty tables in a new folder.

    Parameters
    ----------
    asked : PlanFile
    schema : path
        A JSON file: `{column: type}`, with the types of `types=`, or null for text that each question reads as it
        needs. For a plan of several datasets `{dataset: {column: type}}`.
    folder : Path
        Where the tables are made: an empty folder of the caller's.

    Raises
    ------
    BadInput
        For a file that is no such schema, and a dataset that it does not list.
    """
    path = file_path(schema, "schema")
    listed = _by_dataset(read_json(path, "schema"), [dataset.name for dataset in asked.datasets])
    ledgers: dict[str, str] = {}
    datasets = {}
    tables: list[tuple[str, list[str]]] = []
    for dataset in asked.datasets:
        if dataset.name in listed:
            columns = listed[dataset.name]
            key = os.fspath(dataset.data), list(columns)
            if key not in tables:
                tables.append(key)
            datasets[dataset.name] = _emptied(dataset, columns, folder / str(tables.index(key)), ledgers)
    questions = []
    for question in asked.questions:
        if question.dataset.name not in datasets:
            choices = ", ".join(datasets) or "none"
            raise BadInput(
                "schema", f"does not list the dataset {question.dataset.name}", f"add it; it lists {choices}"
            )
        dataset = datasets[question.dataset.name]
        own = {name: value for name, value in question.options.items() if name not in question.dataset.options}
        questions.append(replace(question, dataset=dataset, options={**dataset.options, **own}))
    new = replace(asked, datasets=tuple(datasets.values()), questions=tuple(questions))
    return WithoutData(asked=new, ledgers=ledgers)


def _by_dataset(document: Any, names: list[str]) -> dict[str, Mapping[str, Any]]:
    example = "such as {'age': 'integer', 'town': 'text'}"
    if not isinstance(document, Mapping) or not document:
        raise BadInput("schema", f"must map columns to types, not {kind_of(document)}", f"write JSON {example}")
    found = {names[0]: document} if len(names) == 1 else {name: document[name] for name in names if name in document}
    for name, columns in found.items():
        if not isinstance(columns, Mapping) or not columns:
            rule = f"must map the columns of {name} to types, not {kind_of(columns)}"
            raise BadInput("schema", rule, f"write for each dataset its columns, {example}")
    return found


def _emptied(dataset: PlanDataset, columns: Mapping[str, Any], folder: Path, ledgers: dict[str, str]) -> PlanDataset:
    """Make an empty table, and return a dataset of it that is asked in every other way as before."""
    folder.mkdir(exist_ok=True)
    location = _location(dataset.data)
    stem = "" if location is None else re.sub("[^A-Za-z0-9_-]", "_", location.stem)[:99]
    table = folder / f"{stem or 'table'}.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerow(columns)
    own = load_types(dataset.options.get("types"))
    types = {name: kind for name, kind in columns.items() if kind not in _UNTYPED} | dict(own)
    project = _project(dataset, location)
    options = {name: value for name, value in dataset.options.items() if name not in _OF_FILES}
    if project is not None and project.ledger is not None and dataset.options.get("ledger") is None:
        dataset = replace(dataset, options={**dataset.options, "ledger": project.ledger})
    options |= {"types": types, "ledger": folder.parent / f"{_number(dataset, ledgers)}.ledger"}
    ledgers[str(options["ledger"])] = _ledger_of(dataset)
    if project is not None:
        options["project"] = _plain(project)
    return replace(dataset, data=table, options=options)


_OF_FILES = (
    *(name for name in WRITTEN if name not in SPELLED),
    "engine",
    "master",
    "secret",
    "project",
    "types",
    "ledger",
    "partition",
)
"""Options that say how a file is written, what reads it and what is kept beside it."""


def _location(data: Any) -> Location | None:
    """Return where a table lies that need not be there; None for one on a server."""
    try:
        return locate(os.fsdecode(data))
    except (BadInput, OSError, ValueError, RuntimeError):
        return None


def _project(dataset: PlanDataset, location: Location | None) -> Project | None:
    """Return the project file that is named, or that lies beside where the data would be."""
    named = dataset.options.get("project")
    beside = None if location is None else location.beside(ENDING)
    if named is None and beside is not None and is_there(beside):
        return read_project(beside)
    return find_project(None, named)


def _plain(project: Project) -> Project:
    written = {name: value for name, value in project.written.items() if name in SPELLED}
    return replace(project, ledger=None, partition=None, written=written)


def _number(dataset: PlanDataset, ledgers: Mapping[str, str]) -> int:
    """Number ledgers, so that datasets of one ledger share one."""
    named = list(dict.fromkeys(ledgers.values()))
    called = _ledger_of(dataset)
    return named.index(called) if called in named else len(named)


def _ledger_of(dataset: PlanDataset) -> str:
    ledger = dataset.options.get("ledger")
    if ledger is not None:
        text = str(ledger)
        return text if is_address(text) else str(Path(os.path.normpath(text)))
    return f"{os.fspath(dataset.data)}: the ledger beside it"
