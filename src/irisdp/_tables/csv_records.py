"""Where the records of a block of CSV begin and end, found for all of them at once.

The grammar is that of [RFC4180], over bytes, and total. LF or CRLF ends a record, and any other CR is data. A quote
opens a quoted field only at the start of a field. Inside it `""` is a quote, and delimiters and line ends are data. The
closing quote must be followed by a delimiter, a line end, or the end of the file. If it is not, if the file ends first,
or if the field would be longer than the longest record, the opening quote is a character like any other. The field then
ends where an unquoted one does. So how a quote is read depends on no byte further away than that.

Which quote closes a field depends on nothing before it. Among the runs of adjacent quotes, an even one that opens a
field also closes it; an odd one is closed by the last quote of the next odd one. So every run knows, without looking
back, where a field that it opens would end; a chain of jumps from one opening run to the next tells which do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

QUOTE, LF, CR = b'"'[0], b"\n"[0], b"\r"[0]

_ENDS, _ENDS_BEFORE_LF = 1, 2

Places = NDArray[np.intp]
"""Places in a block, or numbers of fields or records."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The whole records of a block; private as the block is.

    Attributes
    ----------
    starts, ends : integer arrays
        Where the content of each field lies, without the quotes around it.
    escaped : boolean array
        Which fields hold doubled quotes.
    firsts, counts, lengths : integer arrays
        Of each record: its first field, its number of fields, and its bytes without the line end.
    consumed : int
        Where the last whole record, with its line end, is over.
    stray : bool
        Whether a quote at the start of a field turned out to open nothing.
    resume : int or None
        Where the quoted field that the block ends in is over, if that is beyond the block.
    """

    starts: Places
    ends: Places
    escaped: NDArray[np.bool_]
    firsts: Places
    counts: Places
    lengths: Places
    consumed: int
    stray: bool
    resume: int | None


@dataclass(frozen=True, slots=True, eq=False)
class _Quoted:
    """Quoted fields: 1 at every place where one opens and -1 where it closes, and which hold doubled quotes."""

    steps: NDArray[np.int8]
    doubled: NDArray[np.bool_]
    stray: bool
    resume: int | None


def settled(block: bytes) -> int:
    """Return how much of a block can be split without knowing what follows it: no run of quotes, no CRLF is cut."""
    return len((block[:-1] if block.endswith(b"\r") else block).rstrip(b'"'))


def split(
    block: bytes,
    length: int,
    delimiter: int,
    *,
    field_start: bool,
    last: bool,
    longest: int,
    close_beyond: Callable[[], int | None],
) -> Split:
    """Split the first `length` bytes of a block.

    Parameters
    ----------
    length : int
        All of the block where the file ends with it, else `settled(block)`.
    field_start : bool
        Whether the block starts where a field does.
    last : bool
        Whether the file ends with the block; then what is left after the last line end is a record too.
    longest : int
        Bytes of the longest quoted field, its quotes included.
    close_beyond : function
        Finds the end of a quoted field that is still open at `length`. Returns the place of its closing quote, counted
        from the start of the block, or None if it is never closed properly. Not called for the last block.
    """
    data = np.frombuffer(block, np.uint8)
    marks = data[:length] == LF
    marks |= data[:length] == delimiter
    marked = np.flatnonzero(marks)
    quoted = None
    if block.find(b'"', 0, length) >= 0:
        quoted = _find_quoted(data, length, delimiter, field_start, longest, None if last else close_beyond)
        marked = marked[np.cumsum(quoted.steps, dtype=np.int8)[marked] == 0]
    line_ends = np.flatnonzero(data[marked] == LF)
    consumed = int(marked[line_ends[-1]]) + 1 if len(line_ends) else 0
    if last and consumed < length:
        marked, line_ends, consumed = np.append(marked, length), np.append(line_ends, len(marked)), length
    ends = marked[: line_ends[-1] + 1].copy() if len(line_ends) else marked[:0].copy()
    starts = np.append(0, ends[:-1] + 1)[: len(ends)]
    if block.find(b"\r", 0, length) >= 0:
        before = data[np.minimum(ends[line_ends], length - 1) - 1]
        ends[line_ends] -= (before == CR) & (ends[line_ends] > starts[line_ends]) & (ends[line_ends] < length)
    firsts = np.append(0, line_ends[:-1] + 1)[: len(line_ends)]
    lengths = ends[line_ends] - starts[firsts]
    escaped = np.zeros(len(ends), np.bool_)
    if quoted is not None:
        fields = np.flatnonzero(quoted.steps[starts] == 1)
        starts[fields] += 1
        ends[fields] -= 1
        escaped[fields] = quoted.doubled[: len(fields)]
    return Split(
        starts=starts,
        ends=ends,
        escaped=escaped,
        firsts=firsts,
        counts=line_ends - firsts + 1,
        lengths=lengths,
        consumed=consumed,
        stray=quoted is not None and quoted.stray,
        resume=None if quoted is None else quoted.resume,
    )


def _find_quoted(
    data: NDArray[np.uint8],
    length: int,
    delimiter: int,
    field_start: bool,
    longest: int,
    close_beyond: Callable[[], int | None] | None,
) -> _Quoted:
    quotes = np.flatnonzero(data[:length] == QUOTE)
    heads = np.flatnonzero(np.append(True, quotes[1:] != quotes[:-1] + 1))
    tails = np.append(heads[1:], len(quotes)) - 1
    first, final, runs = quotes[heads], quotes[tails], len(heads)
    kinds = _kinds(delimiter)
    opening: NDArray[np.bool_] = kinds[data.take(first - 1, mode="clip")] == _ENDS
    opening[0] = field_start if first[0] == 0 else opening[0]
    opens = np.flatnonzero(opening)
    odd = (tails - heads) % 2 == 0
    odd_runs = np.append(np.flatnonzero(odd), runs)
    closes = np.where(odd[opens], odd_runs[np.minimum(np.cumsum(odd)[opens], len(odd_runs) - 1)], opens)
    within = np.minimum(closes, runs - 1)
    starts = first[opens]
    proper = _end_fields(data, final[within] + 1, kinds) & (final[within] - starts < longest)
    # The last odd run may be closed beyond the block; of all others the block itself tells.
    beyond = None
    if len(opens) and (open_ended := closes == runs).any():
        beyond = close_beyond() if close_beyond is not None else None
        proper[open_ended] = False if beyond is None else beyond - starts[open_ended] < longest
    visited = _chain(np.cumsum(opening, dtype=np.intp)[np.where(proper, within, opens)], heads[opens] % 2 == 0)
    opened = visited[proper[visited]]
    open_beyond = len(opened) > 0 and closes[opened[-1]] == runs
    steps = np.zeros(length + 1, np.int8)
    steps[first[opens[opened]]] = 1
    steps[np.append(final, length)[closes[opened]]] = -1
    return _Quoted(
        steps=steps,
        doubled=tails[within[opened]] - heads[opens[opened]] > 1,
        stray=len(opened) < len(visited),
        resume=beyond + 1 if open_beyond and beyond is not None else None,
    )


def _chain(following: Places, guess: NDArray[np.bool_]) -> Places:
    """List what is visited from 0 on, where `following[i]` > i is visited after i.

    Where every quote before is paired, as in a well-written file, the guess is right; that is checked link by link.
    """
    visited = np.flatnonzero(guess)
    if len(visited) and visited[0] == 0 and np.array_equal(following[visited], np.append(visited[1:], len(guess))):
        return visited
    steps, place, state = following.tolist(), 0, []
    while place < len(steps):
        state.append(place)
        place = steps[place]
    return np.array(state, np.intp)


def _kinds(delimiter: int) -> NDArray[np.uint8]:
    """Return for each byte whether it ends a field, or does so before LF."""
    kinds = np.zeros(256, np.uint8)
    kinds[[delimiter, LF]], kinds[CR] = _ENDS, _ENDS_BEFORE_LF
    return kinds


def _end_fields(data: NDArray[np.uint8], places: Places, kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Tell where a delimiter, a line end or the end of the file stands."""
    ends = kinds[data.take(places, mode="clip")]
    ending: NDArray[np.bool_] = ends == _ENDS
    maybe = np.flatnonzero(ends == _ENDS_BEFORE_LF)
    ending[maybe] = (data.take(places[maybe] + 1, mode="clip") == LF) & (places[maybe] + 1 < len(data))
    return ending | (places >= len(data))


# Split a CSV file block by block, in bounded memory.
#
# A record longer than `LONGEST_RECORD` bytes is skipped without being held, up to where it ends by the grammar above.
# The search for a closing quote ends a fixed number of bytes beyond a block. So a record changes the work by no more
# than that, however large the file is.

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
        records = split(
            data,
            length,
            delimiter,
            field_start=field_start,
            last=last,
            longest=longest,
            close_beyond=partial(_close_beyond, file, delimiter, position, length, longest),
        )
        if records.consumed:
            yield _block(data, records, longest, cut=dropping)
            position, field_start, dropping = position + records.consumed, True, False
        else:  # no record ends here, so one is longer than any may be
            position += length if records.resume is None else records.resume
            field_start, dropping = records.resume is None and data[length - 1] == delimiter, True


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
