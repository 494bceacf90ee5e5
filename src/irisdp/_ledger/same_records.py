"""Which versions of the data a question reads the same of, once the owner recorded that records stayed as they were.

A table that gets a column has another digest, so its old questions would be drawn and charged again. The owner can
record that a new version holds the records of an earlier one in all columns but some (`column_changes`). A question
that uses none of these reads the same of both versions: it finds the answers about the earlier one, and builds on them.

A question about persons may keep some records of each, drawn by a hash of all that a record holds, new columns too. Its
stored answers are found, but nothing is built on them: its true answer may be another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .entries import ChargedAnswer, find_settlement, hash_of, read_same_records
from .store import LedgerTransaction

_OF_NO_COLUMN = ("reader", "relation", "mechanism", "privacy", "values", "unit_rule")
"""Facts of a question whose text is Iris's own; the column of `unit_rule` is that of `unit`."""
_STRUCTURED = ("columns", "derived", "types")
"""Facts of a question whose keys are names of columns."""
_QUOTING = re.compile(r"[\s\"'`\\]+")


def versions_of(rows: LedgerTransaction, fingerprint: str, question: str) -> list[str]:
    """Return the versions of the data that a question reads the same of, the given one first.

    Parameters
    ----------
    rows : LedgerTransaction
    fingerprint : str
        The version that is asked about.
    question : str
        The question as canonical JSON.
    """
    same = read_same_records(rows)
    versions = [fingerprint]
    if fingerprint not in same:  # as nearly always
        return versions
    asked = _questions(question)
    while (of := same.get(versions[-1])) is not None and of["version"] not in versions and _reads_both(asked, of):
        versions.append(of["version"])
    return versions


def find_answer(rows: LedgerTransaction, versions: Iterable[str], question: str) -> ChargedAnswer | None:
    """Return the stored answers to a question about one of these versions, or None."""
    question_hash = hash_of(question)
    found = (find_settlement(rows, version, question_hash) for version in versions)
    return next((answer for answer in found if answer is not None), None)


def version_to_charge(versions: list[str], question: str) -> str:
    """Return the version under which a question is charged, on whose releases it may build."""
    chooses = any(asked.get("unit") is not None for asked in _questions(question))
    return versions[0] if len(versions) == 1 or chooses else versions[-1]


def names_column(question: str, column: str) -> bool:
    """Tell whether a question may name a column: true too where only a text in it looks like the name.

    Examples
    --------
    >>> names_column('{"columns": {"pay": "untyped"}, "query": {"expression": "pay > 3"}}', "Pay")
    True
    >>> names_column('{"columns": {"pay": "untyped"}, "query": {"expression": "pay > 3"}}', "payee")
    False
    """
    return _is_named(column, "\n".join(_texts(_read(question))))


def _questions(text: str) -> list[Mapping[str, Any]]:
    """Return the parts of a question: of a batch, each question."""
    document = _read(text)
    parts = document.get("batch", [document]) if isinstance(document, Mapping) else []
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _reads_both(asked: list[Mapping[str, Any]], of: Mapping[str, Any]) -> bool:
    """Tell whether questions read the same records, in the same way, of a version and of the one it is the same as."""
    text = "\n".join(each for part in asked for each in _texts(part))
    return (
        bool(asked)
        and all((part.get("text", {}), part.get("reader")) == (of["text"], of["reader"]) for part in asked)
        and not any(_is_named(name, text) for name in of["except"])
    )


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _texts(value: Any, fact: str = "") -> Iterator[str]:
    """Yield all text in which a question can name a column."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if fact in _STRUCTURED:
                yield name
            if name not in _OF_NO_COLUMN and not (fact == name == "query"):
                yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value


def _is_named(column: str, text: str) -> bool:
    """Tell whether a name stands in a text, in any case and quoted in any way."""
    name, text = (_QUOTING.sub(" ", part).strip().casefold() for part in (column, text))
    if not name:
        return True  # of quotes alone: who knows
    start, end = (r"(?<!\w)" if re.match(r"\w", name) else ""), (r"(?!\w)" if re.search(r"\w\Z", name) else "")
    return re.search(f"{start}{re.escape(name)}{end}", text) is not None
