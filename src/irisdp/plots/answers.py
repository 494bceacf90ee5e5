"""Published answers for pictures: from a publication, or from the file of answers and its release file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..cells import HIGH, LOW, PROBABILITY, band_names
from ..errors import BadInput
from ..exact import nearest_float, rational, read_json
from ..reading.answer_files import rows_of
from ..reading.released import answers_beside, sidecar_beside
from ..release.counted import counted
from ..release.labels import Labels
from ..release.publication import Publication
from ..release.written import SIDECAR_FORMAT
from .rows import shortened

__all__ = ["PublishedAnswer", "PublishedAnswers", "published_answers", "read_published"]

_BINS = "BINS("


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAnswer:
    """One published answer, and its auxiliary output; None if it has none.

    Parameters
    ----------
    key : tuple
        Its group; empty where there are no groups.
    audience : str or None
        For whom.
    answer : int, float or str
        As it was published.
    low, high : float or None
        The interval of the truth, with the confidence in the release file.
    probability : float or None
        The least probability of the right answer.
    """

    key: tuple[Any, ...]
    audience: str | None
    answer: Any
    low: float | None
    high: float | None
    probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAnswers:
    """A release: its release file, the group columns, and the answers of every audience one after another.

    `numbers` says whether the answers are numbers and no names, and `labels` what readers see instead of names.
    """

    sidecar: Mapping[str, Any]
    by: tuple[str, ...]
    numbers: bool
    answers: tuple[PublishedAnswer, ...]
    labels: Labels = field(default_factory=Labels)

    @property
    def question(self) -> str:
        """The question in one line."""
        return str(self.sidecar.get("question") or "published answers")

    @property
    def heading(self) -> str:
        """The label or the question as it stands above a picture, without edges between bins: those are at an axis."""
        label = self.labels.heading(self.question, self.by)
        if label is not None:
            return label
        words, derived = self.question, self.sidecar.get("derived")
        for name, how in derived.items() if isinstance(derived, Mapping) else ():
            if str(how).startswith(_BINS):
                words = words.replace(f"{name} = {how}", str(name))
        return words

    @property
    def promise(self) -> str:
        """The guarantee of the auxiliary columns; empty if nothing is guaranteed."""
        assured = self.sidecar.get("assurance")
        return str(assured.get("promise", "")) if isinstance(assured, Mapping) else ""

    @property
    def unit(self) -> str:
        """What numbers count, for an axis."""
        if "answer" in self.labels.columns:
            return self.labels.column("answer")
        query = {"query": None, "column": None, **_query(self.sidecar)}
        if query["query"] in ("sum", "mean"):
            return f"{query['query']} of {query['column']}"
        return counted({**self.sidecar, "query": query})

    @property
    def axis(self) -> str:
        """The title of the axis of answers."""
        return self.unit if "answer" in self.labels.columns else f"published answer ({shortened(self.unit)})"

    @property
    def shown_by(self) -> tuple[str, ...]:
        """The labels of the group columns."""
        return tuple(map(self.labels.column, self.by))

    def shown_key(self, key: Sequence[Any]) -> tuple[str, ...]:
        """Return the labels of a group's values."""
        return tuple(self.labels.group(column, value) for column, value in zip(self.by, key, strict=True))

    @property
    def names(self) -> tuple[str, ...] | None:
        """All names that can be published, in their order; None if the release file does not list them."""
        mechanism = self.sidecar.get("mechanism")
        told: Mapping[str, Any] = mechanism if isinstance(mechanism, Mapping) else {}
        for listed in (told.get("outputs"), told.get("names"), told.get("bins")):
            if isinstance(listed, list | tuple):
                return tuple(map(str, listed))
        thresholds = told.get("thresholds")
        if isinstance(thresholds, list | tuple) and thresholds and all(type(start) is int for start in thresholds):
            return band_names(thresholds)
        return ("yes", "no") if _query(self.sidecar).get("query") in ("majority", "at-least", "at-most") else None

    @property
    def ordered_bins(self) -> bool:
        """Whether the one group column holds bins in their order, as of a histogram."""
        derived = self.sidecar.get("derived")
        told = derived.get(self.by[0], "") if len(self.by) == 1 and isinstance(derived, Mapping) else ""
        return str(told).startswith(_BINS)


