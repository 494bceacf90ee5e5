"""A note on missing values: a comparison with NULL holds for no record, and the text NA is a value."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from .columns import Column, Kind, Note, list_names

__all__ = ["notes_on_missing"]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def notes_on_missing(tree: exp.Expr, used: Mapping[str, Column], readings: Mapping[str, Kind]) -> tuple[Note, ...]:
    """Say of an expression that it compares with NULL, or asks a column without a type for missing values.

    Parameters
    ----------
    tree : Expr
        The expression as it was parsed.
    used : mapping
        The columns of the expression, by name.
    readings : mapping
        What each of them is read as, by name.
    """
    return (*_compared_with_null(tree), *_asked_for_missing(tree, used, readings))


def _compared_with_null(tree: exp.Expr) -> tuple[Note, ...]:
    for node in tree.find_all(*_COMPARISONS, exp.In):
        compared = [node.this, node.expression] if isinstance(node, _COMPARISONS) else node.expressions
        if any(isinstance(part.unnest(), exp.Null) for part in compared):
            fact = "with a comparison with NULL, which is true for no record"
            return (Note(fact, "write IS NULL or IS NOT NULL", beside_answer=True),)
    return ()


def _asked_for_missing(tree: exp.Expr, used: Mapping[str, Column], readings: Mapping[str, Kind]) -> tuple[Note, ...]:
    subjects = [node.this for node in tree.find_all(exp.Is) if isinstance(node.expression, exp.Null)]
    subjects += [node.this for node in tree.find_all(exp.Coalesce)]
    asked = {part.unnest().name.casefold() for part in subjects if isinstance(part.unnest(), exp.Column)}
    names = [
        name
        for name, column in used.items()
        if column.kind is Kind.UNTYPED and readings.get(name) is Kind.TEXT and name.casefold() in asked
    ]
    if not names or any(literal.name == "NA" for literal in tree.find_all(exp.Literal)):
        return ()
    fact = f"with {list_names(names)} as text: the texts NA and null are values, and not NULL"
    return (Note(fact, "compare with 'NA' where that means a missing value", beside_answer=True),)
