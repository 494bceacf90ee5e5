"""Totals that a reader asks for: names of cells, joined by plus signs, and perhaps what they are known to sum to.

all = *                 every cell
coast = north + south   two of them; a name with +, = or quotes in it stands in quotes
men = men, *            of groups by several columns: their names, joined by commas; * for any
all = * = 1200          known to be 1,200, publicly
all = 1200              the same
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BadInput
from ..exact import integer
from .published_counts import LARGEST_COUNT

__all__ = ["Total", "read_totals"]

_PART = re.compile(r""""[^"]*"|'[^']*'|[+=,]|[^+=,"']+""")
_SAY = "write for example all=north+south, or all=*"
_MOST_SHOWN = 10
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of cells.

    Parameters
    ----------
    name : str
    places : tuple of int
        Which answers of the file it sums up.
    known : int or None
        What it is publicly known to be.
    """

    name: str
    places: tuple[int, ...]
    known: int | None = None


def read_totals(given: Any, by: Sequence[str], keys: Sequence[tuple[Any, ...]]) -> list[Total]:
    """Read totals of cells with these groups, by these columns; each is about at least one.

    Raises
    ------
    BadInput
        For what names no cell, or one twice, and for a name that stands there twice.
    """
    if isinstance(given, Mapping):
        asked = list(given.items())
    else:
        asked = [_parted(text) for text in ([given] if isinstance(given, str) else _listed(given))]
    if len({name for name, _ in asked}) < len(asked):
        raise BadInput("total", "gives one name to two totals", "name each once")
    if asked and not (by and keys):
        rule = "is a sum of cells, and these answers are not by groups" if keys else "is a sum of cells: here are none"
        raise BadInput("total", rule, "leave it out")
    return [_total(name, said, keys) for name, said in asked]


def _listed(given: Any) -> Sequence[str]:
    if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
        raise BadInput("total", "must name totals and say what they sum up", "give a mapping of names to expressions")
    return given


def _parted(text: str) -> tuple[str, str]:
    name, sign, said = text.partition("=")
    if not sign:
        raise BadInput("total", f"is {text[:_LONGEST]!r}, which has no =", _SAY)
    return name.strip(), said


def _total(name: Any, said: Any, keys: Sequence[tuple[Any, ...]]) -> Total:
    if not isinstance(name, str) or not name.strip():
        raise BadInput("total", "must have a name", _SAY)
    everything = tuple(range(len(keys)))
    if isinstance(said, int) and not isinstance(said, bool):
        return Total(name, everything, _known(said))
    if not isinstance(said, str):
        raise BadInput("total", f"must say as text what {name!r} sums up, or as a whole number what it is", _SAY)
    terms, known = _terms(name, said)
    index: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(keys):
        index.setdefault(tuple(map(str, key)), []).append(place)
    if known is None and len(terms) == 1 and terms[0].isdigit() and (terms[0],) not in index:
        return Total(name, everything, _known(terms[0]))
    places = [place for term in terms for place in _cells(term, index, everything, len(keys[0]))]
    if len(set(places)) < len(places):
        raise BadInput("total", f"counts a cell of {name!r} twice", "name each cell once")
    return Total(name, tuple(sorted(places)), None if known is None else _known(known))


def _known(number: Any) -> int:
    return integer(number, "total", at_least=0, at_most=LARGEST_COUNT)


def _terms(name: str, said: str) -> tuple[list[str], str | None]:
    """Part an expression at its plus signs, and from the number behind an equals sign; quotes stay."""
    parts = _PART.findall(said)
    if "".join(parts) != said:
        raise BadInput("total", f"has a quote in {name!r} that is not closed", "close it")
    equals = [place for place, part in enumerate(parts) if part == "="]
    if len(equals) > 1:
        raise BadInput("total", f"has more than one number for {name!r}", "write for example all=*=1200")
    known = "".join(parts[equals[0] + 1 :]).strip() if equals else None
    terms = [""]
    for part in parts[: equals[0]] if equals else parts:
        if part == "+":
            terms.append("")
        else:
            terms[-1] += part
    terms = [term.strip() for term in terms]
    if not all(terms):
        raise BadInput("total", f"lacks the name of a cell in {name!r}", _SAY)
    return terms, known


def _cells(
    term: str, index: Mapping[tuple[str, ...], list[int]], everything: Sequence[int], columns: int
) -> Sequence[int]:
    """Return the places of the cells that a term names."""
    if term == "*":
        return everything
    pieces = [term] if columns == 1 else _at_commas(term)
    wanted = [None if piece == "*" else _unquoted(piece) for piece in pieces]
    if len(wanted) != columns:
        rule = f"names a cell {term[:_LONGEST]!r}, and groups here have {columns} parts"
        raise BadInput("total", rule, "join the parts by commas; * stands for any")
    if None not in wanted:
        found = index.get(tuple(map(str, wanted)), [])
        if len(found) > 1:
            raise BadInput("total", f"names {term[:_LONGEST]!r}, which several cells are called", "take * or others")
    else:
        found = [
            place
            for key, places in index.items()
            if all(want is None or want == part for want, part in zip(wanted, key, strict=True))
            for place in places
        ]
    if not found:
        shown = "; ".join(", ".join(key)[:_LONGEST] for key in list(index)[:_MOST_SHOWN])
        more = "; …" if len(index) > _MOST_SHOWN else ""
        raise BadInput("total", f"names {term[:_LONGEST]!r}, which is no cell", f"its cells are {shown}{more}")
    return found


def _at_commas(term: str) -> list[str]:
    pieces = [""]
    for part in _PART.findall(term):
        if part == ",":
            pieces.append("")
        else:
            pieces[-1] += part
    return [piece.strip() for piece in pieces]


def _unquoted(piece: str) -> str:
    quoted = len(piece) > 1 and piece[0] == piece[-1] and piece[0] in "\"'"
    return piece[1:-1] if quoted else piece
