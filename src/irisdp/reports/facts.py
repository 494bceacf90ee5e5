"""Read a release file as if from a stranger: every fact in a report must have its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..accounting import Charge, ConcentratedCost, Cost, GaussianCost
from ..errors import BadInput
from ..exact import integer, rational
from ..mechanisms import guarantee_from_document
from ..privacy import Guarantee
from ..queries import Relation

__all__ = ["Batch", "Facts", "facts_of"]

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
    relation: Relation
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
    query = _texts(sidecar.get("query"), "query")
    relation = sidecar.get("relation")
    if "query" not in query or not isinstance(relation, str) or relation not in list(Relation):
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
        derived=_texts(sidecar.get("derived") or {}, "derived"),
        groups=None if groups is None else _mapping(groups, "groups"),
        categories=None if categories is None else _mapping(categories, "categories"),
        bins=None if sidecar.get("bins") is None else _list(sidecar["bins"], "bins"),
        said={name: _text(sidecar[name], name) for name in _SAID if sidecar.get(name) is not None},
        weight=None if sidecar.get("weight") is None else _texts(sidecar["weight"], "weight"),
        relation=Relation(relation),
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


def _texts(value: Any, name: str) -> Mapping[str, str]:
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
