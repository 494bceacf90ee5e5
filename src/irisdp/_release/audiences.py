"""Who gets an answer, how accurate, and from which mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._exact import parse_json, rational
from .._ledger import is_audience, same_audience
from .._measurements import USUAL_CONFIDENCE, Measurement
from .._queries import Query
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..mechanisms import guarantee_from_document
from ..privacy import Gaussian, Guarantee, Privacy, informative, too_private
from .options import QuestionOptions


@dataclass(frozen=True, slots=True)
class Audience:
    """Readers who share one release: a name, or None where there is only one audience, and what answers them."""

    name: str | None
    mechanism: Measurement[Any]


def read_levels(options: QuestionOptions, *, own: Guarantee | None = None) -> list[tuple[str | None, Guarantee]]:
    """Read what each audience's answers may reveal, the most accurate first.

    Exactly one of `epsilon`, `ratio`, `mu` and `privacy` is given, unless each `audience` has an ε of its own. With
    `mu`, or a `privacy` of several pairs, `delta` is not part of the guarantee. It selects the point of the curve that
    a ledger in (ε, δ) charges. A question that brings its `own` guarantee takes no other.
    """
    names = read_audiences(options, own=own is not None)
    if names and names[0][1] is None:
        ((_, level),) = read_levels({**options, "audience": None}, own=own)
        return [(name, level) for name, _ in names]
    audience, delta = names or None, options.get("delta", 0)
    epsilon, ratio, mu, privacy = (options.get(name) for name in ("epsilon", "ratio", "mu", "privacy"))
    told = {"epsilon": epsilon, "ratio": ratio, "mu": mu, "privacy": privacy}
    given = [name for name, value in told.items() if value is not None]
    if own is not None:
        curved = isinstance(own, Gaussian) or not own.single
        more = [*given, *(["audience"] if audience is not None else [])]
        more += [] if curved or rational(delta, "delta") == 0 else ["delta"]
        if more:
            raise BadInput(more[0], "is said by the mechanism file already", "leave it out")
        return [(None, _guarantee(own, delta))]
    if audience is not None:
        if given:
            raise BadInput("audience", "states epsilon already", f"leave out {given[0]}=")
        levels = [
            (name, informative(epsilon=rational(level, "audience"), delta=delta, field="audience"))
            for name, level in names
        ]
        return [(name, level) for name, level in sorted(levels, key=lambda level: -level[1].ratio)]
    if not given:
        raise BadInput("epsilon", "is missing", "add epsilon=1")
    if len(given) > 1:
        same = given == ["epsilon", "ratio"]
        rule = f"{'says the same as' if same else 'cannot be given with'} {given[1]}="
        raise BadInput(given[0], rule, "leave one of the two out")
    if mu is not None:
        return [(None, Gaussian(mu))]
    if privacy is not None:
        try:
            return [(None, _guarantee(privacy, delta))]
        except BadInput as error:
            if error.field in ("privacy", "delta"):
                raise
            raise BadInput("privacy", f"{error.field} {error.rule}", error.remedy) from None
    return [(None, informative(epsilon=epsilon, ratio=ratio, delta=delta))]


def _guarantee(privacy: Any, delta: Any) -> Guarantee:
    """Read a guarantee, or a document of one, or its JSON text."""
    document = parse_json(privacy, "privacy") if isinstance(privacy, str) else privacy
    if isinstance(document, Gaussian):
        return document
    _check_least(document)
    result = document if isinstance(document, Privacy) else guarantee_from_document(document)
    if isinstance(result, Gaussian):
        return result
    if result.single and rational(delta, "delta") != 0:
        raise BadInput("delta", "is said by privacy= already", "leave it out")
    if not _says_something(result):
        raise too_private("epsilon")
    return result


def chain_for(
    query: Query[Any], levels: Sequence[tuple[str | None, Guarantee]], graph: NeighbouringRelation
) -> list[Measurement[Any]] | None:
    """Return what answers audiences with names so that their answers form a chain; None where nothing does.

    Such noise has no use for a δ.

    References
    ----------
    proofs/audiences.md.
    """
    if levels[0][0] is None:
        return None
    from .._measurements import as_link  # here: it loads the noise of sums

    pure = [without_delta(level) for _, level in levels]
    if not all(map(_says_something, pure)):
        return None
    links = [as_link(query.mechanism(level, graph)) for level in pure]
    return None if any(link is None for link in links) else links


def answered_by(
    query: Query[Any],
    levels: Sequence[tuple[str | None, Guarantee]],
    graph: NeighbouringRelation,
    links: list[Measurement[Any]] | None,
    options: QuestionOptions,
    *,
    own: bool,
) -> tuple[Audience, ...]:
    """Return the audiences, each with what answers it: the links of a chain, or mechanisms of their own.

    Raises
    ------
    BadInput
        For what answers with noise alone though a δ is given. A query, or noise so wide, may have no use for that δ. A
        file has the guarantee it has of its `own`.
    """
    mechanisms = links or [query.mechanism(level, graph) for _, level in levels]
    if not own and not _says_something(mechanisms[-1].privacy):
        given = [name for name in ("ratio", "privacy", "audience") if options.get(name) is not None]
        field = given[0] if given else "epsilon"
        raise too_private(field, 1 if field == "ratio" else 0, " and this delta=")
    return tuple(Audience(name, mechanism) for (name, _), mechanism in zip(levels, mechanisms, strict=True))


def without_delta(guarantee: Guarantee) -> Guarantee:
    """Return what is left of a guarantee where something else takes a pair's δ, or nothing has a use for it."""
    return guarantee.pure if isinstance(guarantee, Privacy) and guarantee.single else guarantee


