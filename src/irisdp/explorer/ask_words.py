"""What a plan means, in words and pictures, for one group of a size that somebody has in mind."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING

from ..exact import percent_below, short_text, shown_above
from ..privacy import Privacy
from .ask_fields import AT_LEAST, COUNT, HISTOGRAM, MAJORITY, MEAN, MEDIAN, PLURALITY, SUM, Asked
from .ask_pictures import answers_around, chance_by_distance, chance_text, error_by_epsilon
from .results import Fact, Table
from .sketch import Sketch

if TYPE_CHECKING:
    from ..release import Plan

__all__ = ["answers_say", "claimed", "headline", "in_odds", "odds_tables", "pictures_of"]

_COUNTS, _NAMES = (COUNT, HISTOGRAM), (AT_LEAST, MAJORITY, PLURALITY, MEDIAN)
_FARTHEST = 5_000
"""Farther from another truth a chance is not looked up: it is never less than here."""
_MOST_BARS, _MOST_POINTS = 60, 24
_PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))

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
    if asked.query in _COUNTS:
        return "Two-sided geometric noise", _UNIVERSAL
    if asked.query in (AT_LEAST, MAJORITY):
        return "Pulled towards the truth by distance", _DISTANCES[planned.relation.value]
    if asked.query == PLURALITY:
        from ..design import plurality

        made = plurality(asked.categories, _level(planned), planned.relation.value)
        name, _, why = made.rule.partition(":")
        return _sentence(name), _sentence(f"{why.strip()}. {_sentence(made.scope)}.")
    if asked.query == SUM:
        step = asked.options.get("step", "1")
        return "Staircase noise on the sum", f"Values count to the nearest multiple of {step}. {_UNCLAIMED}"
    if asked.query == MEAN:
        return "From the noisy distances to both bounds", f"Two noisy numbers of one ε. {_UNCLAIMED}"
    return "Pulled towards the bin of the quantile", _UNCLAIMED


def headline(planned: Plan, asked: Asked) -> str:
    """Say the price and what it buys, in one sentence."""
    price = f"ε = {short_text(_level(planned).epsilon, 4)}"
    if planned.within is None:
        return f"At {price} {_bought(planned, asked)}."
    kept = planned.within
    share = percent_below(kept.confidence)
    if asked.query in _NAMES:
        said = f"the answer is right in {share} % of cases, wherever {_unchanged(asked, kept.distance)}"
    else:
        said = f"{_about(asked)} is off by at most {shown_above(kept.asked, 12)} in {share} % of cases"
    return f"{price} is the least with which {said}."


def answers_say(planned: Plan, asked: Asked) -> list[Fact]:
    """Say what to expect in a group of the size in mind."""
    mechanism = planned.audiences[0].mechanism
    error = {} if asked.query in (*_NAMES, MEAN) else mechanism.expected_error()
    if asked.query in _COUNTS:
        reach = int(error["within_95_percent"])
        low, high = max(0, asked.size - reach), asked.size + reach
        share = shown_above(Fraction(100 * reach, asked.size), 2)
        what = "A category of" if asked.query == HISTOGRAM else "A group of"
        given = f"{low:,} to {high:,}" if reach else f"{asked.size:,}, the truth,"
        said = f"{what} {asked.size:,} is answered with {given} in 95 % of cases"
        return [Fact("In this group", said, f"at most {share} % of it" if reach else "")]
    if asked.query == SUM:
        each = float(error["within_95_percent"]) / asked.size
        of = f"for each of {asked.size:,} records" if asked.size > 1 else "for its one record"
        return [Fact("In this group", f"In 95 % of cases off by at most {shown_above(each)} {of}")]
    if asked.query == MEAN:
        return [Fact("In this group", _sentence(f"{_off_of_mean(planned, asked)} in 95 % of cases"))]
    chance = mechanism.chance_within(min(asked.distance, _FARTHEST))
    if chance is None:
        return []
    least = "at least " if asked.distance > _FARTHEST or asked.query == MEDIAN else ""
    return [
        Fact("In this group", f"Right with probability {least}{chance_text(float(chance.lower))} {_standing(asked)}")
    ]


def in_odds(planned: Plan) -> str:
    """Say the same risk as odds, where single answers are bounded."""
    sure = planned.risk.posterior
    if sure is None or sure == 1:
        return ""
    return f"Even odds, 1 to 1, become at most {shown_above(_times(sure), 4)} to 1."


def odds_tables(planned: Plan) -> tuple[Table, ...]:
    """Say what the release may do to other beliefs than an even one, where odds move by a bounded factor at most."""
    sure = planned.risk.posterior
    if sure is None or sure == 1:
        return ()
    rows = []
    for prior in _PRIORS:
        odds = prior / (1 - prior)
        up, down = odds * _times(sure), odds / _times(sure)
        ends = (_hundredths(floor(10_000 * down / (1 + down))), _hundredths(ceil(10_000 * up / (1 + up))))
        rows.append((f"{short_text(100 * prior)} %", *ends))
    caption = f"How sure somebody may get {planned.risk.asks}, who knows everything else"
    return (Table(caption, ("thought before", "at least, after any answer", "at most, after any answer"), tuple(rows)),)


def pictures_of(planned: Plan, asked: Asked) -> tuple[Sketch, ...]:
    """Draw where answers fall, and what another ε would buy."""
    return tuple(sketch for sketch in (_answers(planned, asked), _errors(planned, asked)) if sketch)


def _answers(planned: Plan, asked: Asked) -> Sketch | None:
    if asked.query in _COUNTS:
        error = planned.audiences[0].mechanism.expected_error()
        near = int(error["within_95_percent"]) if planned.within is None else planned.within.distance
        reach = max(3, min(_MOST_BARS, int(1.6 * int(error["within_95_percent"])) + 1))
        within = [_chance(planned, distance) for distance in range(reach + 1)]
        sides = [(high - low) / 2 for low, high in pairwise(within)]
        law = dict.fromkeys(range(max(0, asked.size - reach), asked.size + reach + 1), 0.0)
        for distance, chance in enumerate([within[0], *sides]):
            for answer in {asked.size - distance, asked.size + distance}:
                law[max(0, answer)] += chance  # no count below nobody is published
        return answers_around(asked.size, list(law.items()), within=near)
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


def _errors(planned: Plan, asked: Asked) -> Sketch | None:
    """Draw what another ε would buy, where that is worked out in no time."""
    if asked.query not in (COUNT, HISTOGRAM, SUM):
        return None
    points = [(float(row.level[1]), row.mean) for row in planned.errors_around()]
    return error_by_epsilon(
        [(epsilon, float(error)) for epsilon, error in points if error],
        axis=f"mean size of the error ({'units of the sum' if asked.query == SUM else 'records'})",
        told="The mean size of the error over ε.",
        marked=float(_level(planned).epsilon),
    )


_AXES = {
    AT_LEAST: "records that the count is away from the other answer",
    MAJORITY: "records that the count is away from the other answer",
    PLURALITY: "records by which the largest category leads",
    MEDIAN: "records that no other bin is nearer than",
}


def _chance(planned: Plan, distance: int) -> float:
    found = planned.audiences[0].mechanism.chance_within(distance)
    return 0.0 if found is None else float(found)


def _level(planned: Plan) -> Privacy:
    level = planned.audiences[0].mechanism.privacy
    assert isinstance(level, Privacy), "only ε is asked for here"
    return level


def _settled(planned: Plan) -> int:
    """Return from which distance on an answer is right in 99 % of cases, roughly."""
    distance = 1
    while distance < _FARTHEST and _chance(planned, distance) < 0.99:
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
    chance = chance_text(_chance(planned, min(asked.distance, _FARTHEST)))
    return f"the answer is right with probability {chance} {_standing(asked)}"


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
    off = float(error["within_95_percent_times_records"]) / asked.size
    values = f"{asked.size:,} values" if asked.size > 1 else "one value"
    return f"the mean of {values} is off by at most {shown_above(off)}"


def _about(asked: Asked) -> str:
    return (
        "each count" if asked.query == HISTOGRAM else "the sum" if asked.query == SUM else f"a count of {asked.size:,}"
    )


def _hundredths(number: int) -> str:
    return f"{number // 100}.{number % 100:02} %"


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"


def _times(sure: Fraction) -> Fraction:
    """Return by what odds are multiplied at most, of who ends so sure from even odds."""
    return sure / (1 - sure)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
