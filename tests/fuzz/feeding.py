"""Feeding a target in a process of its own: with what Atheris proposes, with blind changes, or with inputs at hand.

Every input is bytes and is written down before it is taken, so that whoever watches can tell which one hangs or ends
the process.
"""

import os
import pickle
import random
import resource
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from fuzz.changes import Pool, said
from fuzz.corpus import corpus_of
from fuzz.judging import Books, Finding, judged
from fuzz.target import Target, as_bytes

HANG = 5
"""Seconds of the processor that one input may take."""
MEMORY = 3 << 30
"""Bytes of address space that a process may take besides what it began with; the engine reserves much of it."""
MOST_FINDINGS = 40
LONGEST = {"bytes": 200_000, "text": 8_000, "words": 4_000}
"""Bytes of an input, by its form: the library takes longer texts, and changes of long documents take long."""
OWN_WAY = 0.5
"""How often a target's own changes are made, and not those of Atheris, which knows what was compared with what."""


class Feeder:
    """One target in this process: takes inputs, and keeps the books beside it."""

    def __init__(self, name: str, target: Target, start: int, stop: int, beside: Path, hang: float) -> None:
        self.target, self.start, self.stop, self.beside, self.hang = target, start, stop, beside, hang
        self.number, self.books = start, Books()
        self.folder = beside / "work"
        self.folder.mkdir(exist_ok=True)
        os.chdir(self.folder)
        os.environ["HOME"] = str(self.folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(beside / "last words", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        seeds = target.seeds(self.folder)
        for one in seeds[:stop]:
            judged(target, one, self.folder)  # what is loaded once is loaded here
        self.pool = Pool([*seeds, *map(target.of, corpus_of(name))])
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        self.first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.now = (beside / "now").open("wb", buffering=0)

    def take(self, data: bytes) -> None:
        """Take an input, judge and count it; end the process behind the last."""
        self.now.seek(0)
        self.now.write(pickle.dumps((self.number, data)))
        given = self.target.of(data)
        since = time.process_time()
        words, wrong = judged(self.target, given, self.folder)
        took = time.process_time() - since
        books, self.number = self.books, self.number + 1
        books.inputs += 1
        books.taken += not words and not wrong
        books.refused += bool(words) and not wrong
        books.slowest = max(books.slowest, took)
        books.seconds += took
        if took > self.hang:
            wrong = wrong or f"took {took:.1f} s"
        if wrong:
            books.findings.append(Finding(f"{wrong}: {words[:300]}", data))
        self.pool.hear(given, wrong or said(words))
        if self.number >= self.stop or len(books.findings) >= MOST_FINDINGS:
            self.end()
        elif wrong or self.number % 64 == 0:
            self.note()

    def note(self) -> None:
        """Write the books down, with what they count up to."""
        self.books.messages = len(self.pool.heard)
        self.books.grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.first) << 10
        (self.beside / "books~").write_bytes(pickle.dumps(self.books))
        (self.beside / "books~").replace(self.beside / "books")

    def end(self) -> NoReturn:
        self.note()
        os._exit(0)


def feed(name: str, target: Target, source: int | Sequence[bytes], guided: bool, *rest: object) -> None:
    """Feed a target from one number to another: with a seed, or the inputs themselves."""
    feeder = Feeder(name, target, *rest)  # type: ignore[arg-type]
    if not isinstance(source, int):
        for data in source[feeder.start :]:
            feeder.take(data)
    elif guided:
        _propose(name, feeder, source)
    else:
        for number in range(feeder.start, feeder.stop):
            chance = random.Random(f"{source} {name} {number}")
            feeder.take(as_bytes(target.change(feeder.pool.pick(chance), feeder.pool.pick(chance), chance)))
    feeder.end()


def _propose(name: str, feeder: Feeder, seed: int) -> None:
    """Let libFuzzer propose inputs: it keeps those that reach what none did before, and has them changed further."""
    import atheris

    target, pool = feeder.target, feeder.pool
    corpus = feeder.beside / "corpus"
    if not corpus.is_dir():
        corpus.mkdir()
        for number, one in enumerate(pool.seeds):
            (corpus / f"seed {number}").write_bytes(as_bytes(one))

    def change(data: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if target.form != "words" and chance.random() > OWN_WAY:
            return atheris.Mutate(data, len(data) + 64 if len(data) + 64 < most else most)
        return as_bytes(target.change(target.of(data), pool.pick(chance), chance))[:most]

    def cross(one: bytes, other: bytes, most: int, seed: int) -> bytes:
        return as_bytes(target.change(target.of(one), target.of(other), random.Random(seed)))[:most]

    words = {
        "runs": -1, "seed": zlib.crc32(f"{seed} {name} {feeder.start}".encode()) or 1, "max_len": LONGEST[target.form],
        "len_control": 0, "timeout": 1_000_000, "rss_limit_mb": 0, "malloc_limit_mb": 0, "detect_leaks": 0, "reload": 0,
        "verbosity": 0,
    }  # fmt: skip
    told = [sys.argv[0], *(f"-{key}={value}" for key, value in words.items()), f"-artifact_prefix={feeder.beside}/"]
    atheris.Setup([*told, str(corpus)], feeder.take, custom_mutator=change, custom_crossover=cross)
    atheris.Fuzz()
