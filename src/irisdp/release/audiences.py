"""Who gets an answer, how accurate, and from which mechanism."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..cells import CellMechanism
from ..errors import BadInput
from ..exact import rational
from ..privacy import Privacy

__all__ = ["Audience", "read_levels"]


@dataclass(frozen=True, slots=True)
class Audience:
    """Readers who share one release: a name, or None where there is only one audience, and what answers them."""

    name: str | None
    mechanism: CellMechanism[Any]


def read_levels(audience: Any, epsilon: Any, ratio: Any, delta: Any) -> list[tuple[str | None, Privacy]]:
    """Read the privacy of each audience, the most accurate first."""
    levels = _levels(audience, epsilon, ratio, delta)
    if any(privacy.ratio == 1 and privacy.delta == 0 for _, privacy in levels):
        raise BadInput("epsilon", "must be above 0: at 0 an answer says nothing", "choose a larger epsilon")
    return sorted(levels, key=lambda level: -level[1].ratio)


def _levels(audience: Any, epsilon: Any, ratio: Any, delta: Any) -> list[tuple[str | None, Privacy]]:
    if audience is None:
        if epsilon is None and ratio is None:
            raise BadInput("epsilon", "is missing", "add epsilon=1")
        if epsilon is not None and ratio is not None:
            raise BadInput("epsilon", "says the same as ratio=", "leave one of the two out")
        return [(None, Privacy(epsilon=epsilon, ratio=ratio, delta=delta))]
    if epsilon is not None or ratio is not None:
        raise BadInput("audience", "states epsilon already", "leave out epsilon= and ratio=")
    named = dict(audience) if isinstance(audience, Mapping) else {}
    for text in () if isinstance(audience, Mapping) else audience:
        name, separator, level = str(text).partition("=")
        if not separator or name in named:
            raise BadInput("audience", "must be NAME=E, each name once", "write for example audience=['press=0.5']")
        named[name] = level
    if not named or not all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str(name)) for name in named):
        raise BadInput(
            "audience", "must have names of letters, digits, - and _", "write for example audience=['press=0.5']"
        )
    return [(str(name), Privacy(epsilon=rational(level, "audience"), delta=delta)) for name, level in named.items()]
