"""Run every long check, one after the other, and say what each took and how it ended.

    reliability.py [--jobs 2] [--only STAGE,…]

A stage that fails does not keep the others from running; the status is then 1. What a stage prints follows its name,
and a table of all stages comes last; it also goes to build/reliability/stages.md, anew after each stage.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.postgresql import lacking

OUT = Path("build/reliability/stages.md")
WHOLE = {"IRISDP_WHOLE": "1", "IRISDP_GAPS": "4", "IRISDP_MALFORMED": "3000"}
"""Sweeps are tried whole (`sweeps.py`), and malformed files in greater numbers."""


@dataclass(frozen=True)
class Stage:
    """A command, and what is said of it."""

    name: str
    does: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """How a stage ended."""

    stage: Stage
    status: int
    minutes: float


def stages(jobs: str) -> list[Stage]:
    """List all, those first whose failure says most about the others."""
    python = sys.executable
    pytest = (python, "-m", "pytest", "-n", jobs, "--dist", "worksteal", "--durations", "40")
    return [
        Stage("sweeps", "all tests, their sweeps whole", pytest),
        Stage("ledgers", "every promise of a ledger", (python, "tests/statistics/ledger/table.py")),
        Stage("fuzz", "changed inputs", (python, "tests/fuzz/run.py", "--jobs", jobs)),
        Stage("clock", "what the time of a draw says of its input", (python, "benchmarks/clock.py")),
        Stage("rooms", "branches of the exact core", (python, "tests/support/rooms.py", "--jobs", jobs)),
        Stage("mutants", "mistakes planted in the exact core", ("make", "mutants", f"JOBS={jobs}")),
    ]


def carried_out(stage: Stage) -> Ended:
    """Run one to its end."""
    print(f"== {stage.name}: {stage.does}", flush=True)
    start = time.monotonic()
    told = os.environ | (WHOLE if stage.name == "sweeps" else {})
    status = subprocess.run(stage.command, env=told, check=False).returncode
    return Ended(stage, status, (time.monotonic() - start) / 60)


def table(done: list[Ended], waiting: int) -> str:
    """Write what is known so far."""
    rows = [
        f"| {one.stage.name} | {one.stage.does} | {one.minutes:.0f} | "
        f"{'nothing found' if one.status == 0 else f'**failed**, status {one.status}'} |"
        for one in done
    ]
    rest = [f"{waiting} stages not run yet.", ""] if waiting else []
    return "\n".join(["| stage | what it tries | minutes | end |", "|---|---|---|---|", *rows, "", *rest])


def main() -> int:
    """Run the stages asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    known = stages(options.jobs)
    wanted = options.only.split(",") if options.only else [stage.name for stage in known]
    if unknown := set(wanted) - {stage.name for stage in known}:
        parser.error(f"--only knows {', '.join(stage.name for stage in known)}, not {', '.join(sorted(unknown))}")
    chosen = [stage for stage in known if stage.name in wanted]
    if why := lacking():
        print(f"no server: {why}; each test on one is skipped by name", flush=True)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    done: list[Ended] = []
    for stage in chosen:
        done.append(carried_out(stage))
        OUT.write_text(table(done, len(chosen) - len(done)))
    print(table(done, 0), end="")
    return int(any(one.status for one in done))


if __name__ == "__main__":
    sys.exit(main())
