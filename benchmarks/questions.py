"""Errors of variances, deviations, several quantiles and bounds on two public tables, beside published designs.

    python -m pip install --target build/tables --no-deps statsmodels
    python benchmarks/questions.py --runs 1000

Each design is drawn as its publication describes it, at the same ε for one record more or less:

- variance: Laplace noise on number, sum and sum of squares around the middle of the bounds, a third of ε each, as
  OpenDP's tutorials compose them; and the same with squares less half of the largest square, which halves their
  sensitivity. For one record exchanged: Laplace noise on the variance of a public number of records, as diffprivlib
  describes its `var`.
- quantiles: the exponential mechanism of each quantile's rank, an equal part of ε each, sorted; and Iris's own
  mechanism for one quantile at the same parts.
- bounds: which they usually are, and how many records lie beyond them.

Errors are mean absolute errors; of quantiles, records between the rank and the named bin.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow

import irisdp
from irisdp._release.pipeline import read_statistics

ROOT = Path(__file__).parents[1]
EPSILONS = ("0.5", "1", "2")
SHARES = [Fraction(part, 10) for part in (1, 3, 5, 7, 9)]
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Asked:
    """A column of a public table, its public bounds, and edges of bins."""

    path: Path
    column: str
    lower: int
    upper: int
    bins: str


ASKED = (
    Asked(ROOT / "examples" / "anes96.csv", "age", 18, 90, "25,30,35,40,45,50,55,60,65,70,75,80"),
    Asked(ROOT / "build/tables/statsmodels/datasets/randhie/randhie.csv", "mdvis", 0, 80, "1,2,3,4,5,7,10,15,20,40"),
)


def iris(table: Any, words: tuple[str, ...], runs: int, **options: Any) -> list[Any]:
    """Draw so many answers of one question, none of which is published."""
    planned = irisdp.plan(table, *words, **options)
    nodes = read_statistics(planned, bytes(32)).nodes
    mechanism = planned.audiences[0].mechanism
    return [mechanism.show(mechanism.draw(nodes).tolist(), nodes)[0] for _ in range(runs)]


def variances(values: Array, one: Asked, epsilon: float, runs: int, rng: np.random.Generator) -> dict[str, Array]:
    """Draw the variance by each published design."""
    half = (one.upper - one.lower) / 2
    centred = np.clip(values, one.lower, one.upper) - (one.lower + half)
    n, squares = len(values), (centred**2).sum()

    def noise(sensitivity: float) -> Array:
        return rng.laplace(scale=3 * sensitivity / epsilon, size=runs)

    def composed(number: Array, total: Array, about_0: Array) -> Array:
        number = np.maximum(number, 1)
        return np.clip(about_0 / number - np.clip(total / number, -half, half) ** 2, 0, half**2)

    number, total = n + noise(1), centred.sum() + noise(half)
    less = squares - n * half**2 / 2 + noise(half**2 / 2) + number * half**2 / 2
    known = centred.var() + rng.laplace(scale=(2 * half) ** 2 * (n - 1) / n**2 / epsilon, size=runs)
    return {
        "thirds": composed(number, total, squares + noise(half**2)),
        "thirds, squares less their middle": composed(number, total, less),
        "public number, exchange": np.clip(known, 0, half**2),
    }


def off_by(counts: Array, share: Fraction) -> Array:
    """Return how many records each bin is from the rank."""
    sums = np.cumsum(counts)
    rank = math.ceil(share * int(sums[-1]))
    off = np.maximum(rank - sums, 0)
    off[-1] = 0
    return np.maximum(off, np.concatenate([[0], np.maximum(sums[:-1] - rank + 1, 0)]))


def exponential(counts: Array, share: Fraction, epsilon: float) -> Array:
    """Return the chances of the exponential mechanism, whose score one record moves by max(p, 1 − p)."""
    weights = np.exp(-epsilon * off_by(counts, share) / (2 * float(max(share, 1 - share))))
    result: Array = weights / weights.sum()
    return result


def quantiles(table: Any, one: Asked, counts: Array, epsilon: str, runs: int, rng: np.random.Generator) -> None:
    """Print the rank errors of several quantiles by each design."""
    names = irisdp.plan(table, "median", one.column, bins=one.bins, epsilon=1).query.bins.names
    places = {name: place for place, name in enumerate(names)}
    part = Fraction(epsilon) / len(SHARES)
    asked = "quantiles", ",".join(str(float(share)) for share in SHARES), one.column
    drawn = np.array([[places[n] for n in row] for row in iris(table, asked, runs, bins=one.bins, epsilon=epsilon)])
    made = [irisdp.design.quantile(len(names), irisdp.Privacy(epsilon=part), share) for share in SHARES]
    rows: list[Callable[[int], Array]] = [
        lambda place: np.array([float(chance) for chance in made[place].row([int(count) for count in counts])]),
        lambda place: exponential(counts, SHARES[place], float(part)),
    ]
    found = {"Iris, noisy counts": drawn}
    for name, chances in zip(("Iris, one quantile each", "exponential mechanism each"), rows, strict=True):
        each = [rng.choice(len(names), runs, p=chances(place) / chances(place).sum()) for place in range(len(SHARES))]
        found[name] = np.sort(np.stack(each, axis=1), axis=1)
    errors = {
        name: np.mean([off_by(counts, share)[bins[:, place]].mean() for place, share in enumerate(SHARES)])
        for name, bins in found.items()
    }
    print(
        f"| {one.column} | {len(SHARES)} quantiles | {epsilon} | "
        + "; ".join(f"{k} {v:.3g}" for k, v in errors.items())
    )


def main() -> None:
    """Print a line for each column, question and ε."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    rng = np.random.default_rng(1)
    print("| column | question | ε | mean errors |\n|---|---|---|---|")
    for one in ASKED:
        values = pd.read_csv(one.path)[one.column].dropna().round().astype(int).to_numpy()
        table = pyarrow.table({one.column: values})
        held = np.clip(values, one.lower, one.upper)
        edges = [-math.inf, *map(float, one.bins.split(",")), math.inf]
        counts = np.histogram(values, edges)[0]
        bounds: dict[str, Any] = {"lower": one.lower, "upper": one.upper}
        for epsilon in EPSILONS:
            exchange = {"relation": "exchange", "missing": one.lower}
            errors = {
                "Iris": abs(
                    np.array(iris(table, ("variance", one.column), runs, epsilon=epsilon, **bounds)) - held.var()
                ),
                "Iris, exchange": abs(
                    np.array(iris(table, ("variance", one.column), runs, epsilon=epsilon, **bounds, **exchange))
                    - held.var()
                ),
            }
            for name, drawn in variances(values, one, float(epsilon), runs, rng).items():
                errors[name] = abs(drawn - held.var())
            said = "; ".join(f"{name} {error.mean():.3g}" for name, error in errors.items())
            print(f"| {one.column} | variance ({held.var():.4g}) | {epsilon} | {said}")
            deviation = np.array(iris(table, ("deviation", one.column), runs, epsilon=epsilon, **bounds))
            off = abs(deviation - held.std()).mean()
            print(f"| {one.column} | deviation ({held.std():.4g}) | {epsilon} | Iris {off:.3g}")
            quantiles(table, one, counts, epsilon, runs, rng)
            drawn = np.array(iris(table, ("bounds", one.column), runs, epsilon=epsilon), dtype=float)
            outside = np.mean([((values < low) | (values > high)).sum() for low, high in drawn])
            low, high = np.median(drawn, axis=0)
            print(f"| {one.column} | bounds | {epsilon} | usually {low:g} to {high:g}; {outside:.3g} records beyond")


if __name__ == "__main__":
    main()
