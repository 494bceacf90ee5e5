"""What a guarantee says of inputs further apart than neighbours, by group privacy, in floats nowhere too small."""

from __future__ import annotations

from fractions import Fraction

from ..exact import ball, enclosure_of, float_above
from ..privacy import Privacy

__all__ = ["group_above"]

_HOPELESS = 1_000
"""Where log r^d is beyond this, δ is 1: no δ above 0 that anybody writes is smaller than e^-1000."""


def group_above(privacy: Privacy, distance: int) -> tuple[float, float]:
    """Return (ε, δ) of a single pair at a distance d: d·ε and δ·(1 + r + … + r^(d−1)), each rounded up to a float.

    P₀ ≤ r·P₁ + δ ≤ … ≤ r^d·P_d + δ(1 + r + … + r^(d−1)) for every event, and r^d ≤ e^(dε).
    """
    epsilon, delta = float_above(distance * privacy.epsilon), privacy.delta
    if distance == 0 or delta == 0:
        return epsilon, 0.0
    if distance == 1:
        return epsilon, float_above(delta)
    ratio = privacy.ratio
    if ratio == 1:
        return epsilon, min(1.0, float_above(distance * delta))
    if distance * privacy.epsilon > _HOPELESS:
        return epsilon, 1.0

    found = enclosure_of(
        lambda: ball(delta) * (ball(ratio) ** distance - 1) / (ball(ratio) - 1), width=delta * Fraction(1, 1 << 70)
    )
    return epsilon, min(1.0, float_above(found.upper))
