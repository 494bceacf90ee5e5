"""What was done to a ledger, line by line, each with a hash of itself and of all before it.

Every change writes one line in its own transaction: a limit, what is pinned, a release with digests of its rows, where
answers go. Lines are only ever added. `check_history` follows the chain and compares what it says with what stands in
the tables: a row or line that was changed, removed, inserted or moved is named. Anyone who can write the ledger can
also write a new chain. So a second person keeps the last hash, the head: a chain without it has been replaced.

A ledger of an earlier format gets its first line, with digests of all that it holds, before anything is added to it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .store import HISTORY, VERSION, LedgerTransaction, added, currency_of, is_current, is_typed


def digest_of(row: Any) -> str:
    """Return SHA-256 of a row's cells in JSON, where bytes are in turn their SHA-256."""
    told = [hashlib.sha256(cell).hexdigest() if isinstance(cell, bytes) else cell for cell in row]
    return hashlib.sha256(json.dumps(told, ensure_ascii=True).encode()).hexdigest()


OWN_LINES = {
    "audiences": "limits of audiences",
    "periods": "limits of periods",
    "earlier_columns": "earlier columns",
    "same_records": "versions with the same records",
}
"""Facts that the owner alone sets, each by a line of its own, and what messages call them."""


def with_columns(facts: Mapping[str, Any], columns: Mapping[str, str], same: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return what is pinned once the table has other columns; those it had before stay allowed.

    Parameters
    ----------
    facts : mapping
        What is pinned.
    columns : mapping
        The kind of every column from now on.
    same : sequence
        Versions of the data, each with how it is the same as an earlier one (`same_records`).
    """
    result = {**facts, "columns": dict(columns)}
    before = [*facts.get("earlier_columns", ()), *([facts["columns"]] if "columns" in facts else ())]
    if earlier := [kinds for kinds in before if kinds != columns]:
        result["earlier_columns"] = earlier
    else:
        result.pop("earlier_columns", None)
    if same:
        result["same_records"] = {**facts.get("same_records", {}), **{version: of for version, of in same}}
    return result


def fixed_columns(facts: Mapping[str, Any], columns: Mapping[str, str]) -> list[str]:
    """Return which columns say what is protected, and are gone or of another type among some others.

    These are the column of persons, the public ones, and the one that divides the table into partitions.
    """
    partition = facts.get("partition") or {}
    names = [facts.get("unit"), *(facts.get("public_columns") or ()), partition.get("column")]
    return [
        name
        for name in dict.fromkeys(names)
        if isinstance(name, str) and not _kinds_of(name, facts["columns"]) <= _kinds_of(name, columns)
    ]


def _kinds_of(name: str, columns: Mapping[str, str]) -> set[str]:
    return {kind for other, kind in columns.items() if other.casefold() == name.casefold()}


def same_column(name: str, columns: Mapping[str, str]) -> str | None:
    """Return how some columns spell a name, whose case does not matter; None if none has it."""
    return next((other for other in columns if other.casefold() == name.casefold()), None)


def _forbidden(number: int, facts: Mapping[str, Any], columns: Mapping[str, str]) -> Iterator[str]:
    """Yield what no line may change: columns before they are pinned, and those that say who is whose neighbour."""
    if not isinstance(facts.get("columns"), dict):
        yield f"line {number} of the history changes columns that were not pinned"
        return
    for name in fixed_columns(facts, columns):
        yield f"line {number} of the history changes the column {name}, which says what is protected"


# Check the lines of a history, and what they state together about the ledger.
#
# Lines are only ever added, so the statement of one line about a row or a limit is final. No later line may contradict
# it, and only the first may accept rows without a line of their own. After a ledger has moved, only its new place
# continues.

_NUMBER = re.compile(r"[0-9./]+")
"""How numbers are spelt in a ledger; what they are is the tables' matter."""


class ReplayedState:
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
                for fact in told["facts"].keys() & OWN_LINES.keys() - (self.facts or {}).keys():
                    yield f"line {number} of the history pins {OWN_LINES[fact]} with other facts"
                self.facts = told["facts"]
            case "audiences" | "periods":
                self.facts = {**(self.facts or {}), event: told[event]}
            case "columns":
                yield from _forbidden(number, self.facts or {}, told["columns"])
                self.facts = with_columns(self.facts or {}, told["columns"], told["same"])
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
    result: dict[str, Any] = told
    return result


def _is_columns(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(name, str) for name in value))


def _is_limit(value: Any) -> bool:
    numbers = value.values() if isinstance(value, dict) else ()
    return bool(numbers) and all(isinstance(number, str) and _NUMBER.fullmatch(number) for number in numbers)


def _are_limits(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_limit, value.values()))


def _is_facts(value: Any) -> bool:
    return isinstance(value, dict)


def _are_kinds(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(kind, str) for kind in value.values())


