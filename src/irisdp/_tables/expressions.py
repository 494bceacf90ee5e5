"""EXPR: a SQL expression over one record, checked before anything is read: a condition, or a value to group by.

A condition is null (no answer), true or false per record, a value is null or of one kind, and both depend on that
record alone. Numbers are compared and computed as IEEE doubles: whole numbers beyond 2^53 are rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from sqlglot import exp

from .._aliases import meant_option
from .._exact import plain_text
from ..errors import BadInput
from .columns import Column, ColumnType, Derivation, Note, is_unknown_column, list_names, names_are_public
from .sql_types import CASTS, FUNCTIONS, WHOLE

if TYPE_CHECKING:
    from .sql_compiler import ConditionCompiler


# Bound how often a statement repeats the parts of an expression, before it is built. The number is a public fact.
#
# Reading a number, dividing and rounding repeat their operand, and a CASE with a subject repeats it for each WHEN. A
# few nested ones of a hundred characters would keep an engine busy for hours.

_MOST_COPIES = 1 << 13
"""Parts that are repeated: some seconds of an engine's. A flat expression of the greatest length stays below."""


def check_copies(tree: exp.Expr, columns: Sequence[Column]) -> None:
    """Refuse an expression whose parts a statement would repeat too often.

    Raises
    ------
    BadInput
        For more than 8192 repeated parts.
    """
    derived = {column.name.casefold(): column.derivation.tree for column in columns if column.derivation is not None}
    parts = {name: sum(1 for _ in part.walk()) for name, part in derived.items() if part is not None}
    copies = 0
    # Not by recursion: a chain of a thousand alternatives is a deep tree.
    left = [(tree, 1)]
    while left:
        node, times = left.pop()
        if isinstance(node, exp.Column):
            copies += parts.get(node.name.casefold(), 1) * (2 * times - 1)
            continue
        copies += times - 1
        for key, value in node.args.items():
            held = value if isinstance(value, list) else [value]
            left += [(part, times * _times(node, key)) for part in held if isinstance(part, exp.Expr)]
    if copies > _MOST_COPIES:
        rule = "nests what divides, rounds, computes or chooses so deeply that a statement would repeat its parts"
        raise BadInput("expression", f"{rule} more than {_MOST_COPIES} times", "write a shorter one")


def _times(node: exp.Expr, key: str) -> int:
    """Tell how often the statement holds an argument of a node."""
    if isinstance(node, exp.Round):
        return 5 if key == "this" else 1
    if isinstance(node, exp.DateDiff):
        return 4
    if isinstance(node, exp.Floor | exp.Ceil):
        return 4
    if isinstance(node, exp.Right | exp.Anonymous):
        return 2
    if isinstance(node, exp.Div | exp.Mod):
        return 2 if key == "expression" else 1
    if isinstance(node, exp.Nullif | exp.Between):
        return 2 if key == "this" else 1
    if isinstance(node, exp.Case):
        return max(1, len(node.args["ifs"])) if key == "this" else 1
    if isinstance(node, exp.Cast):
        target = node.args["to"].this.name
        return 2 if CASTS.get(target) is ColumnType.NUMBER and target not in WHOLE else 1
    function = FUNCTIONS.get(type(node))
    return 2 if function is not None and function.given is ColumnType.NUMBER and not function.whole else 1


_T = TypeVar("_T")

_MOST_CHARACTERS = 10_000
_NO_CONDITION = ("is not a SQL condition", 'write one such as "age > 64", with balanced quotes and parentheses')
_BARE_DATE = re.compile(r"(1[89]|2[01])\d\d([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(1[89]|2[01])\d\d")
_NO_VALUE = ("is not a SQL expression", 'write one such as "YEAR(born)", with balanced quotes and parentheses')


