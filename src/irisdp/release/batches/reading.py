"""What a batch's plan says, read from a document as strictly as options are; nothing is opened yet."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from ...accounting import Cost
from ...aliases import KEYS, meant_option, own_names
from ...catalogue import FORMS
from ...errors import BadInput
from ...exact import entries, file_path, rational, read_json
from ...privacy import informative, too_private
from ...queries import as_asked
from ..answers import check_ending
from ..datapackage import read_licence
from ..labels import Labels, check_used, read_labels
from ..written import page_path
from .wording import in_keys

__all__ = [
    "MOST_QUESTIONS",
    "AskedBatch",
    "AskedQuestion",
    "check_number",
    "grouped",
    "in_question",
    "read_batch",
]

Step = TypeVar("Step")

_PLAN = ("data", "budget", "questions")
_ABOUT = ("relation", "unit", "encoding", "delimiter", "types", "engine", "master", "project")
"""What is said once, for all questions."""
_KEPT = ("ledger", "secret", "table", "out", "licence", "report", "title", "labels")
_ASKED = (
    *("by", "groups", "categories", "bins", "lower", "upper", "step", "missing", "select_groups"),
    *("selection_delta", "delta", "public_membership", "per_unit", "confidence"),
    *("at_most", "groups_per_unit"),
)
"""What a question may say besides its words, its weight and its file; as for `irisdp.publish`."""
_BUDGET = ("epsilon", "delta")
_ELSEWHERE = {
    **{
        ("question", name): ("belongs to the plan, for all questions", 'move it beside "questions"')
        for name in ("data", "budget", *_ABOUT, "ledger", "secret", "table", "licence", "report", "title", "labels")
    },
    **{
        ("question", name): (
            "belongs to the budget, which the questions share",
            "give this question a weight: twice the weight is half the noise",
        )
        for name in ("epsilon", "ratio", "mu", "privacy")
    },
    ("question", "within"): (
        "is not for batches, whose questions share one budget",
        'publish this question alone, or leave "within" out',
    ),
    ("question", "weight_upper"): (
        "is not for batches, whose weight is a question's share of the budget",
        "publish the weighted sum alone",
    ),
    ("question", "audience"): ("is not for batches", 'publish this question alone, or leave "audience" out'),
    ("question", "k"): ("belongs into the query", 'write for example "query": "at-least 5000"'),
    ("question", "K"): ("belongs into the query", 'write for example "query": "at-least 5000"'),
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
}
"""Keys that somebody may well write there: what is wrong, and the remedy."""

MOST_QUESTIONS = 10_000
_LARGEST_WEIGHT = 10**6
_WEIGHT_BITS = 128
_WORD = re.compile(r"[^\W\d]|[\"(]")
"""How a condition begins, and no number."""
_EXAMPLE = '{"data": "survey.csv", "budget": {"epsilon": 1, "delta": "1e-6"}, "questions": [{"query": "count"}]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """One question as it was asked.

    Parameters
    ----------
    query : str
        The query's name, and what stands between it and the condition.
    arguments : tuple of str
        The condition, if there is one.
    options : mapping
        Its other options.
    weight : Fraction
        Its share of the privacy relative to the others'.
    out : path, optional
        Where its answers are written.
    """

    query: str
    arguments: tuple[str, ...]
    options: Mapping[str, Any] = field(repr=False)
    weight: Fraction
    out: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBatch:
    """A plan as it was asked.

    Parameters
    ----------
    data : path or frame
    budget : Cost
        The most that all answers together may cost.
    questions : tuple of AskedQuestion
    about : mapping
        Settings of the table, shared by all questions.
    ledger, secret, table, licence
        As for `irisdp.publish`.
    report : Path, optional
        Where a page of the whole batch is written.
    labels : Labels
        What readers of the page see instead of names.
    file : Path, optional
        The file that the plan was read from.
    """

    data: Any = field(repr=False)
    budget: Cost
    questions: tuple[AskedQuestion, ...]
    about: Mapping[str, Any]
    ledger: Any
    secret: Any
    table: Any
    licence: str | None
    report: Path | None
    labels: Labels
    file: Path | None


def read_batch(plan: Any, *, data: Any = None, report: Any = None, title: Any = None, labels: Any = None) -> AskedBatch:
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
    found = _object(document, "plan", known=(*_PLAN, *_ABOUT, *_KEPT), example=_EXAMPLE)
    for name, given in (("data", data), ("report", report)):
        if given is not None:
            if name in found:
                raise BadInput(name, "is named by the plan already", "leave it out of one of the two")
            found[name] = given
    check_used({"title": title, "labels": labels, "report": found.get("report")})
    own = read_labels(labels, title).over(read_labels(found.get("labels"), found.get("title")))
    for name in _PLAN:
        if name not in found:
            raise BadInput(name, "is missing from the plan", f"write for example {_EXAMPLE}")
    listed = entries(found["questions"])
    if listed is None:
        raise BadInput("questions", "must be a list", 'write for example "questions": [{"query": "count"}]')
    if not listed:
        raise BadInput(
            "questions", "are none: the plan is empty", 'write for example "questions": [{"query": "count"}]'
        )
    if len(listed) > MOST_QUESTIONS:
        raise BadInput("questions", f"are more than {MOST_QUESTIONS:,}", "publish them in several batches")
    for name in ("relation", "unit", "encoding", "delimiter", "engine", "master", "table"):
        _check_text(found.get(name), name)
    out = _out(found.get("out"))
    width = len(str(len(listed)))
    questions = []
    for number, each in enumerate(listed, start=1):
        one = None if out is None else out.with_name(f"{out.stem}.{number:0{width}}{out.suffix}")
        questions.append(in_question(number, _question, each, one, once=()))
    return AskedBatch(
        data=found["data"],
        budget=_budget(found["budget"]),
        questions=tuple(questions),
        about={name: found[name] for name in _ABOUT if name in found},
        ledger=found.get("ledger"),
        secret=_path(found.get("secret"), "secret"),
        table=found.get("table"),
        licence=read_licence(found.get("licence"), next((one.out for one in questions if one.out), None)),
        report=None if found.get("report") is None else page_path(found["report"], "report"),
        labels=own,
        file=file,
    )


def in_question(
    number: int, step: Callable[..., Step], *arguments: Any, once: Collection[str] = ("data", *_ABOUT)
) -> Step:
    """Do a step for one question; what it complains of names the question, counted from 1, unless it is said `once`."""
    try:
        return step(*arguments)
    except BadInput as error:
        rule, remedy = (in_keys(text, (*_ASKED, *_ABOUT)) for text in (error.rule, error.remedy))
        raise BadInput(
            error.field if error.field in once else f"question {number}: {error.field}", rule, remedy
        ) from None


def _question(document: Any, out: Path | None) -> AskedQuestion:
    known = ("query", "expression", *_ASKED, "weight", "out")
    found = _object(document, "question", known=known, example='{"query": "count", "expression": "age > 64"}')
    if "query" not in found:
        raise BadInput("query", "is missing", 'write for example {"query": "count", "expression": "age > 64"}')
    for name in ("query", "expression"):
        _check_text(found.get(name), name)
    _check_words(found["query"].split(), "expression" in found)
    own = _out(found.get("out"))
    options = {name: found[name] for name in _ASKED if name in found}
    options |= grouped(found)
    return AskedQuestion(
        query=found["query"],
        arguments=(found["expression"],) if "expression" in found else (),
        options=options,
        weight=_weight(found.get("weight", 1)),
        out=out if own is None else own,
    )


def _check_words(words: list[str], has_expression: bool) -> None:
    """Refuse a query that brings its own privacy, and what `check_number` refuses."""
    if words[:1] == ["apply"]:
        rule = "apply has a privacy of its own, and a batch shares one out"
        raise BadInput("query", rule, "publish it by itself")
    check_number(words, has_expression)


def grouped(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups of a question as tuples, where they are of several columns: documents have none."""
    for name in ("groups", "categories", "bins"):
        if isinstance(found.get(name), Mapping):
            raise BadInput(name, "must be text or a list, not an object", f"write for example {name}=['A', 'B']")
    listed = found.get("groups")
    if not isinstance(listed, list):
        return {}
    return {"groups": [tuple(key) if isinstance(key, list) else key for key in listed]}


