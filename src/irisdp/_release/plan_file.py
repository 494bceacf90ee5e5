"""Plans: datasets and questions, read from the TOML of a run or the JSON of a batch, as strictly as options are.

No table is opened yet. Keys of two words may have a hyphen, as on the command line. In JSON a key that is null is as
good as left out.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._aliases import KEYS, did_you_mean, own_names
from .._exact import INTEGER_BITS, TomlFile, entries, file_path, kind_of, rational, read_json
from .._files import same_file
from .._ledger import address_of
from .._options import OPTIONS
from .._queries import FORM_OF, apply_words, as_asked, groups_file, split_condition
from .._tables import counted_from, is_address
from ..accounting import Cost
from ..errors import BadInput, Refusal
from ..privacy import informative, too_private
from .answers import check_ending
from .data_package import read_licence
from .dated_names import dated, is_dated
from .labels import Labels, check_used, labels_in, read_labels
from .options import LedgerOptions, QuestionOptions, TableOptions
from .output_files import page_path
from .partition_options import divided_by, in_file_name
from .project import find_project

# From Python's spelling of options to a plan's: remedies of the library, in the words of what is to be changed.

_KEYWORD = re.compile(r"""\b(?P<name>[a-z][a-z_]*)=(?P<value>'[^']*'|"[^"]*"|\[[^\]]*\]|[^\s,;()]*)""")
_QUESTION = re.compile(r"""publish\(data(?P<words>(?:, (?:"(?:[^"\\]|\\.)*"|\d+))+)\)""")


def in_keys(text: str, keys: Collection[str], *, toml: bool = False) -> str:
    """Rewrite the keywords of a message as keys of a plan, and what Python calls as a question of one.

    Parameters
    ----------
    text : str
        Such as ``"add select_groups=True"``.
    keys : collection of str
        Other words stay as they are.
    toml : bool
        Whether the plan is TOML and no JSON.

    Examples
    --------
    >>> in_keys("add select_groups=True, a delta=, or groups='v1,v2'", {"select_groups", "delta", "groups"})
    'add "select_groups": true, a "delta", or "groups": "v1,v2"'
    >>> in_keys('write publish(data, "at-least", 100, "age > 64")', {})
    'write {"query": "at-least 100", "expression": "age > 64"}'
    >>> in_keys('write publish(data, "plurality", "party")', {})
    'write {"query": "plurality party"}'
    >>> in_keys("add select_groups=True, or a delta=", {"select_groups", "delta"}, toml=True)
    'add select_groups = true, or a delta'
    """

    def key(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        if name not in keys:
            return match[0]
        shown = {"True": "true", "False": "false"}.get(value, value.replace("'", '"'))
        if toml:
            return f"{name} = {shown}" if shown not in ("", "…") else name
        return f'"{name}": {shown}' if shown else f'"{name}"'

    return _KEYWORD.sub(key, _QUESTION.sub(_question_in_toml if toml else _worded_question, text))


def _question_in_toml(match: re.Match[str]) -> str:
    return ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in _asked(match).items())


def _worded_question(match: re.Match[str]) -> str:
    return json.dumps(_asked(match), ensure_ascii=False)


def _asked(match: re.Match[str]) -> dict[str, str]:
    name, *words = json.loads(f"[{match['words'].removeprefix(', ')}]")
    usage = FORM_OF[name].usage if name in FORM_OF else ""
    # A condition stands apart; numbers and columns belong to the query.
    last = words[-1] if words and isinstance(words[-1], str) else ""
    is_condition = len(split_condition(f"column {last}")) > 1 if "COLUMN" in usage else bool(last)
    apart = [words.pop()] if is_condition else []
    return {"query": " ".join(map(str, [name, *words]))} | ({"expression": apart[0]} if apart else {})


# What each kind of plan may say, and what people write in the wrong place.

PLAN_KEYS = ("datasets", "questions", "report", "labels")
DATASET_KEYS = ("data", *TableOptions.__annotations__, *LedgerOptions.__annotations__, "licence")
"""What is said of a table once, for all questions about it: the options' own names, which stand in `options.py`."""
_OPTIONS = tuple(name for name in QuestionOptions.__annotations__ if name not in KEYS)
QUESTION_KEYS = ("name", "dataset", "query", "expression", *_OPTIONS, "out", "report", "title")
"""What a question says; its condition is `expression`, of which `where` is a synonym."""

