"""The fields of the page Design: kinds of designs, families of graphs, and the fields for each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._exact import integer, parse_json
from ..errors import BadInput
from ..graphs import DatasetGraph
from .common_fields import epsilon_field, known_field, loss_fields, loss_of, prior_field
from .forms import Field, When
from .graph_input import at_nodes, counted, graph_of_text, json_ready
from .results import Values


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of design: what it is for, whether it is about a graph, and the fields of its spec besides."""

    words: str
    graph: bool = False
    parts: tuple[str, ...] = ()


KINDS: dict[str, Kind] = {
    "binary": Kind("yes or no by node", True, ("colors", "boundary", "weights", "constraints")),
    "rainbow": Kind("nodes rank answers", True, ("rankings", "boundary", "weights", "constraints")),
    "distance": Kind("a node nearby", True, ("weights", "loss", "constraints")),
    "exponential": Kind("by scores", True, ("scores", "outputs", "prior")),
    "consumer": Kind(
        "a count, one reader", False, ("n", "loss", "side_information", "prior", "outputs", "constraints")
    ),
    "geometric": Kind("a count, for all", False, ("n",)),
    "randomized-response": Kind("a choice", False, ("choices",)),
    "balanced-line": Kind("yes or no", False, ("n_blue", "n_red")),
    "plurality": Kind("largest category", False, ("categories", "largest", "total", "relation", "ties", "objective")),
    "top": Kind("the k largest categories", False, ("k", "categories", "relation", "largest", "total")),
    "ranking": Kind("all categories", False, ("categories", "relation", "largest", "total")),
}
"""Kinds of designs, as `irisdp.design._specs` has them."""

FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "path": ("path: a count", ("n",)),
    "cycle": ("cycle", ("n",)),
    "complete": ("complete: all are neighbours", ("n",)),
    "hamming": ("words: one letter differs", ("length", "symbols")),
    "histograms": ("histograms of so many records", ("total", "types")),
    "sorted_histograms": ("histograms without names", ("total", "types")),
    "gaps": ("gaps behind the largest", ("categories", "largest", "relation")),
}
"""Families of graphs, as `irisdp.graphs._loading` has them, and their sizes."""

_LARGEST_COUNT = 100_000

_ON_GRAPHS = tuple(kind for kind, told in KINDS.items() if told.graph)


def _where(part: str) -> dict[str, tuple[str, ...]]:
    return {"kind": tuple(kind for kind, told in KINDS.items() if part in told.parts)}


def _count(
    part: str, label: str, low: int, high: int, *, default: str = "", help: str = "", most: int | None = None
) -> Field:
    return Field(
        name=part,
        label=label,
        kind="number",
        default=default,
        help=help,
        whole=True,
        low=low if default else None,
        high=high if default else None,
        most=most,
        when=_where(part),
    )


def _size(size: str, label: str, default: str, high: int) -> Field:
    families = tuple(family for family, (_, sizes) in FAMILIES.items() if size in sizes)
    return Field(
        name=f"family_{size}",
        label=label,
        kind="number",
        default=default,
        whole=True,
        low=1,
        high=high,
        when={"kind": _ON_GRAPHS, "family": families},
    )


def _neighbours(name: str, when: When) -> Field:
    return Field(
        name=name,
        label="Neighbours",
        kind="choice",
        default="exchange",
        choices=(("exchange", "one record is exchanged"), ("add-remove", "one record comes or goes")),
        when=when,
    )


