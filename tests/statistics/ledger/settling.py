"""What the scripts beside this file have in common: a question, a child that asks, and the books afterwards."""

import hashlib
import importlib
import os
import select
import signal
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path

from irisdp import ChargedAnswer, Cost, IrisError, Ledger, LedgerEntry, LedgerScope
from irisdp._ledger.entries import read_spent
from irisdp._ledger.releases import list_releases

TOKEN = 16
"""Bytes of an answer that are enough to tell it from every other."""
COST = Cost(Fraction(1, 10))
PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit=None)
RETURNED, REFUSED, UNEXPLAINED = 0, 3, 4
"""How a child ends: its question was settled, an error of ours said no, or anything else happened."""


def ask(path: Path, number: int, drawn: Callable[[bytes], object] = bytes, size: int = TOKEN) -> ChargedAnswer:
    """Settle question `number`; `drawn` sees a fresh answer before it is committed."""

    def draw(earlier: object, price: object) -> list[LedgerEntry]:
        answer = os.urandom(size)
        drawn(answer)
        return [LedgerEntry(cost=COST, answers=answer)]

    return Ledger(path).settle(
        query=f"question {number}", question=f"{number}", fingerprint="data", promise=PROMISE, cost=COST, draw=draw
    )


def answer(path: Path, number: int, size: int = TOKEN) -> bytes:
    """Settle question `number` and return the answer."""
    return ask(path, number, size=size).entries[0].answers


def stored(path: Path, number: int) -> bytes | None:
    """Return the answer on the disk, drawing none."""
    try:
        return ask(path, number, _refuse).entries[0].answers
    except LookupError:
        return None


def at_one_moment(book: Ledger) -> tuple[list[bytes], bool]:
    """Return the tokens that a ledger holds, and whether what is spent is what they cost.

    Both are of one moment: a server may finish what it was told by a client that is dead by now.
    """
    with book.store.reading() as rows:
        tokens = [release.answers[:TOKEN] for release in list_releases(book.store, rows)]
        return tokens, read_spent(rows) == COST * len(tokens)


def _refuse(answer: bytes) -> None:
    raise LookupError


class Schemas:
    """Stands for a folder where the ledgers are on a server: each name in it is a schema."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __truediv__(self, name: str) -> str:
        own = hashlib.sha256(f"{self._address} {name}".encode()).hexdigest()
        return f"{self._address.rpartition('schema=')[0]}schema=l_{own[:16]}"


def import_before_forks() -> None:
    """Import what publishing imports when it first needs it, or each forked process would; open no engine."""
    for slow in ("duckdb", "narwhals", "pyarrow.parquet", "sqlglot.dialects.duckdb"):
        importlib.import_module(slow)
    from pyarrow import table

    from irisdp import plan_batch

    questions = [{"query": "count", "expression": "a > 0"}]
    plan_batch({"budget": {"epsilon": 1}, "questions": questions}, data=table({"a": [1]}))


def folder_of(text: str) -> Path | Schemas:
    """Return where ledgers are made: a folder, or schemas of the server that an address names."""
    return Schemas(text) if text.startswith("postgresql:") else Path(text)


class Child:
    """A forked process that does some work and shows answers to this one, until it ends or is killed."""

    def __init__(self, work: Callable[[Callable[[bytes], object]], object]) -> None:
        reading, writing = os.pipe()
        self.id = os.fork()
        if self.id == 0:
            status = UNEXPLAINED
            try:
                work(lambda answer: os.write(writing, answer[:TOKEN]))
                status = RETURNED
            except IrisError:
                status = REFUSED
            finally:
                os._exit(status)
        os.close(writing)
        self._reading = reading

    def wait(self, seconds: float) -> None:
        """Wait until it has shown an answer, for so many seconds at most."""
        select.select([self._reading], [], [], seconds)

    def kill(self) -> None:
        os.kill(self.id, signal.SIGKILL)

    def end(self) -> tuple[int, list[bytes]]:
        """Wait for it; return how it ended (negative: the signal) and the answers it showed."""
        with os.fdopen(self._reading, "rb") as pipe:
            shown = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(self.id, 0)[1])
        return status, [shown[start : start + TOKEN] for start in range(0, len(shown), TOKEN)]


@dataclass
class Books:
    """What a campaign of failures did, in numbers."""

    trials: int = 0
    returned: int = 0
    refused: int = 0
    killed: int = 0
    unexplained: int = 0
    shown: int = 0
    uncharged: int = 0
    """Answers shown that no row on the disk pays for."""
    unshown: int = 0
    """Answers charged but not shown."""
    most_unshown: int = 0
    """The most of those in one trial."""
    lost: int = 0
    """Of those, the ones that asking again did not bring back free of charge."""

    def enter(self, path: Path, first: int, status: int, shown: list[bytes]) -> int:
        """Compare a finished child, which asked questions `first`, `first + 1`, …, with the disk; return the next."""
        self.trials += 1
        self.returned += status == RETURNED
        self.refused += status == REFUSED
        self.killed += status == -signal.SIGKILL
        self.unexplained += status not in (RETURNED, REFUSED, -signal.SIGKILL)
        self.shown += len(shown)
        self.uncharged += sum(
            not (stored(path, first + index) or b"").startswith(token) for index, token in enumerate(shown)
        )
        charged = int(Ledger(path).spent.epsilon / COST.epsilon) - first
        unshown = max(0, charged - len(shown))
        self.unshown += unshown
        self.most_unshown = max(self.most_unshown, unshown)
        if unshown:
            again = ask(path, first + len(shown))
            self.lost += not again.repeated or Ledger(path).spent != COST * (first + charged)
        return first + charged

    def to_document(self) -> dict[str, int]:
        return {each.name: getattr(self, each.name) for each in fields(self)}
