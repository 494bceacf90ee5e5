"""Run every long check, one after the other, and say what each took and how it ended.

    reliability.py [--jobs 2] [--only STAGE,…]

A stage that fails does not keep the others from running; the status is then 1. What a stage prints follows its name,
and a table of all stages comes last; it also goes to build/reliability/stages.md, anew after each stage.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
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
    lacking: Callable[[], str | None] = lambda: None
    """What it needs and this machine has not."""


@dataclass(frozen=True)
class Ended:
    """How a stage ended; or what it lacked."""

    stage: Stage
    status: int
    minutes: float
    lacked: str | None = None

    @property
    def end(self) -> str:
        """Say it in a few words."""
        if self.lacked:
            return f"not tried: {self.lacked}"
        return "nothing found" if self.status == 0 else f"**failed**, status {self.status}"


def no_java() -> str | None:
    """Say what Spark lacks."""
    return None if shutil.which("java") else "needs Java 17 (openjdk-17-jre-headless)"


def stages(jobs: str) -> list[Stage]:
    """List all, those first whose failure says most about the others."""
    python = sys.executable
    pytest = (python, "-m", "pytest", "-n", jobs, "--dist", "worksteal", "--durations", "40")
    alone = (python, "-m", "pytest", "-n", "0")
    cluster, large = (python, "benchmarks/spark_cluster.py"), (python, "benchmarks/publish_count.py", "--runs", "1")
    ledgers, uv = (python, "tests/statistics/ledger/table.py"), str(Path(python).with_name("uv"))
    return [
        Stage("sweeps", "all tests, their sweeps whole", pytest),
        Stage("ledgers", "every promise of a ledger", ledgers),
        Stage("plans", "plans killed and run again, in a file and on a server", (*ledgers, "--plans")),
        Stage("streams", "random streams after fork, spawn and pickle", (*alone, "tests/unit/test_sampling_bits.py")),
        Stage(
            "luck",
            "every test that draws, twelve times with draws from a tail",
            (*alone, "--repeat", "12", "tests/unit", "tests/golden"),
        ),
        Stage("fuzz", "changed inputs", (python, "tests/fuzz/run.py", "--jobs", jobs)),
        Stage("clock", "what the time of a draw says of its input", (python, "benchmarks/clock.py")),
        Stage("cluster", "Spark with two workers: 10⁷ rows, answers, the driver's memory", cluster, no_java),
        Stage("memory", "10⁷ rows by 10⁵ groups within 8 GiB", large),
        Stage("rooms", "branches of the exact core", (python, "tests/support/rooms.py", "--jobs", jobs)),
        Stage("mutants", "mistakes planted in the exact core", ("make", "mutants", f"JOBS={jobs}")),
        Stage("versions", "quick tests with each Python, old and new dependencies", ("tests/versions.sh", uv)),
    ]


def carried_out(stage: Stage) -> Ended:
    """Run one to its end."""
    print(f"== {stage.name}: {stage.does}", flush=True)
    if lacked := stage.lacking():
        print(f"not tried: {lacked}", flush=True)
        return Ended(stage, 0, 0, lacked)
    start = time.monotonic()
    told = os.environ | (WHOLE if stage.name == "sweeps" else {})
    status = subprocess.run(stage.command, env=told, check=False).returncode
    return Ended(stage, status, (time.monotonic() - start) / 60)


def table(done: list[Ended], waiting: int) -> str:
    """Write what is known so far."""
    rows = [f"| {one.stage.name} | {one.stage.does} | {one.minutes:.0f} | {one.end} |" for one in done]
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
