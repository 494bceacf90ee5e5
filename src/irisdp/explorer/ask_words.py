"""What a plan means, in words and pictures, for one group of a size that somebody has in mind."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ..accounting import Cost
from ..cells import GeometricNoise, LargestCategory, MeanFromCentre, NoisySums, QuantileBin
from ..exact import Enclosure, percent_below, rational_text, short_above, shown_above
from ..plots.words import chance_text
from ..privacy import Privacy
from ..queries import NOT_OPTIMAL_TOGETHER, Relation
from ..reports.odds import odds_of
from .ask_fields import AT_LEAST, COUNT, HISTOGRAM, MAJORITY, MEAN, MEDIAN, PLURALITY, SUM, Asked
from .ask_pictures import answers_around, chance_by_distance, epsilon_text, error_by_epsilon
from .results import Fact, Table
from .sketch import Sketch

if TYPE_CHECKING:
    from ..release import Plan

__all__ = ["answers_say", "claimed", "headline", "in_odds", "odds_tables", "pictures_of", "sentence"]

_COUNTS, _NAMES = (COUNT, HISTOGRAM), (AT_LEAST, MAJORITY, PLURALITY, MEDIAN)
_FARTHEST = 5_000
"""Farther from another truth a chance is not looked up: it is never less than here."""
_MOST_BARS, _MOST_POINTS = 60, 24
_DIGITS = (4, 6, 9, 12)
"""Of the least ε: no more than it takes for what is shown to be enough."""

_UNIVERSAL = (
    "Read well, no private mechanism without δ on counts 0..n loses less, for any n and any loss that never falls on "
    "either side of the true count."
)
_AT_WORST = "No private mechanism has a smaller worst probability of the wrong answer"
_DISTANCES = {
    "add-remove": f"{_AT_WORST}; none that treats yes and no alike is wrong less often, at any distance.",
    "exchange": f"{_AT_WORST}; with these rows at the boundary none is wrong less often, at any distance.",
}
_UNCLAIMED = "No optimality is claimed."


def claimed(planned: Plan, asked: Asked) -> tuple[str, str]:
    """Return the mechanism's name, and what is claimed of it among which mechanisms."""
    name, scope = _claimed(planned, asked)
    return name, f"{scope} {sentence(NOT_OPTIMAL_TOGETHER)}." if planned.charges_two_groups else scope


def _claimed(planned: Plan, asked: Asked) -> tuple[str, str]:
    """Return the mechanism's name, and what is claimed of one answer at its own ε."""
    mechanism = planned.audiences[0].mechanism
    if isinstance(mechanism, GeometricNoise):
        return "Two-sided geometric noise", _UNIVERSAL
    if isinstance(mechanism, LargestCategory):
        from ..design import plurality

        made = plurality(asked.categories, _level(planned), planned.relation.value)
        name, _, why = made.rule.partition(":")
        return sentence(name), sentence(f"{why.strip()}. {sentence(made.scope)}.")
    if isinstance(mechanism, QuantileBin):
        name, _, why = mechanism.design.rule.partition(":")
        return sentence(name), f"{sentence(why.strip())}. {_UNCLAIMED}"
    if isinstance(mechanism, NoisySums):
        step = rational_text(mechanism.steps.size)
        return "Staircase noise on the sum", f"Values count to the nearest multiple of {step}. {_UNCLAIMED}"
    if asked.query == MEAN:
        centre = isinstance(mechanism, MeanFromCentre)
        name = (
            "the noisy sum around the middle, and the noisy number" if centre else "the noisy distances to both bounds"
        )
        return f"From {name}", f"Two noisy numbers of one ε. {_UNCLAIMED}"
    return "Pulled towards the truth by distance", _DISTANCES[planned.relation.value]


def headline(planned: Plan, asked: Asked) -> str:
    """Say the price and what it buys, in one sentence."""
    if planned.within is None:
        epsilon = _level(planned).epsilon
        return f"At {_price(planned, epsilon, epsilon_text(epsilon))} {_bought(planned, asked)}."
    kept = planned.within
    share = percent_below(kept.confidence)
    if asked.query in _NAMES:
        said = f"the answer is right in {share} % of cases, wherever {_unchanged(asked, kept.distance)}"
    else:
        said = f"{_about(asked)} is off by at most {shown_above(kept.asked, 12)} in {share} % of cases"
    least, digits = _least(planned)
    price = _price(planned, least, rational_text(least))
    which = "the least" if kept.surely_least else "the least found"
    return f"{price} is, rounded up to {digits} digits, {which} with which {said}."


def _price(planned: Plan, epsilon: Fraction, text: str) -> str:
    """Write what is charged where each answer has this ε; and that too, where it is another number."""
    times = _charged(planned) / _level(planned).epsilon
    return f"ε = {text}" if times == 1 else f"ε = {epsilon_text(times * epsilon)} in all, {text} for each count,"


