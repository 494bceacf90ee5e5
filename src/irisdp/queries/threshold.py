"""What `at-least K [EXPR]` and `at-most K [EXPR]` have in common: a count is compared with a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ..errors import BadInput
from ..exact import integer
from .query import YesOrNo, as_asked, check_expression, check_one_condition, split_number

__all__ = ["Threshold"]

_LARGEST = 2**62
_BEGINS_A_NUMBER = re.compile(r"[+-]?[.]?[0-9]")


@dataclass(frozen=True, slots=True)
class Threshold(YesOrNo):
    """Whether the records for which a condition is true (all records without one) are on one side of a number.

    Parameters
    ----------
    threshold : int
        K ≥ 0.
    expression : str, optional
        SQL condition.
    """

    threshold: int
    expression: str | None = None

    name: ClassVar[str]
    exchange_steps: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what was given."""
        threshold: Any = self.threshold
        object.__setattr__(self, "threshold", integer(threshold, "threshold", at_least=0, at_most=_LARGEST))
        check_expression(self.expression, self.name, self.threshold, needed=False)

    @classmethod
    def read(cls, words: Sequence[Any]) -> Self:
        """Read ``K [EXPR]``."""
        words = split_number(words)
        check_one_condition(words[1:], cls.name)
        if not words or (isinstance(words[0], str) and not _BEGINS_A_NUMBER.match(words[0].strip())):
            example = as_asked(cls.name, 100, "age > 64")
            raise BadInput("query", f"{cls.name} needs a number K", f"write for example {example}")
        return cls(integer(words[0], "K", at_least=0, at_most=_LARGEST), *words[1:])

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name, "threshold": str(self.threshold)}