_PLAN = ("data", "budget", "questions")
_ABOUT = tuple(TableOptions.__annotations__)
"""What a batch says once, for all questions."""
_KEPT = ("ledger", "another_ledger", "secret", "table", "out", "licence", "report", "title", "labels")
_ASKED = tuple(one.name for one in OPTIONS if one.batches is True and one.name in QuestionOptions.__annotations__)
"""What a question of a batch may say besides its words, its weight and its file; as for `irisdp.publish`."""
_BUDGET = ("epsilon", "delta")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How plans of one kind are written.

    Attributes
    ----------
    is_toml : bool
        Whether they are TOML and not JSON.
    keys : collection of str
        The options that messages of the library name, in Python's spelling.
    elsewhere : mapping
        For a kind of object and a key that belongs elsewhere: what is wrong, and the remedy.
    """

    is_toml: bool
    keys: Collection[str] = field(repr=False)
    elsewhere: Mapping[tuple[str, str], tuple[str, str]] = field(repr=False)


_JSON = Dialect(
    is_toml=False,
    keys=(*_ASKED, *_ABOUT),
    elsewhere={
        **{
            ("question", name): ("belongs to the plan, for all questions", 'move it beside "questions"')
            for name in ("data", "budget", *_ABOUT, "ledger", "secret", "table", "licence", "report", "title", "labels")
        },
        **{("question", one.name): one.batches for one in OPTIONS if isinstance(one.batches, tuple)},
        ("question", "k"): ("belongs into the query", 'write for example "query": "at-least 5000"'),
        **{
            ("plan", name): ("belongs to the budget", 'write for example "budget": {"epsilon": 1, "delta": "1e-6"}')
            for name in ("epsilon", "delta")
        },
        **{
            ("plan", name): ("belongs to a question", 'move it into each of "questions" that it is for')
            for name in ("query", "expression", *_ASKED, "weight")
            if name != "delta"
        },
        **{
            (field, name): (
                "is none that batches have: their budget is an epsilon and a delta",
                'write for example "budget": {"epsilon": 1, "delta": "1e-6"}; many counts have Gaussian noise then',
            )
            for field in ("plan", "budget")
            for name in ("mu", "rho", "gaussian", "zcdp", "ratio", "privacy", "all")
        },
    },
)
_EXAMPLE_PLAN = {
    "datasets": 'write [datasets.survey], and below it data = "survey.csv"',
    "questions": 'write [[questions]], and below it query = "count" and epsilon = 0.5',
}
_OF_MAX_CHARGE = ("belongs to the command, for the whole plan", "run it with max_charge=")
_OF_FORCE = ("belongs to the command: a plan that replaces files would do so every time", "run it once with force=True")
_OF_LIMIT = ("belongs to the project file or the ledger", "write it there, or: Ledger(path).set_limit(E, D)")
_TOML = Dialect(
    is_toml=True,
    keys={*DATASET_KEYS, *QUESTION_KEYS},
    elsewhere={
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
        **{(table, "max_charge"): _OF_MAX_CHARGE for table in ("plan", "dataset", "question")},
        **{(table, "limit"): _OF_LIMIT for table in ("plan", "dataset", "question")},
        ("question", "k"): ("belongs into the query", 'write for example query = "at-least 5000"'),
        ("plan", "budget"): ("belongs to a batch, whose questions share one", "publish it with irisdp batch"),
    },
)

MOST_QUESTIONS = 10_000
_LARGEST_WEIGHT = 10**6
_WEIGHT_BITS = 128
_WORD = re.compile(r"[^\W\d]|[\"(]")
"""How a condition begins, and no number."""
_EXAMPLE_BATCH = '{"data": "survey.csv", "budget": {"epsilon": 1, "delta": "1e-6"}, "questions": [{"query": "count"}]}'
_OF_PYTHON = "see the function's help for what it takes"
_DEEPEST = 20
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDataset:
    """A table as a plan names it.

    Parameters
    ----------
    name : str
        What the plan's questions call it; empty in a batch, which is about one table.
    options : mapping
        Settings of the table, its ledger and its secret, as for `irisdp.publish`.
    data : Path, str or frame
        The file or the folder, the address of a table in a database, or a frame.
    licence : str, optional
        On which terms its answers may be used.
    """

    name: str = ""
    options: Mapping[str, Any] = field(repr=False)
    data: Any = field(repr=False)
    licence: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanQuestion:
    """A question as a plan asks it.

    Parameters
    ----------
    number : int
        Its place in the plan, counted from 1.
    name : str, optional
        What people call it.
    dataset : PlanDataset
    words : tuple of str
        The query, and what follows it.
    options : mapping
        All options of the question and of its table, as for `irisdp.publish`.
    weight : Fraction
        Its share of a batch's privacy relative to the others'.
    dialect : Dialect
    """

    number: int
    name: str | None = None
    dataset: PlanDataset
    words: tuple[str, ...]
    options: Mapping[str, Any] = field(repr=False)
    weight: Fraction = Fraction(1)
    dialect: Dialect = field(repr=False)

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
            raise _said(error, self._dataset_label if of_dataset else self.label, self.dialect) from None
        except Refusal as refusal:
            if not self.dialect.is_toml:  # a batch is refused as one
                raise
            raise refusal.said(f"{self.label}: {in_keys(str(refusal), self.dialect.keys, toml=True)}") from None

    @property
    def _dataset_label(self) -> str | None:
        return f"dataset {self.dataset.name}" if self.dataset.name else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """A plan as it was asked.

    Parameters
    ----------
    file : Path, optional
        The file that it was read from.
    datasets : tuple of PlanDataset
    questions : tuple of PlanQuestion
        In the order in which they are published.
    budget : Cost, optional
        The most that all answers of a batch together may cost; None where each question says its own privacy.
    report : Path, optional
        Where a page of all of them is written; with audiences, one page for each of them as well.
    labels : Labels
        What readers of pages see instead of names; its titles are those of that page.
    is_dated : bool
        Whether the names of a batch's answers have the day in them.
    """

    file: Path | None
    datasets: tuple[PlanDataset, ...]
    questions: tuple[PlanQuestion, ...]
    budget: Cost | None = None
    report: Path | None
    labels: Labels
    is_dated: bool = False

    @property
    def path(self) -> Path:
        """The file of a run, which is always read from one."""
        assert self.file is not None
        return self.file


# The JSON of a batch.


def read_batch(plan: Any, *, data: Any = None, report: Any = None, title: Any = None, labels: Any = None) -> PlanFile:
    """Read a plan.

    Parameters
    ----------
    plan : path or mapping
        A JSON file, or what stands in one; numbers as JSON has them or as exact text.
    data : path or frame, optional
        Instead of the plan's own.
    report : path, optional
        Likewise.
    title, labels
        As for `irisdp.publish`, before the plan's own.

    Raises
    ------
    BadInput
        If keys are unknown or missing, there are no questions, a weight is not positive, or the budget is invalid.
    """
    file = Path(os.fsdecode(plan)) if isinstance(plan, str | os.PathLike) else None
    if file is not None and file.suffix.lower() == ".toml":
        raise BadInput("plan", "is TOML, and a batch is JSON", f"say irisdp run {file.name}")
    document = plan if file is None else read_json(file, "plan")
    found = _read_object(document, "plan", (*_PLAN, *_ABOUT, *_KEPT), _JSON, example=_EXAMPLE_BATCH)
    for name, given in (("data", data), ("report", report)):
        if given is not None:
            if name in found:
                raise BadInput(name, "is named by the plan already", "leave it out of one of the two")
            found[name] = given
    check_used({"title": title, "labels": labels, "report": found.get("report")})
    own_labels = read_labels(labels, title).over(read_labels(found.get("labels"), found.get("title")))
    for name in _PLAN:
        if name not in found:
            raise BadInput(name, "is missing from the plan", f"write for example {_EXAMPLE_BATCH}")
    listed = entries(found["questions"])
    if listed is None:
        raise BadInput("questions", "must be a list", 'write for example "questions": [{"query": "count"}]')
    if not listed:
        raise BadInput(
            "questions", "are none: the plan is empty", 'write for example "questions": [{"query": "count"}]'
        )
    if len(listed) > MOST_QUESTIONS:
        raise BadInput("questions", f"are more than {MOST_QUESTIONS:,}", "publish them in several batches")
    texts = ("encoding", "delimiter", "decimal", "thousands", "date_format", "comment")
    for name in ("relation", "unit", *texts, "engine", "master", "table"):
        _text(found.get(name), name, _JSON)
    out = _out(found.get("out"))
    width = len(str(len(listed)))
    kept = {name: found[name] for name in (*_ABOUT, *LedgerOptions.__annotations__) if name in found}
    if "secret" in kept:
        kept["secret"] = file_path(kept["secret"], "secret")
    dataset = PlanDataset(data=found["data"], options=kept, licence=found.get("licence"))
    questions = []
    for number, each in enumerate(listed, start=1):
        with _within(f"question {number}", _JSON):
            own = None if out is None else out.with_name(f"{out.stem}.{number:0{width}}{out.suffix}")
            questions.append(_batch_question(number, each, dataset, own))
    budget = _budget(found["budget"])
    read_licence(dataset.licence, next((each.options["out"] for each in questions if "out" in each.options), None))
    return PlanFile(
        file=file,
        datasets=(dataset,),
        questions=tuple(questions),
        budget=budget,
        report=None if found.get("report") is None else page_path(dated(found["report"], "report"), "report"),
        labels=own_labels,
        is_dated=any(is_dated(each.get("out")) for each in (found, *listed) if isinstance(each, Mapping)),
    )


def _batch_question(number: int, document: Any, dataset: PlanDataset, out: Path | None) -> PlanQuestion:
    example = '{"query": "count", "expression": "age > 64"}'
    found = _read_object(
        document, "question", ("query", "expression", *_ASKED, "weight", "out"), _JSON, example=example
    )
    if "query" not in found:
        raise BadInput("query", "is missing", f"write for example {example}")
    query, expression = (_text(found.pop(name, None), name, _JSON) for name in ("query", "expression"))
    assert query is not None
    if query.split()[:1] == ["apply"]:
        raise BadInput("query", "apply has a privacy of its own, and a batch shares one out", "publish it by itself")
    check_number(query.split(), expression is not None)
    out = _out(found.pop("out", None)) or out
    weight = found.pop("weight", 1)
    options = {**dataset.options, **found, **grouped(found), **({} if out is None else {"out": out})}
    return PlanQuestion(
        number=number,
        dataset=dataset,
        words=(query,) if expression is None else (query, expression),
        options=options,
        weight=_weight(weight),
        dialect=_JSON,
    )


def _budget(document: Any) -> Cost:
    found = _read_object(document, "budget", _BUDGET, _JSON, example='{"epsilon": 1, "delta": "1e-6"}')
    if "epsilon" not in found:
        raise BadInput("budget", "has no epsilon", 'write for example {"epsilon": 1, "delta": "1e-6"}')
    try:
        privacy = informative(epsilon=found["epsilon"], delta=found.get("delta", 0))
        if privacy.epsilon == 0:  # whatever the δ: it is shares of ε that questions have
            raise too_private("epsilon")
    except BadInput as error:
        raise BadInput(f"budget: {error.field}", error.rule, error.remedy) from None
    return Cost(privacy.epsilon, privacy.delta)


def _weight(value: Any) -> Fraction:
    weight = rational(value, "weight")
    if weight <= 0:
        raise BadInput("weight", "must be above 0", "give 1, or more for less noise; leave the question out for none")
    if not Fraction(1, _LARGEST_WEIGHT) <= weight <= _LARGEST_WEIGHT:
        raise BadInput("weight", f"must lie between 1/{_LARGEST_WEIGHT} and {_LARGEST_WEIGHT}", "choose one in between")
    if max(weight.numerator.bit_length(), weight.denominator.bit_length()) > _WEIGHT_BITS:
        raise BadInput("weight", f"has more than {_WEIGHT_BITS} bits above or below the line", "write a shorter number")
    return weight


def _out(value: Any) -> Path | None:
    path = None if value is None else file_path(dated(value, "out"), "out")
    if path is not None:
        check_ending(path)
    return path


# The TOML of a run.


@dataclass(frozen=True, slots=True)
class PlanText:
    """A plan that is not saved yet.

    Attributes
    ----------
    path : Path
        The file that it will be: relative paths count from its folder.
    text : str
        What it will say.
    """

    path: Path
    text: str = field(repr=False)


def read_run(plan: Any, *, title: Any = None, labels: Any = None, divided: bool = True) -> PlanFile:
    """Read a plan, from its file or before it is saved (`PlanText`); relative paths in it count from its own folder.

    `title` and `labels` are as for `irisdp.publish`, before the plan's own. Questions about partitions are one for each
    partition, unless `divided` is false.

    Raises
    ------
    BadInput
        For a file that is no TOML, and for keys that are unknown, missing or of another kind.
    """
    unsaved = plan if isinstance(plan, PlanText) else None
    path = plan if unsaved is None else unsaved.path
    file = TomlFile.at(path, "plan", shorter="spread the questions over several plans")
    document = file.read() if unsaved is None else file.parse(unsaved.text.encode())
    _check_depth(file, document)
    found = _read_object(document, "plan", PLAN_KEYS, _TOML)
    for name, example in _EXAMPLE_PLAN.items():
        if not found.get(name):
            raise BadInput(name, "are missing from the plan", example)
    folder = file.path.absolute().parent
    if not isinstance(found["datasets"], Mapping):
        raise BadInput(
            "datasets", f"are {kind_of(found['datasets'])}, not tables with names", _EXAMPLE_PLAN["datasets"]
        )
    if not isinstance(found["questions"], list):
        raise BadInput(
            "questions", f"are {kind_of(found['questions'])}, not a list of tables", _EXAMPLE_PLAN["questions"]
        )
    if len(found["questions"]) > MOST_QUESTIONS:
        raise BadInput("questions", f"are more than {MOST_QUESTIONS:,}", "spread them over several plans")
    own = read_labels(labels, title)
    if "labels" in found:
        own = own.over(labels_in(file, found["labels"]))
    datasets = {name: _dataset(name, told, folder) for name, told in found["datasets"].items()}
    questions = tuple(
        _plan_question(number, told, datasets, folder, own) for number, told in enumerate(found["questions"], start=1)
    )
    _check_names(questions)
    report = None
    if "report" in found:
        report = page_path(_beside(folder, dated(found["report"], "report"), "report"), "report")
    elif title is not None:
        raise BadInput(
            "title", "is that of the page of all questions, and the plan has none", 'write report = "x.html"'
        )
    asked = PlanFile(file=file.path, datasets=tuple(datasets.values()), questions=questions, report=report, labels=own)
    return in_partitions(asked) if divided else asked


def check_plan(plan: Any) -> None:
    """Refuse a plan file that makes no sense; opens no table. Raises as `read_run`."""
    read_run(plan, divided=False)


def in_partitions(asked: PlanFile) -> PlanFile:
    """Ask about each partition of the datasets that are divided, as about a dataset of its own; reads no record.

    Answers go to a file for each partition: those of other partitions stay as they are when one comes or is corrected.

    Raises
    ------
    BadInput
        Naming the dataset, where nothing says which partitions there are.
    """
    parts: dict[str, list[tuple[str, PlanDataset]]] = {}
    for dataset in asked.datasets:
        with _within(f"dataset {dataset.name}", _TOML):
            project = find_project(dataset.data, dataset.options.get("project"))
            known = None if project is None else project.partition
            division = divided_by(dataset.options.get("partition"), known)
            if division is not None:
                parts[dataset.name] = [
                    (
                        value,
                        replace(
                            dataset,
                            name=f"{dataset.name} {value}",
                            options={**dataset.options, "partition": division.option(value)},
                        ),
                    )
                    for value in division.listed(dataset.data)
                ]
    if not parts:
        return asked
    datasets = [one for dataset in asked.datasets for _, one in parts.get(dataset.name, [("", dataset)])]
    questions: list[PlanQuestion] = []
    for question in asked.questions:
        divided = parts.get(question.dataset.name)
        questions += [question] if divided is None else [_in_partition(question, *part) for part in divided]
    if len(questions) > MOST_QUESTIONS:
        rule = f"are {len(questions):,} with one for each partition, and more than {MOST_QUESTIONS:,}"
        raise BadInput("questions", rule, "spread them over several plans")
    numbered = tuple(replace(question, number=number) for number, question in enumerate(questions, start=1))
    return replace(asked, datasets=tuple(datasets), questions=numbered)


def _in_partition(question: PlanQuestion, value: str, dataset: PlanDataset) -> PlanQuestion:
    options = {**question.options, "partition": dataset.options["partition"]}
    for key in ("out", "report"):
        if key in options:
            file = options[key]
            options[key] = file.with_name(f"{file.stem}-{in_file_name(value)}{file.suffix}")
    name = None if question.name is None else f"{question.name} {value}"
    return replace(question, name=name, dataset=dataset, options=options)


def _dataset(name: str, document: Any, folder: Path) -> PlanDataset:
    where = f"dataset {name[:_LONGEST_NAME]}"
    found = _read_object(document, "dataset", DATASET_KEYS, _TOML, example=_EXAMPLE_PLAN["datasets"], where=where)
    with _within(where, _TOML):
        if "data" not in found:
            raise BadInput("data", "is missing", _EXAMPLE_PLAN["datasets"])
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
        if "lookup" in options:
            named = options["lookup"] if isinstance(options["lookup"], list) else [options["lookup"]]
            options["lookup"] = [_beside(folder, each, "lookup") for each in named]
        if "ledger" in options and address_of(options["ledger"]) is None:
            options["ledger"] = _beside(folder, options["ledger"], "ledger")
        return PlanDataset(
            name=name,
            data=counted_from(data.strip(), folder) if by_address else _beside(folder, data, "data"),
            options=options,
            licence=_text(found.get("licence"), "licence", _TOML),
        )


def _plan_question(
    number: int, document: Any, datasets: Mapping[str, PlanDataset], folder: Path, labels: Labels
) -> PlanQuestion:
    told = document.get("name") if isinstance(document, Mapping) else None
    with _within(_label(number, None), _TOML):
        name = _name(told)
    where = _label(number, name)
    found = _read_object(document, "question", QUESTION_KEYS, _TOML, example=_EXAMPLE_PLAN["questions"], where=where)
    with _within(where, _TOML):
        dataset = _chosen(_text(found.pop("dataset", None), "dataset", _TOML), datasets)
        found.pop("name", None)
        query, expression = (_text(found.pop(key, None), key, _TOML) for key in ("query", "expression"))
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
            options["out"] = _beside(folder, dated(options["out"], "out"), "out")
            check_ending(options["out"])
            options["licence"] = dataset.licence
        if "report" in options:
            options["report"] = page_path(_beside(folder, dated(options["report"], "report"), "report"), "report")
        return PlanQuestion(number=number, name=name, dataset=dataset, words=words, options=options, dialect=_TOML)


def _words(query: str, expression: str | None, folder: Path) -> tuple[str, ...]:
    """Return the query and what follows it; the file of a mechanism lies beside the plan."""
    name, _, rest = query.strip().partition(" ")
    if name != "apply":
        check_number(query.split(), expression is not None)
    elif rest.strip():
        file, *others = apply_words([rest, *([] if expression is None else [expression])])
        return (name, str(_beside(folder, file, "mechanism")), *others)
    return (query,) if expression is None else (query, expression)


def _chosen(name: str | None, datasets: Mapping[str, PlanDataset]) -> PlanDataset:
    if name is not None:
        if name in datasets:
            return datasets[name]
        remedy = did_you_mean(name, datasets) or f"choose from {', '.join(datasets)}"
        raise BadInput("dataset", f"{name[:_LONGEST_NAME]} is not a dataset of the plan", remedy)
    if len(datasets) > 1:
        raise BadInput("dataset", "is missing, and the plan has several", f"choose from {', '.join(datasets)}")
    return next(iter(datasets.values()))


def _check_names(questions: Collection[PlanQuestion]) -> None:
    first: dict[str, int] = {}
    for question in questions:
        if question.name is not None and first.setdefault(question.name, question.number) != question.number:
            rule = f"is that of question {first[question.name]} as well"
            raise BadInput(f"question {question.number}: name", rule, "give each question a name of its own")


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


def _name(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > _LONGEST_NAME:
        raise BadInput("name", "must be a short text on one line", 'write for example name = "voters by ward"')
    return value


def _beside(folder: Path, value: Any, key: str) -> Path:
    """Return a path as the plan means it: from the plan's own folder."""
    path = file_path(_text(value, key, _TOML), key)
    try:
        joined = folder / path.expanduser()
    except RuntimeError:
        raise BadInput(key, "begins with the home folder of nobody", "write the whole path") from None
    short = Path(os.path.normpath(joined))
    return short if same_file(short.parent, joined.parent) else joined  # behind a link, .. leads elsewhere


