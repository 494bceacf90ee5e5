"""Groups and categories that a question names and its project does not: perhaps misspelt, and charged all the same."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import Any

__all__ = ["say_unlisted"]

_MOST_NAMED = 5


def say_unlisted(values: Iterable[Any], known: Sequence[Any], *, what: str, column: str, file: str) -> str | None:
    """Say in a line for people which values a project does not list, and what may have been meant; None if it has all.

    Parameters
    ----------
    values, known : iterable, sequence
        Declared with the question, and in the project. A number is the same however it is written.
    what, column, file : str
        Groups or categories, of which column, and the project's name.

    Examples
    --------
    >>> say_unlisted(["Ely", "Yrok"], ["Ely", "York"], what="groups", column="town", file="survey.iris.toml")
    '"Yrok" is not among the groups by town in survey.iris.toml; did you mean "York"?'
    >>> say_unlisted(["1", "2.0"], [1, 2, 3], what="groups", column="ward", file="survey.iris.toml") is None
    True
    """
    listed = {_value(value): value for value in known}
    strange = [value for value in dict.fromkeys(values) if _value(value) not in listed]
    if not strange:
        return None
    shown = " and ".join(filter(None, [", ".join(map(_shown, strange[:_MOST_NAMED])), _more(strange)]))
    be = "is" if len(strange) == 1 else "are"
    of = "by" if what == "groups" else "of"
    return f"{shown} {be} not among the {what} {of} {column} in {file}{_meant(strange, known)}"


def _meant(strange: Sequence[Any], known: Sequence[Any]) -> str:
    texts, names = [str(value) for value in strange], [value for value in known if isinstance(value, str)]
    for name in names:
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and set(parts) <= set(texts):
            return f"; the one name {_shown(name)} is written in double quotes, as is each with a comma"
    folded = {name.casefold(): name for name in names}
    near = {found: None for text in texts for found in get_close_matches(text.casefold(), folded, n=1)}
    if not near:
        return "; what is listed there is known to be spelt right"
    return f"; did you mean {', '.join(_shown(folded[found]) for found in list(near)[:_MOST_NAMED])}?"


def _more(strange: Sequence[Any]) -> str:
    return f"{len(strange) - _MOST_NAMED} more" if len(strange) > _MOST_NAMED else ""


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _value(value: Any) -> Hashable:
    """Return what two spellings of one value share."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return number if number.is_finite() else text
