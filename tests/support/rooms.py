"""Measure which branches of the exact core its own tests take (`make coverage`; docs/decisions/tests-of-the-core.md).

Each room is measured by its own tests alone, in a process of its own, so that what another room's tests happen to run
does not count. It fails where a line or a branch is left out. `_exact/linprog` is left out: what it finds is checked
exactly before it is used.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"

ROOMS = {
    "certify": [
        "unit/test_certify_ends.py",
        "unit/test_certify_losses.py",
        "oracles/test_certify_bounds.py",
        "oracles/test_choice_of_boundary.py",
        "oracles/test_mutants.py",
        "oracles/test_shapes_certified.py",
        "oracles/test_totals.py",
        "laws/test_certify.py",
        "unit/test_certify.py",
        "unit/test_certify_foreign.py",
        "unit/test_checkers_agree.py",
    ],
    "_exact": ["unit/test_exact_ends.py", "unit/test_shown.py"],
    "mechanisms": [
        "unit/test_mechanism_ends.py",
        "oracles/test_safe_rate.py",
        "laws/test_exponential_draws.py",
        "laws/test_sorting.py",
        "laws/test_partitions.py",
        "laws/test_chances.py",
        "laws/test_histograms.py",
    ],
    "privacy": ["oracles/test_guarantees.py", "unit/test_privacy.py", "laws/test_shapes.py"],
    "_sampling": [
        "oracles/test_drawn_steps.py",
        "oracles/test_audiences.py",
        "unit/test_sampling_bits.py",
        "unit/test_sampling_inputs.py",
        "laws/test_sampling_exhaustion.py",
    ],
}
"""The tests of each room: those that compare it with something apart from it, most telling first."""

_SETTINGS = """[run]
branch = True
source = {source}
omit = */linprog/*
data_file = {folder}/data
parallel = True
patch = subprocess
[report]
show_missing = True
skip_covered = True
precision = 1
fail_under = 100
"""


def measured(room: str, folder: Path) -> tuple[int, str]:
    """Run a room's tests; return 0 where all pass and every branch is taken, and the table."""
    place = folder / room
    place.mkdir(parents=True, exist_ok=True)
    for old in place.glob("data*"):
        old.unlink()
    settings = place / "settings"
    settings.write_text(_SETTINGS.format(source=ROOT / "src" / "irisdp" / room, folder=place), encoding="utf-8")
    tests = [str(TESTS / name) for name in ROOMS[room]]
    environment = {**os.environ, "COVERAGE_RCFILE": str(settings), "CI": "1"}
    said = ""
    for step in (
        ["run", "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests],
        ["combine", "--quiet"],
        ["report"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "coverage", *step],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or step == ["report"]:
            said += done.stdout + done.stderr
        if done.returncode:
            return 1, said
    return 0, said


def main() -> int:
    """Measure the rooms named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], help="all of them unless named")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "coverage")
    options = parser.parse_args()
    rooms = options.rooms or list(ROOMS)
    with ThreadPoolExecutor(options.jobs) as workers:
        found = list(workers.map(lambda room: measured(room, options.folder), rooms))
    for room, (_, said) in zip(rooms, found, strict=True):
        print(f"== {room}\n{said}")
    return max(status for status, _ in found)


if __name__ == "__main__":
    sys.exit(main())
