"""What a reader asks of cells together, checked, before it is known what was published."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._ledger import Release
from .._release import Answers
from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Mechanism
from ._intervals import Interval
from ._joint import Bounds, JointGroups, JointInterpretation, Total, read_jointly, read_totals
from ._knowledge import ReaderKnowledge
from ._published_counts import Ends, NoisyCount, OtherNoisyCount
from ._released import frame_of_answers, released_table
from ._remap import whole_value
from ._remap_other_noise import shown_in_cells

# Published counts as they are read: those of a file, of a frame, or a single one, with what made them.

Deployed = NoisyCount | OtherNoisyCount | Mechanism | FactoredMechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCounts:
    """What there is to read.

    Parameters
    ----------
    deployed
        What made the answers; of a number that somebody gives, without cells.
    by : tuple of str
        The group columns.
    keys, values, cells : sequence
        For every answer its group, what was shown, and the cell it was drawn in, None where that is not known.
    """

    deployed: Deployed
    by: tuple[str, ...]
    keys: Sequence[tuple[Any, ...]]
    values: Sequence[Hashable]
    cells: Sequence[int | None]

    def ends_of(self, row: int) -> Ends:
        """Return the ends of one answer, where they are public."""
        return self.deployed.ends_of(row) if isinstance(self.deployed, NoisyCount | OtherNoisyCount) else None


def shown_counts(deployed: Deployed, release: Any, value: Any) -> ShownCounts:
    """Return the values to interpret: a value, a frame of them, or all that were published, which may be given.

    Raises
    ------
    BadInput
        If a value is missing, or cannot be interpreted alone, or the release file and the answers differ in number.
    """
    by: tuple[str, ...] = ()
    keys: Sequence[tuple[Any, ...]] = [()]
    values: list[Hashable] = [value]
    cells: Sequence[int | None] = [None]
    together = value is None or isinstance(value, Answers)
    if not together and isinstance(deployed, OtherNoisyCount):
        deployed = deployed.whole()  # whoever gives a number has no cell
    if together:
        if not isinstance(deployed, NoisyCount | OtherNoisyCount):
            raise BadInput("value", "is needed to read a mechanism file", "give the value that was released")
        table = released_table(release, given=value)
        by, keys, values = table.by, table.keys, list(table.values)
        if len(deployed.ends) not in (1, len(values)):
            raise BadInput(
                "release", "is about another number of answers", "give the files that publish wrote together"
            )
        if isinstance(deployed, OtherNoisyCount) and deployed.cells is not None:
            values = [*shown_in_cells(deployed, values, as_drawn=isinstance(release, Release))]
            cells = deployed.cells
    elif isinstance(deployed, NoisyCount | OtherNoisyCount) and len(deployed.ends) > 1:
        raise BadInput("value", "cannot be read alone: answers differ in their ends", "leave value= out")
    elif (frame := frame_of_answers(value)) is not None:
        by, keys, values = frame.by, frame.keys, list(frame.values)
    cells = cells if len(cells) == len(values) else [None] * len(values)
    return ShownCounts(deployed=deployed, by=by, keys=keys, values=values, cells=cells)


ReadAlone = tuple[int, Interval, Bounds]
"""What a cell is read as by itself, its ends, and what it may be."""


@dataclass(frozen=True, slots=True)
class Together:
    """Totals, and whether readings fit together.

    Parameters
    ----------
    reader : ReaderKnowledge
        What is known of each cell: bounds. A prior or a list of counts is about one cell.
    total
        As `interpret` takes it.
    confidence : Fraction
    consistent : bool
    """

    reader: ReaderKnowledge
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
        cells = JointGroups(by=shown.by, keys=shown.keys, published=values, possible=possible)
        read = None if alone is None else [(reading, interval) for reading, interval, _ in alone]
        return read_jointly(deployed, cells, totals, read, self.confidence)

    def _check(self, deployed: NoisyCount | OtherNoisyCount, totals: Sequence[Total]) -> None:
        for total in totals:
            if total.known is not None and not self.consistent:
                rule = f"says what {total.name} is known to be, which only readings of all its cells can keep to"
                raise BadInput("total", rule, "add consistent=True")
            if total.known is not None and deployed.selected:
                rule = f"says what {total.name} is known to be, and groups that were not selected are not in the file"
                raise BadInput("total", rule, "leave the number out, or publish with groups")
