"""What a reader of a page sees first: its heading, and the three sentences below its answers."""

from __future__ import annotations

from collections.abc import Iterator

from ..._exact import percent_below, rational, short_above, shown_below
from ..._release import ReleaseFile
from ...errors import BadInput
from .inputs import Given
from .sentences import asked, moved_by, odds_of

_PROBABILITY = "answer_probability"
_MOST_CUT = 160
"""Letters of a heading that is made of the result."""


def headline(facts: ReleaseFile, given: Given) -> str:
    """Return the heading of a page: the title or the query's label, or else the result in a sentence."""
    return given.labels.heading(facts.question, facts.by) or result(facts, given)


def result(facts: ReleaseFile, given: Given) -> str:
    """Say what was published, in one sentence."""
    question = asked(facts, given.labels, derived=False)
    if len(given.rows) == 1 and given.columns[0] == "answer":
        told = dict(zip(given.columns, given.rows[0], strict=True))
        if "answer_low" not in told:
            return f"{question}: {told['answer']}"
        number, interval = _grouped(told["answer"]), _interval(facts, told["answer_low"], told["answer_high"])
        counts = _counted(facts, number)
        return f"{counts}{interval}" if counts else f"{question}: about {number}{interval}"
    many = f"{len(given.rows):,} published answer{'' if len(given.rows) == 1 else 's'}"
    if "answer_low" not in given.columns or not given.rows:
        return f"{question}: {many}"
    place = given.columns.index("answer")
    try:
        numbers = sorted((row[place] for row in given.rows), key=lambda text: rational(text, "answer"))
    except BadInput:
        return f"{question}: {many}"
    return f"{question}: {many} from {_grouped(numbers[0])} to {_grouped(numbers[-1])}"


def _counted(facts: ReleaseFile, number: str) -> str | None:
    """Say a count as people would; None of what is no plain count."""
    if facts.name != "count" or facts.derived or (facts.unit is not None and not facts.counts_persons):
        return None
    what = (
        ("person" if number == "1" else "people") if facts.counts_persons else "record" if number == "1" else "records"
    )
    if facts.query.get("expression") is None:
        return f"About {number} {what}"
    return f"About {number} {what} answered yes to “{facts.query['expression']}”"


def _interval(facts: ReleaseFile, low: str, high: str) -> str:
    sure = "" if facts.confidence is None else f"{percent_below(facts.confidence)} % "
    if low and high:
        return f" ({sure}interval {_grouped(low)} to {_grouped(high)})"
    if low or high:
        return f" ({sure}interval: {f'{_grouped(low)} or more' if low else f'{_grouped(high)} or less'})"
    return ""


def _grouped(number: str) -> str:
    """Write a number of a file with commas between thousands."""
    whole, point, rest = number.partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.lstrip("-").isdecimal() and len(whole) < _MOST_CUT else number


def same_probability(given: Given) -> str | None:
    """Return the probability beside the answers where it is the same for all rows; None elsewhere."""
    if _PROBABILITY not in given.columns:
        return None
    place = given.columns.index(_PROBABILITY)
    (first, *others) = {row[place] for row in given.rows} or {""}
    return first if first and not others else None


def in_three(facts: ReleaseFile, given: Given) -> Iterator[str]:
    """Say what the interval means, what it leaves out, and what the answers cost: three sentences at most."""
    yield from meant(facts, given)
    yield f"Privacy cost: {cost_in_short(facts)}."


def meant(facts: ReleaseFile, given: Given) -> Iterator[str]:
    """Say what the interval or the probability means, and what it leaves out."""
    each = "The" if len(given.rows) == 1 else "Each"
    if "answer_low" in given.columns:
        chance = "" if facts.confidence is None else f" with probability {percent_below(facts.confidence)} % or more"
        together = ", all of a list together" if facts.name == "sizes" else ""
        yield f"{each} interval holds the true number{chance}{together}."
        yield f"It covers the noise that protects people, and not errors in the data{_left_out(facts)}."
        return
    same = same_probability(given)
    if same is not None:
        right = "is the record's own" if facts.name == "column" else "is right"
        yield f"{each} answer {right} with probability {probability(same)} or more, whatever the data."
    elif _PROBABILITY in given.columns:
        yield "The probability beside an answer is the least with which it is right, whatever the data."
    else:
        yield "Nothing is known of how probably an answer is right; the expected errors below hold for any data."
        return
    yield "It does not say by how much: a close call is little better than a guess."


def _left_out(facts: ReleaseFile) -> str:
    """Return what the interval leaves out besides, as the release says it after its promise."""
    _, _, rest = (facts.promise or "").partition("; ")
    return f"; the answer {rest}" if rest else ""


def probability(text: str) -> str:
    """Write a probability as it stands in a file for people, rounded down."""
    try:
        return shown_below(rational(text, "answer_probability"))
    except BadInput:
        return text


def cost_in_short(facts: ReleaseFile) -> str:
    """Say what was charged, and by how much it may move odds at most."""
    times = odds_of(facts.cost, facts.relation, facts.unit).times
    moved = (
        ""
        if times is None or times > 10**6
        else (
            f", so odds about one {'record' if facts.unit is None else 'person'} change by a factor of at most"
            f" {short_above(times, 3)}"
        )
    )
    return f"{facts.cost} for {moved_by(facts)}{moved}"
