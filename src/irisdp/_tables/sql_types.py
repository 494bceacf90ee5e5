"""Which kind each part of a condition is read as, found from the condition alone.

Parts that meet (the two sides of `=`, the branches of a CASE) share a type variable. It takes its kind from whatever in
it has one: a typed column, a number, an arithmetic sign. Variables are unified by union-find, in any order alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

from sqlglot import exp

from ..errors import BadInput
from .columns import ColumnType, Note, list_names, read_as, read_value, shorten_type, try_cast
from .text_comparisons import compared_by_letters

# Read dates written as text as instants in UTC, in records, conditions and declared groups alike.
#
# Engines drop an offset (`…T00:30:00+01:00`) where text is read as a time without zone, so that one instant would fall
# on two days. Text without an offset is read as UTC.

_DAY, _CLOCK = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", "[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]*)?)?"
_SPARK = (
    (f"^[ ]*({_DAY})[ ]*$", "$1 00:00:00Z"),
    (f"^[ ]*({_DAY}[T ][0-9]{{1,2}}:[0-9]{{1,2}})([A-Za-z+-].*|[ ]*)$", "$1:00$2"),
    (f"^[ ]*({_DAY}[T ]{_CLOCK})[ ]*$", "$1Z"),
    ("(:[0-9.]+[+-][0-9]{2})([0-9]{2})$", "$1:$2"),
)
"""How text is written out for Spark: an offset for text without one, so that no session's zone decides; seconds; +01:00
for +0100."""
_WITH_OFFSET = f"^{_DAY}[T ]{_CLOCK}[A-Za-z+-].*$"


def read_date(text: str) -> datetime:
    """Return the UTC time of a date in a condition.

    Raises
    ------
    BadInput
        For what is no date, by the rule for declared groups.
    """
    value = read_value(text, ColumnType.DATE)
    if not isinstance(value, datetime):
        remedy = "write dates as '2024-12-31', '2024-12-31 23:59:59' or '2024-12-31T23:59:59+01:00'"
        raise BadInput("expression", f"takes {text[:60]!r} for a date, which it is not", remedy)
    return value


def date_literal(node: exp.Cast) -> str | None:
    """Return the one spelling of a date that a condition states, as in DATE '2024-12-31'; None for other casts.

    Raises
    ------
    BadInput
        For a date that there is not, as 2023-02-30: it would be unknown for everybody, without a word.
    """
    text, target = node.this.unnest(), node.args["to"]
    dated = target.this.name in ("DATE", "TIMESTAMP", "TIMESTAMPNTZ")
    if not dated or not (isinstance(text, exp.Literal) and text.is_string) or target.expressions:
        return None
    value = read_date(text.name)
    return str(value.date() if target.this.name == "DATE" else value)


def spell_date(text: str) -> exp.Expr:
    """Write a date as every condition spells it."""
    day, _, clock = str(read_date(text)).partition(" ")
    if clock == "00:00:00":
        return exp.cast(exp.Literal.string(day), "DATE")
    return exp.cast(exp.Literal.string(f"{day} {clock}"), "TIMESTAMP")


def date_sql(text: str) -> exp.Expr:
    """Return SQL for a date that a condition states."""
    return read_as(exp.Literal.string(str(read_date(text))), ColumnType.DATE)


def as_instant(text: exp.Expr) -> exp.Expr:
    """Return SQL that reads text as a UTC time, in an engine whose zone is UTC; `instant_for_spark` rewrites it."""
    trimmed = exp.Trim(this=text)
    return read_as(try_cast(trimmed, exp.DataType.build("TIMESTAMPTZ", dialect="duckdb")), ColumnType.DATE)


def instant_for_spark(text: exp.Expr) -> exp.Expr:
    """Return Spark's SQL for `as_instant`: the session's zone has no say, and time alone is not today's."""
    for pattern, offset in _SPARK:
        text = _call("REGEXP_REPLACE", text, exp.Literal.string(pattern), exp.Literal.string(offset))
    text = _call("REGEXP_EXTRACT", text, exp.Literal.string(_WITH_OFFSET), exp.Literal.number(0))
    since = _call("UNIX_MICROS", try_cast(text, exp.DataType.build("TIMESTAMPLTZ")))
    epoch = exp.cast(exp.Literal.string("1970-01-01 00:00:00"), "TIMESTAMPNTZ")
    return _call("TIMESTAMPADD", exp.var("MICROSECOND"), since, epoch)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    # Built without copies: the statement's other casts are rewritten where they stand.
    return exp.Anonymous(this=name, expressions=list(arguments))


WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
"""Types that hold whole numbers alone."""

CASTS = {
    **dict.fromkeys((*WHOLE, "FLOAT", "DOUBLE", "DECIMAL"), ColumnType.NUMBER),
    **dict.fromkeys(("VARCHAR", "TEXT"), ColumnType.TEXT),
    "BOOLEAN": ColumnType.BOOLEAN,
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPNTZ"), ColumnType.DATE),
}
"""The types that an expression may cast to, and what their values are."""

CASTABLE = {
    ColumnType.TEXT: {ColumnType.TEXT, ColumnType.NUMBER, ColumnType.BOOLEAN, ColumnType.DATE},
    ColumnType.NUMBER: {ColumnType.TEXT, ColumnType.NUMBER, ColumnType.BOOLEAN},
    ColumnType.BOOLEAN: {ColumnType.TEXT, ColumnType.NUMBER, ColumnType.BOOLEAN},
    ColumnType.DATE: {ColumnType.TEXT, ColumnType.DATE},
}
"""What each kind can be cast to."""


class TypeVariable:
    """The shared kind of some parts of a condition, if known."""

    __slots__ = (
        *("_by_size", "_checked", "_codes", "_columns", "_compared", "_firm", "_kind", "_literals", "_parent"),
        *("_stated", "_type_name"),
    )

    def __init__(
        self,
        kind: ColumnType | None = None,
        *,
        column: str | None = None,
        literal: str | None = None,
        stated: bool = True,
        type_name: str = "",
    ) -> None:
        self._type_name = type_name
        self._parent: TypeVariable | None = None
        self._kind = kind
        # A kind that only the place asks for is not stated: `NOT x` does not say that x is true or false.
        self._stated = stated and kind is not None
        self._columns = [] if column is None else [column]
        # Quoted text is evidence for text, but a weak one: beside a date it is read as a date.
        self._literals = [] if literal is None else [literal]
        self._compared = self._by_size = self._checked = self._codes = False
        self._firm = kind is not None

    @classmethod
    def of_number(cls, written: str) -> TypeVariable:
        """Return the variable of a number without quotes, which may turn out to be a code, such as 01234."""
        variable = cls(ColumnType.NUMBER)
        variable._firm, variable._codes = False, not is_canonical_number(written)
        return variable

    def join(self, other: TypeVariable) -> None:
        """Let two variables be one."""
        first, second = self._root(), other._root()
        kind = first._kind or second._kind
        if second._kind not in (None, kind) or (kind is not None and kind.is_opaque):
            first._refuse(second._kind or ColumnType.TEXT, second._columns, second._type_name)
        if first is second:
            return
        second._parent, first._kind = first, kind
        first._stated = first._stated or second._stated
        first._columns += second._columns
        first._literals += second._literals
        first._compared, first._by_size = first._compared or second._compared, first._by_size or second._by_size
        first._firm, first._codes = first._firm or second._firm, first._codes or second._codes

    def compare(self, *, by_size: bool) -> None:
        """Say that values are compared with each other, perhaps by which is larger."""
        root = self._root()
        root._compared, root._by_size = True, root._by_size or by_size

    def require(self, kind: ColumnType) -> None:
        """Let the variable be of a kind, and take that for what it holds."""
        self.join(TypeVariable(kind))

    def expect_truth(self) -> None:
        """Require a truth value; something else must state the kinds of its columns."""
        self.join(TypeVariable(ColumnType.BOOLEAN, stated=False))

    @property
    def stated(self) -> ColumnType | None:
        """The kind that a schema, a literal, a comparison or a function gives to the variable; None without any."""
        root = self._root()
        return root._kind if root._stated else None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that share the variable."""
        return tuple(dict.fromkeys(self._root()._columns))

    @property
    def has_evidence(self) -> bool:
        """Tell whether anything in the condition says what the variable is read as."""
        root = self._root()
        return root._kind is not None or bool(root._literals)

    @property
    def kind(self) -> ColumnType:
        """The kind in the end: what the evidence says, text without any."""
        root = self._root()
        return root._kind or ColumnType.TEXT

    def settle_codes(self) -> None:
        """Read untyped columns as text where they only equal numbers, and one is written as no number prints."""
        root = self._root()
        if root._codes and root._columns and not root._firm and not root._by_size:
            root._kind = ColumnType.TEXT

    def check(self) -> None:
        """Refuse quoted text that turned out to be read as something else, and truth that nothing states."""
        root = self._root()
        if root._checked:  # each of a long list would look at all of it again
            return
        root._checked = True
        if root._kind is ColumnType.BOOLEAN and not root._stated and root._columns:
            name = root._columns[0]
            rule = f"takes the column {list_names(root.columns)} for true or false, and nothing says that it is"
            raise BadInput(
                "expression", rule, f"compare it, as in lower({name}) = 'true', or {name} > 64 if it holds numbers"
            )
        if root._literals and root.kind is ColumnType.DATE:
            for literal in root._literals:
                read_date(literal)
        elif root._literals and root.kind is not ColumnType.TEXT:
            root._refuse(ColumnType.TEXT, [])

    def check_order(self) -> None:
        """Refuse to compare by size what nothing says the kind of, and truth."""
        if not self.has_evidence:
            raise BadInput(
                "expression",
                "compares untyped columns by size, and 10 < 9 as text",
                "write CAST(column AS DOUBLE) or CAST(column AS VARCHAR)",
            )
        if self.kind is ColumnType.BOOLEAN:
            raise BadInput("expression", "compares truth values by size", "use = or IS")

    @property
    def note(self) -> Note | None:
        """Notes on quoted text that looks like a date or a number and is compared as text."""
        root = self._root()
        if root.kind is not ColumnType.TEXT or not root._compared:
            return None
        return compared_by_letters(self.columns, root._literals, by_size=root._by_size, typed=root._kind is not None)

    def _root(self) -> TypeVariable:
        variable = self
        while variable._parent is not None:
            variable = variable._parent
        return variable

    def _refuse(self, kind: ColumnType, columns: list[str], type_name: str = "") -> None:
        named = list_names(list(dict.fromkeys([*self._columns, *columns])))
        subject = f"the column {named}" if named else "one value"
        if any(each is not None and each.is_opaque for each in (self._kind, kind)):
            shown = shorten_type(self._type_name if self._kind is not None and self._kind.is_opaque else type_name)
            type_is = f"its type, {shown}," if shown else "its type"
            rule = f"asks more of {subject} than IS NULL, and {type_is} is neither text, number, truth value nor date"
            raise BadInput("expression", rule, "use another column, or convert this one in the data")
        raise BadInput(
            "expression",
            f"uses {subject} both as {self.kind} and as {kind}",
            "compare like with like, or write TRY_CAST(... AS DOUBLE), VARCHAR or DATE around one side",
        )


def is_canonical_number(written: str) -> bool:
    """Tell whether a number is written as the double is printed: 1234 and 0.5 are; 01234, 1E2, 5. and +5 are not."""
    number = float(written)
    return written in (repr(number), str(int(number)))


def letter_by_letter(variables: Iterable[TypeVariable]) -> tuple[Note, ...]:
    """Return the notes about quoted texts, each once."""
    roots = dict.fromkeys(variable._root() for variable in variables)
    return tuple(dict.fromkeys(note for root in roots if (note := root.note) is not None))


# Build the parts of an expression: total SQL, once the kind of each part is decided.

_PRECISE = 2**53
"""Doubles distinguish all whole numbers below it."""


class Term(NamedTuple):
    """A part of an expression: its variable, and how to build its SQL once every variable is decided.

    `whole` says of a number that no record can make it a fraction.
    """

    variable: TypeVariable
    build: Callable[[], exp.Expr]
    whole: bool = False


class Function(NamedTuple):
    """A function of one argument: the kinds it takes and gives, and whether a number that it gives is whole."""

    taken: ColumnType
    given: ColumnType
    whole: bool = False


FUNCTIONS: dict[type[exp.Expr], Function] = {
    exp.Abs: Function(ColumnType.NUMBER, ColumnType.NUMBER),
    **dict.fromkeys((exp.Lower, exp.Upper, exp.Trim), Function(ColumnType.TEXT, ColumnType.TEXT)),
    exp.Length: Function(ColumnType.TEXT, ColumnType.NUMBER, whole=True),
    **dict.fromkeys((exp.Year, exp.Month, exp.Day, exp.Hour), Function(ColumnType.DATE, ColumnType.NUMBER, whole=True)),
}


def wrap(term: Term) -> exp.Expr:
    """Return a part in parentheses."""
    return exp.paren(term.build(), copy=False)


def truth(build: Callable[[], exp.Expr]) -> Term:
    """Return a part that is true, false or null."""
    return Term(TypeVariable(ColumnType.BOOLEAN), build)


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


def rounded(value: Term, places: int) -> exp.Expr:
    """Write a number rounded to so many decimal places: times 10^places, plus a half, rounded down, and back.

    So of two numbers that are as near, the one farther from 0 is taken. All of it is computed in doubles, which engines
    do alike, and their own ROUND does not. Null where doubles do not tell a whole number from the next one.
    """
    scale = double(10.0**places)

    def scaled() -> exp.Expr:
        return precise(Term(value.variable, lambda: exp.Mul(this=wrap(value), expression=scale.copy())))

    def whole(number: exp.Expr) -> exp.Expr:
        return read_as(exp.Floor(this=number), ColumnType.NUMBER)

    half = double(0.5)
    below = exp.Neg(this=exp.paren(whole(exp.Sub(this=half.copy(), expression=exp.paren(scaled())))))
    above = whole(exp.Add(this=exp.paren(scaled()), expression=half))
    sign = exp.LT(this=wrap(value), expression=double(0.0))
    result = exp.Case(ifs=[exp.If(this=sign, true=below)], default=above)
    # There is one zero.
    return exp.Div(this=exp.paren(exp.Add(this=exp.paren(result), expression=double(0.0))), expression=scale)


def days_since(value: Term, first: str) -> exp.Expr:
    """Write how many days a date lies after another; null where no calendar has it."""
    day = exp.DataType.build("DATE")
    start = exp.cast(exp.Literal.string(first), "DATE")
    return exp.DateDiff(this=try_cast(on_calendar(value), day), expression=start, unit=exp.var("DAY"))


def has_part(text: exp.Expr, part: str, delimiter: str) -> exp.Expr:
    """Write whether one of the parts of a text between delimiters is a given one, blanks around it aside."""
    written, mark = (
        "".join(one if one.isalnum() or ord(one) > 127 else f"\\x{ord(one):02x}" for one in each)
        for each in (part, delimiter)
    )
    whole = exp.DPipe(
        this=exp.DPipe(this=exp.Literal.string(delimiter), expression=exp.paren(text, copy=False)),
        expression=exp.Literal.string(delimiter),
    )
    pattern = exp.Literal.string(f"{mark}[ ]*{written}[ ]*{mark}")
    return exp.paren(exp.RegexpLike(this=exp.paren(whole, copy=False), expression=pattern), copy=False)


def quoted_text(text: str, kind: ColumnType) -> exp.Expr:
    """Write quoted text as the kind it turned out to be."""
    return date_sql(text) if kind is ColumnType.DATE else read_as(exp.Literal.string(text), kind)
