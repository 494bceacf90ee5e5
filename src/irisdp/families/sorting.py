"""The r largest of many counts, in order, with exact discrete noise; and how far that is from the best possible.

π(v) is the list of the r largest entries of v, largest first. Its L1 sensitivity is that of v: 2 when one record is
exchanged, 1 when one comes or goes (sorting is 1-Lipschitz for L1). The exponential mechanism with score −‖π(v) − s‖₁
over all integer lists s therefore adds two-sided geometric noise of ratio r^(1/2) or r to every entry, and its
normalising constant depends on nothing, so that all of ε goes into the exponent ([Alda2017], §6;
proofs/sorting.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import ball, checked, dyadic_below, enclosure_of, integer, short_text
from ..privacy import Privacy
from ..sampling.bits import BitSource
from ..sampling.geometric import LARGEST_VALUE, add_geometric
from ..sampling.inputs import integers

__all__ = ["MinimaxRisk", "minimax_risk", "noise_risk", "release_largest"]

_SENSITIVITY = {"add-remove": 1, "exchange": 2}

_RATIO_BITS = 128


@checked
def release_largest(
    counts: Any,
    largest: int,
    privacy: Privacy,
    *,
    relation: str = "exchange",
    tidy: bool = True,
    source: BitSource | None = None,
) -> NDArray[np.int64]:
    """Release the largest counts in order.

    Parameters
    ----------
    counts : array of int
        One count for every type that is declared, in any order; at least 0.
    largest : int
        r: how many are released, at most the number of types.
    privacy : Privacy
        Of the release; δ is not used.
    relation : {"exchange", "add-remove"}
    tidy : bool
        Sort again and raise to 0 after the noise, which costs nothing and only helps.
    source : BitSource, optional
        The operating system's bits unless given; tests script it.

    Returns
    -------
    array of int64, shape (largest,)
        π(counts) with independent noise on every entry, exactly.

    Raises
    ------
    BadInput
        For counts that are no whole numbers from 0 up, or more released than there are; the message shows no count.

    Examples
    --------
    >>> release_largest([3, 50, 8, 0], 2, Privacy(epsilon=80)).tolist()
    [50, 8]
    """
    given = integers(counts, "counts", at_least=0, at_most=LARGEST_VALUE).ravel()
    number = integer(largest, "largest", at_least=1, at_most=len(given))
    top = np.sort(given)[::-1][:number]
    noisy = add_geometric(top, _per_unit(privacy, relation), source=source)
    return np.maximum(np.sort(noisy)[::-1], 0) if tidy else noisy


@checked
def noise_risk(largest: int, privacy: Privacy, *, relation: str = "exchange") -> Fraction:
    """Return the mean L1 error of the untidied release: r times 2α/(1 − α²) with α the decay of the noise.

    Parameters
    ----------
    largest : int
        r: how many counts are released, at least 1.
    privacy : Privacy
        Of the release; δ is not used.
    relation : {"exchange", "add-remove"}
        Which tables are neighbours.

    Raises
    ------
    BadInput
        For an ε of 0, where noise has no end.
    """
    alpha = 1 / _per_unit(privacy, relation).ratio
    if alpha == 1:
        raise BadInput("epsilon", "must be above 0 for noise to be finite", "choose a larger epsilon")
    return integer(largest, "largest", at_least=1) * 2 * alpha / (1 - alpha**2)


@dataclass(frozen=True, slots=True)
class MinimaxRisk:
    """Which regime of Theorem 3 holds for a problem, and the order of the risk that no mechanism can beat there.

    Parameters
    ----------
    regimes : tuple of (int, float)
        The number, 1 to 3, of the theorem's case that applies, with N, √(N/ε) or r/ε; empty where none does. At least
        a 74th of that is proved.
    applies : bool
        Whether its hypothesis ε ≤ 1/8 holds.
    text : str
        The same for people.
    """

    regimes: tuple[tuple[int, float], ...]
    applies: bool
    text: str

    @property
    def order(self) -> float:
        """The largest of the orders, 0 where none applies."""
        return max((order for _, order in self.regimes), default=0.0)


@checked
def minimax_risk(total: int, largest: int, privacy: Privacy) -> MinimaxRisk:
    """Tell what Theorem 3 says of sorting: the minimax L1 risk of any private mechanism, up to constants.

    Parameters
    ----------
    total : int
        N: a bound on the sum of the counts (at most the number of types).
    largest : int
        r.
    privacy : Privacy
        The theorem asks for ε ≤ 1/8.

    Raises
    ------
    BadInput
        For an ε of 0, or numbers below 1.

    References
    ----------
    [Alda2017], Theorem 3: Ω(N) if N ≤ 1 + 1/(4ε); Ω(√(N/ε)) if N ≥ 1/(2ε); Ω(r/ε) if
    N ≥ r(r+1)/(4ε) + r. The second is printed for larger N too, where it is false: noise errs by 2r/ε whatever N is.
    proofs/sorting.md proves all three with constants, for counts that sum to at most N when records come or go, and to
    N when they are exchanged (but for N = 1, where a sorted list has no secret).

    Examples
    --------
    >>> minimax_risk(10**6, 100, Privacy(epsilon="0.1")).text
    'no private mechanism has a smaller risk than of order r/ε = 1000'
    >>> minimax_risk(10**6, 1000, Privacy(epsilon="0.1")).text
    'no private mechanism has a smaller risk than of order sqrt(N/ε) = 3162'
    """
    n = integer(total, "total", at_least=1)
    r = integer(largest, "largest", at_least=1)
    epsilon = privacy.epsilon
    if epsilon == 0:
        raise BadInput("epsilon", "must be above 0", "choose a larger epsilon")
    many = n >= r * (r + 1) / (4 * epsilon) + r
    cases = [
        (1, n <= 1 + 1 / (4 * epsilon), "N", float(n)),
        (2, n >= 1 / (2 * epsilon) and not many, "sqrt(N/ε)", sqrt(n / epsilon)),
        (3, many, "r/ε", float(r / epsilon)),
    ]
    holding = [(number, name, order) for number, holds, name, order in cases if holds]
    orders = " or ".join(f"{name} = {short_text(Fraction(order), 4)}" for _, name, order in holding)
    text = f"no private mechanism has a smaller risk than of order {orders}" if holding else "no regime applies"
    if epsilon > Fraction(1, 8):
        text += "; the theorem is stated for ε ≤ 1/8 only"
    return MinimaxRisk(tuple((number, order) for number, _, order in holding), epsilon <= Fraction(1, 8), text)


def _per_unit(privacy: Privacy, relation: str) -> Privacy:
    """Return the privacy of noise on one unit of L1 distance: the ratio's root, rounded toward more privacy."""
    if relation not in _SENSITIVITY:
        raise BadInput("relation", "must be exchange or add-remove", "choose one of the two")
    if _SENSITIVITY[relation] == 1 or privacy.ratio == 1:
        return privacy.pure
    width = Fraction(1, 1 << _RATIO_BITS)
    lower = enclosure_of(lambda: ball(privacy.ratio).sqrt(), width=width).lower
    return Privacy.from_ratio(max(Fraction(1), dyadic_below(lower, _RATIO_BITS)))
