"""The K largest categories of each cell, or all of them in order, drawn exactly for many cells at once.

Answers are kept as positions of categories, and shown as names in one text. It is `a, b` for the K largest, in the
order of the declared categories, and `a > b > c` for a ranking, largest first. A name that could be misread there
stands in double quotes, as JSON writes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, permutations
from math import comb, factorial, isqrt
from typing import TYPE_CHECKING, Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, ball, enclosure_of, float_above, shown_below
from .._sampling import BitSource, ThresholdTable, add_geometric, chunks, resolve, system_bits
from ..graphs import NeighbouringRelation
from ..privacy import Privacy
from .confidence import assured_names, at_most, least_distance
from .protocol import ENCLOSED, ChainLink, ConfidenceStatement, Law, first_where, records
from .registry import MeasurementKind

if TYPE_CHECKING:
    from ..design import OrderTable


Integers = NDArray[np.int64]

_SPARE = 4
"""Chances of tables are whole numbers of 2^-60, and words have 64 bits."""

_ONE = Fraction(1)

_BITS = 200
_WHOLE = 1 << _BITS


@dataclass(frozen=True, slots=True, eq=False)
class CategoryNodes:
    """How many records are in each category, per cell; private, and not shown by `repr`.

    Attributes
    ----------
    categories : tuple
        Their names, as declared; public.
    counts : int64 array, shape (cells, categories)
    """

    categories: tuple[Any, ...]
    counts: Integers = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.counts)

    def padded(self, size: int) -> CategoryNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        nobody = np.zeros((size - len(self.counts), len(self.categories)), dtype=np.int64)
        return CategoryNodes(self.categories, np.concatenate([self.counts, nobody]))


@dataclass(frozen=True, slots=True)
class LargestCategories:
    """Names the K largest categories, or ranks them all: from a table where there is one, else from noisy counts.

    Parameters
    ----------
    k : int or None
        How many are named; None for a ranking.
    categories : int
        q.
    privacy : Privacy
        One pair with δ = 0: what one step on a cell's graph may reveal.
    relation : NeighbouringRelation
        Whether a step is a record exchanged for one of another category, or of none, so that two counts may move; or a
        record more or less.

    References
    ----------
    proofs/orders.md.
    """

    k: int | None
    categories: int
    privacy: Privacy
    relation: NeighbouringRelation

    @property
    def chained(self) -> Privacy | None:
        """None: such answers form no chain."""
        return None

    @property
    def _exchanges(self) -> bool:
        return self.relation != NeighbouringRelation.ADD_REMOVE

    @property
    def table(self) -> OrderTable | None:
        """The table of chances, found once for each question; None where noisy counts are sorted."""
        from ..design import order_table  # which loads what solves programs

        return order_table(self.k, self.categories, self.privacy.ratio, "any" if self._exchanges else "add-remove")

    @property
    def noise(self) -> Privacy:
        """What each noisy count keeps, where they are sorted: of an exchange two of them move."""
        return Privacy(ratio=_root_below(self.privacy.ratio)) if self._exchanges else self.privacy

    def draw(
        self, nodes: CategoryNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.object_]:
        """Draw the places of categories, one list per cell: ascending for the K largest, largest first for a ranking.

        From a table with a word each and ⌈log2⌉ comparisons; else with one noisy count for each category.
        """
        table = self.table
        lists = self._sorted(nodes, source) if table is None else self._looked_up(table, nodes, source)
        return np.fromiter(lists, dtype=object, count=len(nodes))

    def show(self, drawn: list[Any], nodes: CategoryNodes) -> list[Any]:
        """Name the categories; what is shown already stays."""
        known: dict[tuple[int, ...], str] = {}  # few answers, of many cells

        def shown(places: Sequence[int]) -> str:
            answer = tuple(places)
            if answer not in known:
                known[answer] = self.named(answer, nodes)
            return known[answer]

        return [one if isinstance(one, str) else shown(one) for one in drawn]

    def named(self, places: Sequence[int], nodes: CategoryNodes) -> str:
        """Write the names of categories, by their places, as one answer."""
        return named_together([nodes.categories[place] for place in places], " > " if self.k is None else ", ")

    def ends(self, nodes: CategoryNodes) -> dict[str, Any]:
        """Return the names: the same question may spell them in another way."""
        return {"names": nodes.categories}

    def law(self, nodes: CategoryNodes, cell: int, largest: int) -> Law:
        """Return the law of a cell's answer: exact from a table, and enclosed where noisy counts are sorted."""
        table, counts = self.table, nodes.counts[cell]
        if table is not None:
            weights = table.at(counts[np.newaxis])[0].tolist()
            chances = [Fraction(weight, 1 << 64 - _SPARE) for weight in weights]
            return {self.named(one, nodes): chance for one, chance in zip(table.answers, chances, strict=True)}
        result: dict[str, Enclosure] = {}
        for order, chance in _orders_of_noisy(tuple(counts.tolist()), self.noise.ratio):
            answer = self.named(order if self.k is None else sorted(order[: self.k]), nodes)
            before = result.get(answer, Enclosure.exactly(Fraction(0)))
            result[answer] = Enclosure(before.lower + chance.lower, before.upper + chance.upper)
        return result

    def expected_error(self) -> dict[str, Any]:
        """Return how far apart categories must be for the answer to be right in 95 % and 99 %, and the worst error.

        Apart are the last that is named and the first that is not, and in a ranking any two that follow each other.
        """
        table = self.table
        if table is None:
            far = {percent: least_distance(self, Fraction(percent, 100)) for percent in (95, 99)}
            worst = float_above(1 - self.chance_within(0).lower)
            return {"wrong_at_worst": worst, "apart_for_95_percent": far[95], "apart_for_99_percent": far[99]}
        return {
            "wrong_at_worst": table.worst_error,
            "wrong_far_apart": table.error_far_apart,
            "apart_for_95_percent": table.apart_for(0.95),
            "apart_for_99_percent": table.apart_for(0.99),
        }

    def chance_within(self, distance: int) -> Enclosure:
        """Enclose the probability of a right answer where what it tells apart is so many records apart, at worst.

        From noisy counts the probability is exact up to distance 1. Beyond it is a lower bound: the union bound over
        pairs of categories that change places, or the probability at distance 1 if that is more.
        """
        if self.table is not None:
            return at_most(self.table.wrong_from(distance))
        q, ratio = self.categories, self.noise.ratio
        least = _least_right(self.k, q, ratio)
        if distance <= 1:
            return least
        pairs = q - 1 if self.k is None else self.k * (q - self.k)
        # Near 1, where a number is as short as it is narrow, and not near 0, where it may be too small to write down.
        kept = enclosure_of(lambda: 1 - pairs * _changes_places(ratio, distance), width=ENCLOSED)
        return Enclosure(max(kept.lower, least.lower), Fraction(1))

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: CategoryNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the probability of the right answer, at worst."""
        return assured_names(self.chance_within(0).lower, shown)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        who = "all categories are" if self.k is None else "the last category named and the first that is not are"
        apart = error["apart_for_99_percent"]
        if apart is None:
            text = "no distance between categories makes 99 % of answers right"
        else:
            text = (
                f"right in 99 % where {who} {records(apart)} apart" if apart else "right in 99 % however close they are"
            )
        right = self.chance_within(0).lower if self.table is None else 1 - Fraction(str(error["wrong_at_worst"]))
        return f"{text}, and in {shown_below(100 * right)} % at worst"

    def to_document(self) -> dict[str, Any]:
        """Name the mechanism for readers of the answers."""
        table = self.table
        question = {"categories": self.categories, **({} if self.k is None else {"named": self.k})}
        if table is None:
            return {"kind": MeasurementKind.NOISY_COUNTS_SORTED.value, **question}
        return {
            "kind": MeasurementKind.ORDER_TABLE.value,
            **question,
            "largest_steps": list(table.caps),
            "found_by": table.rule,
        }

    def _looked_up(self, table: OrderTable, nodes: CategoryNodes, source: BitSource | None) -> list[list[int]]:
        bits = system_bits(source)
        places = [list(answer) for answer in table.answers]
        drawn: list[list[int]] = []
        for part in chunks(len(nodes)):
            sums = np.cumsum(table.at(nodes.counts[part]), axis=1)
            # A sum of exactly 1 is left to the padding of the table: no word reaches it.
            reached = sums[:, :-1].astype(np.uint64) << np.uint64(_SPARE)
            thresholds = ThresholdTable.from_cells(np.stack([reached, reached], axis=2)).at(bits.word_bits)
            words = bits.words(len(sums))
            chosen, ties = thresholds.count_reached(words, np.arange(len(sums)))
            for tie in ties.tolist():
                bracket = partial(_bracket, sums[tie].tolist())
                chosen[tie] = resolve(int(words[tie]), bracket, bits, first=0, last=len(places) - 1)
            drawn += [places[number] for number in chosen.tolist()]
        return drawn

    def _sorted(self, nodes: CategoryNodes, source: BitSource | None) -> list[list[int]]:
        """Sort noisy counts, those that are equal in the public order of the categories."""
        noisy = add_geometric(nodes.counts, self.noise, source=source)
        order = np.argsort(-noisy, axis=1, kind="stable")
        if self.k is not None:
            order = np.sort(order[:, : self.k], axis=1)
        lists: list[list[int]] = order.tolist()
        return lists


def named_together(names: Sequence[Any], between: str) -> str:
    """Write names as one text that can be taken apart again.

    Examples
    --------
    >>> named_together(["left", 7, "green, mostly"], ", ")
    'left, 7, "green, mostly"'
    """
    return between.join(_plain(name) for name in names)


def _plain(name: Any) -> str:
    text = str(name)
    if text and text.isprintable() and text == text.strip() and not set(text) & set('",>'):
        return text
    return json.dumps(text, ensure_ascii=False)


def _root_below(ratio: Fraction) -> Fraction:
    """Return a fraction of 128 binary digits whose square is at most a ratio."""
    root = Fraction(isqrt((ratio.numerator << 256) // ratio.denominator), 1 << 128)
    return max(Fraction(1), root)


def _bracket(sums: Sequence[int], answer: int, bits: int) -> tuple[int, int]:
    scaled = sums[answer - 1] << bits
    return scaled >> 64 - _SPARE, -(-scaled >> 64 - _SPARE)


def _changes_places(ratio: Fraction, apart: int) -> flint.arb:
    """Enclose P(Z − Z' ≥ d) of two-sided geometric Z, Z': Σ_{m ≥ d} ((1 − a)/(1 + a))²·a^m·(m + (1 + a²)/(1 − a²))."""
    inverse = 1 / ball(ratio)
    once = (1 - inverse) / (1 + inverse)
    whole = (apart + (1 + inverse**2) / (1 - inverse**2)) / (1 - inverse) + inverse / (1 - inverse) ** 2
    return once**2 * inverse**apart * whole


@lru_cache(maxsize=256)
def _least_right(k: int | None, categories: int, ratio: Fraction) -> Enclosure:
    """Enclose the least probability, over all counts, that sorted noisy counts give a right answer.

    A ranking is right least often where consecutive counts are 1 apart, and the K largest where they are level and 1
    above the others, who are level too; both where the public order of equal sums is the reverse of the true one. The
    probability is P(Z_1 ≥ … ≥ Z_q), or P(min of K ≥ max of the others), of independent two-sided geometric numbers.

    References
    ----------
    proofs/orders.md, "The least probability of a right answer".
    """
    # Under every renaming of the categories the probability is the same, and together they are at least 1.
    narrow = ENCLOSED / (factorial(categories) if k is None else comb(categories, k))
    if ratio == 1:
        return Enclosure(Fraction(0), Fraction(1))  # noise without a law
    if k is None:
        enclosure = enclosure_of(lambda: _falls(categories, 1 / ball(ratio)), width=narrow)
    else:
        enclosure = enclosure_of(lambda: _splits(k, categories - k, 1 / ball(ratio)), width=narrow)
    return enclosure.clamp(Fraction(0), Fraction(1))


def _falls(number: int, inverse: flint.arb) -> flint.arb:
    """Enclose P(Z_1 ≥ … ≥ Z_n): n numbers never rise, of which j are below 0 and the others not."""
    once = (1 - inverse) / (1 + inverse)
    # P(n numbers never rise and none is below 0), for n = 0, 1, …: c^n / Π_{i ≤ n} (1 − a^i).
    never_below = [
        *accumulate(range(1, number + 1), lambda held, i: held * once / (1 - inverse**i), initial=ball(_ONE))
    ]
    sides = zip(never_below, reversed(never_below), range(number + 1), strict=True)
    return sum((below * above * inverse**j for below, above, j in sides), start=0 * inverse)


def _splits(upper: int, lower: int, inverse: flint.arb) -> flint.arb:
    """Enclose P(the least of some Z ≥ the largest of others), by the value of that largest, expanded.

    P(Z ≤ m) is b·a^(−m) up to m = 0 and 1 − b·a^(m + 1) from m = −1 on, with b = 1/(1 + a).
    """
    once = 1 / (1 + inverse)
    below, above = -once * inverse, -once
    up_to_0 = sum(
        (comb(upper, i) * below**i / (1 - inverse ** (lower + i)) for i in range(upper + 1)), start=0 * inverse
    )
    from_1 = sum(
        (
            comb(lower, i) * above**i * (inverse**i - 1) * inverse ** (upper + i) / (1 - inverse ** (upper + i))
            for i in range(1, lower + 1)
        ),
        start=0 * inverse,
    )
    return once**lower * (1 - inverse**lower) * up_to_0 + once**upper * from_1


@lru_cache(maxsize=1024)
def _orders_of_noisy(counts: tuple[int, ...], ratio: Fraction) -> list[tuple[tuple[int, ...], Enclosure]]:
    """List every order of the categories with the chance that noisy counts have it, equal ones in public order.

    Chances are added up in whole numbers of 2^-200, rounded down, over a window beyond which some noise lies with a
    chance of half of `ENCLOSED` at most; the other half is far more than rounding takes.
    """
    inverse = 1 / ratio
    margin = first_where(lambda far: 4 * len(counts) * inverse**far <= ENCLOSED)
    values = range(min(counts) - margin, max(counts) + margin + 1)
    once = ((1 - inverse) / (1 + inverse) * _WHOLE).__floor__()
    powers = list(accumulate(values, lambda power, _: power * inverse.numerator // inverse.denominator, initial=once))
    laws = [[powers[abs(value - count)] for value in values] for count in counts]
    result = []
    for order in permutations(range(len(counts))):
        at_or_above = [_WHOLE] * (len(values) + 1)
        for before, place in zip((None, *order), order, strict=False):
            # The one before has more, or as many where it comes first in public order.
            level = before is None or before < place
            reached = at_or_above[:-1] if level else at_or_above[1:]
            masses = [chance * mass >> _BITS for chance, mass in zip(reached, laws[place], strict=True)]
            at_or_above = [*reversed(list(accumulate(reversed(masses), initial=0)))]
        least = Fraction(at_or_above[0], _WHOLE)
        result.append((order, Enclosure(least, least + ENCLOSED)))
    return result
