"""What is public of published counts: their noise, the ends they were shown between, and the cells they lie in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import BadInput
from ..exact import integer
from ..privacy import Guarantee, Privacy

__all__ = ["LARGEST_COUNT", "Ends", "NoisyCount", "OtherNoisyCount", "PublishedCounts", "cells_in"]

LARGEST_COUNT = 1 << 62
"""Beyond what anyone counts, and within 64 bits."""

Ends = tuple[int, int] | None
"""The least and the largest count there can be, where that is public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedCounts:
    """What is public of published counts, whatever their noise: the ends that they were clamped to, if any.

    Parameters
    ----------
    ends : tuple
        For every answer its least and largest count, or None where its path has no largest; or one entry for all.
    selected : bool
        Whether groups without an answer may have records too: the release did not name them.
    """

    ends: tuple[Ends, ...]
    selected: bool = False

    def ends_of(self, row: int) -> Ends:
        """Return the ends of one answer."""
        return self.ends[0] if len(self.ends) == 1 else self.ends[row]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyCount(PublishedCounts):
    """Counts with two-sided geometric noise.

    Parameters
    ----------
    privacy : Privacy
        α = 1/ratio.
    """

    privacy: Privacy


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherNoisyCount(PublishedCounts):
    """Counts with the noise of a δ, of several pairs or of Gaussian privacy.

    Parameters
    ----------
    guarantee : Guarantee
        What the noise is made for.
    cells : tuple of int, optional
        For every answer the cell that it was drawn in, as it was drawn; None where only whole numbers are known.
    named : bool
        Whether the noisy counts decided which groups are answered about (proofs/named-counts.md).
    shared : bool
        Whether the guarantee is a share: a person has several records that count.
    split : bool
        Of groups that are named, whether their other records may have named them.
    """

    guarantee: Guarantee
    cells: tuple[int, ...] | None = None
    named: bool = False
    shared: bool = False
    split: bool = False

    def whole(self) -> OtherNoisyCount:
        """Return the same without cells: what someone has who knows whole numbers alone."""
        return replace(self, cells=None)


def cells_in(mechanism: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Read the cells that answers were drawn in; None where a document leaves them out."""
    cells = mechanism.get("cells")
    if cells is None:
        return None
    if not isinstance(cells, list):
        raise BadInput("cells", "must be a list of whole numbers", "give the file that publish wrote")
    return tuple(integer(cell, "cells", at_least=-LARGEST_COUNT, at_most=LARGEST_COUNT) for cell in cells)
