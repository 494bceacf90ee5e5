"""Sums and means beside those of OpenDP and diffprivlib: how far off, on average, at the same privacy.

    python benchmarks/sums.py --runs 2000 -o docs/sums.md

On the demo survey and two tables that statsmodels bundles as public domain. Each library is asked as it says itself, in
an environment of its own (see `benchmarks/peers.py`), with the same bounds and the same neighbouring relation:

- add-remove: OpenDP's bounded sum, and for a mean its sum and its count at half of ε each; also the sum of what values
  differ from the middle of the bounds, which has half the sensitivity ("centred");
- exchange, where the number of records is public and none is without a number: OpenDP's sum and mean of data of known
  size, and diffprivlib's, whose ε is for exchanges. Iris is asked with `missing`, which makes it know the same.

What all answer is clamped to public ends, as each library does or allows. Errors are from the true clamped sum or
mean of the numbers as they are. Exits with status 1 if Iris is further off anywhere by more than chance.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peers import PACKAGES, environment

import irisdp
from irisdp._release.pipeline import read_statistics as read_cells

EPSILONS = ("0.1", "0.5", "1", "2")
SURE = 3.5
"""Deviations by which two means may differ by chance: over all comparisons that is one in thirty."""

NEARER = 1.96
FOLDER = Path(__file__).parents[1]


@dataclass(frozen=True)
class Asked:
    table: str
    column: str
    lower: int
    upper: int


ASKED = (
    Asked("anes96", "age", 18, 100),
    Asked("anes96", "income", 1, 24),
    Asked("randhie", "mdvis", 0, 80),
    Asked("engel", "income", 0, 5000),
)
BUNDLED = """
import json, sys
import statsmodels.api as statsmodels
for name, column in json.load(sys.stdin):
    kind = getattr(statsmodels.datasets, name)
    assert "public domain" in kind.COPYRIGHT.lower(), kind.COPYRIGHT
    print(json.dumps(kind.load_pandas().data[column].astype(float).tolist()))
"""
THEIRS = """
import json, sys
import numpy as np
import opendp.prelude as dp
import diffprivlib.tools as tools

dp.enable_features("contrib")
WHOLE = dp.atom_domain(T=int), dp.absolute_distance(T=int)
REAL = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

def scale_of(transformation, d_in, epsilon):
    chain = lambda scale: transformation >> dp.m.then_laplace(scale)
    return dp.binary_search_param(chain, d_in=d_in, d_out=epsilon)

def many(space, scale, value, runs):
    # The noise of the chain at its scale, on the sum that it finds: as if the chain were invoked so often.
    noise = dp.m.make_laplace(*space, scale)
    return np.array([noise(value) for _ in range(runs)], dtype=float)

def opendp_sum(values, low, high, epsilon, runs, size):
    domain = dp.vector_domain(dp.atom_domain(bounds=(low, high), T=int), **({"size": len(values)} if size else {}))
    total = dp.t.make_sum(domain, dp.symmetric_distance())
    whole = [int(v) for v in np.clip(np.floor(values + 0.5), low, high)]
    return many(WHOLE, scale_of(total, 2 if size else 1, epsilon), total(whole), runs)

def opendp_count(values, epsilon, runs):
    counting = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
    return many(WHOLE, scale_of(counting, 1, epsilon), len(values), runs)

def opendp_mean(values, low, high, epsilon, runs):
    domain = dp.vector_domain(dp.atom_domain(bounds=(float(low), float(high)), T=float), size=len(values))
    mean = dp.t.make_mean(domain, dp.symmetric_distance())
    value = mean([float(v) for v in np.clip(values, low, high)])
    return many(REAL, scale_of(mean, 2, epsilon), value, runs)

request = json.load(sys.stdin)
runs, found = request["runs"], []
for job in request["jobs"]:
    values, low, high = np.array(job["values"]), job["lower"], job["upper"]
    for text in request["epsilons"]:
        epsilon, n = float(text), len(values)
        halves = opendp_sum(values, low, high, epsilon / 2, runs, False), opendp_count(values, epsilon / 2, runs)
        middle = low + (high - low) // 2
        centred = opendp_sum(values - middle, low - middle, high - middle, epsilon / 2, runs, False)
        both = dict(epsilon=epsilon, bounds=(low, high))
        answers = {
            "OpenDP sum add-remove": opendp_sum(values, low, high, epsilon, runs, False),
            "OpenDP mean add-remove": np.clip(halves[0] / np.maximum(halves[1], 1), low, high),
            "centred mean add-remove": np.clip(
                middle + centred / np.maximum(halves[1], 1), low, high
            ),
            "OpenDP sum exchange": np.clip(opendp_sum(values, low, high, epsilon, runs, True), n * low, n * high),
            "OpenDP mean exchange": np.clip(opendp_mean(values, low, high, epsilon, runs), low, high),
            "diffprivlib sum exchange": [tools.sum(values, **both) for _ in range(runs)],
            "diffprivlib mean exchange": [tools.mean(values, **both) for _ in range(runs)],
        }
        found.append({name: [float(answer) for answer in drawn] for name, drawn in answers.items()})
