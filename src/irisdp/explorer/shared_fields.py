"""Fields that occur on more than one page, with one look and behaviour."""

from __future__ import annotations

from .forms import Field, When

__all__ = ["epsilon_field", "known_field", "prior_field", "upload_field"]


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
