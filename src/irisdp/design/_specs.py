"""From a spec, as JSON has it, to the design it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._exact import checked
from ..errors import BadInput
from ..graphs import colours_by_key, graph_from_document
from ..mechanisms import FactoredMechanism, Mechanism, privacy_from_document
from ..privacy import Privacy
from ._binary import binary
from ._closed_forms import balanced_line, geometric, randomized_response
from ._consumer_optimal import consumer
from ._distance import distance
from ._exponential_rate import exponential
from ._plurality import winner
from ._rainbow import rainbow
from ._rankings import ranking, top

Fields = Mapping[str, Any]

Design = Mechanism | FactoredMechanism


@checked
def from_spec(document: Any) -> Design:
    """Design what a spec asks for.

    Parameters
    ----------
    document : dict
        "kind", "privacy", and the fields of the kind; numbers as JSON has them or as exact text.

    Returns
    -------
    Mechanism or FactoredMechanism
        As the design function of that kind returns it.

    Raises
    ------
    BadInput
        For a kind or field that is unknown, missing or malformed.
    Infeasible
        When no mechanism satisfies the spec.

    Examples
    --------
    >>> from_spec({"kind": "consumer", "n": 3, "loss": "absolute", "privacy": {"ratio": 4}}).objective.value
    Fraction(168, 415)
    """
    if not isinstance(document, Mapping):
        raise BadInput("spec", "must be a JSON object", 'write {"kind": …, "privacy": …}')
    kind = document.get("kind")
    if kind is None and isinstance(document.get("format"), str):
        rule = f"is {document['format'][:60]}, and no spec, which says what to design"
        raise BadInput("spec", rule, 'write {"kind": …, "privacy": …}')
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadInput("kind", "is not a kind of design", f"choose {', '.join(sorted(KINDS))}")
    design, required, optional = KINDS[kind]
    needed = {"kind", "privacy", *required}
    if missing := sorted(needed - set(document)):
        raise BadInput(missing[0], f"is missing from the {kind} spec", f"write {', '.join(sorted(needed))}")
    if set(document) - needed - optional:
        known = ", ".join(sorted(needed | optional))
        raise BadInput("spec", f"has a field that a {kind} spec does not know", f"write {known} only")
    return design(document, privacy_from_document(document["privacy"]))


def _balanced_line(fields: Fields, privacy: Privacy) -> Design:
    return balanced_line(fields["n_blue"], fields["n_red"], privacy)


def _binary(fields: Fields, privacy: Privacy) -> Design:
    graph = graph_from_document(fields["graph"])
    colors = colours_by_key(graph, fields["colors"])
    return binary(graph, colors, privacy, **_chosen(fields, "boundary", "weights", "constraints"))


def _consumer(fields: Fields, privacy: Privacy) -> Design:
    chosen = _chosen(fields, "side_information", "prior", "outputs", "constraints")
    return consumer(fields["n"], fields["loss"], privacy, **chosen)


def _distance(fields: Fields, privacy: Privacy) -> Design:
    graph = graph_from_document(fields["graph"])
    return distance(graph, privacy, **_chosen(fields, "weights", "loss", "constraints"))


def _exponential(fields: Fields, privacy: Privacy) -> Design:
    graph = graph_from_document(fields["graph"])
    return exponential(graph, privacy, **_chosen(fields, "scores", "outputs", "prior"))


def _geometric(fields: Fields, privacy: Privacy) -> Design:
    return geometric(fields["n"], privacy)


def _plurality(fields: Fields, privacy: Privacy) -> Design:
    return winner(
        fields["categories"],
        privacy,
        largest=fields.get("largest"),
        total=fields.get("total"),
        relation=fields.get("relation", "exchange"),
        ties=fields.get("ties", "any"),
        objective=fields.get("objective", "average"),
    )


def _rainbow(fields: Fields, privacy: Privacy) -> Design:
    graph = graph_from_document(fields["graph"])
    rankings = colours_by_key(graph, fields["rankings"], "rankings")
    return rainbow(graph, rankings, privacy, **_chosen(fields, "boundary", "weights", "constraints"))


def _randomized_response(fields: Fields, privacy: Privacy) -> Design:
    return randomized_response(fields["choices"], privacy)


def _ranking(fields: Fields, privacy: Privacy) -> Design:
    return ranking(fields["categories"], privacy, **_chosen(fields, "relation", "largest", "total"))


def _top(fields: Fields, privacy: Privacy) -> Design:
    return top(fields["k"], fields["categories"], privacy, **_chosen(fields, "relation", "largest", "total"))


def _chosen(fields: Fields, *names: str) -> dict[str, Any]:
    """Return the optional fields that are there."""
    return {name: fields[name] for name in names if name in fields}


KINDS: dict[str, tuple[Callable[[Fields, Privacy], Design], set[str], set[str]]] = {
    "balanced-line": (_balanced_line, {"n_blue", "n_red"}, set()),
    "binary": (_binary, {"graph", "colors"}, {"boundary", "weights", "constraints"}),
    "consumer": (_consumer, {"n", "loss"}, {"side_information", "prior", "outputs", "constraints"}),
    "distance": (_distance, {"graph"}, {"weights", "loss", "constraints"}),
    "exponential": (_exponential, {"graph"}, {"scores", "outputs", "prior"}),
    "geometric": (_geometric, {"n"}, set()),
    "plurality": (_plurality, {"categories"}, {"largest", "total", "relation", "ties", "objective"}),
    "rainbow": (_rainbow, {"graph", "rankings"}, {"boundary", "weights", "constraints"}),
    "randomized-response": (_randomized_response, {"choices"}, set()),
    "ranking": (_ranking, {"categories"}, {"relation", "largest", "total"}),
    "top": (_top, {"k", "categories"}, {"relation", "largest", "total"}),
}
"""Kind → what designs it, the fields it needs besides "privacy", and those it may have."""
