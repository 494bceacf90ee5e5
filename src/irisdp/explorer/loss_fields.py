"""The fields for the loss of a reader, in the pages that use it."""

from __future__ import annotations

from typing import Any

from ..errors import BadInput
from ..exact import parse_json
from .forms import Field
from .pasted import json_ready
from .results import Values

__all__ = ["LOSSES", "loss_fields", "loss_of"]

LOSSES: dict[str, tuple[str, tuple[str, ...]]] = {
    "absolute": ("how far off", ()),
    "squared": ("the square of that", ()),
    "zero-one": ("1 where wrong", ()),
    "pinball": ("too low, too high", ("too_low", "too_high")),
    "threshold": ("1 beyond it", ("beyond",)),
    "excess": ("how far beyond it", ("beyond",)),
}
"""Losses with a name: what an error costs, and the fields that say more."""


def loss_fields(when: dict[str, tuple[str, ...]]) -> tuple[Field, ...]:
    """Return the fields of a loss, which stand where `when` says."""

    def number(name: str, label: str, also: tuple[str, ...] = ()) -> Field:
        wanted = tuple(loss for loss, (_, names) in LOSSES.items() if name in names)
        return Field(
            name=name,
            label=label,
            kind="number",
            default="1",
            low=1,
            high=20,
            whole=name == "beyond",
            also=also,
            when={**when, "loss": wanted},
        )

    return (
        Field(
            name="loss",
            label="An error costs",
            kind="choice",
            default="absolute",
            choices=(
                *((name, f"{name}: {words}") for name, (words, _) in LOSSES.items()),
                ("table", "as a table says"),
            ),
            when=when,
        ),
        number("too_low", "Each unit too low costs", ("slope",)),
        number("too_high", "Each unit too high costs"),
        number("beyond", "Errors hurt beyond"),
        Field(
            name="loss_table",
            label="Table of losses",
            kind="area",
            rows=4,
            example="[[0, 1, 2], [1, 0, 1], [2, 1, 0]]",
            help="A list of lists: row i, column v is what answering v costs where i is true.",
            also=("loss",),
            when={**when, "loss": ("table",)},
        ),
    )


def loss_of(values: Values) -> Any:
    """Return the loss that the fields say: a word as the command line has it, or a table.

    Raises
    ------
    BadInput
        For a loss without a name here: a file, above all, is never read.
    """
    name = values["loss"]
    if name == "table":
        if not values["loss_table"].strip():
            raise BadInput("loss_table", "is empty", "write for example [[0, 1], [1, 0]]")
        table = json_ready(parse_json(values["loss_table"], "loss_table"))
        if not isinstance(table, list):
            raise BadInput("loss_table", "must be a list of lists", "write for example [[0, 1], [1, 0]]")
        return table
    if name not in LOSSES:
        raise BadInput("loss", "is not a loss of this list", "choose one of them")
    parts = [values[parameter].strip() for parameter in LOSSES[name][1]]
    for parameter, part in zip(LOSSES[name][1], parts, strict=True):
        if not part or ":" in part:
            raise BadInput(parameter, "must be a number", "write for example 2")
    return ":".join((name, *parts))
