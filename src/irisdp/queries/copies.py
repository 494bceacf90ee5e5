"""How often a statement repeats the parts of an expression, before it is built: a public fact, and bounded.

Reading a number, dividing and rounding repeat their operand, and a CASE with a subject repeats it for each WHEN. A few
nested ones of a hundred characters would keep an engine busy for hours.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ..errors import BadInput
from .columns import Column, Kind
from .kinds import CASTS, WHOLE
from .terms import FUNCTIONS

__all__ = ["check_copies"]

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
    parts = {name: sum(1 for _ in part.walk()) for name, part in derived.items()}
    copies = 0
    # Not by recursion: a chain of a thousand alternatives is deep here, and is none to who reads it.
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
    if isinstance(node, exp.Floor | exp.Ceil):
        return 4
    if isinstance(node, exp.Div | exp.Mod):
        return 2 if key == "expression" else 1
    if isinstance(node, exp.Nullif | exp.Between):
        return 2 if key == "this" else 1
    if isinstance(node, exp.Case):
        return max(1, len(node.args["ifs"])) if key == "this" else 1
    if isinstance(node, exp.Cast):
        target = node.args["to"].this.name
        return 2 if CASTS.get(target) is Kind.NUMBER and target not in WHOLE else 1
    function = FUNCTIONS.get(type(node))
    return 2 if function is not None and function.given is Kind.NUMBER and not function.whole else 1
