"""Error by name: the least ε with which answers stay within a distance as often as asked, or the least δ with which
they always do.

The probability that an answer stays within a distance is exact or enclosed (`irisdp.cells.surely_within`). So the
returned ε certainly suffices, and an ε smaller by one unit of its twelfth digit does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, sqrt
from typing import Any

from ..catalogue import FORMS
from ..cells import CellMechanism, surely_within
from ..cells.wording import records
from ..errors import BadInput
from ..exact import percent_below, rational, rational_text, short_above
from ..privacy import Guarantee, Privacy
from .least_epsilon import DIGITS, least_epsilon, on_grid
from .options import Question

__all__ = ["Met", "Within", "read_within"]

_USUAL = Fraction(19, 20)
_RANGE, _HALVINGS = (1e-3, 100.0), 60
"""Where the ε is looked for from which on a staircase is better than noise that is spread, and how closely."""
_FARTHEST = 10**12
_LEAST_DELTA = Fraction(1, 10**30)
"""No smaller δ is looked for."""

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
        The least that meets the accuracy.
    says : str
        In one line.
    surely_least : bool
        Whether none less does; else a hair less does not, and smaller ones were tried in steps of one per cent.
    """

    asked: Fraction
    distance: int
    confidence: Fraction
    privacy: Privacy
    says: str
    surely_least: bool = True

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
        The δ that was given; beside an ε the most that may be found, where it is not 0.
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
        """Find the least guarantee that meets the accuracy.

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

        def at(epsilon: Fraction) -> CellMechanism[Any]:
            return answering(Privacy(epsilon=epsilon, delta=self.delta))

        from ..cells import LargestCategory, NamedCounts, SpreadNoise, StaircaseNoise  # few releases ask for an error

        usual = at(Fraction(1))
        distance = self._distance(usual)
        # Which rule names a winner, and which noise many records get, is chosen by ε.
        chosen = isinstance(_noise(usual), LargestCategory | StaircaseNoise | SpreadNoise)
        least_one = least_epsilon(
            lambda epsilon: surely_within(at(epsilon), distance, self.confidence),
            _stretches(at, distance, self.confidence),
            ladder=chosen,
        )
        found = Privacy(epsilon=least_one, delta=self.delta)
        if isinstance(usual, NamedCounts):
            what += ", whether it is named or not,"
        often = f"with probability {percent_below(self.confidence)} %"
        least = rational_text(found.epsilon)
        which = f"the least ε {'found ' * chosen}for that, to {DIGITS} digits, is {least}"
        return Met(
            asked=self.asked,
            distance=distance,
            confidence=self.confidence,
            privacy=found,
            says=f"each answer is {what} {often}: {which}",
            surely_least=not chosen,
        )

    def _always(self, what: str, answering: Answering) -> Met:
        """Let noise end at K: at the least δ at which any noise of this ratio may (docs/theory.md#shapes)."""
        assert self.pair is not None
        from ..noise import bounded_delta
        from ..noise.laws import LARGEST_BOUND

        distance = self._distance(answering(self.pair.with_delta(bounded_delta(self.pair, 1))))
        if not 1 <= distance <= LARGEST_BOUND:
            nearest = min(max(distance, 1), LARGEST_BOUND)
            remedy = f"give {nearest}, or leave epsilon= out"
            raise BadInput("within", f"must be from 1 to {LARGEST_BOUND:,} with epsilon=", remedy)
        # Of a δ a hair above the least the noise ends no further out, and its digits fit on a line.
        least = max(bounded_delta(self.pair, distance), _LEAST_DELTA)
        found = self.pair.with_delta(-on_grid(-least))
        if self.delta and found.delta > self.delta:
            rule = f"would take δ = {short_above(found.delta, DIGITS)} at this ε, and delta= allows less"
            raise BadInput("within", rule, "give a larger distance or a larger ε, or leave epsilon= out")
        if not surely_within(answering(found), distance, Fraction(1)):
            rule = (
                "with epsilon= is for counts of one record of a person, and yes or no about them: their noise can end"
            )
            raise BadInput("within", rule, "leave epsilon= out, or within=")
        why = (
            "less is not looked for" if least == _LEAST_DELTA else f"the least δ for that at this ε, to {DIGITS} digits"
        )
        says = f"each answer is {what}, always, at δ = {short_above(found.delta, DIGITS)}: {why}"
        return Met(asked=self.asked, distance=distance, confidence=Fraction(1), privacy=found, says=says)

    def _distance(self, mechanism: CellMechanism[Any]) -> int:
        """Return K in whole units of what a mechanism draws."""
        from ..cells import NoisySums

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
    if delta and options.get("select_groups"):
        raise BadInput("delta", "follows from epsilon= and within=", "leave it out")
    pair = Privacy(epsilon=epsilon, ratio=ratio)
    return Within(asked=far, confidence=Fraction(1), pair=pair, delta=delta)


def _stretches(
    answering: Callable[[Fraction], CellMechanism[Any]], distance: int, confidence: Fraction
) -> list[tuple[float, float]]:
    """Return where more ε may stray further, of noise whose steps, or whose law, are chosen by ε."""
    from ..cells import SpreadNoise, StaircaseNoise
    from ..noise.staircase import stretches_within

    noise = _noise(answering(Fraction(1)))
    if not isinstance(noise, StaircaseNoise | SpreadNoise):
        return []
    both = (noise, noise.instead_of)
    found = []
    for one in both:
        if isinstance(one, StaircaseNoise):
            steps = stretches_within(one.sensitivity, distance, confidence)
            found += [(start * one.cells, end * one.cells) for start, end in steps]
    if noise.instead_of is not None:  # the staircase is better from some ε on
        low, high = _RANGE
        for _ in range(_HALVINGS):
            middle = sqrt(low * high)
            spread = isinstance(_noise(answering(Fraction(middle))), SpreadNoise)
            low, high = (middle, high) if spread else (low, middle)
        found.append((0.0, low))
    return sorted(found, key=lambda stretch: stretch[1])


def _noise(mechanism: CellMechanism[Any]) -> Any:
    """Return what is added to a sum, and of other mechanisms themselves."""
    from ..cells import NoisySums

    return mechanism.noise if isinstance(mechanism, NoisySums) else mechanism


def _shown(distance: Fraction) -> str:
    return f"{int(distance):,}" if distance.denominator == 1 else rational_text(distance)