json.dump(found, sys.stdout)
"""
"""Runs in the other environment."""


@dataclass(frozen=True)
class Error:
    mean: float
    deviation: float
    """Of that mean."""

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {NEARER * self.deviation:.2g}"


def main() -> None:
    options = read_arguments()
    python = environment(options.environment)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "statsmodels"], check=True)
    values = all_values(python)
    jobs = [{"values": values[one].tolist(), "lower": one.lower, "upper": one.upper} for one in ASKED]
    theirs = json.loads(run(python, THEIRS, {"runs": options.runs, "epsilons": EPSILONS, "jobs": jobs}))
    answers = iter(theirs)
    lines, worse, gains = [], 0, []
    for one in ASKED:
        for epsilon in EPSILONS:
            peers = next(answers)
            for query in ("sum", "mean"):
                for relation in ("add-remove", "exchange"):
                    truth = true_answer(query, values[one], one)
                    ours = error_of(drawn(one, query, relation, epsilon, values[one], options.runs), truth)
                    others = {
                        name.partition(" ")[0]: error_of(found, truth)
                        for name, found in peers.items()
                        if name.endswith(f" {query} {relation}")
                    }
                    best = min(others.values(), key=lambda error: error.mean)
                    beyond = (ours.mean - best.mean) / math.hypot(ours.deviation, best.deviation)
                    worse += beyond > SURE
                    gains.append((query, relation, epsilon, 1 - ours.mean / best.mean))
                    cells = [str(ours), *(str(others.get(name, "-")) for name in ("OpenDP", "centred", "diffprivlib"))]
                    told = f"{one.table} {one.column}", f"{one.lower} to {one.upper}", query, relation, epsilon
                    lines.append(f"| {' | '.join([*told, *cells, f'{1 - ours.mean / best.mean:+.1%}'])} |")
    page = written(lines, gains, options.runs, worse)
    print(page)
    if options.out is not None:
        options.out.write_text(page + "\n", encoding="utf-8")
    sys.exit(worse > 0)


def all_values(python: str) -> dict[Asked, np.ndarray]:
    """Read each column: the survey's from this repository, others as statsmodels bundles them."""
    bundled = [one for one in ASKED if one.table != "anes96"]
    listed = run(python, BUNDLED, [[one.table, one.column] for one in bundled]).splitlines()
    found = {one: np.array(json.loads(line)) for one, line in zip(bundled, listed, strict=True)}
    with (FOLDER / "examples" / "anes96.csv").open(encoding="utf-8") as survey:
        rows = list(csv.DictReader(survey))
    return found | {one: np.array([float(row[one.column]) for row in rows]) for one in ASKED if one.table == "anes96"}


def run(python: str, program: str, request: object) -> str:
    done = subprocess.run(
        [python, "-c", program], input=json.dumps(request), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def drawn(one: Asked, query: str, relation: str, epsilon: str, values: np.ndarray, runs: int) -> np.ndarray:
    """Draw and show as a publication does, so often: the same mechanism about the same cell."""
    import pyarrow as pa

    more = {"missing": one.lower} if relation == "exchange" else {}
    planned = irisdp.plan(
        pa.table({one.column: values}), query, one.column, lower=one.lower, upper=one.upper, epsilon=epsilon,
        relation=relation, **more,
    )  # fmt: skip
    nodes, mechanism = read_cells(planned, bytes(32)).nodes, planned.audiences[0].mechanism
    return np.array([mechanism.show(mechanism.draw(nodes).tolist(), nodes)[0] for _ in range(runs)], dtype=float)


def true_answer(query: str, values: np.ndarray, one: Asked) -> float:
    clamped = np.clip(values, one.lower, one.upper)
    return float(clamped.sum() if query == "sum" else clamped.mean())


def error_of(answers: object, truth: float) -> Error:
    errors = np.abs(np.array(answers) - truth)
    return Error(float(errors.mean()), float(errors.std() / math.sqrt(len(errors))))


def written(lines: list[str], gains: list[tuple[str, str, str, float]], runs: int, worse: int) -> str:
    """Write the page."""
    means = [
        f"- {query}, {relation}: " + ", ".join(
            f"{np.mean([gain for *key, gain in gains if key == [query, relation, epsilon]]):+.1%} at ε = {epsilon}"
            for epsilon in EPSILONS
        )
        for query in ("sum", "mean")
        for relation in ("add-remove", "exchange")
    ]  # fmt: skip
    packages = " and ".join(package.replace("==", " ") for package in PACKAGES[:2])
    return "\n".join(
        [
            "# Sums and means, side by side",
            "",
            f"Mean absolute errors of {runs:,} runs each, with 95 % intervals, of Iris and of {packages},",
            "asked for the same at the same privacy; `benchmarks/sums.py` measures them, and says how. The gain is",
            f"against the best of the others. Further off than that by more than chance ({SURE} deviations):",
            f"{worse} of {len(lines)}.",
            "",
            "Mean gain over the columns:",
            "",
            *means,
            "",
            "| column | bounds | query | relation | ε | Iris | OpenDP | OpenDP, centred | diffprivlib | gain |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *lines,
        ]
    )


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=2000, help="answers of each (default: %(default)s)")
    parser.add_argument("-o", "--out", type=Path, help="where to write the page")
    home = FOLDER / "build" / "peers"
    parser.add_argument("--environment", type=Path, default=home, help="where OpenDP and diffprivlib are, or will be")
    return parser.parse_args()


if __name__ == "__main__":
    main()
