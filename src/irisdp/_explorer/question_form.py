"""The fields of one question of a plan, whatever its query: from a form to a question, and back.

`question_of` and `values_of` are inverse to each other, so every question of a plan file opens in the form. Options
without a field of their own stand in the field "More options" as lines of a plan file, so nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._aliases import KEYS, did_you_mean, own_names
from .._exact import TomlFile, integer, rational
from .._options import COLUMN_CHOICES, OPTIONS
from .._queries.registry import FORM_OF, FORMS
from ..errors import BadInput
from .common_fields import epsilon_field
from .form_errors import check_length, faults_of, raise_faults
from .forms import Field, read_values, stands
from .results import Values

_ALL = tuple(FORM_OF)
_NOT_OWN = tuple(name for name in _ALL if name != "apply")
"""Queries whose privacy the question says: a mechanism file brings its own."""
_HELP = {option.name: option.help for option in OPTIONS}

SHARE, EPSILON, WITHIN, AUDIENCES, OTHER = "share", "epsilon", "within", "audiences", "other"
"""How a question says its accuracy: the values of the field ``accuracy``."""

_LISTED, _SELECTED = "listed", "selected"
_GUARANTEES = ("epsilon", "ratio", "mu", "privacy", "within")


def _taking(option: str) -> tuple[str, ...]:
    """Return the queries that take an option of a column; a mechanism file may be about categories or bins."""
    queries = tuple(re.split(r", | and ", COLUMN_CHOICES[option]))
    return (*queries, "apply") if option in ("categories", "bins") else queries


def _column_number(name: str, label: str, *, example: str = "", help: str = "") -> Field:
    return Field(
        name=name,
        label=label,
        kind="number",
        example=example,
        help=help or _HELP[name],
        when={"query": _taking(name)},
    )


def _number_in_query(name: str, query: tuple[str, ...], label: str, example: str, **more: Any) -> Field:
    needed = name != "sizes"
    return Field(name=name, label=label, kind="number", example=example, needed=needed, when={"query": query}, **more)


FIELDS: tuple[Field, ...] = (
    Field(
        name="query",
        label="Question",
        kind="choice",
        default="count",
        choices=tuple((form.name, f"{form.name}: {form.answer}") for form in FORMS),
    ),
    Field(
        name="mechanism",
        label="Mechanism file",
        example="mechanism.json",
        help="Lies beside the plan. It brings its own privacy.",
        needed=True,
        when={"query": ("apply",)},
    ),
    _number_in_query(
        "threshold", ("at-least", "at-most"), "K", "100", unit="records", whole=True, most=2**62, also=("K",)
    ),
    Field(
        name="thresholds",
        label="Bands begin at",
        unit="records",
        example="10, 100, 1000",
        needed=True,
        when={"query": ("band",)},
    ),
    _number_in_query("quantile", ("quantile",), "Quantile", "0.9", help="0.5 is the median.", also=("P",)),
    Field(
        name="quantiles",
        label="Quantiles",
        example="0.25, 0.5, 0.75",
        also=("quantile",),
        needed=True,
        when={"query": ("quantiles",)},
    ),
    _number_in_query("largest", ("top",), "How many of the largest", "3", whole=True, also=("K",)),
    _number_in_query(
        "sizes", ("sizes",), "How many sizes", "10", whole=True, help="May be left out: all sizes.", also=("K",)
    ),
    Field(
        name="column",
        label="Column",
        also=("query", "about"),
        help="A column, or a name and an expression: pay = hours * rate.",
        when={"query": tuple(form.name for form in FORMS if "COLUMN" in form.usage)},
    ),
    Field(
        name="condition",
        label="Condition",
        kind="area",
        rows=2,
        example="age > 64 AND town = 'Ely'",
        help="In SQL. Only records that meet it count; leave it empty for all records.",
        also=("expression", "where"),
    ),
    Field(
        name="categories",
        label="Categories",
        kind="area",
        rows=2,
        example="A, B, C",
        help="All that may be answered, separated by commas, or a CSV file. If empty, those of the project file.",
        when={"query": _taking("categories")},
    ),
    Field(
        name="bins",
        label="Edges between bins",
        example="18, 40, 65",
        help="Numbers or dates. The first and the last bin are open.",
        when={"query": _taking("bins")},
    ),
    _column_number("lower", "Values are at least", example="0", help="A smaller value counts as this."),
    _column_number("upper", "Values are at most", example="100", help="A larger value counts as this."),
    _column_number(
        "step",
        "Values count to the nearest",
        example="1",
        help="0.01 keeps cents. May be left out of a column of whole numbers.",
    ),
    _column_number("missing", "A record without a number counts as", help="If empty, such records are left out."),
    Field(name="weight", label="Weight column", help=_HELP["weight"], when={"query": _taking("weight")}),
    _column_number("weight_upper", "Weights are at most", help="With a weight column: a larger weight counts as this."),
    Field(
        name="grouped",
        label="An answer for each group",
        kind="choice",
        choices=(
            ("", "no, one answer for all"),
            (_LISTED, "yes, of groups that are listed"),
            (_SELECTED, "yes, and discover the groups privately"),
        ),
        also=("select_groups",),
    ),
    Field(
        name="by",
        label="Group columns",
        kind="area",
        rows=1,
        example="ward, sex",
        help="Separated by commas. NAME = EXPRESSION makes a column, such as year = YEAR(born).",
        needed=True,
        when={"grouped": (_LISTED, _SELECTED)},
    ),
    Field(
        name="groups",
        label="Groups",
        kind="area",
        rows=3,
        example="north, east, south",
        help="Separated by commas, or a CSV file. Of several columns write a line for each, such as sex=f,m. "
        "If empty, those of the project file.",
        when={"grouped": (_LISTED,)},
    ),
    *(
        Field(
            name=f"selection_{name}",
            label=f"{letter} for discovering groups",
            kind="number",
            help=help,
            when={"grouped": (_SELECTED,)},
        )
        for name, letter, help in (
            ("epsilon", "ε", "If empty, the ε of the answers."),
            ("delta", "δ", "If empty, all of δ below."),
        )
    ),
    Field(
        name="persons",
        label="Records of one person",
        kind="choice",
        choices=(
            ("", "as the project file says, or each record is a person"),
            ("at_most", "keep some of each person's records"),
            ("per_unit", "each person counts once, by all of their records"),
            ("person", "make one row of each person's records"),
            ("total", "bound each person's total (sum)"),
        ),
        help="Who a person is says the column that identifies one: in the project file, or for the whole plan.",
        also=("unit",),
    ),
    Field(
        name="at_most",
        label="Keep of each person at most",
        unit="records",
        kind="number",
        whole=True,
        example="1",
        help="Chosen at random. More records leave out less and need more noise.",
        also=("max_contributions",),
        needed=True,
        when={"persons": ("at_most",)},
    ),
    Field(
        name="groups_per_unit",
        label="In at most",
        unit="groups",
        kind="number",
        whole=True,
        help="May be left out.",
        also=("max_partitions",),
        when={"persons": ("at_most",)},
    ),
    Field(
        name="per_unit",
        label="A person meets the condition if",
        kind="choice",
        default="any",
        choices=(("any", "any of their records does"), ("all", "all of their records do")),
        when={"persons": ("per_unit",)},
    ),
    Field(
        name="person",
        label="The row of a person",
        kind="area",
        rows=2,
        example="visits = COUNT(*), spent = SUM(amount)",
        help="The question and its condition then speak of these names.",
        needed=True,
        when={"persons": ("person",)},
    ),
    Field(
        name="per_person_upper",
        label="A person's total is at most",
        kind="number",
        help="A larger total counts as this.",
        needed=True,
        when={"persons": ("total",), "query": _taking("per_person_upper")},
    ),
    Field(
        name="accuracy",
        label="Privacy and accuracy",
        kind="choice",
        default=SHARE,
        choices=(
            (SHARE, "a share of the budget"),
            (EPSILON, "an ε of its own"),
            (WITHIN, "a wanted error"),
            (AUDIENCES, "an ε for each audience"),
            (OTHER, "as “More options” say: ratio, mu, privacy"),
        ),
        when={"query": _NOT_OWN},
    ),
    epsilon_field({"query": _NOT_OWN, "accuracy": (EPSILON,)}),
    Field(
        name="within",
        label="Off by at most",
        kind="number",
        example="5",
        help="Iris finds the least ε. Of yes or no, and of names: right wherever so many records change nothing.",
        needed=True,
        when={"query": _NOT_OWN, "accuracy": (WITHIN,)},
    ),
    Field(
        name="records",
        label="If at least so many records have a value",
        unit="records",
        kind="number",
        whole=True,
        help="An assumption for planning; the data are not asked.",
        when={"query": ("mean",), "accuracy": (WITHIN,)},
    ),
    Field(
        name="audience",
        label="Audiences",
        example="board, press",
        help="May be left out: the answer is for everybody. With an ε each: board=2, press=0.5.",
    ),
    Field(
        name="delta",
        label="δ",
        kind="number",
        example="0",
        help="Needed to discover groups; else it may be left out.",
        when={"query": _NOT_OWN},
    ),
    Field(
        name="confidence",
        label="Confidence level",
        kind="number",
        example="0.95",
        help="Of the intervals, and of a wanted error. If empty, 0.95.",
    ),
    Field(name="name", label="Name", help="How you find the question again; may be left out."),
    Field(name="title", label="Title for readers", help="The heading of its report."),
    Field(
        name="out",
        label="Write the answers to",
        example="answers.csv",
        help="A name ending in .csv, .parquet or .json.",
    ),
    Field(name="report", label="Write a report to", example="report.html", help="A page for readers, ending in .html."),
    Field(
        name="more",
        label="More options",
        kind="area",
        rows=2,
        example="public_membership = true",
        help="One option a line, as in a plan file.",
        also=("*",),
    ),
)
"""All fields, in the order of the form."""

_FIELD = {field.name: field for field in FIELDS}
_IN_QUERY = {
    "threshold": ("at-least", "at-most"),
    "thresholds": ("band",),
    "quantile": ("quantile",),
    "quantiles": ("quantiles",),
    "largest": ("top",),
    "sizes": ("sizes",),
}
"""Fields of the numbers after the name of a query."""
_CHOICES = ("query", "grouped", "persons", "accuracy")
_TEXTS = ("weight", "name", "title", "out", "report")
_LONG_TEXTS = ("person",)
_LISTS = ("by", "groups", "categories", "bins")
_NUMBERS = tuple(field.name for field in FIELDS if field.kind == "number" and field.name not in _IN_QUERY)
_KEYS = (*_LISTS, *_TEXTS, *_LONG_TEXTS, *_NUMBERS, "per_unit", "audience")
"""Fields that are named as the key of a question that they say."""


# From the form to a question.


def question_of(given: Mapping[str, str]) -> dict[str, Any]:
    """Return the question that a form says, as a plan file has it.

    Parameters
    ----------
    given : mapping
        The values of `FIELDS`; those that do not stand are not looked at, and missing ones have their defaults.

    Returns
    -------
    dict
        Keys and values of ``[[questions]]``: text, whole numbers, true, lists and tables. A share of a budget is no
        option of a question; its ε is left out.

    Raises
    ------
    BadInput
        With the name of the first field that is wrong; its `faults` are all of them (see `form_errors`).

    Examples
    --------
    >>> question_of({"query": "at-least", "threshold": "10", "condition": "age > 64", "accuracy": "share"})
    {'query': 'at-least 10', 'expression': 'age > 64'}
    """
    values = {name: _plain(text) for name, text in read_values(FIELDS, given).items()}
    said = {field.name: values[field.name] for field in FIELDS if stands(field, values) and values[field.name]}
    faults = [*faults_of(FIELDS, values), *_left_empty(said)]
    wrong = {fault.field for fault in faults}
    question: dict[str, Any] = {}
    for read, names in _PARTS:
        if not wrong & set(names):
            try:
                question |= read(said)
            except BadInput as error:
                faults.append(error)
    if "more" in said or said.get("accuracy") == OTHER:
        try:
            question |= _more(said, question)
        except BadInput as error:
            faults.append(error)
    raise_faults(FIELDS, faults)
    return question


def _left_empty(said: Values) -> list[BadInput]:
    """Return a fault for each field that is empty and may not be, by the question and what else is chosen."""
    query = FORM_OF.get(said.get("query", ""))
    needed = []
    if query is not None and "COLUMN" in query.usage and "[COLUMN" not in query.usage:
        needed.append("column")
    if query is not None and "[EXPR" not in query.usage:
        needed.append("condition")
    if said.get("accuracy") == AUDIENCES:
        needed.append("audience")
    examples = {"column": "age", "condition": "age > 64", "audience": "board=2, press=0.5"}
    return [BadInput(name, "is missing", f"write for example {examples[name]}") for name in needed if name not in said]


def _plain(text: str) -> str:
    """Return what was typed without blanks around it, and with the line ends that plan files have."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _asked(said: Values) -> dict[str, Any]:
    """Return the query with its numbers and its column, and the condition apart from it."""
    name, column, condition = said["query"], said.get("column", ""), said.get("condition", "")
    if name == "apply":
        about = " ".join(filter(None, (column, condition)))
        return {"query": f"apply {said['mechanism']}"} | ({"expression": about} if about else {})
    words = [name, *(_number_words(field, said[field]) for field in _IN_QUERY if field in said)]
    if column:
        words.append(column)
        _check_column(name, words, column, has_condition=bool(condition))
    return {"query": " ".join(words)} | ({"expression": condition} if condition else {})


