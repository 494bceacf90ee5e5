"""All queries there are. The parser, the help, the README and the proof by exhaustion read this list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import BadInput
from .at_least import AtLeast
from .count import Count
from .majority import Majority
from .query import Query

__all__ = ["QUERIES", "read_query", "usages"]

QUERIES: tuple[type[Query[Any]], ...] = (Count, AtLeast, Majority)
"""In the order in which help lists them."""


def read_query(query: Any, arguments: Sequence[Any]) -> Query[Any]:
    """Read a query as people write it, such as ``at-least K [EXPR]``, in separate words or in one text."""
    name, _, rest = query.strip().partition(" ") if isinstance(query, str) else ("", "", "")
    for kind in QUERIES:
        if kind.name == name:
            return kind.read([*([rest.strip()] if rest.strip() else []), *arguments])
    *others, last = usages()
    raise BadInput("QUERY", "is none that Iris knows", f"write {', '.join(others)} or {last}")


def usages() -> list[str]:
    """Return how each query is written."""
    return [kind.usage for kind in QUERIES]
