"""One spelling for every expression, so that texts that mean the same become equal.

Keywords are upper case, columns as in the schema, numbers as doubles, dates in UTC, text unchanged. Parentheses appear
where an operator meets an operator, and nowhere else. Nothing is computed, reordered or left out; `one_form` does that,
if the meaning stays the same. A condition is evaluated from this spelling, so equal texts are equal questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

from .columns import Column, find_column
from .sql_types import date_literal, spell_date

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LARGEST_WHOLE = 2**53
_OPERATORS = (exp.Binary, exp.Not, exp.Neg, exp.Between, exp.In)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Like, exp.ILike, exp.Between)


def spell(tree: exp.Expr, columns: Sequence[Column]) -> str:
    """Write a condition in its one spelling.

    Parameters
    ----------
    tree : sqlglot expression
        Of the grammar of `_tables/sql_compiler.py`.
    columns : sequence of Column
        What the table has.
    """
    return _spelt(tree, columns).sql("duckdb")


def extracted(node: exp.Extract) -> exp.Expr | None:
    """Return EXTRACT(YEAR FROM d) as YEAR(d); None for a part that no function is named after."""
    function = {"YEAR": exp.Year, "MONTH": exp.Month, "DAY": exp.Day, "HOUR": exp.Hour}.get(node.name.upper())
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
    if isinstance(node, exp.Anonymous):
        return exp.Anonymous(this=node.name.upper(), expressions=[_spelt(part, columns) for part in node.expressions])
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
    spelt = _spelt(value, columns)
    return _operand(spelt, parent) if issubclass(parent, _OPERATORS) else spelt


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


# Write equivalent conditions in one form, so that the same question in another order is not charged again.
#
# Every rule here holds for the three truth values, true, false and null, of any record. AND, OR and the values of an IN
# list may be sorted, and a value listed twice adds nothing. A comparison may be written from its other side. Two NOTs
# cancel. NOT inverts a comparison, because engines order all values that are not null, with NaN as the largest number.
# No other law is used. A condition is evaluated in this form. So a mistake here could give a wrong answer, but never
# the stored answer of another question. tests/oracles/test_one_table.py tries all small ones.

_TURNED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
"""A comparison read from its other side."""

_DENIED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}
"""What a comparison is under NOT."""

_TRUTHS = (exp.Connector, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike)
"""Expressions that are true or false by themselves, so that a double NOT can be dropped."""
_LEAVES = (exp.Column, exp.Literal, exp.DataType)

Spell = Callable[[exp.Expr], str]


def one_form(node: exp.Expr, spell: Spell) -> exp.Expr:
    """Return a condition in its one form, without parentheses: the tree says what belongs together.

    Parameters
    ----------
    node : sqlglot expression
        Of the grammar of `_tables/sql_compiler.py`.
    spell : callable
        Writes a part in its one spelling, by which parts are sorted.
    """
    if isinstance(node, exp.Paren):
        return one_form(node.this, spell)
    if isinstance(node, _LEAVES):
        return node.copy()
    if isinstance(node, exp.Connector):
        found = (one_form(part, spell) for part in operands(node))
        joined = [inner for part in found for inner in (operands(part) if type(part) is type(node) else [part])]
        combine = exp.and_ if isinstance(node, exp.And) else exp.or_
        return combine(*sorted(joined, key=spell), copy=False, wrap=False)
    parts = {key: _each(value, spell) for key, value in node.args.items()}
    if isinstance(node, exp.Not):
        return _denied(parts["this"])
    if isinstance(node, exp.Like | exp.ILike) and parts.pop("negate", False):
        return exp.Not(this=type(node)(**parts))
    if isinstance(node, exp.In):
        parts["expressions"] = [
            found for _, found in sorted({spell(part): part for part in parts["expressions"]}.items())
        ]
    turned = _TURNED.get(type(node))
    if turned is not None and _place(parts["this"], spell) > _place(parts["expression"], spell):
        return turned(this=parts["expression"], expression=parts["this"])
    return type(node)(**parts)


def _each(value: Any, spell: Spell) -> Any:
    if isinstance(value, list):
        return [_each(part, spell) for part in value]
    return one_form(value, spell) if isinstance(value, exp.Expr) else value


def _denied(part: exp.Expr) -> exp.Expr:
    opposite = _DENIED.get(type(part))
    if opposite is not None:
        return opposite(this=part.this, expression=part.expression)
    inner = part.this
    return inner if isinstance(part, exp.Not) and isinstance(inner, _TRUTHS) else exp.Not(this=part)


def _place(part: exp.Expr, spell: Spell) -> tuple[bool, str]:
    """Say where a side of a comparison belongs: what no record decides stands last, as people write it."""
    return part.find(exp.Column) is None, spell(part)
