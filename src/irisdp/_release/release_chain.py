"""What the ledger keeps with an answer for people to see: where it comes from, the groups, what it was built on.

All of it is public: the data owner listed the declared groups, and selected groups were named with the answers.

Answers to several audiences are links of a chain, or draws of their own. A link builds on earlier links. A draw is
given again to an audience that asks for the same accuracy, and is then free.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._ledger import Release, draw_of
from .._measurements import ChainLink
from ..mechanisms import privacy_from_document, privacy_to_document
from ..privacy import Privacy
from .answers import Answers, plain_keys
from .release_file import drawn_by

# What the ledger keeps of a chain of releases, so that one more of them can be drawn later (proofs/audiences.md).


def details(chain: str | None, privacy: Privacy | None, draw: str | None = None) -> str:
    """Write what the ledger keeps with an answer so that it can be refined, or given to somebody else, later."""
    if draw is not None:
        return json.dumps({"draw": draw})
    if chain is None or privacy is None:
        return "{}"
    return json.dumps({"chain": chain, "privacy": privacy_to_document(privacy)})


def earlier_draws(draws: Sequence[str | None], earlier: Sequence[Release], *, together: bool) -> dict[str, Release]:
    """Find the answers that the draws of a question had before, by draw; the first of each.

    An answer for everybody is a draw under the hash of its question, as that of one audience would be.

    Parameters
    ----------
    draws : sequence of str or None
        Of each audience of a question; None where its answers are drawn afresh whatever there is.
    earlier : sequence of Release
        The earlier releases of the same data.
    together : bool
        Whether only answers to one earlier question may be given again, and all of them: their groups were selected.
    """
    wanted = {draw for draw in draws if draw is not None}
    if not wanted:
        return {}
    found: dict[str, dict[str, Release]] = {}
    for release in earlier:
        draw = draw_of(release.details, release.audience, release.question_hash)
        if draw in wanted:
            found.setdefault(release.question_hash if together else "", {}).setdefault(draw, release)
    return next((draws for draws in found.values() if not together or draws.keys() == wanted), {})


def earlier_links(chain: str | None, earlier: Sequence[Release]) -> list[tuple[Privacy, Release]]:
    """List the earlier releases of a chain with their privacy, the most accurate first."""
    links = []
    for release in earlier if chain is not None else ():
        kept = json.loads(release.details)
        if kept.get("chain") == chain:
            links.append((privacy_from_document(kept["privacy"]), release))
    return sorted(links, key=lambda pair: -pair[0].ratio)


def links_of(chain: str | None, earlier: Sequence[Release]) -> list[ChainLink]:
    """Read the earlier links of a chain back, one for every privacy, the most accurate first."""
    links: list[ChainLink] = []
    for privacy, release in earlier_links(chain, earlier):
        if not links or links[-1].privacy.ratio != privacy.ratio:
            values = Answers.from_bytes(release.answers).values
            links.append(ChainLink(privacy, np.array(values, dtype=np.int64)))
    return links


def extended(links: Sequence[ChainLink], link: ChainLink) -> list[ChainLink]:
    """Return the links of a chain with one more in its place among them."""
    return sorted([link, *links], key=lambda link: -link.privacy.ratio)


_FIRST = 3
"""Groups that are named; of the others only the number is kept."""


def answer_details(
    table: str | None,
    chain: str | None,
    privacy: Privacy | None,
    answers: Answers,
    earlier: Sequence[Release],
    converted: str | None = None,
    draw: str | None = None,
) -> str:
    """Write the stored document for the answers of one audience, as JSON text.

    Parameters
    ----------
    table : str or None
        What the ledger calls the table.
    chain, privacy
        The chain of counts that the answers are a link of, and the privacy of the link; None where they are of none.
    answers : Answers
        What is released.
    earlier : sequence of Release
        The earlier releases of the same data.
    converted : str, optional
        What each cell's answer keeps, in words, where the ledger charges it as something else.
    draw : str, optional
        Which draw the answers are, if they form no chain and may be given to another audience.
    """
    kept: dict[str, Any] = {**json.loads(details(chain, privacy, draw)), **drawn_by(table)}
    if converted is not None:
        kept["guarantee"] = converted
    if answers.by:
        first = list(map(list, plain_keys(answers.keys[:_FIRST])))
        kept["groups"] = {"by": list(answers.by), "count": len(answers.keys), "first": first}
    for finest, release in earlier_links(chain, earlier)[: privacy is not None]:
        assert privacy is not None
        kept["refines" if privacy.ratio > finest.ratio else "coarsens"] = release.id
    return json.dumps(kept, ensure_ascii=False)
