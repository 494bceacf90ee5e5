"""What the clock reveals: can the time of one draw tell x from its neighbour, given the same output?

For each pair of neighbouring inputs, single draws are timed in random order; among draws with the same output the AUC
of "which input was it" is computed from the times alone. 0.5 is no information; the target is 0.50 ± 0.01 with 10^5
draws a side on a quiet machine.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from irisdp import Privacy
from irisdp._sampling import add_geometric, draw_ranks
from irisdp.mechanisms import balanced_line


def main() -> None:
    """Time every pair and print its AUC."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100_000, help="draws for each of the two inputs")
    draws = parser.parse_args().draws
    line = balanced_line(Privacy(epsilon=1))
    boundary = [line.prefix_sums(0)]

    def count(epsilon: str) -> Callable[[int], int]:
        privacy = Privacy(epsilon=epsilon)
        values = {x: np.array([x]) for x in (1000, 1001)}
        return lambda which: int(add_geometric(values[1000 + which], privacy)[0])

    def depth(start: int) -> Callable[[int], int]:
        cells = [(np.array([0]), np.array([start + which])) for which in (0, 1)]
        return lambda which: int(draw_ranks(boundary, *cells[which], line.privacy)[0])

    print(f"{draws} draws a side; area under the curve of times, among draws with equal output")
    for name, draw in {
        "count, ε = 1": count("1"),
        "count, ε = 0.01": count("0.01"),
        "depth 0 or 1": depth(0),
        "depth 3 or 4": depth(3),
    }.items():
        print(f"  {name:18} {_area(draw, draws):.4f}")


def _area(draw: Callable[[int], int], draws: int) -> float:
    """Return the AUC over pairs of one draw from each input that gave the same output, averaged over outputs."""
    for _ in range(200):
        draw(0), draw(1)
    times: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    order = [0, 1] * draws
    random.shuffle(order)
    for which in order:
        start = time.perf_counter_ns()
        output = draw(which)
        times[output][which].append(time.perf_counter_ns() - start)
    won = pairs = 0.0
    for first, second in times.values():
        if not first or not second:
            continue
        ranked = np.sort(np.array(first))
        later = np.array(second)
        below, upto = np.searchsorted(ranked, later, "left"), np.searchsorted(ranked, later, "right")
        won += float((below + upto).sum()) / 2
        pairs += len(first) * len(second)
    return won / pairs


if __name__ == "__main__":
    main()
