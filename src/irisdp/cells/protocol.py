"""What every cell mechanism does, so that whoever publishes need not know which one answers.

A query hands out nodes, one per cell, and the mechanism that answers about nodes of that kind. `law` is not used to
publish. It is what the proof by exhaustion multiplies out: the object that draws also says, exactly, from what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

from numpy.typing import NDArray

from ..privacy import Privacy
from ..sampling import BitSource

__all__ = ["CellMechanism", "Link", "Nodes"]


class Nodes(Protocol):
    """A node of a small graph per cell; private, and not shown by `repr`."""

    def __len__(self) -> int:
        """Count the cells."""
        ...

    def padded(self, size: int) -> Self:
        """Return `size` nodes: these, and after them cells that nobody is in (see `padding`)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """One release of a chain: its privacy, and the answers as drawn, before any clamping to public ends."""

    privacy: Privacy
    values: NDArray[Any] = field(repr=False)


NodesT_contra = TypeVar("NodesT_contra", bound=Nodes, contravariant=True)


class CellMechanism(Protocol[NodesT_contra]):
    """What answers about each cell of a question, (ε,δ)-private for one step on the cell's graph."""

    @property
    def privacy(self) -> Privacy:
        """Privacy of one step on a cell's graph."""
        ...

    def draw(
        self, nodes: NodesT_contra, links: Sequence[Link] = (), *, source: BitSource | None = None
    ) -> NDArray[Any]:
        """Draw one answer per cell, as the ledger keeps it.

        Parameters
        ----------
        nodes
            A node per cell.
        links : sequence of Link
            What was drawn before about the same nodes, the most accurate first; a mechanism whose answers form a chain
            draws from the joint law with them.
        source : BitSource, optional
            The operating system's randomness unless given.
        """
        ...

    def show(self, drawn: list[Any], nodes: NodesT_contra) -> list[Any]:
        """Turn answers as drawn into answers as shown; uses public facts of the nodes only."""
        ...

    def ends(self, nodes: NodesT_contra) -> dict[str, Any]:
        """Say between which public ends `show` puts answers: a number for all cells or one for each; {} if nowhere."""
        ...

    def law(self, nodes: NodesT_contra, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of what is shown about a cell; numbers are lumped at 0 and `largest`."""
        ...

    def expected_error(self) -> dict[str, Any]:
        """Return the expected error from public facts, JSON-ready."""
        ...

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        ...

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for whoever reads the answers: its part of the sidecar."""
        ...
