"""The interface of every cell mechanism, so that publishing code does not depend on which one answers.

A query hands out nodes, one per cell, and the mechanism that answers about nodes of that kind. `law` is not used to
publish. It is what the proof by exhaustion multiplies out: the object that draws also says from what, exactly where
probabilities are fractions, and by enclosures where they are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from numpy.typing import NDArray

from ..exact import Enclosure
from ..privacy import Guarantee, Privacy
from ..sampling import BitSource
from .assurance import Assurance

__all__ = ["CellMechanism", "Law", "Link", "NamesGroups", "Nodes", "SpeaksOfUnits", "TellsMore"]

Law = Mapping[Any, Fraction] | Mapping[Any, Enclosure]
"""Probabilities of what may be shown; all are enclosed, to `ENCLOSED` or less, where they are no fractions."""

ENCLOSED = Fraction(1, 10**30)


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
    """What answers about each cell of a question, with a guarantee for one step on the cell's graph."""

    @property
    def privacy(self) -> Guarantee:
        """What one step on a cell's graph may reveal."""
        ...

    @property
    def chained(self) -> Privacy | None:
        """Privacy of the link that answers are, where they form a chain with other releases; None where they do not."""
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
        """Say what is public of the answers that `show` makes, and no part of the question; {} if nothing is.

        Of numbers the ends they are put between, a number for all cells or a list with one for each; of names, which
        there are, as a tuple.
        """
        ...

    def law(self, nodes: NodesT_contra, cell: int, largest: int) -> Law:
        """Return the law of what is shown about a cell whose count, if it is one, is at most `largest`.

        Numbers are lumped on either side where that hides nothing of counts from 0 to `largest`: beyond, their
        likelihood ratios stay as they are. If ratios never become constant, values are lumped where the remaining mass
        is negligible, which is post-processing.
        """
        ...

    def expected_error(self) -> dict[str, Any]:
        """Return the expected error from public facts, JSON-ready."""
        ...

    def chance_within(self, distance: int) -> Enclosure | None:
        """Return the chance that an answer is good, exactly or to `ENCLOSED`; never less for a larger distance.

        Of numbers: that the answer as drawn, before it is put between public ends, is at most `distance` from the
        truth. For names: the probability of a right answer, at worst over all cells whose truth holds by `distance`
        records or more. That is the distance from a table with a neighbour of another truth or, where categories are
        compared, the lead over the next. None where the mechanism cannot say.
        """
        ...

    def assurance(self, drawn: list[Any], shown: list[Any], nodes: NodesT_contra, confidence: Fraction) -> Assurance:
        """Say how sure answers are, in columns beside them; uses the answers, and public facts of the nodes only.

        Parameters
        ----------
        drawn, shown : list
            The answers as drawn and as shown; of selected groups those that are named.
        nodes
            A node per cell.
        confidence : Fraction
            Confidence that the true number lies in its interval.
        """
        ...

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        ...

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers: its part of the release file."""
        ...


@runtime_checkable
class NamesGroups(Protocol):
    """What is drawn decides which groups are named, too."""

    @property
    def privacy(self) -> Guarantee:
        """The guarantee for one step, naming included."""
        ...

    def named(self, drawn: NDArray[Any]) -> NDArray[Any]:
        """Tell which groups are named."""
        ...

    def named_from(self) -> dict[str, int]:
        """Return from how many records on a group is named, whatever part of them is counted."""
        ...

    def describe_naming(self) -> str:
        """Say the same in words."""
        ...


@runtime_checkable
class SpeaksOfUnits(Protocol):
    """Statements about its errors use a word for the protected person."""

    def describe_error_for(self, unit: str) -> str:
        """Say the expected error in one line, with one word for a protected person, such as "person"."""
        ...


@runtime_checkable
class TellsMore(Protocol):
    """What is drawn says more than what people are shown of it, and readers should have it."""

    def beside(self, drawn: list[Any]) -> dict[str, list[Any]]:
        """Return the auxiliary output for the release file: lists with an entry for each answer.

        It is published as much as the answers are: `law` is the law of both.
        """
        ...
