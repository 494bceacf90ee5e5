"""Feed every target with changed inputs and watch what takes them; print a table.

    run.py [--share 0.01] [--only NAME,…] [--seed N] [--jobs 2] [--blind]
    run.py --replay build/fuzz/TARGET/FILE …

Atheris proposes the inputs: it keeps what reached branches, and outcomes of comparisons, that nothing reached before,
and changes it further (docs/decisions/tests-of-the-core.md). Where it cannot be had, and with --blind, changes know
nothing of the code. Each run takes a seed of its own and prints it.

Each target runs in a process of its own, which writes down every input before it takes it. This one watches: an input
that takes more than five seconds of the processor, or ends the process, is a finding, and the process is started anew
behind it. So is whatever `target.py`, `judging.py` and `spending.py` call one. Findings are kept in build/fuzz, one
input a file, which --replay takes alone; the status is then 1.
"""

import argparse
import contextlib
import importlib
import importlib.util
import io
import multiprocessing
import os
import pickle
import pkgutil
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

HANG = 5
"""Seconds of the processor that one input may take."""
STUCK = 120
"""Seconds on the clock, for what waits instead of working; a busy machine makes others wait, too."""
FEWEST = 5
"""Inputs that the smallest share feeds."""
TOLD = 5
"""Findings of a target that are printed; all are kept."""
IN_MEMORY = Path("/dev/shm")
"""Where nothing waits for a disk, if there is such a place; what disks do is tried elsewhere (`tests/statistics`)."""


def loaded(*, guided: bool, planted: bool) -> dict[str, Any]:
    """Load the targets, and under guidance the library with counters in it, of which each process has a copy."""
    if guided and not planted:
        import atheris

        with contextlib.redirect_stderr(io.StringIO()):  # it names every module
            # Left open: what is imported later is counted too.
            atheris.instrument_imports(include=["irisdp"]).__enter__()
            library = importlib.import_module("irisdp")
            for module in pkgutil.walk_packages(library.__path__, "irisdp."):
                if "__main__" not in module.name and ".explorer" not in module.name:
                    with contextlib.suppress(ImportError):
                        importlib.import_module(module.name)
    if not planted:
        return dict(importlib.import_module("fuzz.targets").TARGETS)
    wrong = importlib.import_module("fuzz.planted").TARGETS
    if guided:
        import atheris

        with contextlib.redirect_stderr(io.StringIO()):
            wrong = {name: replace(one, take=atheris.instrument_func(one.take)) for name, one in wrong.items()}
    return wrong


def watch(
    name: str,
    target: Any,
    number: int,
    source: int | Sequence[bytes],
    *,
    guided: bool = False,
    keep: Path | None = None,
) -> Any:
    """Run a target to its end, whatever its inputs do to the process; return the books of all."""
    from fuzz.feeding import MOST_FINDINGS, feed
    from fuzz.judging import Books, Finding

    whole, start = Books(), 0
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as place:
        beside = Path(place)
        while start < number and len(whole.findings) < MOST_FINDINGS:
            for file in ("now", "books"):
                (beside / file).unlink(missing_ok=True)
            process = multiprocessing.get_context("fork").Process(
                target=feed, args=(name, target, source, guided, start, number, beside, HANG), daemon=True
            )
            process.start()
            wrong = _waited(process, beside)
            with contextlib.suppress(FileNotFoundError):
                whole.add(pickle.loads((beside / "books").read_bytes()))
            if not wrong:
                break
            try:
                last, given = pickle.loads((beside / "now").read_bytes())
            except (OSError, EOFError, pickle.UnpicklingError):
                whole.findings.append(Finding(f"{wrong}, before any input", b""))
                break
            whole.findings.append(Finding(wrong, given))
            start = last + 1
            for path in beside.glob("corpus/*"):
                if path.read_bytes() == given:
                    path.unlink()
        found = list(beside.glob("corpus/*"))
        whole.new = sum(not path.name.startswith("seed ") for path in found)
        if keep is not None:
            keep.mkdir(parents=True)
            for path in found:
                shutil.copy(path, keep)
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


