"""How likely a published band is the true one: one noisy count, seen through the thresholds between bands.

At each threshold a band is the yes or no of `at-least`. The probability that a count is answered on its side of it
depends on its distance, and never falls with it. What a band says is the difference of two such answers
(proofs/bands.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

from .._exact import Enclosure, entries, integer, rational
from .._measurements import GaussianNoise, NoisyBands, ShapeNoise
from .._queries import FORM_OF, AnswerType, Band
from .._release import ReleaseFile
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..mechanisms import DepthMechanism, privacy_from_document
from ..noise import GaussianLaw, UniversalDistribution
from ..privacy import Gaussian
from ._knowledge import ReaderKnowledge
from ._published_counts import LARGEST_COUNT

# What a reader may believe of a published name, and what every rule that judges names does.

BASES = {
    "worst": "whatever the table is, if it fits what you know",
    "uniform": "if all tables that fit what you know were equally likely before",
    "prior": "under your prior",
    "known": "as what you know decides it",
    "certain": "as this release cannot be wrong",
}
"""What a probability rests on, and how that is said."""

_MOST_SHOWN, _LONGEST_SHOWN = 10, 40

CERTAIN, IMPOSSIBLE = Enclosure.exactly(Fraction(1)), Enclosure.exactly(Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class NameProbability:
    """What one published name says.

    Parameters
    ----------
    reading : hashable
        The name that is most likely true.
    probability : Enclosure
        Probability that the published name is true. With a prior it is the probability given the published name.
        Without one it is the probability of a right answer in the worst of the tables.
    basis : str
        One of `BASES`.
    right_at_worst : Fraction
        How likely an answer of this release is right at least, whatever the table, of those that fit what is known.
    posterior : mapping, optional
        The probability of each name that it is true, given what was published; of a tie all that are level are true.
    note : str, optional
        Why it rests on the worst of the tables although more is known of them.
    """

    reading: Hashable
    probability: Enclosure
    basis: str
    right_at_worst: Fraction
    posterior: Mapping[Hashable, Enclosure] | None
    note: str | None = None


class ChoiceRule(ABC):
    """How one reader judges the names that a release publishes."""

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> tuple[Hashable, ...]:
        """All that can be published."""

    @abstractmethod
    def judge(self, name: Hashable) -> NameProbability:
        """Say how likely a published name is true."""

    def released(self, value: Any, field: str = "value") -> Hashable:
        """Return a value as the release names it; refuse what it cannot have published."""
        # Files write every name as text, so a number or a truth value is known by its text too.
        matches = [name for name in self.names if str(name) == str(value)]
        if len(matches) != 1:
            shown = ", ".join(str(name)[:_LONGEST_SHOWN] for name in self.names[:_MOST_SHOWN]) + (
                ", …" if len(self.names) > _MOST_SHOWN else ""
            )
            raise BadInput(field, "is no answer of this release", f"its answers are {shown}")
        return matches[0]


def sure(
    name: Hashable, truth: Hashable, names: tuple[Hashable, ...], basis: str, at_worst: Fraction
) -> NameProbability:
    """Judge a name where it is known which is true."""
    return NameProbability(
        reading=truth,
        probability=CERTAIN if name == truth else IMPOSSIBLE,
        basis=basis,
        right_at_worst=at_worst,
        posterior={one: CERTAIN if one == truth else IMPOSSIBLE for one in names},
    )


# How many of the tables that fit what a reader knows lie how deep on one side of a yes-or-no question.

_BITS = 96
"""Chances are rounded outwards to multiples of 2^-96 before they are added up."""
_NEGLIGIBLE = Fraction(1, 1 << 64)
_ALL_DISTINCT = 12
"""Depths from 2^12 on are taken together, 2^-12 of their size at a time, by the ends: chances never fall with depth."""


@dataclass(frozen=True, slots=True)
class Side:
    """The tables on one side.

    Parameters
    ----------
    first : int
        The least depth.
    last : int or None
        The largest depth; None if it is unbounded, and then nothing is weighed.
    upto : callable
        The weight of all tables up to a depth.
    """

    first: int
    last: int | None
    upto: Callable[[int], Fraction] = field(repr=False)

    def right(self, truth: Callable[[int], Enclosure]) -> tuple[Enclosure, Fraction]:
        """Add up weights times the chance of the side's own answer, `truth(depth)`; and the weights alone."""
        assert self.last is not None
        total, limit = self.upto(self.last), truth(self.last).upper
        lower = upper = done = Fraction(0)
        depth = self.first
        while depth <= self.last:
            here = truth(depth)
            rest = limit - here.lower <= _NEGLIGIBLE
            end = self.last if rest else min(self.last, depth + (depth >> _ALL_DISTINCT))
            there = limit if end == self.last else here.upper if end == depth else truth(end).upper
            weight = self.upto(end) - done
            lower += weight * _below(here.lower)
            upper += weight * -_below(-there)
            done, depth = done + weight, end + 1
        return Enclosure(lower, upper), total


