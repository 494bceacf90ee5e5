"""A comparison as people and programs take it: a document, a frame, a picture."""

from __future__ import annotations

import html
import os
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._exact import Enclosure, checked, decimal_above, entries, integer, nearest_float, rational_text, short_text
from .._files import plan_outputs, write_outputs
from .._frames import Tabular
from ..errors import BadInput
from ..graphs import NeighbouringRelation, Relation
from ..mechanisms import privacy_to_document
from ..privacy import Privacy

if TYPE_CHECKING:
    import pyarrow


# The parameters of a comparison: public facts, read once for every query.

LARGEST_LEAD = 10_000
_LARGEST_RECORDS = 10**6
_MOST_RATIO = 10**9
_LEAST_EXCESS = Fraction(1, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonParameters:
    """What a question is compared at.

    Attributes
    ----------
    words : tuple
        What follows the question's name.
    categories : int or None
        q.
    records : int or None
        n.
    privacy : Privacy
        One pair.
    relation : {"exchange", "add-remove"}
    leads : tuple of int or None
        By how many records the true answer is ahead; None where nothing was said.
    gaps : tuple of tuples of int
        How many records each category has fewer than the largest.
    """

    words: tuple[Any, ...]
    categories: int | None
    records: int | None
    privacy: Privacy
    relation: Relation
    leads: tuple[int, ...] | None
    gaps: tuple[tuple[int, ...], ...]

    @classmethod
    def read(
        cls,
        *,
        words: Sequence[Any],
        categories: Any,
        n: Any,
        privacy: Privacy,
        relation: Any,
        lead: Any,
        gaps: Any,
    ) -> ComparisonParameters:
        """Check what was given.

        Raises
        ------
        BadInput
            For numbers out of range, ε = 0, several pairs and relations that are none.
        """
        if not privacy.single:
            raise BadInput("privacy", f"holds {len(privacy.pairs)} pairs, and this needs one", "give epsilon and delta")
        if not is_in_range(privacy):
            raise out_of_range("epsilon")
        if relation not in tuple(NeighbouringRelation):
            raise BadInput("relation", "must be one of exchange, add-remove", "choose one of them")
        return cls(
            words=tuple(words),
            categories=None if categories is None else integer(categories, "categories", at_least=2, at_most=100),
            records=None if n is None else integer(n, "n", at_least=1, at_most=_LARGEST_RECORDS),
            privacy=privacy,
            relation=relation,
            leads=None if lead is None else read_leads(lead),
            gaps=() if gaps is None else read_gaps_list(gaps),
        )

    @property
    def needed_categories(self) -> int:
        """How many categories, where a question cannot do without them."""
        if self.categories is None:
            raise BadInput("categories", "is missing", "say how many there are, such as categories=4")
        return self.categories

    def refuse(self, query: str, *options: str) -> None:
        """Refuse options that a question has no use for."""
        given = {
            "categories": self.categories,
            "n": self.records,
            "lead": self.leads,
            "gaps": self.gaps or None,
        }
        for option in options:
            if given[option] is not None:
                raise BadInput(option, f"is not used by {query}", "leave it out")


def is_in_range(privacy: Privacy) -> bool:
    """Tell whether mechanisms that keep one pair are compared."""
    return bool(1 + _LEAST_EXCESS <= privacy.ratio <= _MOST_RATIO)


def out_of_range(field: str) -> BadInput:
    """Return the refusal of an ε, or of a ratio, that mechanisms are not compared at."""
    if field == "ratio":
        return BadInput(field, "must be e^ε of an ε from 0.000001 to 20 to compare mechanisms", "give for example 2")
    return BadInput(field, "must lie between 0.000001 and 20 to compare mechanisms", "give for example 1")


def in_records(number: int) -> str:
    """Write a number of records."""
    return f"{number:,} record{'' if number == 1 else 's'}"


def read_leads(lead: Any) -> tuple[int, ...]:
    """Read one lead or a list of them."""
    listed = [lead] if isinstance(lead, (int, str)) else entries(lead)
    if not listed:
        raise BadInput("lead", "must be a whole number or a list of them", "give for example lead=5")
    return tuple(dict.fromkeys(integer(one, "lead", at_least=1, at_most=LARGEST_LEAD) for one in listed))


def read_gaps_list(gaps: Any) -> tuple[tuple[int, ...], ...]:
    """Read gaps to the largest, one list or several; of each the least is 0."""
    lists = entries(gaps) or ()
    if lists and all(isinstance(list_, (int, str)) for list_ in lists):
        lists = [lists]
    found = []
    for list_ in lists:
        parts = entries(list_)
        if not parts:
            raise BadInput("gaps", "must be a list of whole numbers", "give for example gaps=[0, 3, 5]")
        row = tuple(integer(part, "gaps", at_least=0, at_most=LARGEST_LEAD) for part in parts)
        if min(row) != 0:
            raise BadInput("gaps", "must hold a 0: the largest category has none", "subtract the least from all")
        found.append(row)
    if not found:
        raise BadInput("gaps", "must be a list of whole numbers", "give for example gaps=[0, 3, 5]")
    return tuple(dict.fromkeys(found))


# The results of a comparison: mechanisms, objectives, and certified errors of each.

_FOUR_DIGITS = Fraction(1, 10_000)
_NEGLIGIBLE_ERROR = Fraction(1, 10**50)


@dataclass(frozen=True, slots=True)
class Objective:
    """What is compared.

    Attributes
    ----------
    name : str
        A short word, the key in JSON.
    words : str
        What it is the value of.
    unit : str
        "probability", or what an error is counted in.
    """

    name: str
    words: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One mechanism.

    Attributes
    ----------
    name : str
        What it is called here.
    known_as : str
        What it is called elsewhere.
    ours : bool
        Whether this library would answer with it.
    runs_at : str
        The ε at which a unit of its score, or of its noise, is set.
    why : str
        Why that is the fair one.
    scope : str
        What is claimed of its errors, and among which mechanisms.
    errors : mapping
        From an objective's name to an interval that holds the error; a point where it is a known fraction.
    """

    name: str
    known_as: str = ""
    ours: bool = False
    runs_at: str
    why: str
    scope: str = "nothing is claimed"
    errors: Mapping[str, Enclosure]

    def shown(self, objective: Objective) -> str:
        """Write an error for people, to four digits; where it is next to nothing, what it is below."""
        errors = self.errors[objective.name]
        if errors.upper > 0 and (errors.width > errors.lower * _FOUR_DIGITS or errors.upper < _NEGLIGIBLE_ERROR):
            return f"< {short_text(max(errors.upper, _NEGLIGIBLE_ERROR), 1)}"
        return short_text((errors.lower + errors.upper) / 2, 4)


# List all tables of n records in q categories, up to the names of the categories.

MOST_TABLES = 50_000
"""Kinds of tables over which a mean is taken: up to a minute."""

Sorted = tuple[int, ...]


def number_of_kinds(records: int, categories: int) -> int:
    """Count the tables that differ by more than names; beyond `MOST_TABLES`, some number above it."""
    if records > MOST_TABLES:  # with two categories there are half as many as records
        return MOST_TABLES + 1
    ways = [1] + [0] * records
    for part in range(1, categories + 1):  # as many as there are partitions into parts of at most q
        for total in range(part, records + 1):
            ways[total] += ways[total - part]
    return ways[records]


def number_of_tables(records: int, categories: int) -> int:
    """Count all tables."""
    return comb(records + categories - 1, categories - 1)


def tables(records: int, categories: int) -> Iterator[tuple[Sorted, int]]:
    """Yield the gaps of each kind of table in ascending order, and how many tables are of that kind."""
    orders = factorial(categories)
    for counts in _falling(records, categories, records):
        gaps = tuple(counts[0] - count for count in counts)
        yield gaps, orders // prod(map(factorial, Counter(counts).values()))


def _falling(records: int, categories: int, most: int) -> Iterator[Sorted]:
    """Yield falling counts with a sum, none above `most`."""
    if categories == 1:
        yield (records,)
        return
    for first in range(-(-records // categories), min(records, most) + 1):
        for rest in _falling(records - first, categories - 1, first):
            yield (first, *rest)


# Draw a comparison: a panel for each objective, and a bar with its value for each mechanism.

_OURS, _OTHERS, _INK, _LINE = "#0072b2", "#b3b3b3", "#1a1a1a", "#d9d9d9"
"""Blue and grey differ in lightness as well, so that nobody needs to tell hues apart; ours is in bold type too."""

_WIDTH, _MARGIN, _ROW, _BAR, _GAP = 860, 20, 22, 15, 14
_LETTER = 6.6
"""Width of a letter at 12 pixels, on the wide side."""
_VALUE = 90
"""Room for a value at the end of a bar."""
_TITLE = 100
"""Letters of a line of a title."""


def draw(title: str, objectives: Sequence[Objective], mechanisms: Sequence[Compared]) -> str:
    """Draw the bars as SVG.

    Parameters
    ----------
    title : str
    objectives : sequence of Objective
    mechanisms : sequence of Compared

    Returns
    -------
    str
        With a title, units, and a text alternative that describes everything shown.
    """
    lines = textwrap.wrap(title, _TITLE - 20)
    top = _MARGIN + 22 * len(lines) + 34
    parts = [_text(_MARGIN, _MARGIN + 12 + 22 * number, line, size=17) for number, line in enumerate(lines)]
    parts += _legend(_MARGIN, top - 16)
    for objective in objectives:
        drawn, height = _panel(objective, mechanisms, top)
        parts += drawn
        top += height
    top += _MARGIN
    described = html.escape(_description(objectives, mechanisms))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc"'
        f' width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}" font-family="Helvetica, Arial, sans-serif">'
    )
    return "\n".join(
        [
            head,
            f'<title id="title">{html.escape(title)}</title>',
            f'<desc id="desc">{described}</desc>',
            f'<rect width="{_WIDTH}" height="{top}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _legend(left: float, top: float) -> list[str]:
    entries = ((_OURS, "this library", True, 0), (_OTHERS, "other mechanisms", False, 120))
    return [
        part
        for colour, words, bold, shift in entries
        for part in (
            f'<rect x="{left + shift}" y="{top - 11}" width="12" height="12" fill="{colour}"/>',
            _text(left + shift + 18, top, words, bold=bold),
        )
    ] + [_text(left + 270, top, "bars begin at 0; each panel has a scale of its own")]


def _panel(objective: Objective, mechanisms: Sequence[Compared], top: int) -> tuple[list[str], int]:
    """Draw one objective; return what was drawn and how high it is."""
    names = [one.name for one in mechanisms]
    left = _MARGIN + _LETTER * max(map(len, names)) + 12
    room = _WIDTH - left - _VALUE - _MARGIN
    values = [float(one.errors[objective.name]) for one in mechanisms]
    most = max(values) or 1.0
    unit = "" if objective.unit == "probability" else f" ({objective.unit})"
    heading = textwrap.wrap(objective.words[:1].upper() + objective.words[1:] + unit, _TITLE)
    parts = [_text(_MARGIN, top + 16 + 16 * number, line, size=13) for number, line in enumerate(heading)]
    start = top + 16 * len(heading) + 10
    for number, (one, value) in enumerate(zip(mechanisms, values, strict=True)):
        y = start + _ROW * number
        base, long = y + _BAR - 3, room * value / most
        parts += [
            _text(left - 8, base, one.name, bold=one.ours, anchor="end"),
            f'<rect x="{left:.1f}" y="{y}" width="{long:.1f}" height="{_BAR}"'
            f' fill="{_OURS if one.ours else _OTHERS}"/>',
            _text(left + long + 6, base, one.shown(objective), bold=one.ours),
        ]
    end = start + _ROW * len(values)
    axis = f'<line x1="{left:.1f}" y1="{start - 3}" x2="{left:.1f}" y2="{end - 3}" stroke="{_INK}"/>'
    rule = f'<line x1="{_MARGIN}" y1="{top}" x2="{_WIDTH - _MARGIN}" y2="{top}" stroke="{_LINE}"/>'
    return [rule, *parts, axis], end - top + _GAP


def _text(x: float, y: float, words: str, *, size: int = 12, bold: bool = False, anchor: str = "start") -> str:
    weight = ' font-weight="bold"' if bold or size > 12 else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{_INK}"{weight}{place}>{html.escape(words)}</text>'


def _description(objectives: Sequence[Objective], mechanisms: Sequence[Compared]) -> str:
    """Say in words all that the bars show."""
    sentences = []
    for objective in objectives:
        values = ", ".join(f"{mechanism.name} {mechanism.shown(objective)}" for mechanism in mechanisms)
        sentences.append(f"{objective.words[:1].upper()}{objective.words[1:]}, in {objective.unit}: {values}.")
    return " ".join(["Horizontal bars from 0; the first mechanism is this library's.", *sentences])


_PLACES = 40
_NEGLIGIBLE_DIFFERENCE = Fraction(1, 10**40)
_LONGEST = 120
"""Letters of a fraction that is written out."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Tabular):
    """Exact errors of this library's mechanism and of others, all under one guarantee.

    Attributes
    ----------
    query : str
        The question.
    asked : mapping
        The public facts it is compared at: categories, n, and so on.
    privacy : Privacy
    relation : str
    objectives : tuple of Objective
    mechanisms : tuple of Compared
        This library's first.
    notes : tuple of str
        What was left out, and why.
    """

    query: str
    asked: Mapping[str, Any]
    privacy: Privacy
    relation: str
    objectives: tuple[Objective, ...]
    mechanisms: tuple[Compared, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        query: str,
        size: Mapping[str, Any],
        asked: ComparisonParameters,
        described: Sequence[Mapping[str, Any]],
        columns: Mapping[Objective, Sequence[Enclosure]],
        notes: Sequence[str],
    ) -> Comparison:
        """Set mechanisms, as they are `described`, beside their errors: a column for each objective, in their order."""
        return cls(
            query=query,
            asked=size,
            privacy=asked.privacy,
            relation=asked.relation,
            objectives=tuple(columns),
            mechanisms=tuple(
                Compared(**words, errors={objective.name: column[index] for objective, column in columns.items()})
                for index, words in enumerate(described)
            ),
            notes=tuple(notes),
        )

    def to_document(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data; ends of intervals are decimals, rounded outward."""
        return {
            "format": "irisdp/comparison/1",
            "query": self.query,
            **self.asked,
            "relation": self.relation,
            "privacy": privacy_to_document(self.privacy),
            "objectives": [{"name": one.name, "meaning": one.words, "unit": one.unit} for one in self.objectives],
            "mechanisms": [self._document(one) for one in self.mechanisms],
            "notes": list(self.notes),
        }

    def to_arrow(self) -> pyarrow.Table:
        """Return a row for each mechanism and a column for each objective, the nearest float in it."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {
            "mechanism": [mechanism.name for mechanism in self.mechanisms],
            "ours": [mechanism.ours for mechanism in self.mechanisms],
            "runs at": [mechanism.runs_at for mechanism in self.mechanisms],
        }
        for objective in self.objectives:
            columns[objective.name] = [float(mechanism.errors[objective.name]) for mechanism in self.mechanisms]
        columns["scope"] = [mechanism.scope for mechanism in self.mechanisms]
        return pa.table(columns)

    def to_svg(self) -> str:
        """Return a picture: a bar for each mechanism, a panel for each objective."""
        asked = [self.query]
        if self.asked.get("categories"):
            asked.append(f"{self.asked['categories']} categories")
        if self.asked.get("n"):
            asked.append(in_records(self.asked["n"]))
        moves = "one record exchanged" if self.relation == "exchange" else "one record added or removed"
        title = f"Exact errors of {', '.join(asked)}: private at {self.privacy}, {moves}"
        return draw(title, self.objectives, self.mechanisms)

    @checked
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the picture.

        Parameters
        ----------
        path : path
            Ends by .svg.
        force : bool
            Whether a file that is there is replaced.
        """
        (output,) = plan_outputs([picture_path(path, "path")], [], field="path", force=force)
        write_outputs([(output, self.to_svg().encode())])

    def _summary(self) -> str:
        ours = self.mechanisms[0]
        first = self.objectives[0]
        best = f"{ours.name} {float(ours.errors[first.name]):.4g}"
        return (
            f"{self.query}, {self.relation}, {self.privacy}: {first.words}: {best}, {len(self.mechanisms)} mechanisms"
        )

    def _document(self, one: Compared) -> dict[str, Any]:
        base = self.mechanisms[0]
        return {
            "name": one.name,
            "known_as": one.known_as,
            "ours": one.ours,
            "runs_at": one.runs_at,
            "why": one.why,
            "scope": one.scope,
            "errors": {
                objective.name: _as_document(one.errors[objective.name], base.errors[objective.name])
                for objective in self.objectives
            },
        }


def picture_path(path: str | os.PathLike[str], field: str) -> Path:
    """Return where a picture goes; pictures are drawn as .svg."""
    if Path(path).suffix.lower() != ".svg":
        raise BadInput(field, "must end by .svg", "name a vector picture such as compared.svg")
    return Path(path)


def _as_document(found: Enclosure, ours: Enclosure) -> dict[str, Any]:
    exact = rational_text(found.lower) if found.width == 0 else None
    low = -decimal_above(-found.lower, _PLACES)
    return {
        "value": nearest_float((found.lower + found.upper) / 2),
        "lower": rational_text(low),
        "upper": rational_text(decimal_above(found.upper, _PLACES)),
        "exact": exact if exact is not None and len(exact) <= _LONGEST else None,
        "to_ours": _ratio(found, ours),
    }


def _ratio(one: Enclosure, other: Enclosure) -> float | None:
    """Return a quotient; none where either is known to be small and no more."""
    if min(one.lower, other.lower) < _NEGLIGIBLE_DIFFERENCE:
        return None
    return nearest_float(Fraction(one.lower + one.upper) / (other.lower + other.upper))
