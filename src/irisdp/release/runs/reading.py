"""What a plan says, read from a TOML file as strictly as options are; no table is opened yet."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ...aliases import KEYS, meant_option, own_names
from ...errors import BadInput, Refusal
from ...exact import file_path
from ...outputs import same_file
from ...queries import apply_words, counted_from, groups_file, is_address
from ..answers import check_ending
from ..batches.reading import MOST_QUESTIONS, check_number, grouped
from ..batches.wording import in_keys
from ..labels import Labels, labels_in, read_labels
from ..ledger_address import address_of
from ..options import About, Kept, Question
from ..toml_files import INTEGER_BITS, TomlFile, kind_of
from ..written import page_path

__all__ = ["DATASET_KEYS", "PLAN_KEYS", "QUESTION_KEYS", "AskedDataset", "AskedQuestion", "AskedRun", "read_run"]

PLAN_KEYS = ("datasets", "questions", "report", "labels")
DATASET_KEYS = ("data", *About.__annotations__, *Kept.__annotations__, "licence")
"""What is said of a table once, for all questions about it: the options' own names, which stand in `options.py`."""
_OPTIONS = tuple(name for name in Question.__annotations__ if name not in KEYS)
QUESTION_KEYS = ("name", "dataset", "query", "expression", *_OPTIONS, "out", "report", "title")
"""What a question says; its condition is `expression`, of which `where` is a synonym."""

_EXAMPLE = {
    "datasets": 'write [datasets.survey], and below it data = "survey.csv"',
    "questions": 'write [[questions]], and below it query = "count" and epsilon = 0.5',
}
_OF_FORCE = ("belongs to the command: a plan that replaces files would do so every time", "run it once with force=True")
_OF_LIMIT = ("belongs to the project file or the ledger", "write it there, or: Ledger(path).set_limit(E, D)")
_ELSEWHERE: dict[tuple[str, str], tuple[str, str]] = {
    **{
        ("question", key): ("belongs to the dataset, for all questions about it", "move it below [datasets.NAME]")
        for key in DATASET_KEYS
    },
    **{
        ("dataset", key): ("belongs to a question", "move it below [[questions]]")
        for key in QUESTION_KEYS
        if key not in ("name", "dataset")
    },
    **{("plan", key): ("belongs to a dataset", "move it below [datasets.NAME]") for key in DATASET_KEYS},
    **{
        ("plan", key): ("belongs to a question", "move it below [[questions]]")
        for key in QUESTION_KEYS
        if key not in ("name", "dataset", "report")
    },
    **{(table, "force"): _OF_FORCE for table in ("plan", "dataset", "question")},
    **{(table, "limit"): _OF_LIMIT for table in ("plan", "dataset", "question")},
    ("question", "k"): ("belongs into the query", 'write for example query = "at-least 5000"'),
    ("plan", "budget"): ("belongs to a batch, whose questions share one", "publish it with irisdp batch"),
}
"""Keys that somebody may well write there: what is wrong, and the remedy."""

