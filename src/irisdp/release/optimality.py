"""What is proven about the error of published answers, and among which mechanisms."""

from __future__ import annotations

from typing import Any

from ..privacy import Privacy

__all__ = ["NOTHING_CLAIMED", "describe_optimality"]

NOTHING_CLAIMED = "not proven"


def describe_optimality(mechanism: Any, *, is_charged_once: bool) -> str:
    """Say whether a mechanism is proven optimal, and among which mechanisms.

    Parameters
    ----------
    mechanism : CellMechanism
        It answers one group. Its attribute `claim`, if it has one, says what is proven of it among all mechanisms
        that satisfy the same (ε, δ).
    is_charged_once : bool
        Whether the whole privacy loss of a record, or person, is that of one answer. Otherwise a mechanism that is
        optimal for one answer need not be optimal for all of them (proofs/grouped-releases.md).

    References
    ----------
    docs/theory.md#scope.

    Examples
    --------
    >>> from irisdp.cells import GeometricNoise
    >>> describe_optimality(GeometricNoise(Privacy(epsilon=1)), is_charged_once=False)
    'not proven'
    """
    claim = getattr(mechanism, "claim", None)
    if (
        claim is None
        or not is_charged_once
        or not isinstance(mechanism.privacy, Privacy)
        or not mechanism.privacy.single
    ):
        return NOTHING_CLAIMED
    return f"proven among all private mechanisms: {claim}"