def _least(planned: Plan) -> tuple[Fraction, int]:
    """Return the least ε of an answer, rounded up so that it is enough, and to how many digits.

    More ε is not always enough: noise on sums, and what names a winner, is chosen by it.
    """
    kept = planned.within
    assert kept is not None, "only where an error was asked for is there a least ε"
    for digits in _DIGITS:
        epsilon = Fraction(short_above(kept.privacy.epsilon, digits))
        mechanism = planned.query.mechanism(Privacy(epsilon=epsilon), planned.asked.cell_relation)
        chance = mechanism.chance_within(kept.distance)
        if chance is not None and chance.lower >= kept.confidence:
            break
    return epsilon, digits


def answers_say(planned: Plan, asked: Asked) -> list[Fact]:
    """Say what to expect in a group of the size in mind."""
    mechanism = planned.audiences[0].mechanism
    error = {} if asked.query in (*_NAMES, MEAN) else mechanism.expected_error()
    if asked.query in _COUNTS:
        return [_counted(planned, asked, int(error["within_95_percent"]))]
    if asked.query == SUM:
        each = Fraction(str(error["within_95_percent"])) / asked.size
        of = f"for each of {asked.size:,} records" if asked.size > 1 else "for its one record"
        return [Fact("In this group", f"In 95 % of cases off by at most {shown_above(each)} {of}")]
    if asked.query == MEAN:
        return [Fact("In this group", sentence(f"{_off_of_mean(planned, asked)} in 95 % of cases"))]
    return [Fact("In this group", f"Right with probability {_surely(planned, asked)} {_standing(asked)}")]


def _counted(planned: Plan, asked: Asked, reach: int) -> Fact:
    """Say between what a count of the group is published, be it below 0: no count is put right where 0 is no end."""
    what = "A category of" if asked.query == HISTOGRAM else "A group of"
    low, high = asked.size - reach, asked.size + reach
    notes = [f"at most {shown_above(Fraction(100 * reach, asked.size), 2)} % of it"] if reach else []
    if _between_ends(planned, asked):
        low = max(0, low)
        notes.append("that is with a condition; without one it is the size of the table, which is public")
    elif low < 0:
        notes.append("what is drawn below 0 is published as it is")
    given = f"{low:,} to {high:,}" if reach else f"{asked.size:,}, the truth,"
    return Fact("In this group", f"{what} {asked.size:,} is answered with {given} in 95 % of cases", "; ".join(notes))


def _between_ends(planned: Plan, asked: Asked) -> bool:
    """Tell whether counts are published between 0 and a public number of records."""
    return asked.query == COUNT and planned.asked.cell_relation is Relation.EXCHANGE


def in_odds(planned: Plan) -> str:
    """Say the same risk as odds, where single answers are bounded."""
    times = odds_of(planned.cost, planned.relation, planned.unit).times
    return "" if times is None else f"Even odds, 1 to 1, become at most {shown_above(times, 4)} to 1."


def odds_tables(planned: Plan) -> tuple[Table, ...]:
    """Say what the release may do to other beliefs than an even one, where odds move by a bounded factor at most."""
    odds = odds_of(planned.cost, planned.relation, planned.unit)
    if not odds.moved:
        return ()
    caption = f"How sure somebody may get {odds.asks}, who knows everything else"
    return (Table(caption, ("thought before", "at least, after any answer", "at most, after any answer"), odds.moved),)


def pictures_of(planned: Plan, asked: Asked) -> tuple[Sketch, ...]:
    """Draw where answers fall, and what another ε would buy."""
    return tuple(sketch for sketch in (_answers(planned, asked), _errors(planned, asked)) if sketch)


