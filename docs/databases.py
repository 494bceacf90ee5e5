"""Measure sorted lists beside noise on every count, and write docs/databases.md.

    python docs/databases.py

Takes about a minute. The list and the mechanisms' errors are those of benchmarks/partitions.py.
"""

from __future__ import annotations

import runpy
import statistics
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from irisdp import Privacy
from irisdp.mechanisms import minimax_risk, noise_risk, release_largest

Counts = NDArray[np.int64]
HERE = Path(__file__).parent
BENCHMARK = runpy.run_path(str(HERE.parent / "benchmarks" / "partitions.py"))
REPEATS = 11
TOTALS = (100, 1_000, 10_000, 100_000, 1_000_000)
SORTING = ((3, 2), (100, 2), (100, 10), (10_000, 10), (10_000, 100), (10**6, 100), (10**6, 600), (10**6, 10_000))
SORTING_EPSILON = "0.1"


PAGE = """# Whole databases: sorted lists beside noise on every count

Written by `docs/databases.py` from the public interface; do not edit by hand.

A list of counts in order, without names, such as how many people chose the most frequent password, the second,
and so on, can be released in two ways.

- The **partition mechanism** draws one sorted list y with probability proportional to β^Σ|y_i − x_i|, exactly. It knows
  that the list is sorted, and long runs of equal counts hold each other in place. Half of ε goes into the exponent
  (β = e^(−ε/4) for a unit of one count), as the sum of all weights also changes from list to list.
- **Discrete Laplace and sorting** adds two-sided geometric noise to every count, raises negatives to 0 and sorts
  again. All of ε goes into the noise (α = e^(−ε/2)), but every type pays for it.

Both are private under exchange of one record, at the same ε. The true list is Zipf-like: ⌊c/1⌋, ⌊c/2⌋, ⌊c/3⌋, …, 1.
Errors are Σ|released − true|, as mean ± standard deviation of @REPEATS@ releases. Noise is added only to the types
that occur. It needs their list; the partition mechanism does not.

## The whole list

@WHOLE@

The error of noise grows with the number of types, that of the partition mechanism about with the root of the number of
records. Order is little help where counts are few, or where ε is so large that noise hardly reaches from one count to
the next. There, noise with all of ε in it is as good or better. Where ε²·N is below about 10, both release little but
noise, and
the error exceeds the number of records.

## The largest counts only

@LARGEST@

The few largest counts stand far apart: there noise is the better choice, until the list reaches into the crowd.

## What the wider set of lists costs

The partition mechanism draws from all sorted lists with i · y_i ≤ N. If N is the exact number of records,
the same weights on partitions of N alone are as private. No draw of those is offered: drawing again until a list sums
to N has exactly that law, but how long it takes tells of the data. Mean errors for lists as above, filled up to N with
types of one record, computed from the sums of weights:

@SUPPORT@

The larger ε²·N, the less it matters.

## What no mechanism can beat

Theorem 3 of [Alda2017] bounds the minimax risk of the r largest of counts that sum to at most N
(of at least N types, ε ≤ 1/8) from below. The bound has order N if N ≤ 1 + 1/(4ε). It has order √(N/ε) if N ≥ 1/(2ε),
up to the next case, which has order r/ε if N ≥ r(r+1)/(4ε) + r. ([Alda2017] prints the second without its upper end,
where it is false, and no proof. Our page proofs/sorting.md has one, with a constant of at least 1/74.) A dash means
that a case does not hold. The last two columns are at ε = @EPSILON@ under exchange. One is the measured error of
sorting on the Zipf-like list, after raising negatives to 0 and sorting again. The other is the exact mean before that,
r·2α/(1 − α²), which is close to 2r/ε. The bound is on the worst
list, the measured error on one.

@SORTING@

In the third regime the risk of sorting is at most about 2r/ε, so no mechanism is better by more than a constant. In the
second, the bound √(N/ε) does not grow with r, while the error of sorting does.

[Alda2017]: references.md#alda2017
"""


def error_rows(cases: list[tuple[str, int, int | None]]) -> list[str]:
    """Return table rows: mean error and standard deviation of both, and by how much they differ."""
    rows = []
    for epsilon, total, parts in cases:
        ours, theirs = BENCHMARK["errors"](total, parts, Privacy(epsilon=epsilon), REPEATS)
        types = len(BENCHMARK["zipf_like"](total))
        times = statistics.mean(theirs) / statistics.mean(ours)
        size = f"{total:,} | {types:,} | {parts or 'all'}"
        rows.append(f"| {epsilon} | {size} | {spread(ours)} | {spread(theirs)} | {times:.3g} |")
    return rows


