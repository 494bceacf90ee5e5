"""Read a release file as if from a stranger: every fact in a report must have its type."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._exact import integer, percent_below, rational, read_json
from .._files import is_there
from .._measurements import ASSURED, MeasurementKind
from .._tables import list_names
from ..accounting import Charge, ConcentratedCost, Cost, GaussianCost
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..mechanisms import guarantee_from_document
from ..privacy import Guarantee, Privacy
from .answers import as_written

# Check that a release file agrees with itself and with its answers, before either is shown.
#
# Members of the file follow from others. A file that was changed by hand, or combined from two, would tell the reader
# contradictory facts. What agrees may still be false: the ledger knows.

_AGREEMENT_REMEDY = "give the file that publish wrote, or publish the same again, which is free"
_HARDLY = Fraction(1, 100)
"""By how much an error may be off that was rounded."""
_PERCENT = re.compile(r"([0-9.]+) %")


def check_agreement(name: str, document: Any, columns: Sequence[str] | None) -> None:
    """Refuse a release file that contradicts itself, or the columns of its answers.

    Parameters
    ----------
    name : str
        Name of the release file, for messages.
    document : JSON
        What it holds. Members that are not there, or are of another kind, are for their own readers to miss or refuse.
    columns : sequence of str, or None
        Of the answers; of none, a file need not say its columns.

    Raises
    ------
    BadInput
        Which names what contradicts what.
    """
    if not isinstance(document, Mapping):
        return
    for one, other in _contradictions(document):
        raise BadInput("release", f"{name} contradicts itself: {one} {other}", _AGREEMENT_REMEDY)
    listed = _text_list(document.get("columns"))
    if listed is not None and columns is not None and list(columns) != listed:
        rule = f"{name} is of answers with the columns {list_names(listed)}, and here are {list_names(columns)}"
        raise BadInput("release", rule, _AGREEMENT_REMEDY)


def _contradictions(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    by, listed, question, unit = (document.get(name) for name in ("by", "columns", "question", "unit"))
    by, listed = _text_list(by), _text_list(listed)
    if by is not None and listed is not None and listed[: len(by)] != by:
        yield "its columns", f"do not begin with the groups, by {list_names(by)}"
    query = _part(document, "query").get("query")
    if isinstance(question, str) and isinstance(query, str) and not f"{question} ".startswith(f"{query} "):
        yield "its question", f"is {question[:60]!r}, and its query {query[:60]!r}"
    if isinstance(question, str) and isinstance(unit, str) and f"per {unit}" not in question:
        yield "its unit", f"is {unit[:60]!r}, and its question {question[:60]!r} does not say so"
    yield from _about_privacy(document)
    assurance = _part(document, "assurance")
    sure = _text_list(assurance.get("columns"))
    if sure is not None and listed is not None and [name for name in listed if name in ASSURED] != sure:
        yield "its columns", "are not those of which it says how sure they are"
    confidence, promise = assurance.get("confidence"), assurance.get("promise")
    if isinstance(promise, str) and confidence is not None:
        told = _PERCENT.findall(promise)
        if told and percent_below(rational(confidence, "release")) not in told:
            yield "its confidence", f"is {confidence}, and its promise speaks of {told[0]} %"


def _about_privacy(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Hold the cost, and the error of geometric noise, against what each answer keeps, where that is one pair."""
    cost, mechanism, error = (_part(document, name) for name in ("cost", "mechanism", "expected_error"))
    if not isinstance(document.get("privacy"), Mapping):
        return
    privacy = guarantee_from_document(document["privacy"])
    if not isinstance(privacy, Privacy) or not privacy.single:
        return
    (pair,) = privacy.pairs
    if set(cost) == {"epsilon", "delta"}:
        epsilon, delta = (rational(cost[name], "release") for name in ("epsilon", "delta"))
        if epsilon < pair.epsilon or delta < pair.delta:
            yield "its cost", f"is {Cost(epsilon, delta)}, and each of its answers keeps {privacy}"
    stated = error.get("mean_absolute")
    geometric = set(mechanism) == {"kind"} and mechanism["kind"] == MeasurementKind.GEOMETRIC_NOISE
    if geometric and stated is not None and pair.ratio > 1:
        told = 2 * pair.ratio / (pair.ratio**2 - 1)  # the mean of |X| for geometric noise at ratio r
        if not told * (1 - _HARDLY) <= rational(stated, "release") <= told * (1 + _HARDLY):
            yield (
                "its expected error",
                f"is {float(stated):.4g}, and its noise at {privacy} is off by {float(told):.4g}",
            )


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name)
    return found if isinstance(found, Mapping) else {}


