"""The public choices that belong to a question about a column: which categories, which bins, which bounds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ..errors import BadInput
from .contribution import ONE_RECORD, Contribution

__all__ = ["Choices"]

_TAKEN = {
    "categories": "plurality, top, ranking, histogram, sizes and column",
    "bins": "histogram, median and quantile",
    **dict.fromkeys(("lower", "upper", "step", "missing"), "sum and mean"),
    **dict.fromkeys(("weight", "weight_upper"), "sum"),
}
"""Which queries take which choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What was chosen, as it was given; None stands for what was left out.

    Attributes
    ----------
    categories, bins, lower, upper, step, missing, weight, weight_upper
        As for `irisdp.publish`.
    unit : str or None
        The column that says whose record it is, as it was given.
    contribution : Contribution
        How many records one person has that count, for questions which keep it (`registry.keep_contribution`).
    """

    categories: Any = None
    bins: Any = None
    lower: Any = None
    upper: Any = None
    step: Any = None
    missing: Any = None
    weight: Any = None
    weight_upper: Any = None
    contribution: Contribution = ONE_RECORD
    unit: Any = None

    def refuse_all_but(self, query: str, *taken: str) -> None:
        """Refuse choices that a query, or what it is called in a message, has no use for."""
        for field in fields(self):
            if field.name in _TAKEN and field.name not in taken and getattr(self, field.name) is not None:
                rule = f"is not for {query}, but for {_TAKEN[field.name]}"
                raise BadInput(field.name, rule, "leave it out, or ask one of those")
