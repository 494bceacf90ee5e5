"""Cells read together: totals of published counts, and counts that fit with each other and with what is known.

All of it is post-processing of published numbers: it costs nothing, and nobody learns more of a person than they said.

A total sums up what was published, and its noise is the sum of independent noises, whose law is convolved
(`interpretation/_published_counts.py`). If answers were moved to public ends, the noise is no longer simply added.
Then the intervals of the parts are added up, each with higher confidence so that all hold together, which is wider.

Consistent readings are the table of whole numbers that is nearest to the published one (`consistent`). Under geometric
noise no table that fits makes the answers likelier, nor under Gaussian noise where nothing was moved to an end. That no
other reader errs less is not claimed: `interpret` without `consistent` says what is best for one cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .._exact import integer, rational_text
from .._frames import Tabular
from ..errors import BadInput
from ..noise import GaussianLaw, UniversalDistribution, law
from ._intervals import Interval, noise_distance, put_between
from ._published_counts import LARGEST_COUNT, NoisyCount, OtherNoisyCount, noise_of, sum_distance

if TYPE_CHECKING:
    import pyarrow


# Whole numbers that fit together: nearest to what was published, between ends, with sums that are known.
#
# Every cell is first moved to its nearest possible count. The remaining difference from a known sum is spread over
# its cells one by one, each step to the cell that has been moved least so far. Ties go in the order of the file. All
# moves go one way, so the sum of all errors is as small as possible. If one cell was moved two or more further than
# another, no move from the one to the other is possible. So no table that fits has less Σ f(x − y), for any convex f
# that is its own mirror image. A sum of convex functions over such tables is least where moving one unit from a cell
# to another never lowers it. With geometric noise f(z) = |z| is what the likelihood falls by, and with Gaussian
# noise, rounded, f is convex too.

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
    table = [_clamped(y, low, high) for y, low, high in zip(published, lows, highs, strict=True)]
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


def _clamped(value: int, low: int, high: int | None) -> int:
    return max(value, low) if high is None else min(max(value, low), high)


# Totals that a reader asks for: names of cells, joined by plus signs, and perhaps what they are known to sum to.
#
# all = *                 every cell
# coast = north + south   two of them; a name with +, = or quotes in it stands in quotes
# men = men, *            of groups by several columns: their names, joined by commas; * for any
# all = * = 1200          known to be 1,200, publicly
# all = 1200              the same

_PART = re.compile(r""""[^"]*"|'[^']*'|[+=,]|[^+=,"']+""")
_SAY = "write for example all=north+south, or all=*"
_MOST_SHOWN = 10
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of cells.

    Parameters
    ----------
    name : str
    places : tuple of int
        Which answers of the file it sums up.
    known : int or None
        What it is publicly known to be.
    """

    name: str
    places: tuple[int, ...]
    known: int | None = None


def read_totals(given: Any, by: Sequence[str], keys: Sequence[tuple[Any, ...]]) -> list[Total]:
    """Read totals of cells with these groups, by these columns; each is about at least one.

    Raises
    ------
    BadInput
        For what names no cell, or one twice, and for a name that stands there twice.
    """
    if isinstance(given, Mapping):
        asked = list(given.items())
    else:
        asked = [_parted(text) for text in ([given] if isinstance(given, str) else _listed(given))]
    if len({name for name, _ in asked}) < len(asked):
        raise BadInput("total", "gives one name to two totals", "name each once")
    if asked and not (by and keys):
        rule = "is a sum of cells, and these answers are not by groups" if keys else "is a sum of cells: here are none"
        raise BadInput("total", rule, "leave it out")
    return [_total(name, said, keys) for name, said in asked]


def _listed(given: Any) -> Sequence[str]:
    if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
        raise BadInput("total", "must name totals and say what they sum up", "give a mapping of names to expressions")
    return given


def _parted(text: str) -> tuple[str, str]:
    name, sign, said = text.partition("=")
    if not sign:
        raise BadInput("total", f"is {text[:_LONGEST]!r}, which has no =", _SAY)
    return name.strip(), said


def _total(name: Any, said: Any, keys: Sequence[tuple[Any, ...]]) -> Total:
    if not isinstance(name, str) or not name.strip():
        raise BadInput("total", "must have a name", _SAY)
    everything = tuple(range(len(keys)))
    if isinstance(said, int) and not isinstance(said, bool):
        return Total(name, everything, _known(said))
    if not isinstance(said, str):
        raise BadInput("total", f"must say as text what {name!r} sums up, or as a whole number what it is", _SAY)
    terms, known = _terms(name, said)
    index: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(keys):
        index.setdefault(tuple(map(str, key)), []).append(place)
    if known is None and len(terms) == 1 and terms[0].isdigit() and (terms[0],) not in index:
        return Total(name, everything, _known(terms[0]))
    places = [place for term in terms for place in _cells(term, index, everything, len(keys[0]))]
    if len(set(places)) < len(places):
        raise BadInput("total", f"counts a cell of {name!r} twice", "name each cell once")
    return Total(name, tuple(sorted(places)), None if known is None else _known(known))


def _known(number: Any) -> int:
    return integer(number, "total", at_least=0, at_most=LARGEST_COUNT)


def _terms(name: str, said: str) -> tuple[list[str], str | None]:
    """Part an expression at its plus signs, and from the number behind an equals sign; quotes stay."""
    parts = _PART.findall(said)
    if "".join(parts) != said:
        raise BadInput("total", f"has a quote in {name!r} that is not closed", "close it")
    equals = [index for index, part in enumerate(parts) if part == "="]
    if len(equals) > 1:
        raise BadInput("total", f"has more than one number for {name!r}", "write for example all=*=1200")
    known = "".join(parts[equals[0] + 1 :]).strip() if equals else None
    terms = [""]
    for part in parts[: equals[0]] if equals else parts:
        if part == "+":
            terms.append("")
        else:
            terms[-1] += part
    terms = [term.strip() for term in terms]
    if not all(terms):
        raise BadInput("total", f"lacks the name of a cell in {name!r}", _SAY)
    return terms, known


def _cells(
    term: str, index: Mapping[tuple[str, ...], list[int]], everything: Sequence[int], columns: int
) -> Sequence[int]:
    """Return the places of the cells that a term names."""
    if term == "*":
        return everything
    pieces = [term] if columns == 1 else _at_commas(term)
    wanted = [None if piece == "*" else _unquoted(piece) for piece in pieces]
    if len(wanted) != columns:
        rule = f"names a cell {term[:_LONGEST]!r}, and groups here have {columns} parts"
        raise BadInput("total", rule, "join the parts by commas; * stands for any")
    if None not in wanted:
        result = index.get(tuple(map(str, wanted)), [])
        if len(result) > 1:
            raise BadInput("total", f"names {term[:_LONGEST]!r}, which several cells are called", "take * or others")
    else:
        result = [
            place
            for key, places in index.items()
            if all(want is None or want == part for want, part in zip(wanted, key, strict=True))
            for place in places
        ]
    if not result:
        shown = "; ".join(", ".join(key)[:_LONGEST] for key in list(index)[:_MOST_SHOWN])
        more = "; …" if len(index) > _MOST_SHOWN else ""
        raise BadInput("total", f"names {term[:_LONGEST]!r}, which is no cell", f"its cells are {shown}{more}")
    return result


def _at_commas(term: str) -> list[str]:
    pieces = [""]
    for part in _PART.findall(term):
        if part == ",":
            pieces.append("")
        else:
            pieces[-1] += part
    return [piece.strip() for piece in pieces]


def _unquoted(piece: str) -> str:
    quoted = len(piece) > 1 and piece[0] == piece[-1] and piece[0] in "\"'"
    return piece[1:-1] if quoted else piece


Bounds = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class JointGroups:
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
    cells: JointGroups,
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
    blocks = blocks_of(
        [(total.name, frozenset(total.places), total.known) for total in totals if total.known is not None]
    )
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
    for total in totals:
        published = sum(cells.published[place] for place in total.places)
        interval = _of_total(deployed, cells.published, possible, total, blocks, confidence)
        reading = sum(readings[place] for place in total.places)
        if alone is not None:
            least, most = _summed(possible, total.places)
            reading = max(published, least) if most is None else min(max(published, least), most)
        rows.append(
            JointRow(
                key=(None,) * len(cells.by),
                total=total.name,
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
    least, most = _possible_between(possible, rest, blocks)
    interval = put_between(*_noisy_sum(deployed, published, rest, confidence), least, most)
    return Interval(known + interval.low, known + interval.high, interval.basis)


def _possible_between(possible: Sequence[Bounds], places: Sequence[int], blocks: Sequence[Block]) -> Bounds:
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


def _law_of(deployed: NoisyCount | OtherNoisyCount) -> UniversalDistribution | GaussianLaw:
    if isinstance(deployed, OtherNoisyCount):
        return noise_of(deployed.guarantee)
    distribution = law("geometric", deployed.privacy.pure)
    assert isinstance(distribution, UniversalDistribution)
    return distribution
