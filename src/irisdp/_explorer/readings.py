"""What an interpretation says, in words, pictures and tables: the sentence and its interval, and more for analysts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

from .._exact import Enclosure, percent_below, short_above, short_below
from ..interpretation import BASES, RESTS_ON, ChoiceInterpretation, Interpretation
from .results import Fact, Result, ResultSection, ResultTable, entry

FOR_ANALYSTS = "For analysts"
"""The heading of best guesses and of what they cost; most readers need none of it."""

_WORTH_SAYING = Fraction(1, 1000)
_MOST_CHANCES, _MOST_ROWS = 60, 200


def reading(interpretation: Interpretation | ChoiceInterpretation) -> Result:
    """Show one answer that was interpreted."""
    if isinstance(interpretation, Interpretation):
        return _of_count(interpretation)
    return _of_name(interpretation)


def only(interpretation: Interpretation | ChoiceInterpretation, row: int) -> Interpretation | ChoiceInterpretation:
    """Return the interpretation of one row, from 1, without its group."""
    if isinstance(interpretation, Interpretation):
        return replace(interpretation, by=(), answers=(replace(interpretation.answers[row - 1], key=()),))
    return replace(interpretation, by=(), answers=(replace(interpretation.answers[row - 1], key=()),))


def row_by_row(interpretation: Interpretation | ChoiceInterpretation) -> ResultSection:
    """Show best guesses of several counts, or how likely several names are right."""
    return _guesses(interpretation) if isinstance(interpretation, Interpretation) else _likely(interpretation)


def _guesses(interpretation: Interpretation) -> ResultSection:
    rows = tuple(
        (*map(str, answer.key), str(answer.published), _guess(answer.chances), short_above(answer.rule.value))
        for answer in interpretation.answers[:_MOST_ROWS]
    )
    loss = f"loss {_kind(interpretation)}"
    caption = f"Best guesses for {interpretation.loss.name} loss"
    if len(interpretation.answers) > len(rows):
        caption += f". The first {len(rows)} are shown; the others are in reading.json"
    table = ResultTable(caption, (*interpretation.by, "published", "best guess", loss), rows)
    return ResultSection(heading=FOR_ANALYSTS, tables=(table,), lines=tuple(_notes(interpretation)))


def _likely(interpretation: ChoiceInterpretation) -> ResultSection:
    rows = tuple(
        (
            *map(str, answer.key),
            str(answer.published),
            _rounded_down(answer.judgement.probability.lower),
            str(answer.reading),
        )
        for answer in interpretation.answers[:_MOST_ROWS]
    )
    caption = "How likely each answer is right"
    if len(interpretation.answers) > len(rows):
        caption += f". The first {len(rows)} are shown; the others are in reading.json"
    table = ResultTable(caption, (*interpretation.by, "published", "probability, or more", "most likely right"), rows)
    bases = sorted({answer.judgement.basis for answer in interpretation.answers})
    return ResultSection(heading=FOR_ANALYSTS, tables=(table,), lines=tuple(f"{BASES[basis]}." for basis in bases))


def _of_count(interpretation: Interpretation) -> Result:
    from ..plots import readings

    answer = interpretation.answers[0]
    interval = answer.interval
    sure = percent_below(interpretation.confidence)
    tables: tuple[ResultTable, ...] = ()
    if len(answer.chances) > 1:
        drawn = [(value, p) for value, p in answer.chances if p]
        tables = (_chances("Best guesses, and how likely each is drawn", ("best guess", "probability"), drawn),)
    return Result(
        headline=f"{interpretation.describe()}.",
        facts=(
            Fact(
                "Interval",
                f"{interval.low} to {interval.high}",
                f"with probability {sure} % or more, {RESTS_ON[interval.basis]}",
            ),
        ),
        sections=(
            ResultSection(
                heading=FOR_ANALYSTS,
                facts=tuple(_facts(interpretation)),
                pictures=(readings(interpretation),),
                tables=tables,
                lines=tuple(_notes(interpretation)),
            ),
        ),
    )


def _facts(interpretation: Interpretation) -> list[Fact]:
    answer = interpretation.answers[0]
    rule = answer.rule
    low, high = rule.possible
    counts = f"counts {low} to {high}" if high is not None else f"counts from {low} on"
    bound = "that" if rule.lower_bound == rule.value else short_below(rule.lower_bound)
    first, last = interpretation.posterior().interval(float(interpretation.confidence))
    sure = percent_below(interpretation.confidence)
    assumed = "under your prior" if interpretation.bayesian else "if all possible counts were equally likely before"
    facts = [
        Fact("Best guess", _guess(answer.chances), f"for {interpretation.loss.name} loss"),
        Fact(
            "Loss",
            f"{short_above(rule.value)} {_kind(interpretation)}",
            f"{interpretation.loss.name}, for {counts}; no guess has less than {bound}",
        ),
        Fact("Posterior", f"{first} to {last}", f"with probability at least {sure} %, {assumed}"),
    ]
    if rule.face_value is not None:
        share = 1 - rule.value / rule.face_value if rule.face_value else Fraction(0)
        costs = f"reading {answer.published} unchanged costs {short_above(rule.face_value)}"
        saved = f"{floor(1000 * share) / 10:.1f} %" if share >= _WORTH_SAYING else "less than 0.1 %"
        facts.append(Fact("Saved", saved, costs))
    return facts


def _kind(interpretation: Interpretation) -> str:
    return "under your prior" if interpretation.bayesian else "at worst"


def _notes(interpretation: Interpretation) -> list[str]:
    notes = []
    if interpretation.shared or not all(answer.rule.universal for answer in interpretation.answers):
        notes.append("A mechanism made for this loss might serve better: universality is not guaranteed here.")
    if interpretation.named:
        notes.append("Groups were named by these counts: losses are of groups chosen beforehand.")
    if any(len(answer.chances) > 1 for answer in interpretation.answers):
        notes.append(
            "A best guess is drawn at random, again each time: it is one of several, with their probabilities."
        )
    return notes


def _guess(chances: tuple[tuple[int, Fraction], ...]) -> str:
    if len(chances) == 1:
        return str(chances[0][0])
    likely = [(value, p) for value, p in chances if p >= _WORTH_SAYING] or list(chances[:1])
    return " or ".join(f"{value} (with probability {entry(p, 4)})" for value, p in likely)


def _of_name(interpretation: ChoiceInterpretation) -> Result:
    from ..plots import names_read

    answer = interpretation.answers[0]
    judged = answer.judgement
    right = "an answer of this release is right with this probability"
    tables: tuple[ResultTable, ...] = ()
    if judged.posterior is not None:
        tables = (_chances("What may be true", ("answer", "probability"), tuple(judged.posterior.items())),)
    note = "" if judged.note is None else f" ({judged.note})"
    return Result(
        headline=f"{interpretation.describe()}.",
        facts=(Fact("Probability", _rounded_down(judged.probability.lower), f"{BASES[judged.basis]}{note}"),),
        sections=(
            ResultSection(
                heading=FOR_ANALYSTS,
                facts=(
                    Fact("Most likely right", str(answer.reading)),
                    Fact("At worst", _rounded_down(judged.right_at_worst), right),
                ),
                pictures=(names_read(interpretation),),
                tables=tables,
            ),
        ),
    )


def _chances(caption: str, columns: tuple[str, ...], chances: Any) -> ResultTable:
    shown = [(value, p.lower if isinstance(p, Enclosure) else p) for value, p in chances[:_MOST_CHANCES]]
    rows = tuple((str(value), entry(p, 6)) for value, p in shown)
    return ResultTable(caption + (f" (the first {len(rows)})" if len(chances) > len(rows) else ""), columns, rows)


def _rounded_down(probability: Fraction) -> str:
    return f"{probability * 10_000 // 1 / 10_000:.4f}"