def _text_list(value: Any) -> list[str] | None:
    return list(value) if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value) else None


# Check the members of a release file that decide how answers are interpreted, each for its kind, before using them.
#
# A release file may come from a stranger, so any JSON in it is either accepted or refused in one line. What the
# members mean, and whether they fit together, the readers of each kind of mechanism say; members that no reader looks
# at are passed over.

_STRICT_REMEDY = "give the file that publish wrote"


def check_kinds(document: Any) -> None:
    """Refuse a document whose members are of other kinds than `docs/formats/release.schema.json` says.

    Raises
    ------
    BadInput
        Where one is; what is no object at all is for its reader to say.
    """
    if not isinstance(document, Mapping):
        return
    _check(document, _MEMBERS, "")
    for name, members in (("mechanism", _OF_MECHANISM), ("query", _OF_QUERY)):
        if isinstance(document.get(name), Mapping):
            _check(document[name], members, f"{name}.")


def _check(document: Mapping[str, Any], members: Mapping[str, tuple[Callable[[Any], bool], str]], where: str) -> None:
    for name, (fits, words) in members.items():
        if document.get(name) is not None and not fits(document[name]):
            raise BadInput("release", f"holds {where}{name}, which must be {words}", _STRICT_REMEDY)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _holds_text(value: Any) -> bool:
    return _is_list(value) and all(map(_is_text, value))


def _holds_names(value: Any) -> bool:
    """Tell whether a list holds what names a category: text, a number or a truth value."""
    return _is_list(value) and not any(isinstance(name, list | tuple | Mapping | None) for name in value)


def _holds_rankings(value: Any) -> bool:
    return _is_list(value) and all(map(_holds_text, value))


def _holds_rows(value: Any) -> bool:
    return _is_list(value) and all(map(_holds_names, value))


def _is_named_or_counted(value: Any) -> bool:
    return _holds_names(value) or (isinstance(value, int) and not isinstance(value, bool))


_TEXT, _OBJECT = (_is_text, "text"), (_is_object, "an object")
_MEMBERS = {
    "format": _TEXT,
    "mechanism": _OBJECT,
    "query": _OBJECT,
    "relation": _TEXT,
    "by": (_holds_text, "a list of text"),
    "public_membership": (_is_flag, "true or false"),
    "privacy": _OBJECT,
    "left_out": (_holds_text, "a list of text"),
}
_OF_MECHANISM = {
    "kind": _TEXT,
    "categories": (_is_named_or_counted, "a list of names, or how many there are"),
    "outputs": (_holds_names, "a list of names"),
    "rankings": (_holds_rankings, "a list of lists of text"),
    "boundary": (_holds_rows, "a list of lists of numbers"),
    "thresholds": (_holds_names, "a list of numbers"),
    "noise": _OBJECT,
    "pairs": _OBJECT,
}
_OF_QUERY = {"query": _TEXT, "expression": _TEXT}


_GIVE = "give the file that publish wrote"
_LONGEST = 100_000
"""Letters of one text."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The batch of which a question is one: what all cost together, how many there are, and which this is."""

    cost: Charge
    questions: int
    question: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is public of one audience's answers; see the format in docs/formats/release.schema.json."""

    question: str
    query: Mapping[str, str]
    by: tuple[str, ...]
    derived: Mapping[str, str]
    groups: Mapping[str, Any] | None
    categories: Mapping[str, Any] | None
    bins: tuple[str, ...] | None
    weight: Mapping[str, str] | None
    said: Mapping[str, str]
    relation: NeighbouringRelation
    public_membership: bool
    unit: str | None
    unit_rule: str | None
    at_most: int
    groups_per_unit: int | None
    audience: str | None
    privacy: Guarantee
    cost: Charge
    batch: Batch | None
    mechanism: Mapping[str, Any]
    kind: str
    expected_error: Mapping[str, Any]
    columns: tuple[str, ...]
    promise: str | None
    confidence: Fraction | None
    ledger: int

    @property
    def name(self) -> str:
        """The query's own name."""
        return self.query["query"]

    @property
    def counting(self) -> Mapping[str, Any]:
        """What says which records numbers count; `release.counted` puts it in words."""
        return {
            "query": {"column": "a column", **self.query},
            "by": self.by,
            "unit": self.unit,
            "at_most": self.at_most,
            "per_unit": self.said.get("per_unit"),
        }


_SAID = ("table", "date", "version", "reading", "values", "lower", "upper", "step", "missing", "per_unit", "reader")
"""Texts that may be told as they are."""


