"""Whole numbers that fit together: nearest to what was published, between ends, with sums that are known.

Every cell is first moved to its nearest possible count. The remaining difference from a known sum is spread over its
cells one by one, each step to the cell that has been moved least so far. Ties go in the order of the file. All moves go
one way, so the sum of all errors is as small as possible. If one cell was moved two or more further than another, no
move from the one to the other is possible. So no table that fits has less Σ f(x − y), for any convex f that is its own
mirror image. A sum of convex functions over such tables is least where moving one unit from a cell to another never
lowers it. With geometric noise f(z) = |z| is what the likelihood falls by, and with Gaussian noise, rounded, f is
convex too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BadInput

__all__ = ["Block", "blocks_of", "nearest_table"]

Block = tuple[tuple[int, ...], int]
"""Places of cells, and what they sum to."""


def blocks_of(known: Sequence[tuple[str, frozenset[int], int]]) -> list[Block]:
    """Return disjoint sets of cells with their sums, from known sums of which any two are nested or disjoint.

    Raises
    ------
    BadInput
        For sums that overlap otherwise, and for two that contradict each other.
    """
    blocks: list[Block] = []
    kept: list[tuple[str, frozenset[int], int]] = []
    for name, places, number in sorted(known, key=lambda total: len(total[1])):
        rest, left = places, number
        inside: list[tuple[str, frozenset[int], int]] = []
        for other in kept:
            if other[1] <= places:
                inside.append(other)
                rest, left = rest - other[1], left - other[2]
            elif other[1] & places:
                rule = f"has {name} and {other[0]}, of which neither is a part of the other"
                raise BadInput("total", rule, "give numbers of totals that are nested or have no cell in common")
        if left < 0 or (not rest and left):
            within = ", ".join(other[0] for other in inside)
            raise BadInput("total", f"says {number:,} of {name}, which contradicts {within}", "check the numbers")
        if rest:
            blocks.append((tuple(sorted(rest)), left))
        kept = [other for other in kept if other not in inside] + [(name, places, number)]
    return blocks


def nearest_table(
    published: Sequence[int], lows: Sequence[int], highs: Sequence[int | None], blocks: Sequence[Block]
) -> list[int]:
    """Return the whole numbers with the least sum of squares from what was published, and the least sum of errors.

    Parameters
    ----------
    published : sequence of int
    lows, highs : sequence of int
        What each may be; None for no largest.
    blocks : sequence of Block
        Disjoint, with sums that can be reached.

    Returns
    -------
    list of int
        It has least Σ f(x − y) for every convex f with f(z) = f(−z); see above.

    Examples
    --------
    >>> nearest_table([5, -2, 8], [0, 0, 0], [None] * 3, [((0, 1, 2), 10)])
    [3, 0, 7]
    """
    table = [_between(y, low, high) for y, low, high in zip(published, lows, highs, strict=True)]
    for places, number in blocks:
        missing = number - sum(table[place] for place in places)
        if missing > 0:
            _raise_to(table, places, number, published, highs)
        elif missing < 0:  # the same, seen in a mirror
            mirrored = [-x for x in table]
            _raise_to(mirrored, places, -number, [-y for y in published], [-low for low in lows])
            for place in places:
                table[place] = -mirrored[place]
    return table


def _raise_to(
    table: list[int], places: Sequence[int], number: int, published: Sequence[int], highs: Sequence[int | None]
) -> None:
    """Raise cells, the least moved first, until they sum to a number."""

    def raised(place: int, level: int) -> int:
        most, wanted = highs[place], max(table[place], published[place] + level)
        return wanted if most is None else max(table[place], min(wanted, most))

    low = min(table[place] - published[place] for place in places)  # so far all are moved at least
    high = max(table[place] - published[place] for place in places) + number - sum(table[place] for place in places)
    while low < high:  # the highest level at which the sum is not passed
        middle = -(-(low + high) // 2)
        if sum(raised(place, middle) for place in places) <= number:
            low = middle
        else:
            high = middle - 1
    further = [raised(place, low + 1) for place in places]
    for place in places:
        table[place] = raised(place, low)
    left = number - sum(table[place] for place in places)
    for place, next_one in zip(places, further, strict=True):
        if left and next_one > table[place]:
            table[place] += 1
            left -= 1


def _between(value: int, low: int, high: int | None) -> int:
    return max(value, low) if high is None else min(max(value, low), high)
