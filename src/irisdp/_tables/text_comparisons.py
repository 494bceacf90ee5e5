"""A note on dates or numbers compared as text: the comparison is alphabetical.

It follows from the question and the schema alone. A text file has no types (docs/decisions/text-files.md), and a column
that nothing declares a type of is text beside quoted text; so `admitted >= '2024-01-01'` finds `31.12.2023`, and knows
no offset.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from .columns import Column, ColumnType, Note, list_names, read_value

_DATE_LIKE = re.compile(r"\s*(\d{4}-\d{1,2}(-\d{1,2})?|\d{1,4}[./-]\d{1,2}[./-]\d{1,4})([T ].*)?\s*", re.DOTALL)
_DAY_FIRST = re.compile(r"\s*\d{1,2}[./-]\d{1,2}[./-]\d{2,4}.*", re.DOTALL)
_NUMBER_LIKE = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)\s*")
_AMOUNT = re.compile(r"[+-]?(?:0|[1-9][0-9]*)\.(?:[0-9]*0)?|\+(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
"""A number with a last zero after the point, or with a sign, as amounts are written and codes seldom are."""
_CODE = re.compile(r"0[0-9]+(?:\.[0-9]+)?|(?:0|[1-9][0-9]*)\.[0-9]*0")
"""A code rather than a number: a leading zero, or a zero at the end of a fraction, as in 01234 and 12.10."""
_DIGITS = re.compile("0|[1-9][0-9]{0,17}")
_MOST_LOOKED_AT = 5


def compared_by_letters(columns: Sequence[str], literals: Sequence[str], *, by_size: bool, typed: bool) -> Note | None:
    """Say that columns are compared as text with what looks like a date, or by size with what looks like a number.

    Parameters
    ----------
    columns : sequence of str
        Those that the texts are compared with; none where a function gave the text.
    literals : sequence of str
        Quoted texts of the condition.
    by_size : bool
        Whether some comparison asks which is larger.
    typed : bool
        Whether a schema, a declared type or a function says that it is text; otherwise nothing says what it is.
    """
    dated = next((text for text in literals if _DATE_LIKE.fullmatch(text)), None)
    number = next((text for text in literals if _NUMBER_LIKE.fullmatch(text)), None) if by_size else None
    text = number if dated is None else dated
    if text is None:
        return None if typed or by_size or not columns else _spelt_as_a_number(columns, literals)
    if not columns and not typed:  # quoted texts among themselves
        return None
    subject = f"{list_names(columns)} as text" if columns else "text"
    fact = f"with {subject}, compared with '{text[:40]}' letter by letter"
    if dated is None:
        remedy = f"write {'CAST(… AS DOUBLE) and ' if typed else ''}the number without quotes to compare sizes"
        return Note(f"{fact}: '10' comes before '9'", remedy, beside_answer=True)
    spelt = _spelt(dated)
    remedy = f"write {spelt[0]} '{spelt[1]}' to compare times, or declare the type of {list_names(columns)}"
    if typed:
        remedy = f"write CAST(… AS TIMESTAMP) beside '{spelt[1]}' to compare times"
    # Times are ordered as their letters are where the year comes first: 31.12.2023 comes behind 01.01.2024.
    disordered = by_size and any(_DAY_FIRST.fullmatch(text) for text in literals)
    return Note(f"{fact}: no other spelling of a date and no time zone is known", remedy, beside_answer=disordered)


def _codes_of_numbers(column: Column, values: Sequence[Any]) -> Note | None:
    """Note that 01.10 is the number 1.1 in a column of numbers: codes that were read as numbers are merged."""
    code = next((value for value in values if isinstance(value, str) and _CODE.fullmatch(value)), None)
    if code is None:
        return None
    plain = f"{Decimal(code).normalize():f}"
    fact = f"with {column.name} as a number: {code[:40]} counts every record of {plain[:40]}, however it was spelt"
    return Note(fact, f"read {column.name} as text if it holds codes (pandas: dtype=str)", beside_answer=True)


def _spelt_as_a_number(columns: Sequence[str], literals: Sequence[str]) -> Note | None:
    """Say that 20.00 is looked for as a text where somebody may mean a number: no leading zero makes it a code."""
    written = next((text for text in literals if _AMOUNT.fullmatch(text)), None)
    if written is None:
        return None
    plain = f"{Decimal(written).normalize():f}"
    fact = f"with {list_names(columns)} as text: {written[:40]} finds records that spell it so, and not {plain[:40]}"
    remedy = f"declare the type of {list_names(columns)} to compare numbers"
    return Note(fact, f"write {plain[:40]}, or {remedy}" if len(literals) == 1 else remedy, beside_answer=True)


def grouped_by_letters(column: Column, values: Sequence[Any]) -> Note | None:
    """Say where groups, or categories, are found by one spelling, and where by a number that is spelt otherwise."""
    if column.kind in (ColumnType.NUMBER, ColumnType.INTEGER):
        return _codes_of_numbers(column, values)
    computed = column.derivation is not None and column.derivation.shown
    looked_at = [value for value in values[:_MOST_LOOKED_AT] if isinstance(value, str)]
    if column.kind is not ColumnType.TEXT or computed or not looked_at:
        return None
    if not all(_DATE_LIKE.fullmatch(value) and _is_date(value) for value in looked_at):
        number = next((value for value in looked_at if _DIGITS.fullmatch(value)), None)
        if number is None:
            return None
        fact = f"with {column.name} as text: {number} counts records that spell it so, and not 0{number} or {number}.0"
        return Note(fact, f"declare the type of {column.name} to compare numbers")
    fact = (
        f"with {column.name} as text: a date is found where it is spelt as '{looked_at[0][:40]}' is, and nowhere else"
    )
    return Note(
        fact, f"declare the type of {column.name}, or group by 'on_day = CAST({column.name} AS DATE)', to find days"
    )


def _is_date(text: str) -> bool:
    return isinstance(read_value(text, ColumnType.DATE), datetime)


def _spelt(text: str) -> tuple[str, str]:
    """Return the word of SQL and the spelling of a date, or of an example where nobody knows which date is meant."""
    value = read_value(text, ColumnType.DATE)
    if not isinstance(value, datetime):
        return "DATE", "2024-12-31"
    return ("DATE", str(value.date())) if value == datetime.combine(value, time()) else ("TIMESTAMP", text.strip())
