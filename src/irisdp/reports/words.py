"""A release in plain words: what was asked, whose records count, and how far off answers are expected to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from ..cells.kinds import MeasurementKind
from ..exact import shown_above, shown_below
from ..release.counted import counted, counts_persons
from ..release.labels import Labels
from .facts import Facts

__all__ = ["ASKED", "ERRORS", "asked", "counts_people", "expected", "kept", "numbered", "protected"]

ASKED = {
    "count": "How many records there are{where}",
    "count-distinct": "How many different values {column} has{where}",
    "at-least": "Whether there are at least {threshold} records{where}",
    "at-most": "Whether there are at most {threshold} records{where}",
    "band": "In which band the number of records lies{where}; bands begin at {thresholds}",
    "majority": "Whether “{expression}” is true of more records than it is false of",
    "histogram": "How many records have each value of {column}",
    "sum": "The sum of {column}",
    "mean": "The mean of {column}",
    "plurality": "Which category of {column} most records have",
    "median": "Which bin holds the median of {column}",
    "quantile": "Which bin holds the quantile {share} of {column}",
    "top": "Which {k} categories of {column} most records have",
    "ranking": "How the categories of {column} rank by their numbers of records, the largest first",
    "apply": "What the mechanism {mechanism} answers{where}",
    "sizes": "How large the categories of {column} are, the largest first, without their names",
    "column": "Which category of {column} each record has, with answers changed at random",
}
"""By query, what it asks; names in braces are the query's own facts."""


def asked(facts: Facts, labels: Labels | None = None, *, derived: bool = True) -> str:
    """Write the question; for an unknown query, the line in the release file."""
    expression = facts.query.get("expression")
    where = "" if expression is None else f" for which “{expression}” is true"
    told = {**dict.fromkeys(("threshold", "thresholds", "column", "share", "k", "mechanism"), "…"), **facts.query}
    form = ASKED.get(facts.name)
    if form is None:
        return facts.question
    said = form.format_map({**told, "where": where, "expression": expression or "…"})
    between = facts.query.get("between")
    weight = facts.query.get("times") or facts.query.get("weight")
    said += f", each value counted {between}" if between else ""
    said += f", {weight}" if weight else ""
    by = facts.by if labels is None else tuple(map(labels.column, facts.by))
    said += f", for each {' and '.join(by)}" if by else ""
    if facts.name == "count" and counts_persons(facts.counting) and "per_unit" not in facts.said:
        said = f"How many different values of {facts.unit} there are"
    elif facts.unit is not None:
        said = f"{'Taking' if 'per_unit' in facts.said else 'Of'} {kept(facts)}: {said[0].lower()}{said[1:]}"
    return f"{said}; {_derived(facts)}" if facts.derived and derived else said


def counts_people(facts: Facts) -> bool:
    """Tell whether a count is one of persons."""
    return counts_persons(facts.counting)


def kept(facts: Facts) -> str:
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


def _derived(facts: Facts) -> str:
    return ", ".join(f"{name} is {meaning}" for name, meaning in facts.derived.items())


def protected(facts: Facts) -> str:
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
    "in_the_middle": "by at most about {}/N where the mean is half-way between the bounds",
    "within_95_percent_of_1000_records": "by at most about {} where 1,000 records have a value",
    "wrong_at_worst": "wrong with probability {} at worst, on the data that are hardest",
    "wrong_far_apart": "wrong with probability {} where all are far apart",
    "lead_for_95_percent": "right with 95 % or more where the largest leads all others by {} records",
    "lead_for_99_percent": "right with 99 % or more where the largest leads all others by {} records",
    "apart_for_95_percent": "right with 95 % or more where those to be told apart differ by {} records",
    "apart_for_99_percent": "right with 99 % or more where those to be told apart differ by {} records",
    "records_off": "{} records between the quantile's rank and the named bin on average",
    "margin_for_99_percent": "right with 99 % or more where no other bin is nearer than {} records",
    "farthest": "what is farther than {} records counts as so many in that average",
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


def expected(facts: Facts) -> Iterator[str]:
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


def _measured(facts: Facts) -> tuple[str, str, str]:
    """Name one of what errors are measured in, many of it, and what is said after the error."""
    if facts.name in ("sum", "mean"):
        return "", "", f", as {facts.query.get('column', 'the column')} is measured"
    counts = counted(facts.counting)
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
