"""Where random bits come from: the operating system, or a script in tests.

There is no generator in this library: nothing is seeded, buffered or kept between calls, so a forked, spawned or
pickled process has no stream to repeat.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..exact import integer

__all__ = ["BitSource", "OperatingSystemBits", "ScriptEnded", "ScriptedBits", "system_bits"]


class BitSource(Protocol):
    """Independent uniform words of `word_bits` bits each, 1 to 64."""

    @property
    def word_bits(self) -> int:
        """Random bits in one word; the others are zero."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return `count` fresh words, never handed out before."""


@dataclass(frozen=True, slots=True)
class OperatingSystemBits:
    """64-bit words straight from `os.urandom`; holds no state, so it may be shared, forked and pickled."""

    word_bits: ClassVar[int] = 64

    def words(self, count: int) -> NDArray[np.uint64]:
        """Ask the operating system for `count` words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class ScriptEnded(BadInput):
    """A draw asked for more words than its script has."""


class ScriptedBits:
    """Words written down beforehand, to prove or to replay a draw; never for a release.

    Parameters
    ----------
    words : sequence of int
        Each in [0, 2^word_bits).
    word_bits : int
        1 to 64. Narrow words make ties common, which is how the tie path is proved.
    """

    __slots__ = ("_script", "read", "word_bits")

    def __init__(self, words: Sequence[int], *, word_bits: int) -> None:
        self.word_bits = integer(word_bits, "word_bits", at_least=1, at_most=64)
        if any(not 0 <= word < 1 << self.word_bits for word in words):
            raise BadInput("words", f"must each fit {self.word_bits} bits", "give wider words or smaller numbers")
        self._script = np.array(words, dtype=np.uint64)
        self.read = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` words of the script."""
        if self.read + count > len(self._script):
            raise ScriptEnded("words", "has too few words for this draw", "write a longer script")
        self.read += count
        return self._script[self.read - count : self.read]


def system_bits(source: BitSource | None) -> BitSource:
    """Return the source given, or the operating system's."""
    return OperatingSystemBits() if source is None else source
