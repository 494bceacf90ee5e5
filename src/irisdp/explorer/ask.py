"""The room Ask: what a question costs and how far off its answer will be, before there is a table.

A question is planned about a table without records, as `publish --dry-run` plans it: what a plan says follows from
public facts alone.
"""

from __future__ import annotations

from typing import Any

from ..errors import BadInput
from .forms import Field
from .results import Fact, Result, Values
from .room import Room

__all__ = ["ASK"]

_FIELDS = (
    Field(name="query", label="Question", kind="choice", default="count", choices=(("count", "How many records?"),)),
    Field(
        name="size",
        label="Size of the group",
        kind="number",
        default="200",
        unit="records",
        low=10,
        high=1e5,
        logarithmic=True,
        whole=True,
    ),
    Field(
        name="by",
        label="Say",
        kind="choice",
        default="epsilon",
        choices=(("epsilon", "the privacy, ε"), ("within", "the error, and find the least ε")),
    ),
    Field(
        name="epsilon",
        label="ε",
        kind="number",
        default="1",
        low=0.01,
        high=10,
        logarithmic=True,
        when={"by": ("epsilon",)},
    ),
    Field(
        name="within",
        label="Off by at most",
        kind="number",
        default="5",
        low=1,
        high=100,
        whole=True,
        when={"by": ("within",)},
    ),
)


def _answer(values: Values) -> Result:
    import pyarrow

    from ..release import plan

    table = pyarrow.table({"value": pyarrow.array([], pyarrow.int64())})
    said = values["by"]
    if said not in ("epsilon", "within"):
        raise BadInput("by", "is epsilon or within", "choose one of the two")
    options: dict[str, Any] = {said: values[said]}
    found = plan(table, values["query"], **options)
    return Result(
        headline=found.describe_cost(),
        facts=(
            *(Fact("Error", line) for line in found.describe_error()),
            Fact("Risk", found.risk.describe()),
        ),
    )


ASK = Room(
    name="ask",
    title="Ask",
    summary="Which mechanism answers a question, how far off it will be, and what it tells about one person.",
    introduction="Say what is asked and how private it must be, or how accurate: the rest follows.",
    fields=_FIELDS,
    answer=_answer,
    live=True,
)
