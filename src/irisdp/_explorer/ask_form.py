"""The fields of the page Ask, and the question they form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._exact import integer, rational, rational_text
from ..errors import BadInput
from .common_fields import epsilon_field
from .form_errors import check_length
from .forms import Field
from .results import Values

COUNT, HISTOGRAM, AT_LEAST, MAJORITY = "count", "histogram", "at-least", "majority"
PLURALITY, MEDIAN, SUM, MEAN = "plurality", "median", "sum", "mean"
_ALONE = (MEDIAN, MEAN)
"""Questions whose error cannot be asked for."""
_WITH_DISTANCE = (COUNT, HISTOGRAM, AT_LEAST, MAJORITY, PLURALITY, SUM)
_MOST_CATEGORIES, _LARGEST_SIZE, _LARGEST_BOUND, _FARTHEST = 12, 10**9, 100_000, 100_000
_LEAST_EPSILON, _LARGEST_EPSILON = Fraction(1, 1000), 50

FIELDS = (
    Field(
        name="query",
        label="Question",
        kind="choice",
        default=COUNT,
        choices=(
            (COUNT, "How many records?"),
            (HISTOGRAM, "How many in each category?"),
            (AT_LEAST, "Are there at least K records?"),
            (MAJORITY, "More often true than false?"),
            (PLURALITY, "Which category is largest?"),
            (MEDIAN, "In which bin is the median?"),
            (SUM, "What is the sum?"),
            (MEAN, "What is the mean?"),
        ),
    ),
    Field(
        name="size",
        label="Size of the group",
        unit="records",
        kind="number",
        default="200",
        low=10,
        high=100_000,
        logarithmic=True,
        whole=True,
    ),
    Field(
        name="threshold",
        label="K",
        unit="records",
        kind="number",
        default="190",
        low=1,
        high=1000,
        whole=True,
        when={"query": (AT_LEAST,)},
    ),
    Field(
        name="categories",
        label="How many categories or bins",
        kind="number",
        default="4",
        low=2,
        high=_MOST_CATEGORIES,
        whole=True,
        when={"query": (HISTOGRAM, PLURALITY, MEDIAN)},
    ),
    Field(
        name="lead",
        label="The true answer leads by",
        unit="records",
        kind="number",
        default="10",
        low=0,
        high=100,
        whole=True,
        when={"query": (MAJORITY, PLURALITY, MEDIAN)},
    ),
    Field(name="lower", label="Values are at least", kind="number", default="0", when={"query": (SUM, MEAN)}),
    Field(name="upper", label="Values are at most", kind="number", default="100", when={"query": (SUM, MEAN)}),
    Field(
        name="step",
        label="Values count to the nearest",
        kind="number",
        default="1",
        help="0.01 keeps cents. Both bounds are multiples of it.",
        when={"query": (SUM, MEAN)},
    ),
    Field(
        name="relation",
        label="Protected is",
        kind="choice",
        default="add-remove",
        choices=(
            ("add-remove", "who is in the table"),
            ("exchange", "what a record says"),
        ),
        help="The second takes the size of the table as public.",
    ),
    Field(
        name="by",
        label="Say",
        kind="choice",
        default="within",
        choices=(("within", "the error: find the least ε"), ("epsilon", "the privacy ε: find the error")),
        when={"query": _WITH_DISTANCE},
    ),
    epsilon_field(({"by": ("epsilon",)}, {"query": _ALONE})),
    Field(
        name="within",
        label="Off by at most",
        kind="number",
        default="5",
        low=1,
        high=100,
        whole=True,
        fractions=True,
        help="Of yes or no, and of names: right wherever so many records more or less change nothing.",
        when={"by": ("within",), "query": _WITH_DISTANCE},
    ),
    Field(
        name="confidence",
        label="In how many of all answers",
        kind="number",
        default="0.95",
        low=0.5,
        high=0.999,
        when={"by": ("within",), "query": _WITH_DISTANCE},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFormInput:
    """A question to plan, and the group that it is about.

    Attributes
    ----------
    words : tuple of str
        The query and what follows it, as `irisdp publish` takes them.
    options : mapping
        The options of `irisdp.plan`, as text.
    size, distance : int
        How many records the group has; how far its truth is from another, where answers are names.
    categories : int
    """

    words: tuple[str, ...]
    options: dict[str, Any]
    size: int
    distance: int
    categories: int

    @property
    def query(self) -> str:
        """The query's name."""
        return self.words[0]