DESIGN_FIELDS: tuple[Field, ...] = (
    Field(
        name="kind",
        label="Answer with",
        kind="choice",
        default="binary",
        choices=(*((kind, f"{kind}: {told.words}") for kind, told in KINDS.items()), ("spec", "JSON: any spec")),
    ),
    Field(
        name="spec",
        label="Spec",
        kind="area",
        example='{"kind": "geometric", "n": 3, "privacy": {"epsilon": 1}}',
        help="As irisdp design reads it from a file.",
        also=("*",),
        when={"kind": ("spec",)},
    ),
    Field(
        name="scale",
        label="Privacy as",
        kind="choice",
        default="epsilon",
        choices=(("epsilon", "ε"), ("ratio", "the ratio e^ε")),
        when={"kind": tuple(KINDS)},
    ),
    epsilon_field({"kind": tuple(KINDS), "scale": ("epsilon",)}),
    Field(
        name="ratio",
        label="Ratio",
        kind="number",
        default="2",
        low=1,
        high=50,
        logarithmic=True,
        when={"kind": tuple(KINDS), "scale": ("ratio",)},
    ),
    Field(name="delta", label="δ", kind="number", default="0", when={"kind": tuple(KINDS)}),
    Field(
        name="family",
        label="Graph",
        kind="choice",
        choices=(("", "pasted below"), *((family, words) for family, (words, _) in FAMILIES.items())),
        help="Its edges join inputs that must not be told apart: neighbours.",
        also=("graph", "nodes", "edges"),
        when={"kind": _ON_GRAPHS},
    ),
    Field(
        name="graph",
        label="Edges",
        kind="area",
        example="a b\nb c\nc d",
        help="A line for each edge (a b), each node and its neighbours (a: b c), each way (a -- b -- c), or JSON.",
        also=("nodes", "edges"),
        when={"kind": _ON_GRAPHS, "family": ("",)},
    ),
    _size("n", "Nodes", "8", 60),
    _size("length", "Letters in a word", "3", 8),
    _size("symbols", "Letters of the alphabet", "2", 6),
    _size("total", "Records", "4", 20),
    _size("types", "Types of records", "3", 8),
    _size("categories", "Categories", "3", 6),
    _size("largest", "Gaps from here on are one", "3", 20),
    _neighbours("family_relation", {"kind": _ON_GRAPHS, "family": ("gaps",)}),
    Field(
        name="colors",
        label="Colours: the true answers",
        kind="area",
        example="a: no\nb: no\n*: yes",
        help="A line for each node (a: no), for a range (0..3: no), for all others (*: yes), or JSON. Two colours.",
        when=_where("colors"),
    ),
    Field(
        name="rankings",
        label="Rankings: which answers are better",
        kind="area",
        example="a: x > y > z\n*: z > y > x",
        help="A line for each node (a: x > y), for a range (0..3: …), for all others (*: …), or JSON.",
        when=_where("rankings"),
    ),
    Field(
        name="boundary",
        label="Rows on the boundary",
        default="balanced",
        help="balanced; best (of rankings); a probability of the true answer (of colours); or rows as JSON.",
        when=_where("boundary"),
    ),
    Field(
        name="weights",
        label="Weights",
        kind="area",
        rows=3,
        help="JSON, may be left out. For a node near the true one a list, how likely each node is; else by node.",
        when=_where("weights"),
    ),
    _count("n", "Largest count", 1, 100, default="10", most=_LARGEST_COUNT),
    *loss_fields({"kind": ("consumer",)}),
    known_field("least", when=_where("side_information")),
    known_field("most", when=_where("side_information")),
    Field(
        name="distance_loss",
        label="Table of losses",
        kind="area",
        rows=3,
        help="JSON, may be left out: row i, column v is what node v costs where i is true. Else the distance.",
        also=("loss",),
        when={"kind": ("distance",)},
    ),
    Field(
        name="scores",
        label="Scores",
        kind="area",
        rows=3,
        help="JSON, may be left out: a row for each node, a column for each answer, higher is better. Else −distance.",
        when=_where("scores"),
    ),
    Field(
        name="outputs",
        label="Answers",
        help="May be left out. Of scores their names: a, b, c. Of a count whole numbers: -1, 0, 1, 2.",
        when=_where("outputs"),
    ),
    Field(
        name="constraints",
        label="Rules to meet",
        kind="area",
        rows=3,
        help='JSON, may be left out: for example ["unbiased", {"error_at_most": 5}].',
        when=_where("constraints"),
    ),
    prior_field(
        "JSON, may be left out: a list. Of a count, the probabilities of 0, 1, …; else a weight for each answer.",
        rows=3,
        when=_where("prior"),
    ),
    _count("n_blue", "Nodes on one side", 1, 30, default="4"),
    _count("n_red", "Nodes on the other side", 1, 30, default="4"),
    _count("choices", "Choices", 2, 20, default="4"),
    _count("k", "k", 1, 6, default="2"),
    _count("categories", "Categories", 2, 8, default="3"),
    _count("largest", "Largest gap or count told apart", 1, 10, help="May be left out."),
    _count("total", "Records", 1, 20, help="May be left out; inputs are then the counts of so many records."),
    _neighbours("relation", _where("relation")),
    Field(
        name="ties",
        label="Among the largest",
        kind="choice",
        default="any",
        choices=(("any", "any is right"), ("first", "the first is right")),
        when=_where("ties"),
    ),
    Field(
        name="objective",
        label="Make small",
        kind="choice",
        default="average",
        choices=(("average", "the mean error"), ("worst", "the largest error")),
        when=_where("objective"),
    ),
)


# Convert the fields of the page Design to a spec of `irisdp design`, as JSON for the command line.

