"""Where records are exchanged: the pull's fixed point on capped offsets without following it record by record.

A wrong bin is a number of records off, and its chance is that of the right bin where these have moved, over r for each.
It is best to move all of one side. Towards an earlier bin, the offsets from it on all rise until its own is 0; towards
a later one, all offsets before it fall. So one unknown for each node is left. This is a guess, which the sweeps of the
general pull confirm at once, and it decides nothing: every edge is checked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...graphs.offsets import Offsets
from ...graphs.protocol import Indices

__all__ = ["exchanged"]

_TOLERANCE = 1e-15
_MOST_ROUNDS = 3_000


def exchanged(offsets: Offsets, ratio: float) -> NDArray[np.float64]:
    """Return the chances of all bins at all nodes, about; shape (nodes, k).

    Parameters
    ----------
    offsets : Offsets
        Of records that are exchanged.
    ratio : float
        r.
    """
    off = offsets.records_off
    arrived, right = _arrivals(offsets), off == 0
    discounts = np.where(right, 0, ratio ** -off.astype(np.float64))
    pace = 1 / (1 + (offsets.bins - 1) / ratio / 2)
    share = np.full(len(off), 0.5)
    for _ in range(_MOST_ROUNDS):
        left = 1 - (share[arrived] * discounts).sum(axis=1)
        after = (1 - pace) * share + pace * left
        moved = float(np.abs(after / share - 1).max())
        share = after
        if moved < _TOLERANCE:
            break
    chances: NDArray[np.float64] = np.where(right, share[:, np.newaxis], share[arrived] * discounts)
    return chances


def _arrivals(offsets: Offsets) -> Indices:
    """Return the node at which each bin is right once the records have moved."""
    values, bins = offsets.values, offsets.bins
    arrived = np.repeat(np.arange(len(values))[:, np.newaxis], bins, axis=1)
    for place in range(bins):
        for earlier in (True, False):
            if place == (bins - 1 if earlier else 0):
                continue
            wrong = np.flatnonzero(values[:, place] < 0 if earlier else values[:, place - 1] >= 0)
            moved = values[wrong]
            if earlier:
                moved[:, place:] -= moved[:, place, np.newaxis].copy()
            else:
                moved[:, :place] -= moved[:, place - 1, np.newaxis] + 1
            arrived[wrong, place] = offsets.index(moved, np.zeros(len(wrong), np.int64))
    return arrived
