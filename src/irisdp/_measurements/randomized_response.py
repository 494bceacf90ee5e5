"""The category of each record of a table, by randomised response: the best answer about records that may be anything.

The answers stand in the order of the records, one for each, so how many records there are is public, and so is which
answer is about which record. Records are exchanged, and an exchange changes one of them: its answer alone has another
law. No private mechanism with δ = 0 changes fewer records on average, or at worst (proofs/columns.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import shown_above
from .._sampling import BitSource
from ..mechanisms import balanced_truth, release_column
from ..privacy import Guarantee, as_pairs
from .confidence import assured_names
from .protocol import ChainLink, ConfidenceStatement
from .registry import MeasurementKind

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RecordNodes:
    """Which category each record is in; private but for how many records there are, and not shown by `repr`.

    Attributes
    ----------
    categories : tuple
        Their names; public.
    codes : int64 array, shape (1, records)
        The place of each record's category among the names: a table without groups is one cell.
    """

    categories: tuple[Any, ...]
    codes: Integers = field(repr=False)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.codes)

    def padded(self, size: int) -> RecordNodes:
        """Return these nodes, which are of one cell; no groups are selected (`queries.column`)."""
        return self


@dataclass(frozen=True, slots=True)
class EachRecord:
    """Answers each record's category, right with the largest probability that all categories can have alike.

    Parameters
    ----------
    categories : int
        How many there are, that of all other records included.
    privacy : Guarantee
        Of all answers together when one record is exchanged.

    References
    ----------
    [Alda2017], Theorem 1 on H(N, q); proofs/columns.md, proofs/randomized-response.md.
    """

    categories: int
    privacy: Guarantee

    @property
    def truth(self) -> Fraction:
        """With which probability an answer is right."""
        return balanced_truth(self.categories, as_pairs(self.privacy))

    @property
    def chained(self) -> None:
        """None: such answers form no chain."""
        return

    def draw(self, nodes: RecordNodes, links: Sequence[ChainLink] = (), *, source: BitSource | None = None) -> Integers:
        """Draw the place of each record's answer among the names; a word each, whatever the records, but for ties."""
        return release_column(nodes.codes, self.categories, as_pairs(self.privacy), source=source)

    def show(self, drawn: list[Any], nodes: RecordNodes) -> list[Any]:
        """Name the categories."""
        return [tuple(nodes.categories[code] for code in codes) for codes in drawn]

    def ends(self, nodes: RecordNodes) -> dict[str, Any]:
        """Return the categories' names, as not all need occur among the answers."""
        return {"categories": list(nodes.categories)}

    def law(self, nodes: RecordNodes, cell: int, largest: int) -> dict[Any, Fraction]:
        """Return the exact distribution of the answers of a few records."""
        lie = (1 - self.truth) / (self.categories - 1)
        codes, law = nodes.codes[cell].tolist(), {}
        for drawn in product(range(self.categories), repeat=len(codes)):
            chance = Fraction(1)
            for code, place in zip(codes, drawn, strict=True):
                chance *= self.truth if code == place else lie
            law[drawn] = chance
        return law

    def expected_error(self) -> dict[str, Any]:
        """Return how often an answer is wrong, and how far off an estimated count is, for each √record."""
        truth = float(self.truth)
        lie = (1 - truth) / (self.categories - 1)
        spread = max(sqrt(p * (1 - p)) for p in (truth, lie)) / (truth - lie) if truth > lie else None
        return {"wrong": 1 - truth, "count_deviation_per_root_record": spread}

    def chance_within(self, distance: int) -> None:
        """Return None: no distance makes a record's answer surer, or all answers together likely to be right."""
        return

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: RecordNodes, confidence: Fraction
    ) -> ConfidenceStatement:
        """Return the probability of the right answer, at worst."""
        return assured_names(self.truth, shown)

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        error = self.expected_error()
        spread = error["count_deviation_per_root_record"]
        wrong = f"each answer wrong with probability {shown_above(error['wrong'])}"
        if spread is None:
            return wrong
        return f"{wrong}; counts estimated from n answers deviate by at most {shown_above(spread)}·√n"

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers."""
        return {"kind": MeasurementKind.RANDOMISED_RESPONSE.value}
