"""Reads a query as people write it; `catalogue` lists all queries there are."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from ..catalogue import FORMS, Form
from ..errors import BadInput
from .contribution import Contribution
from .query import Query

__all__ = ["QUERIES", "check_contribution", "read_query"]


def _load(form: Form) -> type[Query[Any]]:
    file, _, name = form.home.partition(".")
    kind: type[Query[Any]] = getattr(import_module(f".{file}", __package__), name)
    return kind


QUERIES = {form.name: _load(form) for form in FORMS}
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


def check_contribution(question: Query[Any], contribution: Contribution) -> None:
    """Refuse several records of a person for a question that does not keep in a field that there may be several."""
    if contribution.several and getattr(question, "contribution", None) != contribution:
        *others, last = (name for name, kind in QUERIES.items() if hasattr(kind, "contribution"))
        rule = f"is not for {question.name}, but for {', '.join(others)} and {last}"
        raise BadInput("at_most", rule, "leave it out: then one record is kept of each person")
