"""Other names of options and relations, and what a misspelt name was meant to be, for every interface.

Synonyms are accepted everywhere, and plans and release files record the own name only. Words of other tools, which mean
the same and are not accepted, lead to a remedy. It imports nothing but errors, because help must be shown fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .errors import BadInput

OPTIONS = {"privacy_unit": "unit", "max_contributions": "at_most", "max_partitions": "groups_per_unit"}
"""Synonyms of options."""

KEYS = {**OPTIONS, "where": "expression", "audiences": "audience"}
"""Synonyms of keys of documents, where the condition has a key of its own."""

RELATIONS = {"replace-one": "exchange", "bounded": "exchange", "unbounded": "add-remove"}
"""Synonyms of neighbouring relations."""

_MEANT = {
    **dict.fromkeys(("groupby", "group_by"), "by"),
    **dict.fromkeys(("condition", "expr", "filter"), "where"),
    "eps": "epsilon",
    "sheet_name": "sheet",
}
"""What other tools call options."""


def meant_option(name: str) -> str | None:
    """Return the option that a word of another tool stands for, however it is spelled; None for any other word.

    Examples
    --------
    >>> meant_option("--group-by"), meant_option("groups")
    ('by', None)
    """
    return _MEANT.get(name.lstrip("-").replace("-", "_").casefold())


def near_matches(name: str, known: Iterable[str], *, most: int = 1) -> list[str]:
    """Return the known names that a misspelt name resembles, the most similar first; case does not matter.

    Examples
    --------
    >>> near_matches("Ludlwo", ["Ludlow", "York"])
    ['Ludlow']
    """
    from difflib import get_close_matches  # only once something is refused

    folded = {one.casefold(): one for one in known}
    return [folded[one] for one in get_close_matches(name.casefold(), folded, n=most)]


def did_you_mean(name: str, known: Iterable[str], *, most: int = 1) -> str:
    """Return the question "did you mean …?" about a misspelt name, or an empty text where no known name resembles it.

    An option's name in another tool counts as a misspelt one.

    Examples
    --------
    >>> did_you_mean("cuont", ["count", "sum"]), did_you_mean("eps", ["epsilon"]), did_you_mean("xyz", ["count"])
    ('did you mean count?', 'did you mean epsilon?', '')
    """
    known = list(known)
    meant = meant_option(name)
    near = [one for one in (meant, KEYS.get(meant or "")) if one in known] or near_matches(name, known, most=most)
    return f"did you mean {' or '.join(near)}?" if near else ""


def own_names(given: Mapping[str, Any], synonyms: Mapping[str, str] = OPTIONS) -> dict[str, Any]:
    """Return options or keys under their own names.

    Raises
    ------
    BadInput
        For a synonym beside its own name, or beside another synonym of it.

    Examples
    --------
    >>> own_names({"privacy_unit": "person"})
    {'unit': 'person'}
    """
    result: dict[str, Any] = {}
    first: dict[str, str] = {}
    for name, value in given.items():
        own = synonyms.get(str(name).replace("-", "_"), name)
        plain = str(own).replace("-", "_")
        other = first.setdefault(plain, name)
        if other != name and plain in synonyms.values():
            synonym, kept = (name, other) if name != own else (other, name)
            raise BadInput(synonym, f"is another name of {kept}, and both are given", "keep one of them")
        result[own] = value
    return result
