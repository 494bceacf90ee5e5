"""Messages about an invalid condition or value, or one with a construct that neither may hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from ..errors import BadInput
from .columns import Column, Kind, find_column, list_names
from .kinds import TypeVariable

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["named_column", "refuse_construct", "refuse_fraction", "refuse_no_value", "refuse_value", "words_of"]

_EXAMPLES = {Kind.NUMBER: "> 0", Kind.TEXT: "= 'yes'", Kind.DATE: ">= '2024-12-31'"}


def refuse_value(variable: TypeVariable) -> NoReturn:
    """Refuse what is a value and no condition: most often the shell took the rest of one that was not quoted."""
    columns, kind = variable.columns, variable.stated
    if not columns:
        raise BadInput("expression", "is a value, not a condition", 'write a whole condition, such as "age > 0"')
    held = "and nothing says that it is true or false" if kind is None else f"which holds {kind}"
    rule = f"only names the column {list_names(columns)}, {held}"
    # As a number, text such as true is unknown, and the count would be 0: only numbers are compared with one.
    if kind is None:
        either = f'"lower({columns[0]}) = \'true\'", or "{columns[0]} > 64" if it holds numbers'
        remedy = f"write a whole condition, such as {either}"
    else:
        remedy = f'write a whole condition, such as "{columns[0]} {_EXAMPLES.get(kind, "IS NULL")}"'
    raise BadInput("expression", rule, remedy)


def refuse_no_value(variable: TypeVariable) -> NoReturn:
    """Refuse to group by what is one value for everybody, or no value."""
    columns = variable.columns
    rule = f"only names the column {list_names(columns)}, which is {variable.kind}" if columns else "names no column"
    raise BadInput("expression", rule, "group by text, numbers or dates")


def refuse_fraction(column: str) -> NoReturn:
    """Refuse to group by a number that the schema does not say is whole: rounding would decide which are one group."""
    rule = "is a number that need not be whole, as far as the schema says"
    raise BadInput(
        "expression", rule, f"write FLOOR({column} / 10) * 10, or CASE WHEN {column} < 18 THEN 'child' … END"
    )


def named_column(node: exp.Column, columns: Sequence[Column]) -> Column:
    """Return the column that a condition names; an unknown name in double quotes was most often meant as text."""
    try:
        return find_column(node.name, columns, "expression")
    except BadInput as error:
        if not node.this.args.get("quoted"):
            raise
        remedy = f"text is written in single quotes, '{node.name}'; of the columns, {error.remedy}"
        raise BadInput("expression", error.rule, remedy) from None


_WORDS = {
    "ARRAY": "a list in brackets",
    "ATTIMEZONE": "AT TIME ZONE",
    "BITWISELEFTSHIFT": "<<",
    "BITWISERIGHTSHIFT": ">>",
    "BITWISEXOR": "XOR",
    "BRACKET": "a place in brackets",
    "INTDIV": "//",
    "JSONEXTRACT": "->",
    "JSONEXTRACTSCALAR": "->>",
    "NULLSAFEEQ": "IS NOT DISTINCT FROM",
    "NULLSAFENEQ": "IS DISTINCT FROM",
    "PLACEHOLDER": "a parameter",
    "POW": "a power (^)",
    **dict.fromkeys(("REGEXPLIKE", "REGEXPILIKE", "REGEXPFULLMATCH"), "a regular expression"),
    "SIMILARTO": "SIMILAR TO",
    "STAR": "*",
    "STRPOSITION": "a search in text (STRPOS, POSITION)",
    "STRUCT": "a structure in braces",
    "SUBQUERY": "a SELECT",
    "TUPLE": "several values in parentheses",
    "WINDOW": "OVER",
}
"""What people write for nodes of a syntax tree that are no functions, or functions that have several names."""

_MEANT = {
    "AT TIME ZONE": ("AT TIME ZONE", "TIMESTAMP '2024-12-31 00:00+01:00', with its offset: all instants are in UTC"),
    "BITWISEAND": ("&", "AND"),
    "ARRAYOVERLAPS": ("&&", "AND"),
    "BITWISEOR": ("|", "OR"),
    "DPIPE": ("||", "OR"),
    "BITWISENOT": ("~", "NOT"),
    "IF": ("IF", "CASE WHEN … THEN … ELSE … END"),
    "IN with query": ("IN with a SELECT", "IN ('a', 'b')"),
    "IN with field": ("IN without parentheses", "IN ('a', 'b')"),
    "IS LITERAL": ("IS with a value", "= or <> and the value"),
    "IS COLUMN": ("IS with a name", "IS NULL"),
    "COLUMN with table": (
        "a name with a dot in it",
        "the column's name alone, in double quotes if the dot is part of it",
    ),
    "//": ("//", "FLOOR(a / b)"),
    "a regular expression": ("a regular expression", "LIKE 'a%'"),
    "SIMILAR TO": ("SIMILAR TO", "LIKE 'a%'"),
}
"""How other languages write what SQL has a word for, and what is written instead."""


def words_of(node: exp.Expr) -> str:
    """Return what somebody wrote for a node of a syntax tree: never what a parser calls it."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return f"the function {node.name}"
    name = node.key.upper()
    if name in _WORDS or not isinstance(node, exp.Func):
        return _WORDS.get(name, name)
    called = node.sql("duckdb").partition("(")[0]
    return called if called.replace("_", "").isalnum() else name  # DATE_TRUNC, CURRENT_DATE; not CASE WHEN …


def refuse_construct(construct: str) -> NoReturn:
    """Refuse what is outside the grammar, by name."""
    if construct in _MEANT:
        sign, word = _MEANT[construct]
        raise BadInput("expression", f"holds {sign}, which a condition may not hold", f"write {word}")
    raise BadInput(
        "expression",
        f"holds {construct[:60]}, which a condition may not hold",
        "use columns, literals, comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, arithmetic, CASE, CAST and abs,"
        " floor, ceil, lower, upper, length, trim, coalesce, nullif, year, month, day",
    )
