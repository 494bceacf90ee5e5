"""A query as people write it: ``count [EXPR]``, ``at-least K [EXPR]`` or ``majority EXPR``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import BadInput
from ..exact import integer
from .at_least import AtLeast
from .count import Count
from .majority import Majority
from .nodes import Query

__all__ = ["read_query"]

_MOST_SHOWN = 200


def read_query(query: Any, arguments: Sequence[Any]) -> Query:
    """Read ``count [EXPR]``, ``at-least K [EXPR]`` or ``majority EXPR``, in separate words or in one text."""
    name, _, rest = query.strip().partition(" ") if isinstance(query, str) else ("", "", "")
    words = [*([rest.strip()] if rest.strip() else []), *arguments]
    if name == "at-least" and words and isinstance(words[0], str):
        first, _, rest = words[0].strip().partition(" ")
        words[:1] = [first, *([rest.strip()] if rest.strip() else [])]
    takes = {"count": 1, "majority": 1, "at-least": 2}.get(name)
    if takes is None:
        raise BadInput("QUERY", "is none that Iris knows", "write count [EXPR], at-least K [EXPR] or majority EXPR")
    if len(words) > takes:
        raise BadInput("QUERY", f"{name} takes one condition, and it is in several words", _quoted(words[takes - 1 :]))
    if name == "at-least":
        if not words:
            raise BadInput("QUERY", "at-least needs a number K", 'write for example at-least 100 "age > 64"')
        return AtLeast(integer(words[0], "K", at_least=0, at_most=1 << 62), *words[1:])
    if name == "majority":
        return Majority(words[0] if words else "")
    return Count(*words)


def _quoted(words: Sequence[Any]) -> str:
    """Show how to quote what a shell or a caller took apart."""
    whole = " ".join(map(str, words)) if all(isinstance(word, str | int | float) for word in words) else ""
    plain = whole.isprintable() and 0 < len(whole) <= _MOST_SHOWN and '"' not in whole
    return f'quote the condition: "{whole if plain else "age > 64"}"'