def is_same_as(value: Any) -> bool:
    """Tell whether this says how a version of the data is the same as another (`same_records`)."""
    shape = {"version": str, "except": list, "text": dict, "reader": str}
    return (
        isinstance(value, dict)
        and value.keys() == shape.keys()
        and all(isinstance(value[name], kind) for name, kind in shape.items())
        and all(isinstance(name, str) for name in value["except"])
    )


def _are_same_versions(value: Any) -> bool:
    pairs = value if isinstance(value, list) else [value]
    return all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and is_same_as(pair[1]) for pair in pairs
    )


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
    "columns": {"columns": _are_kinds, "same": _are_same_versions},
    "periods": {"periods": _are_limits},
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
    "revoked": {"role": _is_text},
    "secret": {"name": _is_text},
}
"""By event, what a line must hold."""


_BEFORE_ALL = "irisdp ledger"
"""The hash before the first line."""
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class History:
    """What a check of a ledger's history found.

    Attributes
    ----------
    lines : int
        How many lines it has.
    head : str
        The hash of the last line, which identifies the whole chain; empty if there are no lines.
    problems : tuple of str
        What does not hold, a sentence each; none where all does. At most 20 are named.
    """

    lines: int
    head: str
    problems: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"lines": self.lines, "head": self.head, "problems": list(self.problems)}


def prepare(rows: LedgerTransaction) -> None:
    """Begin the history of a ledger without one before it is changed; a ledger of version 0.1 waits for its scope."""
    if is_current(rows) and rows.version() < VERSION:
        rows.change(HISTORY)
        rows.set_version(VERSION)
        adopt(rows)


def adopt(rows: LedgerTransaction) -> None:
    """Write down what stands in a ledger before its history."""
    state = _state(rows)
    releases, settlements, columns = state.pop("releases"), state.pop("settlements"), state.pop("columns")
    if releases or state["limit"]:  # one that has neither may count in something else yet
        state["counts"] = columns
    if any((releases, settlements, state["limit"], state["facts"], state["outputs"])):
        state["releases"] = [len(releases), digest_of(sorted(releases.items()))]
        state["settlements"] = [len(settlements), digest_of(sorted(settlements.items()))]
        state["outputs"] = [len(state["outputs"]), digest_of(state["outputs"])]
        record(rows, "adopted", state)


def record(rows: LedgerTransaction, event: str, told: Mapping[str, Any]) -> None:
    """Add a line to the history, in the transaction of the change; version 0.1 had none."""
    if not is_current(rows):
        return
    now = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps({"event": event, "at": now, **told}, sort_keys=True, ensure_ascii=True)
    last = rows.find("SELECT hash FROM history ORDER BY id DESC LIMIT 1")
    added(rows, "history", {"event": text, "hash": _linked(last[0][0] if last else _BEFORE_ALL, text)})


def secret_in_use(rows: LedgerTransaction) -> str | None:
    """Return the name of the secret that the ledger's owner rotated to last; None if that never happened."""
    if rows.version() < VERSION:
        return None
    asked = "SELECT event FROM history WHERE event LIKE ? ORDER BY id DESC LIMIT 1"
    return next((str(_read(text)["name"]) for (text,) in rows.find(asked, ('%"event": "secret"%',))), None)


def digests(rows: LedgerTransaction, settlement: int, releases: Sequence[int]) -> dict[str, Any]:
    """Return what the line of a release says of its rows."""
    found, (asked,) = _release_rows(rows, settlement), _settlement_rows(rows, settlement)
    told = {row[0]: digest_of(row) for row in found}
    return {
        "settlement": [settlement, digest_of(asked)],
        "releases": [[number, told[number]] for number in releases],
        "counts": _counts(rows),  # a digest does not say which columns it is of
    }


def check_history(rows: LedgerTransaction, head: str | None = None) -> History:
    """Follow the chain, and compare what it says with what stands in the tables.

    Parameters
    ----------
    rows : Rows
        One moment of the ledger.
    head : str, optional
        The last hash at some earlier time, as somebody kept it: the history must go on from there.
    """
    if rows.version() < VERSION:
        return History(
            0, "", () if head is None else ("the head that was kept is in no line: there is no history yet",)
        )
    lines = rows.find("SELECT id, event, hash FROM history ORDER BY id")
    problems = [*_chain(lines, head), *_replayed(rows, lines)]
    if not rows.is_intact():
        problems.append(
            "its file is damaged: an index, say, holds other rows than its table, and spending is read by it"
        )
    more = len(problems) - _MOST_NAMED
    named = (*problems[:_MOST_NAMED], f"and {more} more") if more > 0 else tuple(problems)
    return History(len(lines), str(lines[-1][2]) if lines else "", named)