@dataclass(frozen=True, slots=True)
class Condition:
    """A checked condition.

    Attributes
    ----------
    text : str
        The condition in one form and spelling, for the ledger; it is public. `tree` is built from it and the columns
        alone, so two conditions with one text are one condition.
    shown : str
        The condition in the order it was written in, for people.
    columns : tuple of Column
        The columns it reads.
    tree : sqlglot expression
        Its total form: evaluating it never fails, on any record.
    notes : tuple of Note
        What it reads otherwise than somebody may expect.
    readings : tuple of (str, Kind)
        What it reads each of its columns as.
    texts : tuple of str
        The quoted texts in it.
    """

    text: str
    shown: str
    columns: tuple[Column, ...]
    tree: exp.Expr = field(repr=False)
    notes: tuple[Note, ...] = field(default=(), repr=False, compare=False)
    readings: tuple[tuple[str, ColumnType], ...] = field(default=(), repr=False, compare=False)
    texts: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def sql(self, dialect: str = "duckdb") -> str:
        """Write the total form for an engine ("duckdb" or "spark"); columns are those of a relation `data`."""
        return self.tree.sql(dialect)


def read_condition(text: Any, columns: Sequence[Column]) -> Condition:
    """Read a SQL condition (DuckDB's dialect) over given columns.

    Parameters
    ----------
    text : str
        For instance ``age >= 65 AND region IN ('north', 'east')``.
    columns : sequence of Column
        What the table has. An untyped column (CSV) gets the type of its partner in a comparison or computation. With a
        number it is a number; with text it is text; with a number that is written as a code, as in ``zip = 01234``, it
        is text. That is a function of the condition alone, so no record changes another's meaning.

    Returns
    -------
    Condition
        Total: null, true or false for every record, whatever it holds.

    Raises
    ------
    BadInput
        For what is no condition, holds anything outside the grammar of `_tables/sql_compiler.py` (naming it), an
        unknown column, or a column used as two kinds.

    Examples
    --------
    >>> from irisdp._tables.columns import Column, ColumnType
    >>> read_condition("age > 64", [Column("age", ColumnType.INTEGER)]).text
    'age > 64'
    """
    from .sql_compiler import ConditionCompiler

    if not isinstance(text, str) or not text.strip():
        raise BadInput("expression", "must be a SQL condition", "write one such as \"age > 64 AND region = 'north'\"")

    def compiled(tree: exp.Expr) -> tuple[exp.Expr, ConditionCompiler, tuple[Note, ...]]:
        compiler = ConditionCompiler(columns)
        total = compiler.condition(tree)
        return total, compiler, _notes(tree, compiler)

    canonical, shown, (total, condition, notes) = _checked(text, columns, compiled, _NO_CONDITION)
    return Condition(
        canonical, shown, tuple(condition.used.values()), total, notes, condition.readings, condition.texts
    )


def read_value_of_record(
    text: Any, columns: Sequence[Column], *, fractions: bool = False, number: bool = False
) -> tuple[ColumnType, Derivation]:
    """Read a SQL expression (DuckDB's dialect) over given columns that is a value: text, a whole number, truth, a date.

    Parameters
    ----------
    text, columns
        As for `read_condition`; for instance ``CASE WHEN age < 18 THEN 'child' ELSE 'adult' END``.
    fractions : bool
        Whether numbers that need not be whole are values, too.
    number : bool
        Whether the value must be a number; an untyped column alone is read as one then.

    Returns
    -------
    tuple of (Kind, Derivation)
        Total: null or a value of that kind for every record. The kind is found from the text and the columns alone.

    Raises
    ------
    BadInput
        As `read_condition`; and for an expression without a column, and a group that is a number and need not be whole.

    Examples
    --------
    >>> kind, derivation = read_value_of_record("floor(age / 10) * 10.0", [Column("age", ColumnType.UNTYPED)])
    >>> str(kind), derivation.text
    ('a whole number', 'FLOOR(age / 10) * 10')
    """
    from .sql_compiler import ConditionCompiler

    if not isinstance(text, str) or not text.strip():
        raise BadInput("expression", "must be a SQL expression", 'write one such as "YEAR(born)"')

    def compiled(tree: exp.Expr) -> tuple[exp.Expr, ColumnType, ConditionCompiler, tuple[Note, ...]]:
        compiler = ConditionCompiler(columns)
        total, kind = compiler.value(tree, fractions=fractions, number=number)
        return total, kind, compiler, _notes(tree, compiler)

    canonical, shown, (total, kind, found, notes) = _checked(text, columns, compiled, _NO_VALUE)
    used = tuple(found.used.values())
    return kind, Derivation(canonical, shown, used, total, notes, found.readings, found.texts)