_OF_PYTHON = "see the function's help for what it takes"
_DEEPEST = 20
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedDataset:
    """A table as a plan names it.

    Parameters
    ----------
    name : str
        What the plan's questions call it.
    options : mapping
        Settings of the table, its ledger and its secret, as for `irisdp.publish`.
    data : Path or str
        The file or the folder, or the address of a table in a database.
    licence : str, optional
        On which terms its answers may be used.
    """

    name: str
    data: Path | str
    options: Mapping[str, Any] = field(repr=False)
    licence: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question as a plan asks it.

    Parameters
    ----------
    number : int
        Its place in the plan, counted from 1.
    name : str, optional
        What people call it.
    dataset : AskedDataset
    words : tuple of str
        The query, and what follows it.
    options : mapping
        All options of the question and of its table, as for `irisdp.publish`.
    """

    number: int
    name: str | None
    dataset: AskedDataset
    words: tuple[str, ...]
    options: Mapping[str, Any] = field(repr=False)

    @property
    def label(self) -> str:
        """What messages call it."""
        return _label(self.number, self.name)

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Let what is wrong, or refused, name the question, or the dataset if it is said there; in the plan's words."""
        try:
            yield
        except BadInput as error:
            of_dataset = error.field in DATASET_KEYS and error.field not in QUESTION_KEYS
            raise _said(error, f"dataset {self.dataset.name}" if of_dataset else self.label) from None
        except Refusal as refusal:
            raise refusal.said(f"{self.label}: {in_keys(str(refusal), _KEYS, toml=True)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRun:
    """A plan as it was asked.

    Parameters
    ----------
    file : Path
    datasets : tuple of AskedDataset
    questions : tuple of AskedQuestion
        In the order in which they are published.
    report : Path, optional
        Where a page of all of them is written.
    labels : Labels
        What readers of pages see instead of names; its titles are those of that page.
    """

    file: Path
    datasets: tuple[AskedDataset, ...]
    questions: tuple[AskedQuestion, ...]
    report: Path | None
    labels: Labels


_KEYS = {*DATASET_KEYS, *QUESTION_KEYS}


def read_run(plan: Any, *, title: Any = None, labels: Any = None) -> AskedRun:
    """Read a plan; relative paths in it count from its own folder.

    `title` and `labels` are as for `irisdp.publish`, before the plan's own.

    Raises
    ------
    BadInput
        For a file that is no TOML, and for keys that are unknown, missing or of another kind.
    """
    file = TomlFile.at(plan, "plan", shorter="spread the questions over several plans")
    document = file.read()
    _check_depth(file, document)
    found = _table(document, "plan", "plan", PLAN_KEYS)
    for name, example in _EXAMPLE.items():
        if not found.get(name):
            raise BadInput(name, "are missing from the plan", example)
    folder = file.path.absolute().parent
    if not isinstance(found["datasets"], Mapping):
        raise BadInput("datasets", f"are {kind_of(found['datasets'])}, not tables with names", _EXAMPLE["datasets"])
    if not isinstance(found["questions"], list):
        raise BadInput("questions", f"are {kind_of(found['questions'])}, not a list of tables", _EXAMPLE["questions"])
    if len(found["questions"]) > MOST_QUESTIONS:
        raise BadInput("questions", f"are more than {MOST_QUESTIONS:,}", "spread them over several plans")
    own = read_labels(labels, title)
    if "labels" in found:
        own = own.over(labels_in(file, found["labels"]))
    datasets = {name: _dataset(name, told, folder) for name, told in found["datasets"].items()}
    questions = tuple(
        _question(number, told, datasets, folder, own) for number, told in enumerate(found["questions"], start=1)
    )
    _check_names(questions)
    report = None
    if "report" in found:
        report = page_path(_beside(folder, found["report"], "report"), "report")
        several = next((question for question in questions if question.options.get("audience")), None)
        if several is not None:
            rule = f"is one page for everybody, and {several.label} answers each audience by itself"
            raise BadInput("report", rule, "leave it out, and give questions a report of their own")
    elif title is not None:
        raise BadInput(
            "title", "is that of the page of all questions, and the plan has none", 'write report = "x.html"'
        )
    return AskedRun(file=file.path, datasets=tuple(datasets.values()), questions=questions, report=report, labels=own)


def _dataset(name: str, document: Any, folder: Path) -> AskedDataset:
    where = f"dataset {name[:_LONGEST_NAME]}"
    found = _table(document, "dataset", where, DATASET_KEYS)
    with _within(where):
        if "data" not in found:
            raise BadInput("data", "is missing", _EXAMPLE["datasets"])
        data = found["data"]
        by_address = isinstance(data, str) and is_address(data)
        options = {key: value for key, value in found.items() if key not in ("data", "licence")}
        for key in ("project", "secret"):
            if key in options:
                options[key] = _beside(folder, options[key], key)
        types = options.get("types")
        if isinstance(types, str):
            options["types"] = _beside(folder, types, "types")
        elif types is not None and not isinstance(types, Mapping):
            rule = f"must be a table or the path of a JSON file, not {kind_of(types)}"
            raise BadInput("types", rule, 'write for example types = {age = "integer"}')
        if "ledger" in options and address_of(options["ledger"]) is None:
            options["ledger"] = _beside(folder, options["ledger"], "ledger")
        return AskedDataset(
            name=name,
            data=counted_from(data.strip(), folder) if by_address else _beside(folder, data, "data"),
            options=options,
            licence=_text(found.get("licence"), "licence"),
        )


def _question(
    number: int, document: Any, datasets: Mapping[str, AskedDataset], folder: Path, labels: Labels
) -> AskedQuestion:
    told = document.get("name") if isinstance(document, Mapping) else None
    with _within(_label(number, None)):
        name = _name(told)
    where = _label(number, name)
    found = _table(document, "question", where, QUESTION_KEYS)
    with _within(where):
        dataset = _chosen(_text(found.pop("dataset", None), "dataset"), datasets)
        found.pop("name", None)
        query, expression = (_text(found.pop(key, None), key) for key in ("query", "expression"))
        if query is None:
            raise BadInput("query", "is missing", 'write for example query = "count"')
        words = _words(query, expression, folder)
        options = {**dataset.options, **found, **grouped(found)}
        label = None if name is None else labels.queries.get(name)
        options["labels"] = replace(labels, own_title=read_labels(None, found.get("title")).own_title or label)
        options.pop("title", None)
        for key in ("groups", "categories"):
            if groups_file(options.get(key)) is not None:
                options[key] = _beside(folder, options[key], key)
        if "out" in options:
            options["out"] = _beside(folder, options["out"], "out")
            check_ending(options["out"])
            options["licence"] = dataset.licence
        if "report" in options:
            options["report"] = page_path(_beside(folder, options["report"], "report"), "report")
        return AskedQuestion(number=number, name=name, dataset=dataset, words=words, options=options)


def _words(query: str, expression: str | None, folder: Path) -> tuple[str, ...]:
    """Return the query and what follows it; the file of a mechanism lies beside the plan."""
    name, _, rest = query.strip().partition(" ")
    if name != "apply":
        check_number(query.split(), expression is not None)
    elif rest.strip():
        file, *others = apply_words([rest, *([] if expression is None else [expression])])
        return (name, str(_beside(folder, file, "mechanism")), *others)
    return (query,) if expression is None else (query, expression)


def _chosen(name: str | None, datasets: Mapping[str, AskedDataset]) -> AskedDataset:
    if name is not None:
        if name in datasets:
            return datasets[name]
        near = get_close_matches(name, datasets, n=1)
        remedy = f"did you mean {near[0]}?" if near else f"choose from {', '.join(datasets)}"
        raise BadInput("dataset", f"{name[:_LONGEST_NAME]} is not a dataset of the plan", remedy)
    if len(datasets) > 1:
        raise BadInput("dataset", "is missing, and the plan has several", f"choose from {', '.join(datasets)}")
    return next(iter(datasets.values()))


def _check_names(questions: Collection[AskedQuestion]) -> None:
    first: dict[str, int] = {}
    for question in questions:
        if question.name is not None and first.setdefault(question.name, question.number) != question.number:
            rule = f"is that of question {first[question.name]} as well"
            raise BadInput(f"question {question.number}: name", rule, "give each question a name of its own")


def _table(document: Any, kind: str, where: str, known: Collection[str]) -> dict[str, Any]:
    """Read a table whose keys are known, spelt as on the command line or as in Python."""
    prefix = "" if kind == "plan" else f"{where}: "
    if not isinstance(document, Mapping):
        rule = f"is {kind_of(document)}, not a table"
        raise BadInput(where, rule, _EXAMPLE["datasets" if kind == "dataset" else "questions"])
    with _within(where):
        document = own_names(document, KEYS)
    found: dict[str, Any] = {}
    for key, value in document.items():
        name = key.replace("-", "_")
        if name not in known:
            if (kind, name.casefold()) in _ELSEWHERE:
                raise BadInput(f"{prefix}{key}", *_ELSEWHERE[kind, name.casefold()])
            meant = "expression" if meant_option(name) == "where" else meant_option(name)
            near = [meant] if meant in known else get_close_matches(name.casefold(), known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
            raise BadInput(f"{prefix}{key[:_LONGEST_NAME]}", f"is no key of a {kind}", remedy)
        if name in found:
            raise BadInput(f"{prefix}{name}", "is written twice, with a hyphen and without", "keep one of them")
        found[name] = value
    return found


def _check_depth(file: TomlFile, document: Any) -> None:
    """Refuse lists within lists without end, and whole numbers that no column holds."""
    level = [document]
    for _ in range(_DEEPEST):
        inside = [part for one in level for part in (one.values() if isinstance(one, Mapping) else one)]
        if any(isinstance(part, int) and part.bit_length() > INTEGER_BITS for part in inside):
            file.refuse("holds a whole number beyond 64 bits", "write a shorter number")
        level = [part for part in inside if isinstance(part, Mapping | list)]
    if level:
        file.refuse(f"is nested more than {_DEEPEST} deep", "use fewer lists within lists")


@contextlib.contextmanager
def _within(where: str) -> Iterator[None]:
    try:
        yield
    except BadInput as error:
        raise _said(error, where) from None


def _said(error: BadInput, where: str) -> BadInput:
    rule, remedy = (in_keys(text, _KEYS, toml=True) for text in (error.rule, error.remedy))
    return BadInput(f"{where}: {error.field}", rule, remedy.replace(_OF_PYTHON, "irisdp publish -h says what it takes"))


def _label(number: int, name: str | None) -> str:
    return f"question {number}" if name is None else f"question {number} ({name})"


def _name(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > _LONGEST_NAME:
        raise BadInput("name", "must be a short text on one line", 'write for example name = "voters by ward"')
    return value


def _text(value: Any, key: str) -> str | None:
    if value is not None and not (isinstance(value, str) and value.strip()):
        remedy = "write the text itself, without a list around it" if isinstance(value, list) else "write it in quotes"
        raise BadInput(key, f"must be text, not {kind_of(value)}", remedy)
    return value


def _beside(folder: Path, value: Any, key: str) -> Path:
    """Return a path as the plan means it: from the plan's own folder."""
    path = file_path(_text(value, key), key)
    try:
        joined = folder / path.expanduser()
    except RuntimeError:
        raise BadInput(key, "begins with the home folder of nobody", "write the whole path") from None
    short = Path(os.path.normpath(joined))
    return short if same_file(short.parent, joined.parent) else joined  # behind a link, .. leads elsewhere