def facts_of(sidecar: Mapping[str, Any]) -> Facts:
    """Read a release file.

    Raises
    ------
    BadInput
        For a fact that is missing, or is no such fact.
    """
    query = _text_mapping(sidecar.get("query"), "query")
    relation = sidecar.get("relation")
    if "query" not in query or not isinstance(relation, str) or relation not in list(NeighbouringRelation):
        raise _wrong("query and relation")
    mechanism = _mapping(sidecar.get("mechanism"), "mechanism")
    assurance = None if sidecar.get("assurance") is None else _mapping(sidecar["assurance"], "assurance")
    groups, categories, batch = (sidecar.get(name) for name in ("groups", "categories", "batch"))
    groups_of_each = sidecar.get("groups_per_unit")
    sure = None if assurance is None else assurance.get("confidence")
    confidence = None if sure is None else rational(_number(sure), "release")
    if confidence is not None and not 0 < confidence < 1:
        raise _wrong("confidence")
    return Facts(
        question=_text(sidecar.get("question", query["query"]), "question"),
        query=query,
        by=_list(sidecar.get("by", []), "by"),
        derived=_text_mapping(sidecar.get("derived") or {}, "derived"),
        groups=None if groups is None else _mapping(groups, "groups"),
        categories=None if categories is None else _mapping(categories, "categories"),
        bins=None if sidecar.get("bins") is None else _list(sidecar["bins"], "bins"),
        said={name: _text(sidecar[name], name) for name in _SAID if sidecar.get(name) is not None},
        weight=None if sidecar.get("weight") is None else _text_mapping(sidecar["weight"], "weight"),
        relation=NeighbouringRelation(relation),
        public_membership=sidecar.get("public_membership") is True,
        unit=_optional(sidecar.get("unit"), "unit"),
        unit_rule=_optional(sidecar.get("unit_rule"), "unit_rule"),
        at_most=integer(sidecar.get("at_most") or 1, "release", at_least=1, at_most=10**9),
        groups_per_unit=None if groups_of_each is None else integer(groups_of_each, "release", at_least=1),
        audience=_optional(sidecar.get("audience"), "audience"),
        privacy=guarantee_from_document(sidecar.get("privacy")),
        cost=_cost(sidecar.get("cost")),
        batch=None if batch is None else _batch(_mapping(batch, "batch")),
        mechanism=mechanism,
        kind=_text(mechanism.get("kind"), "mechanism"),
        expected_error=_errors(sidecar.get("expected_error") or {}),
        columns=_list(sidecar.get("columns", []), "columns"),
        promise=None if assurance is None else _text(assurance.get("promise"), "assurance"),
        confidence=confidence,
        ledger=integer(_mapping(sidecar.get("ledger"), "ledger").get("id"), "release", at_least=0, at_most=10**18),
    )


def _cost(document: Any) -> Charge:
    """Read what was charged, in any currency."""
    told = {name: rational(_number(value), "release") for name, value in _mapping(document, "cost").items()}
    if set(told) == {"epsilon", "delta"} and told["epsilon"] >= 0 and 0 <= told["delta"] <= 1:
        return Cost(told["epsilon"], told["delta"])
    if set(told) == {"mu_squared"} and told["mu_squared"] >= 0:
        return GaussianCost(told["mu_squared"])
    if set(told) == {"rho"} and told["rho"] >= 0:
        return ConcentratedCost(told["rho"])
    raise _wrong("cost")


def _batch(told: Mapping[str, Any]) -> Batch:
    questions = integer(told.get("questions"), "release", at_least=1, at_most=10**9)
    return Batch(
        _cost(told.get("cost")), questions, integer(told.get("question"), "release", at_least=1, at_most=questions)
    )


def _errors(told: Any) -> Mapping[str, Any]:
    for value in _mapping(told, "expected_error").values():
        if isinstance(value, str):
            _text(value, "expected_error")
        elif not isinstance(value, bool | None):
            _number(value)
    return dict(told)


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(name)
    return value


def _text_mapping(value: Any, name: str) -> Mapping[str, str]:
    return {_text(key, name): _text(part, name) for key, part in _mapping(value, name).items()}


