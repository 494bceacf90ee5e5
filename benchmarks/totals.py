"""Totals of releases fixed in advance: how long, how narrow, and beside dp-accounting.

    python benchmarks/totals.py --repeats 3 --intervals 1e-3 1e-4

dp-accounting rounds losses up to multiples of an interval and computes in doubles (`pip install irisdp[accounting]`).
Its ε should be at least our lower bound, and above our upper one by no more than its interval takes; a ratio below 1 is
printed as it is.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from irisdp import Mechanism, Privacy
from irisdp.accounting import total
from irisdp.graphs import Complete

DELTA = "1e-6"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--intervals", nargs="+", default=["1e-3", "1e-4"])
    arguments = parser.parse_args()
    print(f"{'releases':<38}{'lower':>14}{'upper':>14}{'apart':>9}{'seconds':>9}{'sum':>9}")
    for name, items in cases().items():
        seconds, (lower, upper) = timed(lambda items=items: total(items, delta=DELTA), arguments.repeats)
        added = float(sum(times * item.epsilon for item, times in items if isinstance(item, Privacy)))
        apart = float((upper - lower) / upper)
        print(f"{name:<38}{float(lower):>14.8f}{float(upper):>14.8f}{apart:>9.0e}{seconds:>9.2f}{added:>9.2f}")
        for interval in arguments.intervals:
            if all(isinstance(item, Privacy) for item, _ in items):
                took, theirs = timed(lambda items=items, interval=interval: peer(items, float(interval)), 1)
                print(
                    f"    dp-accounting at {interval:<19}{theirs:>14.8f}    over lower {theirs / float(lower):.8f}"
                    f"  over upper {theirs / float(upper):.8f}  {took:.2f} s, {took / seconds:.1f} of ours"
                )


def cases() -> dict[str, list[tuple[Any, int]]]:
    source = random.Random(7)
    rows = [[source.randrange(1, 50) for _ in range(4)] for _ in range(4)]
    matrix = [[Fraction(weight, sum(row)) for weight in row] for row in rows]
    table = Mechanism.from_matrix(matrix, privacy=Privacy(ratio=1), graph=Complete(4))
    return {
        "60 at 0.1": [(Privacy(epsilon="0.1"), 60)],
        "50 at 0.05 with δ = 1e-9": [(Privacy(epsilon="0.05", delta="1e-9"), 50)],
        "20 at 0.1, 20 at 0.25, 3 at 1": [(Privacy(epsilon=e), k) for e, k in (("0.1", 20), ("0.25", 20), (1, 3))],
        "1,000 different on a grid of 1e-3": [
            (Privacy(epsilon=Fraction(1 + k % 60, 1000), delta=Fraction(k, 10**13)), 1) for k in range(1000)
        ],
        "1,000 at k/20000, on no such grid": [(Privacy(epsilon=Fraction(k, 20000)), 1) for k in range(1, 1001)],
        "random 4 × 4 mechanism, 1,000 times": [(table, 1000)],
    }


def peer(items: list[tuple[Any, int]], interval: float) -> float:
    """Return ε at the same δ by dp-accounting's privacy loss distributions, of the same worst pairs."""
    from dp_accounting.pld import privacy_loss_distribution as library

    together = None
    for item, times in items:
        epsilon, delta = float(item.epsilon), float(item.delta)
        single = library.from_privacy_parameters(
            library.common.DifferentialPrivacyParameters(epsilon, delta), value_discretization_interval=interval
        )
        drawn = single.self_compose(times) if times > 1 else single
        together = drawn if together is None else together.compose(drawn)
    assert together is not None
    found = float(together.get_epsilon_for_delta(float(DELTA)))
    return found if math.isfinite(found) else math.inf


def timed(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    seconds, found = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), found


if __name__ == "__main__":
    main()
