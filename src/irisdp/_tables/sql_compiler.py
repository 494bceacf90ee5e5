"""The part of SQL a condition, or a value to group by, may be written in, and its total meaning.

The grammar is the table at the end: a node of the syntax tree that is not in it is refused by name. Every part is built
again, never copied, in a form that no record can make fail. Every cast is a TRY_CAST, arithmetic is done in DOUBLE (no
overflow), a zero divisor is null, LIKE has a literal pattern.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from sqlglot import exp

from ..errors import BadInput
from .canonical_sql import extracted, operands
from .column_types import is_spelt, read_column
from .columns import Column, ColumnType, Note, find_column, list_names, read_as, try_cast
from .sql_types import (
    CASTABLE,
    CASTS,
    FUNCTIONS,
    WHOLE,
    Term,
    TypeVariable,
    as_instant,
    date_literal,
    date_sql,
    days_since,
    double,
    has_part,
    letter_by_letter,
    on_calendar,
    precise,
    quoted_text,
    rounded,
    spell_date,
    truth,
    wrap,
)

# Messages about an invalid condition or value, or one with a construct that neither may hold.

_EXAMPLES = {ColumnType.NUMBER: "> 0", ColumnType.TEXT: "= 'yes'", ColumnType.DATE: ">= '2024-12-31'"}


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
    "DATE_DIFF": ("this unit of DATE_DIFF", "DATE_DIFF('day', a, b), or 'hour', 'month' or 'year'"),
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
        " floor, ceil, round, lower, upper, length, trim, substr, left, right, coalesce, nullif, greatest, least, year,"
        " month, day, hour, weekday, date_diff, has",
    )


class ConditionCompiler:
    """Turns one condition over given columns into total SQL, rule by rule of the grammar."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.used: dict[str, Column] = {}
        self.notes: tuple[Note, ...] = ()
        self._columns = columns
        self._variables: dict[str, TypeVariable] = {}
        self._checks: list[Callable[[], None]] = []
        self._quoted: list[tuple[exp.Literal, TypeVariable]] = []
        self._numbers: list[tuple[exp.Expr, str, TypeVariable]] = []
        self._held: dict[tuple[str, ColumnType], None] = {}
        self._patterns: list[str] = []
        self._joined = 0

    def condition(self, tree: exp.Expr) -> exp.Expr:
        """Return the total SQL of a whole condition: true, false or null for every record; dates are canonical."""
        term = self._read(tree)
        if term.variable.stated is not ColumnType.BOOLEAN:
            refuse_value(term.variable)
        self._settle()
        return term.build()

    def value(self, tree: exp.Expr, *, fractions: bool = False, number: bool = False) -> tuple[exp.Expr, ColumnType]:
        """Return the total SQL of a whole value, and its kind; its dates are in canonical form.

        A whole number is null where doubles do not tell it from the next one, and a date where no calendar has it.
        Other numbers are values only with `fractions`; with `number` nothing else is.
        """
        term = self._read(tree)
        if number:
            term.variable.require(ColumnType.NUMBER)
        self._settle()
        kind = term.variable.kind
        if kind.is_opaque or not self.used:
            refuse_no_value(term.variable)
        if kind is not ColumnType.NUMBER:
            return on_calendar(term) if kind is ColumnType.DATE else term.build(), kind
        if not term.whole:
            if fractions:
                return read_as(term.build(), ColumnType.NUMBER), ColumnType.NUMBER
            refuse_fraction(next(iter(self.used)))
        return read_as(precise(term), ColumnType.INTEGER), ColumnType.INTEGER

    @property
    def readings(self) -> tuple[tuple[str, ColumnType], ...]:
        """What each column is read as, by name; a column that is also cast has two readings."""
        read = [(name, variable.kind) for name, variable in self._variables.items()]
        return tuple(dict.fromkeys([*read, *self._held]))

    @property
    def texts(self) -> tuple[str, ...]:
        """The quoted texts of the expression, which are looked for as they are spelt."""
        return tuple(dict.fromkeys([*(literal.name for literal, _ in self._quoted), *self._patterns]))

    def _settle(self) -> None:
        for _, _, variable in self._numbers:
            variable.settle_codes()
        for number, written, variable in self._numbers:
            if variable.kind is ColumnType.TEXT:  # a code: from here on it stands in quotes
                number.replace(exp.Literal.string(written))
        for check in self._checks:
            check()
        for quoted, variable in self._quoted:
            if variable.kind is ColumnType.DATE:
                quoted.replace(spell_date(quoted.name))
        self.notes = letter_by_letter(variable for _, variable in self._quoted)

    def _read(self, node: exp.Expr) -> Term:
        rule = _GRAMMAR.get(type(node))
        if rule is None:
            refuse_construct(words_of(node))
        read, allowed = rule
        extra = [key for key, value in node.args.items() if value and key not in allowed.split()]
        if extra:
            refuse_construct(f"{node.key.upper()} with {extra[0]}")
        return read(self, node)

    def _checked(self, variable: TypeVariable) -> TypeVariable:
        self._checks.append(variable.check)
        return variable

    def _several(self, nodes: Iterable[exp.Expr]) -> tuple[TypeVariable, list[Term]]:
        """Read parts that must be of one kind."""
        terms = [self._read(node) for node in nodes]
        for term in terms[1:]:
            terms[0].variable.join(term.variable)
        return terms[0].variable, terms

    def _compared(self, nodes: Iterable[exp.Expr], *, by_size: bool = False) -> list[Term]:
        """Read parts that are compared with each other, and so of one kind."""
        variable, terms = self._several(nodes)
        variable.compare(by_size=by_size)
        self._checks += [variable.check_order] if by_size else []
        return terms

    def _required(self, nodes: Iterable[exp.Expr], kind: ColumnType) -> list[Term]:
        terms = [self._read(node) for node in nodes]
        for term in terms:
            term.variable.require(kind)
        return terms

    def _truths(self, nodes: Iterable[exp.Expr]) -> list[Term]:
        """Read parts that must be true or false by themselves."""
        terms = [self._read(node) for node in nodes]
        for term in terms:
            term.variable.expect_truth()
        return terms

    # Leaves

    def _column(self, node: exp.Column) -> Term:
        column = self._resolve(node)
        known = None if column.kind is ColumnType.UNTYPED else column.kind
        known = ColumnType.NUMBER if known is ColumnType.INTEGER else known
        if column.name not in self._variables:
            self._variables[column.name] = self._checked(
                TypeVariable(known, column=column.name, type_name=column.type_name)
            )
        variable = self._variables[column.name]

        def build() -> exp.Expr:
            if variable.kind.is_opaque:
                return column.reference
            return read_column(column, variable.kind)

        return Term(variable, build, column.kind is ColumnType.INTEGER)

    def _resolve(self, node: exp.Column) -> Column:
        if not isinstance(node.this, exp.Identifier):
            refuse_construct(words_of(node.this))
        column = named_column(node, self._columns)
        self.used[column.name] = column
        return column

    def _literal(self, node: exp.Literal) -> Term:
        text = node.name
        if node.is_string:
            variable = self._checked(TypeVariable(literal=text))
            self._quoted.append((node, variable))
            return Term(variable, lambda: quoted_text(text, variable.kind))
        return self._number(node, text)

    def _number(self, node: exp.Expr, written: str) -> Term:
        number = float(written)
        if not math.isfinite(number):
            raise BadInput("expression", "holds a number beyond 1.8e308", "write a smaller number")
        variable = TypeVariable.of_number(written)
        self._numbers.append((node, written, variable))

        def build() -> exp.Expr:
            return exp.Literal.string(written) if variable.kind is ColumnType.TEXT else double(number)

        return Term(variable, build, number.is_integer())

    def _boolean(self, node: exp.Boolean) -> Term:
        return truth(lambda: exp.Boolean(this=bool(node.this)))

    def _null(self, _: exp.Null) -> Term:
        variable = self._checked(TypeVariable())
        return Term(variable, lambda: read_as(exp.Null(), variable.kind), whole=True)

    # Conditions

    def _equality(self, node: exp.Binary) -> Term:
        return _comparison(type(node), *self._compared([node.this, node.expression]))

    def _order(self, node: exp.Binary) -> Term:
        return _comparison(type(node), *self._compared([node.this, node.expression], by_size=True))

    def _between(self, node: exp.Between) -> Term:
        value, low, high = self._compared([node.this, node.args["low"], node.args["high"]], by_size=True)
        return truth(lambda: exp.Between(this=wrap(value), low=wrap(low), high=wrap(high)))

    def _in(self, node: exp.In) -> Term:
        if not node.expressions:
            refuse_construct("IN without a list")
        value, *items = self._compared([node.this, *node.expressions])
        return truth(lambda: exp.In(this=wrap(value), expressions=[item.build() for item in items]))

    def _is(self, node: exp.Is) -> Term:
        value = self._read(node.this)
        test = node.expression
        if isinstance(test, exp.Boolean):
            value.variable.require(ColumnType.BOOLEAN)
        elif not isinstance(test, exp.Null):
            refuse_construct(f"IS {words_of(test)}")
        return truth(lambda: exp.Is(this=wrap(value), expression=test.copy()))

    def _like(self, node: exp.Binary) -> Term:
        (value,) = self._required([node.this], ColumnType.TEXT)
        pattern = node.expression
        # A pattern from a record could be malformed; Spark also reads a backslash as an escape and DuckDB does not.
        if not (isinstance(pattern, exp.Literal) and pattern.is_string) or "\\" in pattern.name:
            raise BadInput("expression", "needs quoted text without a backslash after LIKE", "write LIKE 'a%'")
        self._patterns.append(pattern.name)

        def build() -> exp.Expr:
            like = type(node)(this=wrap(value), expression=exp.Literal.string(pattern.name))
            return exp.Not(this=exp.paren(like)) if node.args.get("negate") else like

        return truth(build)

    def _connector(self, node: exp.Connector) -> Term:
        terms = self._truths(operands(node))
        combine = exp.and_ if isinstance(node, exp.And) else exp.or_
        return truth(lambda: combine(*(wrap(term) for term in terms), copy=False))

    def _not(self, node: exp.Not) -> Term:
        (value,) = self._truths([node.this])
        return truth(lambda: exp.Not(this=wrap(value)))

    # Values

    def _paren(self, node: exp.Paren) -> Term:
        return self._read(node.this)

    def _negative(self, node: exp.Neg) -> Term:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return self._number(node, f"-{node.this.name}")
        (value,) = self._required([node.this], ColumnType.NUMBER)
        return Term(TypeVariable(ColumnType.NUMBER), lambda: exp.Neg(this=wrap(value)), value.whole)

    def _arithmetic(self, node: exp.Binary) -> Term:
        left, right = self._required([node.this, node.expression], ColumnType.NUMBER)
        return Term(
            TypeVariable(ColumnType.NUMBER),
            lambda: type(node)(this=wrap(left), expression=wrap(right)),
            left.whole and right.whole,
        )

    def _division(self, node: exp.Binary) -> Term:
        left, right = self._required([node.this, node.expression], ColumnType.NUMBER)
        zero = exp.cast(exp.Literal.string("0"), "DOUBLE")
        return Term(
            TypeVariable(ColumnType.NUMBER),
            lambda: type(node)(this=wrap(left), expression=exp.Nullif(this=right.build(), expression=zero.copy())),
            isinstance(node, exp.Mod) and left.whole and right.whole,
        )

    def _floor(self, node: exp.Floor | exp.Ceil) -> Term:
        (value,) = self._required([node.this], ColumnType.NUMBER)
        return Term(
            TypeVariable(ColumnType.NUMBER),
            lambda: read_as(type(node)(this=precise(value)), ColumnType.NUMBER),
            whole=True,
        )

    def _case(self, node: exp.Case) -> Term:
        branches = node.args["ifs"]
        if node.this is None:
            tests = self._truths(branch.this for branch in branches)
        else:
            subject, *values = self._compared([node.this, *(branch.this for branch in branches)])
            tests = [_comparison(exp.EQ, subject, value) for value in values]
        default = node.args.get("default") or exp.Null()
        variable, (otherwise, *results) = self._several([default, *(branch.args["true"] for branch in branches)])

        def build() -> exp.Expr:
            pairs = zip(tests, results, strict=True)
            ifs = [exp.If(this=test.build(), true=result.build()) for test, result in pairs]
            return exp.Case(ifs=ifs, default=otherwise.build())

        return Term(variable, build, all(result.whole for result in (otherwise, *results)))

    def _cast(self, node: exp.Cast) -> Term:
        target = node.args["to"]
        kind = CASTS.get(target.this.name)
        if kind is None:
            refuse_construct(f"CAST to {target.this.name}")
        stated = date_literal(node)
        if stated is not None:
            return Term(TypeVariable(ColumnType.DATE), lambda: date_sql(stated))
        if isinstance(node.this, exp.Column):
            # Under a cast a column is what the table holds, and says nothing about its other uses.
            column = self._resolve(node.this)
            held = {ColumnType.UNTYPED: ColumnType.TEXT, ColumnType.INTEGER: ColumnType.NUMBER}.get(
                column.kind, column.kind
            )
            self._held[column.name, held] = None
            # The cast says what the text is read as, so it is read as it is declared to be written.
            spelt = is_spelt(column, kind)
            if spelt:  # how it is written is then part of the question
                self._held[column.name, kind] = None
            value = Term(TypeVariable(held), lambda: read_column(column, kind) if spelt else column.reference)
        else:
            spelt = False
            value = self._read(node.this)

        def check() -> None:
            given = value.variable.kind
            if kind not in CASTABLE.get(given, ()):
                raise BadInput("expression", f"casts {given} to {kind}", "cast to text first, or not at all")

        self._checks.append(check)

        def build() -> exp.Expr:
            dated = kind is ColumnType.DATE and value.variable.kind is ColumnType.TEXT and not spelt
            cast = try_cast(as_instant(value.build()) if dated else value.build(), target.copy())
            return read_as(cast, kind, whole=whole) if kind in (ColumnType.NUMBER, ColumnType.DATE) else cast

        whole = target.this.name in WHOLE
        return Term(TypeVariable(kind), build, whole)

    def _coalesce(self, node: exp.Coalesce) -> Term:
        variable, (first, *others) = self._several([node.this, *node.expressions])
        return Term(
            variable,
            lambda: exp.Coalesce(this=first.build(), expressions=[other.build() for other in others]),
            all(term.whole for term in (first, *others)),
        )

    def _nullif(self, node: exp.Nullif) -> Term:
        value, empty = self._compared([node.this, node.expression])
        return Term(value.variable, lambda: exp.Nullif(this=value.build(), expression=empty.build()), value.whole)

    def _function(self, node: exp.Func) -> Term:
        function = FUNCTIONS[type(node)]
        (value,) = self._required([node.this], function.taken)
        return Term(
            TypeVariable(function.given),
            lambda: read_as(type(node)(this=value.build()), function.given, whole=function.whole),
            function.whole or value.whole,
        )

    def _round(self, node: exp.Round) -> Term:
        (value,) = self._required([node.this], ColumnType.NUMBER)
        places = _whole_number(node.args.get("decimals"), "ROUND(x, 2)", 0, _MOST_PLACES, otherwise=0)
        return Term(TypeVariable(ColumnType.NUMBER), lambda: rounded(value, places), whole=places == 0)

    def _part_of_text(self, node: exp.Substring | exp.Left | exp.Right) -> Term:
        """Read a part of a text, in characters: code points, which engines count alike."""
        (value,) = self._required([node.this], ColumnType.TEXT)
        if isinstance(node, exp.Substring):
            start = _whole_number(node.args.get("start"), "SUBSTR(text, 1, 3)", 1, _MOST_CHARACTERS)
            length = _whole_number(
                node.args.get("length"), "SUBSTR(text, 1, 3)", 0, _MOST_CHARACTERS, otherwise=_MOST_CHARACTERS
            )
        else:
            start, length = 1, _whole_number(node.expression, f"{node.key.upper()}(text, 3)", 0, _MOST_CHARACTERS)

        def build() -> exp.Expr:
            first: exp.Expr = exp.Literal.number(start)
            if isinstance(node, exp.Right):
                # The part that a shorter text does not have is left out: its first character has the number 1.
                before = exp.Sub(this=exp.Length(this=value.build()), expression=exp.Literal.number(length))
                after = exp.Greatest(this=before, expressions=[exp.Literal.number(0)], ignore_nulls=True)
                first = exp.cast(exp.Add(this=after, expression=exp.Literal.number(1)), "INT")
            return exp.Substring(this=value.build(), start=first, length=exp.Literal.number(length))

        return Term(TypeVariable(ColumnType.TEXT), build)

    def _concatenation(self, node: exp.DPipe) -> Term:
        left, right = (self._read(part) for part in (node.this, node.expression))
        for part in (left, right):
            if part.variable.stated not in (None, ColumnType.TEXT):
                refuse_construct("DPIPE")
            part.variable.require(ColumnType.TEXT)
        self._joined += 1
        if self._joined > _MOST_JOINED:
            raise BadInput("expression", f"joins texts with || more than {_MOST_JOINED} times", "write a shorter one")

        def cut(term: Term) -> exp.Expr:
            """Cut a text, for one very long text many times over would not fit in the engine's memory."""
            first, length = exp.Literal.number(1), exp.Literal.number(_LONGEST_JOINED)
            return exp.Substring(this=term.build(), start=first, length=length)

        return Term(TypeVariable(ColumnType.TEXT), lambda: exp.DPipe(this=cut(left), expression=cut(right)))

    def _extreme(self, node: exp.Greatest | exp.Least) -> Term:
        """Read the largest or least of several values; engines leave out those that are missing."""
        terms = self._compared([node.this, *node.expressions], by_size=True)
        return Term(
            terms[0].variable,
            lambda: type(node)(
                this=terms[0].build(), expressions=[term.build() for term in terms[1:]], ignore_nulls=True
            ),
            all(term.whole for term in terms),
        )

    def _date_difference(self, node: exp.DateDiff) -> Term:
        """Read how many years, months, days or hours begin after one date and up to another."""
        later, earlier = self._required([node.this, node.expression], ColumnType.DATE)
        unit = node.args.get("unit")
        if not isinstance(unit, exp.Var) or unit.name.upper() not in _SINCE:
            refuse_construct("DATE_DIFF")
        since = _SINCE[unit.name.upper()]
        return Term(
            TypeVariable(ColumnType.NUMBER),
            lambda: exp.Sub(this=exp.paren(since(later)), expression=exp.paren(since(earlier))),
            whole=True,
        )

    def _named_function(self, node: exp.Anonymous) -> Term:
        function = {"WEEKDAY": self._weekday, "HAS": self._has}.get(node.name.upper())
        if function is None:
            refuse_construct(words_of(node))
        return function(node.expressions)

    def _weekday(self, arguments: Sequence[exp.Expr]) -> Term:
        """Read a day of the week, from 1 for Monday to 7 for Sunday."""
        if len(arguments) != 1:
            raise BadInput("expression", "needs one date in WEEKDAY", "write WEEKDAY(day)")
        (value,) = self._required(arguments, ColumnType.DATE)

        def build() -> exp.Expr:
            days = read_as(days_since(value, "0001-01-01"), ColumnType.NUMBER)  # a Monday, and no date comes before
            rest = exp.Mod(this=exp.paren(days, copy=False), expression=double(7.0))
            return exp.Add(this=exp.paren(rest, copy=False), expression=double(1.0))

        return Term(TypeVariable(ColumnType.NUMBER), build, whole=True)

    def _has(self, arguments: Sequence[exp.Expr]) -> Term:
        """Read whether a cell that holds several choices holds a given one."""
        texts = [argument for argument in arguments[1:] if isinstance(argument, exp.Literal) and argument.is_string]
        if not 2 <= len(arguments) <= 3 or len(texts) < len(arguments) - 1:
            rule, remedy = "needs a column and quoted text in HAS", "write HAS(languages, 'Python', ';')"
            raise BadInput("expression", rule, remedy)
        part, delimiter = texts[0].name.strip(" "), texts[1].name if len(texts) == 2 else ";"
        if not part or not delimiter or " " in delimiter or delimiter in part:
            rule = "needs in HAS a choice that is not empty, and a delimiter that is not in it and has no blank"
            raise BadInput("expression", rule, "write HAS(languages, 'Python', ';')")
        (value,) = self._required(arguments[:1], ColumnType.TEXT)
        self._patterns.append(part)
        return truth(lambda: has_part(value.build(), part, delimiter))

    def _extract(self, node: exp.Extract) -> Term:
        part = extracted(node)
        if part is None:
            refuse_construct(f"EXTRACT({node.name.upper()} FROM …)")
        return self._read(part)


