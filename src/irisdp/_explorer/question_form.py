"""The fields of one question of a plan, whatever its query: from a form to a question, and back.

`question_of` and `values_of` are inverse to each other, so every question of a plan file opens in the form. Options
without a field of their own stand in the field "More options" as lines of a plan file, so nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._aliases import KEYS, did_you_mean, own_names
from .._exact import TomlFile, integer, rational, toml_key, toml_value
from .._queries.registry import FORM_OF
from ..errors import BadInput
from .form_errors import check_length, faults_of, raise_faults
from .forms import Field, read_values, stands
from .question_fields import (
    AUDIENCES,
    EPSILON,
    FIELD,
    FIELDS,
    GUARANTEES,
    IN_QUERY,
    KEYS_OF_FIELDS,
    LISTED,
    LISTS,
    LONG_TEXTS,
    NUMBERS,
    OTHER,
    SELECTED,
    SHARE,
    TEXTS,
    WITH_PRIVACY,
    WITHIN,
    taking,
)
from .question_lists import in_list, plan_number, plan_value, read_list, shown_list
from .results import Values

__all__ = ("FIELDS", "prefilled", "question_of", "values_of", "with_columns")

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
    name, column, condition = said["query"], " ".join(said.get("column", "").split("\n")), said.get("condition", "")
    if name == "apply":
        about = " ".join(filter(None, (column, condition)))
        return {"query": f"apply {said['mechanism']}"} | ({"expression": about} if about else {})
    numbers = [_number_words(field, said[field]) for field in IN_QUERY if field in said]
    words = [name, *numbers, *([_column_words(name, "".join(numbers), column)] if column else [])]
    return {"query": " ".join(words)} | ({"expression": condition} if condition else {})


def _number_words(field: str, text: str) -> str:
    """Return numbers as a query has them, without blanks; several are separated by commas."""
    parts = ["".join(part.split()) for part in _parts(field, text)]
    if FIELD[field].whole:
        return str(int(rational(parts[0], field)))
    if field in ("thresholds", "quantiles"):
        for part in parts:
            check_length(field, part, f"write for example {FIELD[field].example}")
            if field == "thresholds":
                integer(part, field, at_least=1)
            else:
                rational(part, field)
    return ",".join(parts)


_MOST_PARTS = 1000
"""Between commas, in a field of numbers or of audiences: no query takes more, and pages must not wait for them."""


def _parts(field: str, text: str) -> list[str]:
    """Split at commas."""
    if text.count(",") >= _MOST_PARTS:
        raise BadInput(field, f"lists more than {_MOST_PARTS:,}", "leave some out")
    return text.split(",")


def _column_words(name: str, numbers: str, column: str) -> str:
    """Return a column as a query has it: in double quotes where some of it would be read as something else."""
    is_plain = _split(name, f"{numbers} {column}") == (numbers, column, "")
    return column if is_plain else '"' + column.replace('"', '""') + '"'


def _grouping(said: Values) -> dict[str, Any]:
    if "by" not in said:
        return {}
    result = {"by": read_list("by", said["by"])}
    if said["grouped"] == SELECTED:
        return {**result, "select_groups": True}
    return {**result, "groups": read_list("groups", said["groups"])} if "groups" in said else result


def _of_persons(said: Values) -> dict[str, Any]:
    if said.get("persons") == "total" and said["query"] not in taking("per_person_upper"):
        raise BadInput("persons", "bounds a total, and only a sum has one", "choose another, or the question sum")
    return {name: said[name] for name in ("person", "per_unit") if name in said}


def _options(said: Values) -> dict[str, Any]:
    """Return the options that are a number, a text or a list as they stand in their fields."""
    numbers = {name: plan_number(said[name]) for name in NUMBERS if name in said and name not in GUARANTEES}
    lists = {name: read_list(name, said[name]) for name in ("categories", "bins") if name in said}
    return {**lists, **numbers, **{name: said[name] for name in TEXTS if name in said and name != "name"}}


def _accuracy(said: Values) -> dict[str, Any]:
    """Return what says the privacy of the answers, and who gets them."""
    how = said.get("accuracy")
    result = {how: plan_number(said[how])} if how in (EPSILON, WITHIN) else {}
    if "audience" not in said:
        return result
    parts = [part.partition("=") for part in _parts("audience", said["audience"])]
    levels = {name.strip(): level.strip() for name, sign, level in parts if sign}
    if how == AUDIENCES:
        if len(levels) < len(parts):
            raise BadInput("audience", "must be NAME=ε, each name once", "write for example board=2, press=0.5")
        for level in levels.values():
            check_length("audience", level)
            rational(level, "audience")
        return {**result, "audience": {name: plan_number(level) for name, level in levels.items()}}
    if levels:
        chosen = dict(FIELD["accuracy"].choices)[AUDIENCES]
        raise BadInput("audience", "says an ε", f"write the names alone, or choose “{chosen}” above")
    names = [name.strip() for name, _, _ in parts]
    return {**result, "audience": names[0] if len(names) == 1 else names}


def _more(said: Values, question: Mapping[str, Any]) -> dict[str, Any]:
    """Read the lines of other options."""
    from .._release import QUESTION_KEYS

    document = TomlFile(Path(FIELD["more"].label), "more").parse(said.get("more", "").encode())
    result: dict[str, Any] = {}
    for key, value in own_names(document, KEYS).items():
        name = key.replace("-", "_")
        if name not in QUESTION_KEYS:
            remedy = did_you_mean(name, QUESTION_KEYS) or f"choose from {', '.join(QUESTION_KEYS)}"
            raise BadInput("more", f"{key[:60]} is no option of a question", remedy)
        if name in question or name in result or name == "query":
            raise BadInput("more", f"{name} is said twice", "leave it out here, or empty its field")
        result[name] = plan_value(value)
    said_here = [name for name in GUARANTEES if name in result]
    said_here += ["audience"] if _levels(result.get("audience")) else []
    how = said.get("accuracy")
    if how == OTHER and not said_here:
        raise BadInput("more", "says no privacy", "write for example mu = 1, or choose another accuracy above")
    if how not in (OTHER, None) and said_here:
        rule = f"says {said_here[0]}, and “{FIELD['accuracy'].label}” says something else"
        raise BadInput("more", rule, "leave it out, or choose there that these options say it")
    return result


_PARTS: tuple[tuple[Callable[[Values], dict[str, Any]], tuple[str, ...]], ...] = (
    (lambda said: {"name": said["name"]} if "name" in said else {}, ()),
    (_asked, (*IN_QUERY, "query", "mechanism", "column", "condition")),
    (_grouping, ("grouped", "by")),
    (_of_persons, ("query", "persons", "person", "per_unit")),
    (_accuracy, ("accuracy", "epsilon", "within", "audience")),
    (_options, ()),
)
"""The parts of a question in their order in a plan file, and the fields that each reads and that must not be wrong."""

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
        values["grouped"] = LISTED
        if rest.get("select_groups") is True:
            values["grouped"] = SELECTED
            del rest["select_groups"]
    values["persons"] = next((way for name, way in _WAYS.items() if _is_shown(name, rest)), "")
    for name in KEYS_OF_FIELDS:
        if stands(FIELD[name], values) and _is_shown(name, rest):
            values[name] = _shown(name, rest.pop(name)) or ""
    values["more"] = "\n".join(f"{toml_key(name)} = {toml_value(value)}" for name, value in rest.items())
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
    for field, queries in IN_QUERY.items():
        if name in queries:
            result[field] = numbers.replace(",", ", ")
    result |= {"column": _unquoted(name, numbers, " ".join(column.split("\n"))), "condition": condition}
    if separate and not condition:
        result["condition"] = rest.pop("expression").strip()
    return result


def _unquoted(name: str, numbers: str, column: str) -> str:
    """Return a column without the double quotes that the form would write again, or that change nothing."""
    from .._queries import is_named_expression

    inner = column[1:-1].replace('""', '"')
    quoted = re.fullmatch(r'"(?:[^"]|"")+"', column) and inner == inner.strip() and not is_named_expression(inner)
    again = _column_words(name, numbers, inner) if quoted else ""
    return inner if again in (column, inner) and quoted else column


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
    if any(name in queries for queries in IN_QUERY.values()):
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
    given = [name for name in GUARANTEES if rest.get(name) is not None]
    levels = _levels(rest.get("audience"))
    if levels and not given and _is_shown("audience", rest):
        return {"accuracy": AUDIENCES}
    if not given and not levels:
        return {"accuracy": SHARE}
    one = given[0] if len(given) == 1 and given[0] in (EPSILON, WITHIN) and not levels else None
    if one is not None and _shown_number(rest[one]) is not None and query in WITH_PRIVACY:
        return {"accuracy": one}
    return {"accuracy": OTHER}


def _levels(audience: Any) -> bool:
    """Tell whether audiences have an ε each."""
    texts = audience if isinstance(audience, list | tuple) else [audience]
    return isinstance(audience, Mapping) or any("=" in text for text in texts if isinstance(text, str))


def _shown(name: str, value: Any) -> str | None:
    """Return what a field shows of an option; None if it would not say the same."""
    if name in NUMBERS:
        return _shown_number(value)
    if name in LISTS:
        return shown_list(name, value)
    if name == "audience":
        return _shown_audience(value)
    if not isinstance(value, str) or not value or value != value.strip():
        return None
    if name == "per_unit":
        return value if value in ("any", "all") else None
    return value if name in LONG_TEXTS or value.isprintable() else None


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


# What is declared of the table.

_MOST_COLUMNS, _MOST_NAMED = 1000, 20


def with_columns(columns: Sequence[str]) -> tuple[Field, ...]:
    """Return `FIELDS` with the names of the table's columns: offered while one types, and named beside conditions."""
    if not columns:
        return FIELDS
    named = ", ".join(columns[:_MOST_NAMED])
    more = f" and {len(columns) - _MOST_NAMED:,} more" if len(columns) > _MOST_NAMED else ""
    told: dict[str, dict[str, Any]] = {
        "column": {"suggestions": tuple(columns[:_MOST_COLUMNS])},
        "weight": {"suggestions": tuple(columns[:_MOST_COLUMNS])},
        "condition": {"help": f"{FIELD['condition'].help} Columns: {named}{more}."},
    }
    return tuple(replace(each, **told.get(each.name, {})) for each in FIELDS)


