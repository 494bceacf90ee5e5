"""The time of a plan: 15 questions about visits of persons, when all are new and when all were answered before.

    python benchmarks/plans.py [--rows 2000000] [--form parquet|csv|folder] [--engine duckdb|spark]
                               [--against COMMIT] [--rounds 3]

A round runs `irisdp run` twice in processes of their own: with a new ledger, and again with the ledger that the first
run left. Times are of wall clocks and hold the start of the process, of Spark's too; in brackets stands the processor
time of Iris alone, without Spark's. With `--against` each round also
runs the source of an older commit, which is checked out in a temporary folder, and the sides take turns in coming
first; ratios are medians of ratios in one round. Targets for 2,000,000 rows: 3 s if all is free, 15 s if all is new.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

ROOT = Path(__file__).resolve().parents[1]
WARDS = [f"ward {number:02d}" for number in range(1, 25)]
KINDS = ["emergency", "follow-up", "first", "screening", "telephone"]
AGES = "[0, 18, 30, 45, 65, 80, 120]"
QUESTIONS = f"""
query = "count" | at-most = 3
query = "count" | expression = "age > 64" | at-most = 3
query = "count" | expression = "kind = 'emergency'" | by = "ward" | at-most = 3
query = "count" | by = "ward, sex" | at-most = 3
query = "count" | by = "sex" | select-groups = true | delta = "1e-6" | at-most = 3
query = "count" | expression = "age > 64" | per-unit = "any"
query = "histogram age" | bins = {AGES} | at-most = 3
query = "sum minutes" | lower = 0 | upper = 120 | at-most = 3
query = "mean minutes" | lower = 0 | upper = 120 | by = "ward" | at-most = 3
query = "sum cost" | lower = 0 | upper = 1000 | step = 1 | by = "sex" | at-most = 3
query = "variance minutes" | lower = 0 | upper = 120 | at-most = 1
query = "median age" | bins = {AGES} | at-most = 1
query = "plurality kind" | categories = {KINDS} | at-most = 1
query = "majority" | expression = "sex = 'f'" | by = "ward" | at-most = 1
query = "at-least 100000" | expression = "kind = 'screening'" | per-unit = "any"
"""
"""One a line, each of which costs ε = 1/100."""
FORMS = ("parquet", "csv", "folder")


def visits(rows: int) -> pa.Table:
    """Return visits of a fifth as many persons, with a fixed seed."""
    random = np.random.default_rng(20261128)
    person = random.integers(0, max(rows // 5, 1), rows)
    return pa.table(
        {
            "person": pa.array(np.char.add("p", person.astype(str))),
            "month": random.integers(1, 13, rows),
            "ward": np.array(WARDS)[random.integers(0, len(WARDS), rows)],
            "sex": np.array(["f", "m"])[person % 2],
            "age": person * 7919 % 100,
            "kind": np.array(KINDS)[random.integers(0, len(KINDS), rows)],
            "minutes": random.integers(1, 180, rows),
            "cost": random.integers(0, 150_000, rows) / 100,
        }
    )


def write_visits(folder: Path, rows: int, form: str) -> Path:
    """Write the visits as a Parquet file, a text file, or a folder with one part a month."""
    table = visits(rows)
    if form == "csv":
        pyarrow.csv.write_csv(table, folder / "visits.csv")
        return folder / "visits.csv"
    if form == "parquet":
        pyarrow.parquet.write_table(table, folder / "visits.parquet")
        return folder / "visits.parquet"
    pyarrow.parquet.write_to_dataset(table, folder / "visits", partition_cols=["month"])
    return folder / "visits"


def plan_text(data: Path, engine: str, form: str) -> str:
    """Write the plan; ledger, secret and answers lie beside it."""
    lines = [
        "[datasets.visits]",
        f'data = "{data}"',
        'unit = "person"',
        'ledger = "visits.ledger"',
        'secret = "secret"',
    ]
    lines += ['engine = "spark"'] if engine == "spark" else []
    lines += ["types = {age = 'integer', minutes = 'integer', cost = 'number'}"] if form == "csv" else []
    for number, question in enumerate(QUESTIONS.strip().splitlines(), 1):
        words = question.split(" | ")
        if any('"ward"' in word for word in words):
            words.append(f"groups = {WARDS}")
        if any('"ward, sex"' in word for word in words):
            words.append(f"groups = [{', '.join(repr([ward, sex]) for ward in WARDS for sex in 'fm')}]")
        if any('"sex"' in word for word in words) and not any("select-groups" in word for word in words):
            words.append("groups = ['f', 'm']")
        lines += ["[[questions]]", *words, "epsilon = '1/100'", f"out = 'answer-{number:02d}.csv'"]
    return "\n".join(lines)


def seconds(source: Path, folder: Path) -> tuple[float, float]:
    """Run the plan of a folder with the package of a source tree; return the time and the processor time it took."""
    told = os.environ | {"PYTHONPATH": str(source / "src"), "SPARK_LOCAL_IP": "127.0.0.1"}
    told.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
    start, before = time.perf_counter(), os.times()
    command = [sys.executable, "-m", "irisdp", "run", "plan.toml"]
    done = subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, check=False)
    took, after = time.perf_counter() - start, os.times()
    assert done.returncode == 0, done.stderr
    return took, after.children_user + after.children_system - before.children_user - before.children_system


def one_side(source: Path, data: Path, engine: str, form: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the seconds of a run with a new ledger, and of one with all answers in it."""
    folder = Path(tempfile.mkdtemp(dir=data.parent.parent))
    # A table belongs to the first ledger that was charged for it, so each side has a copy.
    (shutil.copytree if data.is_dir() else shutil.copy)(data, folder / data.name)
    (folder / "plan.toml").write_text(plan_text(folder / data.name, engine, form))
    try:
        return seconds(source, folder), seconds(source, folder)
    finally:
        shutil.rmtree(folder)


