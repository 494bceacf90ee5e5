"""Curves for figures: the homogeneous optimum at any real depth, in floats.

The closed form of docs/theory.md#operator with a real exponent. Between whole depths the curve is a picture, not a
mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadInput
from ...exact import checked, rational
from ...privacy import Privacy, step

__all__ = ["curves", "turning_points"]

Floats = NDArray[np.float64]

_EXACT, _LATEST = 500, 1_000_000
"""Steps taken exactly, and steps after which a prefix sum counts as never turning."""


@checked
def turning_points(row: Sequence[Any], privacy: Privacy) -> list[int | None]:
    """Return τ for every prefix sum of a row, along its ranking: the first whole depth with u^τ(s) ≥ (1−δ)/(r+1).

    None where a prefix sum stays below for ever (s = 0 with δ = 0), or for more than a million steps.

    Examples
    --------
    >>> turning_points(["0.0005", "0.0081", "0.1364", "0.2727", "0.5823"], Privacy.from_ratio("1.2"))
    [38, 22, 7, 1, 0]

    References
    ----------
    [Gu2024], §5.3; docs/theory.md#rainbows.
    """
    turn = (1 - privacy.delta) / (privacy.ratio + 1)
    found: list[int | None] = []
    for s in _prefix_sums(row):
        exact, depth = s, 0
        while exact < turn and depth < _EXACT:
            exact, depth = step(exact, privacy), depth + 1
        growing = float(exact)
        while 0 < growing < float(turn) and depth < _LATEST:
            growing, depth = float(privacy.ratio) * growing + float(privacy.delta), depth + 1
        found.append(depth if growing >= float(turn) else None)
    return found


@checked
def curves(row: Sequence[Any], depths: Any, privacy: Privacy) -> Floats:
    """Return the probabilities of the answers at real depths.

    Parameters
    ----------
    row : sequence of q numbers
        The boundary row along the ranking, best first.
    depths : array of m numbers
        From 0 up, whole or not.
    privacy : Privacy

    Returns
    -------
    float array, shape (m, q)
        At whole depths T^depth of the row, to about 1e-12. For figures.

    References
    ----------
    [Gu2024], eq. (22) and Figures 3–5, with the corrected operator; docs/theory.md#corrections.
    """
    try:
        times = np.asarray(depths, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        times = np.zeros(())
    if times.ndim != 1 or not (np.isfinite(times) & (times >= 0)).all():
        raise BadInput("depths", "must be a list of numbers from 0 up", "write for example [0, 1, 2]")
    if not len(row):
        raise BadInput("row", "must hold a probability for each answer", "give the boundary row")
    sums = [
        _curve(s, tau, times, privacy) for s, tau in zip(_prefix_sums(row), turning_points(row, privacy), strict=True)
    ]
    return np.diff(np.stack([np.zeros_like(times), *sums], axis=1), axis=1)


def _curve(start: Fraction, tau: int | None, times: Floats, privacy: Privacy) -> Floats:
    ratio, delta, s = float(privacy.ratio), float(privacy.delta), float(start)
    if ratio == 1:
        return np.minimum(1.0, s + times * delta)
    rho = delta / (ratio - 1)
    if tau is None:
        return np.full_like(times, s)
    growing = ratio ** np.minimum(times, tau) * (s + rho) - rho
    turned = ratio**tau * (s + rho) - rho
    falling = 1 + rho - (1 - turned + rho) / ratio ** np.maximum(times - tau, 0.0)
    found: Floats = np.where(times <= tau, growing, np.minimum(1.0, falling))
    return found


def _prefix_sums(row: Sequence[Any]) -> list[Fraction]:
    total, sums = Fraction(0), []
    for entry in row:
        total += rational(entry, "row")
        sums.append(total)
    return sums