def _number_words(field: str, text: str) -> str:
    """Return numbers as a query has them, without blanks; several are separated by commas."""
    parts = ["".join(part.split()) for part in text.split(",")]
    if _FIELD[field].whole:
        return str(int(rational(parts[0], field)))
    if field in ("thresholds", "quantiles"):
        for part in parts:
            check_length(field, part, f"write for example {_FIELD[field].example}")
            if field == "thresholds":
                integer(part, field, at_least=1)
            else:
                rational(part, field)
    return ",".join(parts)


def _check_column(name: str, words: list[str], column: str, *, has_condition: bool) -> None:
    """Refuse a column that the query would read as something else."""
    numbers, _, condition = _split(name, " ".join(words[1:]))
    if has_condition and condition:
        raise BadInput("column", "holds a condition as well", "write one condition, in its own field")
    if numbers != (words[1] if len(words) > 2 else ""):
        rule = "begins with a number, which would be read as that of the question"
        raise BadInput("column", rule, f'write it in double quotes: "{column[:60]}"')


def _grouping(said: Values) -> dict[str, Any]:
    if "by" not in said:
        return {}
    result = {"by": _read_list("by", said["by"])}
    if said["grouped"] == _SELECTED:
        return {**result, "select_groups": True}
    return {**result, "groups": _read_list("groups", said["groups"])} if "groups" in said else result


