"""The records of a CSV file, block by block, in bounded memory.

A record longer than `LONGEST_RECORD` bytes is no record. It is passed over without being held, to where it ends by the
grammar of `splitting`. Wherever the quotes are, the search for a closing quote ends a fixed number of bytes beyond a
block. So a record changes the work by no more than that, however large the file is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from .splitting import Places, Split, settled, split

__all__ = ["BLOCK", "LONGEST_RECORD", "Block", "Bytes", "read_blocks"]

LONGEST_RECORD = 1 << 20
"""Bytes of the longest record, without its line end; public, and part of how a text file is read."""

BLOCK = 1 << 21
"""Bytes split at once; more than the longest record, and few enough to stay near the processor."""

_FOLLOWING = 2
"""Bytes that tell whether a field ends after a quote: a delimiter, LF, or CRLF."""
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
    position, field_start, dropping = start, True, False
    while True:
        file.seek(position)
        data = file.read(size)
        if not data:
            return
        last = len(data) < size
        length = len(data) if last else settled(data)
        if not length:  # a run of quotes as long as the block, which is longer than any field: none of them opens one
            position += 1 if field_start else len(data.rstrip(b"\r"))
            field_start, dropping = False, True
            continue
        found = split(
            data,
            length,
            delimiter,
            field_start=field_start,
            last=last,
            longest=longest,
            close_beyond=partial(_close_beyond, file, delimiter, position, length, longest),
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


def _close_beyond(file: Bytes, delimiter: int, position: int, length: int, longest: int) -> int | None:
    """Return where a field that is open at the end of a block is closed properly, counted from the block's start.

    The closing quote is the last of the first run of an odd number of quotes. Only `longest` bytes are searched.
    """
    file.seek(position + length)
    ahead = file.read(longest + _FOLLOWING)
    run = _ODD_RUN.search(ahead)
    if run is None or run.end() > longest:
        return None
    following = ahead[run.end() : run.end() + 2]
    proper = not following or following[:1] in (bytes([delimiter]), b"\n") or following == b"\r\n"
    return length + run.end() - 1 if proper else None