_WHOLE = re.compile(r"-?\d{1,300}")


@dataclass(slots=True)
class DesignFormInput:
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


Part = Callable[[Values, DesignFormInput], Any]
"""Reads one field of a spec from the form; None leaves it out."""


def asked(values: Values) -> DesignFormInput:
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
    result = DesignFormInput({"kind": kind})
    if KINDS[kind].graph:
        document, result.noticed = _graph(values)
        result.spec["graph"] = document
        result.graph = counted(document)
    for part in KINDS[kind].parts:
        value = _PARTS[part](values, result)
        if value is not None:
            result.spec[part] = value
    result.spec["privacy"] = _privacy(values)
    return result


def _number(text: str) -> int | str:
    """Return a number as JSON has it: an integer as one, anything else as exact text for `rational` to read."""
    said = text.strip()
    return int(said) if _WHOLE.fullmatch(said) else said


def _privacy(values: Values) -> dict[str, Any]:
    scale = "ratio" if values["scale"] == "ratio" else "epsilon"
    if not values[scale].strip():
        raise BadInput(scale, "is missing", "write for example 1" if scale == "epsilon" else "write for example 2")
    privacy: dict[str, Any] = {scale: _number(values[scale])}
    delta = _number(values["delta"])
    return privacy if delta in (0, "") else {**privacy, "delta": delta}


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
    def read(values: Values, form_input: DesignFormInput) -> Any:
        assert form_input.graph is not None
        return at_nodes(values[field], form_input.graph, field, ranked=ranked)

    return read


def _boundary(values: Values, form_input: DesignFormInput) -> Any:
    """Return a word, a probability, or a JSON object; "balanced" is what is taken where nothing is said."""
    said = values["boundary"].strip()
    if said.startswith("{"):
        return json_ready(parse_json(said, "boundary"))
    return None if said in ("", "balanced") else _number(said)


def _needed(name: str) -> Part:
    def read(values: Values, form_input: DesignFormInput) -> Any:
        if not values[name].strip():
            raise BadInput(name, "is missing", "write a whole number")
        return _number(values[name])

    return read


def _optional(name: str) -> Part:
    return lambda values, form_input: _number(values[name]) if values[name].strip() else None


def _json(name: str) -> Part:
    def read(values: Values, form_input: DesignFormInput) -> Any:
        if not values[name].strip():
            return None
        value = json_ready(parse_json(values[name], name))
        if (name, form_input.spec["kind"]) in _OBJECTS:
            if not isinstance(value, dict):
                raise BadInput(name, "must be an object in JSON", 'write for example {"a": 1, "b": 2}')
        elif not isinstance(value, list):
            raise BadInput(name, "must be a list in JSON", "write for example [1, 2, 1]")
        return value

    return read


def _word(name: str, default: str) -> Part:
    return lambda values, form_input: None if values[name] == default else values[name]


def _loss(values: Values, form_input: DesignFormInput) -> Any:
    return _json("distance_loss")(values, form_input) if form_input.spec["kind"] == "distance" else loss_of(values)


def _side_information(values: Values, form_input: DesignFormInput) -> Any:
    most = form_input.spec["n"] if isinstance(form_input.spec["n"], int) else None
    bounds = {
        name: integer(values[name], name, at_least=0, at_most=most)
        for name in ("at_least", "at_most")
        if values[name].strip()
    }
    return bounds or None


def _outputs(values: Values, form_input: DesignFormInput) -> Any:
    said = values["outputs"].strip()
    if not said:
        return None
    return json_ready(parse_json(said, "outputs")) if said[0] == "[" else [part.strip() for part in said.split(",")]


_OBJECTS = {("weights", "rainbow"), ("weights", "binary")}
"""Parts in JSON, and kinds of design, that are objects with a key for each node; others are lists."""

_PARTS: dict[str, Part] = {
    "boundary": _boundary,
    "categories": _needed("categories"),
    "choices": _needed("choices"),
    "colors": _at_nodes("colors"),
    "constraints": _json("constraints"),
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


def _pasted_spec(text: str) -> DesignFormInput:
    """Read a whole spec; a graph in it is no larger than others here."""
    if not text.strip():
        raise BadInput("spec", "is empty", 'write for example {"kind": "geometric", "n": 3, "privacy": {"epsilon": 1}}')
    spec = json_ready(parse_json(text, "spec"))
    if not isinstance(spec, dict):
        raise BadInput("spec", "must be a JSON object", 'write {"kind": …, "privacy": …}')
    return DesignFormInput(spec, counted(spec["graph"]) if "graph" in spec else None)