def _of_persons(said: Values) -> dict[str, Any]:
    if said.get("persons") == "total" and said["query"] not in _taking("per_person_upper"):
        raise BadInput("persons", "bounds a total, and only a sum has one", "choose another, or the question sum")
    return {name: said[name] for name in ("person", "per_unit") if name in said}


def _options(said: Values) -> dict[str, Any]:
    """Return the options that are a number, a text or a list as they stand in their fields."""
    numbers = {name: _number(said[name]) for name in _NUMBERS if name in said and name not in _GUARANTEES}
    lists = {name: _read_list(name, said[name]) for name in ("categories", "bins") if name in said}
    return {**lists, **numbers, **{name: said[name] for name in _TEXTS if name in said and name != "name"}}


def _accuracy(said: Values) -> dict[str, Any]:
    """Return what says the privacy of the answers, and who gets them."""
    how = said.get("accuracy")
    result = {how: _number(said[how])} if how in (EPSILON, WITHIN) else {}
    if "audience" not in said:
        return result
    parts = [part.partition("=") for part in said["audience"].split(",")]
    levels = {name.strip(): level.strip() for name, sign, level in parts if sign}
    if how == AUDIENCES:
        if len(levels) < len(parts):
            raise BadInput("audience", "must be NAME=ε, each name once", "write for example board=2, press=0.5")
        for level in levels.values():
            check_length("audience", level)
            rational(level, "audience")
        return {**result, "audience": {name: _number(level) for name, level in levels.items()}}
    if levels:
        chosen = dict(_FIELD["accuracy"].choices)[AUDIENCES]
        raise BadInput("audience", "says an ε", f"write the names alone, or choose “{chosen}” above")
    names = [name.strip() for name, _, _ in parts]
    return {**result, "audience": names[0] if len(names) == 1 else names}


