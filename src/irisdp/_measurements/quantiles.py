"""Which bin holds a quantile of each cell, drawn exactly from whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, time
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, rational_text, shown_above
from .._sampling import BitSource, ThresholdTable, bracket_rational, chunks, open_cell, resolve, system_bits
from ..privacy import Privacy
from .confidence import assured_names, at_most
from .protocol import BELOW, FROM, ChainLink, ConfidenceStatement, records
from .registry import MeasurementKind

if TYPE_CHECKING:
    from ..design import QuantileMechanism


Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BinNodes:
    """How many records are in each bin, per cell; private, and not shown by `repr`.

    Attributes
    ----------
    names : tuple of text
        The bins, in order; public.
    counts : int64 array, shape (cells, bins)
        Records in each. Those without a value are in none.
    """

    names: tuple[str, ...]
    counts: Integers = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.counts)

    def padded(self, size: int) -> BinNodes:
        """Return `size` nodes: these, and after them cells that nobody is in."""
        nobody = np.zeros((size - len(self.counts), len(self.names)), dtype=np.int64)
        return BinNodes(self.names, np.concatenate([self.counts, nobody]))


@dataclass(frozen=True, slots=True)
class QuantileBin:
    """Names the bin that holds a quantile.

    Parameters
    ----------
    design : QuantileMechanism
        Whole numbers in proportion to which bins are named, for any counts.
    names : tuple of text
        The bins, in order.
    edges : tuple
        What lies between them; empty if that is not known.

    References
    ----------
    docs/theory.md#quantiles; proofs/quantiles.md.
    """

    design: QuantileMechanism
    names: tuple[str, ...]
    edges: tuple[Any, ...] = ()

    @property
    def privacy(self) -> Privacy:
        """What one step on a cell's graph may reveal."""
        return self.design.privacy

    @property
    def chained(self) -> Privacy | None:
        """None: such answers form no chain."""
        return None

    def draw(
        self, nodes: BinNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[np.object_]:
        """Draw one name per cell: a word each, and ⌈log2 k⌉ comparisons; more words only in a tie."""
        bits = system_bits(source)
        names = np.array(self.names, dtype=object)
        drawn = np.empty(len(nodes), dtype=np.int64)
        for part in chunks(len(nodes)):
            sums = np.cumsum(self.design.form.weights(nodes.counts[part]), axis=1)
            cells = [
                [open_cell((before << 64) // row[-1], -((-before << 64) // row[-1])) for before in row[:-1]]
                for row in sums.tolist()
            ]
            table = ThresholdTable.from_cells(np.array(cells, dtype=np.uint64)).at(bits.word_bits)
            words = bits.words(len(sums))
            drawn[part], ties = table.count_reached(words, np.arange(len(sums)))
            for tie in ties.tolist():
                bracket = partial(_bracket, sums[tie].tolist())
                drawn[part.start + tie] = resolve(int(words[tie]), bracket, bits, first=0, last=len(names) - 1)
        answers: NDArray[np.object_] = names[drawn]
        return answers

    def show(self, drawn: list[Any], nodes: BinNodes) -> list[Any]:
        """Show the names as they were drawn."""
        return drawn

    def ends(self, nodes: BinNodes) -> dict[str, Any]:
        """Return nothing: names have no ends."""
        return {}

    def law(self, nodes: BinNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact law of a cell's answer; names are not lumped."""
        return dict(zip(self.names, self.design.row(nodes.counts[cell].tolist()), strict=True))

    def expected_error(self) -> dict[str, Any]:
        """Return how far off the named bin may be, from public facts alone: in records between it and the rank."""
        return asdict(self.design.error)

    def chance_within(self, distance: int) -> Enclosure:
        """Enclose the probability that the named bin is at most so many records from the quantile's rank, at worst."""
        return at_most(self.design.form.off_by_more(distance))

    def right_from(self, margin: int) -> Enclosure:
        """Enclose the probability of the right bin where no other is nearer to the quantile's rank than `margin`."""
        return at_most(self.design.form.wrong_from(margin))

    def by_scores(self, privacy: Privacy) -> QuantileBin:
        """Return what answers by weights by score, with another privacy: no table is worked out."""
        from ..design import scored_quantile  # which loads what solves programs

        return replace(self, design=scored_quantile(self.design, privacy))

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: BinNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the edges of the bins, and the probability of the right answer, at worst."""
        statement = assured_names(self.chance_within(0).lower, shown)
        return replace(statement, columns=edges_beside(shown, self.names, self.edges) | dict(statement.columns))

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.design.error
        most = f"{error.farthest:,}"
        mean = f"{shown_above(error.records_off)} on average, where more than {most} count as {most}"
        if error.within_95_percent is None:
            text = f"no distance of the published bin from the quantile's rank holds in 95 % of cases; it is {mean}"
        else:
            near = f"at most {records(error.within_95_percent)} from the quantile's rank in 95 % of cases"
            text = f"for any data, the published bin is {near}, {mean}"
        if error.margin_for_99_percent is None:
            return text
        return f"{text}; right in 99 % if every other bin is at least {records(error.margin_for_99_percent)} away"

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {
            "kind": MeasurementKind.QUANTILE_BIN.value,
            "quantile": rational_text(self.design.share),
            "bins": list(self.names),
            "rule": self.design.rule,
            "records_off": asdict(self.design.error),
        }


def edges_beside(shown: Sequence[Any], names: Sequence[str], edges: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the edges of named bins as columns: numbers, or dates where no edge has a time; None at an open end.

    Parameters
    ----------
    shown : sequence
        Names of bins; of lists, each entry is one.
    names : sequence of text
        All bins, in order.
    edges : sequence of Fraction or datetime
        What lies between them.
    """
    if not edges:
        return {}
    ends = [None, *_as_values(edges), None]
    places = {name: place for place, name in enumerate(names)}

    def column(after: int) -> list[Any]:
        def end(answer: Any) -> Any:
            return ends[places[answer] + after] if isinstance(answer, str) else [end(entry) for entry in answer]

        return [end(answer) for answer in shown]

    return {FROM: column(0), BELOW: column(1)}


def _as_values(edges: Sequence[Any]) -> list[Any]:
    if isinstance(edges[0], datetime):
        days = all(edge.time() == time() for edge in edges)
        return [edge.date() if days else edge for edge in edges]
    return [int(edge) if edge.denominator == 1 else float(edge) for edge in edges]


def _bracket(sums: Sequence[int], answer: int, bits: int) -> tuple[int, int]:
    return bracket_rational(Fraction(sums[answer - 1], sums[-1]), bits)
