"""Reads a query as people write it; `catalogue` lists all queries there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from ..catalogue import FORMS, Form
from ..errors import BadInput
from .contribution import Contribution
from .groups import Groups
from .query import Query
from .table import Table

if TYPE_CHECKING:
    from .apply import Apply
    from .histogram import Histogram

__all__ = ["QUERIES", "applies_a_file", "check_columns_asked", "is_in_parts", "keep_contribution", "read_query"]


_BY_NAME = {form.name: form for form in FORMS}


class _Queries(Mapping[str, type[Query[Any]]]):
    """The class of each query, by its name; its file is loaded when it is asked for."""

    def __getitem__(self, name: str) -> type[Query[Any]]:
        return _load(_BY_NAME[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_BY_NAME)

    def __len__(self) -> int:
        return len(_BY_NAME)


def _load(form: Form) -> type[Query[Any]]:
    file, _, name = form.home.partition(".")
    kind: type[Query[Any]] = getattr(import_module(f".{file}", __package__), name)
    return kind


QUERIES = _Queries()
"""The class of each query, by its name."""


def read_query(query: Any, arguments: Sequence[Any]) -> Query[Any]:
    """Read a query such as ``at-least K [EXPR]``, in separate words or in one text."""
    name, _, rest = query.strip().partition(" ") if isinstance(query, str) else ("", "", "")
    if name not in QUERIES:
        meant = get_close_matches(name.casefold().replace("_", "-"), QUERIES, n=1)
        if meant:
            raise BadInput("query", "is none that Iris knows", f"did you mean {meant[0]}?")
        *others, last = (form.usage for form in FORMS)
        raise BadInput("query", "is none that Iris knows", f"write {', '.join(others)} or {last}")
    return QUERIES[name].read([*([rest.strip()] if rest.strip() else []), *arguments])


def applies_a_file(question: Query[Any]) -> TypeGuard[Apply]:
    """Tell whether a mechanism file answers; by the name, for the class would load all that checks such files."""
    return question.name == "apply"


def is_in_parts(question: Query[Any]) -> TypeGuard[Histogram]:
    """Tell whether a question parts the groups by a column of its own."""
    return question.name == "histogram"


def check_columns_asked(question: Query[Any], table: Table, weight: str | None) -> None:
    """Refuse a column that is not there before anything is asked for that a question about it needs.

    Else a misspelt name finds nothing that a project says of the column, and that is asked for which stands there.
    """
    about = getattr(question, "about", None)
    if about is None:
        return
    whole = f"{about} {question.expression}"  # what looks like a column and a condition may be one name
    if whole not in {column.name for column in table.named}:
        table.column(about, "query")
    if weight is not None and hasattr(question, "stepped"):
        table.column(weight, "weight")


def keep_contribution(question: Query[Any], contribution: Contribution, groups: Groups | None) -> Query[Any]:
    """Let a question know in how many groups a person's records can lie; refuse several records where it keeps one.

    Parameters
    ----------
    question : Query
        Bound by `over` to what one person may contribute, if it has a field for that.
    contribution : Contribution
    groups : Groups or None
        Those that were declared.
    """
    if not contribution.several:
        return question
    if getattr(question, "contribution", None) != contribution:
        *others, last = (name for name, kind in QUERIES.items() if hasattr(kind, "contribution"))
        rule = f"is not for {question.name}, but for {', '.join(others)} and {last}"
        raise BadInput("at_most", rule, "leave it out: then one record is kept of each person")
    declared = None if groups is None else len(groups)
    kept: Query[Any] = replace(cast(Any, question), contribution=replace(contribution, declared=declared))
    return kept
