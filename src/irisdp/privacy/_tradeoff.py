"""Trade-off functions as pairs: each straight piece of a symmetric function f is one (ε, δ).

f(α) is the least type II error of a test between neighbours whose type I error is α. On its first half, up to where
f(α) = α, a piece is 1 − δ − r·α with r ≥ 1. The second half is its mirror image, and u = 1 − f.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import entries, log_above, numbers
from ..errors import BadInput
from ._shape import MOST_PAIRS, Pair

Point = tuple[Fraction, Fraction]

_FIELD = "points"


def pairs_of_tradeoff(points: Any) -> tuple[Pair, ...]:
    """Return the pairs of a piecewise linear trade-off function; see `Privacy.from_tradeoff`."""
    corners = _corners(points)
    slopes = [(f - g) / (b - a) for (a, f), (b, g) in pairwise(corners)]
    for (place, _), before, after in zip(corners[1:], slopes, slopes[1:], strict=False):
        if before <= after:
            raise BadInput(_FIELD, f"bend the wrong way at α = {float(place):g}", "a trade-off function is convex")
    last = corners[-1]
    if last[1] != last[0] and [(g, a) for a, g in reversed(corners)] != corners:
        raise BadInput(_FIELD, "are not symmetric: with (α, β) the function must go through (β, α)", _HALF)
    pairs = []
    for (a, f), slope in zip(corners, slopes, strict=False):
        if slope >= 1:
            pairs.append(Pair(slope, 1 - f - slope * a, log_above(slope)))
    if len(pairs) > MOST_PAIRS:
        raise BadInput(_FIELD, f"make more than {MOST_PAIRS:,} pairs", "give fewer")
    if last[1] == last[0] and len(pairs) < len(slopes):
        raise BadInput(_FIELD, "end on the diagonal with a slope above −1, which no symmetric function has", _HALF)
    return tuple(pairs)


_HALF = "give the half from α = 0 to where β = α, and Iris mirrors it"


def _corners(points: Any) -> list[Point]:
    """Read the points in order, and leave out those between which nothing bends and a last piece at β = 0."""
    listed = entries(points)
    if not listed:
        raise BadInput(_FIELD, "must be a list of pairs (α, β)", "write [(0, 1), (1/3, 1/3)]")
    given = sorted({numbers(point, _FIELD, 2) for point in listed})
    read: list[Point] = [(a, f) for a, f in given]
    if len({a for a, _ in read}) < len(read):
        raise BadInput(_FIELD, "give one type I error two type II errors", "give every α once")
    if any(a < 0 or f < 0 or a + f > 1 for a, f in read):
        raise BadInput(_FIELD, "must have errors from 0 up with α + β at most 1", "guessing reaches β = 1 − α")
    while len(read) > 1 and read[-1][1] == read[-2][1] == 0:
        read.pop()
    (first, top), (end, bottom) = read[0], read[-1]
    if first != 0 or top == 0:
        raise BadInput(_FIELD, "must begin at α = 0 with β above 0", "give (0, 1), or (0, 1 − δ)")
    if len(read) < 2 or (bottom not in (0, end)):
        raise BadInput(_FIELD, "must end at β = 0, or on the diagonal at β = α", _HALF)
    return _bends(read)


def _bends(points: Iterable[Point]) -> list[Point]:
    """Leave out points on the straight line between those beside them."""
    corners: list[Point] = []
    for point in points:
        while len(corners) > 1 and _straight(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return corners


def _straight(first: Point, middle: Point, last: Point) -> bool:
    (a, f), (b, g), (c, h) = first, middle, last
    return (g - f) * (c - a) == (h - f) * (b - a)


# Fewer pairs that imply many: chords of u lie below it, because u is concave, and are again one pair each.

_HALVINGS = 40


def fewer_pairs(pairs: Sequence[Pair], most: int) -> tuple[Pair, ...]:
    """Return at most so many pairs that imply the given ones; see `Privacy.coarsened`."""
    if len(pairs) <= most:
        return tuple(pairs)
    meetings = [(after.delta - before.delta) / (before.ratio - after.ratio) for before, after in pairwise(pairs)]
    starts = [Fraction(0), *meetings]
    corners = [(s, pair.ratio * s + pair.delta) for s, pair in zip(starts, pairs, strict=True)]
    end = (1 - pairs[-1].delta) / (pairs[-1].ratio + 1)
    corners.append((end, 1 - end))
    low, high = 0.0, 1.0
    chosen = [0, len(corners) - 1]
    places = np.array([[float(s), float(u)] for s, u in corners])
    for _ in range(_HALVINGS):
        gap = (low + high) / 2
        kept = _kept(places, gap, most)
        if kept is None:
            low = gap
        else:
            chosen, high = kept, gap
    made = []
    for (s, u), (t, v) in pairwise(corners[k] for k in chosen):
        slope = (v - u) / (t - s)
        made.append(Pair(slope, u - slope * s, log_above(slope)))
    return tuple(made)


def _kept(places: NDArray[np.float64], gap: float, most: int) -> list[int] | None:
    """Return corners whose chords miss the others by no more than a gap, at most `most` chords; None if there are none.

    From each corner the chord goes as far as the gap allows: it misses more the longer it is.
    """
    kept = [0]
    last = len(places) - 1
    while kept[-1] < last:
        if len(kept) > most:
            return None
        here = kept[-1]
        near, far = here + 1, last
        while near < far:
            middle = (near + far + 1) // 2
            near, far = (middle, far) if _missed(places, here, middle) <= gap else (near, middle - 1)
        kept.append(near)
    return kept if len(kept) <= most + 1 else None


def _missed(places: NDArray[np.float64], here: int, there: int) -> float:
    (s, u), (t, v) = places[here], places[there]
    between = places[here : there + 1]
    return float((between[:, 1] - u - (v - u) / (t - s) * (between[:, 0] - s)).max())
