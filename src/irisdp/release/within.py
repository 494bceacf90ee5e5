"""Error by name: the least ε with which answers stay within a distance as often as asked, or the least δ with which
they always do.

An answer's chance of staying within a distance is exact or enclosed (`irisdp.cells.surely_within`), so that of the ε
found it is certain that it suffices, and that a hair less, one unit of its twelfth digit, does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from typing import Any

from ..catalogue import FORMS
from ..cells import CellMechanism, NamedCounts, NoisySums, StaircaseNoise, surely_within
from ..cells.wording import records
from ..errors import BadInput
from ..exact import rational, rational_text, short_text
from ..noise import bounded_delta
from ..noise.laws import LARGEST_BOUND
from ..noise.staircase import stretches_within
from ..privacy import Guarantee, Privacy
from .options import Question

__all__ = ["DIGITS", "Met", "Within", "least_epsilon", "read_within"]

DIGITS = 12
"""Significant digits of an ε that is found."""

_USUAL = Fraction(19, 20)
_LEAST, _MOST = -18, 3
"""Powers of ten between which an ε is looked for."""
_LADDER = 64
"""Smaller ε that are tried, where noise is chosen by its ε and so need not get better with every more of it."""
_FARTHEST = 10**12

Answering = Callable[[Guarantee], CellMechanism[Any]]
"""From a guarantee to what answers with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """What was asked for, and what it takes.

    Attributes
    ----------
    asked : Fraction
        K, in the answers' own unit.
    distance : int
        The same in whole units of what is drawn: records, or steps of a sum.
    confidence : Fraction
        With which probability each answer, by itself, stays within K, or is right from K on.
    privacy : Privacy
        The least that keeps the promise.
    says : str
        In one line.
    """

    asked: Fraction
    distance: int
    confidence: Fraction
    privacy: Privacy
    says: str

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "distance": int(self.asked) if self.asked.denominator == 1 else float(self.asked),
            "confidence": rational_text(self.confidence),
            "epsilon": rational_text(self.privacy.epsilon),
            "delta": rational_text(self.privacy.delta),
            "says": self.says,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """How far off answers may be, as it was asked.

    Attributes
    ----------
    asked : Fraction
        K.
    confidence : Fraction
        1 where an ε was given: then noise ends at K.
    pair : Privacy or None
        The ε that was given, with δ = 0; None where the least is to be found.
    delta : Fraction
        The δ that was given.
    """

    asked: Fraction
    confidence: Fraction
    pair: Privacy | None
    delta: Fraction

    def check(self, query: str) -> str:
        """Refuse queries whose answers have no distance; return what a distance is, of the others."""
        said = {form.name: form.within for form in FORMS}
        meant = said.get(query)
        if meant is None:
            taken = ", ".join(name for name, words in said.items() if words)
            raise BadInput("within", f"is not for {query}, but for {taken}", "ask with epsilon=")
        return meant

    def meet(self, query: str, answering: Answering) -> Met:
        """Find the least guarantee that keeps the promise.

        Parameters
        ----------
        query : str
            Its name.
        answering : callable
            What would answer with a guarantee.

        Raises
        ------
        BadInput
            Where none does, or any would.
        """
        what = self.check(query).format(K=_shown(self.asked), records=records(floor(self.asked)))
        if self.pair is not None:
            return self._always(what, answering)
        usual = answering(Privacy(epsilon=1, delta=self.delta))
        distance = self._distance(usual)

        def kept(epsilon: Fraction) -> bool:
            mechanism = answering(Privacy(epsilon=epsilon, delta=self.delta))
            return surely_within(mechanism, distance, self.confidence)

        stretches = _stretches(usual, distance, self.confidence)
        found = Privacy(epsilon=least_epsilon(kept, stretches), delta=self.delta)
        if isinstance(usual, NamedCounts):
            what += ", whether it is named or not,"
        often = f"with probability {short_text(100 * self.confidence)} %"
        least = rational_text(found.epsilon)
        says = f"each answer is {what} {often}: the least ε for that, to {DIGITS} digits, is {least}"
        return Met(asked=self.asked, distance=distance, confidence=self.confidence, privacy=found, says=says)

    def _always(self, what: str, answering: Answering) -> Met:
        """Let noise end at K: at the least δ at which any noise of this ratio may (docs/theory.md#shapes)."""
        assert self.pair is not None
        distance = self._distance(answering(self.pair.with_delta(bounded_delta(self.pair, 1))))
        if not 1 <= distance <= LARGEST_BOUND:
            raise BadInput("within", f"must be from 1 to {LARGEST_BOUND:,} with epsilon=", "leave epsilon= out")
        found = self.pair.with_delta(bounded_delta(self.pair, distance))
        if not surely_within(answering(found), distance, Fraction(1)):
            rule = "with epsilon= is for noise that ends there, of one count of a record or person"
            raise BadInput("within", rule, "leave epsilon= out, or within=")
        says = f"each answer is {what}, always: the least δ for that, at this ε, is {short_text(found.delta)}"
        return Met(asked=self.asked, distance=distance, confidence=Fraction(1), privacy=found, says=says)

    def _distance(self, mechanism: CellMechanism[Any]) -> int:
        """Return K in whole units of what a mechanism draws."""
        if isinstance(mechanism, NoisySums):
            return floor(self.asked / mechanism.steps.size)
        if self.asked.denominator != 1:
            raise BadInput("within", "must be a whole number for this query", "give for example 5")
        return int(self.asked)