def replayed(files: list[Path], targets: dict[str, Any]) -> dict[str, Any]:
    """Take inputs that were kept, each alone, by the target that their folder is named after."""
    from fuzz.corpus import read
    from fuzz.target import slug

    named = {slug(name): name for name in targets}
    found: dict[str, Any] = {}
    for file in files:
        name = named[file.resolve().parent.name]
        books = watch(name, targets[name], 1, [read(file)])
        for finding in books.findings:
            print(f"{file}: {finding.kind}")
        found[name] = found.get(name, type(books)())
        found[name].add(books)
    return found


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1, help="of what a whole run feeds")
    parser.add_argument("--only", default="", help="names of targets, or of their folders")
    parser.add_argument("--seed", type=int, help="that of a run which is to be repeated")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--blind", action="store_true", help="without Atheris")
    parser.add_argument("--keep", type=Path, help="a folder for what the run would go on with")
    parser.add_argument("--replay", type=Path, nargs="+", help="files that were kept, and nothing else")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="where findings are kept")
    parser.add_argument("--planted", action="store_true", help="feed planted mistakes, and nothing else")
    return parser


def main(arguments: list[str]) -> int:
    from fuzz.target import slug

    told = options().parse_args(arguments)
    here = importlib.util.find_spec("atheris") is not None
    guided = here and not told.blind and not told.replay
    targets = loaded(guided=guided, planted=told.planted)
    if told.replay:
        found = replayed(told.replay, targets)
        print(table(found))
        return int(any(books.findings for books in found.values()))
    names = [name for name in targets if told.only in ("", name) or {name, slug(name)} & set(told.only.split(","))]
    seed = random.SystemRandom().randrange(1, 1 << 31) if told.seed is None else told.seed
    how = "under guidance" if guided else "blind" if here else "blind, for want of Atheris"
    print(f"{how}; seed {seed}, which --seed repeats", flush=True)

    def fed(name: str) -> Any:
        number, since = max(FEWEST, round(targets[name].whole * told.share)), time.monotonic()
        keep = told.keep and told.keep / slug(name)
        books = watch(name, targets[name], number, seed, guided=guided, keep=keep)
        kinds = sorted({finding.kind.split(":")[0] for finding in books.findings})
        took = f"{time.monotonic() - since:.0f} s"
        print(
            f"{name}: {books.inputs:,} inputs, {took}, {len(books.findings)} findings {kinds}",
            file=sys.stderr,
            flush=True,
        )
        return books

    with ThreadPoolExecutor(told.jobs) as several:
        slowest_first = names[::-1]
        fed_so = dict(zip(slowest_first, several.map(fed, slowest_first), strict=True))
    found = {name: fed_so[name] for name in names}
    print(table(found))
    _keep(found, told.out)
    return int(any(books.findings for books in found.values()))


def table(found: dict[str, Any]) -> str:
    """Write what became of all inputs."""
    rows = [
        "| fed | inputs | taken | refused in one line | sentences | reached more | a second | slowest (s) |"
        " grew by (MiB) | findings |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, books in found.items():
        rows.append(
            f"| {name} | {books.inputs:,} | {books.taken:,} | {books.refused:,} | {books.messages} | {books.new} |"
            f" {books.inputs / max(books.seconds, 0.001):,.0f} | {books.slowest:.2f} | {books.grown >> 20} |"
            f" {len(books.findings)} |"
        )
    wrong = sum(len(books.findings) for books in found.values())
    return "\n".join([*rows, f"{sum(books.inputs for books in found.values()):,} inputs, {wrong} findings"])


def _keep(found: dict[str, Any], out: Path) -> None:
    from fuzz.judging import kept

    for name, books in found.items():
        if books.findings:
            for kind, path in kept(name, books.findings, out)[:TOLD]:
                print(f"{name}: {kind[:120]}\n    python tests/fuzz/run.py --replay {path}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
