"""Feed every target with changed inputs and watch what takes them; print a table.

    run.py [--share 0.01] [--only NAME,…] [--seed N] [--jobs 2]

Each target runs in a process of its own, which writes down every input before it takes it. This one watches: an input
that takes more than five seconds of the processor, or ends the process, is a finding, and the process is started anew
behind it. So is whatever `targets.py` calls one. Findings are kept in build/fuzz, and the status is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import pickle
import random
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.changes import Pool, said
from fuzz.targets import MARK, TARGETS
from irisdp.errors import IrisError

HANG = 5
"""Seconds of the processor that one input may take."""
STUCK = 120
"""Seconds on the clock, for what waits instead of working; a busy machine makes others wait, too."""
MEMORY = 3 << 30
"""Bytes of address space that a process may take besides what it began with; the engine reserves much of it."""
MOST_FINDINGS = 40
OUT = Path("build/fuzz")


@dataclass
class Books:
    """What became of the inputs of one target."""

    inputs: int = 0
    taken: int = 0
    refused: int = 0
    messages: int = 0
    slowest: float = 0
    """Seconds of the processor."""
    grown: int = 0
    """Bytes that the process grew by, at most."""
    findings: list[tuple[str, str]] = field(default_factory=list)
    """Kind and input."""


def judged(take: Callable[[Any, Path], object], given: Any, folder: Path) -> tuple[str, str]:
    """Take an input; return what was said, and what is wrong with that."""
    try:
        found = take(given, folder)
    except IrisError as error:
        words = str(error)
        if "\n" in words:
            return words, "more than one line"
        if MARK in words and not _is_public(given):
            return words, "the mark of a record"
        return words, ""
    except MemoryError:
        return "memory", "MemoryError"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "", f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
    return found if isinstance(found, str) else "", ""


def _is_public(given: Any) -> bool:
    """Tell whether the mark has come into a name: a header, a schema, a question."""
    if isinstance(given, bytes):
        head = given.split(b"\n")[0].split(b"\r")[0]
        return MARK.encode() in head or not given.startswith(b"g,v,u\n")
    return MARK in str(given)


def feed(name: str, start: int, stop: int, seed: int, beside: Path) -> None:
    """Feed a target, in a process of its own, with the inputs from one number to another."""
    target, folder = TARGETS[name], beside / "work"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(beside / "last words", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    pool = Pool(target.seeds(folder))
    for one in pool.seeds:
        judged(target.take, one, folder)  # what is loaded once is loaded here
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    books = Books()
    with (beside / "now").open("wb", buffering=0) as now:
        for number in range(start, stop):
            chance = random.Random(f"{seed} {name} {number}")
            given = target.change(pool.pick(chance), pool.pick(chance), chance)
            now.seek(0)
            now.write(pickle.dumps((number, given)))
            since = time.process_time()
            words, wrong = judged(target.take, given, folder)
            took = time.process_time() - since
            books.inputs += 1
            books.taken += not words and not wrong
            books.refused += bool(words) and not wrong
            books.slowest = max(books.slowest, took)
            if took > HANG:
                wrong = wrong or f"took {took:.1f} s"
            if wrong:
                books.findings.append((f"{wrong}: {words[:200]}", repr(given)[:4000]))
            pool.hear(given, wrong or said(words))
            if number % 64 == 0 or len(books.findings) >= MOST_FINDINGS:
                _note(beside, books, pool, first)
            if len(books.findings) >= MOST_FINDINGS:
                break
    _note(beside, books, pool, first)
    os._exit(0)


def _note(beside: Path, books: Books, pool: Pool, first: int) -> None:
    books.messages = len(pool.heard)
    books.grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first) << 10
    (beside / "books~").write_bytes(pickle.dumps(books))
    (beside / "books~").replace(beside / "books")


def watch(name: str, number: int, seed: int) -> Books:
    """Run a target to its end, whatever its inputs do to the process; return the books of all."""
    whole, start = Books(), 0
    with tempfile.TemporaryDirectory() as place:
        beside = Path(place)
        while start < number and len(whole.findings) < MOST_FINDINGS:
            for file in ("now", "books"):
                (beside / file).unlink(missing_ok=True)
            process = multiprocessing.get_context("fork").Process(
                target=feed, args=(name, start, number, seed, beside), daemon=True
            )
            process.start()
            wrong = _waited(process, beside)
            with contextlib.suppress(FileNotFoundError):
                books = pickle.loads((beside / "books").read_bytes())
                whole.inputs += books.inputs
                whole.taken += books.taken
                whole.refused += books.refused
                whole.messages = max(whole.messages, books.messages)
                whole.slowest = max(whole.slowest, books.slowest)
                whole.grown = max(whole.grown, books.grown)
                whole.findings += books.findings
            if not wrong:
                break
            try:
                last, given = pickle.loads((beside / "now").read_bytes())
            except (OSError, EOFError, pickle.UnpicklingError):
                whole.findings.append((f"{wrong}, before any input", ""))
                break
            whole.findings.append((wrong, repr(given)[:4000]))
            start = last + 1
    return whole


def _waited(process: Any, beside: Path) -> str:
    """Wait for a process; return what was wrong, if anything, once it has ended."""
    last, since, used = b"", time.monotonic(), 0.0
    while process.is_alive():
        process.join(0.5)
        with contextlib.suppress(OSError):
            now = (beside / "now").read_bytes()[:64]
            work = sum(map(int, Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
            seconds = work / os.sysconf("SC_CLK_TCK")
            if now != last:
                last, since, used = now, time.monotonic(), seconds
            elif seconds - used > 2 * HANG or time.monotonic() - since > STUCK:
                process.kill()
                process.join()
                return f"no end after {seconds - used:.0f} s of the processor"
    if process.exitcode == 0:
        return ""
    words = (beside / "last words").read_text(errors="replace").strip().splitlines() if process.exitcode else []
    return f"ended the process ({process.exitcode}) {' '.join(words[-3:])[:300]}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    told = parser.parse_args(arguments)
    names = [name for name in TARGETS if told.only in ("", name) or name in told.only.split(",")]

    def fed(name: str) -> Books:
        books = watch(name, max(20, round(TARGETS[name].whole * told.share)), told.seed)
        kinds = sorted({kind.split(":")[0] for kind, _ in books.findings})
        print(f"{name}: {books.inputs:,} inputs, {len(books.findings)} findings {kinds}", file=sys.stderr, flush=True)
        return books

    with ThreadPoolExecutor(told.jobs) as several:
        found = dict(zip(names, several.map(fed, names), strict=True))
    print("| fed | inputs | taken | refused in one line | sentences | slowest (s) | grew by (MiB) | findings |")
    print("|---|---|---|---|---|---|---|---|")
    for name, books in found.items():
        print(
            f"| {name} | {books.inputs:,} | {books.taken:,} | {books.refused:,} | {books.messages} |"
            f" {books.slowest:.2f} | {books.grown >> 20} | {len(books.findings)} |"
        )
    wrong = sum(len(books.findings) for books in found.values())
    print(f"{sum(books.inputs for books in found.values()):,} inputs, {wrong} findings")
    for name, books in found.items():
        if books.findings:
            OUT.mkdir(parents=True, exist_ok=True)
            text = "\n".join(f"{kind}\n    {given}" for kind, given in books.findings)
            (OUT / f"{name}.txt").write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
