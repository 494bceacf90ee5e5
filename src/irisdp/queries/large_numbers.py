"""A note on numbers so large that doubles, which every comparison uses, cannot distinguish neighbouring values."""

from __future__ import annotations

from sqlglot import exp

from .columns import Note

__all__ = ["rounded_numbers"]

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
