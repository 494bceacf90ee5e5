"""The records of a CSV file, block by block, in bounded memory.

A record longer than `LONGEST_RECORD` bytes is no record. It is passed over without being held, to where it ends by the
grammar of `splitting`: what its inner lines hold never becomes a record. Every byte is read once or twice, however the
quotes lie: where an opening quote might be closed far ahead, what was found there is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .splitting import Places, Split, settled, split

__all__ = ["BLOCK", "LONGEST_RECORD", "Block", "Bytes", "read_blocks"]

LONGEST_RECORD = 1 << 20
"""Bytes of the longest record, without its line end; public, and part of how a text file is read."""

BLOCK = 1 << 21
"""Bytes split at once; more than the longest record, and few enough to stay near the processor."""

_WINDOW = 1 << 18
_ODD_RUN = re.compile(rb'(?<!")"(?:"")*(?!")')


class Bytes(Protocol):
    """What of a binary file is needed here."""

    def seek(self, offset: int, /) -> int:
        """Go to a place."""
        ...

    def read(self, size: int, /) -> bytes:
        """Return the bytes from there on: fewer than asked for at the end only."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some whole records, none of them blank or too long; private.

    Attributes
    ----------
    data : bytes
        What the places in `fields` refer to.
    fields : Split
        All fields of the block.
    kept : integer array
        Which of the block's records these are.
    flawless : bool
        Whether nothing was left out but blank lines, and no quote opened a field in vain.
    """

    data: bytes
    fields: Split
    kept: Places
    flawless: bool


def read_blocks(
    file: Bytes, start: int, delimiter: int, *, longest: int = LONGEST_RECORD, size: int = BLOCK
) -> Iterator[Block]:
    """Yield the records from a place on, which must be where one starts.

    Parameters
    ----------
    file : binary file that can be read at any place
    longest, size : int
        Bytes of the longest record, and of a block: at least two more.
    """
    ahead = _Ahead(file, delimiter)
    position, field_start, dropping = start, True, False
    while True:
        file.seek(position)
        data = file.read(size)
        if not data:
            return
        last = len(data) < size
        length = len(data) if last else settled(data)
        if not length:  # a run of quotes as long as the block
            close = ahead.close_within(position) if field_start else None
            beyond = position + (1 if field_start else len(data.rstrip(b"\r")))
            position, field_start, dropping = beyond if close is None else close + 1, False, True
            continue
        found = split(
            data,
            length,
            delimiter,
            field_start=field_start,
            last=last,
            close_beyond=_from(ahead, position, length),
        )
        if found.consumed:
            yield _block(data, found, longest, cut=dropping)
            position, field_start, dropping = position + found.consumed, True, False
        else:  # no record ends here, so one is longer than any may be
            position += length if found.resume is None else found.resume
            field_start, dropping = found.resume is None and data[length - 1] == delimiter, True


def _block(data: bytes, found: Split, longest: int, *, cut: bool) -> Block:
    fits = found.lengths <= longest
    if cut:
        fits[0] = False
    blank = (found.counts == 1) & (found.lengths == 0)
    return Block(data, found, np.flatnonzero(fits & ~blank), bool(fits.all()) and not found.stray)


def _from(ahead: _Ahead, position: int, length: int) -> Callable[[], int | None]:
    def close_beyond() -> int | None:
        close = ahead.close_after(position + length)
        return None if close is None else close - position

    return close_beyond


class _Ahead:
    """Finds the quote that closes a field open at some place, and whether it does so properly."""

    def __init__(self, file: Bytes, delimiter: int) -> None:
        self._file = file
        self._followers = (bytes([delimiter]), b"\n")
        # From `since` to `until`, where an odd run of quotes starts, the answer is `close`: no byte is searched twice.
        self._since, self._until = 0, -1.0
        self._close: int | None = None

    def close_after(self, place: int) -> int | None:
        """Return where a field open at a place, which is within no run of quotes, is closed properly."""
        if not self._since <= place <= self._until:
            run = self._odd_run(place)
            self._since, self._until = place, float("inf") if run is None else run[0]
            self._close = None if run is None or not self._ends_field(run[1] + 1) else run[1]
        return self._close

    def close_within(self, opening: int) -> int | None:
        """Return where a field that opens with a long run of quotes is closed properly."""
        after = self._run_end(opening + 1)
        if (after - opening) % 2:  # all quotes after the first are paired
            return self.close_after(after)
        return after - 1 if self._ends_field(after) else None

    def _odd_run(self, place: int) -> tuple[int, int] | None:
        """Return the first and last place of the first run of an odd number of quotes."""
        while window := self._at(place):
            stem = len(window.rstrip(b'"'))
            match = _ODD_RUN.search(window, 0, stem)
            if match:
                return place + match.start(), place + match.end() - 1
            if stem < len(window):
                start, end = place + stem, self._run_end(place + stem)
                if (end - start) % 2:
                    return start, end - 1
                place = end
            else:
                place += len(window)
        return None

    def _run_end(self, place: int) -> int:
        while window := self._at(place):
            rest = len(window.lstrip(b'"'))
            place += len(window) - rest
            if rest:
                break
        return place

    def _ends_field(self, place: int) -> bool:
        following = self._at(place, 2)
        return not following or following[:1] in self._followers or following == b"\r\n"

    def _at(self, place: int, size: int = _WINDOW) -> bytes:
        self._file.seek(place)
        return self._file.read(size)
