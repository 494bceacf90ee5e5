"""The page Design: the best mechanism for a question of the user's, with its proof and its pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .design_fields import DESIGN_FIELDS, KINDS
from .lanes import answer
from .results import Answer, Hint, Values
from .room import Room

if TYPE_CHECKING:
    from ..children import Phase
    from .results import Result

__all__ = ["DESIGN", "design_work"]

_ASKS = ("graph", "family", "spec", "colors", "rankings")
"""Fields that hold nothing before something is asked of a graph, or by a spec."""


def design_work(values: Values, say: Phase) -> Result:
    """Compute the result of this page, in the worker process."""
    from .designing import design

    return design(values, say)


def _answer(values: Values) -> Answer:
    kind = KINDS.get(values["kind"])
    on_graph = values["kind"] == "spec" or (kind is not None and kind.graph)
    if on_graph and not any(values[name].strip() for name in _ASKS):
        return Hint("Paste a graph, draw one or choose a family, and say what is true where; then press Design.")
    return answer("design", design_work, values)


DESIGN = Room(
    name="design",
    title="Design",
    summary="Paste or draw a graph, or choose a family: the best private mechanism for it, with its proof.",
    introduction=(
        "Inputs are nodes; an edge joins neighbours, which no answer may tell apart. Colours or rankings say what is"
        " true where. Found is the best private mechanism, and what it was compared with."
    ),
    fields=DESIGN_FIELDS,
    answer=_answer,
    submit="Design",
    posts=True,
)