def _checked(
    text: str, columns: Sequence[Column], compiled: Callable[[exp.Expr], _T], no_such: tuple[str, str]
) -> tuple[str, str, _T]:
    """Parse an expression and bring it into its one form; return that, a spelling for people, and the form compiled."""
    from .canonical_sql import one_form, spell

    plain_text(text, "expression")
    if len(text) > _MOST_CHARACTERS:
        raise BadInput("expression", f"has more than {_MOST_CHARACTERS} characters", "write a shorter one")
    try:
        tree = _parse(text)
        check_copies(tree, columns)
        compiled(tree)  # refuses what is outside the grammar before it is written again
        shown = spell(tree, columns)
        canonical = spell(one_form(_parse(shown), lambda part: spell(part, columns)), columns)
        return canonical, shown, compiled(_parse(canonical))
    except BadInput as error:
        if is_unknown_column(error):  # first-name is a difference of two columns
            _refuse_bare_names(text, columns)
            _refuse_options(text, columns)
        raise
    except RecursionError:
        raise BadInput("expression", "is nested too deeply", "write a shorter one") from None
    except Exception:
        # Parsers meet stray tokens with errors of every kind; the text is public, and nothing has been read yet.
        _refuse_bare_names(text, columns)
        _refuse_options(text, columns)
        _refuse_words_of_sql(text, columns)
        raise BadInput("expression", *no_such) from None


def _refuse_bare_names(text: str, columns: Sequence[Column]) -> None:
    """Say of a condition that cannot be read that a column in it needs quotes, where one with a space or sign does."""
    written = text.casefold()
    for column in columns if names_are_public(columns) else ():
        name = column.name.casefold()
        if not name.isidentifier() and name in written and f'"{name}"' not in written:
            rule = f"holds the name {column.name!r} without quotes"
            raise BadInput(
                "expression", rule, f"write the column in double quotes, as in '\"{column.name}\" > 64'"
            ) from None


def _refuse_options(text: str, columns: Sequence[Column]) -> None:
    """Say of a condition that cannot be read that it begins like an option, as in where=age > 64 and groupby=town."""
    begins = re.match(r"\s*(where)\b|\s*(\w+)\s*=", text, re.IGNORECASE)
    if begins is None:
        return
    if begins[1] or begins[2].casefold() == "where":
        remedy = "leave out the word where, and write the condition alone"
        raise BadInput("expression", f"begins with the word {begins[1] or begins[2]}", remedy) from None
    word = begins[2]
    if meant_option(word) == "by" and not any(column.name.casefold() == word.casefold() for column in columns):
        raise BadInput(
            "expression", f"begins with {word}=, which names no column", "to group answers, add by=…"
        ) from None


def _notes(tree: exp.Expr, compiler: ConditionCompiler) -> tuple[Note, ...]:
    """Return what a plan says of an expression that may mean something else than people think."""

    missing = notes_on_missing(tree, compiler.used, dict(compiler.readings))
    return (*compiler.notes, *rounded_numbers(tree), *missing)


def _refuse_bare_dates(tokens: Sequence[Any], text: str) -> None:
    """Refuse a date without quotes: SQL takes 2024-01-01 for 2024 minus 1 minus 1."""
    start = end = -1
    for token in tokens:
        if not (token.text[:1].isdigit() or token.text in ("-", "/", ".")) or text[token.start] in "'\"":
            continue
        start, end = (start if token.start == end else token.start), token.end + 1
        written = text[start:end]
        if _BARE_DATE.fullmatch(written):
            day = written if written[:4].isdigit() and "-" in written else "2024-12-31"
            rule = f"holds {written} without quotes, which is read as a calculation and not as a date"
            raise BadInput("expression", rule, f"write a date as DATE '{day}', or blanks around each sign to calculate")


