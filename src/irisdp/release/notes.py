"""What the ledger keeps with an answer for people to see: where it comes from, the groups, what it was built on.

All of it is public: the data owner listed the declared groups, and selected groups were named with the answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..privacy import Privacy
from .answers import Answers, plain_keys
from .chain import details, earlier_links
from .ledger_release import Release
from .provenance import drawn_by

__all__ = ["note"]

_FIRST = 3
"""Groups that are named; of the others only the number is kept."""


def note(
    table: str | None,
    chain: str | None,
    privacy: Privacy | None,
    answers: Answers,
    earlier: Sequence[Release],
    converted: str | None = None,
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
    """
    kept: dict[str, Any] = {**json.loads(details(chain, privacy)), **drawn_by(table)}
    if converted is not None:
        kept["guarantee"] = converted
    if answers.by:
        first = list(map(list, plain_keys(answers.keys[:_FIRST])))
        kept["groups"] = {"by": list(answers.by), "count": len(answers.keys), "first": first}
    for finest, release in earlier_links(chain, earlier)[: privacy is not None]:
        assert privacy is not None
        kept["refines" if privacy.ratio > finest.ratio else "coarsens"] = release.id
    return json.dumps(kept, ensure_ascii=False)