def _list(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise _wrong(name)
    return tuple(_text(part, name) for part in value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise _wrong(name)
    return value


def _optional(value: Any, name: str) -> str | None:
    return None if value is None else _text(value, name)


def _number(value: Any) -> Any:
    """Let through what a number is written as; `rational` reads it."""
    if isinstance(value, bool | list | Mapping | None):
        raise _wrong("a number")
    return value


def _wrong(name: str) -> BadInput:
    return BadInput("release", f"does not say {name} as a release does", _GIVE)


# A published file of answers as stored on disk: its columns and its rows, in any format.

_BESIDE = ".release.json"

_MOST_VALUES = 2 * 10**7
"""Values that a Parquet file of answers may hold, or one for each of its bytes."""


def rows_of(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of a published file, by its ending.

    Raises
    ------
    BadInput
        If a file is missing, was not written by `publish`, or was changed since (the data package and the release file
        hold its digest). Also if a release file contradicts itself or the columns.
    """
    if not path.is_file():
        raise BadInput("release", f"there is no {path.name} beside it", "give value=, or put the file beside it")
    sidecar = _sidecar_beside(path)
    _check_unchanged(path, sidecar)
    columns, rows = _read(path)
    if any(len(row) != len(columns) for row in rows):
        raise BadInput("release", f"{path.name} has rows of different lengths", "give a file that publish wrote")
    check_agreement(f"{path.name}{_BESIDE}", sidecar, columns if rows and "answer" in columns else None)
    return columns, rows


def _sidecar_beside(path: Path) -> Any:
    beside = path.with_name(f"{path.name}{_BESIDE}")
    return read_json(beside, "release") if is_there(beside) else None


def _check_unchanged(path: Path, sidecar: Any) -> None:
    """Compare a file with the digests that stand beside it: in the data package, and in the sidecar since 0.2."""
    told: list[tuple[str, str]] = []
    package = path.with_name(f"{path.name}.datapackage.json")
    if is_there(package):  # one that cannot be read is refused: it may hold another digest
        described = read_json(package, "release")
        resources = described.get("resources") if isinstance(described, Mapping) else None
        for resource in resources if isinstance(resources, list) else []:
            if isinstance(resource, Mapping) and resource.get("path") == path.name:
                kind, _, digest = str(resource.get("hash")).partition(":")
                told += [(package.name, digest)] if kind == "sha256" else []
    answers = sidecar.get("answers") if isinstance(sidecar, Mapping) else None
    if isinstance(answers, Mapping) and answers.get("sha256") is not None:
        told.append((f"{path.name}{_BESIDE}", str(answers["sha256"])))
    found = hashlib.sha256(path.read_bytes()).hexdigest() if told else ""
    for name, digest in told:
        if digest != found:
            rule = f"{path.name} is not as it was published: {name} holds another sha256"
            raise BadInput(
                "release",
                rule,
                "ask the publisher for both files; publishing the same again with force=True costs nothing",
            )


def _read(path: Path) -> tuple[list[str], list[list[Any]]]:
    ending = path.suffix.lower()
    if ending == ".parquet":
        return _read_parquet(path)
    if ending == ".json":
        found = read_json(path, "release")
        rows = found if isinstance(found, list) and all(isinstance(row, Mapping) for row in found) else []
        columns = list(rows[0]) if rows else ["answer"]
        return columns, [list(row.values()) if list(row) == columns else [] for row in rows]
    try:
        with path.open(newline="", encoding="utf-8") as file:
            columns, *lines = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise BadInput("release", f"cannot read {path.name} as CSV", "give a file that publish wrote") from None
    return list(map(as_written, columns)), [list(map(as_written, line)) for line in lines]


def _read_parquet(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Read within bounds: a few bytes can say that one value stands there a billion times."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names, told = file.schema_arrow.names, file.metadata
            rows = sum(told.row_group(place).num_rows for place in range(told.num_row_groups))
            nested = any(map(pyarrow.types.is_nested, file.schema_arrow.types))
        if nested or rows * len(names) > max(_MOST_VALUES, path.stat().st_size):
            rule = f"{path.name} holds lists, or more rows ({rows}) than are read from a file of its size"
            raise BadInput("release", rule, "give a file that publish wrote")
        # A text that stands there many times is held once.
        table = pyarrow.parquet.read_table(path, read_dictionary=names)
    except (OSError, pyarrow.ArrowException):
        raise BadInput("release", f"cannot read {path.name} as Parquet", "give a file that publish wrote") from None
    return table.column_names, list(map(list, zip(*map(_values, table.columns), strict=True)))


def _values(column: Any) -> list[Any]:
    found: list[Any] = []
    for chunk in column.chunks:
        listed = getattr(chunk, "dictionary", None)
        if listed is None:
            found += chunk.to_pylist()
        else:
            values = listed.to_pylist()
            found += [None if place is None else values[place] for place in chunk.indices.to_pylist()]
    return found
