"""What other libraries draw, beside the laws that `irisdp.baselines` says their mechanisms have.

    python benchmarks/peers.py --draws 100000

OpenDP and diffprivlib live in an environment of their own (`build/peers` unless --environment names another; made with
pip when it is not there), so that nothing they need is needed here. Each mechanism is set up there as its library says
for ε, under both relations, and draws; the counts are compared with the law here by a chi-square test. All of them
together fail by chance with probability LEVEL; a law at a rate that is 25 % off must fail every time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from scipy import stats

from irisdp import Privacy
from irisdp.baselines import (
    BaselineNoise as PeerNoise,
)
from irisdp.baselines import (
    DiscreteGaussian,
    ExponentialScore,
    GeometricCount,
    GeometricMaximum,
    LaplaceMaximum,
    PermutedFlips,
    Rate,
    RoundedLaplace,
    RoundedStaircase,
    discrete_gaussian,
)

LEVEL = 1e-3
"""Probability that some test fails although all laws are right."""

OFF = Fraction(5, 4)
"""By how much of ε a wrong law is off."""

PACKAGES = ("opendp==0.16.0", "diffprivlib==0.6.6", "scikit-learn<1.6")
COUNTS = ((7, 5, 4, 0), (6, 3, 3))
EPSILON, DELTA = "1", "1/100"
REACH = 12
"""Noise of this size and more is one outcome."""

FEWEST = 10
"""Outcomes that are expected less often are put together."""

THEIRS = """
import json, sys
import numpy as np
import opendp.prelude as dp
import diffprivlib.mechanisms as mechanisms

dp.enable_features("contrib")

def noisy_max(counts, scale, monotonic, measure):
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=monotonic)
    made = dp.m.make_noisy_max(*space, measure, scale=scale)
    return lambda: made(counts)

def best_of_noisy(counts, scale):
    noise = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=scale)
    random = np.random.default_rng()
    def one():
        noisy = np.array(noise(counts))
        return int(random.choice(np.flatnonzero(noisy == noisy.max())))
    return one

def best_of_laplace(counts, epsilon):
    noise = mechanisms.Laplace(epsilon=epsilon, sensitivity=1)
    return lambda: int(np.argmax([noise.randomise(count) for count in counts]))

def scored(kind, counts, epsilon, monotonic):
    made = kind(epsilon=epsilon, sensitivity=1, utility=counts, monotonic=monotonic)
    return made.randomise

def noise(kind, **options):
    made = getattr(mechanisms, kind)(**options)
    return lambda: int(np.rint(made.randomise(0)))

def integers(make, scale):
    made = make(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)
    return lambda: made(0)

jobs = json.load(sys.stdin)
found = []
for job in jobs["jobs"]:
    draw = eval(job)
    found.append([int(draw()) for _ in range(jobs["draws"])])