def side_of_counts(first: int, last: int | None) -> Side | None:
    """Return depths that each one table has; None where there are none."""
    if last is not None and last < first:
        return None
    return Side(first, last, lambda depth: Fraction(depth - first + 1))


def side_of_weights(weights: Mapping[int, Fraction]) -> Side | None:
    """Return depths with a weight each."""
    depths = sorted(weights)
    sums = [Fraction(0), *accumulate(weights[depth] for depth in depths)]
    return Side(depths[0], depths[-1], lambda depth: sums[bisect_right(depths, depth)]) if depths else None


def side_of_leads(least: int, first: int, last: int | None, *, furthest: Callable[[int], int]) -> Side | None:
    """Return the tables of `first` to `last` records, two kinds of them, where one kind leads by `least` or more.

    Parameters
    ----------
    least : int
        At least 0.
    furthest : callable
        The largest lead at a depth; depths do not fall as leads grow.
    """
    if last is not None and not _tables(least, first, last):
        return None
    nearest = least
    if last is not None and _tables(least + 1, first, last) == _tables(least, first, last):
        nearest += 1  # a lead is even where the number of records is
    depth = 0
    if furthest(0) < nearest:
        # Depths grow by one with every lead, or with every second one.
        step = furthest(1) - furthest(0)
        depth = -(-(nearest - furthest(0)) // step)

    def upto(deep: int) -> Fraction:
        assert last is not None
        return Fraction(_tables(least, first, last) - _tables(max(least, furthest(deep) + 1), first, last))

    if last is None:
        return Side(depth, None, upto)
    step = furthest(1) - furthest(0)
    return Side(depth, max(depth, -(-(last - furthest(0)) // step)), upto)


def _tables(lead: int, first: int, last: int) -> int:
    """Count the tables of `first` to `last` records where one kind leads the other by `lead` or more.

    With m records there are ⌊(m − lead)/2⌋ + 1 of them.
    """

    def below(most: int) -> int:
        """Add up ⌊j/2⌋ + 1 for j from 0 to `most`."""
        return most + 1 + most * most // 4 if most >= 0 else 0

    return below(last - lead) - below(max(first, lead) - lead - 1)


def _below(value: Fraction) -> Fraction:
    return Fraction((value.numerator << _BITS) // value.denominator, 1 << _BITS)


_WIDTH = Fraction(1, 1 << 80)


@dataclass(frozen=True, slots=True)
class BandRule(ChoiceRule):
    """A reader of bands.

    Parameters
    ----------
    outputs : tuple of text
        The bands, from below.
    starts : tuple of int
        Where each begins; the first at 0.
    noise : UniversalDistribution or GaussianLaw
        Symmetric.
    least, most : int or None
        What counts are possible, as far as there is a largest.
    weights : mapping or None
        What each weighs; None where all are alike.
    basis : str
        Of `irisdp.interpretation.BASES`.
    certain : bool
        Whether the count is public, and its band said with certainty.
    ended : bool
        Whether noisy counts were put below a public end, which is at least the largest possible count.
    """

    outputs: tuple[str, ...]
    starts: tuple[int, ...]
    noise: UniversalDistribution | GaussianLaw
    least: int
    most: int | None
    weights: Mapping[int, Fraction] | None
    basis: str
    certain: bool
    ended: bool
    known: dict[int, Enclosure] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The bands."""
        return self.outputs

    def judge(self, name: Hashable) -> NameProbability:
        """Say how likely a published band holds the count."""
        place = self.outputs.index(str(name))
        possible = [band for band in range(len(self.outputs)) if self._counts(band)]
        if self.certain and place not in possible:
            rule = "leaves possible only what this release, which is never wrong, did not say"
            raise BadInput("at_least", rule, "check it, at_most= and the value against the release")
        if self.certain:
            return sure(name, name, self.names, "certain", Fraction(1))
        # In a band a count is taken for one outside most often at one of the ends (proofs/bands.md, 4).
        nearest = [self._right(band) for band in possible]
        at_worst = max(min(chance.lower for chance in nearest), Fraction(0))
        if len(possible) == 1:
            return sure(name, self.outputs[possible[0]], self.names, "known", at_worst)
        if self.basis == "worst":
            probability = Enclosure(at_worst, min(chance.upper for chance in nearest))
            return NameProbability(
                reading=name, probability=probability, basis="worst", right_at_worst=at_worst, posterior=None
            )
        masses = {band: self._mass(place, band) for band in possible}
        lower = sum((mass.lower for mass in masses.values()), Fraction(0))
        upper = sum((mass.upper for mass in masses.values()), Fraction(0))
        if upper == 0:
            raise BadInput("value", "cannot have been published, by what you know", "check at_least= and at_most=")
        posterior: dict[Hashable, Enclosure] = dict.fromkeys(self.outputs, IMPOSSIBLE)
        for band, mass in masses.items():
            # What the others come to, at most and at least.
            most, least = upper - mass.upper + mass.lower, lower - mass.lower + mass.upper
            posterior[self.outputs[band]] = Enclosure(
                mass.lower / most if most else Fraction(0), mass.upper / least if least else Fraction(1)
            )
        likely = max(posterior, key=lambda band: (posterior[band].lower + posterior[band].upper, band == name))
        return NameProbability(
            reading=likely,
            probability=posterior[name],
            basis=self.basis,
            right_at_worst=at_worst,
            posterior=posterior,
        )

    def _counts(self, band: int) -> range | None:
        """Return the possible counts of a band, to its end; None where there are none."""
        first = max(self.starts[band], self.least)
        after = self.starts[band + 1] if band + 1 < len(self.starts) else None
        if self.most is not None:
            after = self.most + 1 if after is None else min(after, self.most + 1)
        if self.weights is not None:
            listed = [count for count in self.weights if first <= count and (after is None or count < after)]
            return range(min(listed), max(listed) + 1) if listed else None
        counts = range(first, first + 1 if after is None else after)
        return counts or None

    def _right(self, band: int) -> Enclosure:
        """Enclose the least chance of the right band at a band's counts: at one of its ends, where all count alike."""
        counts = self._counts(band)
        assert counts is not None
        ends = {counts[0], counts[-1]} if self.weights is None else {count for count in counts if count in self.weights}
        probabilities = [self._said(band, count, count, None) for count in ends]
        return Enclosure(
            min(probability.lower for probability in probabilities),
            min(probability.upper for probability in probabilities),
        )

    def _mass(self, place: int, band: int) -> Enclosure:
        """Enclose the weight of a band's counts, each times the chance that the published band is said."""
        counts = self._counts(band)
        assert counts is not None
        return self._said(place, counts[0], counts[-1], self.weights)

    def _said(self, place: int, first: int, last: int, weights: Mapping[int, Fraction] | None) -> Enclosure:
        """Enclose the sum, over counts that no threshold divides, of weight times the chance of a band."""
        reached = self._reached(place, first, last, weights)
        beyond = self._reached(place + 1, first, last, weights)
        return Enclosure(max(reached.lower - beyond.upper, Fraction(0)), reached.upper - beyond.lower)

    def _reached(self, place: int, first: int, last: int, weights: Mapping[int, Fraction] | None) -> Enclosure:
        """Enclose the sum, over such counts, of weight times the chance of a band from this one up."""
        start = self.starts[place] if place < len(self.starts) else None
        above = start is not None and first >= start
        if start is None:
            return IMPOSSIBLE
        if weights is None:
            side = (
                side_of_counts(first - start, last - start)
                if above
                else side_of_counts(start - 1 - last, start - 1 - first)
            )
        else:
            chosen = {count: weight for count, weight in weights.items() if first <= count <= last}
            side = side_of_weights(
                {count - start if above else start - 1 - count: weight for count, weight in chosen.items()}
            )
        assert side is not None and side.last is not None
        total = side.upto(side.last)
        if place == 0:
            return Enclosure.exactly(total)
        right, _ = side.right(self._truth)
        if above:
            return right
        # A threshold above every possible count may be above the public end too, which no noisy count then passes.
        hidden = self.ended and self.most is not None and start > self.most
        return Enclosure(Fraction(0) if hidden else max(total - right.upper, Fraction(0)), total - right.lower)

    def _truth(self, depth: int) -> Enclosure:
        """Enclose the chance that noise does not lead across a threshold that is `depth` records away."""
        if depth not in self.known:
            self.known[depth] = self.noise.below((depth + 1) * self.noise.atoms_per_unit, width=_WIDTH)
        return self.known[depth]


def band(published: ReleaseFile, known: ReaderKnowledge) -> BandRule:
    """Make the rule for what `band` publishes."""
    if known.lead is not None:
        raise BadInput("lead", "is about majorities and the largest of several categories", "give at_least=, at_most=")
    noisy = published.mechanism.get("noise")
    thresholds: Any = entries(published.mechanism.get("thresholds"))
    guarantee = published.privacy
    cell = GaussianNoise(guarantee) if isinstance(guarantee, Gaussian) else ShapeNoise(guarantee)
    if thresholds is None or noisy != cell.to_document():
        raise BadInput("release", "has noise of another guarantee than it states", "give the file that publish wrote")
    starts = Band(
        tuple(integer(start, "thresholds", at_least=1, at_most=LARGEST_COUNT) for start in thresholds)
    ).thresholds
    least, most, weights = known.weights()
    exchange = published.cell_relation == NeighbouringRelation.EXCHANGE
    basis = "prior" if known.prior is not None else "worst" if most is None else "uniform"
    return BandRule(
        outputs=NoisyBands(starts, cell).names,
        starts=(0, *starts),
        noise=cell.noise,
        least=least,
        most=most,
        weights=weights,
        basis=basis,
        certain=exchange and published.part("query").get("expression") is None,
        ended=exchange,
    )


# How likely a published yes or no is true: the chances of the answer at every depth, weighed by what is known.
#
# A table on one side of the question, `depth` steps from the other, is answered truly with the chance T^depth of the
# boundary's. So for a reader who considers some tables possible, answers are right with at least the probability at
# the least depth. Given weights of the tables, Bayes' rule adds up those probabilities on either side.


@dataclass(frozen=True, slots=True)
class YesOrNoRule(ChoiceRule):
    """A reader of yes and no.

    Parameters
    ----------
    mechanism : DepthMechanism
    sides : dict
        For yes and for no the tables that fit what is known, None where there are none.
    certain : bool
        Whether the answer is public, and is said with certainty.
    basis : str
        Of `irisdp.interpretation.BASES`, where it is not known which side the truth is on.
    """

    mechanism: DepthMechanism
    sides: dict[str, Side | None]
    certain: bool
    basis: str

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Yes and no."""
        return ("yes", "no")

    def judge(self, name: Hashable) -> NameProbability:
        """Say how likely a published answer is true."""
        possible = [side for side in self.names if self.sides[str(side)] is not None]
        if self.certain and name not in possible:
            rule = "leaves possible only what this release, which is never wrong, did not say"
            raise BadInput("at_least", rule, "check it, at_most= and the value against the release")
        if self.certain:
            return sure(name, name, self.names, "certain", Fraction(1))
        nearest = [self._truth(side, depths.first) for side, depths in self._both()]
        at_worst = min(chance.lower for chance in nearest)
        if len(possible) == 1:
            return sure(name, possible[0], self.names, "known", at_worst)
        if self.basis == "worst":
            probability = Enclosure(at_worst, min(chance.upper for chance in nearest))
            return NameProbability(
                reading=name, probability=probability, basis="worst", right_at_worst=at_worst, posterior=None
            )
        likely = self._bayes(str(name))
        other = "no" if name == "yes" else "yes"
        chances = {name: likely, other: Enclosure(1 - likely.upper, 1 - likely.lower)}
        return NameProbability(
            reading=name if likely.lower + likely.upper >= 1 else other,
            probability=likely,
            basis=self.basis,
            right_at_worst=at_worst,
            posterior={side: chances[side] for side in self.names},
        )

    def _bayes(self, name: str) -> Enclosure:
        """Enclose the chance that an answer is true, given that it was published."""
        right = wrong = IMPOSSIBLE
        for side, depths in self._both():
            true, total = depths.right(partial(self._truth, side))
            if side == name:
                right = true
            else:
                wrong = Enclosure(max(total - true.upper, Fraction(0)), max(total - true.lower, Fraction(0)))
        return Enclosure(_share(right.lower, wrong.upper), _share(right.upper, wrong.lower, most=True))

    def _both(self) -> list[tuple[str, Side]]:
        return [(side, depths) for side, depths in self.sides.items() if depths is not None]

    def _truth(self, side: str, depth: int) -> Enclosure:
        group = next(index for index, names in enumerate(self.mechanism.rankings) if names[0] == side)
        return self.mechanism.truth(group, depth, width=_WIDTH)


def yes_or_no(published: ReleaseFile, known: ReaderKnowledge) -> YesOrNoRule:
    """Make the rule for what `at-least`, `at-most` and `majority` publish."""
    query = published.part("query").get("query")
    exchange = published.cell_relation == NeighbouringRelation.EXCHANGE
    mechanism = _mechanism(published)
    if query == "majority":
        return YesOrNoRule(mechanism, _majority(known, exchange=exchange), False, _basis(known))
    form = FORM_OF.get(str(query))
    if form is None or form.answers is not AnswerType.YES_OR_NO:
        raise BadInput("release", "asks a question that interpret does not know", "give the file that publish wrote")
    if known.lead is not None:
        raise BadInput("lead", "is about majorities and the largest of several categories", "give at_least=, at_most=")
    # At most K is what is not at least K + 1.
    start = integer(published.part("query").get("threshold"), "threshold", at_least=0, at_most=LARGEST_COUNT) + (
        query == "at-most"
    )
    high, low = ("yes", "no") if query == "at-least" else ("no", "yes")
    least, most, weights = known.weights()
    sides: dict[str, Side | None]
    if weights is None:
        sides = {
            high: side_of_counts(max(least, start) - start, None if most is None else most - start),
            low: side_of_counts(start - 1 - (start - 1 if most is None else min(most, start - 1)), start - 1 - least),
        }
    else:
        sides = {
            high: side_of_weights({count - start: weight for count, weight in weights.items() if count >= start}),
            low: side_of_weights({start - 1 - count: weight for count, weight in weights.items() if count < start}),
        }
    certain = start == 0 or (exchange and published.part("query").get("expression") is None)
    return YesOrNoRule(mechanism, sides, certain, _basis(known, most))


def _basis(known: ReaderKnowledge, most: int | None = None) -> str:
    if known.prior is not None:
        return "prior"
    return "worst" if most is None and known.at_most is None else "uniform"


def _majority(known: ReaderKnowledge, *, exchange: bool) -> dict[str, Side | None]:
    """Count the tables in which so many say yes or no; a tie is a no, and has no lead."""
    known.only_records("majority")
    least, most = known.bounds(None)
    lead = 0 if known.lead is None else integer(known.lead, "lead", at_least=0, at_most=LARGEST_COUNT)
    sides = {
        "yes": side_of_leads(
            max(lead, 1), least, most, furthest=lambda depth: 2 * depth + 2 if exchange else depth + 1
        ),
        "no": side_of_leads(lead, least, most, furthest=lambda depth: 2 * depth + 1 if exchange else depth),
    }
    if not any(sides.values()):
        raise BadInput("lead", "leaves no table possible", "check it against at_most=")
    return sides


def _mechanism(published: ReleaseFile) -> DepthMechanism:
    """Build the mechanism again from its sidecar."""
    rankings, boundary = published.mechanism.get("rankings"), published.mechanism.get("boundary")
    pairs = published.privacy
    if isinstance(pairs, Gaussian):
        pairs = privacy_from_document(published.mechanism.get("pairs"))
    names = {("yes", "no"), ("no", "yes")}
    if not isinstance(rankings, list | tuple) or not isinstance(boundary, list | tuple) or len(boundary) != 2:
        raise BadInput("release", "has no boundary of two classes", "give the file that publish wrote")
    listed = tuple(map(tuple, rankings))
    if len(listed) != 2 or set(listed) != names:
        raise BadInput("release", "does not rank yes and no", "give the file that publish wrote")
    rows: Any = tuple(tuple(rational(p, "boundary") for p in row) for row in boundary)
    return DepthMechanism(privacy=pairs, rankings=listed, boundary=rows)


def _share(part: Fraction, rest: Fraction, *, most: bool = False) -> Fraction:
    """Return part/(part + rest); of what can never be published, whichever end is on the safe side."""
    return part / (part + rest) if part + rest else (CERTAIN if most else IMPOSSIBLE).lower
