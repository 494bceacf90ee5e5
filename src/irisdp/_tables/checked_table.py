"""What was found in a table, and what is noted of its records while they pass; private."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .csv_records import QUOTE, Block

if TYPE_CHECKING:
    import pyarrow as pa


COMMENT_MARKS = ("#", "//", "%", "--", "!")
MOST_VALUES = 5_000
"""Different values of a column that are kept."""
FIRST, LAST = 2_000, 120
"""Records that are kept from the start and from the end."""
_MOST_LINES = 200
_LONGEST = 80
_LONGEST_VALUE, _MOST_LETTERS = 500, 4_000_000
"""Letters of a value of a kept record, and of all values of a column that are kept."""


_BEGINS = np.zeros(256, np.bool_)
_BEGINS[[ord(mark[0]) for mark in COMMENT_MARKS]] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCheck:
    """What was found in a column; private.

    Attributes
    ----------
    name : str
    read_as : str
        The declared type, or what an undeclared column looks like.
    empty, unreadable : int
        Values that are missing, and values that cannot be read so.
    examples : tuple of str
        Some of those that cannot be read, the most frequent ones.
    wrong : tuple of str
        More of those, with the examples.
    kind : str
        The type that would fit; empty for text.
    least, largest : float or None
        Of a column of numbers.
    """

    name: str
    read_as: str
    empty: int
    unreadable: int
    examples: tuple[str, ...] = field(repr=False)
    wrong: tuple[str, ...] = field(default=(), repr=False)
    kind: str = field(default="", repr=False)
    least: float | None = field(default=None, repr=False)
    largest: float | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableCheck:
    """What was found in a table; private.

    Attributes
    ----------
    records, short, long, undecodable : int
        Records, those with fewer and those with more fields than columns, and values that are not in the encoding.
    columns : tuple of ColumnCheck
    warnings : tuple of str
        Faults in sentences, with the option that may mend each.
    """

    records: int
    short: int
    long: int
    undecodable: int
    columns: tuple[ColumnCheck, ...]
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        """Say no more than that it is private."""
        return "<TableCheck: for the data owner, not for publication>"

    def to_document(self) -> dict[str, Any]:
        """Return the JSON-ready form."""
        return {
            "private": True,
            "records": self.records,
            "short": self.short,
            "long": self.long,
            "undecodable": self.undecodable,
            "columns": [
                {
                    "name": each.name,
                    "read_as": each.read_as,
                    "empty": each.empty,
                    "unreadable": each.unreadable,
                    "examples": list(each.examples),
                }
                for each in self.columns
            ],
            "warnings": list(self.warnings),
        }


@dataclass(slots=True)
class Seen:
    """What is noted of the records of a text file while they pass."""

    width: int
    places: list[int]
    records: int = 0
    widths: Counter[int] = field(default_factory=Counter)
    stray: bool = False
    undecodable: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    values: list[Counter[str] | None] = field(default_factory=list)
    first: list[tuple[str | None, ...]] = field(default_factory=list)
    last: list[tuple[str | None, ...]] = field(default_factory=list)
    last_widths: list[int] = field(default_factory=list)
    marked: Counter[str] = field(default_factory=Counter)
    marked_lines: dict[str, list[str]] = field(default_factory=dict)

    @property
    def short(self) -> int:
        """Records with fewer fields than columns."""
        return sum(times for width, times in self.widths.items() if width < self.width)

    @property
    def long(self) -> int:
        """Records with more fields than columns."""
        return sum(times for width, times in self.widths.items() if width > self.width)

    def note(self, block: Block, batch: pa.RecordBatch) -> None:
        """Note the fields of a block, of which the batch holds those of the columns."""
        kept = block.kept
        counts = block.fields.counts[kept]
        self.records += len(kept)
        if counts.min() == counts.max():
            self.widths[int(counts[0])] += len(counts)
        else:
            numbers, times = np.unique(counts, return_counts=True)
            self.widths.update(dict(zip(numbers.tolist(), times.tolist(), strict=True)))
        self.stray |= block.fields.stray
        for index, column in enumerate(batch.columns):
            self._note_column(block, index, column, counts)
        if len(self.first) < FIRST:
            self.first += _begun(batch.slice(0, FIRST - len(self.first)))
        self.last = (self.last + _begun(batch.slice(max(0, len(batch) - LAST))))[-LAST:]
        self.last_widths = (self.last_widths + counts[-LAST:].tolist())[-LAST:]
        self._note_marks(block)

    def _note_marks(self, block: Block) -> None:
        """Count the records that begin with a mark of comments, not within quotes, and keep some of each."""
        data = np.frombuffer(block.data, np.uint8)
        starts = block.fields.starts[block.fields.firsts[block.kept]]
        starts = starts[_BEGINS[data[np.minimum(starts, len(data) - 1)]]]
        starts = starts[(starts == 0) | (data[np.maximum(starts, 1) - 1] != QUOTE)]
        for mark in COMMENT_MARKS:
            there = starts
            for place, byte in enumerate(mark.encode()):
                there = there[data[np.minimum(there + place, len(data) - 1)] == byte]
            if len(there):
                self.marked[mark] += len(there)
                lines = self.marked_lines.setdefault(mark, [])
                for start in there[: _MOST_LINES - len(lines)].tolist():
                    line = block.data[start : start + _LONGEST].partition(b"\n")[0]
                    lines.append(line.decode("latin-1").rstrip())

    def _note_column(self, block: Block, index: int, column: Any, counts: Any) -> None:
        if column.null_count:
            place = self.places[index]
            there = counts > place
            fields = block.fields.firsts[block.kept] + np.where(there, place, 0)
            empty = int(((block.fields.starts[fields] == block.fields.ends[fields]) | ~there).sum())
            self.empty[index] += empty
            self.undecodable[index] += int(column.null_count) - empty
        known = self.values[index]
        if known is not None:
            counted = column.drop_null().value_counts()
            values, times = counted.field("values"), counted.field("counts")
            if len(values) <= MOST_VALUES:
                known.update(dict(zip(values.to_pylist(), times.to_pylist(), strict=True)))
            if max(len(values), len(known)) > MOST_VALUES or sum(map(len, known)) > _MOST_LETTERS:
                self.values[index] = None


def _begun(batch: pa.RecordBatch) -> list[tuple[str | None, ...]]:
    """Return records, of long values the beginning."""
    import pyarrow.compute as pc

    columns = [pc.utf8_slice_codeunits(column, 0, _LONGEST_VALUE).to_pylist() for column in batch.columns]
    return list(zip(*columns, strict=True))
