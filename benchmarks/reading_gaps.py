"""Certified gaps of minimax readings over a grid of sizes, privacy, losses and knowledge: how often 1e-9 is reached.

    python benchmarks/reading_gaps.py --counts 50,200,1000

One line per size: cases, how many end with a relative gap of at most 1e-9, the widest gap, the slowest case. Gaps are
certified, so a wide one is a weak answer and never a wrong one. The default takes some minutes.
"""

from __future__ import annotations

import argparse
import itertools
import time

from irisdp import Privacy
from irisdp.consumers import Consumer, optimal_reading
from irisdp.mechanisms import FactoredMechanism

GAP = 1e-9
EPSILONS = ("0.05", "0.1", "0.5", "1", "2", "4")
LOSSES = {
    "absolute": "absolute",
    "squared": "squared",
    "zero-one": "zero-one",
    "errors beyond 2": {"name": "threshold", "beyond": 2},
    "excess over 2": {"name": "excess", "beyond": 2},
    "1:3": {"name": "pinball", "too_low": 1, "too_high": 3},
    "1:10": {"name": "pinball", "too_low": 1, "too_high": 10},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", default="50,200,1000", help="largest counts n, separated by commas")
    print(f"{'n':>6}{'cases':>8}{'gap at most 1e-9':>18}{'widest':>10}  where{'':<40}slowest")
    for n in map(int, parser.parse_args().counts.split(",")):
        results = [(*play(n, *case), case) for case in itertools.product(EPSILONS, LOSSES, knowledge(n))]
        reached = sum(gap <= GAP for gap, *_ in results)
        widest, _, (epsilon, loss, known) = max(results)
        slowest = max(seconds for _, seconds, _ in results)
        where = f"ε = {epsilon}, {loss}, {known}"
        print(f"{n:>6}{len(results):>8}{reached:>18}{widest:>10.0e}  {where:<45}{slowest:.1f} s", flush=True)


def play(n: int, epsilon: str, loss: str, known: str) -> tuple[float, float]:
    start = time.perf_counter()
    consumer = Consumer(n, LOSSES[loss], side_information=knowledge(n)[known])
    found = optimal_reading(FactoredMechanism(privacy=Privacy(epsilon=epsilon), n=n), consumer)
    return float(found.gap), time.perf_counter() - start


def knowledge(n: int) -> dict[str, object]:
    scattered = sorted({0, *(k * k % (n + 1) for k in range(1, 9)), n // 2, n})
    return {"anything": None, "at least a third": {"at_least": n // 3}, "a few counts": scattered}


if __name__ == "__main__":
    main()
