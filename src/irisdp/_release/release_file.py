"""The release file: what is public of one audience's answers. It is written, read and checked here, and nowhere else.

A release file may come from a stranger, so whatever JSON stands in one is either accepted or refused in one line. There
are two levels of strictness. Who interprets answers needs a few members, of the right kinds (`check_kinds`), and passes
over the others. Who shows a release to people needs all of them (`require`). The format is described in
docs/formats/release.schema.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, overload

from .._exact import integer, percent_below, rational, read_json
from .._ledger import ChargedAnswer, Damaged, read_object
from .._measurements import ASSURED, KINDS, ConfidenceStatement, MeasurementKind, ReadAs
from .._queries import FORM_OF, AnswerType, Measured, QueryEntry, cell_relation
from .._tables import list_names
from .._version import VERSION
from ..accounting import Charge, ConcentratedCost, Cost, GaussianCost
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..mechanisms import guarantee_from_document
from ..privacy import Guarantee, Privacy

SIDECAR_FORMAT = "irisdp/release/1"
"""What a release file says that it is."""

_LONGEST = 100_000
"""Letters of one text."""
_GIVE = "give the file that publish wrote"
_GIVE_OR_PUBLISH = f"{_GIVE}, or publish the same again, which is free"
_HARDLY = Fraction(1, 100)
"""By how much an error may be off that was rounded."""
_PERCENT = re.compile(r"([0-9.]+) %")
_SAID = ("table", "date", "version", "reading", "values", "lower", "upper", "step", "missing", "per_unit", "reader")
"""Texts that may be shown unchanged."""


# Where published answers come from: of which table, when, and drawn by which version of the library.
#
# The ledger stores all of it with the answers, so asking again returns the same. It is public: the ledger holds
# nothing but what was released.


def drawn_by(table: str | None) -> dict[str, Any]:
    """Return what the ledger keeps of where answers come from, JSON-ready: the table's name, and this version."""
    return {"table": table, "version": VERSION}


def provenance(settled: ChargedAnswer, place: int = 0) -> dict[str, Any]:
    """Return where the answers of a settlement's entry come from, JSON-ready.

    Returns
    -------
    dict
        `table`, its name; `date`, when the answers were drawn, in UTC; `version`, of the library that drew them. None
        where the ledger does not say: a table without a name, answers drawn by a version that kept less. And
        `supersedes`, the release about an earlier version of the data that the answers stand in for, if there is one.
    """
    try:
        kept = read_object(settled.entries[place].details)
    except Damaged:
        kept = {}  # the answers and their date are there all the same
    superseded = {"supersedes": kept["supersedes"]} if "supersedes" in kept else {}
    return {"table": kept.get("table"), "date": settled.date, "version": kept.get("version"), **superseded}


# Readers of single members. Each gets what stands in the file and the member's name, for its message.


def _wrong(name: str) -> BadInput:
    return BadInput("release", f"does not say {name} as a release does", _GIVE)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise _wrong(name)
    return value


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise _wrong(name)
    return tuple(_text(part, name) for part in value)


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(name)
    return value


def _text_object(value: Any, name: str) -> Mapping[str, str]:
    return {_text(key, name): _text(part, name) for key, part in _object(value, name).items()}


def _number(value: Any, name: str = "a number") -> Fraction:
    if isinstance(value, bool | list | Mapping | None):
        raise _wrong(name)
    return rational(value, "release")


def _guarantee(value: Any, name: str) -> Guarantee:
    return guarantee_from_document(value)


def _relation(value: Any, name: str) -> NeighbouringRelation:
    if not isinstance(value, str) or value not in list(NeighbouringRelation):
        raise _wrong("query and relation")
    return NeighbouringRelation(value)


def _cost(value: Any, name: str) -> Charge:
    """Read what was charged, in any currency."""
    numbers = {name: _number(part) for name, part in _object(value, "cost").items()}
    for currency in (Cost, GaussianCost, ConcentratedCost):
        if set(numbers) == set(currency.__slots__) and min(numbers.values()) >= 0 and numbers.get("delta", 0) <= 1:
            return currency(**numbers)
    raise _wrong("cost")


