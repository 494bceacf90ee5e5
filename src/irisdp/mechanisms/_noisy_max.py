"""Which category is the largest: rows for any gaps to the winner, exactly, in closed form.

*Pull from the top*: if a category that is behind gains a record and the winner loses one, the probability of naming it
may grow by the factor r. With this rule it always does. Followed up to where it is level with the winner, that rule
says what every category gets, and the winners share what is left. Nothing is computed per number of records.

*Permute and flip*: the categories are visited in random order, and each is named with an acceptance that falls with its
gap; the first that is accepted. A gap changes by one where a record is added, by two where it is exchanged.

*The largest noisy count*: each count gains a one-sided geometric number, and of the largest sums the first is named.

Each is a formula in the ratio, and is worked out in fractions, or in balls where gaps are far too large for those.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import flint

from .._exact import Enclosure, ball, checked, enclosure_of, enclosures_of, integer, rational
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Privacy
from ._mechanism import Row

# Pull from the top: the category that is behind gains records from the winners until they are level.
#
# The end of that is found at once, however many records it takes, and probabilities at many gaps share their common
# part.

Sorted = tuple[int, ...]

_Number = Any
"""A fraction, a float or a ball: the formulas are the same."""


class PulledChances:
    """Chances by pulling from the top, of as many gaps as are asked for; what several of them need is worked out once.

    Parameters
    ----------
    inverse : number
        1/r, a fraction or a ball.
    power : callable
        From k to r^(−k).
    """

    def __init__(self, inverse: _Number, power: Callable[[int], _Number]) -> None:
        self._inverse, self._power = inverse, power
        self._tops: dict[Sorted, _Number] = {}

    def chance(self, here: Sorted, gap: int) -> _Number:
        """Work out the chance of a category with this gap, among gaps in ascending order."""
        if gap < 2:
            return self.top(here) * (self._inverse if gap else 1)
        pulled, steps, behind = pull(here, gap)
        share = self._power(steps + behind)
        if isinstance(share, flint.arb) and share.contains(0):
            return share  # what it is a share of is at most 1
        return self.top(pulled) * share

    def top(self, here: Sorted) -> _Number:
        """Work out the chance of each winner: what is left, shared with those one record behind at their price."""
        if here not in self._tops:
            held = Counter(here)
            lost = sum((held[gap] * self.chance(here, gap) for gap in held if gap > 1), start=0 * self._inverse)
            self._tops[here] = (1 - lost) / (held[0] + held[1] * self._inverse)
        return self._tops[here]


def pull(node: Sorted, gap: int) -> tuple[Sorted, int, int]:
    """Let a category that is behind gain records from the winners, one by one, until it is level with them.

    Parameters
    ----------
    node : tuple of int
        Gaps, ascending.
    gap : int
        Of the category, at least 2; one with this gap among them.

    Returns
    -------
    tuple
        The gaps then, ascending; how many records moved; and the category's own gap, 0 or 1.
    """
    others = list(node)
    others.remove(gap)
    # How far below the old winner it arrives: as far down as the winners can be brought with the records that move.
    arrives, beyond = 0, gap + 1
    while beyond - arrives > 1:
        middle = (arrives + beyond) // 2
        enough = sum(max(0, middle - 1 - one) for one in others) <= gap - middle
        arrives, beyond = (middle, beyond) if enough else (arrives, middle)
    steps = gap - arrives
    # The winners come down to one above it, and with the records that are left some of them to its own level.
    left = steps - sum(max(0, arrives - 1 - one) for one in others)
    lowered = [max(one, arrives - 1) for one in others]
    ahead = lowered.count(arrives - 1)
    top = arrives - 1 if left < ahead else arrives
    after = sorted(
        [
            *(one - top for one in lowered if one >= arrives),
            *[arrives - 1 - top] * (ahead - left),
            *[arrives - top] * (left + 1),
        ]
    )
    return tuple(after), steps, arrives - top


LARGEST_PULL = 12
"""Most categories that pull from the top is worked out for."""

LARGEST_CATEGORIES = 100

_LONGEST = 100_000
"""Bits, about, of the powers in a row of fractions."""

_FARTHEST = 10**18


@checked
@dataclass(frozen=True, slots=True)
class Winner(ABC):
    """A mechanism that names the largest category, and looks at gaps to the largest only.

    Parameters
    ----------
    categories : int
        q, from 2 up.
    privacy : Privacy
        One pair; δ is not used.
    """

    categories: int
    privacy: Privacy

    def __post_init__(self) -> None:
        """Check the number of categories and the pair."""
        integer(self.categories, "categories", at_least=2, at_most=LARGEST_CATEGORIES)
        _ = self.privacy.ratio

    @property
    @abstractmethod
    def worst_error(self) -> Fraction:
        """The largest probability of a wrong answer, over all gaps."""

    def row(self, gaps: Sequence[int]) -> Row:
        """Return the chance of each category, exactly.

        Parameters
        ----------
        gaps : sequence of q integers
            How many records each category has fewer than the largest; at least one is 0.

        Raises
        ------
        BadInput
            For what are no gaps, and for gaps so large that fractions would have more than about 10^5 bits.
        """
        node = read_gaps(gaps, self.categories)
        ratio = self.privacy.ratio
        if sum(node) * ratio.numerator.bit_length() > _LONGEST and ratio > 1:
            raise BadInput("gaps", "are too large for exact fractions", "ask `enclose` for intervals")
        return tuple(self.work_out(node, Fraction(1) / ratio, lambda power: Fraction(1) / ratio**power))

    def enclose(self, gaps: Sequence[int], *, width: Any = Fraction(1, 1 << 64)) -> tuple[Enclosure, ...]:
        """Enclose the chance of each category; gaps of 10^18 are as easy as those of 10.

        Parameters
        ----------
        gaps : sequence of q integers
        width : number or text
            Largest width of each interval, more than 0.
        """
        node, most = read_gaps(gaps, self.categories), rational(width, "width")
        if most <= 0:
            raise BadInput("width", "must be more than 0", "give the largest width of an interval, such as 1e-9")

        def compute() -> list[flint.arb]:
            return self.work_out(node, 1 / ball(self.privacy.ratio), self._power)

        return tuple(one.clamp(Fraction(0), Fraction(1)) for one in enclosures_of(compute, len(node), width=most))

    def right_from(self, lead: int, *, width: Any = Fraction(1, 1 << 64)) -> Enclosure:
        """Enclose the least probability of naming the largest where it leads all others by so many records, or more.

        Parameters
        ----------
        lead : int
            At 0 and 1 the answer is the least probability over all counts.
        width : number or text
            Largest width of the enclosure, more than 0; `Pull` bounds the probability from below instead.
        """
        if lead <= 1:
            return Enclosure.exactly(1 - self.worst_error)
        # No category closer, and all others earlier in the tie-breaking order, if there is one.
        return self.enclose((*[lead] * (self.categories - 1), 0), width=width)[-1]

    def _power(self, power: int) -> flint.arb:
        """Enclose r^(−power); where it is below the working precision, by 0 and that."""
        bits, ratio = flint.ctx.prec, self.privacy.ratio
        # log2 r > (r − 1)/r, so that beyond this power the number is below 2^-bits.
        if power * (ratio - 1) > bits * ratio:
            return flint.arb(0, flint.arb(2) ** -bits)
        return (1 / ball(ratio)) ** power

    @abstractmethod
    def work_out(self, node: Sorted, inverse: _Number, power: Callable[[int], _Number]) -> list[_Number]:
        """Work out the chances from 1/r and its powers."""


@checked
@dataclass(frozen=True, slots=True)
class Pull(Winner):
    """Pull from the top: who is the largest, where one record may be exchanged for another.

    Parameters
    ----------
    categories : int
        q, from 2 to 12.
    privacy : Privacy
        One pair; δ is not used. The rows are private at its ratio only where `design.plurality` says so.

    References
    ----------
    docs/theory.md#plurality; proofs/plurality.md.

    Examples
    --------
    >>> print(*Pull(4, Privacy(ratio=2)).row((0, 1, 2, 4)))
    19/36 19/72 19/120 1/20
    """

    def __post_init__(self) -> None:
        """Check the number of categories and the pair."""
        integer(self.categories, "categories", at_least=2, at_most=LARGEST_PULL)
        _ = self.privacy.ratio

    @property
    def worst_error(self) -> Fraction:
        """(q − 1)/(r + q − 1), where the largest is ahead by one."""
        return (self.categories - 1) / (self.privacy.ratio + self.categories - 1)

    def right_from(self, lead: int, *, width: Any = Fraction(1, 1 << 64)) -> Enclosure:
        """Enclose the least probability of naming the largest where it leads all others by so many records, or more.

        The lower end is a proved bound and the upper end is the probability at gaps (0, lead, …, lead). No gaps with a
        smaller probability are known, and none is proved not to exist.

        References
        ----------
        proofs/plurality.md, T6.
        """
        attained = super(Pull, self).right_from(lead, width=width)
        if lead <= 1:
            return attained
        half, odd = divmod(lead, 2)
        ratio = self.privacy.ratio
        others = (self.categories - 1) / (1 + ratio if odd else Fraction(2))
        wrong = enclosure_of(lambda: ball(others) * self._power(half), width=rational(width, "width"))
        # Where nobody else is, the bound is attained, and its rounded end may lie above that of what was worked out.
        return Enclosure(min(1 - min(wrong.upper, self.worst_error), attained.upper), attained.upper)

    def work_out(self, node: Sorted, inverse: _Number, power: Callable[[int], _Number]) -> list[_Number]:
        """Work out the chances from 1/r and its powers: each category behind by pulling, the winners share the rest."""
        pulled = PulledChances(inverse, power)
        ascending = tuple(sorted(node))
        each = {gap: pulled.chance(ascending, gap) for gap in set(node)}
        return [each[gap] for gap in node]


@checked
@dataclass(frozen=True, slots=True)
class PermuteAndFlip(Winner):
    """The first category, in random order, that is accepted; the winners always are.

    Parameters
    ----------
    categories : int
        q, from 2 to 100.
    privacy : Privacy
        One pair; δ is not used.
    relation : NeighbouringRelation
        A gap moves by two where a neighbour has one record exchanged, and by one where it has one more.

    Notes
    -----
    A gap g is accepted with r^(−g) where records are added or removed. Where they are exchanged it is r^(−m) at g = 2m
    and 2·r^(−m)/(1 + r) at g = 2m + 1, which is rational, and at most the r^(−g/2) of the literature. Both are private.

    References
    ----------
    [McKenna2020]; docs/theory.md#plurality; proofs/plurality.md.
    """

    relation: NeighbouringRelation

    @property
    def worst_error(self) -> Fraction:
        """What is wrong where the largest is ahead of all others by one: 1 − (1 − (1 − a)^q)/(q·a) at acceptance a."""
        share = self.acceptance(1)
        return 1 - (1 - (1 - share) ** self.categories) / (self.categories * share)

    def acceptance(self, gap: int) -> Fraction:
        """Return the chance that a category is named when its turn comes."""
        ratio = self.privacy.ratio
        share: Fraction = self._acceptance(integer(gap, "gap", at_least=0), 1 / ratio, lambda power: 1 / ratio**power)
        return share

    def _acceptance(self, gap: int, inverse: _Number, power: Callable[[int], _Number]) -> _Number:
        if self.relation == NeighbouringRelation.ADD_REMOVE:
            return power(gap)
        whole, half = divmod(gap, 2)
        return power(whole) * (2 * inverse / (1 + inverse) if half else 1)

    def work_out(self, node: Sorted, inverse: _Number, power: Callable[[int], _Number]) -> list[_Number]:
        """Work out the chances from 1/r and its powers: accepted, and nobody who came before was."""
        accepted = {gap: self._acceptance(gap, inverse, power) for gap in set(node)}
        held = Counter(node)
        each = {}
        for gap, share in accepted.items():
            others = [accepted[other] for other in (held - Counter([gap])).elements()]
            each[gap] = share * none_accepted_before(others)
        return [each[gap] for gap in node]


@checked
@dataclass(frozen=True, slots=True)
class NoisyLargest(Winner):
    """The first of the largest sums of a count and a one-sided geometric number; for records that come and go.

    The order of the categories is public: it decides between equal sums, and between categories that are truly level.

    Parameters
    ----------
    categories : int
        q, from 2 to 100.
    privacy : Privacy
        One pair; δ is not used.

    References
    ----------
    docs/theory.md#plurality; proofs/plurality.md.
    """

    @property
    def worst_error(self) -> Fraction:
        """The chance that the first of categories that are all level is not named."""
        return 1 - self.row((0,) * self.categories)[0]

    def work_out(self, node: Sorted, inverse: _Number, power: Callable[[int], _Number]) -> list[_Number]:
        """Work out the chances from 1/r and its powers: one polynomial for each category."""
        # The noise is k with chance (1 − 1/r)·r^(−k). If the winning sum is v above the largest count, those that come
        # earlier stay below it and later ones not above: Σ_v r^(−v)·Π (1 − b·r^(−v)), multiplied out and added up.
        spread = list(accumulate(inverse**index for index in range(len(node))))
        result = []
        for index, gap in enumerate(node):
            others = [power(other + (rank > index)) for rank, other in enumerate(node) if rank != index]
            terms = zip(product_of_refusals(others), spread, strict=True)
            result.append(power(gap) * sum((term / share for term, share in terms), start=0 * inverse))
        return result


def read_gaps(gaps: Any, categories: int) -> Sorted:
    """Check gaps to the largest: as many as there are categories, whole numbers, the least of them 0."""
    listed = tuple(gaps) if isinstance(gaps, Sequence) and not isinstance(gaps, str) else ()
    if len(listed) != categories:
        raise BadInput("gaps", f"must be a list of {categories} gaps", "give one for each category")
    node = tuple(integer(gap, "gaps", at_least=0, at_most=_FARTHEST) for gap in listed)
    if min(node) != 0:
        raise BadInput("gaps", "must hold a 0: the largest category has none", "subtract the least from all")
    return node


def none_accepted_before(accepted: Sequence[_Number]) -> _Number:
    """Return the probability that none of several candidates is accepted before one's own turn, in random order.

    It is ∫ Π (1 − a·x) dx over [0, 1]: nobody whose turn came before the moment x was accepted.
    """
    return sum(term / (index + 1) for index, term in enumerate(product_of_refusals(accepted)))


def product_of_refusals(accepted: Sequence[_Number]) -> list[_Number]:
    """Return the coefficients of Π (1 − a·x)."""
    powers = [1]
    for share in accepted:
        powers = [here - share * before for here, before in zip([*powers, 0], [0, *powers], strict=True)]
    return powers
