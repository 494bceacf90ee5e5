"""Published counts as they are read: those of a file, of a frame, or a single one, with what made them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Mechanism
from ..release.ledger_release import Release
from .noise_rules import shown_in_cells
from .published_counts import Ends, NoisyCount, OtherNoisyCount
from .released import frame_of_answers, released_table

__all__ = ["ShownCounts", "shown_counts"]

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
    """Return the values to interpret: a value, a frame of them, or all that were published.

    Raises
    ------
    BadInput
        If a value is missing, or cannot be interpreted alone, or the release file and the answers differ in number.
    """
    by: tuple[str, ...] = ()
    keys: list[tuple[Any, ...]] = [()]
    values: list[Hashable] = [value]
    cells: Sequence[int | None] = [None]
    if value is not None and isinstance(deployed, OtherNoisyCount):
        deployed = deployed.whole()  # whoever gives a number has no cell
    if value is None:
        if not isinstance(deployed, NoisyCount | OtherNoisyCount):
            raise BadInput("value", "is needed to read a mechanism file", "give the value that was released")
        table = released_table(release)
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