def _refuse_words_of_sql(text: str, columns: Sequence[Column]) -> None:
    """Say of a condition that cannot be read that a column in it is called like a word of SQL, where one is."""
    for column in columns:
        bare = rf'(?<!["\w]){re.escape(column.name)}(?!["\w])'
        if re.search(bare, text, re.IGNORECASE) and not _stands_alone(column.name):
            rule = f"holds {column.name}, which names a column and is a word of SQL"
            remedy = f"write the column in double quotes, as in '\"{column.name}\" > 64'"
            raise BadInput("expression", rule, remedy) from None


def _stands_alone(name: str) -> bool:
    """Tell whether a name may be written without quotes."""
    from sqlglot import exp

    try:
        return isinstance(_parse(name), exp.Column)
    except Exception:
        return False


def _parse(text: str) -> exp.Expr:
    """Parse one condition; sqlglot drops comments and a last semicolon silently, so they are looked for first."""
    import sqlglot
    from sqlglot import exp

    tokens = sqlglot.tokenize(text, read="duckdb")
    if any(token.comments for token in tokens):
        raise BadInput("expression", "holds a comment", "leave comments out")
    if any(token.token_type == sqlglot.TokenType.SEMICOLON for token in tokens):
        raise BadInput("expression", "holds a semicolon", "write one condition, not several statements")
    _refuse_bare_dates(tokens, text)
    if _joined_signs(tokens):  # parsers drop such a sign, and a code may begin with one
        (tree,) = sqlglot.Dialect.get_or_raise("duckdb").parser().parse_into(exp.Condition, tokens, text)
    else:
        tree = sqlglot.parse_one(text, read="duckdb", into=exp.Condition)
    if tree is None:
        raise BadInput("expression", *_NO_CONDITION)
    return tree


def _joined_signs(tokens: list[Any]) -> bool:
    """Make one token of a plus and the number after it, where a comparison or a list gives nothing to add to."""
    from sqlglot import TokenType

    before = (TokenType.EQ, TokenType.NEQ, TokenType.L_PAREN, TokenType.COMMA, TokenType.WHEN)
    places = [
        place
        for place in range(1, len(tokens) - 1)
        if (tokens[place - 1].token_type, tokens[place + 1].token_type) in {(kind, TokenType.NUMBER) for kind in before}
        and tokens[place].token_type == TokenType.PLUS
    ]
    for place in reversed(places):
        tokens[place + 1].text = f"+{tokens[place + 1].text}"
        del tokens[place]
    return bool(places)


# A note on numbers so large that doubles, which every comparison uses, cannot distinguish neighbouring values.

_FIRST_ROUNDED = 2**53


def rounded_numbers(tree: exp.Expr) -> tuple[Note, ...]:
    """Say of an expression that a number of it is compared as a double; it follows from the expression alone."""
    for literal in tree.find_all(exp.Literal):
        if not literal.is_string and float(literal.name) >= _FIRST_ROUNDED:
            fact = (
                f"with {literal.name} as a double: from 2^53 (9007199254740992) on, neighbouring whole numbers are one"
                " and the same"
            )
            remedy = "write CAST(… AS VARCHAR) = '…' to tell them apart, or group by the column"
            return (Note(fact, remedy, beside_answer=True),)
    return ()


# A note on missing values: a comparison with NULL holds for no record, and the text NA is a value.

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def notes_on_missing(
    tree: exp.Expr, used: Mapping[str, Column], readings: Mapping[str, ColumnType]
) -> tuple[Note, ...]:
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


def _asked_for_missing(
    tree: exp.Expr, used: Mapping[str, Column], readings: Mapping[str, ColumnType]
) -> tuple[Note, ...]:
    subjects = [node.this for node in tree.find_all(exp.Is) if isinstance(node.expression, exp.Null)]
    subjects += [node.this for node in tree.find_all(exp.Coalesce)]
    asked = {part.unnest().name.casefold() for part in subjects if isinstance(part.unnest(), exp.Column)}
    names = [
        name
        for name, column in used.items()
        if column.kind is ColumnType.UNTYPED and readings.get(name) is ColumnType.TEXT and name.casefold() in asked
    ]
    if not names or any(literal.name == "NA" for literal in tree.find_all(exp.Literal)):
        return ()
    fact = f"with {list_names(names)} as text: the texts NA and null are values, and not NULL"
    return (Note(fact, "compare with 'NA' where that means a missing value", beside_answer=True),)
