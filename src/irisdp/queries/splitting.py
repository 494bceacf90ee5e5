"""Where the records of a block of CSV begin and end, found for all of them at once.

The grammar is that of RFC 4180, over bytes, and total: LF or CRLF ends a record, and any other CR is data; a quote
opens a quoted field only at the start of a field; inside it `""` is a quote, and delimiters and line ends are data;
what follows the closing quote must be a delimiter, a line end, or the end of the file. Where it is not, or the file
ends first, the opening quote is a character like any other, and the field ends where an unquoted one does.

Which quote closes a field depends on nothing before it: among the runs of adjacent quotes, an even one that opens a
field also closes it, and an odd one is closed by the last quote of the next odd one. So every run knows, without
looking back, where a field that it opens would end; a chain of jumps from one opening run to the next tells which do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Places", "Split", "settled", "split"]

QUOTE, LF, CR = b'"'[0], b"\n"[0], b"\r"[0]

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
    """Quoted fields: where they open and close, and which hold doubled quotes."""

    opens: Places
    closes: Places
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
    close_beyond : function
        Finds the end of a quoted field that is still open at `length`: where its closing quote lies, counted from the
        start of the block, or None if it is never closed properly. Not called for the last block.
    """
    data = np.frombuffer(block, np.uint8)
    marks = data[:length] == LF
    marks |= data[:length] == delimiter
    marked = np.flatnonzero(marks)
    quoted = None
    if block.find(b'"', 0, length) >= 0:
        quoted = _find_quoted(data, length, delimiter, field_start, None if last else close_beyond)
        marked = marked[~_within(marked, quoted)]
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
        whole = np.searchsorted(quoted.opens, consumed)
        fields = np.searchsorted(starts, quoted.opens[:whole])
        starts[fields] += 1
        ends[fields] -= 1
        escaped[fields] = quoted.doubled[:whole]
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
    close_beyond: Callable[[], int | None] | None,
) -> _Quoted:
    quotes = np.flatnonzero(data[:length] == QUOTE)
    heads = np.flatnonzero(np.diff(quotes, prepend=-2) != 1)
    tails = np.append(heads[1:], len(quotes)) - 1
    first, final, runs = quotes[heads], quotes[tails], len(heads)
    odd = np.flatnonzero((tails - heads) % 2 == 0)
    closer = np.arange(runs)
    closer[odd] = np.append(odd[1:], runs)[: len(odd)]
    opening = _is_one_of(data, first - 1, (delimiter, LF))
    opening[0] = field_start if first[0] == 0 else opening[0]
    # The last odd run may be closed beyond the block; of all others the block itself tells.
    beyond = close_beyond() if close_beyond is not None and len(odd) and opening[odd[-1]] else None
    proper = np.append(_ends_field(data, final + 1, delimiter), beyond is not None)[closer]
    candidates = np.flatnonzero(opening)
    until = np.minimum(np.where(proper, closer, np.arange(runs)), runs - 1)
    visited = candidates[_chain(np.cumsum(opening, dtype=np.intp)[until[candidates]], heads[candidates] % 2 == 0)]
    opened = visited[proper[visited]]
    closed = closer[opened]
    open_beyond = len(closed) > 0 and closed[-1] == runs
    return _Quoted(
        opens=first[opened],
        closes=np.append(final, len(data))[closed],
        doubled=np.append(tails, len(quotes))[closed] - heads[opened] > 1,
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
    steps, place, found = following.tolist(), 0, []
    while place < len(steps):
        found.append(place)
        place = steps[place]
    return np.array(found, np.intp)


def _within(places: Places, quoted: _Quoted) -> NDArray[np.bool_]:
    if not len(quoted.opens):
        return np.zeros(len(places), np.bool_)
    before = np.searchsorted(quoted.opens, places)
    return (before > 0) & (places < quoted.closes[before - 1])


def _ends_field(data: NDArray[np.uint8], places: Places, delimiter: int) -> NDArray[np.bool_]:
    """Tell where a delimiter, a line end or the end of the file stands."""
    line_end = _is_one_of(data, places, (CR,)) & _is_one_of(data, places + 1, (LF,))
    return _is_one_of(data, places, (delimiter, LF)) | line_end | (places >= len(data))


def _is_one_of(data: NDArray[np.uint8], places: Places, bytes_: tuple[int, ...]) -> NDArray[np.bool_]:
    """Tell where one of the bytes stands; outside the data stands none."""
    inside = (places >= 0) & (places < len(data))
    stands: NDArray[np.bool_] = np.isin(data[np.where(inside, places, 0)], bytes_)
    return inside & stands
