"""The exponential mechanism: an answer's probability grows with its score, at a rate the graph allows.

Scores are held as whole multiples of a unit and the rate as a rational β per unit. So every probability is a rational,
and one enclosure away however small it is: nothing underflows where ε times a score is 10^6.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import (
    Enclosure,
    ball,
    checked,
    dyadic_above,
    enclosure_of,
    entries,
    integer,
    log_below,
    rational,
    working_precision,
)
from .._sampling import BitSource, draw_brackets
from ..errors import BadInput
from ..graphs import DatasetGraph, as_node
from ..privacy import Privacy
from ._mechanism import Mechanism, Row

_RATE_BITS = 100

_SMALLEST = 10_000_000
"""Logarithm of the smallest probability that is written out: more bits than that are of no use to anyone."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExponentialMechanism(Mechanism):
    """An exponential mechanism written out as a matrix, which knows its rate; made by `irisdp.design.exponential`.

    Its file does not hold the rate, and what is made of it (`post_process`, `pullback`) is a plain `Mechanism`.

    Parameters
    ----------
    rate : Fraction
        β in (0, 1]: the factor that one unit of score costs an answer.
    unit : Fraction
        What one unit of score is.
    """

    rate: Fraction
    unit: Fraction

    @property
    def exponent(self) -> Fraction:
        """What one point of score counts in the exponent, −log β/unit, to 30 decimals, rounded down.

        An answer has a probability proportional to exp(exponent·score). The exponent of the classical mechanism, for
        scores that a neighbour changes by at most 1, is ε/2.
        """
        return log_below(1 / self.rate) / self.unit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exponential:
    """The mechanism that answers v at input i with probability proportional to prior(v)·β^(−score(i, v)/unit).

    Made by `of`; `irisdp.design.exponential` chooses the rate for a graph and a privacy.

    Parameters
    ----------
    inputs, outputs : sequence
        Names.
    levels : tuple of tuples of int
        By how many units the score of every answer falls short of the best, one row per input.
    unit : Fraction
        What one level is worth.
    rate : Fraction
        β in (0, 1]: the factor that one unit of score costs.
    prior : tuple of Fraction
        Positive weights of the answers.
    """

    inputs: Sequence[Hashable]
    outputs: tuple[Hashable, ...]
    levels: tuple[tuple[int, ...], ...]
    unit: Fraction
    rate: Fraction
    prior: tuple[Fraction, ...]

    @classmethod
    @checked
    def of(
        cls,
        scores: Any,
        rate: Any,
        *,
        inputs: Sequence[Hashable] | None = None,
        outputs: Sequence[Hashable] | None = None,
        prior: Sequence[Any] | None = None,
    ) -> Exponential:
        """Read scores, one row per input and one column per answer, any exact numbers.

        Parameters
        ----------
        scores : table
            The higher the better.
        rate : number
            β for one unit, the greatest number that divides all differences of scores in a row.
        inputs, outputs : sequence, optional
            Names; numbers from 0 when left out.
        prior : sequence, optional
            Positive weights of the answers; all the same when left out.
        """
        table = _table(scores)
        answers = len(table[0])
        given = (1,) * answers if prior is None else prior
        weights = tuple(rational(weight, "prior") for weight in entries(given) or ())
        if len(weights) != answers or min(weights) <= 0:
            raise BadInput("prior", "must be positive, one for every answer", f"give {answers} numbers above 0")
        factor = rational(rate, "rate")
        if not 0 < factor <= 1:
            raise BadInput("rate", "must be above 0 and at most 1", "give the factor that one unit of score costs")
        named = range(answers) if outputs is None else outputs
        names = tuple(as_node(name, "outputs") for name in entries(named) or ())
        if len(names) != answers or len(set(names)) != answers:
            raise BadInput("outputs", "must be different from each other, one for every answer", f"name {answers}")
        gaps = [[best - score for score in row] for row, best in zip(table, map(max, table), strict=True)]
        unit = _common_unit(gap for row in gaps for gap in row)
        return cls(
            inputs=range(len(table)) if inputs is None else inputs,
            outputs=names,
            levels=tuple(tuple(int(gap / unit) for gap in row) for row in gaps),
            unit=unit,
            rate=factor,
            prior=weights,
        )

    @checked
    def row(self, position: int) -> Row:
        """Return the exact row of an input by its position; for levels that are not too large."""
        levels = self.levels[self._position(position)]
        weights = [weight * self.rate**level for weight, level in zip(self.prior, levels, strict=True)]
        total = sum(weights)
        return tuple(weight / total for weight in weights)

    @checked
    def probability(self, position: int, answer: int, *, precision: int = 64) -> Enclosure:
        """Enclose one probability to about so many significant bits, however small it is, down to 2^-10,000,000."""

        position = self._position(position)
        answer = integer(answer, "answer", at_least=0, at_most=len(self.outputs) - 1)
        precision = integer(precision, "precision", at_least=1)
        # The probability is at least 2^-size: β^level times its share of the prior. Magnified, few bits are enough.
        size = math.ceil(
            self.levels[position][answer] * -_log2_below(self.rate) + _log2_above(sum(self.prior) / min(self.prior))
        )
        if size > _SMALLEST:
            raise BadInput("answer", f"has a probability below 2^-{_SMALLEST}", "draw from the mechanism instead")

        def magnified() -> flint.arb:
            weights = self._weights(position)
            return weights[answer] / sum(weights) * flint.arb(2) ** size

        enclosure = enclosure_of(magnified, width=Fraction(1, 1 << precision))
        return Enclosure(enclosure.lower / (1 << size), enclosure.upper / (1 << size))

    @checked
    def brackets(self, position: int, bits: int) -> list[tuple[int, int]]:
        """Return, for every answer, integers around 2^bits times the probability of all answers before it."""
        position, bits = self._position(position), integer(bits, "bits", at_least=1)
        with working_precision(bits + 64 + len(self.outputs).bit_length()):
            sums = list(accumulate(self._weights(position), initial=flint.arb(0)))
            scale = flint.arb(2) ** bits / sums[-1]
            scaled = [total * scale for total in sums[:-1]]
            return [(int(c.lower().floor().unique_fmpz()), int(c.upper().ceil().unique_fmpz())) for c in scaled]

    @checked
    def draw_positions(self, position: int, count: int, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Draw `count` independent answers to one input, however small their probabilities are.

        Parameters
        ----------
        position : int
            Which input, by its position.
        count : int
            How many draws.

        Returns
        -------
        array of int64, shape (count,)
            Positions in `outputs`, with exactly the mechanism's probabilities.

        Examples
        --------
        >>> Exponential.of([[0, 1, 10**6]], "1/3").draw_positions(0, 3).tolist()
        [2, 2, 2]
        """
        place = self._position(position)
        return draw_brackets(lambda bits: self.brackets(place, bits), len(self.outputs), count, source=source)

    def _position(self, position: int) -> int:
        return integer(position, "position", at_least=0, at_most=len(self.levels) - 1)

    def _weights(self, position: int) -> list[flint.arb]:
        rate = ball(self.rate)
        return [ball(weight) * rate**level for weight, level in zip(self.prior, self.levels[position], strict=True)]


@checked
def sensitivity(scores: Any, graph: DatasetGraph) -> Fraction:
    """Return by how much neighbours' scores of one answer differ at most, computed on the graph.

    Parameters
    ----------
    scores : table
        One row per node of the graph, in their order.
    graph : DatasetGraph

    Raises
    ------
    BadInput
        For scores that are not one row of numbers for every node.

    Examples
    --------
    >>> from irisdp.graphs import Path
    >>> sensitivity([[0, 5], [1, 3], [2, 2]], Path(3))
    Fraction(2, 1)
    """
    table = _table(scores)
    if len(table) != graph.number_of_nodes:
        raise BadInput("scores", "must have one row for every node", f"give {graph.number_of_nodes} rows")
    largest = Fraction(0)
    for tails, heads in graph.edges():
        for i, j in zip(tails.tolist(), heads.tolist(), strict=True):
            largest = max(largest, *(abs(x - y) for x, y in zip(table[i], table[j], strict=True)))
    return largest


def rate_above(privacy: Privacy, root: Fraction) -> Fraction:
    """Return r^(−1/root) rounded up to 100 bits: more privacy.

    Parameters
    ----------
    privacy : Privacy
    root : Fraction
        At least 1/1000; 1/root of ε is spent on one unit.
    """
    if privacy.ratio == 1:
        return Fraction(1)

    def compute() -> flint.arb:
        return (-ball(privacy.ratio).log() / ball(root)).exp()

    bits = _RATE_BITS + 20 + math.ceil(_log2_above(privacy.ratio) / root)
    return min(Fraction(1), dyadic_above(enclosure_of(compute, width=Fraction(1, 1 << bits)).upper, _RATE_BITS))


def _log2_above(value: Fraction) -> Fraction:
    """Return a number that is at least log2(value), value ≥ 1."""
    return Fraction(value.numerator.bit_length() - value.denominator.bit_length() + 1)


def _log2_below(value: Fraction) -> Fraction:
    """Return a number that is at most log2(value), to about 2^-40, value in (0, 1]."""
    return enclosure_of(lambda: ball(value).log() / flint.arb(2).log(), width=Fraction(1, 1 << 40)).lower


def _table(scores: Any) -> list[list[Fraction]]:
    lines = [entries(line) or [] for line in entries(scores) or []]
    if len({len(line) for line in lines}) != 1 or not lines[0]:
        raise BadInput("scores", "must be a table with rows of one length", "give one row for every input")
    return [[rational(score, "scores") for score in line] for line in lines]


def _common_unit(gaps: Any) -> Fraction:
    numerator, denominator = 0, 1
    for gap in gaps:
        denominator, before = math.lcm(denominator, gap.denominator), denominator
        numerator *= denominator // before
        numerator = math.gcd(numerator, gap.numerator * (denominator // gap.denominator))
    return Fraction(numerator, denominator) if numerator else Fraction(1)
