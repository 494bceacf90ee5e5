"""Measure everything beside its peers and its limits, in one run: `make bench`.

    python benchmarks/run.py                               # the whole: about an hour and a half on an idle machine
    python benchmarks/run.py --only noise --rounds 2 --quick    # rows whose name holds the word, at tiny sizes
    python benchmarks/run.py --list

Every side of a row works in a process of its own, peers in environments of their own (made under build/bench, pinned in
`side_by_side/environments.py`). A run of each follows a run of each other, round after round, so that a machine that
slows down for a while slows all; ratios are taken within a round. What was measured stands after every row in
build/bench/bench.json (docs/formats/benchmark.schema.json); `docs/benchmarks.py` makes the page of it.

Programs that measure no time but errors, laws or pictures run last, each once; their words stand in build/bench/*.txt.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rows import NO_TIMES, registry
from side_by_side.environments import SOURCE, environment
from side_by_side.machine import commit, machine, told
from side_by_side.measure import measure

FORMAT = "irisdp/benchmark/1"


def main() -> None:
    options = read_arguments()
    chosen = [(row, file) for row, file in registry() if not options.only or any(w in row.name for w in options.only)]
    if options.list:
        for row, _ in chosen:
            others = ", ".join(side.name for side in row.sides[1:]) or "nobody"
            print(f"{row.name:28} {row.title}; beside {others}")
        return
    if not chosen:
        sys.exit(f"--only {' '.join(options.only)}: no row has such a name; `--list` shows them")
    found = functools.cache(lambda name: environment(name, options.environments, make=not options.offline))
    earlier = earlier_run(options.out) if options.keep else {}
    start, rows = time.perf_counter(), {row["name"]: row for row in earlier.get("rows", [])}
    document = begun(earlier, quick=options.quick, whole=not options.only)
    later = {"commit": commit()} if document["seconds"] else {}
    start -= document["seconds"]
    for row, file in chosen:
        print(f"{row.name} …", end=" ", flush=True)
        began = time.perf_counter()
        measured = measure(row, file, row.quick if options.quick else row.sizes, options.rounds, found)
        rows[row.name] = measured | later
        print(f"{time.perf_counter() - began:.0f} s; {summary(measured)}", flush=True)
        asked = {side["environment"] for one in rows.values() for at in one["sizes"] for side in at["sides"]}
        document["environments"] = told({name: found(name) for name in asked})
        document["rows"] = [rows[one.name] for one, _ in registry() if one.name in rows]
        write(options.out, document, start)
    for program in [] if options.only or options.quick else NO_TIMES:
        document["programs"].append(ran(program, options.out.parent))
        write(options.out, document, start)
    print(f"{options.out}: {len(chosen)} rows in {time.perf_counter() - start:.0f} s")


def begun(earlier: dict[str, Any], *, quick: bool, whole: bool) -> dict[str, Any]:
    """Return what is said of a run before its rows: of an earlier whole one, to which rows are added, what it said."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": quick,
        "whole": whole and not quick,
        "commit": commit(),
        "machine": machine(),
        "environments": {},
        "programs": [],
        "seconds": 0,
    }
    if earlier.get("whole") and not quick:
        document |= {name: earlier[name] for name in ("started", "whole", "commit", "machine", "programs", "seconds")}
    return document


def summary(measured: dict[str, Any]) -> str:
    """Say what the largest size gave: ours, and how many times that the others took."""
    ours, *others = measured["sizes"][-1]["sides"]
    if ours["missing"]:
        return ours["missing"]
    said = [f"{ours['seconds']['processor']['median']:.3g} s of the processor"]
    for other in others:
        ratio = other.get("times_ours")
        said.append(f"{other['name']} {other['missing'] or format(ratio['processor']['median'], '.3g') + ' ×'}")
    return "; ".join(said)


def ran(program: str, folder: Path) -> dict[str, Any]:
    """Run a program once, and keep its words."""
    print(f"{program} …", end=" ", flush=True)
    began = time.perf_counter()
    words = [sys.executable, str(SOURCE / "benchmarks" / program)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=SOURCE)
    (folder / program).with_suffix(".txt").write_text(done.stdout + done.stderr, "utf-8")
    taken = time.perf_counter() - began
    print(f"{taken:.0f} s; status {done.returncode}", flush=True)
    return {"program": program, "status": done.returncode, "seconds": round(taken, 1)}


def earlier_run(file: Path) -> dict[str, Any]:
    """Return what an earlier run found."""
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def write(file: Path, document: dict[str, Any], start: float) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    document["seconds"] = round(time.perf_counter() - start, 1)
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="rows whose name holds one of these")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side that count (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="at tiny sizes, to see that it works")
    parser.add_argument("--keep", action="store_true", help="keep other rows of an earlier run that --out holds")
    parser.add_argument("--offline", action="store_true", help="install nothing; a peer that is not there is told so")
    parser.add_argument("--list", action="store_true", help="show the rows and measure nothing")
    folder = SOURCE / "build" / "bench"
    parser.add_argument("--out", type=Path, default=folder / "bench.json", help="default: build/bench/bench.json")
    parser.add_argument("--environments", type=Path, default=folder, help="where peers are, or will be")
    return parser.parse_args()


if __name__ == "__main__":
    main()
