"""What the ledger keeps of a chain of releases, so that one more of them can be drawn later (proofs/audiences.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from ..cells import Link
from ..mechanisms import privacy_from_document, privacy_to_document
from ..privacy import Privacy
from .answers import Answers
from .ledger import Release

__all__ = ["details", "earlier_links", "extended", "links_of"]


def details(chain: str | None, privacy: Privacy | None) -> str:
    """Write what the ledger keeps with an answer so that it can be refined later."""
    if chain is None or privacy is None:
        return "{}"
    return json.dumps({"chain": chain, "privacy": privacy_to_document(privacy)})


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


def extended(links: Sequence[Link], link: Link) -> list[Link]:
    """Return the links of a chain with one more in its place among them."""
    return sorted([link, *links], key=lambda link: -link.privacy.ratio)
