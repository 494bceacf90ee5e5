"""The stand-alone verifier beside the audit, on the best answer for readers of a count, from 300 counts to 1,200.

Both read the same file, check that it is private, and prove its value anew. Target: the verifier within 5 s at 1,200
counts (79 s in version 0.1). Up to 1,000 counts a file holds a table, above that two factors.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import irisdp.certify.verify_mechanism
from irisdp import Privacy, audit, design

TARGET = 5
"""Seconds for 1,200 counts."""


def main() -> None:
    """Time both, one after the other in each round, and print medians with their spread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 600, 1200])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("counts  loss      verifier, s (least to most)  audit, s (least to most)  verifier/audit")
    with tempfile.TemporaryDirectory() as folder:
        for loss in ("absolute", "squared"):
            medians = {}
            for size in options.sizes:
                file = Path(folder) / f"{loss}-{size}.json"
                design.consumer(size, loss, Privacy(epsilon="1/10")).save(file)
                rounds = [(verified(file), audited(file)) for _ in range(options.rounds)]
                ours, theirs = (sorted(each) for each in zip(*rounds, strict=True))
                ratio = statistics.median(one / other for one, other in rounds)
                medians[size] = statistics.median(ours)
                print(
                    f"{size:<7} {loss:<9} {medians[size]:.2f} ({ours[0]:.2f} to {ours[-1]:.2f})"
                    f"         {statistics.median(theirs):.2f} ({theirs[0]:.2f} to {theirs[-1]:.2f})        {ratio:.2f}"
                )
            if 1200 in medians:
                met = "met" if medians[1200] <= TARGET else "NOT met"
                print(f"        {loss}: {medians[1200]:.2f} s at 1,200 counts, target {TARGET} s: {met}")


def verified(file: Path) -> float:
    """Return the seconds of the verifier, in a process of its own, as whoever is handed the file runs it."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, irisdp.certify.verify_mechanism.__file__, file], check=False, capture_output=True
    )
    if done.returncode:
        raise SystemExit(f"{file.name} was not verified")
    return time.perf_counter() - start


def audited(file: Path) -> float:
    """Return the seconds of the audit, in this process, which has what it needs loaded."""
    start = time.perf_counter()
    if not audit(file).holds:
        raise SystemExit(f"{file.name} does not hold")
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
