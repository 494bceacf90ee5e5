"""Check the members of a release file that decide how answers are interpreted, each for its kind, before using them.

A release file may come from a stranger, so any JSON in it is either accepted or refused in one line. What the members
mean, and whether they fit together, the readers of each kind of mechanism say; members that no reader looks at are
passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import BadInput

__all__ = ["check_kinds"]

_REMEDY = "give the file that publish wrote"


def check_kinds(document: Any) -> None:
    """Refuse a document whose members are of other kinds than `docs/formats/release.schema.json` says.

    Raises
    ------
    BadInput
        Where one is; what is no object at all is for its reader to say.
    """
    if not isinstance(document, Mapping):
        return
    _check(document, _MEMBERS, "")
    for name, members in (("mechanism", _OF_MECHANISM), ("query", _OF_QUERY)):
        if isinstance(document.get(name), Mapping):
            _check(document[name], members, f"{name}.")


def _check(document: Mapping[str, Any], members: Mapping[str, tuple[Callable[[Any], bool], str]], where: str) -> None:
    for name, (fits, words) in members.items():
        if document.get(name) is not None and not fits(document[name]):
            raise BadInput("release", f"holds {where}{name}, which must be {words}", _REMEDY)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _holds_text(value: Any) -> bool:
    return _is_list(value) and all(map(_is_text, value))


def _holds_names(value: Any) -> bool:
    """Tell whether a list holds what names a category: text, a number or a truth value."""
    return _is_list(value) and not any(isinstance(name, list | tuple | Mapping | None) for name in value)


def _holds_rankings(value: Any) -> bool:
    return _is_list(value) and all(map(_holds_text, value))


def _holds_rows(value: Any) -> bool:
    return _is_list(value) and all(map(_holds_names, value))


def _is_named_or_counted(value: Any) -> bool:
    return _holds_names(value) or (isinstance(value, int) and not isinstance(value, bool))


_TEXT, _OBJECT = (_is_text, "text"), (_is_object, "an object")
_MEMBERS = {
    "format": _TEXT,
    "mechanism": _OBJECT,
    "query": _OBJECT,
    "relation": _TEXT,
    "by": (_holds_text, "a list of text"),
    "public_membership": (_is_flag, "true or false"),
    "privacy": _OBJECT,
    "left_out": (_holds_text, "a list of text"),
}
_OF_MECHANISM = {
    "kind": _TEXT,
    "categories": (_is_named_or_counted, "a list of names, or how many there are"),
    "outputs": (_holds_names, "a list of names"),
    "rankings": (_holds_rankings, "a list of lists of text"),
    "boundary": (_holds_rows, "a list of lists of numbers"),
    "thresholds": (_holds_names, "a list of numbers"),
    "noise": _OBJECT,
    "pairs": _OBJECT,
}
_OF_QUERY = {"query": _TEXT, "expression": _TEXT}
