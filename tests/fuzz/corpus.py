"""The corpus: small inputs that between them reach what others reach, from which every run begins; and its renewal.

    corpus.py [--only NAME,…] [--share 0.2] [--jobs 2]

feeds each target under guidance, and of what its corpus holds by then keeps the fewest small files that reach every
step from line to line of src/irisdp which all of them reach, as long as there is room.
"""

import argparse
import gzip
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.target import ROOT, Target, as_bytes, slug

CORPUS = Path(__file__).parent / "corpus"
LARGEST = 4_096
"""Bytes of a file, as it is stored: what is mostly zeros, such as a ledger, is stored compressed."""
ROOM = 190_000
"""Bytes of all files."""
SHORT = 60
"""Files of a target, at most."""


def corpus_of(name: str) -> list[bytes]:
    """Return the inputs that are kept for a target."""
    return [read(path) for path in sorted((CORPUS / slug(name)).glob("*"))]


def read(path: Path) -> bytes:
    """Return the input that a file of the corpus, or of what was found, holds."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.name.endswith(".stored.gz") else content


def stored(one: bytes) -> tuple[str, bytes]:
    """Return name and content of the file that an input is kept in."""
    name, packed = hashlib.sha256(one).hexdigest()[:12], gzip.compress(one, mtime=0)
    return (f"{name}.stored.gz", packed) if len(packed) < len(one) // 2 else (name, one)


@contextmanager
def traced(steps: set[tuple[CodeType, int, int]]) -> Iterator[None]:
    """Collect the steps from line to line of the library."""
    inside = str(ROOT / "src" / "irisdp")

    def enter(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(inside):
            return None
        last = 0

        def go(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "line":
                steps.add((code, last, frame.f_lineno))
                last = frame.f_lineno
            return go

        return go

    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(None)


def fewest(target: Target, several: list[bytes], room: int) -> list[bytes]:
    """Return inputs that reach what all reach: in turn the one that reaches most that is new for its size."""
    from fuzz.judging import judged

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.chdir(folder)
        seeds = [as_bytes(one) for one in target.seeds(folder)]
        for one in seeds:  # what is loaded once is loaded here
            judged(target, target.of(one), folder)
        reached: dict[bytes, set[tuple[CodeType, int, int]]] = {}
        for one in dict.fromkeys([*seeds, *several]):
            if len(stored(one)[1]) <= LARGEST:
                with traced(reached.setdefault(one, set())):
                    judged(target, target.of(one), folder)
        os.chdir("/")
    kept: list[bytes] = []
    known: set[tuple[CodeType, int, int]] = set()
    while reached and len(kept) < SHORT:
        best = max(reached, key=lambda one: (len(reached[one] - known) / (len(stored(one)[1]) + 200), one))
        size = len(stored(best)[1])
        new = reached.pop(best) - known
        if not new:
            break
        if size <= room:
            room -= size
            known |= new
            kept.append(best)
    return kept


def renewed(name: str, target: Target, several: list[bytes], room: int) -> None:
    """Write the corpus of a target anew."""
    # In the order of names: which of equals is kept shall not depend on when it was found.
    kept = fewest(target, sorted({*several, *corpus_of(name)}), room)
    shutil.rmtree(CORPUS / slug(name), ignore_errors=True)
    (CORPUS / slug(name)).mkdir(parents=True)
    for one in kept:
        file, content = stored(one)
        (CORPUS / slug(name) / file).write_bytes(content)
    print(f"{name}: {len(kept)} of {len(several)} kept", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    from fuzz import run

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", default="0.2")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", default="2")
    told = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        only = ["--only", told.only] if told.only else []
        status = run.main(["--share", told.share, "--jobs", told.jobs, "--keep", place, *only])
        from fuzz.targets import TARGETS

        names = [name for name in TARGETS if (Path(place) / slug(name)).is_dir()]
        for name in names:
            several = [path.read_bytes() for path in (Path(place) / slug(name)).iterdir()]
            # In a process of its own: what a target leaves in memory shall not tell on the next.
            process = get_context("fork").Process(
                target=renewed, args=(name, TARGETS[name], several, ROOM // len(TARGETS))
            )
            process.start()
            process.join()
            status = status or int(process.exitcode != 0)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
