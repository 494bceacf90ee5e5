"""The fields of one question of a plan, whatever its query; `question_form` makes a question of their values."""

from __future__ import annotations

import re
from typing import Any

from .._options import COLUMN_CHOICES, OPTIONS
from .._queries.registry import FORM_OF, FORMS
from .common_fields import epsilon_field
from .forms import Field

_ALL = tuple(FORM_OF)
WITH_PRIVACY = tuple(name for name in _ALL if name != "apply")
"""Queries whose privacy the question says: a mechanism file brings its own."""
_HELP = {option.name: option.help for option in OPTIONS}

SHARE, EPSILON, WITHIN, AUDIENCES, OTHER = "share", "epsilon", "within", "audiences", "other"
"""How a question says its accuracy: the values of the field ``accuracy``."""

LISTED, SELECTED = "listed", "selected"
GUARANTEES = ("epsilon", "ratio", "mu", "privacy", "within")


def taking(option: str) -> tuple[str, ...]:
    """Return the queries that take an option of a column; a mechanism file may be about categories or bins."""
    queries = tuple(re.split(r", | and ", COLUMN_CHOICES[option]))
    return (*queries, "apply") if option in ("categories", "bins") else queries


def _column_number(name: str, label: str, *, example: str = "", help: str = "") -> Field:
    return Field(
        name=name,
        label=label,
        kind="number",
        example=example,
        help=help or _HELP[name],
        when={"query": taking(name)},
    )


def _number_in_query(name: str, query: tuple[str, ...], label: str, example: str, **more: Any) -> Field:
    needed = name != "sizes"
    return Field(name=name, label=label, kind="number", example=example, needed=needed, when={"query": query}, **more)


