"""Error by name: the least ε with which answers stay within a distance as often as asked, or the least δ with which
they always do.

The probability that an answer stays within a distance is exact or enclosed (`irisdp._measurements.surely_within`). So
the returned ε certainly suffices, and an ε smaller by one unit of its twelfth digit does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10, sqrt
from typing import Any

from .._exact import (
    Enclosure,
    float_above,
    integer,
    percent_below,
    rational,
    rational_text,
    short_above,
    shown_above,
    shown_below,
)
from .._measurements import Measurement, least_distance, records, short, surely_within
from .._queries import FORM_OF, FORMS, Measured, Query
from ..accounting import Charge
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Gaussian, Guarantee, Privacy
from .audiences import read_audiences
from .options import QuestionOptions

# A small table of ε against error, from public facts alone: what a little more, or a little less, would buy.

_FACTORS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
_LIKELY = Fraction(19, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAt:
    """How far off answers would be at another ε, or μ.

    Attributes
    ----------
    privacy : Guarantee
        Of each answer.
    cost : Charge
        Of the whole release.
    mean : float or None
        The mean absolute error, where answers are numbers.
    at_worst : float or None
        The probability of a right answer at worst, where answers are names.
    likely : int or float or None
        What 95 % of answers stay within; of names, from which distance or lead on 95 % are right. None if no number is.
    chance : float or None
        Probability with which answers stay within the requested distance, if one was requested.
    """

    privacy: Guarantee
    cost: Charge
    mean: float | None
    at_worst: float | None
    likely: float | None
    chance: float | None

    @property
    def level(self) -> tuple[str, Fraction]:
        """What is varied, by its name."""
        if isinstance(self.privacy, Gaussian):
            return "mu", self.privacy.mu
        return "epsilon", self.privacy.epsilon

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        name, value = self.level
        shown = {"mean_absolute": self.mean, "right_at_worst": self.at_worst, "for_95_percent": self.likely}
        shown |= {} if self.chance is None else {"chance_within": self.chance}
        told = {key: error for key, error in shown.items() if error is not None or key == "for_95_percent"}
        return {name: rational_text(value), "cost": self.cost.to_document(), **told}


def errors_around(
    query: Query[Any],
    mechanism: Measurement[Any],
    *,
    relation: NeighbouringRelation,
    price: Callable[[Guarantee], Charge],
    distance: int | None,
) -> list[ErrorAt]:
    """Return what errors would be at a quarter, half, twice and four times an ε, and at itself.

    None for questions whose mechanisms are searched for at each ε, and for several pairs at once; and of each ε only
    where there is such noise.

    Parameters
    ----------
    query : Query
        The subject of the question.
    mechanism : Measurement
        What answers it, at the ε in the middle.
    relation : NeighbouringRelation
        The relation whose graph a cell lives on.
    price : callable
        From what each answer keeps to what the release costs.
    distance : int or None
        How far off answers were to be at most, if that was asked for.
    """
    from .._measurements import QuantileBin

    given = mechanism.privacy
    known = {form.name for form in FORMS if form.within is not None}
    if (
        query.name not in known
        or isinstance(mechanism, QuantileBin)
        or (isinstance(given, Privacy) and not given.single)
    ):
        return []
    rows = []
    for factor in _FACTORS:
        try:
            privacy = given if factor == 1 else _scaled(given, factor)
            other = mechanism if factor == 1 else query.mechanism(privacy, relation)
            rows.append(_row(other, privacy, price(privacy), distance))
        except BadInput:  # no such noise
            continue
    return rows


def in_columns(rows: Sequence[ErrorAt]) -> list[str]:
    """Write rows as lines of a small table, an ε in each column."""
    table = error_table(rows)
    first = max((len(name) for name, _ in table), default=0)
    wide = max((len(cell) for _, cells in table for cell in cells), default=0)
    return [f"{name:<{first}}  " + "  ".join(cell.rjust(wide) for cell in cells) for name, cells in table]


def error_table(rows: Sequence[ErrorAt]) -> list[tuple[str, list[str]]]:
    """Return the lines of a small table, with a cell for each ε: rounded up, as errors fall with it."""
    if not rows:
        return []
    names = {"epsilon": "ε", "mu": "μ"}
    table = [(names[rows[0].level[0]], [short_above(row.level[1], 4) for row in rows])]
    if any(row.mean is not None for row in rows):
        table.append(("off by, on average", ["-" if row.mean is None else shown_above(row.mean) for row in rows]))
        table.append(("in 95 % at most", ["-" if row.likely is None else short(row.likely) for row in rows]))
    elif all(row.at_worst is None for row in rows):
        table.append(("apart in 95 %", ["-" if row.likely is None else short(row.likely) for row in rows]))
    else:
        worst = [_chance(row.at_worst) for row in rows]
        table.append(("right, at worst", worst))
        table.append(("right in 95 % from", ["-" if row.likely is None else short(row.likely) for row in rows]))
    if any(row.chance is not None for row in rows):
        table.append(("within, as asked", [_chance(row.chance) for row in rows]))
    return table


def _row(mechanism: Measurement[Any], privacy: Guarantee, cost: Charge, distance: int | None) -> ErrorAt:
    error = mechanism.expected_error()
    mean = error.get("mean_absolute")
    of_rank = "apart_within_95_percent" in error  # which says how near an answer is, and not how often it is right
    worst = None if mean is not None or of_rank else mechanism.chance_within(0)
    likely = next((error[name] for name in ("within_95_percent", "all_within_95_percent") if name in error), None)
    if mean is None:
        likely = least_distance(mechanism, _LIKELY)
    asked = None if distance is None else mechanism.chance_within(distance)
    return ErrorAt(
        privacy=privacy,
        cost=cost,
        mean=mean,
        at_worst=None if worst is None else _at_least(worst),
        likely=likely,
        chance=None if asked is None else _at_least(asked),
    )


def _at_least(chance: Enclosure) -> float:
    """Return the largest float that a chance surely reaches: never 1 for less."""
    return 0.0 - float_above(-chance.lower)


def _chance(chance: float | None) -> str:
    if chance is None:
        return "-"
    return ">0.999" if 0.999 < chance < 1 else shown_below(chance)


def _scaled(given: Guarantee, factor: Fraction) -> Guarantee:
    if isinstance(given, Gaussian):
        return Gaussian(given.mu * factor)
    return Privacy(epsilon=given.epsilon * factor, delta=given.delta)


# The least ε that is enough, as a short decimal number: one unit of its last digit less is not.

DIGITS = 12
"""Significant digits of an ε that is found."""

_LEAST, _MOST = -18, 3
"""Powers of ten between which an ε is looked for."""
_LADDER = 64
"""Smaller ε that are tried, where noise is chosen by its ε and so need not get better with every more of it."""


def least_epsilon(
    kept: Callable[[Fraction], bool], stretches: Iterable[tuple[float, float]] = (), *, ladder: bool = True
) -> Fraction:
    """Return the least decimal of twelve significant digits that is enough; a unit of the last digit less is not.

    Parameters
    ----------
    kept : callable
        Whether an ε is enough.
    stretches : iterable of (float, float)
        In ascending order, stretches of ε at whose ends smaller ones may be enough, too, and beyond which they may not.
    ladder : bool
        Whether more may be too little elsewhere, too: then smaller ones are looked for in steps of one per cent.

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

    result = Fraction(1)
    while not enough(result):
        result *= 10
        if result > 10**_MOST:
            rule = f"is kept by no ε up to {10**_MOST:,}"
            raise BadInput("within", rule, "ask for a larger distance, or a lower confidence")
    result = _least_below(enough, result)
    for start, end in stretches:
        if end >= result:
            break
        last = next((place for place in _last_before(end) if place < result and enough(place)), None)
        if last is not None:
            result = _least_below(enough, last, Fraction(start * (1 - 1e-11)))
            break
    for step in range(1, _LADDER if ladder else 1):
        smaller = on_grid(result * (100 - step) / 100)
        if enough(smaller):
            return _least_below(enough, smaller)
    return result


