"""One noisy count for a group's name and its answer, against the best selection and a count, at the same (ε,δ) in all.

`python benchmarks/named_counts.py` prints a table in a few seconds. Exact laws, no draws: errors are means over the
noise, sizes are the least numbers of records from which on a group is named so surely.

- *apart*: a group is selected by the optimal rule at ε/2 and all of δ, and counted at ε/2.
- *one count*: `publish … count --select-groups`, which pays once. With a condition the sizes hold for groups that it
  parts in the middle, which are named least often.
- *worst*: the largest mean error over all sizes of a group, if one that is not named is taken to have no records.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from irisdp import Privacy
from irisdp._measurements import GeometricNoise, PartitionSelection
from irisdp._measurements import NoisyCountSelection as NamedCounts
from irisdp.privacy import enclose_steps

EPSILONS = ("0.1", "0.5", "1", "2")
DELTAS = ("1e-4", "1e-6")


def worst_of_one_count(mechanism: NamedCounts) -> float:
    """Return the largest mean error of a count that names its group."""
    noise, size = mechanism.noise, mechanism.noise.atoms_per_unit
    support = noise.support
    assert support is not None
    cells = np.arange(support[0], support[1] + 1)
    below = np.array([float(noise.below(int(z))) for z in (*cells, support[1] + 1)])
    masses = np.diff(below)
    worst = 0.0
    for count in range(2 * support[1] // size + 2):
        drawn = cells + count * size
        named = drawn > mechanism.last
        off = np.where(named, np.abs(np.floor_divide(drawn, size) - count), count)
        worst = max(worst, float(masses @ off))
    return worst


def worst_apart(selection: PartitionSelection, error: float) -> float:
    """Return the largest mean error of a count with this error in a group that is selected apart from it."""
    worst, count, sure = 0.0, 0, 0.0
    while sure < 1 - 1e-9:
        sure = float(enclose_steps(Fraction(0), count, selection.privacy, width=Fraction(1, 1 << 60)))
        worst, count = max(worst, sure * error + (1 - sure) * count), count + 1
    return worst


def sizes(named_from: dict[str, int]) -> str:
    """Write the sizes from which on a group is named, at 50, 95 and 99 %."""
    return " / ".join(map(str, named_from.values()))


def main() -> None:
    """Print the table."""
    heads = ["ε", "δ", "apart: off by", "named from", "worst", "one count: off by", "named from", "worst", "condition"]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for epsilon in EPSILONS:
        for delta in DELTAS:
            half = Privacy(epsilon=Fraction(epsilon) / 2, delta=delta)
            whole = Privacy(epsilon=epsilon, delta=delta)
            count, selection = GeometricNoise(half.pure), PartitionSelection(half)
            one = NamedCounts(whole)
            apart, together = (float(mechanism.expected_error()["mean_absolute"]) for mechanism in (count, one))
            row = [
                epsilon,
                delta,
                f"{apart:.3g}",
                sizes(selection.named_from()),
                f"{worst_apart(selection, apart):.3g}",
                f"{together:.3g}",
                sizes(one.named_from()),
                f"{worst_of_one_count(one):.3g}",
                sizes(NamedCounts(whole, split=True).named_from()),
            ]
            print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
