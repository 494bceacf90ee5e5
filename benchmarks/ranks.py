"""Exact draws from 10^7 nodes given by class and depth. Target: under 5 s, for few and very many distinct depths."""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from irisdp import Privacy
from irisdp._sampling import draw_ranks
from irisdp.mechanisms import balanced_line


def main() -> None:
    """Time both kinds of nodes, for two answers and for four."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10**7)
    nodes = parser.parse_args().nodes
    random = np.random.default_rng(1)
    classes = random.integers(0, 2, nodes)
    two = [balanced_line(Privacy(epsilon=1)).prefix_sums(k) for k in (0, 1)]
    four = [(Fraction(2, 5), Fraction(3, 5), Fraction(4, 5))] * 2
    for name, most, epsilon in (("few distinct depths", 50, "1"), ("10^6 distinct depths", 10**6, "1e-5")):
        depths = random.integers(0, most, nodes)
        for boundary in (two, four):
            start = time.perf_counter()
            draw_ranks(boundary, classes, depths, Privacy(epsilon=epsilon))
            seconds = time.perf_counter() - start
            print(f"{nodes} nodes, {len(boundary[0]) + 1} answers, {name}: {seconds:.2f} s (target 5 s)")


if __name__ == "__main__":
    main()