def _batch(value: Any, name: str) -> Batch:
    batch = _object(value, name)
    questions = integer(batch.get("questions"), "release", at_least=1, at_most=10**9)
    cost = _cost(batch.get("cost"), "cost")
    return Batch(cost, questions, integer(batch.get("question"), "release", at_least=1, at_most=questions))


def _errors(value: Any, name: str) -> Mapping[str, Any]:
    for part in _object(value, name).values():
        if isinstance(part, str):
            _text(part, name)
        elif isinstance(part, list | Mapping):
            raise _wrong("a number")
    return dict(value)


def _records(value: Any, name: str) -> int:
    return integer(value, "release", at_least=1, at_most=10**9)


def _at_least_one(value: Any, name: str) -> int:
    return integer(value, "release", at_least=1)


def _line(value: Any, name: str) -> int:
    return integer(_object(value, name).get("id"), "release", at_least=0, at_most=10**18)


Value = TypeVar("Value")


class Member(Generic[Value]):
    """A member of a release file, which is checked each time it is read.

    Parameters
    ----------
    read : callable
        Returns the member, or refuses it; given what stands in the file, and its name.
    absent : object
        What a file that does not have the member is taken to say; None where it must have it.
    """

    def __init__(self, read: Callable[[Any, str], Value], absent: Any = None) -> None:
        self.read, self.absent, self.name = read, absent, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, file: None, owner: type) -> Self: ...
    @overload
    def __get__(self, file: ReleaseFile, owner: type) -> Value: ...
    def __get__(self, file: ReleaseFile | None, owner: type) -> Self | Value:
        """Return the member of a file."""
        return self if file is None else self.read(file.stored.get(self.name, self.absent), self.name)


def _or_none(read: Callable[[Any, str], Value]) -> Member[Value | None]:
    """Return a member that a file may lack."""
    return Member(lambda value, name: None if value is None else read(value, name))


def _or(read: Callable[[Any, str], Value], usual: Any) -> Member[Value]:
    """Return a member that is `usual` where nothing, or nothing but 0, stands there."""
    return Member(lambda value, name: read(value or usual, name))


