"""What a plan means, in words and pictures, for one group of a size that somebody has in mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._exact import Enclosure, percent_below, rational_text, short_above, shown_above
from .._measurements import GeometricNoise, LargestCategory, MeanFromCentre, NoisySums, QuantileBin
from .._queries import NOT_OPTIMAL_TOGETHER
from .._views.reports import odds_of
from ..accounting import Cost
from ..graphs import NeighbouringRelation
from ..interpretation import float_below
from ..plots import COLOURS, INK, Picture, altair, chance_text, finished
from ..privacy import Privacy
from .ask_form import AT_LEAST, COUNT, HISTOGRAM, MAJORITY, MEAN, MEDIAN, PLURALITY, SUM, AskFormInput
from .results import Fact, ResultTable, Sketch

if TYPE_CHECKING:
    from .._release import Plan


# Pictures of answers before they are drawn: where they may fall, and their error at other ε.
#
# Functions of this module draw them from plain data, so that both can be sent from one process to another.

_WIDTH, _HEIGHT = 520, 230
_SHORT = 8
"""Letters of an ε that is shown unchanged."""


def answers_around(
    truth: int,
    chances: Sequence[tuple[int, Fraction]],
    *,
    within: int,
    promised: str = "",
    noted: str = "",
) -> Sketch:
    """Draw the probability of each answer about a count: a bar for each, dark where it is close enough.

    Parameters
    ----------
    truth : int
        The true count.
    chances : sequence of (int, Fraction)
        Answers in their order, and lower bounds of their probabilities.
    within : int
        Up to which distance bars are dark; no farther than bars are drawn.
    promised : str
        A note on answers farther off than the drawn bars, if any exist.
    noted : str
        Of what these are the answers, where that has to be said.
    """
    rows = tuple((answer, float_below(chance)) for answer, chance in chances)
    first, last = rows[0][0], rows[-1][0]
    share = sum((chance for answer, chance in chances if abs(answer - truth) <= within), Fraction(0))
    inside = f"at most {within:,} from the truth"
    values = [
        {
            "answer": answer,
            "probability": chance,
            "distance": inside if abs(answer - truth) <= within else "further off",
        }
        for answer, chance in rows
    ]
    words: dict[str, Any] = dict(
        title=f"Answers where the truth is {truth:,}",
        description=(
            f"Bars, one for each answer from {first:,} to {last:,}, highest at the truth, which is answered with "
            f"probability {chance_text(dict(chances)[truth])}. Dark ones, {inside}, have {chance_text(share)} together."
            f"{promised}{noted}"
        ),
        columns=("answer (records)", "probability"),
        rows=rows,
    )
    axis = f"answer where the truth is {truth:,} (records)"
    return Sketch(**words, draw=partial(_draw_answers, words, values, axis=axis, inside=inside))


def _draw_answers(words: Mapping[str, Any], values: Sequence[Mapping[str, Any]], *, axis: str, inside: str) -> Picture:
    alt: Any = altair()
    chart = (
        alt.Chart(alt.InlineData(values=values), width=_WIDTH, height=_HEIGHT)
        .mark_bar(stroke=INK, strokeWidth=0.6, size=max(1, min(14, 0.8 * _WIDTH / len(values))))
        .encode(
            x=alt.X(
                "answer:Q",
                title=axis,
                scale=alt.Scale(domain=[values[0]["answer"] - 0.5, values[-1]["answer"] + 0.5], nice=False, zero=False),
                axis=alt.Axis(format=",d", tickMinStep=1, grid=False),
            ),
            y=alt.Y("probability:Q", title="probability"),
            color=alt.Color(
                "distance:N",
                title=None,
                scale=alt.Scale(domain=[inside, "further off"], range=[COLOURS[0], "#ffffff"]),
                legend=alt.Legend(orient="top", columnPadding=45, labelLimit=400),
            ),
        )
    )
    return Picture(**words, spec=finished(chart))


def chance_by_distance(
    points: Sequence[tuple[int, Fraction]], *, title: str, axis: str, told: str, marked: int | None = None
) -> Sketch:
    """Draw the probability of a good answer over the distance of the truth from changing, or over the allowed error.

    Parameters
    ----------
    points : sequence of (int, Fraction)
        Distance, and a probability that is surely reached.
    title, axis : str
        What is drawn, and what a distance is.
    told : str
        The whole in words, before its two ends are said.
    marked : int, optional
        A distance that was asked about.
    """
    chosen = next((point for point in points if point[0] == marked), None)
    (first, low), (last, high) = points[0], points[-1]
    said = f"{told} At {first:,} it is {chance_text(low)}, at {last:,} {chance_text(high)}."
    if chosen is not None:
        said += f" Marked: {chosen[0]:,}, where it is {chance_text(chosen[1])}."
    words: dict[str, Any] = dict(
        title=title,
        description=said,
        columns=(axis, "probability"),
        rows=tuple((distance, float_below(chance)) for distance, chance in points),
    )
    return Sketch(**words, draw=partial(_draw_chances, words, points, axis=axis, chosen=chosen))


def _draw_chances(
    words: Mapping[str, Any], points: Sequence[tuple[int, Fraction]], *, axis: str, chosen: tuple[int, Fraction] | None
) -> Picture:
    alt: Any = altair()
    data = alt.InlineData(values=[{"distance": distance, "probability": float(chance)} for distance, chance in points])
    x = alt.X("distance:Q", title=axis, axis=alt.Axis(format=",d", tickMinStep=1))
    y = alt.Y("probability:Q", title="probability", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(data, width=_WIDTH, height=_HEIGHT)
    layers = [
        base.mark_line(color=COLOURS[0], strokeWidth=2.5, point={"color": COLOURS[0], "size": 22}).encode(x=x, y=y)
    ]
    if chosen is not None:
        told = {"distance": chosen[0], "probability": float(chosen[1]), "said": chance_text(chosen[1])}
        at = alt.InlineData(values=[told])
        layers += [
            alt.Chart(at).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x),
            alt.Chart(at).mark_point(color=COLOURS[4], filled=True, size=90, opacity=1).encode(x=x, y=y),
            alt.Chart(at).mark_text(color=INK, align="left", dx=9, dy=13, fontSize=12).encode(x=x, y=y, text="said:N"),
        ]
    return Picture(**words, spec=finished(alt.layer(*layers)))


def error_by_epsilon(points: Sequence[tuple[Fraction, float]], *, axis: str, told: str, marked: Fraction) -> Sketch:
    """Draw what other ε would buy: an error over ε, on scales where halving either is one step.

    Parameters
    ----------
    points : sequence of (Fraction, float)
        ε, and the error; both above 0. A statement for ε rounded up is still true, because errors fall with ε.
    axis, told : str
        What the error is, with its unit, and in words.
    marked : Fraction
        The ε that is planned with.
    """
    listed = "; ".join(f"at ε = {epsilon_text(epsilon)} it is {shown_above(error)}" for epsilon, error in points)
    words: dict[str, Any] = dict(
        title="What another ε would buy",
        description=f"{told} It falls as ε grows: {listed}. The larger dot is the ε planned with, "
        f"{epsilon_text(marked)}.",
        columns=("ε", axis),
        rows=tuple((float(epsilon), error) for epsilon, error in points),
    )
    return Sketch(**words, draw=partial(_draw_errors, words, words["rows"], axis=axis, marked=float(marked)))


def _draw_errors(
    words: Mapping[str, Any], points: Sequence[tuple[float, float]], *, axis: str, marked: float
) -> Picture:
    alt: Any = altair()
    values = [
        {
            "epsilon": epsilon,
            "error": error,
            "said": shown_above(error),
            "planned": "planned" if epsilon == marked else "other",
        }
        for epsilon, error in points
    ]
    x = alt.X(
        "epsilon:Q",
        title="ε (privacy loss, in nats)",
        scale=alt.Scale(type="log", nice=False, padding=26),
        axis=alt.Axis(values=[epsilon for epsilon, _ in points], format=".3~g", grid=True),
    )
    y = alt.Y(
        "error:Q",
        title=axis,
        scale=alt.Scale(type="log", nice=False, padding=20),
        # g alone writes 1000 as 1e+3, and r alone the many zeros of 1e-40; some places are left without a label.
        axis=alt.Axis(
            labelExpr="datum.label && format(datum.value, datum.value < 0.001 ? '.3~g' : ',.3~r')",
            tickCount=4,
        ),
    )
    base = alt.Chart(alt.InlineData(values=values), width=_WIDTH, height=_HEIGHT).encode(x=x, y=y)
    chart = alt.layer(
        base.mark_line(color=COLOURS[0], strokeWidth=2.5),
        base.mark_point(filled=True, opacity=1, stroke=INK).encode(
            size=alt.condition("datum.planned == 'planned'", alt.value(130), alt.value(45)),
            color=alt.condition("datum.planned == 'planned'", alt.value(COLOURS[4]), alt.value(COLOURS[0])),
        ),
        base.mark_text(color=INK, align="left", dx=9, dy=-9, fontSize=12).encode(text="said:N"),
    )
    return Picture(**words, spec=finished(chart))


def epsilon_text(epsilon: Fraction) -> str:
    """Write a short ε unchanged, and any other with four digits, rounded up: the cost is never understated.

    Examples
    --------
    >>> epsilon_text(Fraction(1, 2)), epsilon_text(Fraction("0.538174003452"))
    ('0.5', '0.5382')
    """
    exact = rational_text(epsilon)
    return exact if "/" not in exact and len(exact) <= _SHORT else shown_above(epsilon, 4)


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


def claimed(planned: Plan, asked: AskFormInput) -> tuple[str, str]:
    """Return the mechanism's name, and what is claimed of it among which mechanisms."""
    name, scope = _claimed(planned, asked)
    return name, f"{scope} {sentence(NOT_OPTIMAL_TOGETHER)}." if planned.charges_two_groups else scope