def read_asked(values: Values) -> AskFormInput:
    """Read what was said; numbers that would keep the page waiting are left to the command line.

    Raises
    ------
    BadInput
        For what is no such number, or lies too far out.
    """
    query = _one_of("query", values)
    size = _whole("size", values, at_least=1)
    relation = _one_of("relation", values)
    options: dict[str, Any] = {} if relation == "add-remove" else {"relation": relation}
    words: tuple[str, ...] = (query,)
    distance, categories = 0, 1
    if query in (HISTOGRAM, PLURALITY, MEDIAN):
        categories = _whole("categories", values, at_least=2, at_most=_MOST_CATEGORIES)
        words = (query, "value" if query == MEDIAN else "category")
        options |= _declared(query, categories)
    if query in (MAJORITY, PLURALITY, MEDIAN):
        distance = _whole("lead", values)
    if query == MAJORITY:
        words = (query, "value = 1")
    elif query == AT_LEAST:
        threshold = _whole("threshold", values, at_least=1)
        words = (query, str(threshold))
        distance = size - threshold if size >= threshold else threshold - 1 - size
    elif query in (SUM, MEAN):
        words = (query, "value")
        options |= {name: _bound(name, values) for name in ("lower", "upper")}
        options["step"] = _short("step", values)
    options |= _how_accurate(values)
    return AskFormInput(words=words, options=options, size=size, distance=distance, categories=categories)


def _declared(query: str, categories: int) -> dict[str, str]:
    if query == MEDIAN:
        return {"bins": ",".join(str(edge) for edge in range(1, categories))}
    return {"categories": ",".join(f"c{number}" for number in range(1, categories + 1))}


def _how_accurate(values: Values) -> dict[str, str]:
    by = "epsilon" if values["query"] in _ALONE else _one_of("by", values)
    asked = _short(by, values)
    if by == "epsilon":
        if not _LEAST_EPSILON <= rational(asked, by) <= _LARGEST_EPSILON:
            rule = f"must be from {rational_text(_LEAST_EPSILON)} to {_LARGEST_EPSILON} here"
            raise BadInput(by, rule, "use the command line for others")
        return {by: asked}
    if rational(asked, by) > _FARTHEST:
        raise BadInput(by, f"must be at most {_FARTHEST:,} here", "use the command line for larger ones")
    return {by: asked, "confidence": _short("confidence", values)}


def _bound(name: str, values: Values) -> str:
    written = _short(name, values)
    if abs(rational(written, name)) > _LARGEST_BOUND:
        rule = f"must be from -{_LARGEST_BOUND:,} to {_LARGEST_BOUND:,} here"
        raise BadInput(name, rule, "use the command line for others")
    return written


def _whole(name: str, values: Values, *, at_least: int = 0, at_most: int = _LARGEST_SIZE) -> int:
    return integer(_short(name, values), name, at_least=at_least, at_most=at_most)


def _short(name: str, values: Values) -> str:
    """Return a number as it was written, unless its digits alone would take long."""
    text = values[name].strip()
    check_length(name, text)
    return text


def _one_of(name: str, values: Values) -> str:
    field = next(field for field in FIELDS if field.name == name)
    known = [key for key, _ in field.choices]
    if values[name] not in known:
        raise BadInput(name, "is not one of the choices", f"choose from {', '.join(known)}")
    return values[name]
