"""Which two given rows contradict each other: the theorem of two rows, event by event.

Two rows P and Q, t edges apart, belong to one private mechanism if and only if Q(S) ≤ u^t(P(S)) for every set S of
answers. The prefixes in order of Q/P suffice, because u^t is concave (proofs/two-rows.md). For three given rows this is
necessary and not sufficient: `farkas` explains what no pair does.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ...graphs import UNREACHABLE, DatasetGraph, listed
from ...graphs.search import breadth_first
from ...mechanisms import Row
from ...privacy import Privacy, enclose_steps, steps
from .heterogeneous import Fixed
from .propagation_limits import reaches

__all__ = ["Pair", "are_possible_together", "given_pairs", "telling_event"]

Pair = tuple[int, int, int]
"""Two nodes with given rows that differ, and their distance."""

_MOST_ROWS = 2000
"""Different given rows beyond which pairs are not looked at one by one."""

_FEW_STEPS, _WIDTH = 32, Fraction(1, 1 << 192)

_SAFE = 1e-9
"""A float beyond its bound by this much needs no exact second look."""


def given_pairs(graph: DatasetGraph, fixed: Fixed) -> list[Pair]:
    """Return the closest two nodes for every two different given rows that are connected."""
    groups: dict[Row, list[int]] = {}
    for node, row in fixed.items():
        groups.setdefault(row, []).append(node)
    if not 1 < len(groups) <= _MOST_ROWS:
        return []
    rows, found = listed(graph), []
    members = [np.array(nodes, np.int64) for nodes in groups.values()]
    for place, sources in enumerate(members):
        distances = breadth_first(rows.indptr, rows.indices, sources)
        for others in members[place + 1 :]:
            reached = others[distances[others] != UNREACHABLE]
            if len(reached):
                nearest = int(reached[np.argmin(distances[reached])])
                found.append((place, nearest, int(distances[nearest])))
    # The group is named by its first member until a pair is reported: finding the nearest one costs a search.
    return sorted(((int(members[place][0]), other, t) for place, other, t in found), key=lambda pair: pair[2])


def telling_event(here: Row, there: Row, distance: int, privacy: Privacy) -> frozenset[int] | None:
    """Return a set of answers that has more probability here than u^distance of what it has there, or None.

    None means that the two rows are possible together, up to ties below 2^-192 beyond 32 steps.
    """
    for event in _prefixes(here, there):
        needs, source = _mass(here, event), _mass(there, event)
        if _is_safe(float(needs), float(source), distance, privacy):
            continue
        if distance <= _FEW_STEPS:
            allows = steps(source, distance, privacy)
        else:
            allows = enclose_steps(source, distance, privacy, width=_WIDTH).upper
        if needs > allows:
            return event
    return None


def are_possible_together(here: Row, there: Row, distance: int, privacy: Privacy) -> bool:
    """Tell whether some private mechanism has both rows; beyond 32 steps a tie within 2^-100 counts as no."""
    return all(reaches(_mass(there, event), distance, _mass(here, event), privacy) for event in _prefixes(here, there))


def _prefixes(here: Row, there: Row) -> Iterator[frozenset[int]]:
    """Yield the sets of answers that are likelier here than there, by all thresholds on how much."""

    def likelier(v: int) -> tuple[bool, Fraction]:
        return (there[v] == 0, Fraction(0)) if there[v] == 0 else (False, here[v] / there[v])

    order = sorted((v for v in range(len(here)) if here[v] or there[v]), key=likelier, reverse=True)
    for k in range(1, len(order)):
        yield frozenset(order[:k])


def _is_safe(needs: float, source: float, distance: int, privacy: Privacy) -> bool:
    """Tell in floats whether u^distance(source) is beyond doubt larger; it grows with every step."""
    starts = np.array([float(start) for start in privacy.shape.starts])
    lines = [(float(line.slope), float(line.constant)) for line in privacy.shape.lines]
    for _ in range(min(distance, 10_000)):
        if source > needs + _SAFE:
            return True
        slope, constant = lines[np.searchsorted(starts, source, side="right") - 1]
        source = min(1.0, slope * source + constant)
    return source > needs + _SAFE


def _mass(row: Row, event: frozenset[int]) -> Fraction:
    return sum((row[v] for v in event), Fraction(0))
