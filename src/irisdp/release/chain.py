"""All releases of one count form a chain: whoever reads several knows no more than the most accurate one says.

Whatever the order in which they are asked for, releases are drawn from the joint law of the chain: the first directly,
a coarser one from the next finer one, a finer or middle one conditionally on its neighbours (proofs/audiences.md).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanisms import privacy_from_document, privacy_to_document
from ..privacy import Privacy
from ..queries import CountNodes
from ..sampling import add_geometric, coarsen, refine
from .answers import Answers
from .ledger import Release

__all__ = ["Link", "details", "earlier_links", "extend", "links_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """One release of a chain: its privacy, and the counts as drawn, before any clamping to public ends."""

    privacy: Privacy
    values: NDArray[np.int64]


def details(chain: str | None, privacy: Privacy) -> str:
    """Write what the ledger keeps with an answer so that it can be refined later."""
    return "{}" if chain is None else json.dumps({"chain": chain, "privacy": privacy_to_document(privacy)})


def earlier_links(chain: str | None, earlier: Sequence[Release]) -> list[tuple[Privacy, Release]]:
    """List the earlier releases of a chain with their privacy, the most accurate first."""
    found = []
    for release in earlier if chain is not None else ():
        kept = json.loads(release.details)
        if kept.get("chain") == chain:
            found.append((privacy_from_document(kept["privacy"]), release))
    return sorted(found, key=lambda pair: -pair[0].ratio)


def links_of(chain: str | None, earlier: Sequence[Release]) -> list[Link]:
    """Read the earlier links of a chain back, one for every privacy, the most accurate first."""
    links: list[Link] = []
    for privacy, release in earlier_links(chain, earlier):
        if not links or links[-1].privacy.ratio != privacy.ratio:
            values = Answers.from_bytes(release.answers).values
            links.append(Link(privacy, np.array(values, dtype=np.int64)))
    return links


def extend(links: list[Link], privacy: Privacy, nodes: CountNodes) -> Link:
    """Draw the link of a chain at one more privacy, and put it in its place among the others."""
    place = next((k for k, link in enumerate(links) if link.privacy.ratio <= privacy.ratio), len(links))
    finer = links[place - 1] if place > 0 else None
    coarser = links[place] if place < len(links) else None
    if coarser is not None:
        values = refine(
            nodes.values if finer is None else finer.values,
            coarser.values,
            privacy,
            finer_privacy=finer.privacy if finer else None,
            coarser_privacy=coarser.privacy,
        )
    elif finer is not None:
        values = coarsen(finer.values, finer.privacy, privacy)
    else:
        values = add_geometric(nodes.values, privacy)
    link = Link(privacy, values)
    links.insert(place, link)
    return link