@dataclass(frozen=True, slots=True)
class Batch:
    """The batch of which a question is one: what all cost together, how many there are, and which this is."""

    cost: Charge
    questions: int
    question: int


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """What is public of one audience's answers.

    A member is checked when it is read, so a file that lacks what nobody asks for is read, too.

    Parameters
    ----------
    stored : mapping
        The file as it was read or as it will be written: nothing in it is believed yet.
    """

    stored: Mapping[str, Any]

    query = Member(_text_object)
    relation = Member(_relation)
    mechanism = Member(_object)
    by = Member(_texts, ())
    derived = _or(_text_object, {})
    groups = _or_none(_object)
    categories = _or_none(_object)
    bins = _or_none(_texts)
    weight = _or_none(_text_object)
    unit = _or_none(_text)
    unit_rule = _or_none(_text)
    at_most = _or(_records, 1)
    groups_per_unit = _or_none(_at_least_one)
    audience = _or_none(_text)
    privacy = Member(_guarantee)
    cost = Member(_cost)
    batch = _or_none(_batch)
    expected_error = _or(_errors, {})
    columns = Member(_texts, ())
    assurance = _or_none(_object)
    ledger = Member(_line)

    @classmethod
    def read(cls, release: Path | Any, *, rule: str = "is no release", remedy: str = _GIVE) -> Self:
        """Read a file, or take a document that was read.

        Raises
        ------
        BadInput
            For what is no release file, with `rule` and `remedy`.
        """
        document = read_json(release, "release") if isinstance(release, Path) else release
        if not isinstance(document, Mapping) or document.get("format") != SIDECAR_FORMAT:
            raise BadInput("release", rule, remedy)
        return cls(document)

    @classmethod
    def of(
        cls,
        body: Mapping[str, Any],
        ends: Mapping[str, Any],
        made: Mapping[str, Any],
        columns: Sequence[str],
        assured: ConfidenceStatement,
        line: int,
        *,
        batch: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return the file of answers that were drawn; asking again writes the same.

        Parameters
        ----------
        body, ends, made : mapping
            The plan's facts (`Plan.body`), the public ranges and auxiliary draws, and the origin of the answers
            (`provenance`).
        columns, assured
            Of the answers, and what says how sure they are.
        line : int
            Of the ledger.
        batch : mapping, optional
            What all questions of the batch cost together. The cost beside it is that of this question alone.
        """
        return cls(
            {
                "format": SIDECAR_FORMAT,
                **body,
                **made,
                "mechanism": {**body["mechanism"], **ends},
                **({"batch": dict(batch)} if batch else {}),
                "columns": list(columns),
                **assured.to_document(),
                "ledger": {"id": line},
            }
        )

    def document(self) -> dict[str, Any]:
        """Return the file, JSON-ready."""
        return dict(self.stored)

    def part(self, name: str) -> Mapping[str, Any]:
        """Return a member that is an object, or else an empty one."""
        found = self.stored.get(name)
        return found if isinstance(found, Mapping) else {}

    @property
    def name(self) -> str:
        """The query's own name."""
        query = self.query
        if "query" not in query:
            raise _wrong("query and relation")
        return query["query"]

    @property
    def form(self) -> QueryEntry | None:
        """The query in the registry; None for an unknown one."""
        name = self.part("query").get("query")
        return FORM_OF.get(name) if isinstance(name, str) else None

    @property
    def answer_type(self) -> AnswerType | None:
        """What the answers are; None for an unknown query."""
        return None if self.form is None else self.form.answers

    @property
    def measured(self) -> Measured | None:
        """What the question is about, where that is a number."""
        return None if self.form is None else self.form.measured

    @property
    def question(self) -> str:
        """The question in one line."""
        return _text(self.stored.get("question", self.query["query"]), "question")

    @property
    def kind(self) -> str:
        """The kind of mechanism."""
        return _text(self.mechanism.get("kind"), "mechanism")

    @property
    def measurement(self) -> MeasurementKind | None:
        """The kind of mechanism in the registry; None for an unknown one."""
        kind = self.part("mechanism").get("kind")
        return KINDS.get(kind) if isinstance(kind, str) else None

    @property
    def read_as(self) -> ReadAs | None:
        """How answers are interpreted; None of an unknown kind."""
        return None if self.measurement is None else self.measurement.read_as

    @property
    def costs_alone(self) -> bool:
        """Whether the cost is that of these answers alone, and not of the answers of several audiences."""
        return self.stored.get("cost_of") == "audience"

    @property
    def public_membership(self) -> bool:
        """Whether it is public who is in which group."""
        return self.stored.get("public_membership") is True

    @property
    def cell_relation(self) -> NeighbouringRelation:
        """The relation of the graph that a mechanism is made for."""
        grouped = bool(self.stored.get("by"))
        return cell_relation(self.relation, grouped=grouped, public_membership=self.public_membership)

    @property
    def said(self) -> Mapping[str, str]:
        """What may be shown unchanged, by its name."""
        return {name: _text(self.stored[name], name) for name in _SAID if self.stored.get(name) is not None}

    @property
    def promise(self) -> str | None:
        """What the columns beside the answers guarantee."""
        assurance = self.assurance
        return None if assurance is None else _text(assurance.get("promise"), "assurance")

    @property
    def confidence(self) -> Fraction | None:
        """How sure the ends beside an answer are."""
        sure = (self.assurance or {}).get("confidence")
        confidence = None if sure is None else _number(sure)
        if confidence is not None and not 0 < confidence < 1:
            raise _wrong("confidence")
        return confidence

    @property
    def selected(self) -> bool:
        """Whether the groups were named by the data, privately."""
        return self.part("groups").get("selected") is not None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Which records and values do not count, so that no interval covers them."""
        return tuple(self.stored.get("left_out") or ())

    # What the numbers of a release count: records, one or some of each person, persons, or values of a column.

    @property
    def counted(self) -> str:
        """What numbers count, and errors are measured in.

        Examples
        --------
        >>> ReleaseFile({"query": {"query": "count"}, "by": ["town"], "unit": "person"}).counted
        'records, one per person'
        >>> ReleaseFile({"query": {"query": "count"}, "by": [], "unit": "person"}).counted
        'different values of person'
        """
        column, unit = self.part("query").get("column", "a column"), self.stored.get("unit")
        if self.measured is Measured.VALUES:
            return f"as {column}"
        if self.measured is Measured.DISTINCT_VALUES:
            return f"different values of {column}"
        if unit is None:
            return "records"
        if self.counts_persons:
            return f"different values of {unit}"
        return f"records, {'one' if (kept := self._kept_of_each) == 1 else f'at most {kept}'} per {unit}"

    @property
    def counts_persons(self) -> bool:
        """Whether each person of the table is one in the number, or in that of one group; not some record of it."""
        if self.stored.get("unit") is None or self._kept_of_each != 1:
            return False
        query = self.part("query")
        whole = query.get("query") == "count" and "expression" not in query and not self.stored.get("by")
        return whole or self.stored.get("per_unit") is not None

    @property
    def _kept_of_each(self) -> Any:
        """How many records of a person count at most."""
        return self.stored.get("at_most") or 1

    # Three checks: of kinds, for who interprets; of everything, for who shows a release; and whether all of it agrees.

    def check_kinds(self) -> Self:
        """Refuse members that decide how answers are interpreted, where they are not of the kinds in the schema.

        What the members mean, and whether they fit together, the readers of each kind of mechanism say.
        """
        for path, (fits, words) in _KINDS.items():
            holder, _, name = path.rpartition(".")
            value = (self.part(holder) if holder else self.stored).get(name)
            if value is not None and not fits(value):
                raise BadInput("release", f"holds {path}, which must be {words}", _GIVE)
        return self

    def require(self, *names: str) -> Self:
        """Refuse a file that lacks a member, or has one that is not as `publish` writes it; of all that are shown."""
        for name in names or _REQUIRED:
            getattr(self, name)
        return self

    def check_agreement(self, name: str, columns: Sequence[str] | None) -> None:
        """Refuse a file that contradicts itself, or the columns of its answers.

        Members follow from others, and a file that was changed by hand, or combined from two, would tell a reader both.
        What agrees may still be false: the ledger knows.

        Parameters
        ----------
        name : str
            Name of the release file, for messages.
        columns : sequence of str, or None
            Of the answers; of none, a file need not say its columns.

        Raises
        ------
        BadInput
            Which names what contradicts what.
        """
        for one, other in self._contradictions():
            raise BadInput("release", f"{name} contradicts itself: {one} {other}", _GIVE_OR_PUBLISH)
        listed = _listed(self.stored.get("columns"))
        if listed is not None and columns is not None and list(columns) != listed:
            rule = f"{name} is of answers with the columns {list_names(listed)}, and here are {list_names(columns)}"
            raise BadInput("release", rule, _GIVE_OR_PUBLISH)

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        by, listed = (_listed(self.stored.get(name)) for name in ("by", "columns"))
        question, unit, query = self.stored.get("question"), self.stored.get("unit"), self.part("query").get("query")
        if by is not None and listed is not None and listed[: len(by)] != by:
            yield "its columns", f"do not begin with the groups, by {list_names(by)}"
        if isinstance(question, str) and isinstance(query, str) and not f"{question} ".startswith(f"{query} "):
            yield "its question", f"is {question[:60]!r}, and its query {query[:60]!r}"
        if isinstance(question, str) and isinstance(unit, str) and f"per {unit}" not in question:
            yield "its unit", f"is {unit[:60]!r}, and its question {question[:60]!r} does not say so"
        yield from self._about_privacy()
        assurance = self.part("assurance")
        sure = _listed(assurance.get("columns"))
        if sure is not None and listed is not None and [name for name in listed if name in ASSURED] != sure:
            yield "its columns", "are not those of which it says how sure they are"
        confidence, promise = assurance.get("confidence"), assurance.get("promise")
        if isinstance(promise, str) and confidence is not None:
            percents = _PERCENT.findall(promise)
            if percents and percent_below(rational(confidence, "release")) not in percents:
                yield "its confidence", f"is {confidence}, and its promise speaks of {percents[0]} %"

    def _about_privacy(self) -> Iterator[tuple[str, str]]:
        """Hold the cost, and the error of geometric noise, against what each answer keeps, where that is one pair."""
        cost, mechanism = self.part("cost"), self.part("mechanism")
        if not isinstance(self.stored.get("privacy"), Mapping):
            return
        privacy = self.privacy
        if not isinstance(privacy, Privacy) or not privacy.single:
            return
        (pair,) = privacy.pairs
        if set(cost) == {"epsilon", "delta"}:
            epsilon, delta = (rational(cost[name], "release") for name in ("epsilon", "delta"))
            if epsilon < pair.epsilon or delta < pair.delta:
                yield "its cost", f"is {Cost(epsilon, delta)}, and each of its answers keeps {privacy}"
        stated = self.part("expected_error").get("mean_absolute")
        geometric = set(mechanism) == {"kind"} and mechanism["kind"] == MeasurementKind.GEOMETRIC_NOISE
        if geometric and stated is not None and pair.ratio > 1:
            error = 2 * pair.ratio / (pair.ratio**2 - 1)  # the mean of |X| for geometric noise at ratio r
            if not error * (1 - _HARDLY) <= rational(stated, "release") <= error * (1 + _HARDLY):
                yield (
                    "its expected error",
                    f"is {float(stated):.4g}, and its noise at {privacy} is off by {float(error):.4g}",
                )


_REQUIRED = (
    *("name", "relation", "mechanism", "assurance", "confidence", "question", "by", "derived", "groups", "categories"),
    *("bins", "said", "weight", "unit", "unit_rule", "at_most", "groups_per_unit", "audience", "privacy", "cost"),
    *("batch", "kind", "expected_error", "columns", "promise", "ledger"),
)
"""What people are shown, in the order in which a file is refused for it."""


def _listed(value: Any) -> list[str] | None:
    return list(value) if _is_list(value) and all(isinstance(part, str) for part in value) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _holds_text(value: Any) -> bool:
    return _is_list(value) and all(map(_is_text, value))


def _holds_names(value: Any) -> bool:
    """Tell whether a list holds what names a category: text, a number or a truth value."""
    return _is_list(value) and not any(isinstance(name, list | tuple | Mapping | None) for name in value)


_TEXT, _OBJECT, _LIST_OF_TEXT = (_is_text, "text"), (_is_object, "an object"), (_holds_text, "a list of text")
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "format": _TEXT,
    "mechanism": _OBJECT,
    "query": _OBJECT,
    "relation": _TEXT,
    "by": _LIST_OF_TEXT,
    "public_membership": (lambda value: isinstance(value, bool), "true or false"),
    "privacy": _OBJECT,
    "left_out": _LIST_OF_TEXT,
    "mechanism.kind": _TEXT,
    "mechanism.categories": (
        lambda value: _holds_names(value) or (isinstance(value, int) and not isinstance(value, bool)),
        "a list of names, or how many there are",
    ),
    "mechanism.outputs": (_holds_names, "a list of names"),
    "mechanism.rankings": (lambda value: _is_list(value) and all(map(_holds_text, value)), "a list of lists of text"),
    "mechanism.boundary": (
        lambda value: _is_list(value) and all(map(_holds_names, value)),
        "a list of lists of numbers",
    ),
    "mechanism.thresholds": (_holds_names, "a list of numbers"),
    "mechanism.noise": _OBJECT,
    "mechanism.pairs": _OBJECT,
    "query.query": _TEXT,
    "query.expression": _TEXT,
}
"""What decides how answers are interpreted: which values it may have, and what these are in words."""