# What both share.


def _read_object(
    document: Any, kind: str, known: Collection[str], dialect: Dialect, *, example: str = "", where: str | None = None
) -> dict[str, Any]:
    """Read an object of JSON, or a table of TOML, whose keys are known, under their names in Python.

    Parameters
    ----------
    document : object
    kind : str
        What it is, as messages call it.
    known : collection of str
    dialect : Dialect
    example : str
        What to write instead of something that is no object.
    where : str, optional
        What stands before the key in messages.
    """
    if not isinstance(document, Mapping):
        if dialect.is_toml:
            raise BadInput(where or kind, f"is {kind_of(document)}, not a table", example)
        raise BadInput(kind, "must be a JSON object", f"write for example {example}")
    found: dict[str, Any] = {}
    with _within(where, dialect):
        for key, value in own_names(document, KEYS).items():
            name = str(key).replace("-", "_")
            if name not in known:
                if (kind, name.casefold()) in dialect.elsewhere:
                    raise BadInput(str(key), *dialect.elsewhere[kind, name.casefold()])
                remedy = did_you_mean(name, known) or f"choose from {', '.join(known)}"
                raise BadInput(str(key)[:_LONGEST_NAME], f"is no key of a {kind}", remedy)
            if name in found:
                raise BadInput(name, "is written twice, with a hyphen and without", "keep one of them")
            found[name] = value
    return {name: value for name, value in found.items() if value is not None}


