"""What a reader asks of cells together, checked, before it is known what was published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from .intervals import Interval
from .joint import Bounds, Cells, JointInterpretation, read_jointly
from .knowledge import Knowledge
from .published_counts import NoisyCount, OtherNoisyCount
from .rules import whole_value
from .shown_counts import ShownCounts
from .totals import Total, read_totals

__all__ = ["ReadAlone", "Together"]

ReadAlone = tuple[int, Interval, Bounds]
"""What a cell is read as by itself, its ends, and what it may be."""


@dataclass(frozen=True, slots=True)
class Together:
    """Totals, and whether readings fit together.

    Parameters
    ----------
    reader : Knowledge
        What is known of each cell: bounds. A prior or a list of counts is about one cell.
    total
        As `interpret` takes it.
    confidence : Fraction
    consistent : bool
    """

    reader: Knowledge
    total: Any
    confidence: Fraction
    consistent: bool = False

    def __post_init__(self) -> None:
        """Refuse what cells that are read together have no use for."""
        field = "consistent" if self.consistent else "total"
        told = {"prior": self.reader.prior, "side_information": self.reader.side_information, "lead": self.reader.lead}
        for name, given in told.items():
            if given is not None:
                rule = f"is about one count, and {field} reads several together"
                raise BadInput(name, rule, "give at_least= and at_most=, or leave it out")
        if self.consistent and self.reader.name.name not in ("absolute", "squared"):
            raise BadInput("loss", "must be absolute or squared where consistent is asked for", "give one of the two")

    def read(self, shown: ShownCounts, alone: Sequence[ReadAlone] | None) -> JointInterpretation:
        """Read what was published; `alone` are its readings one by one, or None to find those that fit together."""
        deployed = shown.deployed
        if not isinstance(deployed, NoisyCount | OtherNoisyCount):
            raise BadInput(
                "release", "is a mechanism, but total= and consistent= need published answers", "give a release"
            )
        if isinstance(deployed, OtherNoisyCount) and deployed.named:
            rule = "is for declared groups: here counts named their own groups, and others are not in the file"
            raise BadInput("consistent" if self.consistent else "total", rule, "leave it out, or publish with groups")
        totals = read_totals(() if self.total is None else self.total, shown.by, shown.keys)
        self._check(deployed, totals)
        if alone is None:
            possible = [self.reader.bounds(shown.ends_of(row)) for row in range(len(shown.keys))]
        else:
            possible = [bounds for _, _, bounds in alone]
        values = [whole_value(value) for value in shown.values]
        cells = Cells(by=shown.by, keys=shown.keys, published=values, possible=possible)
        read = None if alone is None else [(reading, interval) for reading, interval, _ in alone]
        return read_jointly(deployed, cells, totals, read, self.confidence)

    def _check(self, deployed: NoisyCount | OtherNoisyCount, totals: Sequence[Total]) -> None:
        for one in totals:
            if one.known is not None and not self.consistent:
                rule = f"says what {one.name} is known to be, which only readings of all its cells can keep to"
                raise BadInput("total", rule, "add consistent=True")
            if one.known is not None and deployed.selected:
                rule = f"says what {one.name} is known to be, and groups that were not selected are not in the file"
                raise BadInput("total", rule, "leave the number out, or publish with groups")
