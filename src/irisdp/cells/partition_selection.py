"""Which groups may be named, where they are not declared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..privacy import Privacy, enclose_steps, steps
from ..sampling import BitSource, draw_ranks
from .naming import describe_naming, named_from
from .shares import share_of

__all__ = ["PartitionSelection"]


@dataclass(frozen=True, slots=True)
class PartitionSelection:
    """Decides which groups may be named: a group of n records with probability u applied n times to 0.

    A group without records is never named, so u(0), the least δ promised, must be above 0. Under Gaussian DP it is
    0, and no group may ever be named, however large.

    Parameters
    ----------
    privacy : Privacy
        Of one person who comes or goes, for all groups together.
    records : int
        How many records one person has that count, in whatever groups: u is that of one record's share.

    References
    ----------
    [Desfontaines2022] (the optimal rule); docs/theory.md#operator; proofs/partition-selection.md.
    """

    privacy: Privacy
    records: int = 1

    def __post_init__(self) -> None:
        """Refuse a privacy under which no group is ever named."""
        if self.privacy.pairs[0].delta == 0:
            remedy = "give a small probability such as 1e-6, or declare the groups"
            if not self.privacy.single:
                remedy = "declare the groups: under Gaussian privacy, as with δ = 0 in any pair, none may ever be named"
            raise BadInput("delta", "must be above 0 to select groups privately", remedy)
        _ = self.share  # refused before anything is read

    @property
    def share(self) -> Privacy:
        """What one record may reveal."""
        return share_of(self.privacy, self.records)

    def draw(self, sizes: NDArray[np.int64], source: BitSource | None = None) -> NDArray[np.bool_]:
        """Draw for every group whether it is named."""
        # u^n(0) is the second rank of a class whose first prefix sum is 0, so rank 0 means "named".
        ranks: NDArray[np.int64] = draw_ranks([[Fraction(0)]], np.zeros_like(sizes), sizes, self.share, source=source)
        named: NDArray[np.bool_] = ranks == 0
        return named

    def law(self, size: int) -> Fraction:
        """Return the exact probability that a group of this size is named."""
        return steps(Fraction(0), size, self.share)

    def named_from(self) -> dict[str, int]:
        """Return from how many records on a group is named with probability 50, 95 and 99 %."""
        return named_from(self._named)

    def describe_naming(self) -> str:
        """Say the same in words."""
        return describe_naming(self.named_from())

    def _named(self, size: int) -> Fraction:
        return enclose_steps(Fraction(0), size, self.share, width=Fraction(1, 1 << 40)).lower
