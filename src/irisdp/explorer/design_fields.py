"""The fields of the page Design: kinds of designs, families of graphs, and the fields for each."""

from __future__ import annotations

from dataclasses import dataclass

from .forms import Field, When
from .loss_fields import loss_fields
from .shared_fields import epsilon_field, known_field, prior_field

__all__ = ["DESIGN_FIELDS", "FAMILIES", "KINDS", "Kind"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of design: what it is for, whether it is about a graph, and the fields of its spec besides."""

    words: str
    graph: bool = False
    parts: tuple[str, ...] = ()


KINDS: dict[str, Kind] = {
    "binary": Kind("yes or no by node", True, ("colors", "boundary")),
    "rainbow": Kind("nodes rank answers", True, ("rankings", "boundary", "weights")),
    "distance": Kind("a node nearby", True, ("weights", "loss")),
    "exponential": Kind("by scores", True, ("scores", "outputs", "prior")),
    "consumer": Kind("a count, one reader", False, ("n", "loss", "side_information", "prior")),
    "geometric": Kind("a count, for all", False, ("n",)),
    "randomized-response": Kind("a choice", False, ("choices",)),
    "balanced-line": Kind("yes or no", False, ("n_blue", "n_red")),
    "plurality": Kind("largest category", False, ("categories", "largest", "total", "relation", "ties", "objective")),
    "top": Kind("the k largest categories", False, ("k", "categories", "relation", "largest", "total")),
    "ranking": Kind("all categories", False, ("categories", "relation", "largest", "total")),
}
"""Kinds of designs, as `irisdp.design.specs` has them."""

FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "path": ("path: a count", ("n",)),
    "cycle": ("cycle", ("n",)),
    "complete": ("complete: all are neighbours", ("n",)),
    "hamming": ("words: one letter differs", ("length", "symbols")),
    "histograms": ("histograms of so many records", ("total", "types")),
    "sorted_histograms": ("histograms without names", ("total", "types")),
    "gaps": ("gaps behind the largest", ("categories", "largest", "relation")),
}
"""Families of graphs, as `irisdp.graphs.documents` has them, and their sizes."""

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
        help="JSON, may be left out. For a node near the true one a list, how likely each node is.",
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
    Field(name="outputs", label="Names of the answers", help="Only with scores: a, b, c.", when=_where("outputs")),
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
