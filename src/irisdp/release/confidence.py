"""How sure the ends beside an answer have to be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..cells import USUAL_CONFIDENCE
from ..errors import BadInput
from ..exact import rational

__all__ = ["read_confidence"]

_SUREST = 1 - Fraction(1, 10**12)
"""Far below it chances are enclosed, so it can always be told whether an end is as sure."""


def read_confidence(confidence: Any, *, alone: bool) -> Fraction:
    """Read a probability above 0 and below 1; the usual one, where none is given.

    Where it is not `alone`, but an ε is looked for that keeps it, that search says whether there is one.
    """
    if confidence is None:
        return USUAL_CONFIDENCE
    found = rational(confidence, "confidence")
    if not 0 < found < 1:
        raise BadInput("confidence", "must be above 0 and below 1", "write for example 0.95")
    if alone and found > _SUREST:
        raise BadInput("confidence", "must be at most 1 − 1e-12", "write for example 0.999")
    return found
