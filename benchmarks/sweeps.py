"""Sweeps of designs beside single designs and beside HiGHS on the same programs.

    python benchmarks/sweeps.py [--sizes 20,50] [--losses absolute,squared,zero-one] [--number 20] [--rounds 3]

For each n and loss the best mechanisms for a consumer of a count at ε = 0.1, 0.2, …: by one sweep, one design after
the other, and by HiGHS as SciPy calls it, which solves the same linear programs in floats; only its own time counts.
Exact designs hold the program, the exact solution, certificate and seal. Rounds take turns, and nothing is known from
the round before. Seconds are medians, of the clock and in brackets of the processor, since others may work on the
machine. A sweep again, with all designs known, comes last. The status is 1 if a value of a sweep differs from that of
the single design by more than 2^-50 of it, or from HiGHS's by more than its tolerance.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from design_times import TOLERANCE, Case, in_floats

from irisdp import Privacy, design
from irisdp.design import _sweeps

EXACT = Fraction(1, 1 << 50)
TABLES: dict[str, Callable[[Any], Any]] = {
    "absolute": lambda error: error,
    "squared": lambda error: error**2,
    "zero-one": lambda error: error > 0,
}


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what a call returns, and its seconds of the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - clock, time.process_time() - processor


def by_highs(n: int, loss: str, privacies: list[Privacy]) -> tuple[list[float], float]:
    """Return HiGHS's values, and the seconds that it took."""
    losses = TABLES[loss](abs(np.arange(n + 1)[:, None] - np.arange(n + 1))).astype(float)
    edges = [(i, i + 1) for i in range(n)]
    found = [in_floats(Case("", lambda: None, losses, edges, privacy)) for privacy in privacies]  # type: ignore[arg-type, return-value]
    return [float("nan") if value is None else value for value, _ in found], sum(seconds for _, seconds in found)


def shown(parts: list[tuple[float, float]]) -> str:
    """Write the median of clock and processor."""
    clock, processor = (statistics.median(part) for part in zip(*parts, strict=True))
    return f"{clock:.2f} s ({processor:.2f})"


def compare(n: int, loss: str, privacies: list[Privacy], rounds: int) -> bool:
    """Print the times of one sweep, and tell whether all values agree."""
    swept, single, floats = [], [], []
    for _ in range(rounds):
        _sweeps._MEMORY = _sweeps._Memory()
        found, *seconds = timed(lambda: design.sweep(design.consumer, {"privacy": privacies}, n=n, loss=loss))
        swept.append(tuple(seconds))
        made, *seconds = timed(lambda: [design.consumer(n, loss, privacy) for privacy in privacies])
        single.append(tuple(seconds))
        values, spent = by_highs(n, loss, privacies)
        floats.append(spent)
    _, again, _ = timed(lambda: design.sweep(design.consumer, {"privacy": privacies}, n=n, loss=loss))
    exact = [mechanism.objective.value for mechanism in made]
    agree = all(abs(x - y) <= EXACT * y for x, y in zip(found.values, exact, strict=True))
    near = all(abs(float(x) - y) <= TOLERANCE * max(1, y) for x, y in zip(found.values, values, strict=True))
    gap = max(
        float((value - bound) / value) for value, bound in zip(found.values, found.lower_bounds, strict=True) if value
    )
    theirs = statistics.median(floats)
    print(
        f"n = {n}, {loss}, {len(privacies)} ε: sweep {shown(swept)}, single designs {shown(single)}, HiGHS"
        f" {theirs:.2f} s; sweep {statistics.median(x for x, _ in swept) / theirs:.2f} times HiGHS; again"
        f" {again * 1000:.1f} ms; largest gap {gap:.1e}"
        f"{'' if agree else '; VALUES DIFFER from single designs'}{'' if near else '; VALUES DIFFER from HiGHS'}",
        flush=True,
    )
    return agree and near


def main() -> int:
    """Compare the sizes and losses asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="20,50")
    parser.add_argument("--losses", default=",".join(TABLES))
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    privacies = [Privacy(epsilon=Fraction(k, 10)) for k in range(1, options.number + 1)]
    done = [
        compare(int(n), loss, privacies, options.rounds)
        for n in options.sizes.split(",")
        for loss in options.losses.split(",")
    ]
    return int(not all(done))


if __name__ == "__main__":
    sys.exit(main())