def grouped(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups of a question as tuples, where they are of several columns: documents have none."""
    for name in ("groups", "categories", "bins"):
        if isinstance(found.get(name), Mapping):
            example = ': of several columns ["ward=a,b", "sex=f,m"]' if name == "groups" else ""
            rule = "must be text or a list, not names with values"
            raise BadInput(name, rule, f"write for example {name}=['A', 'B']{example}")
    listed = found.get("groups")
    if not isinstance(listed, list):
        return {}
    return {"groups": [tuple(key) if isinstance(key, list) else key for key in listed]}


def check_number(words: list[str], has_expression: bool) -> None:
    """Refuse a query that lacks its number, or that holds a condition next to a separate expression."""
    words = re.sub(r",\s+", ",", " ".join(words)).split()  # the bounds of bands are one list
    form = FORM_OF.get(words[0]) if words else None
    if form is not None and form.compares and (len(words) == 1 or _WORD.match(words[1])):
        raise BadInput("K", "is missing from the query", f"write for example {as_asked(words[0], 100, 'age > 64')}")
    if form is None or not has_expression:
        return
    if "COLUMN" in form.usage:
        numbered = len(words) > 1 and words[1][0].isdigit()
        twice = len(split_condition(" ".join(words[1 + numbered :]))) > 1
    else:
        twice = len(words) >= len(form.usage.split()) > 1
    if twice:
        raise BadInput(
            "expression", "is given twice: the query holds a condition as well", "leave it out of one of the two"
        )


@contextlib.contextmanager
def _within(where: str | None, dialect: Dialect) -> Iterator[None]:
    try:
        yield
    except BadInput as error:
        raise _said(error, where, dialect) from None


def _said(error: BadInput, where: str | None, dialect: Dialect) -> BadInput:
    """Return the same complaint in the words of a plan, with what it is about before the key."""
    rule, remedy = (in_keys(text, dialect.keys, toml=dialect.is_toml) for text in (error.rule, error.remedy))
    if dialect.is_toml:
        remedy = remedy.replace(_OF_PYTHON, "irisdp publish -h says what it takes")
    return error.said(error.field if where is None else f"{where}: {error.field}", rule, remedy)


def _label(number: int, name: str | None) -> str:
    return f"question {number}" if name is None else f"question {number} ({name})"


def _text(value: Any, key: str, dialect: Dialect) -> str | None:
    if value is not None and not (isinstance(value, str) and (value.strip() or not dialect.is_toml)):
        quoted = "write it in quotes" if dialect.is_toml else "write it in double quotes"
        remedy = "write the text itself, without a list around it" if isinstance(value, list) else quoted
        raise BadInput(key, f"must be text, not {kind_of(value) if dialect.is_toml else type(value).__name__}", remedy)
    return value