def check_number(words: list[str], has_expression: bool) -> None:
    """Refuse a query that lacks its number, or that holds a condition next to a separate expression."""
    words = re.sub(r",\s+", ",", " ".join(words)).split()  # the bounds of bands are one list
    numbers = int(bool(words) and words[0] in ("at-least", "at-most", "band"))
    if numbers and (len(words) == 1 or _WORD.match(words[1])):
        raise BadInput("K", "is missing from the query", f"write for example {as_asked(words[0], 100, 'age > 64')}")
    usage = next((form.usage for form in FORMS if words[:1] == [form.name]), "").split()
    if has_expression and len(words) >= len(usage) > 1:
        if "EXPR" not in usage[-1]:
            rule = f"is not for {words[0]}, which takes a column and no condition"
            raise BadInput("expression", rule, "leave it out, or count with a condition")
        raise BadInput(
            "expression", "is given twice: the query holds a condition as well", "leave it out of one of the two"
        )


def _object(document: Any, field: str, *, known: Collection[str], example: str) -> dict[str, Any]:
    """Read an object whose keys are known; a key that is null is as good as left out."""
    if not isinstance(document, Mapping):
        raise BadInput(field, "must be a JSON object", f"write for example {example}")
    document = own_names(document, KEYS)
    for name in document:
        if name in known:
            continue
        if (field, name) in _ELSEWHERE:
            raise BadInput(str(name), *_ELSEWHERE[field, name])
        meant = "expression" if meant_option(str(name)) == "where" else meant_option(str(name))
        near = [meant] if meant in known else get_close_matches(str(name).casefold(), known, n=1)
        remedy = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
        raise BadInput(str(name), f"is no key of a {field}", remedy)
    return {name: value for name, value in document.items() if value is not None}


def _budget(document: Any) -> Cost:
    found = _object(document, "budget", known=_BUDGET, example='{"epsilon": 1, "delta": "1e-6"}')
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


def _check_text(value: Any, name: str) -> None:
    if value is not None and not isinstance(value, str):
        remedy = (
            "write the text itself, without a list around it"
            if isinstance(value, list)
            else "write it in double quotes"
        )
        raise BadInput(name, f"must be text, not {type(value).__name__}", remedy)


def _path(value: Any, name: str) -> Path | None:
    return None if value is None else file_path(value, name)


def _out(value: Any) -> Path | None:
    path = _path(value, "out")
    if path is not None:
        check_ending(path)
    return path
