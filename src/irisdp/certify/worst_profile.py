"""The largest profile that several guarantees at once allow: the worst release of which nothing else is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import checked, entries, numbers
from .profile import PrivacyProfile

__all__ = ["worst_profile"]


@checked
def worst_profile(guarantees: Any) -> PrivacyProfile:
    """Return the profile that no release with all of these guarantees exceeds, and that some release has.

    Parameters
    ----------
    guarantees : list of pairs
        (ratio, δ), numbers or text; ratios at least 1 and δ in [0, 1), in any order; one that follows from the
        others does no harm.

    Returns
    -------
    PrivacyProfile
        Its `irisdp.certify.dominating_pair` stands for the guarantees in every composition.

    Raises
    ------
    BadInput
        For an empty list, and what is no such pair.

    Notes
    -----
    A profile is convex, does not rise, is 1 at 0, and is 1 − r + r·δ(1/r). So a guarantee at r bounds it at 1/r too,
    and the largest is the lower convex hull of these points, which the same reflection maps to itself
    (proofs/totals.md).
    """
    points = {Fraction(0): Fraction(1)}
    listed = entries(guarantees)
    if not listed:
        raise BadInput("guarantees", "must be a list of at least one pair", "write [(2, 0)]")
    for ratio, delta in (numbers(pair, "guarantees", 2) for pair in listed):
        if ratio < 1 or not 0 <= delta < 1:
            raise BadInput("guarantees", "must have ratios from 1 and deltas from 0 to 1", "write (ratio, delta)")
        for r, bound in ((ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)):
            points[r] = min(bound, points.get(r, bound))
    hull: list[tuple[Fraction, Fraction]] = []
    for r, bound in sorted(points.items()):
        if hull and bound >= hull[-1][1]:
            continue
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], (r, bound)):
            hull.pop()
        hull.append((r, bound))
    return PrivacyProfile(tuple(r for r, _ in hull), tuple(bound for _, bound in hull))


def _turns_down(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> bool:
    """Tell whether b lies on or above the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])