def _claimed(planned: Plan, asked: AskFormInput) -> tuple[str, str]:
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


def headline(planned: Plan, asked: AskFormInput) -> str:
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


def answers_say(planned: Plan, asked: AskFormInput) -> list[Fact]:
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


def _counted(planned: Plan, asked: AskFormInput, reach: int) -> Fact:
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


def _between_ends(planned: Plan, asked: AskFormInput) -> bool:
    """Tell whether counts are published between 0 and a public number of records."""
    return asked.query == COUNT and planned.asked.cell_relation == NeighbouringRelation.EXCHANGE


def in_odds(planned: Plan) -> str:
    """Say the same risk as odds, where single answers are bounded."""
    times = odds_of(planned.cost, planned.relation, planned.unit).times
    return "" if times is None else f"Even odds, 1 to 1, become at most {shown_above(times, 4)} to 1."


def odds_tables(planned: Plan) -> tuple[ResultTable, ...]:
    """Say what the release may do to other beliefs than an even one, where odds move by a bounded factor at most."""
    odds = odds_of(planned.cost, planned.relation, planned.unit)
    if not odds.moved:
        return ()
    caption = f"How sure somebody may get {odds.asks}, who knows everything else"
    return (
        ResultTable(caption, ("thought before", "at least, after any answer", "at most, after any answer"), odds.moved),
    )


