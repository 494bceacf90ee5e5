"""Dual certificates: numbers from which anyone can compute a bound that no private mechanism passes.

Take any weights w (for an average those of the goal; for a worst case weights on S with sum 1) and any multipliers λ ≥
0 on directed edges and answers. Then every (r,δ)-private mechanism has a goal of at least

    Σ_i min_v [ w_i loss(i, v) + Σ_{j~i} (λ_(i,j),v − r λ_(j,i),v) ]  −  δ Σ_(i,j) max_v λ_(i,j),v

with multipliers for every pair (r, δ) where there are several, and both sums over the pairs as well
(weak duality; proofs/weak-duality.md). So a certificate may be rounded at will: it gets weaker, never wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint

from ...exact import rational_text
from ...linprog.program import as_fmpq, as_fraction
from ...privacy import Privacy
from .goals import Goal

__all__ = ["Dual", "Multipliers", "multiplier_entry"]

Multipliers = dict[tuple[int, int, int, int], Fraction]
"""(i, j, v, k) → λ for the constraint x_iv ≤ r x_jv + excess of pair k; zeros left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dual:
    """Weights of the inputs and multipliers of the privacy constraints.

    Parameters
    ----------
    weights : tuple of Fraction
        w, one per input.
    multipliers : Multipliers
        λ, non-negative.
    """

    weights: tuple[Fraction, ...]
    multipliers: Multipliers

    def bound(self, goal: Goal, privacy: Privacy) -> Fraction:
        """Return the lower bound on the goal of every mechanism with this privacy, exactly."""
        ratios = [as_fmpq(pair.ratio) for pair in privacy.pairs]
        scores = [[as_fmpq(w) * as_fmpq(x) for x in losses] for w, losses in zip(self.weights, goal.loss, strict=True)]
        largest: dict[tuple[int, int, int], Fraction] = {}
        for (i, j, v, pair), multiplier in self.multipliers.items():
            scores[i][v] += as_fmpq(multiplier)
            scores[j][v] -= ratios[pair] * as_fmpq(multiplier)
            largest[i, j, pair] = max(largest.get((i, j, pair), Fraction(0)), multiplier)
        total = sum((min(row) for row in scores), flint.fmpq(0))
        spent = (privacy.pairs[pair].delta * most for (_, _, pair), most in largest.items())
        return as_fraction(total) - sum(spent, start=Fraction(0))

    def normalised(self, goal: Goal) -> Dual:
        """For a worst case make the weights sum to exactly 1."""
        if goal.side_information is None:
            return self
        weights, total = list(self.weights), sum(self.weights, start=Fraction(0))
        heaviest = max(goal.side_information, key=weights.__getitem__)
        if weights[heaviest] + 1 - total >= 0:
            weights[heaviest] += 1 - total  # rounding, or weight that the optimum does not need: keeps the others short
        else:
            weights = [w / total for w in weights]
        return replace(self, weights=tuple(weights))

    def rounded(self, goal: Goal, places: int) -> Dual:
        """Round everything that is free to decimals of so many places: short to write, and hardly weaker."""
        multipliers = {key: rounded for key, x in self.multipliers.items() if (rounded := round(x, places))}
        weights = self.weights if goal.side_information is None else tuple(round(w, places) for w in self.weights)
        return Dual(weights=weights, multipliers=multipliers).normalised(goal)

    def to_document(self, goal: Goal) -> dict[str, Any]:
        """Write the certificate of a mechanism file; inputs and answers stand by their positions."""
        return {
            "kind": "dual",
            **goal.to_document(self.weights),
            "multipliers": [multiplier_entry(key, x) for key, x in sorted(self.multipliers.items())],
        }


def multiplier_entry(key: Sequence[Any], multiplier: Fraction) -> list[Any]:
    """Write [i, j, v, λ], and for a pair of privacy after the first its number behind it."""
    *place, pair = key
    return [*place, rational_text(multiplier), *([pair] if pair else [])]
