"""LIKE in Spark, in time that grows with a text's length alone.

Spark turns a pattern into a regular expression that goes back over the text: one record of some kilobytes keeps
`'%heart%failure%acute%'` busy for hours. Between two `%` is a piece of one length in characters. So if a match exists,
one exists with each piece at its first place behind the one before, and the search never goes back. Atomic groups in
the pattern keep Java from going back.
"""

from __future__ import annotations

import re

from sqlglot import exp

from ..errors import BadInput

__all__ = ["expression_of", "like_for_spark"]

_MOST_WILDCARDS = 200
"""In a pattern: Java goes a level deeper for each, and how deep it gets, the text decides."""


def like_for_spark(node: exp.Binary) -> exp.Expr:
    """Return Spark's SQL for a text that is LIKE a literal pattern; simple patterns stay unchanged.

    Raises
    ------
    BadInput
        For a pattern of very many `%` and `_`, which is public.
    """
    pattern = node.expression.name
    pieces = re.split("%+", pattern)
    if len(pieces) <= 2 or (len(pieces) == 3 and not pieces[0] and not pieces[2]):
        return node
    if len(pieces) + pattern.count("_") > _MOST_WILDCARDS:
        rule = f"has more than {_MOST_WILDCARDS} signs % and _ after LIKE, which Spark does not take"
        raise BadInput("expression", rule, "write a shorter pattern")
    value = node.this
    if isinstance(node, exp.ILike):
        value, pattern = exp.Lower(this=value), pattern.lower()
    return exp.paren(exp.RegexpLike(this=value, expression=exp.Literal.string(expression_of(pattern))), copy=False)


def expression_of(pattern: str) -> str:
    """Return the regular expression, in Java's words, that finds what is LIKE a pattern.

    Examples
    --------
    >>> expression_of("a%b_%")
    '(?s)^a(?>.*?b.)'
    """
    first, *middle, last = map(_piece, re.split("%+", pattern))
    found = "".join(f"(?>.*?{piece})" for piece in middle)
    return f"(?s)^{first}{found}" + (f".*{last}\\z" if last else "")


def _piece(text: str) -> str:
    r"""Write a part without `%`: `_` is one character of any kind, everything else itself.

    Letters, digits and what is not ASCII stand for themselves in every language of expressions; the rest as \x2a.
    """
    return "".join(
        "." if one == "_" else one if one.isalnum() or ord(one) > 127 else f"\\x{ord(one):02x}" for one in text
    )