def _least_below(enough: Callable[[Fraction], bool], high: Fraction, low: Fraction = Fraction(0)) -> Fraction:
    """Return one that is enough, next to one that is not: at most `high`, which is enough, and above `low`."""
    low = low if low <= 0 or not enough(on_grid(low)) else Fraction(0)
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
    last = on_grid(Fraction(end))
    unit = Fraction(10) ** (_power(last) - DIGITS + 1)
    return (last + unit, last, last - unit)


def on_grid(epsilon: Fraction) -> Fraction:
    """Round down to twelve significant digits."""
    unit = Fraction(10) ** (_power(abs(epsilon)) - DIGITS + 1)
    return floor(epsilon / unit) * unit


def _power(number: Fraction) -> int:
    """Return p with 10^p ≤ number < 10^(p + 1)."""
    power = floor((number.numerator.bit_length() - number.denominator.bit_length()) * log10(2))
    while Fraction(10) ** power > number:
        power -= 1
    while Fraction(10) ** (power + 1) <= number:
        power += 1
    return power


_USUAL = Fraction(19, 20)
_A_LITTLE_MORE = Fraction(101, 100)
_RANGE, _HALVINGS = (1e-3, 100.0), 60
"""Where the ε is looked for from which on a staircase is better than noise that is spread, and how closely."""
_FARTHEST = 10**12
_LEAST_DELTA = Fraction(1, 10**30)
"""No smaller δ is looked for."""

