"""The guarantee of a mechanism, in facts: one name for each on every page."""

from __future__ import annotations

from ..privacy import Privacy
from ..release.risk import delta_means
from .results import Fact

__all__ = ["promised"]


def promised(privacy: Privacy, *, kept: bool = True) -> list[Fact]:
    """Say what is promised; and what its δ means, where it is kept, and is one pair with any."""
    facts = [Fact("Promised", str(privacy))]
    if kept and privacy.single and privacy.delta:
        means = delta_means(privacy.delta, "tells neighbours apart")
        facts.append(Fact("δ means", f"{means[0].upper()}{means[1:]}"))
    return facts
