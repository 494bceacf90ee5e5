"""Consumers of a count: the solver beside HiGHS and qif, its sizes, and the drawing of a chain for several audiences.

    python benchmarks/consumers.py --repeats 5

Everything in one run, one thread, about three minutes; much of that is qif, which is run once. Each line says the
target and whether it is met. Gaps are certified: (value − lower bound) / value, both with all rounding accounted for.
Needs the packages qif (LGPL; it is called in benchmarks and nowhere else) and scipy.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rows.counts import distances, whole_program

from irisdp import Privacy
from irisdp._measurements import ChainLink as Link
from irisdp._measurements import CountNodes, GeometricNoise
from irisdp.consumers import Consumer, OptimalReading, optimal_reading
from irisdp.mechanisms import FactoredMechanism

GAP = 1e-9


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of some repeats, and what the last of them returned."""

    seconds: list[float]
    result: Any

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        if len(self.seconds) == 1:
            return f"{self.median:.3g} s (one run)"
        return f"{self.median:.3g} s ({min(self.seconds):.3g}–{max(self.seconds):.3g})"


def main() -> None:
    """Run all parts, each beside its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--epsilon", default="0.5", help="of the comparisons with HiGHS and qif")
    parser.add_argument("--skip-qif", action="store_true", help="leave out what takes longest")
    arguments = parser.parse_args()
    repeats, start = arguments.repeats, time.perf_counter()
    read(10, arguments.epsilon, "absolute")  # loads the solver
    beside_highs(100, arguments.epsilon, repeats)
    if not arguments.skip_qif:
        beside_qif(80, arguments.epsilon, repeats)
    for n, most, times in ((1000, 5, repeats), (10_000, 60, 1)):
        minimax(n, most, times)
    bayesian(10**6, 10, min(repeats, 3))
    audiences(10**6, 3, min(repeats, 3))
    print(f"all in {time.perf_counter() - start:.0f} s")


def beside_highs(n: int, epsilon: str, repeats: int) -> None:
    """Minimax: the best reading of noise, and the program over all mechanisms, sparse, by HiGHS's own choice."""
    ours, theirs, ratios = [], [], []
    for _ in range(repeats):
        mine = timed(lambda: read(n, epsilon, "absolute"), 5)
        whole = timed(lambda: whole_program(n, epsilon), 1)
        ours += mine.seconds
        theirs += whole.seconds
        ratios.append(whole.median / mine.median)
    print(f"minimax, absolute loss, n = {n}, ε = {epsilon}")
    print(f"  all mechanisms, HiGHS   {Timing(theirs, None)}   value {whole.result:.12g}")
    print(f"  reading of noise        {Timing(ours, None)}   value {described(mine.result)}")
    verdict("times faster", statistics.median(ratios), 100, spread=ratios)


def beside_qif(n: int, epsilon: str, repeats: int) -> None:
    """Bayesian, uniform prior: the best reading, and qif's program over all mechanisms."""
    from qif import mechanism

    def theirs() -> float:
        rate = float(epsilon)
        uniform = np.full(n + 1, 1 / (n + 1))
        matrix = np.array(
            mechanism.d_privacy.min_loss_given_d(
                uniform, n + 1, lambda i, j: rate * abs(i - j), lambda i, v: abs(float(i) - float(v))
            )
        )
        return float((matrix * distances(n)).sum() / (n + 1))

    prior = [f"1/{n + 1}"] * (n + 1)
    mine, whole = timed(lambda: read(n, epsilon, "absolute", prior=prior), repeats), timed(theirs, 1)
    print(f"Bayesian, absolute loss, uniform prior, n = {n}, ε = {epsilon}")
    print(f"  all mechanisms, qif     {whole}   value {whole.result:.12g}")
    print(f"  reading of noise        {mine}   value {described(mine.result)}")
    verdict("times faster", whole.median / mine.median, 1000)


def minimax(n: int, most: float, repeats: int) -> None:
    """Both losses at both privacies."""
    print(f"minimax, n = {n}")
    for epsilon in ("0.1", "1"):
        for loss in ("absolute", "squared"):
            found = timed(lambda loss=loss, epsilon=epsilon: read(n, epsilon, loss), repeats)
            print(f"  ε = {epsilon:3} {loss:10} {found}   value {described(found.result)}")
            verdict("seconds", found.median, most, below=True, gap=found.result)


def bayesian(n: int, most: float, repeats: int) -> None:
    """A bell of a prior."""
    prior = np.exp(-(((np.arange(n + 1) - 0.3 * n) / (0.1 * n)) ** 2) / 2)
    prior /= prior.sum()
    print(f"Bayesian, n = {n}, ε = 0.1")
    for loss in ("absolute", "squared"):
        found = timed(lambda loss=loss: read(n, "0.1", loss, prior=prior), repeats)
        print(f"  {loss:10} {found}   value {described(found.result)}")
        verdict("seconds", found.median, most, below=True, gap=found.result)


def audiences(cells: int, most: float, repeats: int) -> None:
    """What `publish --audience` draws: the most accurate release from the counts, each further one from the last."""
    counts = np.random.default_rng(0).integers(0, 1000, cells)
    nodes = CountNodes(counts, np.zeros(cells, np.int64), None)
    levels = [Privacy(epsilon=epsilon) for epsilon in ("2", "1", "0.5", "0.1")]

    def draw() -> list[Link]:
        links: list[Link] = []
        for privacy in levels:
            links.append(Link(privacy, GeometricNoise(privacy).draw(nodes, links)))
        return links

    found = timed(draw, repeats)
    print(f"chain of releases, {cells} cells × {len(levels)} audiences")
    spreads = (f"{(link.values - counts).std():.3g}" for link in found.result)
    print(f"  {found}   standard deviations of the noise {', '.join(spreads)}")
    verdict("seconds", found.median, most, below=True)


def read(n: int, epsilon: str, loss: str, **knows: Any) -> OptimalReading:
    """Read noise as a formula, all there is to it: noise and consumer are made anew."""
    deployed = FactoredMechanism(privacy=Privacy(epsilon=epsilon), n=n)
    return optimal_reading(deployed, Consumer(n, loss, **knows))


def described(found: OptimalReading) -> str:
    return f"{float(found.value):.12g}, certified gap {float(found.gap):.1e}"


def timed(work: Callable[[], Any], repeats: int) -> Timing:
    """Time some repeats, one after another."""
    seconds, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return Timing(seconds, result)


def verdict(
    what: str,
    reached: float,
    target: float,
    *,
    below: bool = False,
    spread: list[float] | None = None,
    gap: OptimalReading | None = None,
) -> None:
    """Print a target and whether it is met."""
    met = reached < target if below else reached >= target
    if gap is not None:
        met = met and gap.gap <= GAP
    around = f" ({min(spread):.3g}–{max(spread):.3g})" if spread else ""
    wanted = f"{'below' if below else 'at least'} {target:g}" + (f", gap {GAP:g}" if gap is not None else "")
    print(f"    {reached:.3g} {what}{around}; target {wanted}: {'met' if met else 'MISSED'}", flush=True)


if __name__ == "__main__":
    main()