_WITH_RECORDS = ", ".join(form.name for form in FORMS if form.within_records is not None)

Answering = Callable[[Guarantee], Measurement[Any]]
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
    records : int or None
        How many records were assumed to have a value, at least.
    """

    asked: Fraction
    distance: int
    confidence: Fraction
    privacy: Privacy
    says: str
    surely_least: bool = True
    records: int | None = None

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "distance": int(self.asked) if self.asked.denominator == 1 else float(self.asked),
            "confidence": rational_text(self.confidence),
            "epsilon": rational_text(self.privacy.epsilon),
            "delta": rational_text(self.privacy.delta),
            "says": self.says,
            **({} if self.records is None else {"assumed_records": self.records}),
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
    records : int or None
        How many records have a value, at least: an assumption, which no data was asked for.
    """

    asked: Fraction
    confidence: Fraction
    pair: Privacy | None
    delta: Fraction
    records: int | None = None

    def check(self, query: str) -> str:
        """Refuse queries whose answers have no distance; return what a distance is, of the others."""
        said = {form.name: form.within for form in FORMS}
        meant = said.get(query)
        if query in FORM_OF and FORM_OF[query].within_records is not None:
            meant = self._check_records(query)
        elif self.records is not None:
            raise BadInput("records", f"is not for {query}, but for {_WITH_RECORDS}", "leave it out")
        if meant is None:
            taken = ", ".join(name for name, words in said.items() if words)
            rule, remedy = f"is not for {query}, but for {taken}", "ask with epsilon="
            if FORM_OF[query].measured is Measured.VALUES:
                rule += ": how far off it is depends on the number of records with a value, which is not public"
                remedy += "; the dry run says the error for N records"
            raise BadInput("within", rule, remedy)
        return meant

    def _check_records(self, query: str) -> str | None:
        if self.pair is not None:
            rule = "with epsilon= is for counts, and yes or no about them: their noise can end"
            raise BadInput("within", rule, "leave epsilon= out, or within=")
        if self.records is None:
            rule = f"of a {query} depends on how many records have a value, which is not public"
            remedy = "add records=N, an assumption for planning that at least N have one; or ask with epsilon="
            raise BadInput("within", rule, remedy)
        return FORM_OF[query].within_records

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
        number = "" if self.records is None else f"{self.records:,}"
        what = self.check(query).format(K=_shown(self.asked), records=records(floor(self.asked)), N=number)
        if self.pair is not None:
            return self._always(what, answering)

        def at(epsilon: Fraction) -> Measurement[Any]:
            return answering(Privacy(epsilon=epsilon, delta=self.delta))

        from .._measurements import (
            LargestCategory,
            QuantileBin,
            SpreadNoise,
            StaircaseNoise,
        )  # few releases ask for an error
        from .._measurements import NoisyCountSelection as NamedCounts

        usual = at(Fraction(1))
        distance = self._distance(usual)
        # Which rule names a winner, and which noise many records get, is chosen by ε.
        chosen = isinstance(_noise(usual), LargestCategory | StaircaseNoise | SpreadNoise | QuantileBin)
        # A table of a quantile's rows takes seconds, so the search is among weights by score.
        tried = (lambda epsilon: usual.by_scores(Privacy(epsilon=epsilon))) if isinstance(usual, QuantileBin) else at
        least_one = least_epsilon(
            lambda epsilon: self._kept(tried(epsilon), distance),
            _stretches(at, distance, self.confidence),
            ladder=chosen,
        )
        while not self._kept(at(least_one), distance):  # of a table, which should be nearer
            least_one = on_grid(least_one * _A_LITTLE_MORE)
        privacy = Privacy(epsilon=least_one, delta=self.delta)
        if isinstance(usual, NamedCounts):
            what += ", whether it is named or not,"
        often = f"with probability {percent_below(self.confidence)} %"
        least = rational_text(privacy.epsilon)
        which = f"the least ε {'found ' * chosen}for that, to {DIGITS} digits, is {least}"
        return Met(
            asked=self.asked,
            distance=distance,
            confidence=self.confidence,
            privacy=privacy,
            says=f"each answer is {what} {often}: {which}",
            surely_least=not chosen,
            records=self.records,
        )

    def _kept(self, mechanism: Measurement[Any], distance: int) -> bool:
        """Tell whether answers surely stay within the distance as often as asked."""
        from .._measurements import MeanFromCentre, MeanFromEnds

        if isinstance(mechanism, MeanFromCentre | MeanFromEnds):
            assert self.records is not None
            return mechanism.chance_with(self.asked, self.records) >= self.confidence
        return surely_within(_noise(mechanism), distance, self.confidence)

    def _always(self, what: str, answering: Answering) -> Met:
        """Let noise end at K: at the least δ at which any noise of this ratio may (docs/theory.md#shapes)."""
        assert self.pair is not None
        from ..noise import LARGEST_BOUND, bounded_delta

        distance = self._distance(answering(self.pair.with_delta(bounded_delta(self.pair, 1))))
        if not 1 <= distance <= LARGEST_BOUND:
            nearest = min(max(distance, 1), LARGEST_BOUND)
            remedy = f"give {nearest}, or leave epsilon= out"
            raise BadInput("within", f"must be from 1 to {LARGEST_BOUND:,} with epsilon=", remedy)
        # Of a δ a hair above the least the noise ends no further out, and its digits fit on a line.
        least = max(bounded_delta(self.pair, distance), _LEAST_DELTA)
        pair = self.pair.with_delta(-on_grid(-least))
        if self.delta and pair.delta > self.delta:
            rule = f"would take δ = {short_above(pair.delta, DIGITS)} at this ε, and delta= allows less"
            raise BadInput("within", rule, "give a larger distance or a larger ε, or leave epsilon= out")
        if not surely_within(answering(pair), distance, Fraction(1)):
            rule = (
                "with epsilon= is for counts of one record of a person, and yes or no about them: their noise can end"
            )
            raise BadInput("within", rule, "leave epsilon= out, or within=")
        why = (
            "less is not looked for" if least == _LEAST_DELTA else f"the least δ for that at this ε, to {DIGITS} digits"
        )
        says = f"each answer is {what}, always, at δ = {short_above(pair.delta, DIGITS)}: {why}"
        return Met(asked=self.asked, distance=distance, confidence=Fraction(1), privacy=pair, says=says)

    def _distance(self, mechanism: Measurement[Any]) -> int:
        """Return K in whole units of what a mechanism draws."""
        from .._measurements import MeanFromCentre, MeanFromEnds, MeanOfAll, NoisySums

        if isinstance(mechanism, MeanFromCentre | MeanFromEnds) and mechanism.lot is not None:
            raise BadInput("within", "is not for weighted means, but for others", "ask with epsilon=")
        if isinstance(mechanism, NoisySums | MeanOfAll | MeanFromCentre | MeanFromEnds):
            return floor(self.asked * (self.records or 1) / mechanism.steps.size)
        if self.asked.denominator != 1:
            raise BadInput("within", "must be a whole number for this query", "give for example 5")
        return int(self.asked)


