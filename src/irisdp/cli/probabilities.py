"""A mechanism in the terminal: its probabilities as decimals, of a large one the beginning."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..exact import short_text
from ..tabular import printable
from .options import say

if TYPE_CHECKING:
    from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument

__all__ = ["show_mechanism"]

_MOST_INPUTS, _MOST_OUTPUTS = 12, 8
_LONGEST_NAME = 20
_WIDEST = 100_000
"""Outputs of a mechanism given by its factors beyond which even one row takes long."""
_NOTHING = 1e-300
_LEAST = Fraction(1, 20_000)
"""What four decimals would round to 0, or to 1."""


def show_mechanism(view: Any, mechanism: Mechanism | FactoredMechanism | MechanismDocument) -> None:
    """Print the matrix to four decimals: small mechanisms whole, of large ones the first rows and columns, and say so.

    Parameters
    ----------
    view : rich console
    mechanism : Mechanism, FactoredMechanism or MechanismDocument
        Of a document nothing is believed: numbers that are no probabilities are shown as they are.
    """
    from rich.table import Table
    from rich.text import Text

    height, width = len(mechanism.inputs), len(mechanism.outputs)
    rows = _rows(mechanism)
    if rows is None:
        say(view, f"  ({height:,} inputs and {width:,} outputs: too many to show)")
        return
    names = [_name(name) for name in islice(mechanism.outputs, _MOST_OUTPUTS)]
    more = ["…"] * (width > _MOST_OUTPUTS)
    table = Table("input", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in [*names, *more]:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for node, row in zip(islice(mechanism.inputs, _MOST_INPUTS), rows, strict=True):
        table.add_row(Text(_name(node)), *row, *more)
    if height > _MOST_INPUTS:
        table.add_row(*["…"] * (1 + len(names) + len(more)))
    say(view, f"probability of each output, to four decimals{_cut(height, width)}; the exact numbers are in the file")
    view.print(table)


def _rows(mechanism: Mechanism | FactoredMechanism | MechanismDocument) -> list[list[str]] | None:
    """Return the cells of the first rows; none where even these would take long."""
    from ..mechanisms import FactoredMechanism, MechanismDocument

    if isinstance(mechanism, MechanismDocument) and mechanism.factored is not None:
        mechanism = mechanism.factored
    if not isinstance(mechanism, FactoredMechanism):
        chosen = (mechanism.rows[number] for number in mechanism.row_of[:_MOST_INPUTS])
        return [[_decimal(p) for p in row[:_MOST_OUTPUTS]] for row in chosen]
    if len(mechanism.outputs) > _WIDEST:
        return None
    # In floats, whose 0 may stand for less than any float: shown as less than what four decimals can tell.
    lines = (mechanism.approximate_row(node)[:_MOST_OUTPUTS] for node in islice(mechanism.inputs, _MOST_INPUTS))
    return [[_decimal(Fraction(max(float(p), _NOTHING))) for p in line] for line in lines]


def _decimal(p: Fraction) -> str:
    """Write a probability; never 0 or 1 for what is not exactly so."""
    if p in (0, 1):
        return str(p)
    if not 0 < p < 1:
        return short_text(p, 4)
    if p < _LEAST:
        return "<0.0001"
    return ">0.9999" if 1 - p < _LEAST else f"{float(p):.4f}"


def _name(name: Hashable) -> str:
    text = printable(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def _cut(height: int, width: int) -> str:
    """Say what of a large table is shown."""
    kinds = (("inputs", height, _MOST_INPUTS), ("outputs", width, _MOST_OUTPUTS))
    parts = [f"the first {most} of {size:,} {kind}" for kind, size, most in kinds if size > most]
    return f", {' and '.join(parts)}" if parts else ""
