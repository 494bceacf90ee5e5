"""Convert the fields of the page Design to a spec of `irisdp design`: the same JSON that the command line reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import BadInput
from ..exact import integer, parse_json
from ..graphs import DatasetGraph
from .design_fields import FAMILIES, KINDS
from .loss_fields import loss_of
from .pasted import at_nodes, counted, graph_of_text, json_ready
from .results import Values

__all__ = ["Asked", "asked"]

_WHOLE = re.compile(r"-?\d{1,300}")


@dataclass(slots=True)
class Asked:
    """What is to be designed.

    Parameters
    ----------
    spec : dict
        As `irisdp.design.from_spec` reads it, and as its file has it.
    graph : DatasetGraph or None
        The graph in it.
    noticed : tuple of str
        What was left out on the way, in words.
    """

    spec: dict[str, Any]
    graph: DatasetGraph | None = None
    noticed: tuple[str, ...] = ()


Part = Callable[[Values, Asked], Any]
"""Reads one field of a spec from the form; None leaves it out."""


def asked(values: Values) -> Asked:
    """Return the spec that a form says.

    Raises
    ------
    BadInput
        With the name of the field.
    """
    kind = values["kind"]
    if kind == "spec":
        return _pasted_spec(values["spec"])
    if kind not in KINDS:
        raise BadInput("kind", "is not a kind of design", f"choose {', '.join(KINDS)}")
    found = Asked({"kind": kind})
    if KINDS[kind].graph:
        document, found.noticed = _graph(values)
        found.spec["graph"] = document
        found.graph = counted(document)
    for part in KINDS[kind].parts:
        value = _PARTS[part](values, found)
        if value is not None:
            found.spec[part] = value
    found.spec["privacy"] = _privacy(values)
    return found


def _number(text: str) -> int | str:
    """Return a number as JSON has it: an integer as one, anything else as exact text for `rational` to read."""
    said = text.strip()
    return int(said) if _WHOLE.fullmatch(said) else said


def _privacy(values: Values) -> dict[str, Any]:
    scale = "ratio" if values["scale"] == "ratio" else "epsilon"
    if not values[scale].strip():
        raise BadInput(scale, "is missing", "write for example 1" if scale == "epsilon" else "write for example 2")
    found: dict[str, Any] = {scale: _number(values[scale])}
    delta = _number(values["delta"])
    return found if delta in (0, "") else {**found, "delta": delta}


def _graph(values: Values) -> tuple[dict[str, Any], tuple[str, ...]]:
    family = values["family"]
    if not family:
        return graph_of_text(values["graph"])
    if family not in FAMILIES:
        raise BadInput("family", "is not a family of graphs", f"choose {', '.join(FAMILIES)}")
    document: dict[str, Any] = {"family": family}
    for size in FAMILIES[family][1]:
        said = values[f"family_{size}"].strip()
        if not said:
            raise BadInput(f"family_{size}", "is missing", "write a whole number")
        document[size] = said if size == "relation" else _number(said)
    try:
        counted(document)
    except BadInput as error:
        named = f"family_{error.field}" if error.field in FAMILIES[family][1] else error.field
        raise BadInput(named, error.rule, error.remedy) from None
    return document, ()


def _at_nodes(field: str, *, ranked: bool = False) -> Part:
    def read(values: Values, found: Asked) -> Any:
        assert found.graph is not None
        return at_nodes(values[field], found.graph, field, ranked=ranked)

    return read


def _boundary(values: Values, found: Asked) -> Any:
    """Return a word, a probability, or a JSON object; "balanced" is what is taken where nothing is said."""
    said = values["boundary"].strip()
    if said.startswith("{"):
        return json_ready(parse_json(said, "boundary"))
    return None if said in ("", "balanced") else _number(said)


def _needed(name: str) -> Part:
    def read(values: Values, found: Asked) -> Any:
        if not values[name].strip():
            raise BadInput(name, "is missing", "write a whole number")
        return _number(values[name])

    return read


def _optional(name: str) -> Part:
    return lambda values, found: _number(values[name]) if values[name].strip() else None


def _json(name: str) -> Part:
    def read(values: Values, found: Asked) -> Any:
        if not values[name].strip():
            return None
        value = json_ready(parse_json(values[name], name))
        if (name, found.spec["kind"]) in _OBJECTS:
            if not isinstance(value, dict):
                raise BadInput(name, "must be an object in JSON", 'write for example {"a": 1, "b": 2}')
        elif not isinstance(value, list):
            raise BadInput(name, "must be a list in JSON", "write for example [1, 2, 1]")
        return value

    return read


def _word(name: str, default: str) -> Part:
    return lambda values, found: None if values[name] == default else values[name]


def _loss(values: Values, found: Asked) -> Any:
    return _json("distance_loss")(values, found) if found.spec["kind"] == "distance" else loss_of(values)


def _side_information(values: Values, found: Asked) -> Any:
    most = found.spec["n"] if isinstance(found.spec["n"], int) else None
    bounds = {
        name: integer(values[name], name, at_least=0, at_most=most)
        for name in ("at_least", "at_most")
        if values[name].strip()
    }
    return bounds or None


def _outputs(values: Values, found: Asked) -> Any:
    said = values["outputs"].strip()
    if not said:
        return None
    return json_ready(parse_json(said, "outputs")) if said[0] == "[" else [part.strip() for part in said.split(",")]


_OBJECTS = {("weights", "rainbow")}
"""Parts in JSON, and kinds of design, that are objects with a key for each node; others are lists."""

_PARTS: dict[str, Part] = {
    "boundary": _boundary,
    "categories": _needed("categories"),
    "choices": _needed("choices"),
    "colors": _at_nodes("colors"),
    "k": _needed("k"),
    "largest": _optional("largest"),
    "loss": _loss,
    "n": _needed("n"),
    "n_blue": _needed("n_blue"),
    "n_red": _needed("n_red"),
    "objective": _word("objective", "average"),
    "outputs": _outputs,
    "prior": _json("prior"),
    "rankings": _at_nodes("rankings", ranked=True),
    "relation": _word("relation", "exchange"),
    "scores": _json("scores"),
    "side_information": _side_information,
    "ties": _word("ties", "any"),
    "total": _optional("total"),
    "weights": _json("weights"),
}


def _pasted_spec(text: str) -> Asked:
    """Read a whole spec; a graph in it is no larger than others here."""
    if not text.strip():
        raise BadInput("spec", "is empty", 'write for example {"kind": "geometric", "n": 3, "privacy": {"epsilon": 1}}')
    spec = json_ready(parse_json(text, "spec"))
    if not isinstance(spec, dict):
        raise BadInput("spec", "must be a JSON object", 'write {"kind": …, "privacy": …}')
    return Asked(spec, counted(spec["graph"]) if "graph" in spec else None)