def read_within(options: Question) -> Within | None:
    """Read how far off answers may be; None where nothing was said of it.

    Raises
    ------
    BadInput
        For what is no distance or probability, and for what says the same in another way.
    """
    distance, confidence = options.get("within"), options.get("confidence")
    if distance is None:
        return None
    for name in ("audience", "mu", "privacy"):
        if options.get(name) is not None:
            rule = f"cannot be given with {name}=, which says how accurate answers are"
            raise BadInput("within", rule, "leave one of the two out")
    far = rational(distance, "within")
    if not 0 <= far <= _FARTHEST:
        raise BadInput("within", f"must be from 0 to {_FARTHEST:,}", "give for example 5")
    epsilon, ratio = options.get("epsilon"), options.get("ratio")
    delta = rational(options.get("delta", 0), "delta")
    if epsilon is None and ratio is None:
        often = _USUAL if confidence is None else rational(confidence, "confidence")
        if not 0 < often < 1:
            remedy = "give for example 0.95; with an epsilon= beside within= it is 1"
            raise BadInput("confidence", "must be above 0 and below 1", remedy)
        return Within(asked=far, confidence=often, pair=None, delta=delta)
    if epsilon is not None and ratio is not None:
        raise BadInput("epsilon", "says the same as ratio=", "leave one of the two out")
    if confidence is not None:
        rule = "is 1 where epsilon= stands beside within=: noise then ends at that distance"
        raise BadInput("confidence", rule, "leave one of the two out")
    if delta:
        raise BadInput("delta", "follows from epsilon= and within=", "leave it out")
    pair = Privacy(epsilon=epsilon, ratio=ratio)
    return Within(asked=far, confidence=Fraction(1), pair=pair, delta=delta)


def _stretches(mechanism: CellMechanism[Any], distance: int, confidence: Fraction) -> list[tuple[float, float]]:
    """Return where more ε may stray further, of noise whose steps are chosen by ε."""
    noise = mechanism.noise if isinstance(mechanism, NoisySums) else mechanism
    if isinstance(noise, StaircaseNoise):
        return stretches_within(noise.sensitivity, distance, confidence)
    return []


def least_epsilon(kept: Callable[[Fraction], bool], stretches: Iterable[tuple[float, float]] = ()) -> Fraction:
    """Return the least decimal of twelve significant digits that is enough; a unit of the last digit less is not.

    Parameters
    ----------
    kept : callable
        Whether an ε is enough. Where noise is chosen by its ε, so that more may be too little, smaller ones are
        looked for on a ladder of steps of one per cent.
    stretches : iterable of (float, float)
        In ascending order, stretches of ε at whose ends smaller ones may be enough, too, and beyond which they may not.

    Raises
    ------
    BadInput
        Where no ε from 1e-18 to 1,000 is enough, or all are.
    """

    def enough(epsilon: Fraction) -> bool:
        try:
            return kept(epsilon)
        except BadInput:  # less than any noise is drawn for
            if epsilon >= 1:
                raise
            return False

    found = Fraction(1)
    while not enough(found):
        found *= 10
        if found > 10**_MOST:
            rule = f"is kept by no ε up to {10**_MOST:,}"
            raise BadInput("within", rule, "ask for a larger distance, or a lower confidence")
    found = _least_below(enough, found)
    for start, end in stretches:
        if end >= found:
            break
        last = next((place for place in _last_before(end) if place < found and enough(place)), None)
        if last is not None:
            found = _least_below(enough, last, Fraction(start * (1 - 1e-11)))
            break
    for step in range(1, _LADDER):
        smaller = _on_grid(found * (100 - step) / 100)
        if enough(smaller):
            return _least_below(enough, smaller)
    return found


def _least_below(enough: Callable[[Fraction], bool], high: Fraction, low: Fraction = Fraction(0)) -> Fraction:
    """Return one that is enough, next to one that is not: at most `high`, which is enough, and above `low`."""
    power = _power(high)
    while Fraction(10) ** power > low and enough(Fraction(10) ** power):
        high, power = Fraction(10) ** power, power - 1
        if power < _LEAST:
            raise BadInput("within", "is kept however small ε is", "ask for a smaller distance, or a higher confidence")
    unit = Fraction(10) ** (power - DIGITS + 1)
    first, last = max(10 ** (DIGITS - 1), floor(low / unit)), int(high / unit)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if enough(middle * unit) else (middle, last)
    return last * unit


def _last_before(end: float) -> Iterable[Fraction]:
    """Yield the grid's last numbers up to one that is nearly known."""
    last = _on_grid(Fraction(end))
    unit = Fraction(10) ** (_power(last) - DIGITS + 1)
    return (last + unit, last, last - unit)


def _shown(distance: Fraction) -> str:
    return f"{int(distance):,}" if distance.denominator == 1 else rational_text(distance)


def _on_grid(epsilon: Fraction) -> Fraction:
    """Round down to twelve significant digits."""
    unit = Fraction(10) ** (_power(epsilon) - DIGITS + 1)
    return floor(epsilon / unit) * unit


def _power(number: Fraction) -> int:
    """Return p with 10^p ≤ number < 10^(p + 1)."""
    power = floor(log10(number))
    while Fraction(10) ** power > number:
        power -= 1
    while Fraction(10) ** (power + 1) <= number:
        power += 1
    return power