def _more(said: Values, question: Mapping[str, Any]) -> dict[str, Any]:
    """Read the lines of other options."""
    from .._release import QUESTION_KEYS

    document = TomlFile(Path(_FIELD["more"].label), "more").parse(said.get("more", "").encode())
    result: dict[str, Any] = {}
    for key, value in own_names(document, KEYS).items():
        name = key.replace("-", "_")
        if name not in QUESTION_KEYS:
            remedy = did_you_mean(name, QUESTION_KEYS) or f"choose from {', '.join(QUESTION_KEYS)}"
            raise BadInput("more", f"{key[:60]} is no option of a question", remedy)
        if name in question or name in result or name == "query":
            raise BadInput("more", f"{name} is said twice", "leave it out here, or empty its field")
        result[name] = _written_plainly(value)
    said_here = [name for name in _GUARANTEES if name in result]
    said_here += ["audience"] if _levels(result.get("audience")) else []
    how = said.get("accuracy")
    if how == OTHER and not said_here:
        raise BadInput("more", "says no privacy", "write for example mu = 1, or choose another accuracy above")
    if how not in (OTHER, None) and said_here:
        rule = f"says {said_here[0]}, and “{_FIELD['accuracy'].label}” says something else"
        raise BadInput("more", rule, "leave it out, or choose there that these options say it")
    return result


