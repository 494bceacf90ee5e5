"""The parts that an expression is built from: total SQL, written once the kind of each part is decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlglot import exp

from .columns import Kind, read_as
from .instants import date_sql
from .kinds import TypeVariable

__all__ = ["FUNCTIONS", "Function", "Term", "double", "on_calendar", "precise", "quoted_text", "truth", "wrap"]

_PRECISE = 2**53
"""Whole numbers below it are told apart by doubles."""


class Term(NamedTuple):
    """A part of an expression: its variable, and how to build its SQL once every variable is decided.

    `whole` says of a number that no record can make it a fraction.
    """

    variable: TypeVariable
    build: Callable[[], exp.Expr]
    whole: bool = False


class Function(NamedTuple):
    """A function of one argument: the kinds it takes and gives, and whether a number that it gives is whole."""

    taken: Kind
    given: Kind
    whole: bool = False


FUNCTIONS: dict[type[exp.Expr], Function] = {
    exp.Abs: Function(Kind.NUMBER, Kind.NUMBER),
    **dict.fromkeys((exp.Lower, exp.Upper, exp.Trim), Function(Kind.TEXT, Kind.TEXT)),
    exp.Length: Function(Kind.TEXT, Kind.NUMBER, whole=True),
    **dict.fromkeys((exp.Year, exp.Month, exp.Day), Function(Kind.DATE, Kind.NUMBER, whole=True)),
}


def wrap(term: Term) -> exp.Expr:
    """Return a part in parentheses."""
    return exp.paren(term.build(), copy=False)


def truth(build: Callable[[], exp.Expr]) -> Term:
    """Return a part that is true, false or null."""
    return Term(TypeVariable(Kind.BOOLEAN), build)


def double(value: float) -> exp.Expr:
    """Write a double: a cast from text is rounded correctly; engines take a detour over DECIMAL for a bare number."""
    return exp.cast(exp.Literal.string(repr(value)), "DOUBLE")


def precise(value: Term) -> exp.Expr:
    """Write a number that doubles tell from every whole number near it; null beyond, and for what is no number.

    Engines differ in the value of FLOOR(10^300), and in which whole number 2^63 becomes; the value is written twice.
    """
    size = exp.Abs(this=value.build())
    return exp.Case(ifs=[exp.If(this=exp.LT(this=size, expression=double(float(_PRECISE))), true=value.build())])


def on_calendar(value: Term) -> exp.Expr:
    """Write a date within the years 1 to 9999; null beyond, as text may be (infinity), and Python's dates may not."""
    first, last = date_sql("0001-01-01"), date_sql("9999-12-31T23:59:59.999999")
    inside = exp.Between(this=exp.paren(value.build(), copy=False), low=first, high=last)
    return exp.Case(ifs=[exp.If(this=inside, true=value.build())])


def quoted_text(text: str, kind: Kind) -> exp.Expr:
    """Write quoted text as the kind it turned out to be."""
    return date_sql(text) if kind is Kind.DATE else read_as(exp.Literal.string(text), kind)
