"""One spelling for every expression, so that texts that mean the same become equal.

Keywords are upper case, columns as in the schema, numbers as doubles, dates in UTC, text unchanged. Parentheses appear
where an operator meets an operator, and nowhere else. Nothing is computed, reordered or left out; `one_form` does that,
if the meaning stays the same. A condition is evaluated from this spelling, so equal texts are equal questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

from .columns import Column, find_column
from .instants import date_literal, spell_date

__all__ = ["extracted", "operands", "spell"]

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LARGEST_WHOLE = 2**53
_OPERATORS = (exp.Binary, exp.Not, exp.Neg, exp.Between, exp.In)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Like, exp.ILike, exp.Between)


def spell(tree: exp.Expr, columns: Sequence[Column]) -> str:
    """Write a condition in its one spelling.

    Parameters
    ----------
    tree : sqlglot expression
        Of the grammar of `grammar.py`.
    columns : sequence of Column
        What the table has.
    """
    return _spelt(tree, columns).sql("duckdb")


def extracted(node: exp.Extract) -> exp.Expr | None:
    """Return EXTRACT(YEAR FROM d) as YEAR(d); None for a part that no function is named after."""
    function = {"YEAR": exp.Year, "MONTH": exp.Month, "DAY": exp.Day}.get(node.name.upper())
    return None if function is None else function(this=node.expression)


def operands(node: exp.Connector) -> Iterator[exp.Expr]:
    """Yield what a chain of ANDs, or of ORs, joins, however its parentheses stand: both are associative."""
    for part in node.flatten():
        inner = part.unnest()
        if type(inner) is type(node):
            yield from operands(inner)
        else:
            yield part


def _spelt(node: exp.Expr, columns: Sequence[Column]) -> exp.Expr:
    if isinstance(node, exp.Paren):
        return _spelt(node.this, columns)
    if isinstance(node, exp.Column):
        name = find_column(node.name, columns, "expression").name
        return exp.column(exp.to_identifier(name, quoted=not _stands_bare(name)))
    if isinstance(node, exp.Literal):
        return node.copy() if node.is_string else exp.Literal.number(_number(float(node.name)))
    if isinstance(node, exp.DataType):
        return node.copy()
    part = extracted(node) if isinstance(node, exp.Extract) else None
    if part is not None:
        return _spelt(part, columns)
    if isinstance(node, exp.Connector):
        combine = exp.and_ if isinstance(node, exp.And) else exp.or_
        joined = (_operand(_spelt(part, columns), type(node)) for part in operands(node))
        return combine(*joined, copy=False, wrap=False)
    date = date_literal(node) if isinstance(node, exp.Cast) else None
    if date is not None:
        return spell_date(date)
    if isinstance(node, exp.Cast):  # TRY_CAST too: no cast can fail here
        return exp.Cast(this=_spelt(node.this, columns), to=node.args["to"].copy())
    parts = {key: _argument(value, type(node), columns) for key, value in node.args.items() if value is not None}
    if isinstance(node, exp.Like | exp.ILike) and parts.pop("negate", False):
        return exp.Not(this=type(node)(**parts))
    if isinstance(node, exp.Case) and isinstance(parts.get("default"), exp.Null):
        del parts["default"]
    return type(node)(**parts)


def _argument(value: Any, parent: type[exp.Expr], columns: Sequence[Column]) -> Any:
    if isinstance(value, list):
        return [_spelt(part, columns) for part in value]
    if not isinstance(value, exp.Expr):
        return value
    found = _spelt(value, columns)
    return _operand(found, parent) if issubclass(parent, _OPERATORS) else found


def _operand(part: exp.Expr, parent: type[exp.Expr]) -> exp.Expr:
    """Put an operator under an operator in parentheses, but for what everybody reads alike."""
    if not isinstance(part, _OPERATORS):
        return part
    if issubclass(parent, exp.Connector) and isinstance(part, (*_COMPARISONS, exp.Not)):
        return part
    if issubclass(parent, exp.Not) and isinstance(part, exp.In | exp.Is | exp.Between | exp.Like | exp.ILike):
        return part
    if issubclass(parent, _COMPARISONS) and isinstance(part, exp.Neg) and isinstance(part.this, exp.Literal):
        return part
    return exp.paren(part, copy=False)


def _number(value: float) -> str:
    """Write a double shortly; whole ones without a point."""
    return str(int(value)) if value.is_integer() and value < _LARGEST_WHOLE else repr(value)


@lru_cache(maxsize=10_000)
def _stands_bare(name: str) -> bool:
    """Tell whether a name is read as a column without quotes, wherever it stands: no word of any SQL grammar."""
    if not _PLAIN_NAME.fullmatch(name):
        return False
    (token,) = sqlglot.tokenize(name, read="duckdb")
    if token.token_type is not sqlglot.TokenType.VAR:
        return False
    bare = exp.column(exp.to_identifier(name, quoted=False))
    try:
        return all(
            sqlglot.parse_one(text, read="duckdb", into=exp.Condition) == tree
            for text, tree in (
                (f"{name} = {name}", exp.EQ(this=bare.copy(), expression=bare.copy())),
                (f"NOT {name} IS NULL", exp.Not(this=exp.Is(this=bare.copy(), expression=exp.Null()))),
                (f"{name} IN (1)", exp.In(this=bare.copy(), expressions=[exp.Literal.number(1)])),
            )
        )
    except Exception:  # whatever a parser says of a strange word: it is quoted then
        return False
