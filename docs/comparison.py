"""Compare this library's mechanisms with others, exactly, and write docs/comparison.md and its pictures.

python docs/comparison.py
"""

from __future__ import annotations

from pathlib import Path

from irisdp import compare
from irisdp.baselines import Comparison

HERE = Path(__file__).parent
EPSILONS = ("1/2", "1", "2")


def table(comparisons: list[Comparison], objective: str, kept: slice = slice(None)) -> str:
    """Return errors as a table: a row for each mechanism, a column for each ε."""
    lines = ["| mechanism | " + " | ".join(f"ε = {epsilon}" for epsilon in EPSILONS) + " |", "|---" + "|--:" * 3 + "|"]
    for place, one in enumerate(comparisons[0].mechanisms[kept]):
        values = (f"{float(found.mechanisms[kept][place].errors[objective]):.4f}" for found in comparisons)
        name = f"**{one.name}**" if one.ours else one.name
        lines.append(f"| {name} | " + " | ".join(values) + " |")
    return "\n".join(lines)


def main() -> None:
    """Compare, and write down what comes of it."""
    winners = [compare("plurality", categories=4, n=20, epsilon=epsilon) for epsilon in EPSILONS]
    added = [compare("plurality", categories=4, epsilon=epsilon, relation="add-remove") for epsilon in EPSILONS]
    counts = [compare("count", epsilon=epsilon, delta="1e-6") for epsilon in EPSILONS]
    voted = [compare("majority", n=21, epsilon=epsilon) for epsilon in EPSILONS]
    variances = {
        relation: [compare("variance", epsilon=epsilon, relation=relation) for epsilon in EPSILONS]
        for relation in ("add-remove", "exchange")
    }
    several = [compare("quantiles", "0.1,0.25,0.5,0.75,0.9", categories=12, epsilon=epsilon) for epsilon in EPSILONS]
    bounds = [compare("bounds", epsilon=epsilon) for epsilon in EPSILONS]
    medians = [compare("median", categories=4, n=20, epsilon=epsilon) for epsilon in EPSILONS]
    winners[1].save(HERE / "figures" / "compared.svg", force=True)
    page = f"""# Beside other mechanisms

Written by `docs/comparison.py` with `irisdp.compare`; do not edit by hand. Every number is worked out, as a
fraction or an enclosure; none is sampled. All mechanisms in a column satisfy the same ε, for counts of any size. Which ε each of them uses for a record, and why it may not be more, is explained in [theory.md](theory.md#peers). In bold: what this
library answers with.

## The largest of four categories, a record exchanged

How often the wrong one is named, at its largest over all counts:

{table(winners, "worst")}

Mean over twenty records, each in any category alike:

{table(winners, "mean-records")}

![compared](figures/compared.svg)

Pull from the top has the smallest worst error of all private mechanisms; its mean is claimed to be the
smallest from e^ε = 6 on.

## The largest of four categories, records added or removed

At worst. Here this library answers by permute and flip, with all of ε a record, and claims no optimum:

{table(added, "worst")}

## A majority, a record exchanged

How often yes or no is wrong, mean over 0 to 21 of 21 records that say yes:

{table(voted, "mean")}

## The bin of the median, a record exchanged

How often the wrong one of four bins is named, mean over all histograms of twenty records:

{table(medians, "mean")}

And by how many records it is off:

{table(medians, "records-off")}

At worst, one record from the bins on both sides, permute and flip is wrong less often at small ε; nobody is below
3/(e^ε + 3):

{table(medians, "worst")}

## A count

Mean size of the error, at δ = 10⁻⁶ where it is used:

{table(counts, "absolute")}

δ this small buys next to nothing on one release. Read well, geometric noise (with δ: universal noise) serves every
reader whose loss never falls away from the truth as well as any private mechanism.

## A variance

Root mean square of N times the error, to first order in the noise, in squares of half of the distance between the bounds. Records added or removed, all values at one bound:

{table(variances["add-remove"], "at-bound")}

Values spread evenly between the bounds:

{table(variances["add-remove"], "evenly")}

A record exchanged, all values at one bound. The first and the last are for a public number of records that all have a value:

{table(variances["exchange"], "at-bound")}

Values spread evenly:

{table(variances["exchange"], "evenly")}

## Five quantiles of twelve bins, a record exchanged

How many records the rank and the named bin are apart at most, in 95 % of cases, whatever the data. These are bounds, for the hardest of 0.1, 0.25, 0.5, 0.75 and 0.9:

{table(several, "apart-95")}

## Bounds for values, a record exchanged

How many records a bin between two powers of two needs to lie within the bounds in 95 % of cases:

{table(bounds, "inside-from")}

With the same threshold for 5 %, whole thresholds can be one record larger than those of Laplace noise.

## As JSON

`irisdp compare … --json`, and `Comparison.to_document` in Python:

| key | what it holds |
|---|---|
| `format` | "irisdp/comparison/1" |
| `query`, `categories`, `n` | the question and its public sizes; null where none was given |
| `relation`, `privacy` | the privacy, as in mechanism files |
| `objectives` | a list of `name`, `meaning` and `unit` ("probability", "records", "records²") |
| `mechanisms` | this library's first: `name`, `known_as`, `ours`, `runs_at` and `why`, `scope` (what is claimed), `errors` |
| `errors` | by the name of an objective: `value` (a float), `lower` and `upper` (decimals around the number, rounded outward), `exact` (the fraction, where there is one and it is short, else null), `to_ours` (over the first mechanism's) |
| `notes` | what was left out, and why |
"""  # noqa: E501
    (HERE / "comparison.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
