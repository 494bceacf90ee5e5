"""What a design minimises: a loss for every input and answer, averaged over the inputs or at its worst."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...errors import BadInput
from ...exact import Table, checked, rational_text, table

__all__ = ["LOSSES", "Goal", "read_loss"]

LOSSES: dict[str, Callable[[int, int], int]] = {
    "absolute": lambda i, v: abs(i - v),
    "squared": lambda i, v: (i - v) ** 2,
    "zero-one": lambda i, v: int(i != v),
}
"""Losses of a count i answered by v that have a name."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Minimise Σ_i w_i L_i ("average") or max over i in S of L_i ("worst"), where L_i = Σ_v loss(i, v) x_iv.

    Parameters
    ----------
    name : str
        What the value is called, for people.
    loss : table
        One row per input, one column per answer; any numbers.
    loss_name : str, optional
        The name that certificates may write instead of the table: "absolute", "squared", "zero-one" (inputs and
        answers are 0..n) or "graph-distance" (inputs and answers are the nodes).
    weights : tuple of Fraction, optional
        w, non-negative, one per input; makes the goal an average.
    side_information : tuple of int, optional
        Positions of the inputs in S, ascending, at least one; makes the goal a worst case.
    """

    name: str
    loss: Table
    loss_name: str | None = None
    weights: tuple[Fraction, ...] | None = None
    side_information: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Hold exactly one kind of goal, of the right size."""
        inputs = len(self.loss)
        if (self.weights is None) == (self.side_information is None):
            raise BadInput("goal", "must be an average or a worst case", "give weights or side_information")
        if self.weights is not None and (len(self.weights) != inputs or min(self.weights) < 0):
            raise BadInput("weights", "must not be negative, one per input", f"give {inputs} numbers from 0 up")
        if self.side_information is not None and not set(self.side_information) & set(range(inputs)):
            raise BadInput("side_information", "must name inputs", f"give positions from 0 to {inputs - 1}")

    def value(self, rows: Sequence[Sequence[Fraction]]) -> Fraction:
        """Return what a mechanism with these rows, one per input, reaches."""
        expected = [
            sum((x * p for x, p in zip(losses, row, strict=True) if p), Fraction(0))
            for losses, row in zip(self.loss, rows, strict=True)
        ]
        if self.weights is not None:
            return sum((w * x for w, x in zip(self.weights, expected, strict=True)), Fraction(0))
        return max(expected[i] for i in self.side_information or ())

    def to_document(self, weights: Sequence[Fraction]) -> dict[str, Any]:
        """Write the goal as certificates do, with these weights: of the average, or of the proof for a worst case."""
        table_text = [[rational_text(x) for x in row] for row in self.loss]
        document: dict[str, Any] = {
            "aggregate": "worst" if self.weights is None else "average",
            "loss": table_text if self.loss_name is None else {"name": self.loss_name},
            "weights": [rational_text(w) for w in weights],
        }
        if self.side_information is not None and len(self.side_information) < len(self.loss):
            document["side_information"] = list(self.side_information)
        return document


def read_loss(loss: Any, count: int) -> tuple[Table, str | None]:
    """Read the loss of answering a count by a count, both in 0..count−1.

    Returns
    -------
    losses, name
        The exact table, and the name if the loss was given by one.

    Raises
    ------
    BadInput
        For an unknown name or a table of another shape.
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise BadInput("loss", "is not a loss with a name", f"choose {', '.join(LOSSES)}, or give a table")
        of = LOSSES[loss]
        return tuple(tuple(Fraction(of(i, v)) for v in range(count)) for i in range(count)), loss
    return table(loss, "loss", rows=count, columns=count), None
