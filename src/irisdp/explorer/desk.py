"""Waiting for results: pages compute in processes of their own, and the threads here wait for them.

The server itself never waits, few wait at once, and small answers are kept for who asks again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from .jobs import Busy
from .results import Answer, Values
from .room import Room

__all__ = ["Desk"]

_MOST_WAITING = 64
_MOST_KEPT = 128
_LONGEST_KEPT = 4096
"""Letters of a form; longer ones are not kept."""

ResultT = TypeVar("ResultT")


class Desk:
    """Answers forms and draws pictures, each in threads of its own."""

    def __init__(self) -> None:
        self._askers, self._waiters, self._pictures = (anyio.CapacityLimiter(threads) for threads in (8, 8, 2))
        self._kept: OrderedDict[tuple[str, ...], Answer] = OrderedDict()

    async def answer(self, room: Room, values: Values) -> Answer:
        """Ask a room, or remember what it answered; raises what the room raises."""
        if not room.bounded:
            return await _run(self._waiters, lambda: room.answer(values))
        key = (room.name, *(part for name in sorted(values) for part in (name, values[name])))
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = await _run(self._askers, lambda: room.answer(values))
        if sum(map(len, key)) <= _LONGEST_KEPT:
            self._kept[key] = found
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    async def work(self, work: Callable[[], ResultT]) -> ResultT:
        """Work something out that an answer left for later."""
        return await _run(self._askers, work)

    async def draw(self, work: Callable[[], ResultT]) -> ResultT:
        """Draw a picture."""
        return await _run(self._pictures, work)


async def _run(threads: anyio.CapacityLimiter, work: Callable[[], ResultT]) -> ResultT:
    """Do a piece of work in a thread, unless too many wait already."""
    known = threads.statistics()
    if known.borrowed_tokens + known.tasks_waiting >= _MOST_WAITING:
        raise Busy
    result: ResultT = await anyio.to_thread.run_sync(work, limiter=threads)
    return result
