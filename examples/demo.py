"""The main job on real data: publish four findings from the 944 respondents of anes96.csv, under one budget on disk.

Run it with `make demo`. It types the commands a steward would type, shows what they print, and says how long they took.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("build") / "demo"
EDUCATION = "1,2,3,4,5,6,7"
COMMANDS = [
    "ledger anes96.ledger --limit 4",
    f"publish anes96.csv plurality PID --categories 0,1,2,3,4,5,6 --by educ --groups {EDUCATION} --epsilon 1",
    f'publish anes96.csv majority "vote = 1" --by educ --groups {EDUCATION} --epsilon 1',
    "publish anes96.csv count --by PID --groups 0,1,2,3,4,5,6 --epsilon 1 --out party.csv --force",
    f'publish anes96.csv at-least 100 "income > 20" --by educ --groups {EDUCATION} --epsilon 1',
    "interpret party.csv.release.json --loss pinball:1:4",
    "ledger anes96.ledger",
]


def main() -> None:
    """Copy the table to build/demo and run the commands there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "anes96.csv", FOLDER / "anes96.csv")
    print(f"In {FOLDER}/ lies anes96.csv: 944 respondents of the American National Election Study 1996.", flush=True)
    slowest = 0.0
    for command in COMMANDS:
        print(f"\n$ irisdp {command}", flush=True)
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "irisdp", *shlex.split(command)], cwd=FOLDER, check=True)
        slowest = max(slowest, time.perf_counter() - start)
    print(f"\nThe slowest command took {slowest:.1f} s. Ask again (make demo): the stored answers come back, free.")


if __name__ == "__main__":
    main()
