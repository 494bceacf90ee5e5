"""The part of SQL a condition may be written in, and its total meaning.

The grammar is the table at the end: a node of the syntax tree that is not in it is refused by name. What is in it is
built anew, never copied, in a form that no record can make fail: every cast is a TRY_CAST, arithmetic is done in
DOUBLE (no overflow), a zero divisor is null, LIKE has a literal pattern.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sqlglot import exp

from ..errors import BadInput
from .columns import Column, Kind, read_as, try_cast
from .instants import as_instant, date_literal, date_sql, spell_date
from .refusals import named_column, refuse_construct, refuse_value
from .slots import Slot
from .spelling import operands

__all__ = ["Reader", "Term"]

# NULLIF writes a divisor twice, so nested divisions would double the query each time.
_MOST_DIVISIONS = 16

_CASTS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"), Kind.NUMBER),
    **dict.fromkeys(("VARCHAR", "TEXT"), Kind.TEXT),
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPNTZ"), Kind.DATE),
}
_CASTABLE = {
    Kind.TEXT: {Kind.TEXT, Kind.NUMBER, Kind.BOOLEAN, Kind.DATE},
    Kind.NUMBER: {Kind.TEXT, Kind.NUMBER, Kind.BOOLEAN},
    Kind.BOOLEAN: {Kind.TEXT, Kind.NUMBER, Kind.BOOLEAN},
    Kind.DATE: {Kind.TEXT, Kind.DATE},
}


class Term(NamedTuple):
    """A part of the condition: its slot, and how to build its SQL once every slot is settled."""

    slot: Slot
    build: Callable[[], exp.Expr]


class Reader:
    """Reads one condition over given columns."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.used: dict[str, Column] = {}
        self._columns = columns
        self._slots: dict[str, Slot] = {}
        self._checks: list[Callable[[], None]] = []
        self._quoted: list[tuple[exp.Literal, Slot]] = []
        self._divisions = 0

    def condition(self, tree: exp.Expr) -> exp.Expr:
        """Return the total SQL of a whole condition: true, false or null for every record; its dates are spelt anew."""
        term = self._read(tree)
        if term.slot.stated is not Kind.BOOLEAN:
            refuse_value(term.slot)
        for check in self._checks:
            check()
        for quoted, slot in self._quoted:
            if slot.kind is Kind.DATE:
                quoted.replace(spell_date(quoted.name))
        return term.build()

    def _read(self, node: exp.Expr) -> Term:
        rule = _GRAMMAR.get(type(node))
        if rule is None:
            refuse_construct(_name(node))
        read, allowed = rule
        extra = [key for key, value in node.args.items() if value and key not in allowed.split()]
        if extra:
            refuse_construct(f"{_name(node)} with {extra[0]}")
        return read(self, node)

    def _slot(self, slot: Slot) -> Slot:
        self._checks.append(slot.check)
        return slot

    def _several(self, nodes: Iterable[exp.Expr]) -> tuple[Slot, list[Term]]:
        """Read parts that must be of one kind."""
        terms = [self._read(node) for node in nodes]
        for term in terms[1:]:
            terms[0].slot.join(term.slot)
        return terms[0].slot, terms

    def _required(self, nodes: Iterable[exp.Expr], kind: Kind) -> list[Term]:
        terms = [self._read(node) for node in nodes]
        for term in terms:
            term.slot.require(kind)
        return terms

    def _truths(self, nodes: Iterable[exp.Expr]) -> list[Term]:
        """Read parts that must be true or false by themselves."""
        terms = [self._read(node) for node in nodes]
        for term in terms:
            term.slot.expect_truth()
        return terms

    # Leaves

    def _column(self, node: exp.Column) -> Term:
        column = self._resolve(node)
        known = None if column.kind is Kind.UNTYPED else column.kind
        known = Kind.NUMBER if known is Kind.INTEGER else known
        if column.name not in self._slots:
            self._slots[column.name] = self._slot(Slot(known, column=column.name))
        slot = self._slots[column.name]

        def build() -> exp.Expr:
            if slot.kind.is_opaque:
                return column.reference
            dated = column.kind is Kind.UNTYPED and slot.kind is Kind.DATE
            return as_instant(column.reference) if dated else read_as(column.reference, slot.kind)

        return Term(slot, build)

    def _resolve(self, node: exp.Column) -> Column:
        if not isinstance(node.this, exp.Identifier):
            refuse_construct(_name(node.this))
        column = named_column(node, self._columns)
        self.used[column.name] = column
        return column

    def _literal(self, node: exp.Literal) -> Term:
        text = node.name
        if node.is_string:
            slot = self._slot(Slot(literal=text))
            self._quoted.append((node, slot))
            string = exp.Literal.string(text)
            return Term(slot, lambda: date_sql(text) if slot.kind is Kind.DATE else read_as(string.copy(), slot.kind))
        number = float(text)
        if not math.isfinite(number):
            raise BadInput("expression", "holds a number beyond 1.8e308", "write a smaller number")
        # A cast from text is rounded correctly; engines take the detour over DECIMAL for a bare number.
        return Term(Slot(Kind.NUMBER), lambda: exp.cast(exp.Literal.string(repr(number)), "DOUBLE"))

    def _boolean(self, node: exp.Boolean) -> Term:
        value = bool(node.this)
        return Term(Slot(Kind.BOOLEAN), lambda: exp.Boolean(this=value))

    def _null(self, _: exp.Null) -> Term:
        slot = self._slot(Slot())
        return Term(slot, lambda: read_as(exp.Null(), slot.kind))

    # Conditions

    def _equality(self, node: exp.Binary) -> Term:
        _, (left, right) = self._several([node.this, node.expression])
        return _boolean_term(lambda: type(node)(this=_wrap(left), expression=_wrap(right)))

    def _order(self, node: exp.Binary) -> Term:
        slot, (left, right) = self._several([node.this, node.expression])
        self._needs_order(slot)
        return _boolean_term(lambda: type(node)(this=_wrap(left), expression=_wrap(right)))

    def _between(self, node: exp.Between) -> Term:
        slot, (value, low, high) = self._several([node.this, node.args["low"], node.args["high"]])
        self._needs_order(slot)
        return _boolean_term(lambda: exp.Between(this=_wrap(value), low=_wrap(low), high=_wrap(high)))

    def _needs_order(self, slot: Slot) -> None:
        def check() -> None:
            if not slot.has_evidence:
                raise BadInput(
                    "expression",
                    "compares untyped columns by size, and 10 < 9 as text",
                    "write CAST(column AS DOUBLE) or CAST(column AS VARCHAR)",
                )
            if slot.kind is Kind.BOOLEAN:
                raise BadInput("expression", "compares truth values by size", "use = or IS")

        self._checks.append(check)

    def _in(self, node: exp.In) -> Term:
        if not node.expressions:
            refuse_construct("IN without a list")
        _, (value, *items) = self._several([node.this, *node.expressions])
        return _boolean_term(lambda: exp.In(this=_wrap(value), expressions=[item.build() for item in items]))

    def _is(self, node: exp.Is) -> Term:
        value = self._read(node.this)
        test = node.expression
        if isinstance(test, exp.Boolean):
            value.slot.require(Kind.BOOLEAN)
        elif not isinstance(test, exp.Null):
            refuse_construct(f"IS {_name(test)}")
        return _boolean_term(lambda: exp.Is(this=_wrap(value), expression=test.copy()))

    def _like(self, node: exp.Binary) -> Term:
        (value,) = self._required([node.this], Kind.TEXT)
        pattern = node.expression
        # A pattern from a record could be malformed; Spark also reads a backslash as an escape and DuckDB does not.
        if not (isinstance(pattern, exp.Literal) and pattern.is_string) or "\\" in pattern.name:
            raise BadInput("expression", "needs quoted text without a backslash after LIKE", "write LIKE 'a%'")

        def build() -> exp.Expr:
            found = type(node)(this=_wrap(value), expression=exp.Literal.string(pattern.name))
            return exp.Not(this=exp.paren(found)) if node.args.get("negate") else found

        return _boolean_term(build)

    def _connector(self, node: exp.Connector) -> Term:
        terms = self._truths(operands(node))
        combine = exp.and_ if isinstance(node, exp.And) else exp.or_
        return _boolean_term(lambda: combine(*(_wrap(term) for term in terms), copy=False))

    def _not(self, node: exp.Not) -> Term:
        (value,) = self._truths([node.this])
        return _boolean_term(lambda: exp.Not(this=_wrap(value)))

    # Values

    def _paren(self, node: exp.Paren) -> Term:
        return self._read(node.this)

    def _negative(self, node: exp.Neg) -> Term:
        (value,) = self._required([node.this], Kind.NUMBER)
        return Term(Slot(Kind.NUMBER), lambda: exp.Neg(this=_wrap(value)))

    def _arithmetic(self, node: exp.Binary) -> Term:
        left, right = self._required([node.this, node.expression], Kind.NUMBER)
        return Term(Slot(Kind.NUMBER), lambda: type(node)(this=_wrap(left), expression=_wrap(right)))

    def _division(self, node: exp.Binary) -> Term:
        self._divisions += 1
        if self._divisions > _MOST_DIVISIONS:
            raise BadInput("expression", f"divides more than {_MOST_DIVISIONS} times", "write a shorter condition")
        left, right = self._required([node.this, node.expression], Kind.NUMBER)
        zero = exp.cast(exp.Literal.string("0"), "DOUBLE")
        return Term(
            Slot(Kind.NUMBER),
            lambda: type(node)(this=_wrap(left), expression=exp.Nullif(this=right.build(), expression=zero.copy())),
        )

    def _case(self, node: exp.Case) -> Term:
        branches = node.args["ifs"]
        if node.this is None:
            tests = self._truths(branch.this for branch in branches)
        else:
            _, (subject, *values) = self._several([node.this, *(branch.this for branch in branches)])
            tests = [_equal(subject, value) for value in values]
        default = node.args.get("default") or exp.Null()
        slot, (otherwise, *results) = self._several([default, *(branch.args["true"] for branch in branches)])

        def build() -> exp.Expr:
            pairs = zip(tests, results, strict=True)
            ifs = [exp.If(this=test.build(), true=result.build()) for test, result in pairs]
            return exp.Case(ifs=ifs, default=otherwise.build())

        return Term(slot, build)

    def _cast(self, node: exp.Cast) -> Term:
        target = node.args["to"]
        kind = _CASTS.get(target.this.name)
        if kind is None:
            refuse_construct(f"CAST to {target.this.name}")
        stated = date_literal(node)
        if stated is not None:
            return Term(Slot(Kind.DATE), lambda: date_sql(stated))
        if isinstance(node.this, exp.Column):
            # Under a cast a column is what the table holds, and says nothing about its other uses.
            column = self._resolve(node.this)
            held = {Kind.UNTYPED: Kind.TEXT, Kind.INTEGER: Kind.NUMBER}.get(column.kind, column.kind)
            value = Term(Slot(held), lambda: column.reference)
        else:
            value = self._read(node.this)

        def check() -> None:
            if kind not in _CASTABLE.get(value.slot.kind, ()):
                raise BadInput("expression", f"casts {value.slot.kind} to {kind}", "cast to text first, or not at all")

        self._checks.append(check)

        def build() -> exp.Expr:
            dated = kind is Kind.DATE and value.slot.kind is Kind.TEXT
            cast = try_cast(as_instant(value.build()) if dated else value.build(), target.copy())
            return read_as(cast, kind) if kind in (Kind.NUMBER, Kind.DATE) else cast

        return Term(Slot(kind), build)

    def _coalesce(self, node: exp.Coalesce) -> Term:
        slot, (first, *others) = self._several([node.this, *node.expressions])
        return Term(slot, lambda: exp.Coalesce(this=first.build(), expressions=[other.build() for other in others]))

    def _nullif(self, node: exp.Nullif) -> Term:
        slot, (value, empty) = self._several([node.this, node.expression])
        return Term(slot, lambda: exp.Nullif(this=value.build(), expression=empty.build()))