_MOST_PLACES = 12
_MOST_JOINED, _LONGEST_JOINED = 100, 100_000
_MOST_CHARACTERS = 1_000_000


def _whole_number(node: exp.Expr | None, example: str, least: int, most: int, *, otherwise: int | None = None) -> int:
    """Return the whole number that an expression writes out, and no record decides."""
    if node is None and otherwise is not None:
        return otherwise
    number = float(node.name) if isinstance(node, exp.Literal) and not node.is_string else None
    if number is None or not number.is_integer() or not least <= number <= most:
        function = example.partition("(")[0]
        rule = f"needs whole numbers from {least} to {most:,} after what {function} is of"
        raise BadInput("expression", rule, f"write for example {example}")
    return int(number)


def _part_of_date(value: Term, function: type[exp.Expr]) -> exp.Expr:
    return exp.paren(read_as(function(this=on_calendar(value)), ColumnType.NUMBER), copy=False)


def _months(value: Term) -> exp.Expr:
    years = exp.Mul(this=_part_of_date(value, exp.Year), expression=double(12.0))
    return exp.Add(this=years, expression=_part_of_date(value, exp.Month))


def _days(value: Term) -> exp.Expr:
    return read_as(days_since(value, "1970-01-01"), ColumnType.NUMBER)


def _hours(value: Term) -> exp.Expr:
    days = exp.Mul(this=exp.paren(_days(value), copy=False), expression=double(24.0))
    return exp.Add(this=days, expression=_part_of_date(value, exp.Hour))