def pictures_of(planned: Plan, asked: AskFormInput) -> tuple[Sketch, ...]:
    """Draw where answers fall, and what another ε would buy."""
    return tuple(sketch for sketch in (_answers(planned, asked), _errors(planned, asked)) if sketch)


def _answers(planned: Plan, asked: AskFormInput) -> Sketch | None:
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


def _bars(planned: Plan, asked: AskFormInput) -> Sketch:
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


def _errors(planned: Plan, asked: AskFormInput) -> Sketch | None:
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
    mechanism = planned.audiences[0].mechanism
    probability: Enclosure | None
    if isinstance(mechanism, QuantileBin):  # asked for the right bin, not for one that is near
        probability = mechanism.right_from(distance)
    else:
        probability = mechanism.chance_within(distance)
    return Enclosure.exactly(Fraction(0)) if probability is None else probability


def _chance(planned: Plan, distance: int) -> Fraction:
    """Return the chance of a good answer, which is this or more."""
    return _enclosed(planned, distance).lower


def _surely(planned: Plan, asked: AskFormInput) -> str:
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


def _bought(planned: Plan, asked: AskFormInput) -> str:
    error = {} if asked.query in _NAMES else planned.audiences[0].mechanism.expected_error()
    if asked.query in _COUNTS:
        return f"{_about(asked)} is off by at most {error['within_95_percent']:,} in 95 % of cases"
    if asked.query == SUM:
        return f"the sum is off by at most {error['within_95_percent']:,} in 95 % of cases"
    if asked.query == MEAN:
        return f"{_off_of_mean(planned, asked)} in 95 % of cases"
    return f"the answer is right with probability {_surely(planned, asked)} {_standing(asked)}"


def _standing(asked: AskFormInput) -> str:
    if asked.query == AT_LEAST:
        return f"where the count is {asked.size:,}, {_records(asked.distance)} from where the answer changes"
    return f"where {_unchanged(asked, asked.distance)}"


def _unchanged(asked: AskFormInput, distance: int) -> str:
    """Say how clear the true answer is."""
    if asked.query == PLURALITY:
        return f"the largest leads all others by {_records(distance)}"
    if asked.query == MEDIAN:
        return f"no other bin is nearer than {_records(distance)}"
    return f"it stays as it is with {_records(distance)} more or less"


def _off_of_mean(planned: Plan, asked: AskFormInput) -> str:
    error = planned.audiences[0].mechanism.expected_error()
    off = Fraction(str(error["within_95_percent_times_records"])) / asked.size
    values = f"{asked.size:,} values" if asked.size > 1 else "one value"
    return f"the mean of {values} is off by at most about {shown_above(off)}"


def _about(asked: AskFormInput) -> str:
    return (
        "each count" if asked.query == HISTOGRAM else "the sum" if asked.query == SUM else f"a count of {asked.size:,}"
    )


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"


def sentence(words: str) -> str:
    """Let words begin a sentence."""
    return words[:1].upper() + words[1:]
