"""The fields for the loss of a reader, in the pages that use it."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from .._exact import parse_json
from ..errors import BadInput
from .forms import Field, When
from .graph_input import json_ready
from .results import Values

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


# Fields that occur on several pages, with one look and behaviour.


def epsilon_field(when: When | tuple[When, ...]) -> Field:
    """Ask for ε; a step of its slider is a factor."""
    return Field(
        name="epsilon",
        label="ε",
        kind="number",
        default="1",
        low=0.01,
        high=10,
        logarithmic=True,
        also=("privacy",),
        when=when,
    )


def upload_field(fills: str, help: str) -> Field:
    """Take a file, whose text stands in for what is pasted."""
    return Field(name="upload", label="A file", kind="file", fills=fills, help=help)


def known_field(end: str, *, low: int | None = None, high: int | None = None, when: When | None = None) -> Field:
    """Ask which count a reader is sure of: that it is at least, or at most, so large."""
    return Field(
        name=f"at_{end}",
        label=f"Known: at {end}",
        kind="number",
        whole=True,
        low=low,
        high=high,
        also=("side_information",) if end == "least" else (),
        when=when or {},
    )


def prior_field(help: str, *, rows: int, example: str = "", when: When | None = None) -> Field:
    """Ask for probabilities or weights."""
    return Field(name="prior", label="Prior", kind="area", rows=rows, example=example, help=help, when=when or {})


# Convert an uploaded file to text that can be shown in a field again.

_BINARY = "base64:"


def as_text(content: bytes, *, coded: bool = False) -> str:
    """Return a file as text; what is no UTF-8, such as a NumPy array, and where `coded` says so, as ``base64:…``.

    Examples
    --------
    >>> as_text(b"[[1]]"), as_text(bytes([255]))
    ('[[1]]', 'base64:/w==')
    """
    try:
        if not coded:
            return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    return _BINARY + base64.b64encode(content).decode()


def as_bytes(text: str, field: str) -> bytes:
    """Return what `as_text` was given.

    Raises
    ------
    BadInput
        For ``base64:`` before invalid data.
    """
    if not text.startswith(_BINARY):
        return text.encode("utf-8", "surrogateescape")
    try:
        return base64.b64decode(text.removeprefix(_BINARY), validate=True)
    except (binascii.Error, ValueError):
        raise BadInput(field, "says base64: and holds something else", "upload the file again") from None