def prefilled(given: Mapping[str, str], project: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a form with the groups and categories that a project file declares, where these are empty.

    A question without them takes them from the project file anyway: this shows them, and lets people edit them.

    Parameters
    ----------
    given : mapping
        Values of `FIELDS`.
    project : mapping
        The document of a project file: ``groups`` and ``categories`` are tables from columns to values.

    Examples
    --------
    >>> project = {"groups": {"ward": ["north", "east"]}}
    >>> prefilled({"grouped": "listed", "by": "Ward"}, project)["groups"]
    'north, east'
    """
    values = {name: _plain(text) for name, text in read_values(FIELDS, given).items()}
    groups, categories = (
        {str(column).casefold(): listed for column, listed in (project.get(name) or {}).items()}
        for name in ("groups", "categories")
    )
    needs_categories = stands(FIELD["categories"], values) and FORM_OF[values["query"]].needs_categories
    if needs_categories and not (values["categories"] or values["bins"]):
        values["categories"] = shown_list("categories", categories.get(values["column"].casefold())) or ""
    if stands(FIELD["groups"], values) and not values["groups"]:
        columns = [name.strip() for name in values["by"].split(",")]
        listed = [groups.get(name.casefold()) for name in columns]
        if len(columns) == 1:
            values["groups"] = shown_list("groups", listed[0]) or ""
        elif all(listed):
            lines = [_line_of(name, part or ()) for name, part in zip(columns, listed, strict=True)]
            values["groups"] = "\n".join(filter(None, lines)) if all(lines) else ""
    return values


def _line_of(column: str, listed: Sequence[Any]) -> str | None:
    """List the values of one of several group columns; None if they cannot stand on a line."""
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in listed]
    if not all(map(str.isprintable, [column, *texts])):
        return None
    return f"{column}={','.join(in_list(text) for text in texts)}"
