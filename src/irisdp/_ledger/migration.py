"""A ledger moves from a file to a server or back, whole: every rational, answer and line of its history, as they are.

Two copies would be two budgets, and an empty ledger in the new place would be a budget of its own. So the new place is
reserved first, and accepts nothing but this move. Then the first ledger is closed: its history names the new place, and
from then on it gives and accepts no answers. Then the second opens with all copied rows, in one transaction. After an
interruption, run the same move again. It continues if the reserved place still exists; a place of the same name on
another machine would be another budget and is refused.

A ledger may come back to a place that it left. What lies there is closed, and its whole history is the beginning of the
one that comes: so nothing is lost when it is replaced, and nothing older is opened. Until then it stays closed: it is
reserved by one more line of its history, and replaced in the transaction that opens it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from ..errors import BadInput, ScopeRefused
from .entries import read_object
from .history import check_history, prepare, record, release_row, settlement_row
from .store import VERSION, LedgerStore, LedgerTransaction, count_in, currency_of, is_current

_LINES = ("id", "event", "hash")
_TABLES = ("output", "release", "settlement", "promise", "budget", "history")
"""All that hold rows of a ledger; those that refer to others come before them."""


def whereabouts(rows: LedgerTransaction) -> dict[str, str]:
    """Return where a ledger went (`moved_to`), or which one it `awaits`; nothing for one that is open."""
    told = _last(rows)
    if told.get("event") == "awaits":
        return {"awaits": str(told.get("from"))}
    place = _place_in(told)
    return {} if place is None else {"moved_to": place}


def closing(rows: LedgerTransaction) -> str:
    """Say in words that nothing can be spent from a ledger, and why; nothing for one that is open."""
    told = whereabouts(rows)
    if "awaits" in told:
        return f"; nothing is left: it awaits the ledger {told['awaits']}"
    return f"; nothing is left: it was moved to {told['moved_to']}" if told else ""


def _place_in(told: Mapping[str, Any]) -> str | None:
    """Return where a ledger moved, by its last line; None if it did not move."""
    return str(told.get("to")) if told.get("event") == "moved" else None


def begin(rows: LedgerTransaction, name: str) -> None:
    """Begin to change a ledger: its history begins where it has none, and one that went elsewhere is refused."""
    prepare(rows)
    refuse_moved(rows, name)


def refuse_moved(rows: LedgerTransaction, name: str) -> None:
    """Refuse to write to a ledger that went elsewhere, and to a place that awaits one.

    Raises
    ------
    ScopeRefused
        It says where the ledger is now.
    """
    told = _last(rows)
    place = _place_in(told)
    if place is not None:
        raise ScopeRefused(
            f"{name} was moved, and its budget is spent elsewhere; name the ledger that it was moved to: {place}",
            differs=["ledger"],
            pinned={"ledger": place},
        )
    if told.get("event") == "awaits":
        source = str(told.get("from"))
        raise ScopeRefused(
            f"{name} awaits the ledger {source}, which is being moved to it, and takes nothing else; ask for the same"
            " move again, and it will be finished",
            differs=["ledger"],
            pinned={"ledger": source},
        )


def move(source: LedgerStore, target: LedgerStore, place: str) -> int:
    """Close a ledger and open it in another place; return how many releases were carried over.

    Parameters
    ----------
    source, target : Store
        The ledger and its new place. The new place must be empty, or be left from an earlier move of this ledger or an
        interrupted call of the same move.
    place : str
        What the target is called.

    Raises
    ------
    BadInput
        Where there is no ledger, or one in the target's place; where the history does not hold; where what an earlier
        call reserved is not there any more.
    ScopeRefused
        For a ledger that went elsewhere before.

    On a server only the ledger's owner may move it.
    """
    if source == target:
        raise BadInput("copy_to", "is the ledger itself", "name another place")
    if not source.exists():
        raise BadInput("ledger", f"there is no ledger {source.name}", "name one that is there")
    with source.reading() as rows:
        _check_ready(rows, source.name)
        told, lines = _last(rows), _hashes(rows)
        begun = _place_in(told) == place
        if not begun:
            refuse_moved(rows, source.name)
    # Closing needs the right to change the limit: others than the owner write to a server's ledger too.
    source.write(lambda rows: rows.change("UPDATE budget SET id = 1 WHERE id = 0"))
    if begun:
        token = told.get("token")
        _check_reserved(target, token, lines)
    else:
        asked = {"from": source.name, "first": lines[:1]}
        token = target.write(lambda rows: _reserve(rows, asked, lines, target.name))

    def close(rows: LedgerTransaction) -> None:
        prepare(rows)
        last = _last(rows)
        if _place_in(last) == place and last.get("token") == token:
            return  # by an earlier call, which was killed before it was done
        refuse_moved(rows, source.name)
        _check_ready(rows, source.name)  # others may have written since it was read
        record(rows, "moved", {"to": place, "token": token})

    source.write(close)
    with source.reading() as rows:
        kept = _whole(rows)

    def open_there(rows: LedgerTransaction) -> None:
        lines = [line[-1] for line in kept["history"]]
        if _holds(rows, lines):
            return  # by an earlier call, whose answer was lost
        if not _is_reserved(rows, token, lines):
            raise _not_reserved(target.name)
        for table in _TABLES:
            rows.change(f"DELETE FROM {table}")
        _write(rows, kept, target.name)
        record(rows, "arrived", {"from": source.name})

    target.write(open_there)
    with target.reading() as rows:
        _check_sound(rows, target.name)
    return len(kept["release"])


def _check_ready(rows: LedgerTransaction, name: str) -> None:
    """Refuse what cannot be moved before anything is written anywhere."""
    if not is_current(rows):
        rule = f"{name} was written by irisdp 0.1, and promises nothing yet"
        raise BadInput("ledger", rule, "publish with it once, or set its relation, and then move it")
    _check_sound(rows, name)
    _check_letters(rows)


def _reserve(rows: LedgerTransaction, source: Mapping[str, Any], lines: list[str], name: str) -> str:
    """Keep a place for this move, and return the word by which it is known; the same for a move begun before.

    The place is empty, or holds what a ledger of these lines was when it was moved away from there.
    """
    told = _last(rows)
    if told.get("event") == "awaits" and source.items() <= told.items() and _is_reserved(rows, told["token"], lines):
        return str(told["token"])
    if any(rows.find(f"SELECT 1 FROM {table} LIMIT 1") for table in _TABLES) and not _left_here(rows, lines):
        rule = f"{name} is a ledger already, and two budgets cannot become one"
        raise BadInput("copy_to", rule, "name a place where none is, or one that this ledger was moved away from")
    for table in _TABLES:
        rows.change(f"DELETE FROM {table} WHERE 1 = 0")  # who may not, must not find out once the other is closed
    token = secrets.token_hex(16)
    record(rows, "awaits", {**source, "token": token})
    return token


def _left_here(rows: LedgerTransaction, lines: list[str]) -> bool:
    """Tell whether what is here is closed, unchanged, and the beginning of a ledger whose history has these lines."""
    return _place_in(_last(rows)) is not None and _begins(_hashes(rows), lines) and not check_history(rows).problems


def _begins(first: list[str], lines: list[str]) -> bool:
    return lines[: len(first)] == first


def _is_reserved(rows: LedgerTransaction, token: Any, lines: list[str]) -> bool:
    """Tell whether a place awaits this move, and holds nothing that a history of these lines does not go on from."""
    told = _last(rows)
    return told.get("event") == "awaits" and told.get("token") == token and _begins(_hashes(rows)[:-1], lines)


def _check_reserved(target: LedgerStore, token: Any, lines: list[str]) -> None:
    """Refuse to go on with a move whose place is not there: it may be a budget under another name by now."""
    if target.exists():
        with target.reading() as rows:
            if _is_reserved(rows, token, lines) or _holds(rows, lines):
                return
    raise _not_reserved(target.name)


def _not_reserved(name: str) -> BadInput:
    rule = f"{name} is not the place that this move began with, which may be a ledger elsewhere by now"
    return BadInput("copy_to", rule, "bring that back, or publish with the ledger that it has become")


def _hashes(rows: LedgerTransaction) -> list[str]:
    """Return the hashes of the lines of a history, in order."""
    return [line for (line,) in rows.find("SELECT hash FROM history ORDER BY id")]


def _holds(rows: LedgerTransaction, lines: list[str]) -> bool:
    """Tell whether a ledger was opened with a history of these hashes."""
    return bool(lines) and bool(rows.find("SELECT 1 FROM history WHERE hash = ?", (lines[-1],)))


def _last(rows: LedgerTransaction) -> Mapping[str, Any]:
    """Return the last line of a history; empty if there is none."""
    if rows.version() < VERSION:
        return {}
    stored = rows.find("SELECT event FROM history ORDER BY id DESC LIMIT 1")
    return read_object(stored[0][0]) if stored else {}


def _whole(rows: LedgerTransaction) -> dict[str, list[tuple[Any, ...]]]:
    """Read all that stands in a ledger, by table, in order."""
    numbers = ", ".join(currency_of(rows).cost.__slots__)
    return {
        "currency": [(currency_of(rows),)],
        "budget": rows.find(f"SELECT id, {numbers} FROM budget"),
        "promise": rows.find("SELECT id, facts FROM promise"),
        "settlement": rows.find(f"SELECT {', '.join(settlement_row())} FROM settlement ORDER BY id"),
        "release": rows.find(f"SELECT {', '.join(release_row(rows))} FROM release ORDER BY id"),
        "output": rows.find("SELECT release, path FROM output ORDER BY rowid"),
        "history": rows.find(f"SELECT {', '.join(_LINES)} FROM history ORDER BY id"),
    }


def _write(rows: LedgerTransaction, kept: dict[str, list[tuple[Any, ...]]], name: str) -> None:
    if not count_in(rows, kept["currency"][0][0]):
        raise BadInput("copy_to", f"{name} is a ledger already", "name a place where none is")
    columns = {
        "budget": ("id", *currency_of(rows).cost.__slots__),
        "promise": ("id", "facts"),
        "settlement": settlement_row(),
        "release": release_row(rows),
        "output": ("release", "path"),
        "history": _LINES,
    }
    for table, names in columns.items():
        statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        for row in kept[table]:
            rows.change(statement, row)


def _check_letters(rows: LedgerTransaction) -> None:
    """Refuse what a server cannot hold before anything is closed."""
    if any("\0" in cell for table in _whole(rows).values() for row in table for cell in row if isinstance(cell, str)):
        raise BadInput(
            "copy_to", "would have to hold text with NUL, which no server does", "leave the ledger where it is"
        )


def _check_sound(rows: LedgerTransaction, name: str) -> None:
    problems = check_history(rows).problems
    if problems:
        rule = f"{name} has a history that does not hold: {problems[0]}"
        raise BadInput("ledger", rule, "find out who changed it, or restore it")