def _answers(planned: Plan, asked: Asked) -> Sketch | None:
    if asked.query in _COUNTS:
        return _bars(planned, asked)
    if asked.query in (SUM, MEAN):
        return None
    last = max(8, _settled(planned), min(asked.distance, _FARTHEST))
    step = -(-last // _MOST_POINTS)
    places = sorted({*range(0, last + 1, step), min(asked.distance, last)})
    return chance_by_distance(
        [(place, _chance(planned, place)) for place in places],
        title="How often the answer is right",
        axis=_AXES[asked.query],
        told="A line that rises from the left: the probability of the right answer, at worst, over how clear it is.",
        marked=asked.distance,
    )


def _bars(planned: Plan, asked: Asked) -> Sketch:
    """Draw how a count of the group is answered."""
    likely = int(planned.audiences[0].mechanism.expected_error()["within_95_percent"])
    kept = planned.within
    near, share = (likely, "95") if kept is None else (kept.distance, percent_below(kept.confidence))
    reach = max(3, min(_MOST_BARS, max(int(1.6 * likely), near) + 1))
    within = [_enclosed(planned, distance) for distance in range(reach + 1)]
    sides = [max(Fraction(0), high.lower - low.upper) / 2 for low, high in pairwise(within)]
    law = {asked.size: within[0].lower}
    for distance, chance in enumerate(sides, start=1):
        law |= {asked.size - distance: chance, asked.size + distance: chance}
    ends = _between_ends(planned, asked)
    if ends and asked.size <= reach:  # all that is drawn below 0 is shown as 0
        law = {answer: chance for answer, chance in law.items() if answer > 0}
        law[0] = (1 - _enclosed(planned, asked.size - 1).upper) / 2
    return answers_around(
        asked.size,
        sorted(law.items()),
        within=min(near, reach),
        promised=f" In {share} % of cases answers are at most {near:,} off, farther than bars are drawn."
        * (near > reach),
        noted=" These are counts with a condition, shown between 0 and the size of the table." * ends,
    )


def _errors(planned: Plan, asked: Asked) -> Sketch | None:
    """Draw what another ε would buy, where that is worked out in no time."""
    if asked.query not in (COUNT, HISTOGRAM, SUM):
        return None
    rows = planned.errors_around()
    return error_by_epsilon(
        [(row.cost.epsilon, row.mean) for row in rows if row.mean and isinstance(row.cost, Cost)],
        axis=f"mean size of the error ({'units of the sum' if asked.query == SUM else 'records'})",
        told="The mean size of the error over ε.",
        marked=_charged(planned),
    )


_AXES = {
    AT_LEAST: "records that the count is away from the other answer",
    MAJORITY: "records that the count is away from the other answer",
    PLURALITY: "records by which the largest category leads",
    MEDIAN: "records that no other bin is nearer than",
}


def _enclosed(planned: Plan, distance: int) -> Enclosure:
    found: Enclosure | None = planned.audiences[0].mechanism.chance_within(distance)
    return Enclosure.exactly(Fraction(0)) if found is None else found


def _chance(planned: Plan, distance: int) -> Fraction:
    """Return the chance of a good answer, which is this or more."""
    return _enclosed(planned, distance).lower


def _surely(planned: Plan, asked: Asked) -> str:
    """Write the chance of the right answer: as much, or more."""
    said = chance_text(_chance(planned, min(asked.distance, _FARTHEST)))
    return said if said.startswith("more") else f"at least {said}"


def _charged(planned: Plan) -> Fraction:
    """Return the ε of the whole release."""
    assert isinstance(planned.cost, Cost), "only ε is asked for here"
    return planned.cost.epsilon


def _level(planned: Plan) -> Privacy:
    level = planned.audiences[0].mechanism.privacy
    assert isinstance(level, Privacy), "only ε is asked for here"
    return level


def _settled(planned: Plan) -> int:
    """Return from which distance on an answer is right in 99 % of cases, roughly."""
    distance = 1
    while distance < _FARTHEST and _chance(planned, distance) < Fraction(99, 100):
        distance *= 2
    return distance


def _bought(planned: Plan, asked: Asked) -> str:
    error = {} if asked.query in _NAMES else planned.audiences[0].mechanism.expected_error()
    if asked.query in _COUNTS:
        return f"{_about(asked)} is off by at most {error['within_95_percent']:,} in 95 % of cases"
    if asked.query == SUM:
        return f"the sum is off by at most {error['within_95_percent']:,} in 95 % of cases"
    if asked.query == MEAN:
        return f"{_off_of_mean(planned, asked)} in 95 % of cases"
    return f"the answer is right with probability {_surely(planned, asked)} {_standing(asked)}"


def _standing(asked: Asked) -> str:
    if asked.query == AT_LEAST:
        return f"where the count is {asked.size:,}, {_records(asked.distance)} from where the answer changes"
    return f"where {_unchanged(asked, asked.distance)}"


def _unchanged(asked: Asked, distance: int) -> str:
    """Say how clear the true answer is."""
    if asked.query == PLURALITY:
        return f"the largest leads all others by {_records(distance)}"
    if asked.query == MEDIAN:
        return f"no other bin is nearer than {_records(distance)}"
    return f"it stays as it is with {_records(distance)} more or less"


def _off_of_mean(planned: Plan, asked: Asked) -> str:
    error = planned.audiences[0].mechanism.expected_error()
    off = Fraction(str(error["within_95_percent_times_records"])) / asked.size
    values = f"{asked.size:,} values" if asked.size > 1 else "one value"
    return f"the mean of {values} is off by at most about {shown_above(off)}"


def _about(asked: Asked) -> str:
    return (
        "each count" if asked.query == HISTOGRAM else "the sum" if asked.query == SUM else f"a count of {asked.size:,}"
    )


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"


def sentence(words: str) -> str:
    """Let words begin a sentence."""
    return words[:1].upper() + words[1:]
