"""How likely a published band is the true one: one noisy count, seen through the thresholds between bands.

At each threshold a band is the yes or no of `at-least`. The probability that a count is answered on its side of it
depends on its distance, and never falls with it. What a band says is the difference of two such answers
(proofs/bands.md).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..cells import GaussianNoise, NoisyBands, ShapeNoise
from ..errors import BadInput
from ..exact import Enclosure, entries, integer
from ..noise import GaussianLaw, ShapeLaw
from ..privacy import Gaussian
from ..queries import Band, Relation
from .judgement import IMPOSSIBLE, ChoiceRule, Judgement, sure
from .knowledge import Knowledge
from .published_counts import LARGEST_COUNT
from .released import PublishedChoice
from .sides import side_of_counts, side_of_weights

__all__ = ["BandRule", "band"]

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
    noise : ShapeLaw or GaussianLaw
        Symmetric.
    least, most : int or None
        What counts are possible, as far as there is a largest.
    weights : mapping or None
        What each weighs; None where all are alike.
    basis : str
        Of `irisdp.reading.judgement.BASES`.
    certain : bool
        Whether the count is public, and its band said with certainty.
    ended : bool
        Whether noisy counts were put below a public end, which is at least the largest possible count.
    """

    outputs: tuple[str, ...]
    starts: tuple[int, ...]
    noise: ShapeLaw | GaussianLaw
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

    def judge(self, name: Hashable) -> Judgement:
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
            found = Enclosure(at_worst, min(chance.upper for chance in nearest))
            return Judgement(reading=name, probability=found, basis="worst", right_at_worst=at_worst, posterior=None)
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
        return Judgement(
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
        found = [self._said(band, count, count, None) for count in ends]
        return Enclosure(min(one.lower for one in found), min(one.upper for one in found))

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


def band(published: PublishedChoice, known: Knowledge) -> BandRule:
    """Make the rule for what `band` publishes."""
    if known.lead is not None:
        raise BadInput("lead", "is about majorities and the largest of several categories", "give at_least=, at_most=")
    noisy = published.mechanism.get("noise")
    thresholds: Any = entries(published.mechanism.get("thresholds"))
    guarantee = published.guarantee
    cell = GaussianNoise(guarantee) if isinstance(guarantee, Gaussian) else ShapeNoise(guarantee)
    if thresholds is None or noisy != cell.to_document():
        raise BadInput("release", "has noise of another guarantee than it states", "give the file that publish wrote")
    starts = Band(
        tuple(integer(start, "thresholds", at_least=1, at_most=LARGEST_COUNT) for start in thresholds)
    ).thresholds
    least, most, weights = known.weights()
    exchange = published.relation is Relation.EXCHANGE
    basis = "prior" if known.prior is not None else "worst" if most is None else "uniform"
    return BandRule(
        outputs=NoisyBands(starts, cell).names,
        starts=(0, *starts),
        noise=cell.noise,
        least=least,
        most=most,
        weights=weights,
        basis=basis,
        certain=exchange and published.query.get("expression") is None,
        ended=exchange,
    )