def main() -> None:
    """Print the seconds of each round, their medians and, with an older commit, the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--form", choices=FORMS, default="parquet")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--against", metavar="COMMIT", help="an older commit to compare with in the same rounds")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sides = {"now": ROOT}
        if asked.against is not None:
            sides[asked.against] = folder / "older"
            archive = subprocess.run(["git", "archive", asked.against], cwd=ROOT, capture_output=True, check=True)
            sides[asked.against].mkdir()
            subprocess.run(["tar", "-x"], cwd=sides[asked.against], input=archive.stdout, check=True)
        (folder / "data").mkdir()
        data = write_visits(folder / "data", asked.rows, asked.form)
        for side in sides.values():  # compiles the source
            subprocess.run([sys.executable, "-m", "compileall", "-q", str(side / "src")], check=False)
        took: dict[str, list[tuple[tuple[float, float], tuple[float, float]]]] = {side: [] for side in sides}
        for number in range(asked.rounds):
            for side in list(sides)[:: 1 if number % 2 == 0 else -1]:
                took[side].append(one_side(sides[side], data, asked.engine, asked.form))
                said = [f"{wall:7.2f} s ({cpu:.2f} s)" for wall, cpu in took[side][-1]]
                print(f"round {number + 1}  {side:12}  new {said[0]}  free {said[1]}", flush=True)
    for place, what in enumerate(("new", "free")):
        times = {side: [pair[place][0] for pair in pairs] for side, pairs in took.items()}
        medians = ", ".join(f"{side} {statistics.median(each):.2f} s" for side, each in times.items())
        print(f"{what}: {medians}", end="")
        if asked.against is not None:
            ratios = [older / now for now, older in zip(times["now"], times[asked.against], strict=True)]
            print(f"; {statistics.median(ratios):.1f} times as fast (from {min(ratios):.1f} to {max(ratios):.1f})")
        else:
            print()


if __name__ == "__main__":
    main()
