"""A consumer of a published count: what a wrong answer costs, which counts are possible, and perhaps a prior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, counts, entries, integer, numbers
from .._frames import InOneLine
from ..errors import BadInput
from ._loss_functions import Loss, read_loss

_PRIOR_SUM = Fraction(1, 10**9)
"""A prior normalised in floats may miss 1 by this much; it is then divided by its exact sum."""

_MOST_DECIMAL = 1000
"""Counts up to which an array of floats is read as decimals, as a list is; for more that would take seconds."""

LARGEST_N = 10**7
"""Largest count that is read with an upper bound."""


@checked
@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Consumer(InOneLine):
    """A reader of a count in 0..n: minimax over what is possible, or Bayesian with a prior.

    Parameters
    ----------
    n : int
        Largest count, at least 0.
    loss : Loss, name, mapping or table
        As `irisdp.consumers._loss_functions` has them: a name ("absolute"), `pinball(too_low=…, too_high=…)` or its
        text ("pinball:1:3"), and so on; or a table: a row per truth, a column per answer.
    side_information : sequence or mapping, optional
        The counts deemed possible, as a list or as {"at_least": a, "at_most": b}; all when left out.
    prior : sequence, array, mapping or frozen SciPy distribution, optional
        Probabilities of 0..n; a mapping gives them by count, and 0 for counts that it leaves out. With a prior, the
        expected loss is minimised instead of the worst. Numbers are exact, and a float is read as its shortest decimal;
        an array of more than 1,001 floats as the binary numbers it holds. Of a distribution with a `pmf` the values at
        0..n are taken, normalised.

    Raises
    ------
    BadInput
        For a loss of another shape, side information outside 0..n, or an invalid prior.

    Examples
    --------
    >>> Consumer(5, "absolute", side_information={"at_least": 2}).possible
    (2, 3, 4, 5)
    """

    n: int
    loss: Loss
    possible: Sequence[int]
    prior: tuple[Fraction, ...] | NDArray[np.float64] | None = field(repr=False)

    def __init__(self, n: int, loss: Any, *, side_information: Any = None, prior: Any = None) -> None:
        n = integer(n, "n", at_least=0, at_most=LARGEST_N)
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "loss", read_loss(loss, n))
        object.__setattr__(self, "possible", _possible(side_information, n))
        object.__setattr__(self, "prior", None if prior is None else _prior(prior, self.possible, n))

    def _summary(self) -> str:
        known = f"{len(self.possible)} of " if len(self.possible) <= self.n else ""
        return f"{self.goal}; {known}counts 0 to {self.n}{'' if self.prior is None else ', with a prior'}"

    @property
    def goal(self) -> str:
        """What is minimised, in words."""
        return f"{'worst ' if self.prior is None else ''}expected {self.loss.name} loss"

    @property
    def universal(self) -> bool:
        """Whether reading the geometric mechanism well is certain to be as good as any private mechanism.

        It is for every loss that, at every possible count, never falls as the answer moves away on either side
        (proofs/universality.md). Otherwise only the whole program tells.
        """
        return self.loss.never_falls(self.considered)

    @property
    def considered(self) -> Sequence[int]:
        """The counts that matter: possible ones, with a prior those of positive probability."""
        if self.prior is None:
            return self.possible
        return [i for i in self.possible if self.prior[i] > 0]

    def exact_prior(self) -> tuple[Fraction, ...]:
        """Return the prior as rationals that sum to exactly 1."""
        assert self.prior is not None
        weights = [Fraction(w) for w in self.prior]
        total = sum(weights, Fraction(0))
        return tuple(w / total for w in weights)


def _possible(side_information: Any, n: int) -> Sequence[int]:
    if side_information is None:
        return range(n + 1)
    if isinstance(side_information, Mapping):
        if set(side_information) - {"at_least", "at_most"}:
            raise BadInput("side_information", "may hold at_least and at_most only", 'write {"at_least": 2}')
        first = integer(side_information.get("at_least", 0), "side_information", at_least=0, at_most=n)
        last = integer(side_information.get("at_most", n), "side_information", at_least=0, at_most=n)
        possible: Sequence[int] = tuple(range(first, last + 1))
    elif entries(side_information) is not None:
        possible = tuple(sorted(set(counts(side_information, "side_information", at_most=n))))
    else:
        raise BadInput("side_information", "must be a list of counts or bounds", 'write [0, 1] or {"at_least": 2}')
    if not possible:
        raise BadInput("side_information", "leaves no count possible", "name at least one")
    return possible


def _prior(given: Any, possible: Sequence[int], n: int) -> tuple[Fraction, ...] | NDArray[np.float64]:
    weights: tuple[Fraction, ...] | NDArray[np.float64]
    if hasattr(given, "pmf"):
        weights = np.asarray(given.pmf(np.arange(n + 1)), dtype=np.float64)
        if np.isfinite(weights).all() and weights.sum() > 0:
            weights = weights / weights.sum()
    elif isinstance(given, np.ndarray) and given.dtype.kind == "f" and given.shape == (n + 1,) and n > _MOST_DECIMAL:
        weights = given.astype(np.float64)
    else:
        weights = numbers(_listed(given, n) if isinstance(given, Mapping) else given, "prior", n + 1)
    if isinstance(weights, np.ndarray):
        total: Any = math.fsum(weights) if np.isfinite(weights).all() else math.inf
    else:
        total = sum(weights, Fraction(0))
    if not abs(total - 1) <= _PRIOR_SUM or min(weights) < 0:
        rule, remedy = "must be probabilities that sum to 1", 'write exact ones, such as "1/3"'
        if min(weights) >= 0 and 0 < total < math.inf:
            rule += f", and these sum to {float(total):.6g}"
            remedy = f"divide every entry by the sum; {remedy}"
        raise BadInput("prior", rule, remedy)
    outside = np.ones(n + 1, bool)
    outside[list(possible)] = False
    if any(weights[i] for i in np.flatnonzero(outside)):
        raise BadInput("prior", "gives probability to counts outside the side information", "set it to 0 there")
    return weights


def _listed(given: Mapping[Any, Any], n: int) -> list[Any]:
    """Return the probabilities of a mapping by count; a count that it does not name has none."""
    for count in given:
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= n:
            raise BadInput("prior", f"has the key {str(count)[:40]!r}, which is no count from 0 to {n}", "name counts")
    return [given.get(count, 0) for count in range(n + 1)]
