"""What a line of a ledger's history may say, and what all of them together make of a ledger.

Lines are only ever added, so the statement of one line about a row or a limit is final. No later line may contradict
it, and only the first may accept rows without a line of their own. After a ledger was moved away only its new place
goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .ledger_digests import digest_of

__all__ = ["Told", "read_line"]


_NUMBER = re.compile(r"[0-9./]+")
"""How numbers are spelt in a ledger; what they are is the tables' matter."""


class Told:
    """What the lines of a history make of a ledger, followed one by one.

    Parameters
    ----------
    state : mapping
        What stands in the tables; its `columns` are those that the ledger counts in.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.limit: Any = None
        self.facts: Any = None
        self.settlements: dict[int, str] = {}
        self.releases: dict[int, str] = {}
        self.outputs: list[list[Any]] = []
        self._state = state
        self._columns = list(state["columns"])
        self._before: str | None = None

    def follow(self, number: int, told: Mapping[str, Any]) -> Iterator[str]:
        """Take in a line as `read_line` gives it; yield what is wrong with it, or with rows from before the history."""
        event, before = told["event"], self._before
        self._before = event
        yield from _misplaced(number, event, before)
        counts = told.get("counts") or list(told.get("limit") or self._columns)
        if sorted(counts) != sorted(self._columns):
            yield f"line {number} of the history counts in {', '.join(counts)}, and the tables do not"
        match event:
            case "limit":
                self.limit = told["limit"]
            case "promise":
                changed = [fact for fact, pinned in (self.facts or {}).items() if told["facts"].get(fact) != pinned]
                if changed:
                    yield f"what was pinned ({', '.join(changed)}) was changed later"
                if "audiences" in told["facts"] and "audiences" not in (self.facts or {}):
                    yield f"line {number} of the history pins limits of audiences with other facts"
                self.facts = told["facts"]
            case "audiences":
                self.facts = {**(self.facts or {}), "audiences": told["audiences"]}
            case "release":
                yield from _added(number, "question ", self.settlements, [told["settlement"]])
                yield from _added(number, "release #", self.releases, told["releases"])
            case "outputs":
                self.outputs += told["outputs"]
            case "adopted" if before is None:
                yield from self._adopt(told)

    def _adopt(self, told: Mapping[str, Any]) -> Iterator[str]:
        """Take rows from before the history for what they are, if their digest is the one that was written down."""
        self.limit, self.facts = told["limit"], told["facts"]
        for name, known in (("settlements", self.settlements), ("releases", self.releases)):
            count, digest = told[name]
            first = dict(sorted(self._state[name].items())[:count])
            if digest_of(sorted(first.items())) != digest:
                yield f"the {count} {name} from before the history are not what they were"
            known.update(first)
        count, digest = told["outputs"]
        if digest_of(self._state["outputs"][:count]) != digest:
            yield "the files that answers were written to before the history are not what they were"
        self.outputs += self._state["outputs"][:count]


def _misplaced(number: int, event: str, before: str | None) -> Iterator[str]:
    """Yield what is wrong with a line's place: where it cannot come after the one before it."""
    if event == "adopted" and before is not None:
        yield f"line {number} of the history takes rows for what they are, as only the first can"
    if event == "arrived" and before != "moved":
        yield f"line {number} of the history opens a ledger that was not moved"
    if before == "moved" and event not in ("arrived", "awaits"):
        yield f"line {number} of the history was added after the ledger had been moved"
    if before == "awaits":
        yield f"line {number} of the history was added where a ledger is awaited"


def _added(number: int, what: str, known: dict[int, str], told: list[tuple[int, str]]) -> Iterator[str]:
    for row, digest in told:
        if row in known:
            yield f"line {number} of the history tells of {what}{row} anew"
        else:
            known[row] = digest


def read_line(text: Any) -> dict[str, Any]:
    """Return what a line says.

    Raises
    ------
    ValueError
        For one that says nothing that is known.
    """
    try:
        told = json.loads(text)
        shape = _SHAPES[told["event"]]
        right = all(holds(told[name]) for name, holds in shape.items()) and _is_columns(told.get("counts"))
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ValueError from None
    if not right:
        raise ValueError
    found: dict[str, Any] = told
    return found


def _is_columns(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(name, str) for name in value))


def _is_limit(value: Any) -> bool:
    numbers = value.values() if isinstance(value, dict) else ()
    return bool(numbers) and all(isinstance(number, str) and _NUMBER.fullmatch(number) for number in numbers)


def _are_limits(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_limit, value.values()))


def _is_facts(value: Any) -> bool:
    return isinstance(value, dict)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_numbered(value: Any) -> bool:
    """Tell whether this is the number of a row, or of rows, and a text: a digest or a path."""
    return isinstance(value, list) and len(value) == 2 and type(value[0]) is int and isinstance(value[1], str)


def _is_counted(value: Any) -> bool:
    return _is_numbered(value) and value[0] >= 0


def _are_numbered(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_numbered, value))


def _or_none(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or holds(value)


_SHAPES: dict[str, dict[str, Callable[[Any], bool]]] = {
    "limit": {"limit": _is_limit},
    "promise": {"facts": _is_facts},
    "audiences": {"audiences": _are_limits},
    "release": {"settlement": _is_numbered, "releases": _are_numbered},
    "outputs": {"outputs": _are_numbered},
    "adopted": {
        "limit": _or_none(_is_limit),
        "facts": _or_none(_is_facts),
        **dict.fromkeys(("settlements", "releases", "outputs"), _is_counted),
    },
    "moved": {"to": _is_text},
    "awaits": {"from": _is_text},
    "arrived": {"from": _is_text},
}
"""By event, what a line must hold."""