def read_within(options: QuestionOptions) -> Within | None:
    """Read how far off answers may be; None where nothing was said of it.

    Raises
    ------
    BadInput
        For what is no distance or probability, and for what says the same in another way.
    """
    distance, confidence, number = options.get("within"), options.get("confidence"), options.get("records")
    if distance is None:
        if number is not None:
            raise BadInput("records", "is an assumption for within=, which is missing", "add within=, or leave it out")
        return None
    number = None if number is None else integer(number, "records", at_least=1, at_most=_FARTHEST)
    for name in ("audience", "mu", "privacy"):
        if options.get(name) is not None and (name != "audience" or any(level for _, level in read_audiences(options))):
            rule = f"cannot be given with {name}=, which says how accurate answers are"
            remedy = "leave one of the two out" + (", or name audiences without an ε" if name == "audience" else "")
            raise BadInput("within", rule, remedy)
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
        return Within(asked=far, confidence=often, pair=None, delta=delta, records=number)
    if epsilon is not None and ratio is not None:
        raise BadInput("epsilon", "says the same as ratio=", "leave one of the two out")
    if confidence is not None:
        rule = "is 1 where epsilon= stands beside within=: noise then ends at that distance"
        raise BadInput("confidence", rule, "leave one of the two out")
    if delta and options.get("select_groups"):
        raise BadInput("delta", "follows from epsilon= and within=", "leave it out")
    pair = Privacy(epsilon=epsilon, ratio=ratio)
    return Within(asked=far, confidence=Fraction(1), pair=pair, delta=delta, records=number)


