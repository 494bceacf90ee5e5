"""Cells read together: totals of published counts, and counts that fit with each other and with what is known.

All of it is post-processing of published numbers: it costs nothing, and nobody learns more of a person than they said.

A total sums up what was published, and its noise is the sum of independent noises, whose law is convolved
(`noise_sums`). If answers were moved to public ends, the noise is no longer simply added. Then the intervals of the
parts are added up, each with higher confidence so that all hold together, which is wider.

Consistent readings are the table of whole numbers that is nearest to the published one (`consistent`). Under geometric
noise no table that fits makes the answers likelier, nor under Gaussian noise where nothing was moved to an end. That no
other reader errs less is not claimed: `interpret` without `consistent` says what is best for one cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from ..exact import rational_text
from ..noise import GaussianLaw, ShapeLaw, law
from ..tabular import Tabular
from .added_noise_rows import noise_of
from .consistent import Block, blocks_of, nearest_table
from .intervals import Interval, noise_distance, put_between
from .noise_sums import sum_distance
from .published_counts import LARGEST_COUNT, NoisyCount, OtherNoisyCount
from .totals import Total

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Bounds", "Cells", "JointInterpretation", "JointRow", "read_jointly"]

Bounds = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Cells:
    """Published counts, and what each may be.

    Parameters
    ----------
    by : tuple of str
        The group columns.
    keys : sequence of tuple
    published : sequence of int
    possible : sequence of pair
        The least and the largest count of each; None for no largest.
    """

    by: tuple[str, ...]
    keys: Sequence[tuple[Any, ...]]
    published: Sequence[int]
    possible: Sequence[Bounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointRow:
    """A cell or a total, read with all others.

    Parameters
    ----------
    key : tuple
        The group; of a total None in each column.
    total : str or None
        The name of a total.
    published, reading : int
        Of a total, the sum of what was published, and of what its cells are read as.
    interval : Interval
    """

    key: tuple[Any, ...]
    total: str | None
    published: int
    reading: int
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JointInterpretation(Tabular):
    """Published counts read together.

    Parameters
    ----------
    by : tuple of str
        The group columns.
    rows : tuple of JointRow
        The cells in the order of the file, and after them the totals.
    consistent : bool
        Whether the answers of cells are made consistent with known totals, so that totals are their sums. Otherwise
        each cell is treated by itself, and a total is the sum of the published values, limited to the possible range.
    confidence : Fraction
        How surely each truth lies between its ends.
    """

    by: tuple[str, ...]
    rows: tuple[JointRow, ...]
    consistent: bool
    confidence: Fraction

    def to_arrow(self) -> pyarrow.Table:
        """Return the group columns, `total` if there are any, `published`, `reading`, `low` and `high`."""
        import pyarrow

        totals = any(row.total is not None for row in self.rows)
        own = (*(("total",) if totals else ()), "published", "reading", "low", "high")
        names = [*self.by, *(name if name not in self.by else f"{name} answer" for name in own)]
        rows = [
            (
                *row.key,
                *((row.total,) if totals else ()),
                *(row.published, row.reading, row.interval.low, row.interval.high),
            )
            for row in self.rows
        ]
        return pyarrow.table(list(map(list, zip(*rows, strict=True))) or [[]] * len(names), names=names)

    def to_documents(self) -> list[dict[str, Any]]:
        """Return one JSON-ready object per cell, and one per total."""
        sure = rational_text(self.confidence)
        return [
            {
                **(
                    {"total": row.total}
                    if row.total is not None
                    else ({"group": dict(zip(self.by, row.key, strict=True))} if self.by else {})
                ),
                "published": row.published,
                "reading": row.reading,
                "low": row.interval.low,
                "high": row.interval.high,
                "confidence": sure,
                "basis": row.interval.basis,
            }
            for row in self.rows
        ]

    def _summary(self) -> str:
        totals = sum(row.total is not None for row in self.rows)
        how = "to fit together" if self.consistent else "each by itself"
        return f"{len(self.rows) - totals} published counts read {how}, and {totals} totals"


def read_jointly(
    deployed: NoisyCount | OtherNoisyCount,
    cells: Cells,
    totals: Sequence[Total],
    alone: Sequence[tuple[int, Interval]] | None,
    confidence: Fraction,
) -> JointInterpretation:
    """Read cells together.

    Parameters
    ----------
    deployed : NoisyCount or OtherNoisyCount
    cells : Cells
    totals : sequence of Total
        Has numbers only if `alone` is None.
    alone : sequence of (int, Interval), or None
        The readings of the cells, each by itself; None to find those that fit together.
    confidence : Fraction
        Of each interval.

    Raises
    ------
    BadInput
        Where no table fits.
    """
    blocks = blocks_of([(one.name, frozenset(one.places), one.known) for one in totals if one.known is not None])
    possible = list(cells.possible)
    for block in blocks:
        _tighten(possible, block)
    if alone is None:
        distance = noise_distance(deployed, confidence)
        lows, highs = [low for low, _ in possible], [high for _, high in possible]
        readings = nearest_table(cells.published, lows, highs, blocks)
        intervals = [
            _around(published, distance, bounds) for published, bounds in zip(cells.published, possible, strict=True)
        ]
    else:
        readings, intervals = [reading for reading, _ in alone], [interval for _, interval in alone]
    rows = [
        JointRow(key=key, total=None, published=published, reading=reading, interval=interval)
        for key, published, reading, interval in zip(cells.keys, cells.published, readings, intervals, strict=True)
    ]
    for one in totals:
        published = sum(cells.published[place] for place in one.places)
        interval = _of_total(deployed, cells.published, possible, one, blocks, confidence)
        reading = sum(readings[place] for place in one.places)
        if alone is not None:
            least, most = _summed(possible, one.places)
            reading = max(published, least) if most is None else min(max(published, least), most)
        rows.append(
            JointRow(
                key=(None,) * len(cells.by),
                total=one.name,
                published=published,
                reading=reading,
                interval=interval,
            )
        )
    return JointInterpretation(by=cells.by, rows=tuple(rows), consistent=alone is None, confidence=confidence)


def _tighten(possible: list[Bounds], block: Block) -> None:
    """Put cells between what a known sum leaves for them."""
    places, number = block
    least, most = _summed(possible, places)
    if number < least or (most is not None and number > most):
        ends = f"{least:,} to {most:,}" if most is not None else f"{least:,} or more"
        raise BadInput("total", f"says {number:,} of cells that sum to {ends}", "check it against what is known")
    highs = [possible[place][1] for place in places]
    endless, finite = highs.count(None), sum(high for high in highs if high is not None)
    found: list[Bounds] = []
    for low, high in (possible[place] for place in places):
        top, others = number - (least - low), finite - (high or 0)
        # Where another cell has no largest count, it may take all of the sum.
        bottom = low if endless - (high is None) else max(low, number - others)
        found.append((bottom, top if high is None else min(high, top)))
    for place, bounds in zip(places, found, strict=True):
        possible[place] = bounds


def _summed(possible: Sequence[Bounds], places: Sequence[int]) -> Bounds:
    least, highs = sum(possible[place][0] for place in places), [possible[place][1] for place in places]
    most = None if None in highs else sum(high for high in highs if high is not None)
    return least, most


def _around(published: int, distance: int | None, bounds: Bounds) -> Interval:
    if bounds[0] == bounds[1]:
        return Interval(bounds[0], bounds[0], "known")
    far = LARGEST_COUNT if distance is None else distance
    return put_between(published - far, published + far, *bounds)


def _of_total(
    deployed: NoisyCount | OtherNoisyCount,
    published: Sequence[int],
    possible: Sequence[Bounds],
    total: Total,
    blocks: Sequence[Block],
    confidence: Fraction,
) -> Interval:
    """Return ends of a sum: of its cells that are in no known sum within it there is noise."""
    inside = [block for block in blocks if set(block[0]) <= set(total.places)]
    known = sum(number for _, number in inside)
    rest = sorted(set(total.places) - {place for places, _ in inside for place in places})
    if not rest:
        return Interval(known, known, "known")
    least, most = _between(possible, rest, blocks)
    found = put_between(*_noisy_sum(deployed, published, rest, confidence), least, most)
    return Interval(known + found.low, known + found.high, found.basis)


def _between(possible: Sequence[Bounds], places: Sequence[int], blocks: Sequence[Block]) -> Bounds:
    """Return what cells sum to at least and at most: of a known sum, what the cells beside them leave."""
    chosen, ends = set(places), list[Bounds]()
    for block, number in blocks:
        beside = [place for place in block if place not in chosen]
        least, most = _summed(possible, [place for place in block if place in chosen])
        others = _summed(possible, beside)
        least = least if others[1] is None else max(least, number - others[1])
        most = number - others[0] if most is None else min(most, number - others[0])
        if chosen & set(block):
            ends.append((least, most))
        chosen -= set(block)
    ends += [possible[place] for place in chosen]
    return _summed(ends, range(len(ends)))


def _noisy_sum(
    deployed: NoisyCount | OtherNoisyCount, published: Sequence[int], places: Sequence[int], confidence: Fraction
) -> tuple[int, int]:
    middle, number = sum(published[place] for place in places), len(places)
    distance = None
    if all(deployed.ends_of(place) is None for place in places):
        distance = sum_distance(_law_of(deployed), number, confidence)
    if distance is None:  # so many hold together
        each = noise_distance(deployed, 1 - (1 - confidence) / number)
        distance = LARGEST_COUNT if each is None else each * number
    return middle - distance, middle + distance


def _law_of(deployed: NoisyCount | OtherNoisyCount) -> ShapeLaw | GaussianLaw:
    if isinstance(deployed, OtherNoisyCount):
        return noise_of(deployed.guarantee)
    found = law("geometric", deployed.privacy.pure)
    assert isinstance(found, ShapeLaw)
    return found
