"""Labels: the words that readers see instead of the names of columns, groups and queries, and the title of a page.

Labels change words and nothing else. No answer, canonical question, line of a ledger or release file depends on them.
A label is text. Everything that shows it escapes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .._exact import TomlFile, kind_of
from .._options import WRITTEN
from ..errors import BadInput

KEYS = ("title", "columns", "groups", "queries")
"""What a `[labels]` table may say."""

_LONGEST = 300
"""Letters of one label."""
_MOST = 100_000
"""Labels in one table."""
_BESIDE = frozenset(
    (
        *(
            "relation",
            "unit",
            "at_most",
            "limit",
            "ledger",
            "partition",
            *WRITTEN,
            "types",
            "lookup",
            "on",
            "categories",
            "groups",
        ),
        *("datasets", "questions", "report"),
    )
)
"""Keys of project files and of plans, which hold a `[labels]` table among others."""
_EXAMPLES = {
    "title": 'write for example title = "Voters by education"',
    "columns": 'write [labels.columns], and below it educ = "Education"',
    "groups": 'write [labels.groups.educ], and below it 1 = "Eighth grade or less"',
    "queries": 'write [labels.queries], and below it "count vote = 1" = "Voters for Clinton"',
}
_REMEDY = 'write a TOML file with [labels], and below it title = "Voters by education"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Words for readers.

    Parameters
    ----------
    title : str, optional
        The heading of pages and charts whose query has no label.
    own_title : str, optional
        The heading of one page or chart, which was named for it alone.
    columns : mapping
        From the names of columns, in small letters, to their labels; `answer` is the column of the answers.
    groups : mapping
        From the names of columns, in small letters, to their values, written as text, to the values' labels.
    queries : mapping
        From queries, as `publish` prints them, with or without their groups, to their labels. In a plan also from the
        names of its questions.

    Examples
    --------
    >>> labels = Labels(columns={"educ": "Education"}, groups={"educ": {"1": "Eighth grade or less"}})
    >>> labels.column("educ"), labels.column("age"), labels.group("educ", 1), labels.group("educ", 2)
    ('Education', 'age', 'Eighth grade or less', '2')
    """

    title: str | None = None
    own_title: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    queries: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything has a label."""
        return any((self.title, self.own_title, self.columns, self.groups, self.queries))

    def column(self, name: str) -> str:
        """Return the label of a column, or its name."""
        return self.columns.get(name.casefold(), name)

    def group(self, column: str, value: Any) -> str:
        """Return the label of a value of a group column, or the value as text."""
        text = str(value)
        return self.groups.get(column.casefold(), {}).get(text, text)

    def query(self, question: str, by: Iterable[str] = ()) -> str | None:
        """Return the label of a question, which may be listed with its groups or without them.

        Examples
        --------
        >>> Labels(queries={"count vote = 1": "Voters"}).query("count vote = 1 by educ", ["educ"])
        'Voters'
        """
        short = question.removesuffix(f" by {', '.join(by)}")
        return self.queries.get(question, self.queries.get(short))

    def heading(self, question: str, by: Iterable[str] = ()) -> str | None:
        """Return what heads the page or the chart of one question; None where nothing is given."""
        return self.own_title or self.query(question, by) or self.title

    def over(self, other: Labels | None) -> Labels:
        """Return these labels, and those of `other` where these say nothing."""
        if not other:
            return self
        columns = dict.fromkeys((*other.groups, *self.groups))
        return Labels(
            title=other.title if self.title is None else self.title,
            own_title=other.own_title if self.own_title is None else self.own_title,
            columns={**other.columns, **self.columns},
            groups={name: {**other.groups.get(name, {}), **self.groups.get(name, {})} for name in columns},
            queries={**other.queries, **self.queries},
        )


def read_labels(labels: Any = None, title: Any = None, *, field: str = "labels") -> Labels:
    """Read labels, wherever they are given.

    Parameters
    ----------
    labels : path, mapping or Labels, optional
        A TOML file with a `[labels]` table, which may be a project file or a plan; or what stands in such a table.
    title : str, optional
        The heading of one page or chart.
    field : str
        What messages call the labels.

    Raises
    ------
    BadInput
        For a file that cannot be read, unknown keys, and labels that are no short text on one line.

    Examples
    --------
    >>> read_labels({"groups": {"educ": {1: "Eighth grade or less"}}}, "Voters").own_title
    'Voters'
    """
    result = _labels(labels, field)
    return (
        result if title is None else replace(result, own_title=_text(title, "title", _EXAMPLES["title"], field="title"))
    )


def check_used(options: Mapping[str, Any]) -> None:
    """Refuse a title or labels where no page is written that could show them."""
    for name in ("title", "labels"):
        if options.get(name) is not None and options.get("report") is None:
            raise BadInput(name, "is shown on a report, and none is written", "add report='page.html', or leave it out")


def _labels(labels: Any, field: str) -> Labels:
    if labels is None:
        return Labels()
    if isinstance(labels, Labels):
        return labels
    if isinstance(labels, str | os.PathLike):
        return _from_file(labels, field)
    if not isinstance(labels, Mapping):
        raise BadInput(field, f"must be a table, not {kind_of(labels)}", _REMEDY)
    _check_keys(labels, KEYS, field)
    title = labels.get("title")
    result = Labels(
        title=None if title is None else _text(title, "title", _EXAMPLES["title"], field=field),
        columns={name.casefold(): said for name, said in _texts(labels.get("columns"), "columns", field).items()},
        groups={
            str(name).casefold(): _texts(values, "groups", field)
            for name, values in _table(labels.get("groups"), "groups", field).items()
        },
        queries=_texts(labels.get("queries"), "queries", field),
    )
    if len(result.columns) + len(result.queries) + sum(map(len, result.groups.values())) > _MOST:
        raise BadInput(field, f"are more than {_MOST:,}", "label fewer groups")
    return result


def _from_file(path: Any, field: str) -> Labels:
    file = TomlFile.at(path, field)
    document = file.read()
    if "labels" not in document:
        file.refuse("has no [labels] table", _REMEDY)
    for key in document:
        if key not in ("labels", *_BESIDE):
            remedy = "move it below [labels]" if key in KEYS else "keep [labels] and no other table"
            file.refuse(f"has the key {key[:60]!r}, which is not for labels", remedy)
    return labels_in(file, document["labels"])


def labels_in(file: TomlFile, table: Any) -> Labels:
    """Read the `[labels]` table of a TOML file."""
    if not isinstance(table, Mapping):
        file.refuse(f"gives labels {kind_of(table)}", _REMEDY)
    try:
        return _labels(table, file.field)
    except BadInput as error:
        raise BadInput(file.field, f"in {file.path.name}, labels {error.rule}", error.remedy) from None


def _check_keys(table: Mapping[Any, Any], known: Iterable[str], field: str) -> None:
    for key in table:
        if key not in known:
            rule = f"have the key {str(key)[:60]!r}, which is not known"
            raise BadInput(field, rule, f"choose from {', '.join(known)}")


def _table(labels: Any, name: str, field: str) -> Mapping[Any, Any]:
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise BadInput(field, f"have {name} that are {kind_of(labels)}, not a table", _EXAMPLES[name])
    return labels


def _texts(labels: Any, name: str, field: str) -> dict[str, str]:
    """Read a table from names to labels."""
    told = _table(labels, name, field)
    return {str(key): _text(value, str(key), _EXAMPLES[name], field=field) for key, value in told.items()}


def _text(value: Any, name: str, example: str, *, field: str) -> str:
    """Return a label, which must be short text on one line that every reader can see."""
    start = "is" if field == name else f"have a label for {name[:60]!r} that is"
    if not isinstance(value, str):
        raise BadInput(field, f"{start} {kind_of(value)}, not text", example)
    if not value.strip():
        raise BadInput(field, f"{start} empty", f"{example}, or leave it out")
    if len(value) > _LONGEST:
        raise BadInput(field, f"{start} longer than {_LONGEST} letters", "write less")
    if not value.isprintable():
        raise BadInput(field, f"{start} text with line breaks or hidden letters", "write it on one line")
    return value
