"""Noise on whole numbers for Gaussian DP: error beside OpenDP's discrete Gaussian, and what rounding costs a reader.

    python benchmarks/gaussian_noise.py --mus 1/4 1/2 1 2 --draws 200000

The discrete Gaussian is stated by zCDP. What it is in Gaussian DP is computed here, in floats: with G its cumulative
distribution, a shift by 1 is μ-GDP for the largest Φ⁻¹(G(k)) − Φ⁻¹(G(k−1)) over all k, which tends to 1/σ far out. σ
is then made as small as μ allows. OpenDP draws with that σ to confirm what it means (`pip install opendp`).
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction

import numpy as np
from scipy.special import ndtri_exp

from irisdp import noise

REACH = 30
"""How many deviations are looked at: further out 1/σ rules."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mus", nargs="+", default=["1/4", "1/2", "1", "2"])
    parser.add_argument("--draws", type=int, default=200_000)
    arguments = parser.parse_args()
    print(f"{'':>5}{'expected |error|':>26}{'variance':>32}{'discrete σ':>12}{'1/μ':>8}{'drawn':>8}")
    print(f"{'μ':>5}{'Iris':>11}{'discrete':>10}{'wins':>9}{'Iris':>13}{'discrete':>10}{'wins':>9}")
    for text in arguments.mus:
        mu, law = float(Fraction(text)), noise.gaussian_law(text)
        ours = float(law.expected("absolute").upper), float(law.expected("squared").upper)
        sigma = least_deviation(mu)
        theirs = moments(sigma)
        cells = [
            f"{a:>{width}.5f}{b:>10.5f}{winner(a, b):>9}" for width, a, b in zip((11, 13), ours, theirs, strict=True)
        ]
        drawn = np.var(opendp_draws(sigma, arguments.draws))
        print(f"{text:>5}{''.join(cells)}{sigma:>12.6f}{1 / mu:>8.3f}{drawn:>8.3f}")
    print("\nwhat the worst reader at n = 1 loses beyond the best, by the fraction of a unit that is published")
    print(f"{'μ':>5}{'1':>12}{'1/2':>12}{'1/4':>12}{'1/16':>12}")
    for text in arguments.mus:
        mu = float(Fraction(text))
        print(f"{text:>5}" + "".join(f"{excess(mu, parts):>12.3%}" for parts in (1, 2, 4, 16)))


def winner(ours: float, theirs: float) -> str:
    if abs(ours - theirs) <= 1e-9 * theirs:
        return "neither"
    return "Iris" if ours < theirs else "OpenDP"


def log_weights(sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """Return z and log P(z) of the discrete Gaussian, to 40 deviations."""
    reach = math.ceil(40 * sigma) + 5
    z = np.arange(-reach, reach + 1)
    logs = -(z.astype(float) ** 2) / (2 * sigma**2)
    return z, logs - np.logaddexp.reduce(logs)


def moments(sigma: float) -> tuple[float, float]:
    z, logs = log_weights(sigma)
    return float(np.exp(logs) @ np.abs(z)), float(np.exp(logs) @ z.astype(float) ** 2)


def needed(sigma: float) -> float:
    """Return the least μ for which discrete Gaussian noise is μ-GDP; below 0 is enough, as it is symmetric."""
    z, logs = log_weights(sigma)
    quantiles = ndtri_exp(np.logaddexp.accumulate(logs))[(z >= -REACH * sigma - 2) & (z <= 0)]
    return max(1 / sigma, float(np.max(np.diff(quantiles))))


def least_deviation(mu: float) -> float:
    low, high = 0.5 / mu, 3 / mu + 1
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if needed(middle) <= mu else (middle, high)
    return high


def excess(mu: float, parts: int) -> float:
    """Return how much a reader of two counts loses beyond the best, at the worst of many priors."""
    ends = [(k + 0.5) / parts for k in range(-40 * parts, 40 * parts + 1)]
    points = np.array([(normal(-mu * (x + 1)), normal(mu * x)) for x in ends])  # miss one, miss the other
    worst = 0.0
    for odds in np.linspace(-6, 6, 4001):
        first, second = math.exp(odds / 2), math.exp(-odds / 2)
        cut = odds / mu**2 - 0.5
        best = first * normal(-mu * (cut + 1)) + second * normal(mu * cut)
        worst = max(worst, float((points @ np.array([first, second])).min()) / best - 1)
    return worst


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def opendp_draws(sigma: float, count: int) -> list[int]:
    """OpenDP's discrete Gaussian on a vector of integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    return list(dp.m.make_gaussian(*space, scale=sigma)([0] * count))


if __name__ == "__main__":
    main()