_PARTS: tuple[tuple[Callable[[Values], dict[str, Any]], tuple[str, ...]], ...] = (
    (lambda said: {"name": said["name"]} if "name" in said else {}, ()),
    (_asked, (*_IN_QUERY, "query", "mechanism", "column", "condition")),
    (_grouping, ("grouped", "by")),
    (_of_persons, ("query", "persons", "person", "per_unit")),
    (_accuracy, ("accuracy", "epsilon", "within", "audience")),
    (_options, ()),
)
"""The parts of a question in their order in a plan file, and the fields that each reads and that must not be wrong."""


def _number(text: str) -> int | float | str:
    """Return a number as a plan file has it: plainly where that is exactly what was typed, else as text."""
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text) and repr(float(text)) == text:
        return float(text)
    return text


def _written_plainly(value: Any) -> Any:
    """Return a value of TOML with exact decimals as floats where these are written the same, else as text."""
    if isinstance(value, Decimal):
        return _number(str(value))
    if isinstance(value, Mapping):
        return {name: _written_plainly(part) for name, part in value.items()}
    return [_written_plainly(part) for part in value] if isinstance(value, list) else value


# From a question to the form.


def values_of(question: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of the form that says a question; what has no field of its own stands in "More options".

    Parameters
    ----------
    question : mapping
        Keys of ``[[questions]]`` in a plan file, as TOML reads them; numbers may be `Decimal`.

    Returns
    -------
    dict
        A value for each of `FIELDS`.

    Examples
    --------
    >>> values = values_of({"query": "quantile 0.9 age", "bins": [18, 65], "mu": 1})
    >>> {name: values[name] for name in ("query", "quantile", "column", "bins", "accuracy", "more")}
    {'query': 'quantile', 'quantile': '0.9', 'column': 'age', 'bins': '18, 65', 'accuracy': 'other', 'more': 'mu = 1'}
    """
    rest = {
        str(name).replace("-", "_"): value for name, value in own_names(question, KEYS).items() if value is not None
    }
    values = read_values(FIELDS, {})
    values.update(_of_query(rest))
    values.update(_how_accurate(rest, values["query"]))
    if rest.get("select_groups") is False:
        del rest["select_groups"]
    if _is_shown("by", rest):
        values["grouped"] = _LISTED
        if rest.get("select_groups") is True:
            values["grouped"] = _SELECTED
            del rest["select_groups"]
    values["persons"] = next((way for name, way in _WAYS.items() if _is_shown(name, rest)), "")
    for name in _KEYS:
        if stands(_FIELD[name], values) and _is_shown(name, rest):
            values[name] = _shown(name, rest.pop(name)) or ""
    values["more"] = "\n".join(f"{_key(name)} = {toml_value(value)}" for name, value in rest.items())
    return values


_WAYS = {"at_most": "at_most", "per_unit": "per_unit", "person": "person", "per_person_upper": "total"}
"""Options about the records of a person, and the choice of the form under which each stands."""


def _is_shown(name: str, rest: Mapping[str, Any]) -> bool:
    return name in rest and _shown(name, rest[name]) is not None


def _of_query(rest: dict[str, Any]) -> dict[str, str]:
    """Take the query and the condition out of a question, and return their fields."""
    query = rest.get("query", "")
    if not isinstance(query, str):
        return {}
    del rest["query"]
    expression = rest.get("expression")
    separate = isinstance(expression, str)
    name, _, words = query.strip().partition(" ")
    result = {"query": name}
    if name == "apply":
        return result | _of_mechanism(words, rest)
    if name not in FORM_OF:
        return result | {"column": words.strip()}
    numbers, column, condition = _split(name, words)
    for field, queries in _IN_QUERY.items():
        if name in queries:
            result[field] = numbers.replace(",", ", ")
    result |= {"column": " ".join(column.split("\n")), "condition": condition}
    if separate and not condition:
        result["condition"] = rest.pop("expression").strip()
    return result


def _of_mechanism(words: str, rest: dict[str, Any]) -> dict[str, str]:
    from .._queries import apply_words, split_condition

    file, *others = apply_words([words.strip()])
    expression = rest.get("expression")
    if not others and isinstance(expression, str):
        others = [rest.pop("expression").strip()]
    if not others:
        return {"mechanism": file}
    first, *more = split_condition(others[0])
    if not more and re.fullmatch(r'\w+|"[^"]+"', first):
        return {"mechanism": file, "column": first}
    if more and re.match(r"[=<>!]|(is|in|like|between|not)\b", more[0], re.IGNORECASE):  # a condition alone
        return {"mechanism": file, "condition": others[0]}
    return {"mechanism": file} | ({"column": first, "condition": more[0]} if more else {"condition": first})


def _split(name: str, words: str) -> tuple[str, str, str]:
    """Return the numbers, the column and the condition that follow the name of a query."""
    from .._queries import split_condition

    text, numbers = words.strip(), ""
    if any(name in queries for queries in _IN_QUERY.values()):
        listed = (
            re.match(r"[^\s,]+(\s*,\s*[^\s,]+)*", text) if name in ("band", "quantiles") else re.match(r"\S+", text)
        )
        first = listed[0] if listed else ""
        if name == "sizes":
            first = first if first.isdecimal() and len(text) > len(first) else ""
        elif not re.match(r"[+-]?[.]?\d", first):
            first = ""
        numbers, text = "".join(first.split()), text[len(first) :].strip()
    if "COLUMN" not in FORM_OF[name].usage:
        return numbers, "", text
    column, *condition = split_condition(text) if text else [""]
    return numbers, column.strip(), condition[0].strip() if condition else ""


def _how_accurate(rest: dict[str, Any], query: str) -> dict[str, str]:
    """Return which field says the privacy; what it cannot say is left to "More options"."""
    given = [name for name in _GUARANTEES if rest.get(name) is not None]
    levels = _levels(rest.get("audience"))
    if levels and not given and _is_shown("audience", rest):
        return {"accuracy": AUDIENCES}
    if not given and not levels:
        return {"accuracy": SHARE}
    one = given[0] if len(given) == 1 and given[0] in (EPSILON, WITHIN) and not levels else None
    if one is not None and _shown_number(rest[one]) is not None and query in _NOT_OWN:
        return {"accuracy": one}
    return {"accuracy": OTHER}


def _levels(audience: Any) -> bool:
    """Tell whether audiences have an ε each."""
    texts = audience if isinstance(audience, list | tuple) else [audience]
    return isinstance(audience, Mapping) or any("=" in text for text in texts if isinstance(text, str))


def _shown(name: str, value: Any) -> str | None:
    """Return what a field shows of an option; None if it would not say the same."""
    if name in _NUMBERS:
        return _shown_number(value)
    if name in _LISTS:
        return _shown_list(name, value)
    if name == "audience":
        return _shown_audience(value)
    if not isinstance(value, str) or not value or value != value.strip():
        return None
    if name == "per_unit":
        return value if value in ("any", "all") else None
    return value if name in _LONG_TEXTS or value.isprintable() else None


def _shown_number(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction | str):
        return None
    text = str(value).strip()
    try:
        check_length("number", text)
        rational(text, "number")
    except BadInput:
        return None
    return text if "\n" not in text else None


def _shown_audience(value: Any) -> str | None:
    if isinstance(value, Mapping):
        texts = [f"{name}={_shown_number(level)}" for name, level in value.items()]
    else:
        texts = [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else []
    plain = re.compile(r"\s*[\w-]+(\s*=\s*[^\s,=]+)?\s*(,\s*[\w-]+(\s*=\s*[^\s,=]+)?\s*)*")
    return (
        ", ".join(texts) if texts and all(isinstance(text, str) and plain.fullmatch(text) for text in texts) else None
    )


# Lists of values: as text between commas, or as a list of a plan file.

_VALUE = re.compile(r"[^\s,\"\[({=](?:[^,\"\n\r]*[^\s,\"\])}])?")
"""A value that needs no quotes between commas."""
_FILE_LIKE = re.compile(r"\.\w{1,8}")


def _read_list(name: str, text: str) -> Any:
    """Read values between commas, as text; or a list as a plan file has it."""
    if text.startswith("["):
        document = TomlFile(Path("the list"), name).parse(f"list = {text}".encode())
        return _written_plainly(document["list"])
    parts = [line.strip() for line in text.split("\n") if line.strip()]
    if name == "groups" and len(parts) > 1:
        from .._queries import split_list

        if all(split_list(part) for part in parts):
            return parts
    return ", ".join(part.strip(" ,") if len(parts) > 1 else part for part in parts)


def _shown_list(name: str, value: Any) -> str | None:
    if isinstance(value, str):
        text = value.strip()
        return text if text and text == _read_list_or_none(name, text) else None
    if not isinstance(value, list | tuple) or not value:
        return None
    if name == "groups" and len(value) > 1 and all(_is_of_column(part) for part in value):
        return "\n".join(value)
    plain = [_list_value(name, part) for part in value]
    if any(part is None for part in plain):
        return toml_value(value)
    if len(plain) == 1 and name in ("groups", "categories"):  # a name without quotes might be that of a file
        return f'"{plain[0]}"'
    return ", ".join(map(str, plain))


def _read_list_or_none(name: str, text: str) -> Any:
    try:
        return _read_list(name, text)
    except BadInput:
        return None


def _list_value(name: str, value: Any) -> str | None:
    """Return a value as it stands between commas; None if a list of a plan file must say it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if name == "bins" and isinstance(value, Decimal | float):
        return str(value) if "e" not in str(value).lower() else None
    if isinstance(value, str) and _VALUE.fullmatch(value) and not _FILE_LIKE.search(value):
        return value
    return None


def _is_of_column(part: Any) -> bool:
    from .._queries import split_list

    return isinstance(part, str) and part.isprintable() and part == part.strip() and split_list(part) is not None


def toml_value(value: Any) -> str:
    """Write a value on one line, as a plan file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(name))} = {toml_value(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, int | float | Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, date | time) else _quoted(str(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)
