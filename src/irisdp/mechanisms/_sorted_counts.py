"""The r largest of many counts, in order, with exact discrete noise; and how far that is from the best possible.

π(v) is the list of the r largest entries of v, largest first. Its L1 sensitivity is that of v: 2 when one record is
exchanged, 1 when one comes or goes (sorting is 1-Lipschitz for L1). The exponential mechanism with score −‖π(v) − s‖₁
over all integer lists s therefore adds two-sided geometric noise of ratio r^(1/2) or r to every entry, and its
normalising constant depends on nothing, so that all of ε goes into the exponent ([Alda2017], §6;
proofs/sorting.md).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import ball, checked, dyadic_below, enclosure_of, integer, short_text
from .._sampling import LARGEST_VALUE, BitSource, add_geometric, integers
from ..errors import BadInput
from ..privacy import Privacy

# Find the list of sizes, largest first, that is nearest to noisy numbers: least Σ|fitted − noisy| over valid lists.
#
# Sizes y_1 ≥ y_2 ≥ … are described by the first D of them and, below those, by how many are at least 1, 2, …, J: both
# lists fall. Each alone has a nearest falling list, found with a heap. Together they must be consistent: below a last
# size y_D nothing is larger than it. For each t, the largest size below, the nearest head is the raised one max(h, t),
# because the nearest bounded falling list is the nearest falling list, bounded. The nearest counts are those of the
# first t, with nothing after them. So sums find the best t (proofs/sizes.md).

Integers = NDArray[np.int64]


def nearest_falling(values: Sequence[int]) -> list[int]:
    """Return the falling list of least Σ|fitted − value|: of several such lists the largest, entry by entry.

    Examples
    --------
    >>> nearest_falling([9, 3, 6, 2, 2, 4])
    [9, 6, 6, 2, 2, 2]
    """
    return _read_off(_medians(values)[0])


def fall_together(head: Sequence[int], below: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the falling head, and counts below it, of least Σ|fitted − value| such that together they are one list.

    Parameters
    ----------
    head : sequence of int
        The first sizes, noisy; at least one.
    below : sequence of int
        How many sizes after those are at least 1, 2, …, noisy.

    Returns
    -------
    tuple of two lists
        Falling and at least 0; the second is as long as the largest size below the head, and no longer than the last
        size of the head.

    Examples
    --------
    >>> fall_together([9, 7, 1], [40, 39, 1])
    ([9, 7, 2], [40, 39])
    """
    heads, counts = np.maximum(head, 0), np.maximum(below, 0)
    fitted = np.array(nearest_falling(heads.tolist()), dtype=np.int64)
    medians, costs = _medians(counts.tolist())
    after = np.concatenate([np.cumsum(counts[::-1])[::-1], [0]])
    last = int(np.argmin(np.array(costs) + after + _raising(heads, fitted, len(counts))))
    return np.maximum(fitted, last).tolist(), _read_off(medians[:last])


def sizes_of(head: Sequence[int], below: Sequence[int]) -> list[int]:
    """Return the list of sizes that a head and the counts below it tell, without zeros.

    Examples
    --------
    >>> sizes_of([9, 7, 2], [3, 1])
    [9, 7, 2, 2, 1, 1]
    """
    rest = np.asarray(below, dtype=np.int64)
    if not len(rest) or not rest[0]:
        return [size for size in head if size > 0]
    places = np.arange(1, int(rest[0]) + 1)
    tail = len(rest) - np.searchsorted(rest[::-1], places)
    return [*head, *tail.tolist()]


def _medians(values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return, for every beginning of a list, the last entry of its nearest falling list, and how far off that is.

    The heap holds where the slope of the least distance, as a function of the last entry, jumps (proofs/sizes.md).
    """
    heap: list[int] = []
    ends, costs, cost = [], [0], 0
    for value in values:
        heapq.heappush(heap, value)
        least = heap[0]
        if least < value:
            cost += value - least
            heapq.heapreplace(heap, value)
        ends.append(heap[0])
        costs.append(cost)
    return ends, costs


def _read_off(ends: Sequence[int]) -> list[int]:
    """Return the nearest falling list from the last entries of those of its beginnings."""
    fitted = list(ends)
    for index in range(len(fitted) - 2, -1, -1):
        fitted[index] = max(fitted[index], fitted[index + 1])
    return fitted


def _raising(heads: Integers, fitted: Integers, largest: int) -> Integers:
    """Return Σ|max(fitted, t) − head| for t = 0, …, largest."""
    steps = np.zeros(largest + 2, dtype=np.int64)
    # Raising an entry from t − 1 to t brings it nearer where the noisy size is at least t, else further away.
    start = np.minimum(fitted, largest) + 1
    turn = np.minimum(np.maximum(fitted, heads), largest) + 1
    np.add.at(steps, start, -1)
    np.add.at(steps, turn, 2)
    rises = np.cumsum(steps[: largest + 1])
    rises[0] = 0
    result: Integers = np.abs(fitted - heads).sum() + np.cumsum(rises)
    return result


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
        Source of random bits. [default: the operating system]

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