def _says_something(privacy: Guarantee) -> bool:
    """Tell whether an answer that keeps a guarantee may depend on the data."""
    return not (isinstance(privacy, Privacy) and privacy.single and privacy.ratio == 1 and privacy.delta == 0)


def _check_least(document: Any) -> None:
    """Refuse a pair below ε = 0 as one at 0 is."""
    if isinstance(document, Mapping):
        for name, least in (("epsilon", 0), ("ratio", 1)):
            if document.get(name) is not None and rational(document[name], name) < least:
                raise too_private(name, least)


def read_audiences(options: QuestionOptions, *, own: bool = False) -> list[tuple[str, Any]]:
    """Return the audiences of a question, each with its ε as it was written; without, where one is said for all."""
    audience: Any = options.get("audience")
    if audience is None:
        return []
    named: list[tuple[str, Any]] = []
    if isinstance(audience, Mapping):
        named = [(str(name), level) for name, level in audience.items()]
    else:
        for text in audience.split(",") if isinstance(audience, str) else audience:
            name, separator, level = str(text).partition("=")
            named.append((name.strip(), level if separator else None))
    bare = sum(level is None for _, level in named)
    stated = [name for name in ("epsilon", "ratio", "mu", "privacy", "within") if options.get(name) is not None]
    if bare and (bare < len(named) or not (stated or own)):
        remedy = "write for example audience=['press=0.5'], or names alone and one epsilon= for all"
        raise BadInput("audience", "must be NAME=E, each name once", remedy)
    if not named or not all(is_audience(name) for name, _ in named):
        raise BadInput(
            "audience", "must have names of letters, digits, - and _", "write for example audience=['press=0.5']"
        )
    first: dict[str | None, str] = {}
    for name, _ in named:
        other = first.setdefault(same_audience(name), name)
        if len(first) < len(named) and other is not name:
            spelt = "" if other == name else f" (as {other} and {name}: capitals make no other audience)"
            rule = f"names {name} twice{spelt}; must be NAME=E, each name once"
            raise BadInput("audience", rule, "leave one of the two out")
    return named


# How sure the ends beside an answer have to be.

_SUREST = 1 - Fraction(1, 10**12)
"""Far below it chances are enclosed, so it can always be told whether an end is as sure."""


def read_confidence(confidence: Any, *, alone: bool) -> Fraction:
    """Read a probability above 0 and below 1; the usual one, where none is given.

    Where it is not `alone`, but an ε is looked for that keeps it, that search says whether there is one.
    """
    if confidence is None:
        return USUAL_CONFIDENCE
    result = rational(confidence, "confidence")
    if not 0 < result < 1:
        raise BadInput("confidence", "must be above 0 and below 1", "write for example 0.95")
    if alone and result > _SUREST:
        raise BadInput("confidence", "must be at most 1 − 1e-12", "write for example 0.999")
    return result