FIELDS: tuple[Field, ...] = (
    Field(
        name="query",
        label="Question",
        kind="choice",
        default="count",
        choices=tuple((form.name, f"{form.name}: {form.answer}") for form in FORMS),
    ),
    Field(
        name="mechanism",
        label="Mechanism file",
        example="mechanism.json",
        help="Lies beside the plan. It brings its own privacy.",
        needed=True,
        when={"query": ("apply",)},
    ),
    _number_in_query(
        "threshold", ("at-least", "at-most"), "K", "100", unit="records", whole=True, most=2**62, also=("K",)
    ),
    Field(
        name="thresholds",
        label="Bands begin at",
        unit="records",
        example="10, 100, 1000",
        needed=True,
        when={"query": ("band",)},
    ),
    _number_in_query("quantile", ("quantile",), "Quantile", "0.9", help="0.5 is the median.", also=("P",)),
    Field(
        name="quantiles",
        label="Quantiles",
        example="0.25, 0.5, 0.75",
        also=("quantile",),
        needed=True,
        when={"query": ("quantiles",)},
    ),
    _number_in_query("largest", ("top",), "How many of the largest", "3", whole=True, also=("K",)),
    _number_in_query(
        "sizes", ("sizes",), "How many sizes", "10", whole=True, help="May be left out: all sizes.", also=("K",)
    ),
    Field(
        name="column",
        label="Column",
        also=("query", "about"),
        help="A column, or a name and an expression: pay = hours * rate.",
        when={"query": tuple(form.name for form in FORMS if "COLUMN" in form.usage)},
    ),
    Field(
        name="condition",
        label="Condition",
        kind="area",
        rows=2,
        example="age > 64 AND town = 'Ely'",
        help="In SQL. Only records that meet it count; leave it empty for all records.",
        also=("expression", "where"),
    ),
    Field(
        name="categories",
        label="Categories",
        kind="area",
        rows=2,
        example="A, B, C",
        help="All that may be answered, separated by commas, or a CSV file. If empty, those of the project file.",
        when={"query": taking("categories")},
    ),
    Field(
        name="bins",
        label="Edges between bins",
        example="18, 40, 65",
        help="Numbers or dates. The first and the last bin are open.",
        when={"query": taking("bins")},
    ),
    _column_number("lower", "Values are at least", example="0", help="A smaller value counts as this."),
    _column_number("upper", "Values are at most", example="100", help="A larger value counts as this."),
    _column_number(
        "step",
        "Values count to the nearest",
        example="1",
        help="0.01 keeps cents. May be left out of a column of whole numbers.",
    ),
    _column_number("missing", "A record without a number counts as", help="If empty, such records are left out."),
    Field(name="weight", label="Weight column", help=_HELP["weight"], when={"query": taking("weight")}),
    _column_number("weight_upper", "Weights are at most", help="With a weight column: a larger weight counts as this."),
    Field(
        name="grouped",
        label="An answer for each group",
        kind="choice",
        choices=(
            ("", "no, one answer for all"),
            (LISTED, "yes, of groups that are listed"),
            (SELECTED, "yes, and discover the groups privately"),
        ),
        also=("select_groups",),
    ),
    Field(
        name="by",
        label="Group columns",
        kind="area",
        rows=1,
        example="ward, sex",
        help="Separated by commas. NAME = EXPRESSION makes a column, such as year = YEAR(born).",
        needed=True,
        when={"grouped": (LISTED, SELECTED)},
    ),
    Field(
        name="groups",
        label="Groups",
        kind="area",
        rows=3,
        example="north, east, south",
        help="Separated by commas, or a CSV file. Of several columns write a line for each, such as sex=f,m. "
        "If empty, those of the project file.",
        when={"grouped": (LISTED,)},
    ),
    *(
        Field(
            name=f"selection_{name}",
            label=f"{letter} for discovering groups",
            kind="number",
            help=help,
            when={"grouped": (SELECTED,)},
        )
        for name, letter, help in (
            ("epsilon", "ε", "If empty, the ε of the answers."),
            ("delta", "δ", "If empty, all of δ below."),
        )
    ),
    Field(
        name="persons",
        label="Records of one person",
        kind="choice",
        choices=(
            ("", "as the project file says"),
            ("at_most", "keep some of each person's records"),
            ("per_unit", "each person counts once, by all of their records"),
            ("person", "make one row of each person's records"),
            ("total", "bound each person's total (sum)"),
        ),
        help="The project file, or the plan, names the column that identifies a person. Without one, each record is "
        "a person.",
        also=("unit",),
    ),
    Field(
        name="at_most",
        label="Keep of each person at most",
        unit="records",
        kind="number",
        whole=True,
        example="1",
        help="Chosen at random. More records leave out less and need more noise.",
        also=("max_contributions",),
        needed=True,
        when={"persons": ("at_most",)},
    ),
    Field(
        name="groups_per_unit",
        label="In at most",
        unit="groups",
        kind="number",
        whole=True,
        help="May be left out.",
        also=("max_partitions",),
        when={"persons": ("at_most",)},
    ),
    Field(
        name="per_unit",
        label="A person meets the condition if",
        kind="choice",
        default="any",
        choices=(("any", "any of their records does"), ("all", "all of their records do")),
        when={"persons": ("per_unit",)},
    ),
    Field(
        name="person",
        label="The row of a person",
        kind="area",
        rows=2,
        example="visits = COUNT(*), spent = SUM(amount)",
        help="The question and its condition then speak of these names.",
        needed=True,
        when={"persons": ("person",)},
    ),
    Field(
        name="per_person_upper",
        label="A person's total is at most",
        kind="number",
        help="A larger total counts as this.",
        needed=True,
        when={"persons": ("total",), "query": taking("per_person_upper")},
    ),
    Field(
        name="accuracy",
        label="Privacy and accuracy",
        kind="choice",
        default=SHARE,
        choices=(
            (SHARE, "a share of the budget"),
            (EPSILON, "an ε of its own"),
            (WITHIN, "a wanted error"),
            (AUDIENCES, "an ε for each audience"),
            (OTHER, "as “More options” say: ratio, mu, privacy"),
        ),
        when={"query": WITH_PRIVACY},
    ),
    epsilon_field({"query": WITH_PRIVACY, "accuracy": (EPSILON,)}),
    Field(
        name="within",
        label="Off by at most",
        kind="number",
        example="5",
        help="Iris finds the least ε. Of yes or no, and of names: right wherever so many records change nothing.",
        needed=True,
        when={"query": WITH_PRIVACY, "accuracy": (WITHIN,)},
    ),
    Field(
        name="records",
        label="If at least so many records have a value",
        unit="records",
        kind="number",
        whole=True,
        help="An assumption for planning; the data are not asked.",
        when={"query": ("mean",), "accuracy": (WITHIN,)},
    ),
    Field(
        name="audience",
        label="Audiences",
        example="board, press",
        help="May be left out: the answer is for everybody. With an ε each: board=2, press=0.5.",
    ),
    Field(
        name="delta",
        label="δ",
        kind="number",
        example="0",
        help="Needed to discover groups; else it may be left out.",
        when={"query": WITH_PRIVACY},
    ),
    Field(
        name="confidence",
        label="Confidence level",
        kind="number",
        example="0.95",
        help="Of the intervals, and of a wanted error. If empty, 0.95.",
    ),
    Field(name="name", label="Name", help="How you find the question again; may be left out."),
    Field(name="title", label="Title for readers", help="The heading of its report."),
    Field(
        name="out",
        label="Write the answers to",
        example="answers.csv",
        help="A name ending in .csv, .parquet or .json.",
    ),
    Field(name="report", label="Write a report to", example="report.html", help="A page for readers, ending in .html."),
    Field(
        name="more",
        label="More options",
        kind="area",
        rows=2,
        example="public_membership = true",
        help="One option a line, as in a plan file.",
        also=("*",),
    ),
)
"""All fields, in the order of the form."""

FIELD = {field.name: field for field in FIELDS}
IN_QUERY = {
    "threshold": ("at-least", "at-most"),
    "thresholds": ("band",),
    "quantile": ("quantile",),
    "quantiles": ("quantiles",),
    "largest": ("top",),
    "sizes": ("sizes",),
}
"""Fields of the numbers after the name of a query."""
TEXTS = ("weight", "name", "title", "out", "report")
LONG_TEXTS = ("person",)
LISTS = ("by", "groups", "categories", "bins")
NUMBERS = tuple(field.name for field in FIELDS if field.kind == "number" and field.name not in IN_QUERY)
KEYS_OF_FIELDS = (*LISTS, *TEXTS, *LONG_TEXTS, *NUMBERS, "per_unit", "audience")
"""Fields that are named as the key of a question that they say."""
