"""What a reader needs of one published question: the sentence, then picture, table, errors, cost and files.

Everything follows from the release file and the answers, which are public; no record and no ledger is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from .._exact import file_path, json_bytes, percent_below, short_text
from .._measurements import MeasurementKind
from .._release import Answers, Labels, Publication, ReleaseFile, answers_bytes
from .._views.reports import (
    Given,
    answers_table,
    asked,
    cost_in_short,
    expected,
    for_whom,
    given_in,
    given_of,
    given_when_written,
    how_to_read,
    meant,
    not_to_conclude,
    probability,
    protected,
    release_page,
    result,
    same_probability,
    subject,
    unit_of,
)
from ..errors import BadInput
from ..interpretation import Estimates, answers_beside, interpret, sidecar_beside
from .results import Fact, Result, ResultFigure, ResultFile, ResultSection, ResultTable, command_line

_MOST_ROWS = 200
"""Rows of the table on a page; the file has all."""
_LARGEST = 4 << 20
"""Bytes of a file that a page offers; a larger one is taken from its folder."""
_MEDIA = {".csv": "text/csv", ".json": "application/json", ".parquet": "application/vnd.apache.parquet"}


def published(
    release: Any,
    answers: Any = None,
    *,
    audience: str | None = None,
    labels: Labels | None = None,
    row: int | None = None,
    choose: str = "",
) -> Result:
    """Show one published question to a reader.

    Parameters
    ----------
    release : Publication, path, mapping or bytes
        A publication; the path of the answers, of their release file or of their data package; or what the release file
        holds.
    answers : Answers or ResultFile
        Needed with a mapping (`Answers`), and with bytes (the file of answers).
    audience : str, optional
        Of a publication for several audiences, whose answers are shown.
    labels : Labels, optional
        What readers see instead of names.
    row : int, optional
        The row that the first sentence is about, from 1; left out, it is about all of them.
    choose : str
        The name of the field of the page's form that a press on a row of the table fills in with its number.

    Raises
    ------
    BadInput
        For what is no release, for a row that is not there, and for answers that are not those of the release file.
    """
    given, files = handed_over(release, answers, audience)
    given = given if labels is None else given.with_labels(labels)
    return show_published(given, files, row=row, choose=choose)


def show_published(given: Given, files: tuple[ResultFile, ...], *, row: int | None = None, choose: str = "") -> Result:
    """Show a release that was read, with its files; see `published`."""
    facts = given.facts.require()
    many = len(given.rows) > 1
    if row is not None and not 1 <= row <= len(given.rows):
        raise BadInput("row", f"{row} is not there", f"choose one from 1 to {len(given.rows):,}")
    one = None if row is None or not many else given.rows[row - 1]
    whole = f"{result(facts, given)}."
    name = files[0].name if files else "answers.csv"
    shown = answers_table(facts, given, _MOST_ROWS)
    return Result(
        headline=whole if one is None else f"{row_sentence(given, one)}.",
        facts=(*(() if one is None else (Fact("Published", whole),)), *_facts(facts, given)),
        pictures=_pictures(given),
        tables=(
            *_estimates(given),
            ResultTable(shown.caption, shown.head, shown.rows, choose if many else "", row),
        ),
        sections=(
            ResultSection(heading="How to read the answers", lines=tuple(how_to_read(facts, unit_of(facts)))),
            ResultSection(heading="What not to conclude", lines=tuple(not_to_conclude(facts))),
            ResultSection(heading="How the answers were made", facts=tuple(_made(facts))),
        ),
        files=(*files, ResultFile(f"{Path(name).stem}.html", partial(_report, given), "text/html", told=_told(given))),
        command=command_line(["irisdp", "report", name, "--out", f"{Path(name).stem}.html"]),
        python=f"import irisdp\n\nirisdp.report({name!r}, out={f'{Path(name).stem}.html'!r})",
    )


def handed_over(release: Any, answers: Any, audience: str | None) -> tuple[Given, tuple[ResultFile, ...]]:
    """Read a release, and return the files that hold it."""
    if isinstance(release, Publication):
        given = given_of(release, audience)
        names = [file.name for file in given.files] or ["answers.csv", "answers.csv.release.json"]
        place = audience if audience is not None else next(iter(release.answers_of))
        written = answers_bytes(release.answers_of[place], Path(names[0]))
        return given, in_files(names[0], written, json_bytes(release.sidecars[place]))
    if isinstance(release, bytes):
        if not isinstance(answers, ResultFile):
            raise BadInput("answers", "are missing", "give the file of answers")
        content = answers.read()
        return given_in(answers.name, content, release), in_files(answers.name, content, release)
    if isinstance(answers, Answers):
        path = Path("answers.csv")
        given = given_when_written(release, answers, path)
        return given, in_files(path.name, answers_bytes(answers, path), json_bytes(release))
    given = given_of(release)
    sidecar = sidecar_beside(file_path(release, "release"))
    path = answers_beside(sidecar)
    return given, in_files(path.name, path.read_bytes(), sidecar.read_bytes())


def row_sentence(given: Given, row: Sequence[str]) -> str:
    """Say what was published in one row, and what is known of the truth."""
    beside = dict(zip(given.columns, row, strict=True))
    groups = given.columns[: given.columns.index("answer")]
    where = ", ".join(f"{given.labels.column(name)} {given.labels.group(name, beside[name])}" for name in groups)
    said = f"published {beside['answer']}; {_truth(given.facts, beside)}"
    return f"{where}: {said}" if where else f"{said[:1].upper()}{said[1:]}"


def _truth(facts: ReleaseFile, beside: Mapping[str, str]) -> str:
    sure = "" if facts.confidence is None else f" ({percent_below(facts.confidence)} %)"
    low, high = beside.get("answer_low"), beside.get("answer_high")
    if low and high:
        return f"the truth is probably {low if low == high else f'{low} to {high}'}{sure}"
    if low or high:
        return f"the truth is probably {f'{low} or more' if low else f'{high} or less'}{sure}"
    if "answer_first" in beside:
        first, last = beside["answer_first"], beside["answer_last"]
        return f"the right bin is probably {f'“{first}”' if first == last else f'one from “{first}” to “{last}”'}{sure}"
    if beside.get("answer_probability"):
        right = "is the record's own" if facts.name == "column" else "is right"
        return f"it {right} with probability {probability(beside['answer_probability'])} or more, whatever the data"
    return "nothing says how sure that is"


def all_answers(given: Given) -> Answers:
    """Return the answers of a release, as text."""
    place = given.columns.index("answer")
    keys = [row[:place] for row in given.rows]
    return Answers(by=given.columns[:place], keys=keys, values=[row[place] for row in given.rows])


def _estimates(given: Given) -> tuple[ResultTable, ...]:
    """Estimate how many records are in each category from answers about each record, which alone say little."""
    if given.facts.measurement is not MeasurementKind.RANDOMISED_RESPONSE:
        return ()
    try:
        estimates = interpret(given.facts.document(), all_answers(given))
    except BadInput:  # pure noise says nothing of any category
        return ()
    assert isinstance(estimates, Estimates)
    rows = tuple(
        tuple(short_text(part, 4) if isinstance(part, Fraction) else str(part) for part in row)
        for row in estimates.rows[:_MOST_ROWS]
    )
    caption = f"How many records are in each category, from all answers together: {estimates.describe()}"
    return (ResultTable(caption, tuple(_COLUMNS.get(name, name) for name in estimates.columns), rows),)


_COLUMNS = {"published": "answers that name it", "low": "interval from", "high": "to"}


def in_files(name: str, answers: bytes, sidecar: bytes) -> tuple[ResultFile, ...]:
    """Return the two files of a release, but for those that are too large for a page."""
    files = (
        ResultFile(name, answers, _MEDIA.get(Path(name).suffix.lower(), "text/plain")),
        ResultFile(f"{name}.release.json", sidecar),
    )
    return tuple(file for file in files if len(file.read()) <= _LARGEST)


def _told(given: Given) -> str:
    """Say what a report follows from: the digests of the files, and the words that readers see."""
    return f"{[file.digest for file in given.files]} {given.labels!r}"


def _report(given: Given) -> bytes:
    return release_page(given).encode()


def _pictures(given: Given) -> tuple[ResultFigure, ...]:
    """Draw the answers; nothing where no group was named."""
    from ..plots import published as drawn
    from ..plots import published_answers

    words = replace(given.labels, title=None, own_title=None)  # these head the page
    try:
        return (drawn(published_answers(given.facts, given.columns, given.rows), words),)
    except BadInput:
        return ()  # the table says the same


def _facts(facts: ReleaseFile, given: Given) -> Iterator[Fact]:
    sure = "Interval" if "answer_low" in given.columns else "Probability"
    if sure == "Probability" and same_probability(given) is None and "answer_probability" not in given.columns:
        sure = "How sure"
    yield Fact(sure, " ".join(meant(facts, given)))
    yield from released(facts)


def released(facts: ReleaseFile) -> Iterator[Fact]:
    """Say what a release file says about every answer; nothing of a file that lacks some of it."""
    try:
        facts.require()
    except BadInput:
        return
    yield Fact("Error", _sentences(expected(facts)), "known before any record was read, and the same for all data")
    yield Fact("Privacy cost", cost_in_short(facts))
    if facts.batch is not None:
        yield Fact(
            "Batch",
            f"Question {facts.batch.question} of {facts.batch.questions}",
            f"charged as one: {facts.batch.cost} for all",
        )
    yield Fact("Protected", protected(facts))
    if facts.audience is not None:
        yield Fact("For", for_whom(facts))


def _made(facts: ReleaseFile) -> Iterator[Fact]:
    yield Fact("Question", f"{asked(facts)}", facts.question)
    yield Fact("Table", facts.said.get("table", "not said"))
    for name, label in (("date", "Date"), ("version", "Iris")):
        if name in facts.said:
            yield Fact(label, facts.said[name])
    for name, value in subject(facts):
        yield Fact(name, value)


def _sentences(lines: Iterator[str]) -> str:
    return "; ".join(f"{line[:1].upper()}{line[1:]}" if index == 0 else line for index, line in enumerate(lines))