_NUMBERS = ("count", "count-distinct", "histogram", "sum", "mean", "sizes")


def read_published(release: Any) -> PublishedAnswers:
    """Read what was published, with its ends.

    Parameters
    ----------
    release : Publication, PublishedAnswers, or path
        Name of the answers or of their release file.

    Raises
    ------
    BadInput
        For answers without a release file, a release file without answers, and other files.
    """
    if isinstance(release, PublishedAnswers):
        return release
    if isinstance(release, Publication):
        sidecar = next(iter(release.sidecars.values()))
        numbers = _are_numbers(sidecar, release.answers.columns)
        rows = [
            _answer(found.columns, row, len(found.by), audience, numbers)
            for audience, found in release.answers_of.items()
            for row in found.rows()
        ]
        return PublishedAnswers(sidecar=sidecar, by=release.answers.by, numbers=numbers, answers=tuple(rows))
    if not isinstance(release, str | os.PathLike):
        raise BadInput("release", "is no publication", "give a publication, or the file that publish wrote")
    path = sidecar_beside(release)
    document = read_json(path, "release")
    if not isinstance(document, Mapping) or document.get("format") != SIDECAR_FORMAT:
        raise BadInput("release", "is no release", "give the answers that publish wrote, or the .release.json beside")
    answers = answers_beside(path)
    if answers == path or not answers.is_file():
        rule = f"says how answers were made, and there is no {answers.name} beside it"
        raise BadInput("release", rule, "put the file of answers beside it, or give the publication")
    columns, lines = rows_of(answers)
    if "answer" not in columns:
        raise BadInput("release", f"{answers.name} has no column `answer`", "give a file that publish wrote")
    return published_answers(document, columns, lines)


def published_answers(
    sidecar: Mapping[str, Any], columns: Sequence[str], lines: Sequence[Sequence[Any]]
) -> PublishedAnswers:
    """Return the answers of one audience, from the release file and the columns and lines of the file of answers."""
    place = columns.index("answer")
    numbers = _are_numbers(sidecar, columns)
    name = sidecar.get("audience")
    found = tuple(_answer(columns, line, place, None if name is None else str(name), numbers) for line in lines)
    return PublishedAnswers(sidecar=sidecar, by=tuple(columns[:place]), numbers=numbers, answers=found)


def _query(sidecar: Mapping[str, Any]) -> Mapping[str, Any]:
    query = sidecar.get("query")
    return query if isinstance(query, Mapping) else {}


def _are_numbers(sidecar: Mapping[str, Any], columns: Sequence[str]) -> bool:
    return LOW in columns or (PROBABILITY not in columns and _query(sidecar).get("query") in _NUMBERS)


def _answer(
    columns: Sequence[str], row: Sequence[Any], place: int, audience: str | None, numbers: bool
) -> PublishedAnswer:
    beside = dict(zip(columns[place:], row[place:], strict=True))
    return PublishedAnswer(
        key=tuple(row[:place]),
        audience=audience,
        answer=_number(beside["answer"]) if numbers else beside["answer"],
        low=_number(beside.get(LOW)),
        high=_number(beside.get(HIGH)),
        probability=_number(beside.get(PROBABILITY)),
    )


def _number(value: Any) -> int | float | None:
    """Read a number, be it a file's text: whole ones are whole numbers wherever they come from; nothing is None."""
    if value is None or value == "":
        return None
    exact = rational(value, "answer")
    found = nearest_float(exact)
    if found is None:
        raise BadInput("answer", "is too large to be drawn", "read it in the file")
    return exact.numerator if exact.denominator == 1 else found
