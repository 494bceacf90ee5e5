"""A ledger moves from a file to a server or back, whole: every rational, answer and line of its history, as they are.

Two copies would be two budgets. So the first ledger is closed before anything is written elsewhere: its history says
where it went, and from then on it answers nothing and takes nothing. Killed in between, it stays closed, and the same
move is simply asked for again. The second ledger opens with all that was copied, in one transaction.
"""

from __future__ import annotations

from typing import Any

from ..errors import BadInput, PromiseRefused
from .ledger_history import check_history, prepare, record, release_row, settlement_row
from .ledger_rows import read_object
from .ledger_store import Rows, Store
from .ledger_tables import VERSION, count_in, currency_of, is_current

__all__ = ["begin", "move", "moved_to", "refuse_moved"]

_LINES = ("id", "event", "hash")


def moved_to(rows: Rows) -> str | None:
    """Return where a ledger went; None for one that is open."""
    if rows.version() < VERSION:
        return None
    last = rows.find("SELECT event FROM history ORDER BY id DESC LIMIT 1")
    told = read_object(last[0][0]) if last else {}
    return str(told.get("to")) if told.get("event") == "moved" else None


def begin(rows: Rows, name: str) -> None:
    """Begin to change a ledger: its history begins where it has none, and one that went elsewhere is refused."""
    prepare(rows)
    refuse_moved(rows, name)


def refuse_moved(rows: Rows, name: str) -> None:
    """Refuse to write to a ledger that went elsewhere.

    Raises
    ------
    PromiseRefused
        It says where the ledger is now.
    """
    place = moved_to(rows)
    if place is not None:
        raise PromiseRefused(
            f"{name} was moved, and its budget is spent elsewhere; name the ledger that it was moved to: {place}",
            differs=["ledger"],
            pinned={"ledger": place},
        )


def move(source: Store, target: Store, place: str) -> int:
    """Close a ledger and open it anew elsewhere; return how many releases were carried over.

    Parameters
    ----------
    source, target : Store
        The ledger, and where it goes: nothing may be there yet, or what an earlier call for the same move left.
    place : str
        What the target is called.

    Raises
    ------
    BadInput
        Where there is no ledger, or one in the target's place; where the history does not hold.
    PromiseRefused
        For a ledger that went elsewhere before.
    """
    if source == target:
        raise BadInput("copy_to", "is the ledger itself", "name another place")
    if not source.exists():
        raise BadInput("ledger", f"there is no ledger {source.name}", "name one that is there")
    _check_free(source, target)
    target.write(lambda rows: None)  # made while nothing is closed yet: where it cannot be, all stays as it is

    def close(rows: Rows) -> None:
        prepare(rows)
        if not is_current(rows):
            rule = f"{source.name} was written by irisdp 0.1, and promises nothing yet"
            raise BadInput("ledger", rule, "publish with it once, or pin its promise, and move it then")
        if moved_to(rows) == place:
            return  # by an earlier call, which was killed before it was done
        refuse_moved(rows, source.name)
        _check_sound(rows, source.name)
        _check_letters(rows)
        record(rows, "moved", {"to": place})

    source.write(close)
    with source.reading() as rows:
        kept = _whole(rows)

    def open_there(rows: Rows) -> None:
        if _head(rows) != [] and rows.find("SELECT 1 FROM history WHERE hash = ?", (kept["history"][-1][2],)):
            return  # by an earlier call, whose answer was lost
        _write(rows, kept, target.name)
        record(rows, "arrived", {"from": source.name})

    target.write(open_there)
    with target.reading() as rows:
        _check_sound(rows, target.name)
    return len(kept["release"])


def _check_free(source: Store, target: Store) -> None:
    """Refuse a target that holds anything but what this move wrote."""
    if not target.exists():
        return
    with source.reading() as rows:
        left = _head(rows) if moved_to(rows) is not None else []
    with target.reading() as rows:
        empty = not any(rows.find(f"SELECT 1 FROM {table} LIMIT 1") for table in ("budget", "settlement", "history"))
        if not empty and not (left and rows.find("SELECT 1 FROM history WHERE hash = ?", (left[0][0],))):
            rule = f"{target.name} is a ledger already, and two budgets cannot become one"
            raise BadInput("copy_to", rule, "name a place where none is")


def _whole(rows: Rows) -> dict[str, list[tuple[Any, ...]]]:
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


def _write(rows: Rows, kept: dict[str, list[tuple[Any, ...]]], name: str) -> None:
    if _head(rows) or not count_in(rows, kept["currency"][0][0]):
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


def _check_letters(rows: Rows) -> None:
    """Refuse what a server cannot hold before anything is closed."""
    if any("\0" in cell for table in _whole(rows).values() for row in table for cell in row if isinstance(cell, str)):
        raise BadInput(
            "copy_to", "would have to hold text with NUL, which no server does", "leave the ledger where it is"
        )


def _check_sound(rows: Rows, name: str) -> None:
    problems = check_history(rows).problems
    if problems:
        rule = f"{name} has a history that does not hold: {problems[0]}"
        raise BadInput("ledger", rule, "find out who changed it, or restore it")


def _head(rows: Rows) -> list[tuple[Any, ...]]:
    return rows.find("SELECT hash FROM history ORDER BY id DESC LIMIT 1") if rows.version() >= VERSION else []
