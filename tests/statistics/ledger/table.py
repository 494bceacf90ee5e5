"""Every promise about a ledger, in a file and on a server: run what tries to break it, and print one table.

    table.py [--part]     a part of each row, in a few minutes; without it all, in about half an hour
    table.py --plans      plans that are killed and run again, by themselves

Each figure is what a script beside this one counted just now. The table also goes to build/reliability/ledgers.md. The
status is 1 where something does not hold. What a machine lacks (a server, namespaces, a disk of one's own) is said in
its place and counts as nothing that holds.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from machines import lacking as no_machines
from server_disk import lacking as no_disk
from server_power import compiler

from support.postgresql import lacking as no_server
from support.postgresql import started

PART = "--part" in sys.argv
PLANS = "--plans" in sys.argv
OUT = Path(f"build/reliability/{'plans' if PLANS else 'ledgers'}.md")
FILE, SERVER = "in a file", "on a server"
Found = tuple[str, bool]
"""A figure, and whether the promise holds."""


def tried(part: int, whole: int) -> int:
    return part if PART else whole


@dataclass(frozen=True)
class Trial:
    """A script with what it is told, and what its books say."""

    script: str
    told: tuple[object, ...]
    read: Callable[[dict[str, Any]], Found]
    placed: bool = True
    """Whether it is told first where the ledgers are; else it makes a place of its own."""
    lacking: Callable[[], str | None] = lambda: None


@dataclass(frozen=True)
class Row:
    promise: str
    target: str
    in_a_file: Trial | str
    on_a_server: Trial | str


def killed(books: dict[str, int]) -> Found:
    said = (
        f"{books['killed']} kills, {books['shown']} answers shown: {books['uncharged']} uncharged, at most"
        f" {books['most_unshown']} charged in vain a kill, {books['unshown']} in all, {books['lost']} of them not free"
    )
    wrong = books["uncharged"] + books["lost"] + books["unexplained"] + (books["most_unshown"] > 1)
    return said, not wrong and books["killed"] > 0 and books["shown"] > 0


def server_killed(books: dict[str, Any]) -> Found:
    said = (
        f"{books['server kills']} kills of the server with all its children and {books['client kills']} of clients,"
        f" {books['shown']} answers shown: {books['uncharged']} uncharged, {books['shown twice']} twice,"
        f" spent / limit at most {books['spent / limit, at most']:g}"
    )
    wrong = books["uncharged"] + books["shown twice"] + books["unexplained"]
    beyond = books["charged in vain, beyond one a kill"] > 0 or books["spent / limit, at most"] > 1
    return said, not wrong and not beyond and books["shown"] > 0


def batches_killed(books: dict[str, int]) -> Found:
    said = (
        f"{books['kills']} kills, {books['shown']} batches of three shown: {books['uncharged']} uncharged, at most"
        f" {books['most unshown']} charged in vain a kill"
    )
    wrong = books["uncharged"] + books["lost"] + books["inexact"] + (books["most unshown"] > 1)
    return said, not wrong and books["shown"] > 0


def plans_killed(found: dict[str, Any]) -> Found:
    books = found["as it is"]
    others = {name: books[f"other {name}"] for name in ("answers", "charges", "files")}
    said = (
        f"{books['kills']} kills of {books['runs']} runs of {found['questions']} questions, started"
        f" {books['starts']} times: {books['uncharged']} files uncharged, {books['not free']} not free when run again;"
        f" other than one run's: {', '.join(f'{count} {name}' for name, count in others.items())}"
    )
    wrong = sum(others.values()) + sum(books[name] for name in ("uncharged", "refused", "broken history", "not free"))
    seen = "unseeded" not in found or found["unseeded"]["other answers"] > 0
    return said, not wrong and found["fine"] and seen and 0 < books["kills"] < books["starts"]


def cut(books: dict[str, int]) -> Found:
    said = (
        f"{books['trials']} cuts, at every message, before and after the server sees it: {books['shown']} answered,"
        f" {books['refused']} refused, {books['uncharged']} uncharged, {books['charged twice']} charged twice"
    )
    wrong = books["uncharged"] + books["charged twice"]
    return said, not wrong and min(books["shown"], books["refused"]) > 0


def operations_failed(ways: dict[str, dict[str, int]]) -> Found:
    total = {name: sum(books[name] for books in ways.values()) for name in next(iter(ways.values()))}
    most = max(books["most_unshown"] for books in ways.values())
    said = (
        f"{total['trials']} trials in {len(ways)} ways: {total['refused']} refused, {total['killed']} killed,"
        f" {total['returned']} answered, {total['uncharged']} uncharged, at most {most} charged in vain"
    )
    return said, not (total["uncharged"] + total["lost"] + total["unexplained"]) and most <= 1


def disk_full(books: dict[str, int]) -> Found:
    said = (
        f"{books['trials']} amounts of room: {books['refused']} refused, {books['returned']} answered, the server"
        f" stopped {books['server stopped']} times, {books['shown']} answers shown, {books['uncharged']} uncharged"
    )
    return said, not books["uncharged"] + books["unexplained"] and min(books["refused"], books["returned"]) > 0


def power_lost(books: dict[str, int]) -> Found:
    said = f"{books['losses']} power losses at {books['moments']} moments: {books['lost']} commits lost"
    return said, not books["lost"] + books["unreadable"] + books["inexact"]


def server_power_lost(books: dict[str, int]) -> Found:
    said = (
        f"{books['cuts']} power losses, {books['files that lost something']} files that lost something,"
        f" {books['shown']} answers shown: {books['uncharged']} commits lost"
    )
    return said, not books["uncharged"] + books["inexact"] and books["files that lost something"] > 0


def crowded(found: dict[str, Any]) -> Found:
    said = (
        f"{found['answers to one question']} spenders: spent / limit {found['spent / limit']}, {found['answers']}"
        f" answers, {found['answers'] - found['different answers']} alike; one question asked by all at once: "
        f"{found['different answers to one question']} answer, {found['charges for one question']} charge"
    )
    once = (found["different answers to one question"], found["charges for one question"]) == (1, "1")
    same = found["answers"] == found["different answers"] > 0
    return said, once and same and found["spent / limit"] == "1" and not found["failed"]


def forked(found: dict[str, Any]) -> Found:
    holds = found == {"returned": True, "shown": 1, "settled": 2}
    return f"the child waits for its turn: {found['settled']} of 2 settled, {found['shown']} of 1 shown", holds


def two_machines(found: dict[str, Any]) -> Found:
    budget, wires = found["one budget"], found["wires"]
    said = (
        f"2 × 8 processes: spent / limit {budget['spent / limit']}, {budget['uncharged']} of {budget['answers']}"
        f" uncharged; {wires['cuts']} wires cut in silence, {wires['machines lost']} machines lost with them:"
        f" {wires['shown']} shown, {wires['uncharged']} uncharged, {wires['twice']} twice; the other machine waited"
        f" {wires['longest stall']:g} s at most, given up after 6"
    )
    wrong = budget["failed"] + budget["uncharged"] + wires["uncharged"] + wires["twice"] + wires["stalls"]
    return said, not wrong and wires["in vain"] <= 0 and budget["spent / limit"] == "1"


def at_rest(found: dict[str, Any]) -> Found:
    said = (
        f"{found['asked']} questions and {found['wrong']} wrong ones: the mark of a record found {found['found']} times"
        f" (a declared group {found['found of what is public']}), spent on what was wrong"
        f" {found['spent on what was wrong']}"
    )
    wrong = found["found"] or found["not as they should end"] or found["spent on what was wrong"] != "0"
    return said, not wrong and found["found of what is public"] > 0


ONE_MACHINE = "a file is for one machine: its locks do not reach further"
KILLS, CROWD = tried(40, 700), (tried(300, 1500), "inside", 16)
ROWS = [
    Row(
        "kill −9 of whoever spends, at any moment",
        "0 uncharged; at most one in vain a kill, free when asked again",
        Trial("kills.py", (KILLS, "after"), killed),
        Trial("kills.py", (KILLS, "after"), killed),
    ),
    Row(
        "kill −9 of whoever publishes batches",
        "0 uncharged; all answers or none",
        Trial("batches.py", (tried(4, 30), "after"), batches_killed),
        Trial("batches.py", (tried(4, 30), "after"), batches_killed),
    ),
    Row(
        "kill −9 of the server, and of its clients",
        "0 uncharged, none twice; spent never above the limit",
        "there is none",
        Trial("server.py", (tried(8, 120), tried(3, 50), "after"), server_killed, placed=False),
    ),
    Row(
        "each operation on the disk fails, or is the last; each message is cut",
        "0 uncharged; charged once, or refused",
        Trial("failures.py", ("after",), operations_failed),
        Trial("cuts.py", ("after",), cut, placed=False),
    ),
    Row(
        "disk full, read-only, hidden",
        "0 uncharged",
        Trial("limits.py", (), operations_failed),
        Trial("server_disk.py", (tried(1 << 17, 1 << 14), "after"), disk_full, placed=False, lacking=no_disk),
    ),
    Row(
        "power loss",
        "0 commits lost",
        Trial("power.py", (), power_lost),
        Trial(
            "server_power.py",
            (tried(4, 60), "on"),
            server_power_lost,
            placed=False,
            lacking=lambda: None if compiler() else "needs a C compiler",
        ),
    ),
    Row(
        "16 processes × 64 threads and 64 forks on one budget",
        "spent / limit ≤ 1; no two answers alike; one answer and one charge a question",
        Trial("crowd.py", CROWD, crowded),
        Trial("crowd.py", CROWD, crowded),
    ),
    Row(
        "a fork in the middle of a settlement",
        "both settle",
        Trial("fork.py", ("with",), forked),
        Trial("fork.py", ("with",), forked),
    ),
    Row(
        "two machines on one budget, and wires that go dead",
        "spent / limit ≤ 1; 0 uncharged; the other machine goes on",
        ONE_MACHINE,
        Trial("machines.py", (tried(2, 24), "with"), two_machines, placed=False, lacking=no_machines),
    ),
    Row(
        "bad input; no record at rest",
        "0 spent; 0 found in output, files, tables and logs",
        Trial("at_rest.py", (), at_rest),
        Trial("at_rest.py", ("server",), at_rest, placed=False),
    ),
]

ROWS_OF_PLANS = [
    Row(
        "kill −9 of a plan of 40 questions, run again until it is done",
        "answers, charges and files of one run; 0 uncharged; free once more",
        Trial("plans.py", (tried(2, 30),), plans_killed),
        Trial("plans.py", (tried(2, 30),), plans_killed),
    )
]


@contextmanager
def somewhere(where: str) -> Iterator[str]:
    """A folder in memory that everybody may look into, or a new schema on a server of the table's own."""
    if where == SERVER:
        with started() as server:
            yield server.address()
        return
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        Path(place).chmod(0o755)
        yield place