_SINCE: dict[str, Callable[[Term], exp.Expr]] = {
    "YEAR": lambda value: _part_of_date(value, exp.Year),
    "MONTH": _months,
    "DAY": _days,
    "HOUR": _hours,
}
"""The number of the unit that a date lies in, counted from one that is the same for all."""


def _comparison(sign: type[exp.Expr], left: Term, right: Term) -> Term:
    return truth(lambda: sign(this=wrap(left), expression=wrap(right)))


_GRAMMAR: dict[type[exp.Expr], tuple[Callable[..., Term], str]] = {
    exp.Column: (ConditionCompiler._column, "this"),
    exp.Literal: (ConditionCompiler._literal, "this is_string"),
    exp.Boolean: (ConditionCompiler._boolean, "this"),
    exp.Null: (ConditionCompiler._null, ""),
    exp.Paren: (ConditionCompiler._paren, "this"),
    **dict.fromkeys((exp.EQ, exp.NEQ), (ConditionCompiler._equality, "this expression")),
    **dict.fromkeys((exp.LT, exp.LTE, exp.GT, exp.GTE), (ConditionCompiler._order, "this expression")),
    exp.Between: (ConditionCompiler._between, "this low high"),
    exp.In: (ConditionCompiler._in, "this expressions"),
    exp.Is: (ConditionCompiler._is, "this expression"),
    **dict.fromkeys((exp.Like, exp.ILike), (ConditionCompiler._like, "this expression negate")),
    **dict.fromkeys((exp.And, exp.Or), (ConditionCompiler._connector, "this expression")),
    exp.Not: (ConditionCompiler._not, "this"),
    exp.Neg: (ConditionCompiler._negative, "this"),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), (ConditionCompiler._arithmetic, "this expression")),
    **dict.fromkeys((exp.Div, exp.Mod), (ConditionCompiler._division, "this expression safe typed")),
    exp.Case: (ConditionCompiler._case, "this ifs default"),
    **dict.fromkeys((exp.Cast, exp.TryCast), (ConditionCompiler._cast, "this to safe")),
    exp.Coalesce: (ConditionCompiler._coalesce, "this expressions"),
    exp.Nullif: (ConditionCompiler._nullif, "this expression"),
    **dict.fromkeys((exp.Floor, exp.Ceil), (ConditionCompiler._floor, "this")),
    exp.Round: (ConditionCompiler._round, "this decimals"),
    exp.Substring: (ConditionCompiler._part_of_text, "this start length"),
    **dict.fromkeys((exp.Left, exp.Right), (ConditionCompiler._part_of_text, "this expression")),
    exp.DPipe: (ConditionCompiler._concatenation, "this expression safe"),
    **dict.fromkeys((exp.Greatest, exp.Least), (ConditionCompiler._extreme, "this expressions ignore_nulls")),
    exp.DateDiff: (ConditionCompiler._date_difference, "this expression unit date_part_boundary"),
    exp.Anonymous: (ConditionCompiler._named_function, "this expressions"),
    exp.Extract: (ConditionCompiler._extract, "this expression"),
    **dict.fromkeys(FUNCTIONS, (ConditionCompiler._function, "this")),
}