def _function(taken: Kind, given: Kind) -> Callable[[Reader, exp.Func], Term]:
    """Return the rule of a function of one argument."""

    def read(reader: Reader, node: exp.Func) -> Term:
        (value,) = reader._required([node.this], taken)
        return Term(Slot(given), lambda: read_as(type(node)(this=value.build()), given))

    return read


def _boolean_term(build: Callable[[], exp.Expr]) -> Term:
    return Term(Slot(Kind.BOOLEAN), build)


def _equal(left: Term, right: Term) -> Term:
    return _boolean_term(lambda: exp.EQ(this=_wrap(left), expression=_wrap(right)))


def _wrap(term: Term) -> exp.Expr:
    return exp.paren(term.build(), copy=False)


def _name(node: exp.Expr) -> str:
    return f"the function {node.name}" if isinstance(node, exp.Anonymous) else node.key.upper()


_GRAMMAR: dict[type[exp.Expr], tuple[Callable[..., Term], str]] = {
    exp.Column: (Reader._column, "this"),
    exp.Literal: (Reader._literal, "this is_string"),
    exp.Boolean: (Reader._boolean, "this"),
    exp.Null: (Reader._null, ""),
    exp.Paren: (Reader._paren, "this"),
    **dict.fromkeys((exp.EQ, exp.NEQ), (Reader._equality, "this expression")),
    **dict.fromkeys((exp.LT, exp.LTE, exp.GT, exp.GTE), (Reader._order, "this expression")),
    exp.Between: (Reader._between, "this low high"),
    exp.In: (Reader._in, "this expressions"),
    exp.Is: (Reader._is, "this expression"),
    **dict.fromkeys((exp.Like, exp.ILike), (Reader._like, "this expression negate")),
    **dict.fromkeys((exp.And, exp.Or), (Reader._connector, "this expression")),
    exp.Not: (Reader._not, "this"),
    exp.Neg: (Reader._negative, "this"),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), (Reader._arithmetic, "this expression")),
    **dict.fromkeys((exp.Div, exp.Mod), (Reader._division, "this expression safe typed")),
    exp.Case: (Reader._case, "this ifs default"),
    **dict.fromkeys((exp.Cast, exp.TryCast), (Reader._cast, "this to safe")),
    exp.Coalesce: (Reader._coalesce, "this expressions"),
    exp.Nullif: (Reader._nullif, "this expression"),
    exp.Abs: (_function(Kind.NUMBER, Kind.NUMBER), "this"),
    **dict.fromkeys((exp.Lower, exp.Upper, exp.Trim), (_function(Kind.TEXT, Kind.TEXT), "this")),
    exp.Length: (_function(Kind.TEXT, Kind.NUMBER), "this"),
    **dict.fromkeys((exp.Year, exp.Month, exp.Day), (_function(Kind.DATE, Kind.NUMBER), "this")),
}
