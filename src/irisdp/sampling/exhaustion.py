"""The exact law of a draw, read off by trying every script of random words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .bits import BitSource, ScriptedBits, ScriptEnded

__all__ = ["DrawnLaw", "law_of"]


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
