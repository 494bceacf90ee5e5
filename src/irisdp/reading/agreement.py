"""Check that a release file agrees with itself and with its answers, before either is shown.

Members of the file follow from others. A file that was changed by hand, or combined from two, would tell the reader
contradictory facts. What agrees may still be false: the ledger knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..accounting import Cost
from ..cells import ASSURED
from ..cells.kinds import MeasurementKind
from ..errors import BadInput
from ..exact import percent_below, rational
from ..mechanisms import guarantee_from_document
from ..privacy import Privacy
from ..queries.columns import list_names

__all__ = ["check_agreement"]

_REMEDY = "give the file that publish wrote, or publish the same again, which is free"
_HARDLY = Fraction(1, 100)
"""By how much an error may be off that was rounded."""
_PERCENT = re.compile(r"([0-9.]+) %")


def check_agreement(name: str, document: Any, columns: Sequence[str] | None) -> None:
    """Refuse a release file that contradicts itself, or the columns of its answers.

    Parameters
    ----------
    name : str
        Name of the release file, for messages.
    document : JSON
        What it holds. Members that are not there, or are of another kind, are for their own readers to miss or refuse.
    columns : sequence of str, or None
        Of the answers; of none, a file need not say its columns.

    Raises
    ------
    BadInput
        Which names what contradicts what.
    """
    if not isinstance(document, Mapping):
        return
    for one, other in _contradictions(document):
        raise BadInput("release", f"{name} contradicts itself: {one} {other}", _REMEDY)
    listed = _texts(document.get("columns"))
    if listed is not None and columns is not None and list(columns) != listed:
        rule = f"{name} is of answers with the columns {list_names(listed)}, and here are {list_names(columns)}"
        raise BadInput("release", rule, _REMEDY)


def _contradictions(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    by, listed, question, unit = (document.get(name) for name in ("by", "columns", "question", "unit"))
    by, listed = _texts(by), _texts(listed)
    if by is not None and listed is not None and listed[: len(by)] != by:
        yield "its columns", f"do not begin with the groups, by {list_names(by)}"
    query = _part(document, "query").get("query")
    if isinstance(question, str) and isinstance(query, str) and not f"{question} ".startswith(f"{query} "):
        yield "its question", f"is {question[:60]!r}, and its query {query[:60]!r}"
    if isinstance(question, str) and isinstance(unit, str) and f"per {unit}" not in question:
        yield "its unit", f"is {unit[:60]!r}, and its question {question[:60]!r} does not say so"
    yield from _about_privacy(document)
    assurance = _part(document, "assurance")
    sure = _texts(assurance.get("columns"))
    if sure is not None and listed is not None and [name for name in listed if name in ASSURED] != sure:
        yield "its columns", "are not those of which it says how sure they are"
    confidence, promise = assurance.get("confidence"), assurance.get("promise")
    if isinstance(promise, str) and confidence is not None:
        told = _PERCENT.findall(promise)
        if told and percent_below(rational(confidence, "release")) not in told:
            yield "its confidence", f"is {confidence}, and its promise speaks of {told[0]} %"


def _about_privacy(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Hold the cost, and the error of geometric noise, against what each answer keeps, where that is one pair."""
    cost, mechanism, error = (_part(document, name) for name in ("cost", "mechanism", "expected_error"))
    if not isinstance(document.get("privacy"), Mapping):
        return
    privacy = guarantee_from_document(document["privacy"])
    if not isinstance(privacy, Privacy) or not privacy.single:
        return
    (pair,) = privacy.pairs
    if set(cost) == {"epsilon", "delta"}:
        epsilon, delta = (rational(cost[name], "release") for name in ("epsilon", "delta"))
        if epsilon < pair.epsilon or delta < pair.delta:
            yield "its cost", f"is {Cost(epsilon, delta)}, and each of its answers keeps {privacy}"
    stated = error.get("mean_absolute")
    geometric = set(mechanism) == {"kind"} and mechanism["kind"] == MeasurementKind.GEOMETRIC_NOISE
    if geometric and stated is not None and pair.ratio > 1:
        told = 2 * pair.ratio / (pair.ratio**2 - 1)  # the mean of |X| for geometric noise at ratio r
        if not told * (1 - _HARDLY) <= rational(stated, "release") <= told * (1 + _HARDLY):
            yield (
                "its expected error",
                f"is {float(stated):.4g}, and its noise at {privacy} is off by {float(told):.4g}",
            )


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name)
    return found if isinstance(found, Mapping) else {}


def _texts(value: Any) -> list[str] | None:
    return list(value) if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value) else None