def _chain(lines: Sequence[tuple[Any, ...]], head: str | None) -> Iterator[str]:
    before, seen = _BEFORE_ALL, set()
    for place, (number, text, digest) in enumerate(lines, start=1):
        if number != place:
            yield f"line {place} of the history is called {number}: one was removed, inserted or moved"
            break
        if digest != _linked(before, text):
            yield f"line {number} of the history was changed, or does not follow from those before it"
        before = digest
        seen.add(digest)
    if head is not None and head not in seen:
        yield "the head that was kept is in no line: the history was written anew, or is another one"


def _replayed(rows: LedgerTransaction, lines: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    """Yield where the tables are not what the lines make of them."""
    yield from _misfits(rows)
    state = _state(rows)
    told = ReplayedState(state)
    for number, text, _ in lines:
        try:
            line = read_line(text)
        except ValueError:
            yield f"line {number} of the history says nothing that is known"
        else:
            yield from told.follow(number, line)
    yield from _compared("release #", told.releases, state["releases"])
    yield from _compared("question ", told.settlements, state["settlements"])
    if told.limit != state["limit"]:
        yield f"the limit is {_said(state['limit'])}, and the history says {_said(told.limit)}"
    if told.facts != state["facts"]:
        yield "what is pinned is not what the history says"
    if told.outputs != state["outputs"]:
        yield "the files that answers were written to are not those that the history names"
    for number, question, digest in rows.find("SELECT id, question, question_hash FROM settlement ORDER BY id"):
        if not isinstance(question, str) or hashlib.sha256(question.encode()).hexdigest() != digest:
            yield f"question {number} is not the one that its hash is of"


def _misfits(rows: LedgerTransaction) -> Iterator[str]:
    """Yield which rows hold something of another kind than they do, which digests need not show."""
    for what, columns, digests in (
        ("release #", release_row(rows), _release_rows(rows)),
        ("question ", settlement_row(), _settlement_rows(rows)),
    ):
        for row in digests:
            if not is_typed(columns, row):
                yield f"{what}{row[0]} holds something of another kind than its column"


def _compared(what: str, told: Mapping[int, str], stored: Mapping[int, str]) -> Iterator[str]:
    for number in sorted(told.keys() | stored.keys()):
        if number not in stored:
            yield f"{what}{number} is gone"
        elif number not in told:
            yield f"{what}{number} is in no line of the history"
        elif told[number] != stored[number]:
            yield f"{what}{number} was changed"


def _state(rows: LedgerTransaction) -> dict[str, Any]:
    """Return the content of the tables: the limit and the scope, and digests of rows."""
    columns = _counts(rows)
    limit = rows.find(f"SELECT {', '.join(columns)} FROM budget")
    facts = rows.find("SELECT facts FROM promise") if is_current(rows) else []
    outputs = rows.find("SELECT release, path FROM output ORDER BY rowid") if is_current(rows) else []
    return {
        "columns": columns,
        "limit": dict(zip(columns, limit[0], strict=True)) if limit else None,
        "facts": _read(facts[0][0]) if facts else None,
        "settlements": {row[0]: digest_of(row) for row in _settlement_rows(rows)},
        "releases": {row[0]: digest_of(row) for row in _release_rows(rows)},
        "outputs": [list(row) for row in outputs],
    }


def _counts(rows: LedgerTransaction) -> list[str]:
    return list(currency_of(rows).cost.__slots__)


def settlement_row() -> tuple[str, ...]:
    """Return the columns of a settlement, in the order in which they are digested and copied."""
    return ("id", "settled", "query", "question", "question_hash", "fingerprint")


def release_row(rows: LedgerTransaction) -> tuple[str, ...]:
    """Return the columns of a release, likewise; the answers come last."""
    return ("id", "settlement", "audience", *currency_of(rows).cost.__slots__, "details", "answers")


def _settlement_rows(rows: LedgerTransaction, number: int | None = None) -> list[tuple[Any, ...]]:
    return _rows(rows, "settlement", settlement_row(), "id", number)


def _release_rows(rows: LedgerTransaction, settlement: int | None = None) -> list[tuple[Any, ...]]:
    return _rows(rows, "release", release_row(rows), "settlement", settlement)


def _rows(
    rows: LedgerTransaction, table: str, columns: Sequence[str], by: str, value: int | None
) -> list[tuple[Any, ...]]:
    where, values = ("", ()) if value is None else (f" WHERE {by} = ?", (value,))
    return rows.find(f"SELECT {', '.join(columns)} FROM {table}{where} ORDER BY id", values)


def _linked(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def _read(text: Any) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _said(limit: Mapping[str, str] | None) -> str:
    if limit is None:
        return "none"
    order = [*_CALLED, *sorted(limit.keys() - _CALLED)]  # lines of the history have theirs by the alphabet
    return ", ".join(f"{_CALLED.get(name, name)} = {limit[name]}" for name in order if name in limit)


_CALLED = {"epsilon": "ε", "delta": "δ", "mu_squared": "μ²", "rho": "ρ"}