def sorting_rows() -> list[str]:
    """Return table rows: the regimes that hold, their orders, and the error of sorting measured and computed."""
    privacy, rows = Privacy(epsilon=SORTING_EPSILON), []
    for total, largest in SORTING:
        found = minimax_risk(total, largest, privacy)
        counts = np.zeros(max(total, largest), dtype=np.int64)
        present = BENCHMARK["zipf_like"](total)
        counts[: len(present)] = present
        measured = []
        for _ in range(REPEATS):
            released = release_largest(counts, largest, privacy)
            measured.append(float(np.abs(released - counts[:largest]).sum()))
        orders = {number: f"{order:,.4g}" for number, order in found.regimes}
        cells = " | ".join(orders.get(number, "–") for number in (1, 2, 3))
        exact = float(noise_risk(largest, privacy))
        rows.append(f"| {total:,} | {largest:,} | {cells} | {spread(measured)} | {exact:,.4g} |")
    return rows


def support_rows() -> list[str]:
    """Return table rows: what it costs that lists released need not sum to the number of records."""
    rows = []
    for epsilon in ("0.3", "1", "4"):
        for total in (30, 300, 3_000):
            wide, narrow = (mean_error(total, float(epsilon), fixed_sum=fixed) for fixed in (False, True))
            rows.append(f"| {epsilon} | {total:,} | {wide:,.4g} | {narrow:,.4g} | {wide / narrow:.2f} |")
    return rows


def mean_error(total: int, epsilon: float, *, fixed_sum: bool) -> float:
    """Return the mean of Σ|y_i − x_i| in floats: by how much log Z grows with log β."""
    counts = BENCHMARK["zipf_like"](total)
    filled = np.concatenate((counts, np.ones(total - counts.sum(), dtype=np.int64)))
    steps = (-epsilon / 4 * (1 - 1e-4), -epsilon / 4 * (1 + 1e-4))
    high, low = (log_sum(filled, total, log_beta, fixed_sum=fixed_sum) for log_beta in steps)
    return (high - low) / (steps[0] - steps[1])


def log_sum(counts: Counts, total: int, log_beta: float, *, fixed_sum: bool) -> float:
    """Return log Σ β^Σ|y_i − x_i| over sorted y with i·y_i ≤ total, or over partitions of the total only."""
    size = total + 1 if fixed_sum else 1
    before, scale = np.zeros((total + 1, size)), 0.0  # Σ over y_1 ≥ … ≥ y_i ≥ u, for every u and every sum so far
    before[:, 0] = 1
    for i in range(1, total + 1):
        target = counts[i - 1] if i <= len(counts) else 0
        rows = np.zeros((total // i + 1, size))
        for u in reversed(range(len(rows))):
            shift = u if fixed_sum else 0
            rows[u, shift:] = np.exp(log_beta * abs(u - target)) * before[u, : size - shift]
            if u + 1 < len(rows):
                rows[u] += rows[u + 1]
        before = rows / rows.max()
        scale += np.log(rows.max())
    return float(np.log(before[0, -1]) + scale)


def spread(values: list[float]) -> str:
    """Write a mean and a standard deviation."""
    return f"{statistics.mean(values):,.0f} ± {statistics.stdev(values):,.0f}"


def main() -> None:
    """Measure and write the page."""
    head = "| ε | records | types | parts | partition mechanism | discrete Laplace, sorted | times as much |"
    line = "|--:|--:|--:|--:|--:|--:|--:|"
    whole = [(epsilon, total, None) for epsilon in ("0.1", "1", "4") for total in TOTALS]
    largest = [(epsilon, TOTALS[-1], parts) for epsilon in ("0.1", "1") for parts in (10, 100, 1_000, 10_000)]
    tables = {
        "REPEATS": [str(REPEATS)],
        "WHOLE": [head, line, *error_rows(whole)],
        "LARGEST": [head, line, *error_rows(largest)],
        "SUPPORT": [
            "| ε | records | error over all lists | over lists that sum to N | times as much |",
            "|--:|--:|--:|--:|--:|",
            *support_rows(),
        ],
        "EPSILON": [SORTING_EPSILON],
        "SORTING": [
            "| N | r | 1: N | 2: √(N/ε) | 3: r/ε | measured | exact mean of the noise |",
            line,
            *sorting_rows(),
        ],
    }
    page = PAGE
    for name, rows in tables.items():
        page = page.replace(f"@{name}@", "\n".join(rows))
    (HERE / "databases.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
