"""One form for equivalent conditions: the same question in another order is not charged again.

Every rule here holds for the three truth values, true, false and null, of any record. AND, OR and the values of an IN
list may be sorted, and a value listed twice adds nothing. A comparison may be read from its other side. Two NOTs
cancel. NOT turns a comparison round, because engines order all values that are not null, with NaN as the largest
number. No other law is used. A condition is evaluated in this form. So a mistake here could give a wrong answer, but
never the stored answer of another question. tests/oracles/test_one_form.py tries all small conditions on all small
records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from .spelling import operands

__all__ = ["one_form"]

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
"""What is true or false by itself, so that a second NOT needs not to say so."""
_LEAVES = (exp.Column, exp.Literal, exp.DataType)

Spell = Callable[[exp.Expr], str]


def one_form(node: exp.Expr, spell: Spell) -> exp.Expr:
    """Return a condition in its one form, without parentheses: the tree says what belongs together.

    Parameters
    ----------
    node : sqlglot expression
        Of the grammar of `grammar.py`.
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
