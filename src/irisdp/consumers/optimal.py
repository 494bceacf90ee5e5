"""The best reading of a published count: what to make of a number that was made private.

A deployed mechanism gives z; the consumer says v, with a chance that may depend on nothing but z. A minimax consumer
wants the worst expected loss over the possible counts least, and may have to toss a coin; a Bayesian one wants the
expected loss under a prior least, and never has to. A post-processing from any source is certified. Its loss bounds the
optimum from above, a prior bounds it from below, and both are computed with all rounding accounted for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BadInput
from ..exact import checked, dyadic_above, dyadic_below, integer, short_above, short_below
from ..exact.grid import ONE, to_grid
from ..exact.short import is_short, workable_ratio
from ..mechanisms import FactoredMechanism, Reading
from ..privacy import Privacy
from ..tabular import Tabular
from .consumer import Consumer
from .exact import bayes_bound, exact_bayes, exact_minimax, expected_losses
from .games import (
    Deployed,
    check_counts,
    exact_rows,
    game_of,
    harmless_answer,
    is_plain_noise,
    mean_between,
    possible_counts,
    prior_in_floats,
)
from .geometric_sums import Floats, GeometricKernel, Integers
from .matrix import MatrixGame
from .minimax import minimax_by_matrix, minimax_by_recurrences
from .raw_solutions import RawSolution
from .recurrences import RecurrentGame

if TYPE_CHECKING:
    import pyarrow

__all__ = ["OptimalReading", "optimal_reading"]

LARGEST_EXACT = 24
"""Counts up to which a reading is found in rationals."""

_LIKE_GEOMETRIC = 1e-6
"""Rows this near to geometric noise are first read as such."""

_BITS = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptimalReading(Tabular):
    """How a consumer best reads a deployed mechanism, and the proof that no reading is better.

    Parameters
    ----------
    consumer : Consumer
    value : Fraction
        What the reading costs the consumer, at most: the worst expected loss over the possible counts, or the expected
        loss under the prior.
    lower_bound : Fraction
        No reading costs less. Equal to `value` where all numbers are short.
    released, answers, chances : arrays
        Output number z of the mechanism is read as `answers` with `chances`, which are exact (floats that are whole
        multiples of 2^-53, or fractions) and sum to 1 for each z. Ascending.
    weights : sequence
        The prior that proves the bound: the consumer's own, or for a minimax consumer the worst one. Exact likewise.

    References
    ----------
    [Gupte2010], §2.4; docs/theory.md#counts; proofs/reading-certificate.md.
    """

    consumer: Consumer
    value: Fraction
    lower_bound: Fraction
    released: Integers = field(repr=False)
    answers: Integers = field(repr=False)
    chances: Floats | tuple[Fraction, ...] = field(repr=False)
    weights: Floats | tuple[Fraction, ...] = field(repr=False)

    def _summary(self) -> str:
        counts = self.consumer.considered
        loss = (
            f"{self.consumer.goal} {short_above(self.value)}, no reading has less than {short_below(self.lower_bound)}"
        )
        return f"{loss}; counts {counts[0]} to {counts[-1]}"

    def to_arrow(self) -> pyarrow.Table:
        """Return as an Arrow table what every released value is read as, with its chance as the nearest float."""
        import pyarrow

        columns = {"released": self.released, "answer": self.answers, "chance": list(map(float, self.chances))}
        return pyarrow.table(columns)

    @property
    def gap(self) -> Fraction:
        """By how much the value may miss the optimum, relative to the value; a table may have values below 0."""
        missed = self.value - self.lower_bound
        return missed / abs(self.value) if self.value else missed

    def reading(self) -> Reading:
        """Return for every released value its answers with their exact chances."""
        found: dict[int, list[tuple[int, Fraction]]] = {z: [] for z in np.unique(self.released).tolist()}
        for z, v, p in zip(self.released.tolist(), self.answers.tolist(), self.chances, strict=True):
            found[z].append((v, Fraction(p)))
        return {z: tuple(line) for z, line in found.items()}

    @checked
    def at(self, z: int) -> tuple[tuple[int, Fraction], ...]:
        """Return how one released value, by its position among the outputs, is read."""
        z = integer(z, "value", at_least=0)
        here = range(*np.searchsorted(self.released, [z, z + 1]))
        if not here:
            raise BadInput("value", "is not an output of the mechanism", "give the position of an output")
        return tuple((int(self.answers[k]), Fraction(self.chances[k])) for k in here)


@checked
def optimal_reading(deployed: Deployed, consumer: Consumer) -> OptimalReading:
    """Find the best reading of a deployed mechanism.

    Parameters
    ----------
    deployed : Mechanism or FactoredMechanism
        One row per count 0..n, in this order. Geometric noise as a formula (`design.geometric` above 1,000 counts) may
        have millions of counts, a matrix some hundreds.
    consumer : Consumer
        With the same n.

    Returns
    -------
    OptimalReading
        Exact for short ratios and n ≤ 24. Otherwise value and bound are within 1e-9 of each other wherever the search
        succeeds, and true in any case.

    Raises
    ------
    BadInput
        When mechanism and consumer do not speak of the same counts.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> optimal_reading(design.geometric(3, Privacy.from_ratio(4)), Consumer(3, "absolute")).value
    Fraction(168, 415)

    References
    ----------
    [Gupte2010], §2.4; docs/theory.md#counts; proofs/reading-certificate.md.
    """
    check_counts(deployed, consumer)
    outputs = len(deployed.outputs)
    if (answer := harmless_answer(consumer)) is not None:
        weights = np.zeros(consumer.n + 1)
        weights[consumer.considered[0]] = 1
        sure = RawSolution(np.arange(outputs), np.full(outputs, answer), np.ones(outputs), weights)
        return _made(consumer, sure, Fraction(0), Fraction(0))
    if consumer.n <= LARGEST_EXACT and outputs <= 2 * LARGEST_EXACT:
        return _exactly(deployed, consumer)
    if isinstance(deployed, FactoredMechanism) and is_plain_noise(deployed) and consumer.loss.recurrent:
        return _of_noise(deployed, consumer)
    return _of_matrix(deployed, consumer)


def _made(consumer: Consumer, found: RawSolution, lower: Fraction, upper: Fraction) -> OptimalReading:
    """Put a reading in order, once per answer; the proof of a Bayesian bound is the consumer's prior as given."""
    keys, place = np.unique(found.released * (consumer.n + 1) + found.answers, return_inverse=True)
    return OptimalReading(
        consumer=consumer,
        value=upper,
        lower_bound=lower,
        released=keys // (consumer.n + 1),
        answers=keys % (consumer.n + 1),
        chances=np.bincount(place, found.chances).astype(np.float64),
        weights=found.weights if consumer.prior is None else consumer.prior,
    )


