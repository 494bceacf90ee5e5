"""From private nodes to released answers: which mechanism answers, its exact law, and its error from public facts.

`law` is not used to publish. It is what the proof by exhaustion multiplies out: the object that draws also says,
exactly, what it draws from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanisms import Row, Stepped, geometric_row
from ..privacy import Privacy, enclose_steps, steps
from ..queries import ClassNodes, CountNodes
from ..sampling import BitSource, add_geometric, draw_ranks

__all__ = ["ClassRespondent", "CountRespondent", "Selector"]

Integers = NDArray[np.int64]

_FAR = 1 << 62
"""A depth beyond any table; the search for "right from here on" ends there."""


@dataclass(frozen=True, slots=True)
class CountRespondent:
    """Adds two-sided geometric noise: the one mechanism that all minimax readers of a count agree on.

    References
    ----------
    docs/theory.md#counts; proofs/geometric-privacy.md.
    """

    privacy: Privacy

    def draw(self, nodes: CountNodes, source: BitSource | None = None) -> Integers:
        """Draw one unbounded noisy count per cell; `show` makes answers of them."""
        return add_geometric(nodes.values, self.privacy, source=source)

    @staticmethod
    def show(noisy: Integers, nodes: CountNodes) -> list[Any]:
        """Clamp to the ends of the cells' paths where they are public; nothing is lost by it."""
        answers: list[Any] = (noisy if nodes.upper is None else np.clip(noisy, nodes.lower, nodes.upper)).tolist()
        return answers

    def law(self, count: int, largest: int) -> Row:
        """Return the law of the answer clamped to 0..largest, for a count in that range.

        Clamping there hides nothing: beyond the range the likelihood ratio of any two counts inside is constant.
        """
        return geometric_row(count, largest, self.privacy.ratio)

    def expected_error(self) -> dict[str, Any]:
        """Return the mean absolute error 2α/(1−α²), and what 95 % of answers stay within."""
        ratio = self.privacy.ratio
        if ratio == 1:
            return {"mean_absolute": None, "within_95_percent": None}
        # P(|Z| > k) = 2·α^(k+1)/(1+α) ≤ 1/20
        excess = math.log(40 / (1 + 1 / float(ratio))) / math.log1p(float(ratio - 1))
        return {
            "mean_absolute": float(2 * ratio / (ratio**2 - 1)),
            "within_95_percent": max(0, math.ceil(excess) - 1),
        }

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        if error["mean_absolute"] is None:
            return "pure noise"
        return (
            f"off by {error['mean_absolute']:.3g} on average, by at most {error['within_95_percent']} in 95 % of cases"
        )

    def document(self) -> dict[str, Any]:
        """Name the mechanism for whoever reads the answers."""
        return {"kind": "geometric-noise"}


@dataclass(frozen=True, slots=True)
class ClassRespondent:
    """Answers which class a node is in, right with the largest probability that its depth allows.

    References
    ----------
    [DOliveira2021], Theorem 4, corrected, docs/theory.md#operator; proofs/rainbow-optimality.md.
    """

    mechanism: Stepped

    @property
    def privacy(self) -> Privacy:
        """Privacy of one step on a cell's graph."""
        return self.mechanism.privacy

    def draw(self, nodes: ClassNodes, source: BitSource | None = None) -> list[Any]:
        """Draw one answer per class and depth."""
        boundary = [self.mechanism.prefix_sums(number) for number in range(len(self.mechanism.boundary))]
        ranks = draw_ranks(boundary, nodes.true_class, nodes.depth, self.privacy, source=source)
        names = np.array(self.mechanism.rankings, dtype=object)
        answers: list[Any] = names[nodes.true_class, ranks].tolist()
        return answers

    def law(self, group: int, depth: int) -> Row:
        """Return the exact law over `mechanism.outputs`."""
        ranked = dict(zip(self.mechanism.rankings[group], self.mechanism.row(group, depth), strict=True))
        return tuple(ranked[output] for output in self.mechanism.outputs)

    def expected_error(self) -> dict[str, Any]:
        """Return the probability of a wrong answer at the boundary, and the depths that bring it to 5 % and 1 %."""
        return {
            "wrong_at_boundary": float(1 - self.mechanism.boundary[0][0]),
            "depth_for_95_percent": self._depth_for(Fraction(19, 20)),
            "depth_for_99_percent": self._depth_for(Fraction(99, 100)),
        }

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        text = f"wrong with probability {error['wrong_at_boundary']:.3g} at worst (at the boundary)"
        depth = error["depth_for_99_percent"]
        return text if depth is None else f"{text}, below 1 % from {depth} records away on"

    def document(self) -> dict[str, Any]:
        """Describe the mechanism for whoever reads the answers."""
        return {
            "kind": "stepped",
            "rankings": [list(ranking) for ranking in self.mechanism.rankings],
            "boundary": [[str(p) for p in row] for row in self.mechanism.boundary],
        }

    def _depth_for(self, truth: Fraction) -> int | None:
        """Return the first depth at which every class is right with this probability; None if out of reach."""

        def right(depth: int) -> bool:
            return all(self.mechanism.truth(number, depth).lower >= truth for number in range(2))

        return _first_where(right) if right(_FAR) else None


@dataclass(frozen=True, slots=True)
class Selector:
    """Decides which groups may be named: a group of n records with probability u applied n times to 0.

    References
    ----------
    [Desfontaines2022] (the optimal rule); docs/theory.md#operator; proofs/partition-selection.md.
    """

    privacy: Privacy

    def draw(self, sizes: Integers, source: BitSource | None = None) -> NDArray[np.bool_]:
        """Draw for every group whether it is named."""
        # u^n(0) is the second rank of a class whose first prefix sum is 0, so rank 0 means "named".
        ranks: NDArray[np.int64] = draw_ranks([[Fraction(0)]], np.zeros_like(sizes), sizes, self.privacy, source=source)
        named: NDArray[np.bool_] = ranks == 0
        return named

    def law(self, size: int) -> Fraction:
        """Return the exact probability that a group of this size is named."""
        return steps(Fraction(0), size, self.privacy)

    def describe_error(self) -> str:
        """Say from which size on a group is named almost surely."""
        size = _first_where(lambda n: self._named(n) >= Fraction(19, 20))
        return f"a group is named with probability 95 % from {size} records on"

    def _named(self, size: int) -> Fraction:
        return enclose_steps(Fraction(0), size, self.privacy, width=Fraction(1, 1 << 40)).lower


def _first_where(holds: Callable[[int], bool]) -> int:
    """Return the smallest n ≥ 0 from which on something holds that holds somewhere, and ever after."""
    low, high = -1, 0
    while not holds(high):
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
