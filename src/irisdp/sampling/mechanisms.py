"""Exact draws from any mechanism that a file can hold."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..mechanisms import FactoredMechanism, Mechanism
from .bits import BitSource
from .geometric import clamped_geometric
from .tables import draw

__all__ = ["draw_mechanism"]


def draw_mechanism(
    mechanism: Mechanism | FactoredMechanism, node: Hashable, count: int, *, source: BitSource | None = None
) -> NDArray[np.int64]:
    """Draw `count` independent answers to one input.

    Returns
    -------
    array of int64, shape (count,)
        Positions in `mechanism.outputs`, with exactly the probabilities of the input's row. A factored mechanism is
        drawn factor by factor, so that nothing large is built.
    """
    if isinstance(mechanism, Mechanism):
        return draw([mechanism.row(node)], np.zeros(count, dtype=np.int64), source=source)
    values = np.full(count, mechanism.position(node), dtype=np.int64)
    released = clamped_geometric(values, mechanism.n, mechanism.privacy, source=source)
    if mechanism.reading is None:
        return released
    distinct, which = np.unique(released, return_inverse=True)
    answers = sorted({answer for z in distinct.tolist() for answer, _ in mechanism.reading[z]})
    place = {answer: position for position, answer in enumerate(answers)}
    rows = []
    for z in distinct.tolist():
        row = [Fraction(0)] * len(answers)
        for answer, probability in mechanism.reading[z]:
            row[place[answer]] += probability
        rows.append(row)
    return np.array(answers, dtype=np.int64)[draw(rows, which, source=source)]