def _stretches(
    answering: Callable[[Fraction], Measurement[Any]], distance: int, confidence: Fraction
) -> list[tuple[float, float]]:
    """Return where more ε may stray further, of noise whose steps, or whose law, are chosen by ε."""
    from .._measurements import SpreadNoise, StaircaseNoise
    from ..noise import stretches_within

    noise = _noise(answering(Fraction(1)))
    if not isinstance(noise, StaircaseNoise | SpreadNoise):
        return []
    both = (noise, noise.instead_of)
    stretches = []
    for one in both:
        if isinstance(one, StaircaseNoise):
            steps = stretches_within(one.sensitivity, distance, confidence)
            stretches += [(start * one.cells, end * one.cells) for start, end in steps]
    if noise.instead_of is not None:  # the staircase is better from some ε on
        low, high = _RANGE
        for _ in range(_HALVINGS):
            middle = sqrt(low * high)
            spread = isinstance(_noise(answering(Fraction(middle))), SpreadNoise)
            low, high = (middle, high) if spread else (low, middle)
        stretches.append((0.0, low))
    return sorted(stretches, key=lambda stretch: stretch[1])


def _noise(mechanism: Measurement[Any]) -> Any:
    """Return what is added to a sum, and of other mechanisms themselves."""
    from .._measurements import MeanOfAll, NoisySums

    return mechanism.noise if isinstance(mechanism, NoisySums | MeanOfAll) else mechanism


def _shown(distance: Fraction) -> str:
    return f"{int(distance):,}" if distance.denominator == 1 else rational_text(distance)