json.dump(found, sys.stdout)
"""
"""Runs in the other environment; what it is asked to draw from is written below, in this file."""


@dataclass(frozen=True)
class Job:
    label: str
    code: str
    law: dict[int, float]
    wrong: dict[int, float]


def main() -> None:
    options = read_arguments()
    python = environment(options.environment)
    jobs = list(all_jobs())
    request = json.dumps({"draws": options.draws, "jobs": [job.code for job in jobs]})
    done = subprocess.run([python, "-c", THEIRS], input=request, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    failed = 0
    print(f"{options.draws:,} draws each; fails below p = {LEVEL / len(jobs):.2g}; a law 25 % off must fail")
    for job, drawn in zip(jobs, json.loads(done.stdout), strict=True):
        p, other = (chance(law, drawn) for law in (job.law, job.wrong))
        verdict = "agrees" if p >= LEVEL / len(jobs) else "DIFFERS"
        control = "noticed" if other < LEVEL / len(jobs) else "NOT NOTICED"
        failed += verdict != "agrees" or control != "noticed"
        print(f"{job.label:<72} p = {p:<8.2g} {verdict:<8} wrong law {control}")
    show_variances(python)
    sys.exit(failed > 0)


def all_jobs() -> Iterator[Job]:
    """Set every mechanism up as its library says for ε, and its law as we say."""
    epsilon = float(Fraction(EPSILON))
    for counts in COUNTS:
        for root, relation in ((1, "add-remove"), (2, "exchange")):
            monotonic, scale, listed = root == 1, root / epsilon, list(counts)
            for name, code, peer in (
                ("OpenDP noisy max", f"noisy_max({listed}, {scale}, {monotonic}, dp.max_divergence())", PermutedFlips),
                (
                    "OpenDP noisy max (concentrated), Gumbel noise",
                    f"noisy_max({listed}, {scale}, {monotonic}, dp.zero_concentrated_divergence())",
                    ExponentialScore,
                ),
                ("OpenDP Laplace on whole numbers, largest", f"best_of_noisy({listed}, {scale})", GeometricMaximum),
                (
                    "diffprivlib Exponential",
                    f"scored(mechanisms.Exponential, {listed}, {epsilon}, {monotonic})",
                    ExponentialScore,
                ),
                (
                    "diffprivlib PermuteAndFlip",
                    f"scored(mechanisms.PermuteAndFlip, {listed}, {epsilon}, {monotonic})",
                    PermutedFlips,
                ),
                ("diffprivlib Laplace, largest", f"best_of_laplace({listed}, {epsilon / root})", LaplaceMaximum),
            ):
                laws = (
                    dict(enumerate(map(float, peer(Rate(ratio, root)).row([max(counts) - one for one in counts]))))
                    for ratio in ratios()
                )
                yield Job(f"{name}, {relation}, {counts}", code, *laws)
    variance = discrete_gaussian(ratios()[0], Fraction(DELTA)).variance
    for name, code, laws in (
        (
            "OpenDP Laplace on whole numbers",
            f"integers(dp.m.make_laplace, {1 / epsilon})",
            map(GeometricCount, ratios()),
        ),
        ("diffprivlib Geometric", f"noise('Geometric', epsilon={epsilon})", map(GeometricCount, ratios())),
        (
            "diffprivlib Laplace, rounded",
            f"noise('Laplace', epsilon={epsilon}, sensitivity=1)",
            map(RoundedLaplace, ratios()),
        ),
        (
            "diffprivlib Staircase, rounded",
            f"noise('Staircase', epsilon={epsilon}, sensitivity=1)",
            map(RoundedStaircase, ratios()),
        ),
        (
            "OpenDP Gaussian on whole numbers",
            f"integers(dp.m.make_gaussian, {float(variance) ** 0.5!r})",
            (DiscreteGaussian(variance), DiscreteGaussian(variance * OFF**2)),
        ),
    ):
        yield Job(name, code, *(law_of(noise) for noise in laws))


def ratios() -> tuple[Fraction, Fraction]:
    """Return e^ε, and what is 25 % off."""
    return Privacy(epsilon=EPSILON).ratio, Privacy(epsilon=Fraction(EPSILON) * OFF).ratio


def law_of(noise: PeerNoise) -> dict[int, float]:
    tails = [float(noise.tail(least)) for least in range(1, REACH + 1)]
    masses = [*(one - other for one, other in pairwise(tails)), tails[-1]]
    sides = {sign * (place + 1): mass for sign in (-1, 1) for place, mass in enumerate(masses)}
    return {0: 1 - float(noise.miss()), **sides}


def chance(law: dict[int, float], drawn: list[int]) -> float:
    """Return the p-value of a chi-square test; outcomes that are rare are put together."""
    seen = dict.fromkeys(law, 0)
    for one in drawn:
        seen[max(min(law), min(max(law), one))] += 1
    expected = {outcome: mass * len(drawn) for outcome, mass in law.items()}
    rare = [outcome for outcome, number in expected.items() if number < FEWEST]
    pairs = [(seen[outcome], expected[outcome]) for outcome in law if outcome not in rare]
    pairs.append((sum(seen[one] for one in rare), sum(expected[one] for one in rare)))
    pairs = [pair for pair in pairs if pair[1] > 1]
    total = sum((number - mean) ** 2 / mean for number, mean in pairs)
    return float(stats.chi2.sf(total, len(pairs) - 1))


def show_variances(python: str) -> None:
    """Compare the discrete Gaussian's least variance with the one that diffprivlib finds."""
    code = f"import diffprivlib.mechanisms as m; print(m.GaussianDiscrete(epsilon={EPSILON}, delta={DELTA})._scale)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    ours = float(discrete_gaussian(ratios()[0], Fraction(DELTA)).variance) ** 0.5
    print(
        f"discrete Gaussian at ε = {EPSILON}, δ = {DELTA}: σ = {ours:.5g} here, {float(done.stdout):.5g} in diffprivlib"
    )


def environment(folder: Path) -> str:
    """Return the Python of the other environment, which is made where it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making {folder} with {', '.join(PACKAGES)} …", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return str(python)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=20_000, help="draws from each mechanism (default: %(default)s)")
    home = Path(__file__).parents[1] / "build" / "peers"
    parser.add_argument("--environment", type=Path, default=home, help="where OpenDP and diffprivlib are, or will be")
    return parser.parse_args()


if __name__ == "__main__":
    main()