def _exactly(deployed: Deployed, consumer: Consumer) -> OptimalReading:
    """Solve a small game in rationals; noise with a long ratio at a short one just below, evaluated at its own."""
    rows, losses = exact_rows(deployed), consumer.loss.table(consumer.n)
    if consumer.prior is not None:
        found = exact_bayes(rows, losses, consumer.exact_prior())
    elif isinstance(deployed, FactoredMechanism):
        near = replace(deployed, privacy=Privacy.from_ratio(workable_ratio(deployed.privacy.ratio)))
        found = exact_minimax(exact_rows(near), losses, consumer.possible)
    else:
        found = exact_minimax(rows, losses, consumer.possible)
    table, weights = found.table, found.weights
    if not is_short((*table, weights)):
        table = tuple(_short(line) for line in table)
        weights = weights if consumer.prior is not None else _short(weights)
    expected = expected_losses(rows, losses, table)
    if consumer.prior is None:
        value = max(expected[i] for i in consumer.possible)
    else:
        value = sum((w * x for w, x in zip(weights, expected, strict=True)), Fraction(0))
    bound = bayes_bound(rows, losses, weights)
    if not is_short(((value, bound),)):
        value = dyadic_above(value, _BITS) if value > 0 else value
        bound = dyadic_below(bound, _BITS) if bound > 0 else bound
    used = [(z, v, p) for z, line in enumerate(table) for v, p in enumerate(line) if p]
    return OptimalReading(
        consumer=consumer,
        value=value,
        lower_bound=bound,
        released=np.array([z for z, _, _ in used]),
        answers=np.array([v for _, v, _ in used]),
        chances=tuple(p for _, _, p in used),
        weights=weights,
    )


