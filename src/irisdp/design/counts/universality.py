"""Universality side by side, its structure, and the reading that dominates any given mechanism.

For a loss that never falls with distance on either side, no private mechanism for a count (δ = 0) is better than
geometric noise, read. And not only in the worst case: for every private mechanism there is one reading that loses no
more, at any count and under any such loss. It is read off the mechanism directly (proofs/universality.md). For other
losses a mechanism made for them may be better, by a factor of at most 2/(1 + αⁿ) (proofs/other-losses.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from ...consumers.consumer import Consumer
from ...consumers.optimal import OptimalReading, optimal_reading
from ...errors import BadInput
from ...exact import checked
from ...graphs import Path
from ...mechanisms import FactoredMechanism, Mechanism, Reading, geometric_row
from ...privacy import Privacy, are_close
from ..programs.optimal_mechanism import check_size, optimal_mechanism
from .written import consumer_goal

__all__ = ["SideBySide", "broken_adjacency", "dominating_reading", "side_by_side"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """The best mechanism for a consumer, and the best reading of geometric noise.

    Parameters
    ----------
    tailored : Mechanism
        Optimal among all private mechanisms, by the whole program.
    read : OptimalReading
        Of geometric noise with the same privacy.
    """

    tailored: Mechanism
    read: OptimalReading

    @property
    def excess(self) -> Fraction:
        """How much more reading the noise costs at least than the tailored mechanism.

        0 where universality holds; elsewhere, if no loss is negative, at most what the tailored mechanism costs.
        """
        assert self.tailored.objective is not None
        return max(Fraction(0), self.read.lower_bound - self.tailored.objective.value)


@checked
def side_by_side(consumer: Consumer, privacy: Privacy) -> SideBySide:
    """Solve both problems of a consumer, one independently of the other; up to about a hundred counts.

    Examples
    --------
    >>> both = side_by_side(Consumer(3, "absolute"), Privacy(ratio=4))
    >>> both.tailored.objective.value == both.read.value, both.excess
    (True, Fraction(0, 1))
    """
    check_size("n", consumer.n, consumer.n + 1, privacy)
    path = Path(consumer.n + 1)
    return SideBySide(
        tailored=optimal_mechanism(consumer_goal(consumer), path, privacy.pure),
        read=optimal_reading(FactoredMechanism(privacy=privacy.pure, n=consumer.n), consumer),
    )


def broken_adjacency(mechanism: Mechanism) -> tuple[int, int] | None:
    """Return the first two neighbouring counts whose rows lack the structure of optimal mechanisms, or None.

    From left to right, row i + 1 is α times row i, then at most one entry is anything that privacy allows, then it is
    1/α times row i. There is always an optimal mechanism like that; readings by thresholds are.

    References
    ----------
    [Gupte2010], Lemma 5.
    """
    ratio = mechanism.privacy.ratio
    for i, (here, after) in enumerate(pairwise(mechanism.matrix())):
        falling = [x == ratio * y for x, y in zip(here, after, strict=True)]
        rising = [ratio * x == y for x, y in zip(here, after, strict=True)]
        left = next((v for v, falls in enumerate(falling) if not falls), len(here))
        right = next((v for v, rises in enumerate(reversed(rising)) if not rises), len(here))
        if left + right < len(here) - 1:
            return i, i + 1
    return None


def dominating_reading(mechanism: Mechanism) -> Reading:
    """Return a reading of geometric noise that, at every count, loses no more than a given private mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Inputs and outputs 0..n, private with its ratio and δ = 0.

    Returns
    -------
    Reading
        For every loss that never falls as the answer moves away from the truth, on either side, and at every count.

    Raises
    ------
    BadInput
        When inputs and outputs are not 0..n, δ > 0, or the mechanism is not private.

    Examples
    --------
    >>> from irisdp.mechanisms import Mechanism
    >>> given = Mechanism.from_matrix([["1/2", "1/2"], ["2/5", "3/5"]], privacy=Privacy(ratio=2))
    >>> dominating_reading(given)
    {0: ((0, Fraction(3, 4)), (1, Fraction(1, 4))), 1: ((1, Fraction(1, 1)),)}

    References
    ----------
    proofs/universality.md.
    """
    n = len(mechanism.inputs) - 1
    if list(mechanism.inputs) != list(range(n + 1)) or list(mechanism.outputs) != list(range(n + 1)):
        raise BadInput("mechanism", "must answer counts 0..n by counts 0..n", "number inputs and outputs")
    if mechanism.privacy.delta != 0:
        raise BadInput("delta", "must be 0", "give a mechanism that is private without it")
    if not all(are_close(*rows, mechanism.privacy) for rows in pairwise(mechanism.matrix())):
        raise BadInput("mechanism", "is not private at its ratio", "state the ratio it has, as the audit says it")
    one, zero = Fraction(1), Fraction(0)
    # at_most[v][z] is the chance of an answer up to v once z is released: 1, then one fraction, then 0, such that at
    # the count v itself the answer is at most v as often as the mechanism has it.
    at_most = []
    for v in range(n):
        wanted = sum(mechanism.row(v)[: v + 1], zero)
        noise = geometric_row(v, n, mechanism.privacy.ratio)
        so_far = accumulate(noise, initial=zero)
        at_most.append(
            [min(one, max(zero, (wanted - s) / p)) if p else zero for s, p in zip(so_far, noise, strict=False)]
        )
    at_most.append([one] * (n + 1))
    reading: Reading = {}
    for z in range(n + 1):
        below, line = zero, []
        for v in range(n + 1):
            if at_most[v][z] != below:
                line.append((v, at_most[v][z] - below))
                below = at_most[v][z]
        reading[z] = tuple(line)
    return reading