def run(trial: Trial, where: str) -> Found:
    """Run a script and read its books; one that fails does not hold."""
    missing = (no_server() if where == SERVER else None) or trial.lacking()
    if missing:
        return f"not tried: {missing}", False
    with somewhere(where if trial.placed else FILE) as place:
        told = (*((place,) if trial.placed else ()), *trial.told)
        command = [sys.executable, str(Path(__file__).with_name(trial.script)), *map(str, told)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{trial.script} failed: {done.stderr.strip().splitlines()[-1:]}", False
    return trial.read(json.loads(done.stdout))


def main() -> int:
    lines = ["| promise | target | in a file | on a server |", "|---|---|---|---|"]
    broken, begun, rows = 0, time.monotonic(), ROWS_OF_PLANS if PLANS else ROWS
    for row in rows:
        cells = []
        for where, trial in ((FILE, row.in_a_file), (SERVER, row.on_a_server)):
            if isinstance(trial, str):
                cells.append(f"– ({trial})")
                continue
            since = time.monotonic()
            figure, holds = run(trial, where)
            broken += not holds
            cells.append(figure if holds else f"**does not hold**: {figure}")
            print(
                f"{time.monotonic() - since:6.0f} s  {row.promise}, {where}: {cells[-1]}", file=sys.stderr, flush=True
            )
        lines.append(f"| {row.promise} | {row.target} | {' | '.join(cells)} |")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    print(f"{len(rows)} promises in {(time.monotonic() - begun) / 60:.0f} minutes; {broken} do not hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