def _of_noise(deployed: FactoredMechanism, consumer: Consumer) -> OptimalReading:
    """Read geometric noise for a loss of the error alone.

    A value beyond the possible counts tells no more than the nearest of them, so the game is played on these.
    """
    n, first, last = consumer.n, consumer.considered[0], consumer.considered[-1]
    game = RecurrentGame(
        last - first, deployed.privacy.ratio, consumer.loss, possible_counts(consumer)[first : last + 1]
    )
    if consumer.prior is None:
        found = minimax_by_recurrences(game)
        reading, lower, upper = found.reading, Fraction(found.lower), Fraction(found.upper)
        weights = np.zeros(n + 1)
        weights[first : last + 1] = found.weights
    else:
        weights, total = prior_in_floats(consumer)
        best = game.best(weights[first : last + 1])
        reading = RawSolution(game.released, best.answers, np.ones(game.n + 1), weights)
        lower, upper = mean_between(best.lower, best.upper, total)
    before, after = np.arange(first), np.arange(last + 1, n + 1)
    parts = [(reading.released + first, reading.answers, reading.chances)]
    for beyond, edge in ((before, 0), (after, game.n)):
        (there,) = np.nonzero(reading.released == edge)
        parts.append(
            (
                np.repeat(beyond, len(there)),
                np.tile(reading.answers[there], len(beyond)),
                np.tile(reading.chances[there], len(beyond)),
            )
        )
    released, answers, chances = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _made(consumer, RawSolution(released, answers + first, chances, weights), lower, upper)


def _of_matrix(deployed: Deployed, consumer: Consumer) -> OptimalReading:
    game, floor = game_of(deployed, consumer)
    assert isinstance(game, MatrixGame)
    if consumer.prior is not None:
        weights, total = prior_in_floats(consumer)
        best = game.best(weights)
        lower, upper = mean_between(best.lower, best.upper, total)
        reading = RawSolution(game.released, best.answers, np.ones(len(best.answers)), weights)
    else:
        found = minimax_by_matrix(game, start=_as_noise(deployed, consumer, game.rows))
        lower, upper = Fraction(found.lower), Fraction(found.upper)
        reading = RawSolution(found.reading.released, found.reading.answers, found.reading.chances, found.weights)
    return _made(consumer, reading, lower + floor, upper + floor)


def _as_noise(deployed: Deployed, consumer: Consumer, rows: Floats) -> RawSolution | None:
    """Read a matrix that is geometric noise in short numbers as the noise it stands for; its bounds are its own."""
    if not consumer.loss.recurrent or rows.shape[0] != rows.shape[1]:
        return None
    kernel = GeometricKernel(consumer.n, deployed.privacy.ratio)
    if abs(kernel.rows() - rows).max() > _LIKE_GEOMETRIC:
        return None
    found = _of_noise(FactoredMechanism(privacy=deployed.privacy, n=consumer.n), consumer)
    chances, weights = (np.array([float(x) for x in part]) for part in (found.chances, found.weights))
    return RawSolution(found.released, found.answers, chances, weights)


def _short(distribution: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(Fraction(x, ONE) for x in to_grid(distribution))
