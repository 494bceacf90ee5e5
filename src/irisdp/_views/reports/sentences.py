"""How published answers are read, what they do not say, and what was taken for granted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

import flint

from ..._exact import ball, enclosure_of, rational_text, short_above, shown_above, shown_below
from ..._html import element, joined
from ..._measurements import MeasurementKind
from ..._queries import Measured
from ..._release import Labels, ReleaseFile, delta_means, risk_of
from ...accounting import Charge, ConcentratedCost, Cost, GaussianCost
from ...graphs import NeighbouringRelation
from ...interpretation import RULES
from ...privacy import Privacy

# What a release may tell about one person, as odds that anybody can follow: before, and after at most and at least.
#
# Under (ε, 0) odds are multiplied by at most r = e^ε, or divided by it, whatever was thought before and known
# besides. Under (ε, δ) this holds for no single answer. All answers together reveal at most as much as answers that
# reveal all with probability δ, and otherwise satisfy it (proofs/dominating-pair.md).

_PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
_CERTAIN = Fraction(1000)
"""From this ε on everything may be told, to many more digits than are shown."""
_WIDTH = Fraction(1, 10**30)


@dataclass(frozen=True, slots=True)
class Odds:
    """What a cost means.

    Parameters
    ----------
    sentences : tuple of str
        In words.
    asks : str
        What somebody may want to know of a person.
    moved : tuple
        How likely that seemed before, and what it may at least and at most seem after; empty where there is no bound
        for each answer.
    times : Fraction or None
        By what odds are multiplied, or divided, at most: e^ε rounded up; None where there is no bound for each answer.
    """

    sentences: tuple[str, ...]
    asks: str
    moved: tuple[tuple[str, str, str], ...]
    times: Fraction | None = None


def odds_of(cost: Charge, relation: NeighbouringRelation, unit: str | None) -> Odds:
    """Say what a cost means for one person, whose records are those of one value of `unit`, or one record."""
    risk = risk_of(cost, relation, unit)
    words = risk.describe()
    averaged = f"{words[0].upper()}{words[1:]}, averaged over what may be published."
    if not isinstance(cost, Cost):
        return Odds((averaged,), risk.asks, ())
    moves = f"odds by at most {_factor(cost.epsilon)}, or divide them by it"
    who = f"Whatever anybody knows or thinks of one {'record' if unit is None else 'person'}, these answers"
    if cost.delta:
        rare = f"tell all with a probability of {short_above(cost.delta)}"
        pair = f"{who} tell no more, on the whole, than answers that {rare}, and otherwise multiply {moves}."
        means = delta_means(cost.delta)
        return Odds((pair, f"{means[0].upper()}{means[1:]}.", averaged), risk.asks, ())
    epsilon = min(cost.epsilon, _CERTAIN)
    moved = tuple(
        (f"{rational_text(100 * prior)} %", _after(prior, -epsilon, floor), _after(prior, epsilon, ceil))
        for prior in _PRIORS
    )
    times = _times(epsilon) if epsilon == cost.epsilon else None
    return Odds((f"{who} multiply {moves}.", f"So {words}."), risk.asks, moved, times)


def _factor(epsilon: Fraction) -> str:
    """Write e^ε, rounded up."""
    if epsilon > 20:
        return f"e^{rational_text(epsilon) if len(rational_text(epsilon)) < 12 else short_above(epsilon)}"
    return f"{rational_text(Fraction(ceil(_times(epsilon) * 100), 100))} (e^ε)"


def _times(epsilon: Fraction) -> Fraction:
    return enclosure_of(lambda: ball(epsilon).exp(), width=_WIDTH).upper


def _after(prior: Fraction, epsilon: Fraction, rounding: Callable[[Fraction], int]) -> str:
    """Write p·r / (1 − p + p·r) for r = e^ε, rounded outward."""

    def chance() -> flint.arb:
        return ball(prior) / (ball(prior) + ball(1 - prior) * ball(-epsilon).exp())

    enclosure = enclosure_of(chance, width=_WIDTH)
    # Near certainty the enclosure reaches beyond it, and no probability does.
    return _percent(
        min(enclosure.upper, Fraction(1)) if rounding is ceil else max(enclosure.lower, Fraction(0)), rounding
    )


def _percent(chance: Fraction, rounding: Callable[[Fraction], int]) -> str:
    """Write a probability in per cent.

    Examples
    --------
    >>> _percent(Fraction(1, 3), floor), _percent(Fraction(1, 3), ceil)
    ('33.33 %', '33.34 %')
    """
    whole, hundredths = divmod(rounding(chance * 10_000), 100)
    return f"{whole}.{hundredths:02} %"


_INTERPRET = element("code", "irisdp interpret")


def how_to_read(facts: ReleaseFile, unit: str) -> Iterator[str]:
    """Explain an answer and its auxiliary output."""
    yield (
        "Every answer was changed at random, once, before it was published. This protects people. How large changes "
        "tend to be is public; the change made to each answer is not."
    )
    if "answer_low" in facts.columns:
        promise = facts.promise or "how surely is not said"
        yield f"The interval from answer_low to answer_high: {promise}. It covers the noise added for privacy alone."
        if facts.name == "sizes":
            yield "The intervals hold for all sizes of a list together."
        else:
            yield f"This holds for each row alone: of 100 rows, at most {_missed(facts)} miss the truth on average."
        yield (
            "An answer can be an impossible number, such as −1, and so lie outside its interval. Quote the interval; "
            "its ends are rounded outward."
        )
    elif "answer_first" in facts.columns:
        promise = facts.promise or "how surely is not said"
        yield f"The right bin is one from answer_first to answer_last: {promise}."
        yield f"This holds for each row alone: of 100 rows, at most {_missed(facts)} miss the truth on average."
    elif "answer_probability" in facts.columns:
        yield f"{facts.promise or 'answer_probability says how sure it is'}.".replace(
            "answer_probability is", "answer_probability is, for every row alike,"
        )
        if facts.name == "column":
            yield joined(
                "A record's answer is the category it is in with that probability, whichever it is, and any other one "
                "as often as the next. ",
                _INTERPRET,
                " estimates from all of them how large each category is.",
            )
        elif facts.read_as in RULES:
            yield joined(
                "On most data the answer is right more often; ", _INTERPRET, " says how often, given what you know."
            )
        else:
            yield "On most data the answer is right more often."
    else:
        yield "Nothing beside an answer says how sure it is: take the errors this page expects, which hold on any data."
    if facts.form is not None and facts.form.counts:
        yield f"Numbers count {unit}. A number below 0 is no mistake: the noise caused it, and it was not corrected."


def _missed(facts: ReleaseFile) -> str:
    return short_above(100 * (1 - (facts.confidence or Fraction(19, 20))), 3)


def not_to_conclude(facts: ReleaseFile) -> Iterator[str]:
    """Say what readers take such answers to say, and they do not."""
    yield "Anything about one person: neither that somebody is in the table, nor that somebody is not."
    if "answer_low" in facts.columns:
        yield "That two rows differ, where their intervals overlap."
        if facts.form is not None and facts.form.counts and facts.name != "sizes":
            yield "That a larger count means a larger share: groups differ in size."
        if facts.name != "mean":
            yield "That a row of 0 is empty, or that a row of 1 is one person: noise alone can give these numbers."
            yield "That rows add up to a total that was published by itself: each number has its own noise."
    elif facts.name == "column":
        yield "In which category any one record is: its answer may be right, and nobody can tell."
        yield "That categories are as large as there are answers that name them: small ones seem larger than they are."
    else:
        yield "That a close call was called rightly: near a tie the answer is little better than a guess."
        yield "How big the lead was: this release does not say."
    if facts.groups is not None and "selected" in facts.groups:
        yield "That a group that is not named has nobody: groups are named only when they are large enough."
    yield from _not_of_all(facts)
    yield "That a later release differs because the data changed: it has noise of its own."


def _not_of_all(facts: ReleaseFile) -> Iterator[str]:
    """Say what answers about some records of each person do not say of the others."""
    unit = facts.unit
    if unit is None or facts.name == "column" or (facts.counts_persons and "per_unit" not in facts.said):
        return
    if "per_unit" in facts.said:
        if facts.by:
            yield f"That a {unit} is in one group alone: it counts in that of one of its records, chosen at random."
        return
    few = "only one" if facts.at_most == 1 else f"at most {facts.at_most:,}"
    rest = f"of each {unit} {few}, chosen at random, counted."
    if facts.measured is Measured.RECORDS:
        yield f"That there are so many records, or so many different values of {unit} with such a record: {rest}"
    else:
        yield f"That the same holds of all records: {rest}"


def assumed(facts: ReleaseFile, *, whole: str = "release") -> Iterator[tuple[str, str]]:
    """Say what was taken for granted, each with its heading; on the page of a release, or of a whole batch or plan."""
    exchanged = facts.relation == NeighbouringRelation.EXCHANGE
    what = "one record" if facts.unit is None else f"all records of one {facts.unit}"
    yield (
        "Neighbours",
        f"With {what} {'replaced' if exchanged else 'more or less'} in the table, the same answers are almost as "
        f"probable ({facts.relation}).",
    )
    if facts.unit is None:
        yield "Persons", f"Each person has one record. {_protected_less(facts.cost)}"
    else:
        kept = facts.unit_rule or f"{facts.at_most} of each person's records count at most"
        yield "Persons", f"One value of {facts.unit} is one person; {kept}."
        yield "Nobody", f"A record without a value of {facts.unit} is nobody's, and left out."
    if exchanged:
        order = " and their order" if facts.name == "column" else ""
        where = "of each group" if facts.public_membership and facts.by else "of the table"
        yield "Public", f"The exact number of records {where}{order} is taken as public."
        if facts.public_membership:
            yield "Public", f"Who is in which group is taken as public ({', '.join(facts.by) or 'no columns'})."
    if facts.groups is not None:
        if "selected" in facts.groups:
            yield "Groups", "Their names were read off the data, privately: that is part of the cost."
        else:
            yield "Groups", "They were chosen before the data were read, so a listed group may be empty."
    if facts.categories is not None or facts.bins is not None:
        rest = (
            ["a record in none of them is answered as ", element("code", "other")]
            if facts.name == "column"
            else ["values in none of them count for none"]
        )
        yield "Categories", joined("They were declared before the data were read; ", rest, ".")
    if "lower" in facts.said or "upper" in facts.said:
        lower, upper = (facts.said.get(name, "…") for name in ("lower", "upper"))
        step, rule = facts.said.get("step", "1"), facts.said.get("values")
        yield "Bounds", f"Declared: from {lower} to {upper}, in steps of {step}. {_sentence(rule)}".strip()
        missing = facts.said.get("missing")
        fate = "is left out" if missing is None else f"counts as {missing}"
        yield "Missing", f"A record without a number in {facts.query.get('column', 'the column')} {fate}."
    if facts.weight is not None:
        column, least, most = (facts.weight.get(name, "…") for name in ("column", "lower", "upper"))
        yield "Weights", f"Declared: {column} from {least} to {most}. A record without a number there adds nothing."
    if "reading" in facts.said:
        yield "Reading", f"How the table was read: {facts.said['reading']}."
    yield (
        "Other releases",
        f"This page covers this {whole} only. The costs of all releases from the table add up. The data owner's ledger "
        "keeps their total and its limit, if there is one.",
    )
    yield "Machine", "The data owner's machine and its source of random numbers work as they should."


def _protected_less(cost: Charge) -> str:
    """Say how much less somebody with k records is protected, in the currency that says how much one record is.

    References
    ----------
    proofs/grouped-releases.md; [Dong2022], Theorem 2.14; [Bun2016], Proposition 1.9.
    """
    if isinstance(cost, ConcentratedCost):
        return "A person with k records is protected less: ρ counts k² times."
    if isinstance(cost, GaussianCost):
        return "A person with k records is protected k times less: μ counts k times."
    if isinstance(cost, Cost) and cost.delta:
        return "A person with k records is protected less: ε counts k times, and δ more than k times."
    return "A person with k records is protected k times less: ε counts k times."


def _sentence(words: str | None) -> str:
    return f"A value {words}." if words else ""


def proofs(facts: ReleaseFile) -> list[str]:
    """Name the pages that prove what is claimed."""
    own = [] if facts.measurement is None else [facts.measurement.proof]
    own += ["grouped-releases"] if facts.by else []
    own += ["audiences"] if facts.audience is not None and not facts.costs_alone else []
    own += ["batches"] if facts.batch is not None else []
    return [f"proofs/{name}.md" for name in own]


def cost_of_release(facts: ReleaseFile) -> str:
    """Say the cost in one line, as a plan does."""
    kept = (
        ""
        if isinstance(facts.privacy, Privacy) and facts.privacy.single and isinstance(facts.cost, Cost)
        else (f"; each answer keeps {facts.privacy}")
    )
    return f"{facts.cost} for {moved_by(facts)}{kept}"


def moved_by(facts: ReleaseFile) -> str:
    """Say what a cost is for: what neighbouring tables differ in."""
    reason = {NeighbouringRelation.ADD_REMOVE: "adding or removing", NeighbouringRelation.EXCHANGE: "exchanging"}[
        facts.relation
    ]
    return f"{reason} one {facts.unit or 'record'}"


# A release in plain words: what was asked, whose records count, and how far off answers are expected to be.


def asked(facts: ReleaseFile, labels: Labels | None = None, *, derived: bool = True) -> str:
    """Write the question; for an unknown query, the line in the release file."""
    expression = facts.query.get("expression")
    where = "" if expression is None else f" for which “{expression}” is true"
    told = {**dict.fromkeys(("threshold", "thresholds", "column", "share", "k", "mechanism"), "…"), **facts.query}
    if facts.form is None:
        return facts.question
    about = {
        "where": where,
        "among": where and f", among records{where}",
        "otherwise": "" if expression is None else f"; records for which “{expression}” is not true have none of them",
    }
    said = facts.form.asks.format_map({**told, **about, "expression": expression or "…"})
    between = facts.query.get("between")
    weight = facts.query.get("times") or facts.query.get("weight")
    said += f", each value counted {between}" if between else ""
    said += f", {weight}" if weight else ""
    by = facts.by if labels is None else tuple(map(labels.column, facts.by))
    said += f", for each {' and '.join(by)}" if by else ""
    if facts.name == "count" and facts.counts_persons and "per_unit" not in facts.said:
        said = f"How many different values of {facts.unit} there are"
    elif facts.unit is not None:
        said = f"{'Taking' if 'per_unit' in facts.said else 'Of'} {kept(facts)}: {said[0].lower()}{said[1:]}"
    return f"{said}; {_derived(facts)}" if facts.derived and derived else said


def kept(facts: ReleaseFile) -> str:
    """Say which records of a person count: of most persons not all, so that numbers are no numbers of all records."""
    lot = "chosen at random"
    if "per_unit" in facts.said:
        where = f", in the group of one of them, {lot}" if facts.by else ""
        return f"each {facts.unit} as one record, which says yes if {facts.said['per_unit']} of its records do{where}"
    if facts.at_most == 1:
        return f"one record of each {facts.unit}, {lot}"
    groups = facts.groups_per_unit
    where = (
        ""
        if groups is None or groups >= facts.at_most
        else f", in {'one group' if groups == 1 else f'at most {groups:,} groups'}"
    )
    return f"at most {facts.at_most:,} records of each {facts.unit}{where}, {lot}"


def _derived(facts: ReleaseFile) -> str:
    return ", ".join(f"{name} is {meaning}" for name, meaning in facts.derived.items())


def protected(facts: ReleaseFile) -> str:
    """Say who is protected."""
    if facts.unit is None:
        return "one record of the table"
    return f"all records of one person, which is one value of {facts.unit}"


ERRORS = {
    "mean_absolute": "off by {} {unit} on average",
    "mean_absolute_at_worst": "off by {} on average at worst",
    "within_95_percent": "off by at most {} {unit} in 95 % of cases",
    "numbers": "{} numbers tell the sizes",
    "all_within_95_percent": "all numbers off by at most {} {unit} in 95 % of cases, before they are made to fit",
    "wrong_at_boundary": "wrong with probability {} at worst, where one record decides",
    "depth_for_95_percent": "right with 95 % or more from {} records away from where the truth changes",
    "depth_for_99_percent": "right with 99 % or more from {} records away from where the truth changes",
    "wrong_side_at_threshold": "on the wrong side with probability {} at most, at a threshold",
    "wrong_band_at_worst": "the wrong band with probability {} at worst",
    "wrong": "wrong with probability {}, whatever the truth",
    "count_deviation_per_root_record": "counts estimated from N answers deviate by {} times the square root of N",
    "within_95_percent_times_records": "where N records have a value, off by at most about {}/N in 95 % of cases",
    "mean_absolute_times_records": "where there are N records, off by {}/N on average",
    "spread_evenly_times_records": "by at most about {}/N in 95 % of cases if N values are spread evenly",
    "all_alike_times_root_of_records": "by at most about {} divided by the root of N if all N values are equal",
    "within_95_percent_times_weight": "where weights add up to W, off by at most about {}/W in 95 % of cases",
    "within_95_percent_of_weight_1000": "by at most about {} where weights add up to 1,000",
    "in_the_middle": "by at most about {}/N where the mean is half-way between the bounds",
    "within_95_percent_of_1000_records": "by at most about {} where 1,000 records have a value",
    "inside_from_records": "a range up to the next power of two is inside in 95 % of cases if it holds {} values",
    "empty_bin_stands_out": "a bound has no value next to it with probability {} at most",
    "apart_within_95_percent": "in 95 % of cases a published bin is at most {} records from its quantile's rank",
    "apart_within_99_percent": "in 99 % of cases a published bin is at most {} records from its quantile's rank",
    "wrong_at_worst": "wrong with probability {} at worst, for the least favourable data",
    "wrong_far_apart": "wrong with probability {} where all are far apart",
    "lead_for_95_percent": "right with 95 % or more where the largest leads all others by {} records",
    "lead_for_99_percent": "right with 99 % or more where the largest leads all others by {} records",
    "apart_for_95_percent": "right with 95 % or more if the categories to distinguish differ by {} records",
    "apart_for_99_percent": "right with 99 % or more if the categories to distinguish differ by {} records",
    "records_off": "on average the published bin is {} records from the quantile's rank",
    "margin_for_99_percent": "right with 99 % or more if every other bin is at least {} records away",
    "farthest": "distances above {} records count as that number in this average",
    "beyond": "farther than that with probability {} at most",
    "goal": "made for: {}",
    "says": "its file says: {}",
    "value": "that is {} at most",
    "lower_bound": "no mechanism in its class has less than {}",
    "among": "its class: {}",
}
"""By what is measured, as sidecars name it."""

_LARGE = 10**15

_CHANCES = {name for name, form in ERRORS.items() if "probability {}" in form}


def expected(facts: ReleaseFile) -> Iterator[str]:
    """Say how far off answers are expected to be, measure by measure; None of a number means that there is no bound."""
    if set(facts.expected_error.values()) <= {None} and "mean_absolute" not in facts.expected_error:
        yield "off by nobody knows how much: its file proves no goal, and its answers are no counts"
    for name, value in facts.expected_error.items():
        if value is None:
            if name == "mean_absolute":
                yield "no more than noise: these answers say nothing"
            continue
        form = ERRORS.get(name, f"{name.replace('_', ' ').replace('{', '').replace('}', '')}: {{}}")
        one, many, after = _measured(facts)
        told = _number(name, value)
        alone = form.replace("{} {unit}", f"{{}} {one}").replace("{} records", "{} record") if told == "1" else form
        said = alone.replace(" {unit}", f" {many}" if many else "", 1).replace("{}", told, 1)
        yield said + (after if "{unit}" in form else "")
    if facts.kind == MeasurementKind.NAMED_COUNTS:
        yield (
            "further off in a small group that was named: only a count that came out far too large names one; the "
            "lines above are of a group that is chosen beforehand; the ends beside answers allow for the naming"
        )


def _measured(facts: ReleaseFile) -> tuple[str, str, str]:
    """Name one of what errors are measured in, many of it, and what is said after the error."""
    if facts.measured is Measured.VALUES:
        return "", "", f", as {facts.query.get('column', 'the column')} is measured"
    counts = facts.counted
    if counts.startswith("records"):
        return "record", "records", ""
    return counts.replace("different values", "value", 1), counts.replace("different ", "", 1), ""


def _number(name: str, value: Any) -> str:
    """Write a number to three digits, an error rounded up, a probability in per cent, anything else as it is."""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int) and abs(value) < _LARGE:
        return f"{value:,}"
    exact = Decimal(str(value))  # a file's numbers are decimals, those at hand are floats
    if name in _CHANCES:
        return f"{shown_above(100 * exact)} %"
    return shown_below(exact) if name == "lower_bound" else shown_above(exact)


def numbered(numbers: Sequence[int]) -> str:
    """Name questions by their numbers, in runs.

    Examples
    --------
    >>> numbered([2]), numbered([1, 2, 3, 5, 7, 8])
    ('Question 2', 'Questions 1 to 3, 5, 7, 8')
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    told = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"Question{'' if len(numbers) == 1 else 's'} {', '.join(told)}"
