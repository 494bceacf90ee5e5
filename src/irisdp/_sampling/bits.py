"""Where random bits come from: the operating system, or a script in tests.

No release uses a generator: nothing is seeded, buffered or kept between calls, so a forked, spawned or pickled process
has no stream to repeat. Experiments have one of their own, in `simulated.py`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .._exact import integer
from ..errors import BadInput


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


@dataclass(frozen=True, slots=True)
class DrawnLaw:
    """What a draw does with every script of a given length.

    Attributes
    ----------
    joint : dict
        (outcome, words read) ↦ probability, as a fraction.
    undecided : Fraction
        Probability that the draw wants more words than were tried. A probability stated for an outcome is refuted
        unless it lies between the outcome's mass and that mass plus `undecided`.
    """

    joint: dict[tuple[Any, int], Fraction]
    undecided: Fraction

    @property
    def outcomes(self) -> dict[Any, Fraction]:
        """Outcome ↦ probability decided so far, whatever the number of words."""
        masses: dict[Any, Fraction] = defaultdict(Fraction)
        for (outcome, _), mass in self.joint.items():
            masses[outcome] += mass
        return dict(masses)


def law_of(draw: Callable[[BitSource], Hashable], *, word_bits: int, words: int) -> DrawnLaw:
    """Run a draw on every script of at most `words` words.

    Parameters
    ----------
    draw : callable
        Takes a `BitSource` and returns a hashable outcome; all its randomness comes from that source.
    word_bits, words : int
        Width of a word and length of the longest script: up to 2^(word_bits · words) runs.

    Examples
    --------
    >>> law = law_of(lambda source: int(source.words(1)[0]) >= 3, word_bits=2, words=1)
    >>> law.outcomes[True], law.undecided
    (Fraction(1, 4), Fraction(0, 1))
    """
    joint: dict[tuple[Any, int], Fraction] = defaultdict(Fraction)
    undecided = Fraction(0)
    pending: list[tuple[int, ...]] = [()]
    while pending:
        script = pending.pop()
        mass = Fraction(1, 1 << word_bits * len(script))
        try:
            joint[draw(ScriptedBits(script, word_bits=word_bits)), len(script)] += mass
        except ScriptEnded:
            if len(script) < words:
                pending += [(*script, word) for word in range(1 << word_bits)]
            else:
                undecided += mass
    return DrawnLaw(dict(joint), undecided)
