"""What is proven about the error of published answers, and among which mechanisms."""

from __future__ import annotations

from typing import Any

from ..cells import DepthClasses, GeometricNoise, LargestCategory, UniversalNoise
from ..mechanisms.plurality import Pull
from ..privacy import Privacy

__all__ = ["NOTHING_CLAIMED", "describe_optimality"]

NOTHING_CLAIMED = "not proven"

_EVERY_LOSS = (
    "proven among all private mechanisms: least loss after post-processing, for any loss that never falls as the error"
    " grows"
)
_YES_OR_NO = "proven among all private mechanisms: smallest worst probability of the wrong answer"
_WINNER = (
    "proven among all private mechanisms on tables of every size: smallest worst probability of naming a category that"
    " is not the largest"
)


def describe_optimality(mechanism: Any, *, is_charged_once: bool) -> str:
    """Say whether a mechanism is proven optimal, and among which mechanisms.

    Parameters
    ----------
    mechanism : CellMechanism
        It answers one group.
    is_charged_once : bool
        Whether the whole privacy loss of a record, or person, is that of one answer. Otherwise a mechanism that is
        optimal for one answer need not be optimal for all of them (proofs/grouped-releases.md).

    References
    ----------
    docs/theory.md#scope.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> describe_optimality(GeometricNoise(Privacy(epsilon=1)), is_charged_once=False)
    'not proven'
    """
    privacy = mechanism.privacy
    if not is_charged_once or not isinstance(privacy, Privacy) or not privacy.single:
        return NOTHING_CLAIMED
    kind = type(mechanism)  # what adds several of these noises, or moves further, is a class of its own
    if kind is UniversalNoise or (kind is GeometricNoise and not privacy.delta):
        return _EVERY_LOSS
    if kind is DepthClasses:
        return _YES_OR_NO
    if kind is LargestCategory and isinstance(mechanism.rule, Pull):
        return _WINNER
    return NOTHING_CLAIMED
